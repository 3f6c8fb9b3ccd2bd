-- What appends and splices store.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA changes;
SET search_path = changes, public;
SET default_table_access_method = sliced;

-- the nodes and slices of a value; objects are counted
CREATE FUNCTION parts(tab regclass, OUT piece int, OUT object int, OUT start bigint, OUT raw int,
    OUT codec text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE first oid;
BEGIN
    FOR piece, first, start, raw, codec IN EXECUTE
        format('SELECT i.piece, i.object, i.start, i.raw_bytes, i.codec FROM %s, sliced.inspect(v) i', tab)
    LOOP
        IF NOT EXISTS (SELECT FROM names WHERE o = first) THEN
            INSERT INTO names VALUES (first, (SELECT count(*) FROM names));
        END IF;
        object := (SELECT n FROM names WHERE o = first);
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE names (o oid, n int) USING heap;
CREATE TABLE t (v text);
ALTER TABLE t ALTER v SET STORAGE EXTERNAL;
INSERT INTO t VALUES (repeat('0123456789', 2000));
SELECT * FROM parts('t');

-- an append adds a tail to the object, and grows it
UPDATE t SET v = v || 'abc';
SELECT * FROM parts('t') OFFSET 3;
UPDATE t SET v = concat(v, 'defgh', 17, NULL);
SELECT * FROM parts('t') OFFSET 3;
-- ... which has no room for much
UPDATE t SET v = v || repeat('x', 300) || 'y';
SELECT * FROM parts('t') OFFSET 3;
-- a transaction does not touch the tail it has written itself
BEGIN;
UPDATE t SET v = v || 'one';
UPDATE t SET v = v || 'two';
UPDATE t SET v = v || 'three';
COMMIT;
SELECT * FROM parts('t') OFFSET 3;
-- past the next multiple of 8 kB what is small is merged
UPDATE t SET v = v || repeat('z', 5000);
SELECT * FROM parts('t') OFFSET 2;
SELECT * FROM sliced.verify('t');

-- a splice shares what it does not change
UPDATE t SET v = overlay(v placing 'SPLICE' from 10001);
SELECT * FROM parts('t');
-- in the same place again, and behind it; the new bytes are one item of the root
UPDATE t SET v = overlay(v placing 'splice' from 10001);
UPDATE t SET v = overlay(v placing 'more' from 10007);
SELECT count(*), min(stored_bytes) < 40 AS short FROM t, sliced.inspect(v) WHERE codec = 'node';
-- longer new bytes get slices of their own
UPDATE t SET v = overlay(v placing repeat('long', 200) from 5001 for 0);
SELECT piece, object, start, raw FROM parts('t');
-- and a derived value grows like any
UPDATE t SET v = v || 'tail';
SELECT piece, object, start, raw FROM parts('t') OFFSET 8;
SELECT * FROM sliced.verify('t');

-- a suffix keeps its slices and frees the others
UPDATE t SET v = right(v, -20000);
SELECT piece, object, start, raw FROM parts('t');
SELECT length(v), md5(v) FROM t;
SELECT * FROM sliced.verify('t');

-- VACUUM FULL makes it one object again
VACUUM FULL t;
SELECT piece, start, raw FROM parts('t');

-- whole values are compared with what is there: the same, a little more, a little else
INSERT INTO t VALUES (repeat('9876543210', 1500));
DELETE FROM t WHERE left(v, 1) <> '9';
TRUNCATE names;
SELECT object AS before FROM t, sliced.inspect(v) LIMIT 1 \gset
UPDATE t SET v = repeat('9876543210', 1500);
SELECT DISTINCT object = :before AS same FROM t, sliced.inspect(v);
UPDATE t SET v = repeat('9876543210', 1500) || 'abc';
SELECT piece, object, start, raw FROM parts('t') OFFSET 1;
UPDATE t SET v = repeat('9876543210', 700) || '---' || repeat('9876543210', 800);
SELECT piece, object, start, raw FROM parts('t');
UPDATE t SET v = repeat('abcdefghij', 1500);
SELECT piece, object, start, raw FROM parts('t');
SELECT * FROM sliced.verify('t');

-- many places: slices are written anew before their edits take as much as they do
DO $$ BEGIN
    FOR i IN 1..3000 LOOP
        UPDATE t SET v = overlay(v placing '#' from 1 + (i * 7919) % 14000);
    END LOOP;
END $$;
SELECT sum(stored_bytes) FILTER (WHERE codec = 'node') < 10000 AS nodes, sum(raw_bytes) < 20000 AS slices FROM t, sliced.inspect(v);
SELECT length(v), md5(v) FROM t;
SELECT * FROM sliced.verify('t');

-- what is rolled back leaves nothing, and places that a variable may still know
-- are not used again
DO $$
DECLARE before text; gone text;
BEGIN
    SELECT v INTO before FROM t;
    BEGIN
        UPDATE t SET v = v || 'rolled back' RETURNING v INTO gone;
        RAISE EXCEPTION USING errcode = 'UE001';
    EXCEPTION WHEN SQLSTATE 'UE001' THEN NULL;
    END;
    UPDATE t SET v = v || 'and on it goes';
    RAISE NOTICE '% % %', right(gone, 12), gone = before || 'rolled back', right(v, 14) FROM t;
END $$;
SELECT * FROM sliced.verify('t');

-- plans call our functions, and are planned anew without the extension
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET v = overlay(v placing 'x' from 3);
EXPLAIN (VERBOSE, COSTS OFF) SELECT length(v) FROM t WHERE substr(v, 3, 1) = 'x' ORDER BY right(v, 2);
CREATE TABLE h (v text) USING heap;
EXPLAIN (VERBOSE, COSTS OFF) SELECT length(v) FROM h;
REVOKE EXECUTE ON FUNCTION sliced_functions.text_length(text) FROM PUBLIC;
CREATE ROLE changes_nobody;
GRANT USAGE ON SCHEMA changes TO changes_nobody;
GRANT SELECT ON t TO changes_nobody;
SET ROLE changes_nobody;
EXPLAIN (VERBOSE, COSTS OFF) SELECT length(v) FROM t;
RESET ROLE;
GRANT EXECUTE ON FUNCTION sliced_functions.text_length(text) TO PUBLIC;
PREPARE len AS SELECT length(v) FROM t;
EXECUTE len;
-- also for somebody else, who may not execute what was exchanged
GRANT SELECT ON h TO changes_nobody;
REVOKE EXECUTE ON FUNCTION pg_catalog.length(text) FROM PUBLIC;
SET ROLE changes_nobody;
EXECUTE len;
SELECT length(v) FROM t;
SELECT length(v) FROM h;
RESET ROLE;
EXECUTE len;
GRANT EXECUTE ON FUNCTION pg_catalog.length(text) TO PUBLIC;
-- What CASE and COALESCE hand on to another function takes no more memory than what that
-- function calls itself.
CREATE TABLE handed_on (id int, v text) USING sliced;
ALTER TABLE handed_on ALTER v SET STORAGE EXTERNAL;
INSERT INTO handed_on SELECT i, repeat(i || ' ', 3000) FROM generate_series(1, 2000) i;
CREATE VIEW promised AS SELECT sum(used_bytes) AS bytes FROM pg_backend_memory_contexts WHERE name LIKE 'sliced promises%';
BEGIN;
UPDATE handed_on SET v = (v || 'a') || 'b';
SELECT 1.1 * bytes AS direct FROM promised \gset
ROLLBACK;
BEGIN;
UPDATE handed_on SET v = (CASE WHEN id % 2 = 0 THEN v || 'a' ELSE overlay(v PLACING 'c' FROM 9) END) || 'b';
SELECT bytes < :direct AS as_little FROM promised;
ROLLBACK;
BEGIN;
UPDATE handed_on SET v = coalesce(CASE id % 3 WHEN 0 THEN v || 'a' WHEN 1 THEN overlay(v PLACING 'c' FROM 9) END, 'short') || 'b';
SELECT bytes < :direct AS as_little FROM promised;
ROLLBACK;
DROP VIEW promised;
DROP TABLE handed_on;
-- what a trigger got is stored twice; a document is read whose base was rolled back, with the document itself
CREATE SCHEMA on_heap;
CREATE SCHEMA on_sliced;
CREATE FUNCTION store_twice() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$ BEGIN
    IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF;
    FOR i IN 1 .. 2 LOOP
        UPDATE versions SET n = n + 1, v = NEW.v WHERE id = NEW.id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE FUNCTION read_versions() RETURNS SETOF text LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE first jsonb; second jsonb; k text;
BEGIN
    UPDATE versions SET v = v || 'twice';
    RETURN QUERY SELECT concat_ws(' ', id, n, length(v), right(v, 9)) FROM versions ORDER BY id;
    ALTER TABLE versions DISABLE TRIGGER ALL;
    BEGIN
        UPDATE versions SET j = jsonb_set(j, '{k7}', '"first"') WHERE id = 1 RETURNING j INTO first;
        UPDATE versions SET j = jsonb_set(j, '{k8}', '"second"') WHERE id = 1 RETURNING j INTO second;
        RAISE EXCEPTION 'rolled back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    FOREACH k IN ARRAY '{k6,k7,k8,k9}'::text[] LOOP
        RETURN QUERY SELECT concat_ws(' ', second->>k, first->>k, j->>k) FROM versions WHERE id = 1;
    END LOOP;
END $$;
CREATE TABLE on_heap.versions (id int, n int, v text, j jsonb) USING heap;
ALTER TABLE on_heap.versions ALTER v SET STORAGE EXTERNAL;
INSERT INTO on_heap.versions SELECT i, 0, repeat('0123456789', 1800), (SELECT jsonb_object_agg('k' || k, md5((i * k)::text)) FROM generate_series(1, 400) k) FROM generate_series(1, 2) i;
CREATE TABLE on_sliced.versions (LIKE on_heap.versions INCLUDING ALL) USING sliced;
INSERT INTO on_sliced.versions SELECT * FROM on_heap.versions;
CREATE TRIGGER twice BEFORE UPDATE ON on_heap.versions FOR EACH ROW EXECUTE FUNCTION store_twice();
CREATE TRIGGER twice BEFORE UPDATE ON on_sliced.versions FOR EACH ROW EXECUTE FUNCTION store_twice();
SET search_path = on_heap, changes, public;
SELECT read_versions();
SET search_path = on_sliced, changes, public;
SELECT read_versions();
SET search_path = changes, public;
SELECT count(*) FROM on_heap.versions h JOIN on_sliced.versions s USING (id, n, v, j);
SET client_min_messages = warning;
DROP SCHEMA on_heap, on_sliced CASCADE;
RESET client_min_messages;
DROP FUNCTION read_versions, store_twice;
-- rows of a merged slice have numbers of the slices that it has replaced, and stand before or behind them
CREATE FUNCTION nearly_noise(n int, seed int) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(string_agg(sha512(int4send(seed) || int4send(i)) || '\x0000000000000000', ''), 1, n) FROM generate_series(0, n / 64) i $$;
CREATE TABLE merged (id int, v bytea) WITH (autovacuum_enabled = off);
SET sliced.compression = zstd;
INSERT INTO merged SELECT 0, nearly_noise(300000, 0);
INSERT INTO merged SELECT i, nearly_noise(131072, i) FROM generate_series(1, 2) i;
CREATE TABLE core (id int, v bytea) USING heap;
INSERT INTO core SELECT * FROM merged WHERE id > 0;
CREATE PROCEDURE add_to_both(bytes bytea, at int DEFAULT NULL) LANGUAGE sql AS $$
    UPDATE merged SET v = v || bytes WHERE id = coalesce(at, id) AND id > 0;
    UPDATE core SET v = v || bytes WHERE id = coalesce(at, id);
$$;
BEGIN;
CALL add_to_both('a');
CALL add_to_both('b');
CALL add_to_both(nearly_noise(60000, 3));
CALL add_to_both(nearly_noise(100000, 4), 1);
SELECT count(*), bool_and(m.v = c.v), bool_and(substr(m.v, 131070, 70000) = substr(c.v, 131070, 70000)) FROM merged m JOIN core c USING (id);
COMMIT;
DELETE FROM merged WHERE id = 0;
VACUUM merged;
BEGIN;
CALL add_to_both(nearly_noise(100000, 5), 2);
SELECT count(*), bool_and(m.v = c.v), bool_and(substr(m.v, 131070, 70000) = substr(c.v, 131070, 70000)) FROM merged m JOIN core c USING (id);
COMMIT;
-- a longer slice in place of another one
INSERT INTO merged SELECT 3, nearly_noise(131072, 3);
INSERT INTO core SELECT * FROM merged WHERE id = 3;
CALL add_to_both(nearly_noise(60000, 9), 3);
CALL add_to_both('c', 3);
CALL add_to_both(nearly_noise(100000, 10), 3);
SELECT m.v = c.v AS same, substr(m.v, 131070, 70000) = substr(c.v, 131070, 70000) AS part FROM merged m JOIN core c USING (id) WHERE id = 3;
-- what is rolled back was at other places
BEGIN;
CALL add_to_both(nearly_noise(1000, 6));
CALL add_to_both(nearly_noise(1000, 7));
ROLLBACK;
CALL add_to_both(nearly_noise(2000, 8));
SELECT count(*), bool_and(m.v = c.v), bool_and(substr(m.v, 290000, 9000) = substr(c.v, 290000, 9000)) FROM merged m JOIN core c USING (id);
-- the same bytes twice, and a part of them once more
UPDATE merged SET v = v || v || substr(v, 100, 5000);
UPDATE core SET v = v || v || substr(v, 100, 5000);
SELECT count(*), bool_and(m.v = c.v) FROM merged m JOIN core c USING (id);
SELECT * FROM sliced.verify('merged');
RESET sliced.compression;
DROP TABLE merged, core;
DROP PROCEDURE add_to_both;
DROP FUNCTION nearly_noise;
-- the toast relation is rewritten by itself: where a node says that a row is, there is none, another, or one that was rolled back
CREATE TABLE hinted (id int, v bytea) WITH (autovacuum_enabled = off);
ALTER TABLE hinted ALTER v SET STORAGE external;
CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(string_agg(sha512(int4send(seed) || int4send(i)), ''), 1, n) FROM generate_series(0, n / 64) i $$;
INSERT INTO hinted SELECT i, noise(60000, i) FROM generate_series(1, 5) i;
INSERT INTO hinted SELECT 6, noise(30000, 6);
DO $$ BEGIN FOR i IN 1 .. 60 LOOP UPDATE hinted SET v = overlay(v PLACING 'edit' FROM i * 490) WHERE id = 6; END LOOP; END $$;
CREATE TABLE core USING heap AS SELECT * FROM hinted WHERE id = 6;
DELETE FROM hinted WHERE id < 6;
VACUUM hinted;
\set ECHO none
SELECT format('VACUUM FULL %s', reltoastrelid::regclass) FROM pg_class WHERE oid = 'hinted'::regclass
\gexec
\set ECHO all
SELECT h.v = c.v AS same, substr(h.v, 15000, 3000) = substr(c.v, 15000, 3000) AS part FROM hinted h JOIN core c USING (id);
BEGIN;
INSERT INTO hinted SELECT i, noise(60000, i) FROM generate_series(11, 15) i;
ROLLBACK;
SELECT h.v = c.v AS same, substr(h.v, 15000, 3000) = substr(c.v, 15000, 3000) AS part FROM hinted h JOIN core c USING (id);
UPDATE hinted SET v = overlay(v PLACING 'again' FROM 15001);
UPDATE core SET v = overlay(v PLACING 'again' FROM 15001);
INSERT INTO hinted SELECT i, noise(60000, i) FROM generate_series(11, 16) i;
SELECT h.v = c.v AS same, substr(h.v, 15000, 3000) = substr(c.v, 15000, 3000) AS part FROM hinted h JOIN core c USING (id);
SELECT * FROM sliced.verify('hinted');
DROP TABLE hinted, core;
DROP FUNCTION noise;
-- many statements while a cursor is open
BEGIN;
DECLARE c CURSOR FOR SELECT length(v) FROM t;
FETCH c;
DO $$ BEGIN FOR i IN 1..300 LOOP EXECUTE 'SELECT length(v) FROM changes.t'; END LOOP; END $$;
\set ECHO none
SELECT format('UPDATE t SET v = v || %L', i) FROM generate_series(1, 150) i
\gexec
\set ECHO all
FETCH c;
COMMIT;
BEGIN;
ALTER TABLE t SET ACCESS METHOD heap;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE len;
EXECUTE len;
ROLLBACK;
EXECUTE len;
SET client_min_messages = warning;
ALTER TABLE t SET ACCESS METHOD heap;
DROP EXTENSION pg_sliced CASCADE;
EXECUTE len;
DROP SCHEMA changes CASCADE;
DROP ROLE changes_nobody;
