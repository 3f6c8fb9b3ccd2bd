-- Arrays and objects of thousands of values: some come, go and get other lengths:
-- the lists of their entries move (format/list.h).
SET default_toast_compression = :lz4;
CREATE TABLE t (id int PRIMARY KEY, d jsonb);
CREATE TABLE log (n int GENERATED ALWAYS AS IDENTITY, change text, digest text, parts text) USING heap;
SELECT setseed(0.75);
CREATE FUNCTION some_value() RETURNS jsonb LANGUAGE sql VOLATILE AS $$
    SELECT CASE floor(random() * 7)::int WHEN 0 THEN to_jsonb(repeat('v', (random() * 90)::int)) WHEN 1 THEN to_jsonb((random() * 100000)::int) WHEN 2 THEN 'null'
        WHEN 3 THEN jsonb_build_object('a', repeat('w', (random() * 60)::int), 'b', jsonb_build_array(1, floor(random() * 1000)))
        WHEN 4 THEN to_jsonb(floor(random() * 1000000) / 1000) WHEN 5 THEN 'true' ELSE '[]' END $$;
INSERT INTO t SELECT 1, jsonb_agg(some_value()) FROM generate_series(1, 2500);
INSERT INTO t SELECT 2, jsonb_object_agg('k' || i, some_value()) FROM generate_series(1, 1300) i;
INSERT INTO t SELECT 3, jsonb_build_object('x', 1, 'items', (SELECT jsonb_agg(jsonb_build_object('number', md5(i::text), 'n', some_value())) FROM generate_series(1, 1100) i),
    'z', (SELECT jsonb_agg(repeat('s', i % 17)) FROM generate_series(1, 2200) i));

