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

-- not of these
SELECT * FROM sliced.estimate('parts');
SELECT * FROM sliced.estimate('seen');
SELECT * FROM sliced.advise('numbers');
SELECT * FROM sliced.advise('docs_id');
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

-- options that a column has stay in what advice says of it
ALTER TABLE docs SET ACCESS METHOD sliced;
SELECT sliced.alter_column('docs', 'Odd "doc''', 'toaster=plain, compression=none');
SELECT DISTINCT substring(sql FROM 'SELECT sliced.alter_column\(.*?, .toaster=plain, compression=') FROM sliced.advise('docs') WHERE topic = 'storage';

SET client_min_messages = warning;
DROP SCHEMA advise CASCADE;
DROP ROLE advise_other, advise_stats;
