-- What PostgreSQL can do since 18.
\if :since_18

SET default_toast_compression = :lz4;
CREATE TABLE t (id int PRIMARY KEY, a text, d jsonb, c int[], n int DEFAULT 0);
INSERT INTO t SELECT i, mixed(i * 3000, i), jsonb_build_object('id', i, 'text', dense(i * 1500, i), 'list', jsonb_build_array(1, 2, i)),
    array(SELECT j FROM generate_series(1, i * 800) j) FROM generate_series(1, 15) i;

-- RETURNING OLD and NEW: the old value is there though it has been changed, or deleted
WITH u AS (UPDATE t SET a = a || 'x', d = jsonb_set(d, '{text}', '"short"'), c = c || 7 RETURNING id, old.a AS oa, new.a AS na, old.d AS od, new.d AS nd, old.c AS oc, new.c AS nc)
    SELECT id, md5(oa), md5(na), oa || 'x' = na, md5(od::text), md5(nd::text), md5(oc::text), md5(nc::text), length(oa), od->>'id', nd->'text', oc[5], nc[array_length(nc, 1)], right(na, 2) FROM u ORDER BY id;
WITH u AS (UPDATE t SET a = dense(4000, id), d = NULL, c = c[3:] RETURNING old, new, old.*, new.id AS nid)
    SELECT md5(old::text), md5(new::text), md5(a), md5(d::text), md5(c::text), nid FROM u ORDER BY nid;
WITH u AS (DELETE FROM t WHERE id > 12 RETURNING old.a AS oa, new.a AS na, old, new) SELECT md5(oa), na, md5(old::text), new FROM u ORDER BY 1;
SELECT * FROM sum_up('t');
UPDATE t SET a = overlay(a PLACING 'middle' FROM 1500) || a WHERE id < 9 RETURNING id, old.a = left(new.a, 0) || old.a AS same, left(new.a, 1499) = left(old.a, 1499), right(new.a, length(old.a)) = old.a, md5(old.a || new.a);
INSERT INTO t SELECT i, dense(9000, -i), '{}' FROM generate_series(8, 18, 2) i
    ON CONFLICT (id) DO UPDATE SET a = t.a || excluded.a, d = jsonb_build_object('was', t.a), c = t.c || t.n
    RETURNING id, old.id, md5(old.a), md5(new.a), old.a || left(new.a, 0) = left(new.a, length(old.a)), md5(new.d->>'was') = md5(old.a), old IS NULL;
WITH m AS (MERGE INTO t USING (SELECT i, dense(3000, i) AS v FROM generate_series(1, 25) i) s ON t.id = s.i
    WHEN MATCHED AND i % 3 = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET a = s.v || t.a, d = t.d || jsonb_build_object('v', s.v)
    WHEN NOT MATCHED THEN INSERT (id, a) VALUES (i, s.v || s.v) RETURNING merge_action() AS what, i, old.a AS oa, new.a AS na, old.d AS od, new.d AS nd)
    SELECT what, i, md5(oa), md5(na), md5(od::text), md5(nd::text), length(na) - length(oa) FROM m ORDER BY i;
SELECT * FROM sum_up('t');
-- into other tables, of either kind, and again into the same one
CREATE TABLE audit (at serial, id int, was text, is_ text, row_was t, d jsonb);
CREATE TABLE audit_heap (LIKE audit) USING heap;
WITH u AS (UPDATE t SET a = a || 'audit' WHERE id % 2 = 0 RETURNING id, old.a AS oa, new.a AS na, old, old.d)
    INSERT INTO audit (id, was, is_, row_was, d) SELECT id, oa, na, old, d FROM u ORDER BY id;
WITH u AS (DELETE FROM t WHERE id % 4 = 1 RETURNING old.id, old.a AS oa, new.a AS na, old, old.d)
    INSERT INTO audit_heap SELECT 0, id, oa, na, old, d FROM u ORDER BY id;
WITH u AS (UPDATE t SET a = left(a, 3000) WHERE id % 4 = 2 RETURNING old.id, old.a, old.n)
    INSERT INTO t (id, a, n) SELECT id + 100, a || 'from old', n FROM u;
VACUUM t;
SELECT * FROM sum_up('t');
SELECT * FROM sum_up('audit');
SELECT * FROM sum_up('audit_heap');
-- with rules, triggers, views and savepoints; in variables that outlive them
CREATE FUNCTION tg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.a := new.a || tg_op; new.n := length(old.a); RETURN new; END $$;
CREATE TRIGGER tg BEFORE UPDATE ON t FOR EACH ROW WHEN (new.id % 2 = 0) EXECUTE FUNCTION tg();
CREATE VIEW v AS SELECT id, a, a || 'view' AS b FROM t;
WITH u AS (UPDATE v SET a = a || 'v' RETURNING id, old.b AS ob, new.b AS nb, old.a AS oa) SELECT id, md5(ob), md5(nb), md5(oa), length(nb) - length(ob) FROM u ORDER BY id;
CREATE FUNCTION olds(steps int) RETURNS TABLE (step int, id int, o text, n text) LANGUAGE plpgsql AS $$
DECLARE kept text[] := '{}'; o text; n text;
BEGIN
    FOR i IN 1 .. steps LOOP
        BEGIN
            UPDATE t SET a = t.a || i, d = jsonb_build_object('step', i, 'of', t.a) WHERE t.id = 2 RETURNING old.a, new.a INTO o, n;
            kept := kept || o || n;
            UPDATE t SET a = overlay(t.a PLACING 'twice' FROM 100) WHERE t.id = 2 RETURNING old.a, new.a INTO o, n;
            kept := kept || o;
            IF i % 3 = 0 THEN RAISE EXCEPTION 'back'; END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
        RETURN QUERY SELECT i, 2, md5(o), md5(n);
    END LOOP;
    RETURN QUERY SELECT 0, k::int, md5(x), NULL FROM unnest(kept) WITH ORDINALITY AS u(x, k);
