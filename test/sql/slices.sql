-- What is particular to sliced: what goes where, settings, and what its
-- functions say.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA slices;
SET search_path = slices;
SET default_table_access_method = sliced;
CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(string_agg(sha512(int4send(seed) || int4send(i)), '') FROM 1 FOR n) FROM generate_series(0, n / 64) i $$;

SELECT amname, amtype, amhandler FROM pg_am WHERE amname = 'sliced';
CREATE TABLE t (id int PRIMARY KEY, v bytea);
SELECT t.relname, a.amname, toast_am.amname AS toast
    FROM pg_class t JOIN pg_am a ON a.oid = t.relam JOIN pg_class toast ON toast.oid = t.reltoastrelid
    JOIN pg_am toast_am ON toast_am.oid = toast.relam
    WHERE t.oid = 't'::regclass;

-- a value's slices cover it without gaps, whatever the codec; "inspect" agrees
-- with what is in the toast relation
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 't'::regclass \gset
SET sliced.compression = none;
INSERT INTO t SELECT i, noise(i * 12345, i) || convert_to(repeat('plain', i * 9000), 'UTF8') FROM generate_series(1, 5) i;
SET sliced.compression = pglz;
INSERT INTO t SELECT 10 + id, v FROM t WHERE id < 10;
SET sliced.compression = lz4;
INSERT INTO t SELECT 20 + id, v FROM t WHERE id < 10;
SET sliced.compression = zstd;
INSERT INTO t SELECT 30 + id, v FROM t WHERE id < 10;
RESET sliced.compression;
SELECT id / 10 AS series, string_agg(DISTINCT codec, ' ' ORDER BY codec) AS codecs,
    bool_and(start = expected) AS without_gaps, bool_or(last AND start + raw_bytes = length(v)) AS whole,
    bool_and(stored_bytes <= raw_bytes) AS not_larger, bool_and(rows >= 1) AS rows
    FROM (SELECT id, v, i.*, lead(start) OVER w IS NULL AS last,
            coalesce(lag(start + raw_bytes) OVER w, 0) AS expected
        FROM t, sliced.inspect(v) i WINDOW w AS (PARTITION BY id ORDER BY piece, start)) s
    GROUP BY 1 ORDER BY 1;
SELECT sum(rows) = (SELECT count(*) FROM :toast) AS all_rows,
    count(DISTINCT object) = (SELECT count(DISTINCT chunk_id) FROM :toast) AS all_objects FROM t, sliced.inspect(v);
SELECT a.id FROM t a JOIN t b ON a.id % 10 = b.id % 10 WHERE a.v <> b.v;

-- small, inline, compressed inline by the best codec that core has, outside
SELECT CASE WHEN 'lz4' = ANY (enumvals) THEN 'lz4' ELSE 'pglz' END AS lz4 FROM pg_settings WHERE name = 'default_toast_compression' \gset
CREATE TABLE places (what text, v bytea);
INSERT INTO places VALUES ('empty', ''), ('small', 'x'), ('2000', noise(2000, 1)), ('2900', noise(2900, 1)),
    ('3100', noise(3100, 1)), ('compressed', convert_to(repeat('c', 9000), 'UTF8')), ('missing', NULL);
SELECT what, piece, object IS NOT NULL AS outside, start, raw_bytes, stored_bytes < raw_bytes AS smaller, replace(codec, :'lz4', 'lz4') AS codec, rows
    FROM places LEFT JOIN sliced.inspect(v) ON true ORDER BY what, start;
SELECT * FROM sliced.inspect(42);
SELECT raw_bytes FROM sliced.inspect(NULL::text);
CREATE TABLE narrow (id int);
COPY narrow FROM stdin;
1
2
\.
SELECT id FROM narrow;

-- rows fill pages like core's, however long the values are
CREATE FUNCTION pages(n int, method name) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE filled (v bytea) USING %I', method);
    ALTER TABLE filled ALTER v SET STORAGE EXTERNAL;
    INSERT INTO filled SELECT noise(n, i) FROM generate_series(1, 48) i;
    SELECT pg_relation_size(reltoastrelid) / 8192 INTO n FROM pg_class WHERE oid = 'filled'::regclass;
    DROP TABLE filled;
    RETURN n;
END $$;
SELECT n, pages(n, 'sliced'), pages(n, 'heap') AS heap FROM generate_series(4100, 14900, 300) n
    WHERE pages(n, 'sliced') > 1.1 * pages(n, 'heap');

