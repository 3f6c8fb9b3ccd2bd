-- what is counted of values (the numbers are exact: nobody else uses these tables)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
SET sliced.compression = lz4;
CREATE SCHEMA stat;
SET search_path = stat;

-- what a column's values became; all numbers that are not 0
CREATE FUNCTION columns(OUT col text, OUT counts jsonb) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT rel || '.' || col, (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(s) - 'rel' - 'relid' - 'col' - 'since') WHERE value <> '0')
    FROM sliced.stat_columns s WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'stat'::regnamespace)
    ORDER BY 1
$$;
CREATE FUNCTION reads() RETURNS TABLE(rel text, reads bigint, core_reads bigint, slices bigint, stored bool, decompressed bool) LANGUAGE sql AS $$
    SELECT rel::text, reads, core_reads, slices_read, stored_bytes_read > 0, bytes_decompressed > 0 FROM sliced.stat_tables
    WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'stat'::regnamespace) ORDER BY 1
$$;
-- "n" bytes; each slice of them compresses well, or not at all
CREATE FUNCTION soft(n int) RETURNS text LANGUAGE sql AS $$ SELECT left(string_agg(i || 'abcdefghij', ''), n) FROM generate_series(1, n / 10) i $$;
CREATE FUNCTION hard(n int) RETURNS bytea LANGUAGE sql AS $$ SELECT substr(string_agg(sha256(i::text::bytea), ''), 1, n) FROM generate_series(1, n / 32 + 1) i $$;

CREATE TABLE v (id int, doc text, raw bytea) USING sliced;

-- short rows are not looked at, long ones are
INSERT INTO v VALUES (1, 'short', 'short');
SELECT * FROM columns();
INSERT INTO v VALUES (2, repeat('x', 5000), 'short');
INSERT INTO v VALUES (3, 'short', hard(2300));
INSERT INTO v VALUES (4, soft(100000), hard(10000));
INSERT INTO v VALUES (5, NULL, NULL);
SELECT * FROM columns();
SELECT col, codec, slices, raw_bytes, stored_bytes < raw_bytes AS less FROM sliced.stat_codecs WHERE rel = 'v' ORDER BY 1, 2;

-- reads, of whole values and of parts
SELECT length(doc), octet_length(raw) FROM v WHERE id = 4;
SELECT * FROM reads();
SELECT md5(doc) FROM v WHERE id = 4;
SELECT * FROM reads();
SELECT md5(substr(raw, 9000, 100)) FROM v WHERE id = 4;
SELECT * FROM reads();
-- nothing to read
SELECT octet_length(doc) FROM v WHERE id < 4;
SELECT * FROM reads();

-- changes in part
SELECT sliced.stat_reset('v');
SELECT * FROM columns();
UPDATE v SET doc = doc || 'x' WHERE id = 4;
UPDATE v SET doc = overlay(doc PLACING 'ABC' FROM 50000) WHERE id = 4;
UPDATE v SET doc = (SELECT string_agg(doc, '') FROM v WHERE id = 4) WHERE id = 4;
SELECT * FROM columns();

-- and those that had to be written whole: nothing in common, too short, much that is new; but not after many changes
SELECT sliced.stat_reset('v');
CREATE FUNCTION whole() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT col || ' ' || key || ' ' || value FROM columns(), jsonb_each(counts) WHERE key ~ 'anew|replaced|^stored$' ORDER BY 1
$$;
UPDATE v SET doc = upper(soft(20000)), raw = sha256('a') || substr(hard(90000), 60001, 20000) WHERE id = 4;
SELECT whole();
UPDATE v SET doc = left(upper(lower(doc)), 2998) WHERE id = 4;
SELECT whole();
UPDATE v SET raw = overlay(raw PLACING substr(hard(50000), 30000) FROM 100 FOR 19900) WHERE id = 4;
SELECT whole();
DO $$ BEGIN
    FOR i IN 1 .. 1500 LOOP
        UPDATE v SET raw = set_byte(raw, i * 7919 % 19000, (i + 100) % 256) WHERE id = 4;
    END LOOP;
END $$;
SELECT whole();
UPDATE v SET doc = upper(soft(100000)) WHERE id = 4;
DO $$ BEGIN
    FOR i IN 1 .. 20 LOOP
        UPDATE v SET doc = overlay(doc PLACING repeat('z', 3000) FROM i * 4500 FOR 4000) WHERE id = 4;
    END LOOP;
END $$;
SELECT whole();

-- what was rolled back was done
SELECT sliced.stat_reset('v');
BEGIN;
INSERT INTO v VALUES (6, soft(50000));
SAVEPOINT s;
INSERT INTO v VALUES (7, soft(50000));
ROLLBACK TO s;
ROLLBACK;
SELECT * FROM columns();

-- rows that move within the table count where they are written; nobody counts twice
SELECT sliced.stat_reset('v');
VACUUM FULL v;
SELECT col, counts->'stored' AS stored FROM columns();
SELECT count(*) FROM sliced.stat_columns WHERE rel IS NULL;
-- statistics of a toast relation go with it
CREATE TABLE w AS SELECT * FROM v;
SELECT count(*) FROM columns() WHERE col LIKE '%w.%';
ALTER TABLE w SET ACCESS METHOD sliced;
SELECT count(*) FROM columns() WHERE col LIKE '%w.%';
SELECT toastrelid AS gone FROM sliced_functions.stat_counts() JOIN pg_class ON reltoastrelid = toastrelid WHERE relname = 'w' LIMIT 1 \gset
BEGIN;
DROP TABLE w;
ROLLBACK;
SELECT count(*) FROM columns() WHERE col LIKE '%w.%';
DROP TABLE w;
SELECT count(*) FROM sliced_functions.stat_counts() WHERE toastrelid = :gone;

