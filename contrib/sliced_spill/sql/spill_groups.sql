-- Hash aggregates and sorts that do not fit in memory, with compressed temporary files.  Core's are the oracle.
LOAD 'sliced_spill';
CREATE SCHEMA spill_groups;
SET search_path = spill_groups, public;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE a AS SELECT i AS id, nullif(i * 7919 % 3000, 7) AS k, 'key' || i % 2500 AS t, repeat(md5(i::text), i % 5) AS w,
    CASE WHEN i % 2000 = 0 THEN repeat('long ', 100000) END AS big FROM generate_series(1, 9000) i;
ANALYZE a;

-- the same rows, in the same order if there is one; and are they really written, around which node?
CREATE FUNCTION compare(query text, ordered bool DEFAULT false, OUT same bool, OUT nodes text) LANGUAGE plpgsql AS $$
DECLARE
    rows text := format('SELECT md5(string_agg(r::text, chr(10) ORDER BY %s)) FROM (SELECT q::text AS r, row_number() OVER () AS n FROM (%s) q) p',
        CASE WHEN ordered THEN 'n' ELSE 'r' END, query);
    plain text;
    compressed text;
    line text;
    node text;
    codec text;
BEGIN
    same := true;
    SET LOCAL sliced.temp_file_compression = off;
    EXECUTE rows INTO plain;
    FOREACH codec IN ARRAY '{auto,pglz,lz4,zstd}'::text[] LOOP
        PERFORM set_config('sliced.temp_file_compression', codec, true);
        EXECUTE rows INTO compressed;
        same := same AND plain IS NOT DISTINCT FROM compressed;
    END LOOP;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off) ' || query LOOP
        node := coalesce(substring(line, 'Sliced Spill[ A-Za-z]*\w'), node);
        IF line ~ 'Spilled Rows: [1-9]' AND (nodes IS NULL OR nodes !~ node) THEN
            nodes := concat_ws(', ', nodes, node);
        END IF;
    END LOOP;
END $$;

-- ---- groups ----
SET enable_sort = off;
SELECT c.* FROM compare('SELECT k, count(*), sum(id), max(w), min(length(big)) FROM a GROUP BY k') c;
SELECT c.* FROM compare('SELECT t, k, array_agg(id), string_agg(w, '','') FROM a GROUP BY t, k') c;
SELECT c.* FROM compare('SELECT DISTINCT w FROM a') c;
SELECT c.* FROM compare('SELECT big, id, count(*) FROM a GROUP BY big, id') c;
SELECT c.* FROM compare('SELECT t COLLATE "C" AS t, count(*) FILTER (WHERE id % 2 = 0) FROM a GROUP BY 1 HAVING count(*) > 3') c;
SELECT c.same, c.nodes IS NOT NULL AS spilled FROM compare('SELECT k FROM a UNION SELECT id FROM a WHERE id < 5000') c;
-- hot groups, among others that are not in memory
CREATE TABLE hot AS SELECT CASE WHEN i % 4 = 0 THEN i END AS k, CASE WHEN i % 4 = 0 THEN 'cold ' || i ELSE 'hot' || repeat('+', i % 9) END AS t,
    md5((i % 4000)::text) || repeat('=', 60) AS long FROM generate_series(1, 20000) i;
