-- Hash joins that do not fit in memory, with compressed temporary files.  Core's are the oracle.
LOAD 'sliced_spill';
SELECT name, setting, boot_val, context FROM pg_settings WHERE name = 'sliced.temp_file_compression';
CREATE SCHEMA spill;
SET search_path = spill, public;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE a AS SELECT i AS id, nullif(i % 2000, 7) AS k, 'key' || i % 500 AS t, repeat(md5(i::text), i % 5) AS w FROM generate_series(1, 6000) i;
CREATE TABLE b AS SELECT i AS id, nullif((i % 3000)::bigint, 9) AS k, 'key' || i % 400 AS t, repeat(md5(i::text), i % 7) AS w FROM generate_series(1, 4000) i;
-- one key has most of the rows, and some rows are long
CREATE TABLE skewed AS SELECT i AS id, CASE WHEN i % 10 > 0 THEN 5 ELSE i END AS k, CASE WHEN i % 1000 = 0 THEN repeat('long ', 100000) ELSE md5(i::text) END AS w
    FROM generate_series(1, 5000) i;
ANALYZE a, b, skewed;

-- the same rows, and are they really written?
CREATE FUNCTION compare(query text, OUT same bool, OUT spilled bool) LANGUAGE plpgsql AS $$
DECLARE
    plain text;
    compressed text;
    line text;
    codec text;
BEGIN
    same := true;
    spilled := false;
    SET LOCAL sliced.temp_file_compression = off;
    EXECUTE format('SELECT md5(string_agg(q::text, chr(10) ORDER BY q::text)) FROM (%s) q', query) INTO plain;
    FOREACH codec IN ARRAY '{auto,pglz,lz4,zstd}'::text[] LOOP
        PERFORM set_config('sliced.temp_file_compression', codec, true);
        EXECUTE format('SELECT md5(string_agg(q::text, chr(10) ORDER BY q::text)) FROM (%s) q', query) INTO compressed;
        same := same AND plain IS NOT DISTINCT FROM compressed;
    END LOOP;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off) ' || query LOOP
        spilled := spilled OR line ~ 'Spilled Rows: [1-9]';
    END LOOP;
END $$;

SELECT join_type, c.* FROM unnest('{JOIN,LEFT JOIN,RIGHT JOIN,FULL JOIN}'::text[]) join_type,
    compare(format('SELECT a.id, b.id AS other, a.w, b.w AS more FROM a %s b ON a.k = b.k', join_type)) c;
SELECT join_type, c.* FROM unnest('{JOIN,LEFT JOIN,RIGHT JOIN}'::text[]) join_type,
    compare(format('SELECT a.id, b.id AS other, a.w, b.w AS more FROM a %s b ON a.k = b.k AND a.t < b.t AND length(a.w) > 32', join_type)) c;
SELECT word, c.* FROM unnest('{EXISTS,NOT EXISTS}'::text[]) word,
    compare(format('SELECT a.id, a.w FROM a WHERE %s (SELECT 1 FROM b WHERE a.k = b.k AND a.t <> b.t)', word)) c;
