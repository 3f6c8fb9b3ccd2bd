-- Documents that are changed by way of their parts: jsonb_set(doc, '{items}',
-- (doc->'items') || x).  Wherever a changed part goes, bytes and errors are heap's.

SET default_toast_compression = lz4;
-- the bytes as they are: core's function does not know that these are no bytea
CREATE FUNCTION raw(jsonb) RETURNS text LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'md5_bytea';
CREATE FUNCTION item(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('id', i, 'sku', repeat('s', i % 5), 'price', i * 0.1, 'tags', jsonb_build_array(i % 3, 'x')) $$;
CREATE FUNCTION items(n int, "from" int DEFAULT 1) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(item(i) ORDER BY i), '[]') FROM generate_series("from", "from" + n - 1) i $$;

-- numbers of elements around those that have offsets; the part first, in the middle and last; keys that leave every padding
CREATE TABLE t (id int PRIMARY KEY, d jsonb, e jsonb, n int DEFAULT 0);
CREATE PROCEDURE fill() LANGUAGE sql AS $$
    TRUNCATE t;
    INSERT INTO t SELECT k, jsonb_build_object(repeat('k', 1 + k % 4), k, 'items', items(n), left('zzzzzzz', 6 + k % 2), repeat('z', k % 7), 'note', md5(k::text)),
            jsonb_build_object('e', items(n / 2), 'text', repeat('text ', 1000 + k))
        FROM (SELECT row_number() OVER ()::int, n FROM unnest(ARRAY[0, 1, 2, 30, 31, 32, 33, 63, 64, 65, 96, 300, 2000]) n) s(k, n);
    INSERT INTO t SELECT 100 + k, jsonb_build_object('items', items(200), 'more', jsonb_build_object('list', items(100), 'map', (SELECT jsonb_object_agg('k' || i, item(i)) FROM generate_series(1, 70) i)),
            'same', items(k), 'z', k), NULL FROM generate_series(1, 4) k;
    INSERT INTO t VALUES (200, items(200), '"a scalar"'), (201, to_jsonb(repeat('scalar', 3000)), to_jsonb(repeat('x', 5000))), (202, NULL, '[]'), (203, '{}', '{"items": []}') $$;
CALL fill();
CREATE FUNCTION sums() RETURNS TABLE (id int, d text, e text, n int) LANGUAGE sql AS $$
    SELECT id, raw(d) || (raw(d) = raw(d::text::jsonb)), raw(e), n FROM t ORDER BY id $$;

