-- advice and estimates: who may ask, and of what (that they come true is seen elsewhere: t/245_advice.sh)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
DROP ROLE IF EXISTS advise_other, advise_stats;
RESET client_min_messages;
CREATE SCHEMA advise;
SET search_path = advise;
CREATE ROLE advise_other;
CREATE ROLE advise_stats IN ROLE pg_stat_scan_tables;
GRANT USAGE ON SCHEMA advise TO advise_other, advise_stats;

CREATE TABLE docs (id int, "Odd ""doc'" jsonb, gone text, plain text);
ALTER TABLE docs ALTER plain SET STORAGE plain;
INSERT INTO docs SELECT i, (SELECT jsonb_object_agg('key ' || j, md5((i * j)::text)) FROM generate_series(1, 150) j), 'gone' FROM generate_series(1, 60) i;
ALTER TABLE docs DROP gone;
CREATE TABLE parts (LIKE docs) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE VIEW seen AS SELECT * FROM docs;
CREATE SEQUENCE numbers;
CREATE INDEX docs_id ON docs (id);

-- one row for the table as it is, one for each choice, the same again for each column with values
CREATE FUNCTION rows(regclass) RETURNS TABLE (col name, present bigint, choices bool, rates bool) LANGUAGE sql AS $$
    SELECT col, count(*) FILTER (WHERE codec IS NULL), count(*) FILTER (WHERE codec IS NOT NULL AND stored_bytes > 0) >= 4,
        bool_and(write_mb_s > 0) FROM sliced.estimate($1) GROUP BY 1 ORDER BY 1 NULLS FIRST
$$;
SELECT * FROM rows('docs');
-- a table is named as it must be
SELECT DISTINCT substring(sql FROM 'SELECT sliced.adopt\(.*?\);') FROM sliced.advise('docs') WHERE sql ~ 'adopt';
-- nothing is written
BEGIN READ ONLY;
SELECT * FROM rows('docs');
SELECT count(*) > 0 AS advised FROM sliced.advise('docs');
COMMIT;
-- nothing to estimate
SELECT * FROM sliced.estimate('parts1') WHERE codec IS NOT NULL;
SELECT rel, topic, advice FROM sliced.advise('parts');
CREATE TABLE numbers_only (id int);
CREATE TABLE sliced_numbers (id int) USING sliced;
CREATE TABLE empty (t text) USING sliced;
SELECT * FROM sliced.estimate('numbers_only');
SELECT rel, topic, advice FROM unnest('{numbers_only,sliced_numbers,empty}'::text[]) t, sliced.advise(t::regclass);
-- a page is looked at, however little time there is
CREATE TABLE pages (id int, t text) USING heap;
INSERT INTO pages SELECT i, repeat('x', 100) FROM generate_series(1, 400) i;
SELECT codec IS NULL AS present, count(*) > 0 AS estimated, bool_and(rows > 0) AS rows FROM sliced.estimate('pages', '1 microsecond') WHERE col IS NULL GROUP BY 1 ORDER BY 1;
-- much of a short table is dead: that is not worth a word
CREATE TABLE dead (id int, t text) USING sliced WITH (autovacuum_enabled = off);
INSERT INTO dead SELECT i, repeat(md5(i::text), 9) FROM generate_series(1, 1000) i;
DELETE FROM dead WHERE id > 50;
SELECT topic FROM sliced.advise('dead') WHERE topic = 'space';
-- levels are tried once
SET sliced.zstd_level = 9;
SELECT level, dictionary FROM sliced.estimate('docs') WHERE codec = 'zstd' AND col IS NULL AND NOT dictionary;
RESET sliced.zstd_level;

-- not of these
SELECT * FROM sliced.estimate('parts');
SELECT * FROM sliced.estimate('seen');
SELECT * FROM sliced.advise('numbers');
SELECT * FROM sliced.advise('docs_id');
CREATE ACCESS METHOD advise_am TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE another (t text) USING advise_am;
SELECT * FROM sliced.estimate('another');
SELECT * FROM sliced.advise('pg_toast.pg_toast_1255');
SELECT * FROM sliced.advise('pg_proc');
SELECT * FROM sliced.advise(1::regclass);
SELECT * FROM sliced.advise('docs', '0');
SELECT * FROM sliced.estimate('docs', '-1 s');
SELECT * FROM sliced.advise('docs', NULL);
SELECT * FROM sliced.estimate(NULL);