SELECT c.* FROM compare('SELECT a.id, b.id AS other FROM a JOIN b ON a.k = b.k AND a.t = b.t WHERE a.id % 3 = 0') c;
SELECT c.* FROM compare('SELECT a.id, b.id AS other FROM a JOIN b ON a.t COLLATE "C" = b.t AND a.k + 1 = b.k') c;
-- what is split no further is core's to spill
SELECT c.* FROM compare('SELECT x.id, y.id AS other, length(x.w) FROM skewed x JOIN a y ON x.k = y.k') c;
SELECT c.* FROM compare('SELECT x.id, length(x.w) FROM a y RIGHT JOIN skewed x ON x.k = y.id') c;
-- one key has all inner rows: these stay in memory, and the filter leaves no other rows
CREATE TABLE alike AS SELECT 1 AS k, repeat(md5(i::text), 3) AS w FROM generate_series(1, 3000) i;
SET enable_hashagg = off;
SET enable_sort = off;
SELECT c.same FROM compare('SELECT id FROM a WHERE EXISTS (SELECT FROM alike x WHERE x.k + 2 = a.id)') c;
RESET enable_hashagg;
RESET enable_sort;
-- keys that most outer rows have stay in memory, if they fit there
CREATE TABLE few AS SELECT i AS id, CASE WHEN i % 10 > 0 THEN i % 7 ELSE i END AS k, repeat(md5(i::text), 3) AS w FROM generate_series(1, 12000) i;
CREATE TABLE each AS SELECT i AS k, repeat(md5(i::text), 3) AS w FROM generate_series(0, 6000) i;
CREATE TABLE same AS SELECT CASE WHEN i % 2 > 0 THEN 3 ELSE i END AS k, repeat(md5(i::text), 3) AS w FROM generate_series(0, 3000) i;
ANALYZE few, each, same;
CREATE FUNCTION spilled(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    SET LOCAL sliced.temp_file_compression = lz4;
    SET LOCAL work_mem = '512kB';
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off) ' || query LOOP
        IF line ~ 'Spilled Rows' THEN
            RETURN substring(line, '\d+');
        END IF;
    END LOOP;
END $$;
SELECT c.* FROM compare('SELECT few.id, each.w FROM few RIGHT JOIN each ON few.k = each.k') c;
SELECT c.* FROM compare('SELECT few.id, each.w FROM few LEFT JOIN each ON few.k = each.k AND few.w > each.w') c;
SELECT c.* FROM compare('SELECT count(*), sum(few.id + length(same.w)) AS s FROM few JOIN same ON few.k = same.k') c;
SELECT spilled('SELECT few.w, each.w FROM few JOIN each ON few.k = each.k') < 0.7 * spilled('SELECT few.w, each.w FROM few JOIN each ON few.k + 0 = each.k') AS fewer;

-- of a table without statistics, and where no key is common enough
CREATE TABLE fresh WITH (autovacuum_enabled = off) AS TABLE few;
CREATE TABLE rare AS SELECT i AS id, CASE WHEN i % 400 = 0 THEN 1 ELSE i END AS k FROM generate_series(1, 12000) i;
ANALYZE rare;
SELECT c.* FROM compare('SELECT fresh.id, each.w FROM fresh JOIN each ON fresh.k = each.k') c;
SELECT c.* FROM compare('SELECT rare.id, each.w FROM rare LEFT JOIN each ON rare.k = each.k') c;
-- a type with equal NULLs, and hashes that are the values, even 0
SET client_min_messages = warning;
CREATE TYPE plain;
CREATE FUNCTION plain_in(cstring) RETURNS plain LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION plain_out(plain) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE plain (INPUT = plain_in, OUTPUT = plain_out, LIKE = int4);
CREATE CAST (int AS plain) WITHOUT FUNCTION;
CREATE CAST (plain AS int) WITHOUT FUNCTION;
CREATE FUNCTION plain_equals(plain, plain) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1::int IS NOT DISTINCT FROM $2::int; END';
CREATE FUNCTION plain_hash(plain) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'int4up';
CREATE OPERATOR = (leftarg = plain, rightarg = plain, procedure = plain_equals, hashes);
CREATE OPERATOR CLASS plain_ops DEFAULT FOR TYPE plain USING hash AS OPERATOR 1 =, FUNCTION 1 plain_hash(plain);
RESET client_min_messages;
CREATE TABLE plain_few AS SELECT id, k::plain AS k FROM few WHERE id <= 3000;
CREATE TABLE plain_each AS SELECT nullif(k, 2500)::plain AS k, w FROM each WHERE k <= 3000;
UPDATE plain_few SET k = NULL WHERE id % 300 = 1;
ANALYZE plain_few, plain_each;
SELECT join_type, c.* FROM unnest('{JOIN,LEFT JOIN}'::text[]) join_type,
    compare(format('SELECT f.id, e.w FROM plain_few f %s plain_each e ON f.k = e.k', join_type)) c;