END $$;
SELECT * FROM olds(7);
SELECT * FROM sum_up('t');
-- partitions: a row that moves is deleted and inserted
CREATE TABLE parent (id int, a text, d jsonb) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parent FOR VALUES FROM (10) TO (20);
INSERT INTO parent SELECT i, mixed(i * 2000, i), jsonb_build_object('id', i, 'v', dense(4000, i)) FROM generate_series(0, 19) i;
WITH u AS (UPDATE parent SET id = (id + 5) % 20, a = a || 'moved', d = jsonb_set(d, '{id}', '0') RETURNING old.id AS oid, new.id AS nid, old.tableoid::regclass AS ot, new.tableoid::regclass AS nt, old.a AS oa, new.a AS na, old.d AS od, new.d AS nd)
    SELECT oid, nid, ot, nt, md5(oa), md5(na), md5(od::text), md5(nd::text) FROM u ORDER BY oid;
SELECT * FROM sum_up('parent');

-- columns that are computed when they are read
CREATE TABLE g (id int PRIMARY KEY, v text, d jsonb, head text GENERATED ALWAYS AS (substr(v, 1000, 10)) VIRTUAL, name text GENERATED ALWAYS AS (d->>'name') VIRTUAL, long text GENERATED ALWAYS AS (v || id) VIRTUAL,
    n int GENERATED ALWAYS AS ((d->'deep'->>'n')::int) VIRTUAL, CHECK (n < 1000), part jsonb GENERATED ALWAYS AS (d->'deep'));
INSERT INTO g (id, v, d) SELECT i, mixed(i * 3000, i), jsonb_build_object('name', 'name ' || i, 'deep', jsonb_build_object('n', i, 'x', dense(3000, i))) FROM generate_series(1, 12) i;
SELECT id, head, name, n, length(long), md5(long), part->'n', md5(part::text) FROM g ORDER BY id;
UPDATE g SET v = v || 'x', d = jsonb_set(d, '{deep,n}', to_jsonb(n + 100)) WHERE n % 2 = 0 RETURNING id, old.n, new.n, old.head = new.head, md5(old.long), md5(new.long), old.name;
UPDATE g SET d = jsonb_set(d, '{deep,n}', '5000');
UPDATE g SET v = long, d = d || jsonb_build_object('name', head) WHERE id IN (3, 4);
SELECT id, name FROM g WHERE n > 100 OR long LIKE '%3' ORDER BY id;
SELECT md5(g::text), md5((g.*)::text) FROM g ORDER BY id;
CREATE TABLE stored AS SELECT * FROM g;
INSERT INTO g (id, v) SELECT id + 100, long FROM g;
CREATE STATISTICS g_stat ON name, n, head FROM g;
ANALYZE g;
CREATE INDEX g_n ON g (n);
CREATE INDEX g_dn ON g ((d->'deep'->>'n'));
ALTER TABLE g ADD w text GENERATED ALWAYS AS (right(v, 4) || 'w') VIRTUAL;
ALTER TABLE g ALTER w SET EXPRESSION AS (left(v, 4000));
ALTER TABLE g DROP w;
ALTER TABLE g ALTER d TYPE jsonb USING d;
VACUUM FULL g;
MERGE INTO g USING stored s ON g.id = s.id WHEN MATCHED AND g.head = s.head THEN UPDATE SET v = g.v || s.long WHEN MATCHED THEN DELETE;
SELECT id, head, name, n, md5(long) FROM g ORDER BY id;
SELECT * FROM sum_up('g');
SELECT * FROM sum_up('stored');
-- keys of time, and constraints that are not checked yet
CREATE TABLE rooms (id int4range, at daterange, v text, PRIMARY KEY (id, at WITHOUT OVERLAPS));
INSERT INTO rooms SELECT '[1,1]'::int4range, daterange('2024-01-01'::date + i * 10, '2024-01-11'::date + i * 10), mixed(i * 2000, i) FROM generate_series(1, 6) i;
INSERT INTO rooms VALUES ('[1,1]', '[2024-01-15,2024-01-20)', dense(9000, 1));
INSERT INTO rooms VALUES ('[1,1]', '[2024-01-15,2024-01-20)', dense(9000, 1)) ON CONFLICT DO NOTHING;
UPDATE rooms SET at = daterange(lower(at), upper(at) + 5), v = v || 'wider';
UPDATE rooms SET at = daterange(lower(at), upper(at) - 2), v = v || 'narrower' RETURNING old.at, new.at, md5(old.v), md5(new.v);
SELECT * FROM sum_up('rooms');
INSERT INTO t (id) VALUES (1000);
ALTER TABLE t ADD CONSTRAINT a_there NOT NULL a NOT VALID, ADD CONSTRAINT d_long CHECK (length(d::text) > 5) NOT ENFORCED;
INSERT INTO t (id, d) VALUES (1001, '1');
UPDATE t SET a = NULL;
ALTER TABLE t VALIDATE CONSTRAINT a_there;
DELETE FROM t WHERE id = 1000;
ALTER TABLE t VALIDATE CONSTRAINT a_there;
COPY t (id, a) FROM STDIN (ON_ERROR ignore, REJECT_LIMIT 1);
2000	fine
x	wrong
y	wrong as well
\.
VACUUM ONLY parent;
VACUUM (ANALYZE, TRUNCATE false) t, parent;
SELECT * FROM sum_up('t');
\endif