-- roles that may read it, or measure it
SET ROLE advise_other;
SELECT * FROM sliced.estimate('docs');
SELECT * FROM sliced.advise('parts');
SELECT count(*) FROM sliced.advise(NULL, '1 s') WHERE rel = 'docs';
SET ROLE advise_stats;
SELECT count(*) > 0 AS estimated FROM sliced.estimate('docs');
RESET ROLE;
GRANT SELECT ON docs TO advise_other;
SET ROLE advise_other;
SELECT count(*) > 0 AS advised FROM sliced.advise('docs');
RESET ROLE;

-- statements, where pg_stat_statements shows them: whose columns they use, and for how long
BEGIN;
CREATE SCHEMA shown;
CREATE TABLE shown.rows (query text, total_exec_time float8);
CREATE VIEW shown.pg_stat_statements AS SELECT query, total_exec_time, 1 AS calls, 0 AS wal_bytes, current_user::regrole AS userid, d.oid AS dbid
    FROM shown.rows, pg_database d WHERE datname = current_database();
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) VALUES (1, 'pg_stat_statements', 10, 'shown'::regnamespace, false, '1');
CREATE FUNCTION no_arguments() RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
CREATE TABLE two AS SELECT id, "Odd ""doc'" AS a, "Odd ""doc'" AS b FROM docs;
CREATE MATERIALIZED VIEW made AS TABLE two;
INSERT INTO shown.rows VALUES
    ('UPDATE two SET a = a - ''x'', b = b - ''x'' WHERE a->>''x'' = ''1''', 9000),
    ('UPDATE two SET a = no_arguments()', 1),
    ('SELECT a->>''x'' FROM made', 36000000),
    ('SELECT b->>''x'' FROM made', 10000),
    (format('SELECT substr(chunk_data, 1, 1) FROM %s', (SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'two')), 1);
SELECT t, col, substring(advice FROM '^[^;]*') AS advice FROM unnest('{made,two}'::text[]) t, sliced.advise(t::regclass) WHERE topic = 'parts' ORDER BY t, col;
-- without the statements there is other advice, unless what fails is the query itself
CREATE FUNCTION fail(state text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'no statements' USING ERRCODE = state; END $$;
ALTER VIEW shown.pg_stat_statements RENAME TO statements;
CREATE VIEW shown.pg_stat_statements AS SELECT * FROM shown.statements WHERE fail('io_error');
SELECT count(*) > 0 AS advised FROM sliced.advise('two');
CREATE OR REPLACE VIEW shown.pg_stat_statements AS SELECT * FROM shown.statements WHERE fail('admin_shutdown');
\set VERBOSITY terse
SELECT count(*) > 0 AS advised FROM sliced.advise('two');
\set VERBOSITY default
ROLLBACK;
-- options that a column has stay in what advice says of it
ALTER TABLE docs SET ACCESS METHOD sliced;
SELECT sliced.alter_column('docs', 'Odd "doc''', 'toaster=plain, compression=none');
SELECT DISTINCT substring(sql FROM 'SELECT sliced.alter_column\(.*?, .toaster=plain, compression=') FROM sliced.advise('docs') WHERE topic = 'storage';
-- much of a small table is not much
DELETE FROM docs WHERE id > 20;
SELECT count(*) FROM sliced.advise('docs') WHERE topic = 'space';
-- what is kept as it is in a table that is sliced
CREATE TABLE as_is (id int, t text) USING sliced;
ALTER TABLE as_is ALTER t SET STORAGE EXTERNAL;
INSERT INTO as_is SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, 40) i;
SELECT topic, col, substring(sql FROM '^[^;]*;') AS sql FROM sliced.advise('as_is');
-- what heap has compressed before that was set may be more than the table
CREATE TABLE before (id int, t text) USING heap;
ALTER TABLE before ALTER t SET STORAGE EXTERNAL;
INSERT INTO before SELECT i, repeat(md5(i::text), 10000) FROM generate_series(1, 2) i;
ALTER TABLE before ALTER t SET STORAGE EXTENDED;
INSERT INTO before SELECT i, repeat(md5(i::text), 10000) FROM generate_series(3, 40) i;
ALTER TABLE before ALTER t SET STORAGE EXTERNAL;
SELECT count(*) FROM sliced.advise('before') WHERE topic = 'external';

SET client_min_messages = warning;
DROP SCHEMA advise CASCADE;
DROP ACCESS METHOD advise_am;
DROP ROLE advise_other, advise_stats;