-- keys that are computed; by subqueries core computes them alone
SELECT c.* FROM compare('SELECT a.id, b.id AS other FROM a JOIN b ON CASE WHEN a.id % 2 = 0 THEN a.k ELSE a.id END = CASE WHEN b.id % 3 = 0 THEN b.k ELSE b.id END') c;
SELECT c.* FROM compare('SELECT a.id, b.id AS other FROM (SELECT * FROM a WHERE id < 3000 OFFSET 0) a JOIN (SELECT * FROM b WHERE id < 2000 OFFSET 0) b ON (SELECT max(g) FROM generate_series(1, a.id % 9) g) = b.k') c;
SELECT c.* FROM compare('SELECT a.id, b.id AS other FROM a JOIN b ON a.k + 0 = CASE WHEN b.id IN (SELECT k FROM same) THEN b.k END WHERE b.id < 300') c;
-- the first row is larger than memory
SELECT c.* FROM compare('SELECT a.id, length(l.w) FROM a JOIN (SELECT k, CASE WHEN k = 1 THEN repeat(''long '', 100000) ELSE w END AS w FROM each WHERE k BETWEEN 1 AND 1000 OFFSET 0) l ON a.k = l.k') c;

-- first rows come before all of the outer side has been read, however large the inner side is
CREATE TABLE large AS SELECT i AS id, CASE WHEN i % 5 > 0 THEN i END AS k, i % 3 AS few, CASE WHEN i % 4 = 0 THEN i ELSE 2 END AS heavy, repeat(md5(i::text), 2) AS w
    FROM generate_series(1, 10000) i;
ANALYZE large;
CREATE FUNCTION outer_rows(query text, memory text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    SET LOCAL sliced.temp_file_compression = lz4;
    PERFORM set_config('work_mem', memory, true);
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ' || query INTO plan;
    IF NOT jsonb_path_exists(plan, 'strict $.**."Partitions" ? (@ > 0)') THEN
        RAISE 'nothing is on tape: %', plan;
    END IF;
    RETURN jsonb_path_query_first(plan, 'strict $.** ? (@."Node Type" == "ProjectSet")."Actual Rows"');
END $$;
SELECT key, memory, n < 20000 AS soon FROM unnest('{k,few,heavy}'::text[]) key, unnest('{64kB,256kB}'::text[]) memory,
    outer_rows(format('SELECT * FROM (SELECT generate_series(1, 5000000) %% 10000 AS k OFFSET 0) o JOIN large ON o.k = large.%s + 0 LIMIT 10', key), memory) n;
-- and where it has no end
SET statement_timeout = '120s';
SET sliced.temp_file_compression = lz4;
SELECT count(*) FROM (SELECT * FROM (SELECT generate_series(1, 1000000000000) % 10000 AS k OFFSET 0) o JOIN large ON o.k = large.k LIMIT 10) q;
RESET statement_timeout;
SELECT join_type, key, c.* FROM unnest('{JOIN,RIGHT JOIN,FULL JOIN}'::text[]) join_type, unnest('{k,heavy}'::text[]) key,
    compare(format('SELECT a.id, l.id AS other FROM a %s large l ON a.id = l.%s', join_type, key)) c;

-- rescans, with parameters on either side, and joins of joins
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT count(*) + sum(a.id * g) AS n FROM a JOIN b ON a.k = b.k WHERE a.id % 4 <> g OFFSET 0) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT count(*) + sum(b.id * g) AS n FROM a JOIN b ON a.k = b.k WHERE b.id % 4 <> g OFFSET 0) q') c;
SELECT c.* FROM compare('SELECT a.id, b.id AS other, x.id AS third FROM a JOIN b ON a.k = b.k LEFT JOIN skewed x ON x.id = b.id') c;
SELECT c.* FROM compare('SELECT id, (SELECT count(*) FROM a JOIN b ON a.k = b.k WHERE a.id < skewed.id) AS n FROM skewed WHERE id % 1000 = 3') c;

