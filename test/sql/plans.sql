-- Which functions plans call, whatever has happened to a session before.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;

-- Looking for our functions ends in an error half way through: then none of it
-- counts, and the next plan looks again.  A prepared transaction keeps pg_proc
-- locked for it; COPY opens the new table without a plan.
CREATE TABLE looked (j jsonb) USING sliced;
COPY looked FROM stdin;
{"a": {"b": 1}}
\.
SELECT j->'a'->'b' FROM looked;
DROP TABLE looked;
DROP EXTENSION pg_sliced;
CREATE EXTENSION pg_sliced;
CREATE TABLE looked (j jsonb) USING sliced;
COPY looked FROM stdin;
{"a": {"b": 2}}
\.
BEGIN;
LOCK pg_proc;
PREPARE TRANSACTION 'keeps pg_proc locked';
\set SHOW_CONTEXT never
SET lock_timeout = 10;
SELECT j->'a'->'b' FROM looked;
ROLLBACK PREPARED 'keeps pg_proc locked';
RESET lock_timeout;
\set SHOW_CONTEXT errors
SELECT j->'a'->'b' FROM looked;
DROP TABLE looked;
DROP EXTENSION pg_sliced;
-- the library without the extension knows no toaster, in a session that knew some and in another
CREATE TABLE plain (j jsonb) USING heap;
SECURITY LABEL FOR sliced ON TABLE plain IS 'toaster=jsonb';
\c -
LOAD 'pg_sliced';
SECURITY LABEL FOR sliced ON TABLE plain IS 'toaster=jsonb';
SET client_min_messages = warning;
DROP TABLE plain;
CREATE EXTENSION pg_sliced;

-- the conditions of indexes that are used together read parts
CREATE TABLE docs (j jsonb) USING sliced;
INSERT INTO docs SELECT jsonb_object_agg('k' || i, md5(i::text)) || '{"a": 5, "b": 50}' FROM generate_series(1, 3000) i;
CREATE TABLE pairs AS SELECT i % 100 AS a, i / 100 AS b FROM generate_series(0, 9999) i;
CREATE INDEX ON pairs (a);
CREATE INDEX ON pairs (b);
ANALYZE pairs;
SET enable_indexscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE TEMP TABLE plan (line text);
DO $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM docs, pairs WHERE a = (j->>''a'')::int AND b = (j->>''b'')::int' LOOP
        INSERT INTO plan VALUES (line);
    END LOOP;
END $$;
SELECT count(*) AS together FROM plan WHERE line ~ 'BitmapAnd';
SELECT sliced.stat_reset('docs');
SELECT a, b FROM docs, pairs WHERE a = (j->>'a')::int AND b = (j->>'b')::int;
SELECT slices_read < (SELECT count(*) FROM docs, sliced.inspect(j)) AS few FROM sliced.stat_tables WHERE rel = 'docs';
RESET enable_indexscan;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- new values that are made below a node that merges, or that come from an index
CREATE TABLE parts (id int, v text) PARTITION BY HASH (id);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING sliced;
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING heap;
INSERT INTO parts SELECT i, (SELECT string_agg(md5(i * k || ''), '') FROM generate_series(1, 200) k) FROM generate_series(1, 12) i;
CREATE INDEX ON parts (id);
ANALYZE parts;
CREATE TABLE changed USING sliced AS SELECT id, v || 'old' AS v FROM parts;
CREATE TABLE words AS SELECT i AS id, 'word ' || i AS w FROM generate_series(1, 200) i;
CREATE INDEX ON words (w, id);
VACUUM ANALYZE words;
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id, v || 'x' AS v FROM parts ORDER BY id LIMIT 8;
UPDATE changed SET v = n.v FROM (SELECT id, v || 'x' AS v FROM parts ORDER BY id LIMIT 8) n WHERE n.id = changed.id;
EXPLAIN (COSTS OFF) SELECT id, w FROM words WHERE w >= 'word 10' ORDER BY w LIMIT 3;
UPDATE changed SET v = w FROM (SELECT id, w FROM words WHERE w >= 'word 10' ORDER BY w LIMIT 3) n WHERE n.id = changed.id;
SELECT c.id, CASE c.v WHEN p.v || 'x' THEN 'x' WHEN p.v || 'old' THEN 'old' ELSE c.v END FROM changed c JOIN parts p USING (id) ORDER BY c.id;
RESET enable_seqscan;
RESET enable_sort;
DROP TABLE docs, pairs, parts, changed, words;