-- the ways to write it
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(7)) WHERE id < 200;
SELECT * FROM sums();
UPDATE t SET d = jsonb_set(d, '{items}', (d#>'{items}') || item(8), false) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', d['items'] || '[1, 2]') WHERE id < 200;
UPDATE t SET d['items'] = d['items'] || '"scalar"' WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', coalesce(d->'items', '[]') || items(40)) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{none}', coalesce(d->'none', '[]') || items(40)) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{none}', coalesce((d->'none') || item(1), '[]')) WHERE id < 200;
SELECT * FROM sums();
UPDATE t SET d = jsonb_set(d, '{items}', item(9) || (d->'items')) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', '[0, [1]]' || (d->'items') || '[]'::jsonb) WHERE id < 200;
UPDATE t SET d = d || jsonb_build_object('items', (d->'items') || item(10)) WHERE id < 200;
UPDATE t SET d = d || jsonb_build_object('items', (d->'items') || item(10), 'n', n, 'items', (d->'items') || item(11), 'none', NULL) WHERE id < 200;
UPDATE t SET d = d || jsonb_build_object('items', 1, left('items', n + 5), (d->'items') || '1') WHERE id < 200;
UPDATE t SET d = jsonb_build_object('d', d->'items', 'e', e->'e') || d WHERE id < 200;
UPDATE t SET d = d - '{d,e}'::text[] WHERE id < 200;
SELECT * FROM sums();
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') - 3) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') - -1 - 1000) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') #- '{2,sku}') WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_set(d->'items', '{2,price}', '1234567890.5')) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_insert(d->'items', '{1}', item(3))) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_set(d->'items', '{2}', (d->'items'->2) || '{"a": 1}')) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_set_lax(d->'items', '{0}', NULL, true, 'delete_key')) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_set_lax(d->'items', '{0}', NULL, true, 'return_target')) WHERE id < 200;
SELECT * FROM sums();
UPDATE t SET d = jsonb_set(d, '{more,list}', (d->'more'->'list') || item(1)) WHERE id > 100;
UPDATE t SET d = jsonb_set(d, '{more}', jsonb_set(d->'more', '{list}', d#>'{more,list}' || item(2))) WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = jsonb_set(d, '{more,map}', (d->'more'->'map') - 'k7' || '{"k8": [], "new": 1}') WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = d || jsonb_build_object('more', d->'more' || jsonb_build_object('map', '{"first": 1, "k9": 2}' || (d['more']['map']))) WHERE id BETWEEN 101 AND 199;
SELECT * FROM sums();

-- moved, doubled, combined with other parts, of other rows, into other columns
UPDATE t SET d = jsonb_set(d, '{copy}', d->'items') WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{zzzzzzzzz}', (d->'items') || (d->'copy')) - 'copy' WHERE id < 200;
UPDATE t SET d = jsonb_insert(d, '{items,1}', d->'items') WHERE id < 200;
UPDATE t SET d = d || (d->'more') WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = (d->'more') || d WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = (d->'more') || d || (d->'more'->'map') WHERE id BETWEEN 101 AND 199;
SELECT * FROM sums();
UPDATE t SET d = jsonb_set(d, '{items}', (e->'e') || item(1)), e = jsonb_set(e, '{e}', (d->'items') || item(1)) WHERE id < 100;
UPDATE t SET d = jsonb_set(t.d, '{items}', (o.d->'items') || item(1)) FROM t o WHERE o.id = t.id % 13 + 1 AND t.id < 200;
UPDATE t SET d = jsonb_build_object('mine', t.d->'items', 'theirs', o.d->'items', 'mine too', t.d->'items') || t.d FROM t o WHERE o.id = t.id % 13 + 1 AND t.id < 200;
SELECT * FROM sums();

-- the changed part is the new value itself, or is no document at all
CALL fill();
UPDATE t SET d = (d->'items') || item(5) WHERE id % 2 = 1;
UPDATE t SET e = (d->'items') || item(5) WHERE id % 2 = 0;
UPDATE t SET d = d->'items', e = coalesce(e->'e', e) WHERE id % 2 = 0;
SELECT * FROM sums();
CALL fill();
UPDATE t SET d = '{}' || d WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', coalesce(d->'items', 'null')), e = d || '{}' WHERE id = 101;
UPDATE t SET d = jsonb_set(d, '{items}', NULL || (d->'items')) WHERE id = 102;
UPDATE t SET d = d || (d->'items') || (d->'more') WHERE id = 103;
UPDATE t SET d = jsonb_build_object('a', d, 'b', e, 'c', jsonb_build_object('d', d->'items', 'x', NULL)) WHERE id IN (10, 104, 201);
UPDATE t SET d = jsonb_build_object(id, d->'items', true, d) WHERE id = 9;
UPDATE t SET d = jsonb_build_object(VARIADIC ARRAY['"a"', d->'items']) WHERE id = 8;
SELECT * FROM sums();
UPDATE t SET d = jsonb_build_object(NULL, d->'items') WHERE id = 7;
UPDATE t SET d = jsonb_build_object('a', d->'items', 'b') WHERE id = 7;
UPDATE t SET d = jsonb_build_object(d->'items', d) WHERE id = 7;
UPDATE t SET d = (d->'items') || (d->'note') || (d->'k') WHERE id = 11;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') - 'a') WHERE id = 11;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_set(d->'items', '{x}', '1')) WHERE id = 12;
UPDATE t SET d = jsonb_set(d, '{items}', jsonb_insert(d->'more', '{map,k1}', '1')) WHERE id = 104;
UPDATE t SET d = (d->'more') || '1' WHERE id = 101;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || d) WHERE id = 201;
SELECT * FROM sums();

-- where else the new value is seen
CALL fill();
WITH u AS (UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(7)), e = (d->'items') || '1' RETURNING id, d, e)
    SELECT id, raw(d), raw(e), raw(d->'items') FROM u ORDER BY id;
