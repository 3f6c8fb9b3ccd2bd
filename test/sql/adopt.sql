-- Tables of heap's become ours without being written anew; test/specs/adopted_rows.spec has
-- more than one session.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA adopt;
SET search_path = adopt;
CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(string_agg(sha512(int4send(seed) || int4send(i)), ''), 1, n) FROM generate_series(0, n / 64) i $$;
CREATE FUNCTION document(n int, seed int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_object_agg('k' || i, md5(seed || '.' || i)) FROM generate_series(1, n) i $$;
CREATE VIEW access AS
    SELECT c.relname AS name, a.amname AS am, coalesce(t.amname, '-') AS toast_am, c.relfilenode,
        (SELECT count(*) FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.refclassid = 'pg_am'::regclass) AS depends
    FROM pg_class c JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_class tc ON tc.oid = c.reltoastrelid LEFT JOIN pg_am t ON t.oid = tc.relam
    WHERE c.relnamespace = 'adopt'::regnamespace AND c.relkind IN ('r', 'm');

-- rows of every kind: with values outside, compressed in the row, short ones, NULLs
CREATE TABLE docs (id int PRIMARY KEY, n int, doc jsonb, file bytea, note text COMPRESSION pglz) USING heap;
ALTER TABLE docs ALTER file SET STORAGE external;
INSERT INTO docs SELECT i, 0, document(i * 150, i), noise(i * 9000, i), repeat('note ' || i, i * 300) FROM generate_series(1, 8) i;
INSERT INTO docs VALUES (9, 0, '{}', NULL, NULL);
CREATE TABLE files AS SELECT name, relfilenode FROM access WHERE name = 'docs';
CREATE TABLE same USING heap AS TABLE docs;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM (SELECT id, md5(d::text) FROM docs d EXCEPT SELECT id, md5(s::text) FROM same s) x $$;
PREPARE of_one(int) AS SELECT id, doc->>'k7', length(file), length(note) FROM docs WHERE id = $1;
EXECUTE of_one(5);

SELECT sliced.adopt('docs');
SELECT name, am, toast_am, relfilenode = (SELECT f.relfilenode FROM files f WHERE f.name = a.name) AS same_file, depends FROM access a WHERE name = 'docs';
SELECT * FROM sliced.verify('docs');
SELECT differences();
EXECUTE of_one(5);
SELECT sliced.adopt('docs');

-- the first change writes one value of the row; from then on it costs what it costs in any table of ours
CREATE FUNCTION wal_of(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE start pg_lsn;
BEGIN
    PERFORM sum(length(d::text)) FROM docs d;   -- hints, and pages that can be pruned
    EXECUTE statement;
    start := pg_current_wal_insert_lsn();
    EXECUTE statement;
    RETURN pg_current_wal_insert_lsn() - start;
END $$;
CREATE FUNCTION in_both(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE replace(statement, 'docs', 'same');
    EXECUTE replace(statement, 'docs', 'same');
    RETURN wal_of(statement);
END $$;
CHECKPOINT;
SELECT in_both($$UPDATE docs SET doc = jsonb_set(doc, '{k7}', '"changed"') WHERE id = 8$$) < 2500 AS jsonb_set;
SELECT in_both($$UPDATE docs SET file = file || '\x77' WHERE id = 7$$) < 2500 AS append;
SELECT in_both($$UPDATE docs SET n = n + 1 WHERE id = 6$$) < 500 AS unchanged;
SELECT differences();
-- values of both kinds in one row: kept, replaced, moved, emptied, deleted, rolled back
CREATE PROCEDURE check_all() LANGUAGE plpgsql AS $$
BEGIN
    IF differences() > 0 OR EXISTS (SELECT FROM sliced.verify('docs')) THEN
        RAISE EXCEPTION 'different: %, wrong: %', differences(), (SELECT string_agg(v::text, ' ') FROM sliced.verify('docs') v);
    END IF;
END $$;
SELECT in_both($$UPDATE docs SET note = note || 'more' WHERE id > 5$$) IS NOT NULL AS done;
CALL check_all();
SELECT in_both($$UPDATE docs SET file = noise(20000, id), doc = doc - 'k1' WHERE id IN (5, 7)$$) IS NOT NULL AS done;
CALL check_all();
SELECT in_both($$UPDATE docs SET file = convert_to(doc::text, 'UTF8'), doc = to_jsonb(encode(file, 'hex')) WHERE id IN (4, 8)$$) IS NOT NULL AS done;
CALL check_all();
SELECT in_both($$UPDATE docs SET file = NULL, doc = '[]' WHERE id IN (3, 8)$$) IS NOT NULL AS done;
CALL check_all();
BEGIN;
UPDATE docs SET doc = doc || '{"a": 1}';
SAVEPOINT s;
UPDATE docs SET file = NULL;
DELETE FROM docs WHERE id < 5;
ROLLBACK TO s;
UPDATE docs SET note = 'short', file = file || file;
ROLLBACK;
CALL check_all();
SELECT in_both($$DELETE FROM docs WHERE id IN (1, 7)$$) IS NOT NULL AS done;
CALL check_all();
CREATE TABLE taken USING heap AS TABLE docs;
VACUUM FULL docs;
CALL check_all();
ALTER TABLE docs SET ACCESS METHOD heap;
SELECT differences(), (SELECT count(*) FROM (TABLE taken EXCEPT TABLE docs) x) AS taken;

-- a row becomes ours while somebody has it, as a whole, on its way to another table
TRUNCATE docs;
INSERT INTO docs TABLE same;
SELECT sliced.adopt('docs');
CREATE FUNCTION change(which int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    UPDATE docs SET file = file || '\x00', doc = doc || '{"more": 1}' WHERE id = which;
    RETURN true;
END $$;
CREATE TABLE passed_on (LIKE docs) USING heap;
INSERT INTO passed_on SELECT * FROM docs WHERE ctid = ANY (ARRAY(SELECT ctid FROM docs WHERE id % 2 = 0)) AND change(id);
INSERT INTO passed_on SELECT * FROM docs WHERE id % 2 = 1 AND change(id);

SELECT (SELECT count(*) FROM (TABLE passed_on EXCEPT TABLE same) x) AS differ, (SELECT count(*) FROM passed_on);
SELECT count(*) FROM sliced.verify('docs');
TRUNCATE docs;
SELECT (SELECT count(*) FROM (TABLE passed_on EXCEPT TABLE same) x) AS differ, (SELECT count(*) FROM passed_on);
ALTER TABLE docs SET ACCESS METHOD heap;
INSERT INTO docs TABLE same;

-- what is rolled back leaves a table of heap's with rows of heap's
BEGIN;
SELECT sliced.adopt('docs');
UPDATE docs SET file = noise(30000, id), n = n + 1;
SELECT sliced.adopt('docs');
SELECT count(*) FROM sliced.verify('docs');
ROLLBACK;
SELECT name, am, toast_am, depends FROM access WHERE name = 'docs';
CREATE TABLE after USING heap AS TABLE docs;
TRUNCATE docs;
SELECT (SELECT count(*) FROM (TABLE same EXCEPT TABLE after) x), (SELECT count(*) FROM after);

-- partitioned tables with everything in them, and materialized views
CREATE TABLE parent (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parent FOR VALUES FROM (1) TO (10) USING heap;
CREATE TABLE part2 PARTITION OF parent FOR VALUES FROM (10) TO (20) PARTITION BY LIST (id);
CREATE TABLE part2a PARTITION OF part2 FOR VALUES IN (10, 11) USING heap;
CREATE TABLE part2b PARTITION OF part2 FOR VALUES IN (12, 13) USING sliced;
INSERT INTO parent SELECT i, encode(noise(4000, i), 'hex') FROM generate_series(7, 13) i;
SET default_table_access_method = sliced;      -- or a notice about new partitions, before 17
SELECT sliced.adopt('parent');
RESET default_table_access_method;
UPDATE parent SET id = id + 3, v = v || 'moved' WHERE id < 10;
SELECT tableoid::regclass, id, length(v), md5(v) = md5(encode(noise(4000, CASE WHEN length(v) > 8000 THEN id - 3 ELSE id END), 'hex') || CASE WHEN length(v) > 8000 THEN 'moved' ELSE '' END) AS same FROM parent ORDER BY 1, 2, 3;
CREATE MATERIALIZED VIEW mat USING heap AS SELECT id, v FROM parent;
SELECT sliced.adopt('mat');
REFRESH MATERIALIZED VIEW mat;
SELECT name, am, toast_am, depends FROM access WHERE name ~ '^(part|mat)' ORDER BY name;
SELECT name, kind, message FROM access, sliced.verify(name::regclass) WHERE name ~ '^(part|mat)';

-- keys that were null, or become so, or another key
CREATE TABLE keyed (id int PRIMARY KEY, k int UNIQUE, v text, page text) USING heap WITH (fillfactor = 10);
ALTER TABLE keyed ALTER page SET STORAGE plain;
INSERT INTO keyed SELECT i, CASE WHEN i IN (2, 4) THEN i END, encode(noise(9000, i), 'hex'), repeat('p', 800) FROM generate_series(1, 4) i;
SELECT sliced.adopt('keyed');
UPDATE keyed SET k = CASE id WHEN 1 THEN 1 WHEN 4 THEN 5 END, v = v || 'x';
SELECT id, k, v = encode(noise(9000, id), 'hex') || 'x' AS same FROM keyed ORDER BY id;
SELECT * FROM sliced.verify('keyed');

-- a short row in the page of a row that becomes ours
CREATE TABLE mixed USING heap AS SELECT i AS id, repeat(encode(noise(4000, i), 'hex'), i % 2) AS v FROM generate_series(1, 4) i;
SELECT sliced.adopt('mixed');
UPDATE mixed SET v = v || 'x' WHERE id = 1;
UPDATE mixed SET v = v || 'y' WHERE id = 2;
SELECT id, v = repeat(encode(noise(4000, id), 'hex'), id % 2) || CASE id WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE '' END AS same FROM mixed ORDER BY id;
SELECT * FROM sliced.verify('mixed');

-- a table without long columns gets its toast relation later
CREATE TABLE narrow (id int) USING heap;
SELECT sliced.adopt('narrow');
ALTER TABLE narrow ADD v text;
SELECT name, am, toast_am FROM access WHERE name = 'narrow';

-- what cannot be adopted
CREATE VIEW a_view AS SELECT 1 AS one;
CREATE SEQUENCE a_sequence;
CREATE FOREIGN DATA WRAPPER adopt_wrapper;
CREATE SERVER adopt_server FOREIGN DATA WRAPPER adopt_wrapper;
CREATE FOREIGN TABLE a_foreign_table (id int) SERVER adopt_server;
CREATE TABLE mixed (id int, v text) PARTITION BY LIST (id);
CREATE TABLE mixed1 PARTITION OF mixed FOR VALUES IN (1) USING heap;
CREATE FOREIGN TABLE mixed2 PARTITION OF mixed FOR VALUES IN (2) SERVER adopt_server;
CREATE ACCESS METHOD adopt_other TYPE TABLE HANDLER sliced.handler;
CREATE TABLE others (v text) USING adopt_other;
\set VERBOSITY terse
SELECT sliced.adopt('a_view');
SELECT sliced.adopt('a_sequence');
SELECT sliced.adopt('a_foreign_table');
-- but a partition may be one
SET default_table_access_method = sliced;
SELECT sliced.adopt('mixed');
RESET default_table_access_method;
SELECT name, am FROM access WHERE name ~ '^mixed';
SELECT sliced.adopt('docs_pkey');
SELECT sliced.adopt('pg_class');
DO $$ BEGIN PERFORM sliced.adopt(reltoastrelid) FROM pg_class WHERE oid = 'docs'::regclass; EXCEPTION WHEN wrong_object_type THEN RAISE NOTICE 'no toast relation'; END $$;
SELECT sliced.adopt(1);
SELECT sliced.adopt(NULL);
SELECT sliced.adopt('others');
BEGIN READ ONLY;
SELECT sliced.adopt('same');
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM same ORDER BY id;
FETCH 1 FROM c;
SELECT sliced.adopt('same');
ROLLBACK;
CREATE ROLE regress_sliced_adopter;
GRANT USAGE ON SCHEMA adopt, sliced TO regress_sliced_adopter;
GRANT ALL ON same TO regress_sliced_adopter;
SET ROLE regress_sliced_adopter;
SELECT sliced.adopt('same');
RESET ROLE;
REVOKE ALL ON SCHEMA adopt, sliced FROM regress_sliced_adopter;
SELECT name, am FROM access WHERE name IN ('same', 'others') ORDER BY 1;

SET client_min_messages = warning;
DROP FOREIGN DATA WRAPPER adopt_wrapper CASCADE;
DROP TABLE others;
DROP ACCESS METHOD adopt_other;
DROP SCHEMA adopt CASCADE;
DROP ROLE regress_sliced_adopter;