-- columns choose codecs; storage EXTERNAL is not compressed
CREATE TABLE choices (e text, p text COMPRESSION pglz, l text COMPRESSION :lz4, d text);
ALTER TABLE choices ALTER e SET STORAGE EXTERNAL;
SET sliced.compression = zstd;
INSERT INTO choices SELECT v, v, v, v FROM (SELECT string_agg(md5(i::text), '') || repeat('plain', 50000) AS v FROM generate_series(1, 2000) i) s;
SELECT (SELECT string_agg(DISTINCT codec, ' ') FROM sliced.inspect(e)) AS e,
    (SELECT string_agg(DISTINCT codec, ' ') FROM sliced.inspect(p) WHERE start > 70000) AS p,
    (SELECT string_agg(DISTINCT codec, ' ') FROM sliced.inspect(l) WHERE start > 70000) = :'lz4' AS l,
    (SELECT string_agg(DISTINCT codec, ' ') FROM sliced.inspect(d) WHERE start > 70000) AS d FROM choices;
RESET sliced.compression;

-- VACUUM FULL recompresses with what is set now
SET sliced.compression = none;
ALTER TABLE choices ALTER e SET STORAGE EXTENDED;
VACUUM FULL choices;
SELECT DISTINCT codec FROM choices, sliced.inspect(d);
RESET sliced.compression;

-- settings
SET sliced.compression = 'brotli';
SET sliced.zstd_level = 0;
SET sliced.zstd_level = 23;
SET sliced.logical_decoding = 'maybe';
SET sliced.no_such = 1;
-- sliced_spill, which we load wherever it is installed, has one more
SELECT name, setting, boot_val, context FROM pg_settings WHERE name LIKE 'sliced.%' AND name NOT LIKE '%temp\_file%' ORDER BY name;

-- an unchanged value is not written again; a changed one leaves nothing behind
CREATE TABLE same (id int, v text, w text);
INSERT INTO same SELECT 1, string_agg(md5(i::text), ''), string_agg(md5(i::text), '') FROM generate_series(1, 900) i;
SELECT object AS before FROM same, sliced.inspect(v) LIMIT 1 \gset
UPDATE same SET w = w || 'x';
UPDATE same SET v = v, id = 2;
SELECT DISTINCT object = :before AS unchanged FROM same, sliced.inspect(v);
UPDATE same SET v = v || '';
SELECT DISTINCT object = :before AS unchanged FROM same, sliced.inspect(v);
UPDATE same SET v = reverse(v);
SELECT DISTINCT object = :before AS unchanged FROM same, sliced.inspect(v);
VACUUM same;
SELECT * FROM sliced.verify('same');

-- verify refuses what it cannot check
CREATE TABLE plain (v text) USING heap;
CREATE VIEW view AS SELECT 1;
SELECT * FROM sliced.verify('plain');
SELECT * FROM sliced.verify('view');
SELECT * FROM sliced.verify('no_such');

SELECT relname, v.* FROM pg_class c, sliced.verify(c.oid::regclass) v
    WHERE relnamespace = 'slices'::regnamespace AND relkind = 'r' AND relam = (SELECT oid FROM pg_am WHERE amname = 'sliced');
-- an index scan that sorts by distance, and keeps rows meanwhile
CREATE TABLE near (id int, area polygon, v bytea);
INSERT INTO near SELECT i, format('((%s,0),(%s,%s),(%s,2))', i, i + 2, i % 7, i + 1)::polygon, noise(5000, i) FROM generate_series(1, 200) i;
CREATE INDEX ON near USING gist (area);
CREATE TABLE near_of_heap USING heap AS TABLE near;
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT * FROM near ORDER BY area <-> point '(40.3,5.17)' LIMIT 10;
SELECT string_agg(id || md5(v), ' ' ORDER BY id) = (SELECT string_agg(id || md5(v), ' ' ORDER BY id) FROM (SELECT * FROM near_of_heap ORDER BY area <-> point '(40.3,5.17)' LIMIT 10) h) AS same
    FROM (SELECT id, v FROM near ORDER BY area <-> point '(40.3,5.17)' LIMIT 10) s;
RESET enable_sort;
RESET enable_seqscan;

SET client_min_messages = warning;
DROP SCHEMA slices CASCADE;