CREATE TABLE seen (id int, what text, d jsonb);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO seen VALUES (new.id, tg_when, new.d);
    IF tg_when = 'BEFORE' AND new.id % 2 = 0 THEN new.e = new.d->'items'; END IF;
    RETURN new;
END $$;
CREATE TRIGGER before BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION see();
CREATE TRIGGER after AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION see();
UPDATE t SET d = jsonb_set(d, '{items}', coalesce(d->'items', '[]') || item(6)) WHERE id < 200;
DROP TRIGGER before ON t;
DROP TRIGGER after ON t;
SELECT id, what, raw(d) FROM seen ORDER BY 1, 2;
SELECT * FROM sums();
INSERT INTO t AS o VALUES (12, '[1]'), (13, '[2]') ON CONFLICT (id) DO UPDATE SET d = jsonb_set(o.d, '{items}', (o.d->'items') || excluded.d), e = (o.d->'items') || excluded.d;
MERGE INTO t USING (VALUES (11), (12)) s(i) ON id = s.i WHEN MATCHED THEN UPDATE SET d = jsonb_set(d, '{items}', item(s.i) || (d->'items')), n = n + 1;
UPDATE t SET d = s.d FROM (SELECT id, jsonb_set(d, '{items}', (d->'items') || item(1)) AS d FROM t ORDER BY n, id OFFSET 0) s WHERE s.id = t.id AND t.id < 200;
CREATE TABLE target (LIKE t) PARTITION BY RANGE (n);
CREATE TABLE target1 PARTITION OF target FOR VALUES FROM (0) TO (1);
CREATE TABLE target2 PARTITION OF target FOR VALUES FROM (1) TO (9);
INSERT INTO target SELECT id, d, e, 0 FROM t;
WITH u AS (UPDATE target SET d = jsonb_set(d, '{items}', (d->'items') || item(1)), n = id % 2 WHERE id < 200 RETURNING id, d) SELECT id, raw(d) FROM u ORDER BY 1;
WITH u AS (UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(2)) WHERE id = 12 RETURNING *) INSERT INTO target SELECT id, d, d->'items', 1 FROM u;
SELECT id, raw(d), raw(e), n FROM target ORDER BY 1, 4;
SELECT * FROM sums();
DROP TABLE target;

-- new parts that were made otherwise: compared with what they replace
CALL fill();
UPDATE t SET d = jsonb_set(d, '{items}', (SELECT jsonb_agg(CASE WHEN o = 5 THEN jsonb_set(e, '{price}', '1234.5') ELSE e END ORDER BY o) FROM jsonb_array_elements(d->'items') WITH ORDINALITY s(e, o))) WHERE id < 200;
UPDATE t SET d = jsonb_set(d, '{items}', coalesce((SELECT jsonb_agg(e ORDER BY o) FROM jsonb_array_elements(d->'items') WITH ORDINALITY s(e, o) WHERE o % 50 <> 7), '[]')) WHERE id BETWEEN 2 AND 199;
UPDATE t SET d = d || jsonb_build_object('items', replace((d->'items')::text, '"x"', '"a longer word"')::jsonb, 'n', n) WHERE id < 200;
UPDATE t SET d['items'] = (SELECT jsonb_agg(e ORDER BY o DESC) FROM jsonb_array_elements(d->'items') WITH ORDINALITY s(e, o)) WHERE id BETWEEN 2 AND 199;
UPDATE t SET d = jsonb_set(d, '{more}', (SELECT jsonb_object_agg(key, CASE WHEN key = 'list' THEN '[1]' ELSE value END) FROM jsonb_each(d->'more'))) WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = jsonb_set(d, '{more,map}', (SELECT jsonb_object_agg('k' || key, value) FROM jsonb_each(d->'more'->'map'))) WHERE id BETWEEN 101 AND 199;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items')::text::jsonb) WHERE id BETWEEN 2 AND 199;
SELECT * FROM sums();