-- An expression that changes document number k in 1 to 3 ways.
CREATE FUNCTION some_change(k int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE e text := 'd'; n int; v text; kinds text[];
BEGIN
    FOR i IN 1 .. 1 + floor(random() * 3) LOOP
        n := floor(random() * 1050);
        v := quote_literal(some_value());
        kinds := CASE k
            WHEN 1 THEN ARRAY['(E) - N', 'jsonb_set(E, ''{N}'', V)', 'jsonb_insert(E, ''{N}'', V)', '(E) #- ''{N}''', 'jsonb_insert(E, ''{N}'', V, true)', '(E) || V']
            WHEN 2 THEN ARRAY['(E) - ''kN''', 'jsonb_set(E, ''{kN}'', V)', '(E) || jsonb_build_object(''kN'', V::jsonb, ''jN'', 1)', '(E) || ''{"kN": 1, "lN": "two", "k7N": [3]}''']
            ELSE ARRAY['(E) #- ''{items,N}''', 'jsonb_set(E, ''{items,N}'', V)', 'jsonb_insert(E, ''{items,N}'', V)', 'jsonb_set(E, ''{z,N}'', V)', 'jsonb_insert(E, ''{z,N}'', V)',
                '(E) #- ''{z,N}''', 'jsonb_set(E, ''{items}'', (E)->''items'' || ''[{"a": 1}]'')', 'jsonb_set(E, ''{items}'', ((E)->''items'') - N)'] END;
        e := replace(replace(replace(kinds[1 + floor(random() * cardinality(kinds))], 'N', n::text), 'V', v), 'E', e);
    END LOOP;
    RETURN e;
END $$;

CREATE FUNCTION parts(d jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT md5(string_agg(concat(d->i, d->('k' || i), d->'items'->i, d->'z'->-i, d #>> ARRAY['items', (i + 1)::text, 'n']), ',' ORDER BY i)) FROM generate_series(1, 1000, 83) i $$;

CREATE PROCEDURE changes(times int) LANGUAGE plpgsql AS $$
DECLARE k int; e text;
BEGIN
    FOR i IN 1 .. times LOOP
        k := 1 + floor(random() * 3);
        e := some_change(k);
        BEGIN
            EXECUTE format('UPDATE t SET d = %s WHERE id = $1', e) USING k;
            IF i % 9 = 0 THEN
                RAISE EXCEPTION 'back';
            END IF;
        EXCEPTION WHEN OTHERS THEN
            e := e || ': ' || sqlerrm;
        END;
        IF i % 5 = 0 THEN
            INSERT INTO log (change, digest, parts) SELECT e, md5(d::text), parts(d) FROM t WHERE id = k;
        END IF;
        IF i % 20 = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;

CALL changes(600);
SELECT * FROM sum_up('t');
TABLE log;
TRUNCATE log;

-- ends that stay between values that change
UPDATE t SET d = (SELECT jsonb_agg(repeat('c', i % 12 + 8)) FROM generate_series(1, 2500) i) WHERE id = 1;
UPDATE t SET d = jsonb_insert(d, '{3}', '"in front"') WHERE id = 1;
UPDATE t SET d = jsonb_set(jsonb_set(d, '{50}', to_jsonb((d->>50) || 'dddd')), '{64}', to_jsonb(left(d->>64, -4))) WHERE id = 1;
UPDATE t SET d = jsonb_set(jsonb_set(d, '{1250}', to_jsonb((d->>1250) || 'dddd')), '{1280}', to_jsonb(left(d->>1280, -4))) WHERE id = 1;
SELECT md5(d::text), parts(d) FROM t WHERE id = 1;
UPDATE t SET d = d - 7 WHERE id = 1;
SELECT md5(d::text), parts(d) FROM t WHERE id = 1;
UPDATE t SET d = jsonb_insert(jsonb_insert(d, '{20}', '"one"'), '{10}', '"two"') - 900 WHERE id = 1;
SELECT md5(d::text), parts(d) FROM t WHERE id = 1;
DO $$ BEGIN
    FOR i IN 1 .. 60 LOOP
        UPDATE t SET d = jsonb_set(jsonb_set(d, ARRAY[(i * 37)::text], to_jsonb((d->>(i * 37)) || 'dddd')), ARRAY[(i * 37 / 32 * 32 + 32)::text], to_jsonb(left(d->>(i * 37 / 32 * 32 + 32), -4))) WHERE id = 1;
        UPDATE t SET d = CASE WHEN i % 2 = 0 THEN d - i * 13 ELSE jsonb_insert(d, ARRAY[(i * 11)::text], '"more of them"') END WHERE id = 1;
        INSERT INTO log (change, digest, parts) SELECT i, md5(d::text), parts(d) FROM t WHERE id = 1;
    END LOOP;
END $$;
TABLE log;
TRUNCATE log;

-- whole documents that are compared; copies; old versions
CREATE TABLE other USING heap AS SELECT * FROM t;
DO $$ DECLARE k int; e text; BEGIN
    FOR i IN 1 .. 150 LOOP
        k := 1 + floor(random() * 3);
        e := some_change(k);
        BEGIN
            EXECUTE format('UPDATE other SET d = %s WHERE id = $1', e) USING k;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
        UPDATE t SET d = other.d FROM other WHERE t.id = other.id AND t.id = k;
        IF i % 5 = 0 THEN
            INSERT INTO log (change, digest, parts) SELECT e, md5(d::text), parts(d) FROM t WHERE id = k;
        END IF;
    END LOOP;
END $$;
TABLE log;
TRUNCATE log;
BEGIN;
DECLARE old CURSOR FOR SELECT id, md5(d::text), parts(d) FROM t ORDER BY id;
CALL changes(19);
SAVEPOINT s;
CALL changes(19);
SELECT * FROM sum_up('t');
ROLLBACK TO s;
SELECT * FROM sum_up('t');
FETCH ALL old;
COMMIT;
INSERT INTO t SELECT id + 10, d FROM t;
UPDATE t SET d = d - 5 WHERE id IN (1, 11);
SELECT * FROM sum_up('t');
UPDATE t SET d = o.d - 6 FROM t o WHERE t.id = 11 AND o.id = 1;
SELECT * FROM sum_up('t');
VACUUM FULL t;
CALL changes(60);
SELECT * FROM sum_up('t');
DELETE FROM t;
SELECT * FROM sum_up('t');

-- a long container takes the place of another value: of a short one, or one that is much longer or shorter
CREATE TABLE placed (id int, d jsonb);
INSERT INTO placed SELECT i, jsonb_build_object('n', 1, 'few', jsonb_agg(k) FILTER (WHERE k <= 900), 'many', jsonb_agg(k * 7), 's', 'text') FROM generate_series(1, 4) i, generate_series(1, 9000) k GROUP BY i;
CREATE FUNCTION some_numbers(n int, first int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT jsonb_agg(k * 7) FROM generate_series(first, first + n) k $$;
UPDATE placed SET d = CASE id WHEN 1 THEN jsonb_set(d, '{n}', some_numbers(900, 1)) WHEN 2 THEN jsonb_set(d, '{few}', some_numbers(9000, 3))
    WHEN 3 THEN jsonb_set(d, '{many}', some_numbers(900, 5)) ELSE jsonb_set(d, '{many}', some_numbers(9000, 2)) END;
UPDATE placed SET d = d || jsonb_build_object('s', some_numbers(900, id), 'many', some_numbers(9000, id));
SELECT * FROM sum_up('placed');

-- a document that is but one long string
CREATE TABLE strings (d jsonb);
INSERT INTO strings SELECT to_jsonb(dense(40000, 1) || plain(40000, 2));
UPDATE strings SET d = to_jsonb(overlay(d #>> '{}' PLACING 'in the middle' FROM 30000));
UPDATE strings SET d = d || '["and one more"]';
SELECT * FROM sum_up('strings');

-- more functions read documents, each while the one that has called it does, than documents are kept for
CREATE TABLE nested (id int, d jsonb);
INSERT INTO nested SELECT i, jsonb_build_object('a', 'begin ' || i, 'm', dense(9000, i), 'z', 'end ' || i) FROM generate_series(1, 40) i;
CREATE FUNCTION descend(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    SELECT (d->>'a') || CASE WHEN n < 40 THEN descend(n + 1) ELSE '' END || (d->>'z') || left(d->>'m', 2) INTO result FROM nested WHERE id = n;
    RETURN result;
END $$;
SELECT md5(descend(1)), descend(38);