-- a table that fits the first time and not the second, and the other way round
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(b.id) AS n FROM a JOIN b ON a.k = b.k WHERE b.id < g * g * 500 OFFSET 0) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(b.id) AS n FROM a JOIN b ON a.k = b.k WHERE b.id > g * g * 440 OFFSET 0) q') c;
SELECT c.* FROM compare('SELECT g, n FROM generate_series(1, 9) g, LATERAL (SELECT count(*) AS n FROM (SELECT 1 FROM a LEFT JOIN b ON a.k = b.k AND b.id > a.id + g WHERE a.id <> g OFFSET g % 2 LIMIT g * 700) q) r') c;

-- core asks for the first outer row of an outer join before it builds its table
SELECT c.* FROM compare('SELECT g, n, m FROM generate_series(1, 4) g, LATERAL (SELECT count(*) AS n, sum(length(b.w)) AS m FROM a LEFT JOIN b ON a.k = b.k AND b.id < g * 900 OFFSET 0) q') c;

-- cursors, also scrollable and holdable ones
SET sliced.temp_file_compression = lz4;
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT a.id, b.id FROM a JOIN b ON a.k = b.k WHERE a.k IN (1, 2) AND b.w > '' ORDER BY 1, 2;
FETCH 2 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH BACKWARD 1 FROM c;
COMMIT;
FETCH LAST FROM c;
CLOSE c;

-- what EXPLAIN says
EXPLAIN (COSTS off) SELECT * FROM a JOIN b ON a.k = b.k AND a.id < b.id;
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off, SUMMARY off) ' || query LOOP
        CONTINUE WHEN line ~ 'Buckets|Buffers|Index Searches|Storage';
        RETURN NEXT regexp_replace(regexp_replace(line, '(Spilled (Raw|Stored)|Partitions|In Memory|Filter): \d+', '\1: N'), '(rows|loops)=(\d+)\.00', '\1=\2');
    END LOOP;
END $$;
SELECT explained('SELECT * FROM a JOIN b ON a.k = b.k AND a.id < b.id');
-- one that fits
SET work_mem = '4MB';
SELECT explained('SELECT * FROM a JOIN b ON a.k = b.k AND a.id < b.id');
-- in a join so small nothing is added
EXPLAIN (COSTS off) SELECT * FROM a JOIN (SELECT * FROM b LIMIT 10) b ON a.k = b.k;
SET work_mem = '64kB';

-- a plan that was made for compression is executed without, and a plan without with it
PREPARE joined AS SELECT count(*), sum(length(b.w)) FROM a JOIN b ON a.k = b.k;
SET plan_cache_mode = force_generic_plan;
EXECUTE joined;
SET sliced.temp_file_compression = off;
EXECUTE joined;
DEALLOCATE joined;
PREPARE joined AS SELECT count(*), sum(length(b.w)) FROM a JOIN b ON a.k = b.k;
EXECUTE joined;
SET sliced.temp_file_compression = zstd;
EXECUTE joined;

-- a plan that was made for much memory and few rows
SET work_mem = '2MB';
CREATE TABLE grows AS SELECT * FROM b;
ANALYZE grows;
SET sliced.temp_file_compression = lz4;
-- it is planned when it is executed first
PREPARE with_ours AS SELECT count(*), sum(a.id * grows.id::numeric) FROM a LEFT JOIN grows ON a.k = grows.k;
EXECUTE with_ours;
SET sliced.temp_file_compression = off;
PREPARE without AS SELECT count(*), sum(a.id * grows.id::numeric) FROM a LEFT JOIN grows ON a.k = grows.k;
EXECUTE without;
INSERT INTO grows SELECT i, i % 3000, 'key', repeat(md5(i::text), 3) FROM generate_series(4001, 20000) i;
SET sliced.temp_file_compression = lz4;
SET work_mem = '64kB';
EXECUTE with_ours;
EXECUTE without;
SET work_mem = '256kB';
EXECUTE with_ours;
SET work_mem = '64kB';