-- variables, and what is rolled back; within a transaction variables have pointers
CALL fill();
BEGIN;
DO $$
DECLARE part jsonb; whole jsonb; kept jsonb; r t;
BEGIN
    FOR i IN 1 .. 4 LOOP
        SELECT d->'items', d INTO part, whole FROM t WHERE id = 12;
        part := part || item(i);
        UPDATE t SET d = jsonb_set(d, '{items}', part) WHERE id = 12;
        BEGIN
            UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(i)), e = (d->'items') || '1' WHERE id = 12 RETURNING d, e INTO kept, part;
            UPDATE t SET d = jsonb_set(d, '{items}', (kept->'items') || (d->'items')) WHERE id = 12 RETURNING * INTO r;
            UPDATE t SET d = (d->'items') || '1' WHERE id = 12 RETURNING d INTO part;
            RAISE EXCEPTION 'back' USING errcode = 'ZZ001';
        EXCEPTION WHEN SQLSTATE 'ZZ001' THEN NULL;
        END;
        RAISE WARNING '% % %', raw(kept), raw(part), raw(r.d);
        UPDATE t SET e = jsonb_set(kept, '{items}', (kept->'items') || part || (r.d->'items')) WHERE id = 12;
        UPDATE t SET d = jsonb_set(d, '{items}', coalesce((kept->'items') || item(1), kept)) WHERE id = 12;
        UPDATE t SET d = jsonb_set(kept, '{items}', coalesce((kept->'items') || item(1), kept)) WHERE id = 12;
        -- what a parameter gives is not made by the call beside it
        UPDATE t SET d = jsonb_set(d, '{items}', coalesce((d->'nothing') || item(1), part)) WHERE id = 12;
        RAISE WARNING '% % %', raw(kept), raw(part), raw(r.d);
    END LOOP;
END $$;
COMMIT;
SELECT * FROM sums();
BEGIN;
SAVEPOINT s;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(3)), e = (d->'items') || '1' WHERE id > 8;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || (e->0)) WHERE id BETWEEN 8 AND 199;
ROLLBACK TO s;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || item(4)), e = (d->'items') || '1' WHERE id > 9;
SAVEPOINT s;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || (e->0)) WHERE id BETWEEN 8 AND 199;
UPDATE t SET d = jsonb_set(d, '{items}', (d->'items') || (e->0)) WHERE id BETWEEN 8 AND 199;
COMMIT;
SELECT * FROM sums();
PREPARE append(int, text, jsonb) AS UPDATE t SET d = jsonb_set(d, ARRAY[$2], (d->$2) || $3) WHERE id = $1;
EXECUTE append(11, 'items', '[1]');
EXECUTE append(11, 'items', '[2]');
EXECUTE append(101, 'more', '{"a": 1}');
EXECUTE append(101, 'none', '{"a": 1}');
SET plan_cache_mode = force_generic_plan;
EXECUTE append(102, 'more', '{"a": 1}');
EXECUTE append(102, 'items', '{"a": 1}');
RESET plan_cache_mode;
SELECT * FROM sums();
-- the same again and again: nodes below the root, and slices that are written anew
DO $$
BEGIN
    FOR i IN 1 .. 150 LOOP
        UPDATE t SET d = jsonb_set(d, '{items}', CASE i % 5 WHEN 0 THEN item(i) || (d->'items') WHEN 1 THEN (d->'items') - i ELSE coalesce(d->'items', '[]') || item(i) END) WHERE id IN (10, 12, 103);
        IF i % 10 = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
SELECT * FROM sums();
SELECT * FROM sum_up('t');