-- partitions, temporary tables, adopted ones
CREATE TABLE part (id int, doc text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10) USING sliced;
CREATE TABLE part2 (doc text, id int) USING sliced;
ALTER TABLE part ATTACH PARTITION part2 FOR VALUES FROM (10) TO (20);
INSERT INTO part SELECT i, soft(50000) FROM generate_series(1, 12) i;
CREATE TEMP TABLE tmp (doc text) USING sliced;
INSERT INTO tmp VALUES (soft(50000));
SELECT col, stored FROM sliced.stat_columns WHERE rel = 'tmp';
CREATE TABLE old (id int, doc text) USING heap;
ALTER TABLE old ALTER doc SET STORAGE external;
INSERT INTO old SELECT i, soft(50000) FROM generate_series(1, 3) i;
SELECT sliced.adopt('old');
SELECT count(md5(doc)) FROM old;
UPDATE old SET doc = soft(60000) WHERE id = 1;
SELECT count(md5(doc)) FROM old;
SELECT col, counts - 'raw_bytes' - 'stored_bytes' - 'slices' AS counts FROM columns() WHERE col !~ 'v\.';
SELECT * FROM reads() WHERE rel = 'old';

-- who may: everybody looks, and nobody resets
CREATE ROLE regress_sliced_stat;
GRANT USAGE ON SCHEMA stat TO regress_sliced_stat;
SET ROLE regress_sliced_stat;
SELECT count(*) > 0 FROM sliced.stat_columns;
SELECT count(*) > 0 FROM sliced.stat_tables;
SELECT count(*) > 0 FROM sliced.stat_codecs;
SELECT count(*) > 0 FROM sliced.table_sizes;
SELECT sliced.stat_reset();
SELECT sliced.stat_reset('v');
SELECT sliced.toast_space('v');
RESET ROLE;
GRANT pg_stat_scan_tables TO regress_sliced_stat;
SET ROLE regress_sliced_stat;
SELECT pages > 0 FROM sliced.toast_space('v');
RESET ROLE;
DROP OWNED BY regress_sliced_stat;
DROP ROLE regress_sliced_stat;
SELECT sliced.stat_reset('pg_class');

-- sizes: the parts are the whole
SELECT count(*) AS tables, bool_and(total_bytes = pg_total_relation_size(rel)) AS right, bool_and(toast_bytes > 0) AS toast
FROM sliced.table_sizes WHERE rel IN ('v', 'part1', 'part2', 'old');

-- and what is in the pages of the toast relation
CREATE TABLE space (id int, doc text) USING sliced;
SELECT * FROM sliced.toast_space('space') s;
INSERT INTO space SELECT i, soft(200000) FROM generate_series(1, 10) i;
SELECT pages = pg_relation_size(reltoastrelid) / current_setting('block_size')::int AS pages, pages_read = pages AS read, live_bytes > stored_bytes AS live, dead_bytes,
    heads, derived, nodes, slices, raw_bytes, core_values, core_bytes
FROM pg_class, sliced.toast_space('space') WHERE relname = 'space';
SELECT sum(s.raw_bytes) = min(t.raw_bytes) AS raw, sum(s.stored_bytes) = min(t.stored_bytes) AS stored
FROM space, sliced.inspect(doc) s, sliced.toast_space('space') t;
UPDATE space SET doc = overlay(doc PLACING 'ABC' FROM 100000) WHERE id <= 3;
SELECT heads, derived, nodes FROM sliced.toast_space('space');
DO $$ BEGIN FOR i IN 1 .. 60 LOOP UPDATE space SET doc = overlay(doc PLACING '+' FROM i * 1000) WHERE id = 1; END LOOP; END $$;
SELECT heads, derived, nodes = (SELECT count(*) FROM space, sliced.inspect(doc) WHERE codec = 'node' AND start < -1) AS same, nodes > 0 AS nodes
FROM sliced.toast_space('space');
DELETE FROM space WHERE id > 5;
SELECT dead_bytes > 0 AS dead FROM sliced.toast_space('space');
SELECT pages_read < pages AS some, abs(a.live_bytes - b.live_bytes) < b.live_bytes / 2 AS near
FROM sliced.toast_space('space', 20) a, LATERAL (SELECT live_bytes FROM sliced.toast_space('space')) b;
SELECT core_values, core_bytes FROM sliced.toast_space('old');
SELECT sliced.toast_space('part');
SELECT sliced.toast_space('pg_class');
CREATE TABLE numbers (id int) USING sliced;
SELECT * FROM sliced.toast_space('numbers');
SELECT sliced.stat_reset('numbers');
SELECT sliced_functions.table_dictionaries('numbers');
SELECT sliced_functions.table_dictionaries(0);
SELECT sliced.dictionary_slices('numbers');
SELECT sliced.toast_space('v', 0);
SELECT sliced.toast_space('v', 101);
SELECT sliced.toast_space('v', 'nan');

-- queries that are explained within each other, and by workers
CREATE FUNCTION explained(depth int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF depth > 0 THEN
        EXECUTE format('EXPLAIN ANALYZE SELECT explained(%s)', depth - 1);
    END IF;
    RETURN depth;
END $$;
SELECT explained(10);
CREATE TABLE long USING sliced AS SELECT soft(50000 + i) AS t FROM generate_series(1, 20) i;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
DO $$ BEGIN EXECUTE 'EXPLAIN ANALYZE SELECT count(*) FROM long WHERE right(t, 20) <> md5(t)'; END $$;
SELECT count(*) FROM long WHERE right(t, 20) <> md5(t);
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;

DROP TABLE tmp;
SET client_min_messages = warning;
DROP SCHEMA stat CASCADE;