-- partitions are split into no more than memory has blocks for, however wrong the planner was
CREATE FUNCTION seen(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF k % 100 = 0 THEN
        PERFORM set_config('spill.peak', greatest(current_setting('spill.peak')::int,
            (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'sliced partitions'))::text, false);
    END IF;
    RETURN k;
END $$;
CREATE FUNCTION more_than_expected() RETURNS SETOF int LANGUAGE sql ROWS 3000 AS 'SELECT generate_series(1, 300000)';
SET spill.peak = 0;
SET sliced.temp_file_compression = lz4;
SELECT count(*) FROM generate_series(1, 20000) o JOIN (SELECT k, repeat(md5(k::text), 4) AS w FROM more_than_expected() k OFFSET 0) i ON o = seen(i.k) WHERE w > '';
SELECT current_setting('spill.peak')::int < 256 * 1024 AS enough;

-- runs of long rows: as many are merged at a time as memory has room for a row of each
CREATE TABLE long_rows AS SELECT i, i * 7919 % 97 AS k, (SELECT string_agg(md5((i * 100000 + j)::text), '') FROM generate_series(1, 15000) j) AS w FROM generate_series(1, 60) i;
SET work_mem = '1MB';
SET sliced.temp_file_compression = lz4;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT k, i, w FROM (SELECT k, i, w || '' AS w FROM long_rows OFFSET 0) q ORDER BY k, i;
FETCH 1 FROM c \g /dev/null
SELECT sum(total_bytes) < 4000000 AS few FROM pg_backend_memory_contexts WHERE name = 'sliced runs';
FETCH ALL FROM c \g /dev/null
COMMIT;
SET work_mem = '64kB';

-- our nodes pass rows on, and nothing is compiled for that
CREATE FUNCTION compiled(query text, setting text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    PERFORM set_config('sliced.temp_file_compression', setting, true);
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT json) ' || query INTO plan;
    RETURN coalesce((plan->0->'JIT'->>'Functions')::int, 0);
END $$;
SET jit_above_cost = 0;
SET jit_optimize_above_cost = -1;
SET jit_inline_above_cost = -1;
SELECT compiled(query, 'lz4') <= compiled(query, 'off') + 1 AS no_more
    FROM (VALUES ('SELECT * FROM a JOIN b ON a.k = b.k JOIN each ON each.k = b.k ORDER BY a.w, b.w')) q(query);
RESET jit_above_cost;
EXPLAIN (VERBOSE, COSTS off) SELECT id, w || 'x' AS x FROM a ORDER BY w;

-- a node that is there for want of another is said to be (since 18), and not ours above it
CREATE FUNCTION disabled(setting text, OUT nodes text[]) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    node text;
BEGIN
    PERFORM set_config('sliced.temp_file_compression', setting, true);
    FOR line IN EXPLAIN (COSTS off) SELECT * FROM a ORDER BY w LOOP
        node := coalesce(substring(line FROM '^ *(?:->  )?([A-Z][A-Za-z ()]*)$'), node);
        nodes := CASE WHEN line ~ 'Disabled: true' THEN nodes || node ELSE nodes END;
    END LOOP;
END $$;
SET enable_sort = off;
SELECT disabled('lz4') IS NOT DISTINCT FROM disabled('off') AS same;
RESET enable_sort;

-- rows that are changed meanwhile are looked at again, and errors leave nothing
BEGIN;
UPDATE a SET w = a.w || b.w FROM b WHERE a.k = b.k AND a.id < 3000;
SELECT count(*), sum(length(w)) FROM a;
ROLLBACK;
SELECT count(*) FROM a JOIN b ON a.k = b.k AND 1 / (a.id - 5999) < 2;
SET temp_file_limit = '20kB';
\set VERBOSITY sqlstate
SELECT count(*), max(a.w || b.w) < 'x' FROM a JOIN b ON a.k = b.k;
\set VERBOSITY default
RESET temp_file_limit;
SELECT count(*) FROM a JOIN b ON a.k = b.k;
SELECT count(*) FROM pg_ls_tmpdir() WHERE name ~ ('pgsql_tmp' || pg_backend_pid());
SET sliced.temp_file_compression = none;
SET client_min_messages = warning;
DROP SCHEMA spill CASCADE;
