-- What is compressed within a row core reads without us, so it must know how: a server
-- may be built without lz4, which our slices have all the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA within_rows;
SET search_path = within_rows;
CREATE FUNCTION plain(id int, c text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(md5(id || c || i) || repeat(c, 40), '') FROM generate_series(1, 40) i $$;
CREATE FUNCTION wrong(t regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE v <> plain(id, ''x'') COLLATE "C"', t) INTO n;
    RETURN n;
END $$;

-- three such values are too long for a row, one is not
CREATE TABLE wide (id int, codec text, a text, b text, c text) USING sliced;
SET sliced.compression = lz4;
INSERT INTO wide SELECT i, 'lz4', plain(i, 'x'), plain(i, 'y'), plain(i, 'z') FROM generate_series(1, 4) i;
SET sliced.compression = pglz;
INSERT INTO wide SELECT i, 'pglz', plain(i, 'x'), plain(i, 'y'), plain(i, 'z') FROM generate_series(5, 8) i;
SET sliced.compression = zstd;
INSERT INTO wide SELECT i, 'zstd', plain(i, 'x'), plain(i, 'y'), plain(i, 'z') FROM generate_series(9, 12) i;
SELECT w.codec, count(*) > 0 AS slices FROM wide w, sliced.inspect(a) s WHERE object IS NOT NULL AND s.codec = w.codec GROUP BY 1 ORDER BY 1;

CREATE TABLE narrow (codec text, id int, v text) USING sliced;
SET sliced.compression = lz4;
INSERT INTO narrow SELECT 'lz4', id, a FROM wide;
SET sliced.compression = pglz;
INSERT INTO narrow SELECT 'pglz', id, a FROM wide;
SET sliced.compression = zstd;
INSERT INTO narrow SELECT 'zstd', id, a FROM wide;
RESET sliced.compression;
SELECT n.codec, count(*) AS inside FROM narrow n, sliced.inspect(v) s WHERE object IS NULL AND stored_bytes < raw_bytes GROUP BY 1 ORDER BY 1;
SELECT wrong('narrow');
SELECT * FROM sliced.verify('narrow');

-- and whatever is made of them
CREATE TABLE copied USING heap AS SELECT * FROM narrow;
SELECT wrong('copied');
ALTER TABLE wide DROP b, DROP c;
ALTER TABLE wide RENAME a TO v;
VACUUM FULL wide, narrow;
SELECT wrong('wide'), wrong('narrow');
SELECT * FROM sliced.verify('wide');
ALTER TABLE wide SET ACCESS METHOD heap;
ALTER TABLE narrow SET ACCESS METHOD heap;
SELECT wrong('wide'), wrong('narrow');
ALTER TABLE wide SET ACCESS METHOD sliced;
SELECT wrong('wide');
SET client_min_messages = warning;
DROP SCHEMA within_rows CASCADE;