SELECT c.* FROM compare('SELECT k, t, count(*) FROM hot GROUP BY k, t') c;
SELECT c.* FROM compare('SELECT t, count(*), count(k) FROM hot GROUP BY t') c;
SELECT c.* FROM compare('SELECT long, count(*) FROM hot GROUP BY long') c;
SELECT c.* FROM compare('SELECT left(long, 46), nullif(k, k), count(*) FROM hot GROUP BY 1, 2') c;
-- keys of equal hashes, as known.c makes them on most machines
CREATE FUNCTION in_turns(one text, two text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT CASE WHEN i % 2 = 0 AND i > 2000 OR i = 0 THEN one WHEN i % 2 = 1 AND i > 2000 OR i = 1 THEN two ELSE 'other' || i END FROM generate_series(0, 4000) i $$;
CREATE TABLE turns AS SELECT t FROM in_turns('k110102', 'longer key 66881') t;
SELECT c.* FROM compare('SELECT t, count(*) FROM turns GROUP BY t') c;
SELECT c.* FROM compare('SELECT k, count(*) FROM (SELECT CASE t WHEN ''one'' THEN 50243 WHEN ''two'' THEN 87414 ELSE substr(t, 6)::int8 + 100000 END AS k FROM in_turns(''one'', ''two'') t OFFSET 0) q GROUP BY k') c;
SELECT c.* FROM compare('SELECT j, k, count(*) FROM (SELECT CASE t WHEN ''one'' THEN 25878 WHEN ''two'' THEN NULL ELSE substr(t, 6)::int8 + 100000 END AS j,
    CASE t WHEN ''one'' THEN NULL WHEN ''two'' THEN 38058 ELSE 1 END::int8 AS k FROM in_turns(''one'', ''two'') t OFFSET 0) q GROUP BY j, k') c;
-- keys of other kinds, and those that are grouped in several ways
SELECT c.* FROM compare('SELECT md5(t)::uuid AS u, count(*) FROM a GROUP BY 1') c;
SELECT c.* FROM compare('SELECT t::name AS n, count(*) FROM a GROUP BY 1') c;
SELECT c.* FROM compare('SELECT id % 2 = 0 AS j, k % 3 = 0 AS k, count(*) FROM a GROUP BY GROUPING SETS (1, 2)') c;
-- columns that depend on the key
CREATE TABLE dependent (id int PRIMARY KEY, f float8, w text);
INSERT INTO dependent SELECT i, i / 3.0, repeat(md5(i::text), i % 9) FROM generate_series(1, 4000) i;
SET enable_indexscan = off;
SELECT c.* FROM compare('SELECT id, f, w, sum(g) FROM dependent, generate_series(1, 3) g GROUP BY id') c;
RESET enable_indexscan;
-- equal keys with other bytes
SELECT count(*) > 100 AS icu FROM pg_collation WHERE collprovider = 'i' \gset
\if :icu
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
\else
CREATE COLLATION blind FROM "C";
\endif
CREATE DOMAIN name_of AS text COLLATE blind;
CREATE TABLE e AS SELECT (3000000000 + i % 2000)::oid AS o, (i % 2000)::numeric(20, 10) + i % 2 * 0 AS n, CASE WHEN i % 2 = 0 THEN '-0' ELSE '0' END::float8 + i / 8 * (i % 8 / 7) AS f,
    ('k' || i % 2000)::char(20) AS c, CASE WHEN i % 4000 < 2000 THEN 'K' ELSE 'k' END || i % 2000 AS t, i % 2000 AS i FROM generate_series(1, 12000) i;
SELECT c.* FROM compare('SELECT o, count(*) FROM (SELECT o FROM e UNION ALL SELECT (i + 3000000000)::oid FROM e) q GROUP BY o') c;
SELECT c.* FROM compare('SELECT trim_scale(n), count(*) FROM (SELECT n FROM e UNION ALL SELECT i FROM e) q GROUP BY n') c;
SELECT c.* FROM compare('SELECT f + 0, count(*) FROM e GROUP BY f') c;
SELECT c.* FROM compare('SELECT c::text, count(*) FROM (SELECT c FROM e UNION ALL SELECT (''k'' || i)::bpchar FROM e) q GROUP BY c') c;
SELECT c.* FROM compare('SELECT lower(t), count(*) FROM (SELECT t COLLATE blind AS t FROM e) q GROUP BY t') c;
SELECT c.* FROM compare('SELECT lower(t), count(*) FROM (SELECT t::name_of AS t FROM e) q GROUP BY t') c;
-- some releases promise equal bytes of equal intervals: here all do, and of what has them in it
CREATE DOMAIN span AS interval;
CREATE TYPE spans AS RANGE (subtype = interval);
CREATE TYPE pair AS (i interval);
CREATE TABLE intervals AS SELECT CASE WHEN i % 4000 < 2000 THEN make_interval(months => i % 2000) ELSE make_interval(days => i % 2000 * 30) END AS i FROM generate_series(1, 12000) i;
BEGIN;
CREATE FUNCTION equal_images(oid) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION promise(family text, type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER OPERATOR FAMILY %s USING btree ADD FUNCTION 4 (%s) equal_images(oid)', family, type);
EXCEPTION WHEN duplicate_object THEN
    NULL;
END $$;
SELECT promise('interval_ops', 'interval'), promise('array_ops', 'anyarray'), promise('range_ops', 'anyrange'), promise('multirange_ops', 'anymultirange'), promise('record_ops', 'record');
SELECT type, c.* FROM unnest('{i,i::span,ARRAY[i],"spans(i, i, ''[]'')","spansmulti(i)","ROW(i)::pair"}'::text[]) type,
    compare(format('SELECT sum(extract(epoch FROM i)), count(*) FROM intervals GROUP BY %s', replace(type, 'spansmulti(i)', 'spans_multirange(spans(i, i, ''[]''))'))) c;
ROLLBACK;
-- the same key plain, compressed, and out of line
CREATE TABLE stored (plain text, compressed text, outside text);
ALTER TABLE stored ALTER plain SET STORAGE PLAIN, ALTER compressed SET STORAGE MAIN, ALTER outside SET STORAGE EXTERNAL;
INSERT INTO stored SELECT repeat('long' || i % 300, 500), repeat('long' || i % 300, 500), repeat('long' || i % 300, 500) FROM generate_series(1, 900) i;
SELECT c.* FROM compare('SELECT t, count(*) FROM (SELECT plain FROM stored UNION ALL SELECT compressed FROM stored UNION ALL SELECT outside FROM stored) q(t) GROUP BY t') c;
-- groups are rescanned, with parameters and without
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT count(*) AS n FROM (SELECT k, count(*) FROM a WHERE id % 5 <> g GROUP BY k OFFSET 0) p) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT count(*) AS n FROM (SELECT k, sum(id + g) AS s FROM a GROUP BY k OFFSET 0) p WHERE s % 2 = 0) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 5) g LEFT JOIN LATERAL (SELECT count(*) AS n FROM (SELECT k, count(*) AS c FROM a WHERE k < g * g * 100 GROUP BY k OFFSET g LIMIT g * 500) p) q ON true') c;
SELECT c.* FROM compare('SELECT id, (SELECT count(*) FROM (SELECT k, max(w) FROM a WHERE a.id > o.id GROUP BY k OFFSET 0) p) AS n FROM a o WHERE id % 3000 = 3') c;
-- ends early, then again
SELECT c.* FROM compare('SELECT count(*) FROM generate_series(1, 3) g, LATERAL (SELECT k, count(*) AS c FROM a GROUP BY k HAVING g > 0 LIMIT g * 900) q') c;
-- more groups of one hash than fit
SET client_min_messages = warning;
CREATE TYPE dull;
CREATE FUNCTION dull_in(cstring) RETURNS dull LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION dull_out(dull) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE dull (INPUT = dull_in, OUTPUT = dull_out, LIKE = int4);
RESET client_min_messages;
CREATE CAST (int AS dull) WITHOUT FUNCTION;
CREATE FUNCTION dull_equals(dull, dull) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION dull_hash(dull) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE OPERATOR = (leftarg = dull, rightarg = dull, procedure = dull_equals, hashes);
CREATE OPERATOR CLASS dull_ops DEFAULT FOR TYPE dull USING hash AS OPERATOR 1 =, FUNCTION 1 dull_hash(dull);
SELECT c.* FROM compare('SELECT d::text, count(*), sum(n) FROM (SELECT (i % 700)::dull AS d, i AS n FROM generate_series(1, 1500) i) q GROUP BY d') c;
-- keys that end with a zero byte
SET client_min_messages = warning;
CREATE TYPE word;
CREATE FUNCTION word_in(cstring) RETURNS word LANGUAGE internal IMMUTABLE STRICT AS 'cstring_in';
CREATE FUNCTION word_out(word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'cstring_out';
CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, LIKE = cstring, COLLATABLE = true);
RESET client_min_messages;
CREATE CAST (text AS word) WITH INOUT;
CREATE CAST (word AS text) WITH INOUT;
CREATE FUNCTION word_equals(word, word) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'nameeq';
CREATE FUNCTION word_compare(word, word) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'btnamecmp';
CREATE FUNCTION word_hash(word) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashname';
CREATE OPERATOR = (leftarg = word, rightarg = word, procedure = word_equals, hashes);
CREATE OPERATOR CLASS word_ops DEFAULT FOR TYPE word USING hash AS OPERATOR 1 =, FUNCTION 1 word_hash(word);
CREATE TABLE words AS SELECT k, t::word AS w FROM hot;
SELECT c.* FROM compare('SELECT w::text, count(*), sum(k) FROM words GROUP BY w') c;
CREATE OPERATOR CLASS word_order DEFAULT FOR TYPE word USING btree AS OPERATOR 3 =, FUNCTION 1 word_compare(word, word), FUNCTION 4 btequalimage(oid);
SELECT c.* FROM compare('SELECT w::text, count(*), sum(k) FROM words GROUP BY w') c;
-- ---- memory: groups that grow take no more than core's, though they are small when they come ----
CREATE FUNCTION memory(query text, setting text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    PERFORM set_config('sliced.temp_file_compression', setting, true);
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ' || query INTO plan;
    RETURN max(kb::int) FROM jsonb_path_query(plan, 'strict $.**."Peak Memory Usage"') kb;
END $$;
CREATE FUNCTION compare_memory(query text, OUT enough bool) LANGUAGE plpgsql AS $$
DECLARE
    core int := memory(query, 'off');
    ours int := memory(query, 'lz4');
BEGIN
    enough := ours <= 1.05 * core + 16;     -- two blocks of memory contexts
    IF NOT enough THEN
        RAISE WARNING '% kB, core takes % kB', ours, core;
    END IF;
END $$;
CREATE TABLE grows AS SELECT i AS id, i % 300 AS k, 'key' || i % 1000 AS t, i / 1000 AS n FROM generate_series(1, 60000) i;
ANALYZE grows;
SELECT compare_memory('SELECT k, array_agg(id) FROM grows GROUP BY k');
SELECT compare_memory('SELECT k + 0, array_agg(id) FROM grows GROUP BY k + 0');
SELECT compare_memory('SELECT t, jsonb_agg(id) FROM grows GROUP BY t');
SET work_mem = '16MB';
-- each of these states has a context of its own
CREATE AGGREGATE appended(int) (SFUNC = array_append, STYPE = int[], INITCOND = '{}');
SELECT compare_memory('SELECT t, appended(id) FROM grows GROUP BY t');
SET work_mem = '32MB';
SELECT compare_memory('SELECT id, repeat(''x'', 800), count(*) FROM grows GROUP BY 1, 2');
SET work_mem = '64kB';
-- those of later passes
SELECT compare_memory('SELECT CASE WHEN id <= 5000 THEN -id ELSE k END, array_agg(id) FROM grows GROUP BY 1');
-- another scan has other rows
SELECT compare_memory('SELECT * FROM generate_series(1, 3) g, LATERAL (SELECT k, array_agg(id) FROM grows WHERE n < 20 * g - 19 GROUP BY k OFFSET 0) q');
-- few groups, each as large as memory, behind small ones
SET work_mem = '4MB';
SELECT compare_memory('SELECT least(i / 60, i - 20), string_agg(repeat(''x'', CASE WHEN i < 20 THEN 1 ELSE 100000 END), '''') FROM generate_series(1, 600) i GROUP BY 1');
SET work_mem = '64kB';
SELECT c.* FROM compare('SELECT t, sum(id), array_length(array_agg(id), 1) AS n FROM grows GROUP BY t') c;
SET enable_sort = on;

-- ---- sorts ----
SET enable_hashagg = off;
SELECT c.* FROM compare('SELECT k, id FROM a ORDER BY k DESC NULLS LAST, id', true) c;
SELECT c.* FROM compare('SELECT w, t, id, length(big) FROM a ORDER BY t COLLATE "C", w DESC, id', true) c;
SELECT c.* FROM compare('SELECT big, id FROM a ORDER BY id % 10, big, id', true) c;
SELECT c.* FROM compare('SELECT k FROM a ORDER BY k', true) c;
SELECT c.* FROM compare('SELECT id::numeric / 7 AS x FROM a ORDER BY w, 1', true) c;
SELECT c.* FROM compare('SELECT t, count(*), array_agg(id) FROM (SELECT * FROM a ORDER BY t, id OFFSET 0) a GROUP BY t') c;
SELECT c.* FROM compare('SELECT id, sum(id) OVER (PARTITION BY t ORDER BY id) AS s, lag(w) OVER (ORDER BY t, id) AS l FROM a') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT string_agg(id::text, '','') AS n FROM (SELECT id FROM a WHERE id % 5 <> g ORDER BY w, id OFFSET 0) p) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT id AS n FROM (SELECT id, w FROM a WHERE id < g * g * 500 ORDER BY w, id OFFSET 0) p WHERE id > g) q', true) c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(id * (id % (g + 1))) AS n FROM (SELECT id FROM a ORDER BY w, id OFFSET 0) p WHERE id > g) q', true) c;
-- a row that is larger than memory
SELECT c.* FROM compare('SELECT id, length(x) FROM (SELECT id, CASE WHEN id = 700 THEN repeat(''long '', 100000) ELSE w END AS x FROM a OFFSET 0) q ORDER BY id % 10, id, x', true) c;
-- of partitions, one of them with an index
CREATE TABLE sorted (id int, w text) PARTITION BY RANGE (id);
CREATE TABLE sorted1 PARTITION OF sorted FOR VALUES FROM (0) TO (8000);
CREATE TABLE sorted2 PARTITION OF sorted FOR VALUES FROM (8000) TO (9001);
INSERT INTO sorted SELECT id, w || id FROM a;
CREATE INDEX ON sorted1 (w, id);
ANALYZE sorted;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT c.* FROM compare('SELECT w, id FROM sorted ORDER BY w, id', true) c;
RESET enable_seqscan;
RESET enable_bitmapscan;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT c.* FROM compare('SELECT a.id, b.id AS other, b.w FROM a JOIN a b ON a.k = b.k AND a.t <> b.t') c;
SET enable_material = off;
SELECT c.* FROM compare('SELECT a.id, b.id AS other, b.w FROM a LEFT JOIN a b ON a.k = b.k AND a.t <> b.t') c;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_nestloop;
-- of the first rows only those are kept
SET sliced.temp_file_compression = lz4;
EXPLAIN (COSTS off) SELECT * FROM a ORDER BY w LIMIT 10;
EXPLAIN (COSTS off) SELECT * FROM a ORDER BY w OFFSET 10;
-- through which nodes?
CREATE FUNCTION is_cores(node text, query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    line text;
    has_node bool := false;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        IF line ~ 'Sliced' THEN
            RETURN false;
        END IF;
        has_node := has_node OR ltrim(line, '-> ') = node;
    END LOOP;
    RETURN has_node;
END $$;
SELECT node, is_cores(node, query) FROM (VALUES ('Result', 'SELECT w, random() FROM a ORDER BY w LIMIT 10'),
    ('Subquery Scan on q', 'SELECT id + 1 FROM (SELECT id FROM a ORDER BY w OFFSET 0) q LIMIT 10'),
    ('Append', '(SELECT id FROM a ORDER BY w OFFSET 0) UNION ALL SELECT 1 LIMIT 10'), ('Merge Append', 'SELECT w, id FROM sorted ORDER BY w, id LIMIT 10'),
    ('Group', 'SELECT id FROM (SELECT * FROM a ORDER BY w OFFSET 0) q GROUP BY id LIMIT 10')) v(node, query);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is_cores('Gather Merge', 'SELECT id FROM a ORDER BY w LIMIT 10'), is_cores('Gather', 'SELECT id FROM a WHERE id % 7 = 3 LIMIT 10');
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- ---- cursors: backward is core's way ----
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM a ORDER BY w, id;
MOVE 8000 IN c;
FETCH 2 FROM c;
MOVE BACKWARD 5000 IN c;
FETCH 2 FROM c;
DECLARE d NO SCROLL CURSOR FOR SELECT id FROM a ORDER BY w, id;
MOVE 8000 IN d;
FETCH 2 FROM d;
FETCH BACKWARD 1 FROM d;
ROLLBACK;
BEGIN;
DECLARE d NO SCROLL CURSOR WITH HOLD FOR SELECT id FROM a ORDER BY w, id;
MOVE 10 IN d;
COMMIT;
FETCH 2 FROM d;
CLOSE d;

-- ---- EXPLAIN ----
RESET enable_hashagg;
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off, SUMMARY off, BUFFERS off) ' || query LOOP
        RETURN NEXT regexp_replace(regexp_replace(line, '((Partitions|Passes|Runs|Spilled Rows|Spilled Raw|Spilled Stored|Memory|Memory Usage|Merges Before): +)\d+', '\1N'), 'rows=(\d+)\.00 ', 'rows=\1 ');
    END LOOP;
END $$;
SET enable_sort = off;
SELECT * FROM explained('SELECT k, count(*) FROM a GROUP BY k') x WHERE x !~ 'Batches';
RESET enable_sort;
SELECT * FROM explained('SELECT k, t FROM a ORDER BY w') x WHERE x !~ 'Merges Before';

-- ---- whole columns that nobody asks for are not written ----
SET enable_sort = off;
CREATE FUNCTION spilled(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off) ' || query LOOP
        IF line ~ 'Spilled Raw' THEN
            RETURN substring(line, '\d+');
        END IF;
    END LOOP;
END $$;
SELECT spilled('SELECT k, max(w) FROM a GROUP BY k') > 3 * spilled('SELECT k, max(id) FROM a GROUP BY k') AS fewer;
RESET enable_sort;

-- ---- set when a statement is planned, and not when it runs ----
PREPARE p AS SELECT count(*), sum(k) FROM (SELECT k FROM a GROUP BY k OFFSET 0) q;
EXECUTE p;
SET sliced.temp_file_compression = off;
EXECUTE p;
DEALLOCATE p;

-- ---- statistics ----
CREATE EXTENSION sliced_spill;
SELECT sliced_spill.stat_reset();
SET sliced.temp_file_compression = lz4;
SET enable_sort = off;
SELECT count(*) FROM (SELECT k, max(w) FROM a GROUP BY k OFFSET 0) q;
RESET enable_sort;
SET sliced.temp_file_compression = zstd;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT k FROM a ORDER BY w OFFSET 0) q;
SELECT node, spills, files > 1 AS some_files, rows > 1000 AS some_rows, filtered_rows, raw_bytes > 2 * stored_bytes AS shorter, uncompressed_bytes < raw_bytes / 10 AS compressed,
    compress_ms > 0 AS compress, write_ms > 0 AS write, saved_ms IS NOT NULL AS saved, since <= now() AS since FROM sliced_spill.stat_temp_files ORDER BY 1;
-- who may do what
CREATE ROLE regress_spill_eve;
SET ROLE regress_spill_eve;
SELECT count(*) FROM sliced_spill.stat_temp_files;
SELECT sliced_spill.stat_reset();
RESET ROLE;
DROP ROLE regress_spill_eve;
SELECT sliced_spill.stat_reset();
SELECT count(*) FROM sliced_spill.stat_temp_files;
SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'sliced_spill')
    AND obj_description(objid, classid::regclass::name) IS NULL
    AND NOT (classid = 'pg_type'::regclass AND (SELECT typrelid <> 0 OR typelem <> 0 FROM pg_type WHERE oid = objid)) ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA spill_groups CASCADE;
DROP EXTENSION sliced_spill;
