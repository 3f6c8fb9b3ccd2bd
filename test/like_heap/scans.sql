-- Every way to get rows out of a table, and every way to build an index.

CREATE TABLE t (id int, v text, b bytea, k int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, mixed(i % 37 * 900, i), noise(i % 11 * 700, i), i % 7 FROM generate_series(1, 400) i;
UPDATE t SET k = k + 100 WHERE id % 9 = 0;
DELETE FROM t WHERE id % 10 = 3;

SELECT count(*), sum(length(v)), md5(string_agg(v, '' ORDER BY id)), md5(string_agg(b, '' ORDER BY id)) FROM t;
SELECT id, md5(v) FROM t WHERE ctid = (SELECT ctid FROM t WHERE id = 36);
SELECT count(*), md5(string_agg(v, '' ORDER BY id)) FROM t WHERE ctid IN (SELECT ctid FROM t WHERE id < 50);
SELECT count(*) > 0, count(*) = count(v), bool_and(v = mixed(id % 37 * 900, id)) FROM t WHERE ctid < '(3,0)';
SELECT bool_and(v = mixed(id % 37 * 900, id)), count(*) FROM t TABLESAMPLE bernoulli (100);
SELECT bool_and(v = mixed(id % 37 * 900, id)) FROM t TABLESAMPLE system (60) REPEATABLE (1);

CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_md5 ON t (md5(v));
CREATE INDEX t_hash ON t USING hash (v);
CREATE INDEX t_partial ON t (left(v, 100)) WHERE length(v) > 20000;
CREATE INDEX t_brin ON t USING brin (substr(v, 5000, 20));
CREATE INDEX t_gin ON t USING gin (to_tsvector('simple', left(v, 20000)));
CREATE FUNCTION digest(r t) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN md5(r::text); END $$;
CREATE INDEX t_whole ON t (digest(t));
CREATE UNIQUE INDEX CONCURRENTLY t_conc ON t (id, md5(v || b::text));
\set VERBOSITY terse
CREATE UNIQUE INDEX t_fails ON t (k, left(v, 0));
CREATE INDEX t_long ON t (b);
\set VERBOSITY default
ANALYZE t;
SELECT attname, n_distinct, null_frac, avg_width > 0 FROM pg_stats
    WHERE schemaname = 'like_heap' AND tablename = 't' AND attname <> 'v' ORDER BY 1;

SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT md5(v) FROM t WHERE id = 36;
SELECT id FROM t WHERE md5(v) = md5(mixed(36 * 900, 36));
SELECT id FROM t WHERE v = mixed(36 * 900, 36);
SELECT count(*) FROM t WHERE left(v, 100) > 'l' AND length(v) > 20000;
RESET enable_bitmapscan;
SET enable_indexscan = off;
SELECT count(*), md5(string_agg(v, '' ORDER BY id)) FROM t WHERE k = 102 OR id < 77;
SELECT count(*) FROM t WHERE to_tsvector('simple', left(v, 20000)) @@ 'log'::tsquery;
SELECT count(*) FROM t WHERE substr(v, 5000, 20) > 'm';
SET work_mem = '64kB';
SELECT count(*), md5(string_agg(v, '' ORDER BY id)) FROM t WHERE k < 105;
RESET work_mem;
RESET enable_indexscan;
RESET enable_seqscan;

REINDEX TABLE t;
REINDEX TABLE CONCURRENTLY t;
UPDATE t SET v = v || 'tail' WHERE id % 5 = 0;
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 't'::regclass \gset
SET client_min_messages = error;
REINDEX TABLE :toast;
REINDEX TABLE CONCURRENTLY :toast;
VACUUM FULL :toast;
VACUUM :toast;
RESET client_min_messages;
SELECT * FROM sum_up('t');
SET enable_seqscan = off;
SELECT id FROM t WHERE v = mixed(35 * 900, 35) || 'tail';
RESET enable_seqscan;

-- parallel
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*), sum(length(v)), sum(hashtext(v)::bigint), sum(length(b)) FROM t;
SELECT k, count(*), max(md5(v)) FROM t GROUP BY k ORDER BY k;
SELECT a.id, md5(a.v || b.v) FROM t a JOIN t b ON a.v = b.v WHERE a.k = 1 ORDER BY a.id, b.id LIMIT 5;
SELECT id, v FROM t WHERE k = 2 ORDER BY id LIMIT 0;
SELECT must_gather('SELECT count(*), sum(length(v)), sum(hashtext(v)::bigint), sum(length(b)) FROM t');
SELECT must_gather('SELECT k, count(*), max(md5(v)) FROM t GROUP BY k ORDER BY k');
SELECT must_gather('CREATE TABLE gathered AS SELECT * FROM t WHERE length(v) > 4000');
SELECT md5(string_agg(v, '')) FROM (SELECT v FROM t WHERE k > 2 ORDER BY id) s;
CREATE INDEX t_parallel ON t (md5(v || k));
CREATE TABLE gathered AS SELECT * FROM t WHERE length(v) > 4000;
SELECT * FROM sum_up('gathered');
RESET ALL;
SET search_path = like_heap;

VACUUM (FREEZE, ANALYZE) t;
SELECT count(*), sum(hashtext(v)::bigint) FROM t;
SELECT id FROM t WHERE v LIKE '%tail' ORDER BY v DESC, id LIMIT 3;
SELECT count(DISTINCT v), count(DISTINCT b) FROM t;
SELECT count(*) FROM t a, t b WHERE a.v = b.v;
SELECT lag(id) OVER (ORDER BY v, id), id, md5(v) FROM t ORDER BY v, id LIMIT 5;
