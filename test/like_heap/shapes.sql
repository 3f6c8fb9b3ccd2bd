-- Values of every size and kind, rows of every shape, columns of every option.

-- around every limit
CREATE TABLE sizes (id serial, kind text, n int, v text, b bytea);
INSERT INTO sizes (kind, n, v, b)
    SELECT kind, n, CASE kind WHEN 'dense' THEN dense(n, n) WHEN 'plain' THEN plain(n, n) ELSE mixed(n, n) END,
        CASE kind WHEN 'dense' THEN noise(n, n) END
    FROM unnest(ARRAY['dense', 'plain', 'mixed']) kind,
        unnest(ARRAY[0, 1, 2, 10, 126, 127, 128, 1000, 1985, 2000, 2010, 2950, 2960, 2970, 2980, 4000, 4030,
                     7950, 7960, 7980, 8000, 8130, 8160, 16000, 65535, 65536, 65537, 131071, 131072, 131073,
                     200000, 262144, 262145, 1000000])  n
    UNION ALL
    SELECT kind, n, CASE kind WHEN 'dense' THEN dense(n, n) ELSE plain(n, n) END, NULL
    FROM unnest(ARRAY['dense', 'plain']) kind, generate_series(1960, 2040, 3) n;
SELECT kind, count(*), sum(length(v)), md5(string_agg(md5(v), '' ORDER BY id)), md5(string_agg(md5(b), '' ORDER BY id))
    FROM sizes GROUP BY kind ORDER BY kind;

-- one byte or a range, from anywhere
CREATE FUNCTION probe(rel regclass, col name) RETURNS TABLE (id int, digest text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT t.id, md5(string_agg(coalesce(substr(t.%1$I, o, len), ''-''), '','' ORDER BY o, len))'
        ' FROM %2$s t, unnest(ARRAY[1, 2, 100, 1990, 2000, 3990, 4000, 7970, 7980, 8000, 16000, 65535, 65536,'
        '   65537, 65538, 65550, 66000, 70000, 131071, 131072, 131073, 131074, 199999, 200000, 262145, 999990,'
        '   length(t.%1$I) / 2, length(t.%1$I) - 1, length(t.%1$I), length(t.%1$I) + 1]) o,'
        ' unnest(ARRAY[0, 1, 2, 17, 4096, 65536, 65537, 1000000]) len'
        ' WHERE t.n BETWEEN 7000 AND 270000 OR t.n IN (0, 1, 2000, 2980) GROUP BY t.id ORDER BY t.id', col, rel);
END $$;
SELECT md5(string_agg(digest, '' ORDER BY id)) FROM probe('sizes', 'b');
SELECT md5(string_agg(digest, '' ORDER BY id)) FROM probe('sizes', 'v');
SELECT sum(get_byte(b, o)), count(*) FROM sizes, generate_series(0, 130000, 4999) o WHERE o < length(b);
SELECT count(*) FROM sizes WHERE left(v, 50) = left(dense(50, n), 50) AND v LIKE left(v, 20) || '%';
SELECT sum(position('log' IN v)), sum(octet_length(v)), sum(bit_length(b)) FROM sizes;
UPDATE sizes SET v = v || 'x', b = b || '\x00' WHERE n % 2 = 0;
SELECT md5(string_agg(md5(v), '' ORDER BY id)), md5(string_agg(md5(b), '' ORDER BY id)) FROM sizes;
UPDATE sizes SET v = left(v, n / 2);
SELECT md5(string_agg(md5(v), '' ORDER BY id)), md5(string_agg(md5(b), '' ORDER BY id)) FROM sizes;

-- large ones
CREATE TABLE large (id int, v bytea);
INSERT INTO large SELECT i, convert_to(repeat(dense(1000000, i), 8), 'UTF8') FROM generate_series(1, 2) i;
INSERT INTO large SELECT 3, convert_to(repeat('x', 33554432), 'UTF8');
SELECT id, length(v), md5(v), md5(substr(v, 4000000, 100000)), get_byte(v, 7999999) FROM large ORDER BY id;
UPDATE large SET v = set_byte(v, 5000000, 0) WHERE id = 1;
SELECT id, length(v), md5(v) FROM large ORDER BY id;
DROP TABLE large;

-- several bytes a character
CREATE TABLE letters (id int, v text);
INSERT INTO letters SELECT i, repeat('a' || chr(233) || chr(8364) || chr(128512) || i, i * 500)
    FROM generate_series(1, 60) i;
SELECT md5(string_agg(substr(v, o, 40), ',' ORDER BY id, o)) FROM letters, generate_series(1, 100000, 7777) o;
SELECT md5(string_agg(left(v, -7) || right(v, 9), ',' ORDER BY id)), sum(length(v)), sum(octet_length(v)) FROM letters;
UPDATE letters SET v = reverse(v) || v;
SELECT * FROM sum_up('letters');

-- storage and compression options
CREATE TABLE options (id int, p text, e text, x text, m text, pglz text COMPRESSION pglz, lz4 text COMPRESSION :lz4);
ALTER TABLE options ALTER p SET STORAGE PLAIN, ALTER e SET STORAGE EXTERNAL, ALTER m SET STORAGE MAIN;
INSERT INTO options SELECT i, plain(i * 90, i), plain(i * 400, i), plain(i * 600, i), plain(i * 900, i),
    mixed(i * 1000, i), mixed(i * 1100, i) FROM generate_series(0, 40) i;
INSERT INTO options (id, p) VALUES (50, plain(8100, 1));
INSERT INTO options (id, p) VALUES (51, plain(8200, 1));
INSERT INTO options (id, m) VALUES (52, dense(6000, 1)), (53, dense(8100, 1)), (54, plain(60000, 1)), (55, dense(60000, 1));
INSERT INTO options (id, m, x) VALUES (56, dense(4000, 1), dense(4000, 1)), (57, dense(2000, 1), dense(60000, 1));
SELECT * FROM sum_up('options');
UPDATE options SET e = x, x = e, m = pglz, lz4 = m;
SELECT * FROM sum_up('options');
UPDATE options SET p = 'p', m = m || 'm';
SELECT * FROM sum_up('options');
VACUUM FULL options;
SELECT * FROM sum_up('options');
CREATE TABLE codecs (id int, v text);
SET sliced.compression = none;
INSERT INTO codecs SELECT i, mixed(i * 2000, i) FROM generate_series(1, 60) i;
SET sliced.compression = pglz;
INSERT INTO codecs SELECT 100 + id, v FROM codecs WHERE id < 50;
SET sliced.compression = lz4;
UPDATE codecs SET v = v || 'lz4' WHERE id % 3 = 0;
SET sliced.compression = zstd;
INSERT INTO codecs SELECT 200 + id, v FROM codecs WHERE id % 3 = 1;
SET sliced.zstd_level = 19;
UPDATE codecs SET v = v || v WHERE id % 5 = 0;
RESET sliced.compression;
SELECT * FROM sum_up('codecs');
SELECT md5(string_agg(substr(v, id * 300, 5000), '' ORDER BY id)) FROM codecs;
VACUUM FULL codecs;
SELECT * FROM sum_up('codecs');

-- toast_tuple_target
CREATE TABLE targets (id int, v text, w text) WITH (toast_tuple_target = 128);
INSERT INTO targets SELECT i, plain(i * 100, i), dense(i * 50, i) FROM generate_series(1, 100) i;
SELECT * FROM sum_up('targets');
ALTER TABLE targets SET (toast_tuple_target = 8160);
INSERT INTO targets SELECT 1000 + i, plain(i * 100, i), dense(i * 90, i) FROM generate_series(1, 100) i;
UPDATE targets SET w = v, v = w WHERE id % 2 = 0;
ALTER TABLE targets SET (toast_tuple_target = 2048);
UPDATE targets SET v = v || 'x';
VACUUM FULL targets;
ALTER TABLE targets RESET (toast_tuple_target);
UPDATE targets SET w = w || 'x';
SELECT * FROM sum_up('targets');

-- many columns; many large values in one row
SELECT 'CREATE TABLE wide (id int, ' || string_agg(format('c%s text', i), ', ') || ')' FROM generate_series(1, 320) i
\gexec
SELECT 'INSERT INTO wide SELECT j, ' || string_agg(format('CASE WHEN %s %% 40 < j THEN dense(40 * j, %s) END', i, i), ', ')
    || ' FROM generate_series(0, 40, 5) j' FROM generate_series(1, 320) i
\gexec
SELECT * FROM sum_up('wide');
UPDATE wide SET c1 = dense(9000, id), c7 = NULL, c320 = c1;
UPDATE wide SET c9 = 'nine', c10 = c11, c11 = c10;
SELECT * FROM sum_up('wide');
SELECT 'UPDATE wide SET ' || string_agg(format('c%s = NULL', i), ', ') || ' WHERE id > 20' FROM generate_series(20, 320) i
\gexec
SELECT * FROM sum_up('wide');
SELECT 'UPDATE wide SET ' || string_agg(format('c%s = dense(3000, id + %s)', i, i), ', ') FROM generate_series(1, 60) i
\gexec
SELECT 'UPDATE wide SET ' || string_agg(format('c%s = dense(3000, id + %s)', i, i), ', ') || ' WHERE id < 20'
    FROM generate_series(61, 150) i
\gexec
SELECT * FROM sum_up('wide');
VACUUM FULL wide;
SELECT * FROM sum_up('wide');
DELETE FROM wide WHERE id % 10 = 0;
VACUUM wide;
SELECT * FROM sum_up('wide');
ALTER TABLE wide ADD last text DEFAULT 'z', DROP c2;
UPDATE wide SET last = dense(5000, id);
SELECT * FROM sum_up('wide');

-- values within values
CREATE TYPE pair AS (a text, b text);
CREATE TABLE nested (id int, p pair, ps pair[], ts text[], j jsonb, js json, h xml, num numeric, whole options);
INSERT INTO nested SELECT i, (dense(i * 1000, i), plain(i * 3000, i)), ARRAY[(dense(i * 700, i), '')::pair, ('', 'x')::pair],
    ARRAY[mixed(i * 500, i), NULL, 'x'], jsonb_build_object('k', dense(i * 900, i), 'n', i), to_json(mixed(i * 900, i)),
    xmlparse(content 'x'), power(10::numeric, i * 1000) + i, o
    FROM generate_series(1, 12) i LEFT JOIN options o ON o.id = i;
SELECT * FROM sum_up('nested');
UPDATE nested SET p.a = (p).b, ps[1].b = ps[1].a, ts[2] = ts[1], j = jsonb_set(j, '{new}', j -> 'k');
UPDATE nested SET p = ROW(ts[1], (p).a)::pair, whole.x = ts[1], j['z'] = '"zzz"';
SELECT * FROM sum_up('nested');
SELECT id, md5((p).a), md5(ps[1].b), j ->> 'n', length(j ->> 'k'), md5(js #>> '{}'), md5(num::text) FROM nested ORDER BY id;
SELECT md5(nested::text) = md5((n2.n)::text) AS same FROM nested, LATERAL (SELECT nested AS n) n2 WHERE id = 5;
CREATE TABLE nested2 AS SELECT ARRAY[p] || ps AS ps, p, whole FROM nested;
TRUNCATE nested, options;
DROP TABLE nested;
SELECT * FROM sum_up('nested2');

-- a text that ends within a character
CREATE FUNCTION as_text(bytea, int DEFAULT 1) RETURNS text LANGUAGE internal IMMUTABLE STRICT AS 'bytea_substr_no_len';
-- Minor versions from before 2026 read a character's last byte beyond the text.
CREATE FUNCTION reads_beyond(v text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN octet_length(substr(v, 3, 1)) > 2; EXCEPTION WHEN OTHERS THEN RETURN false; END $$;
SELECT NOT reads_beyond(as_text('\x6161e280')) AS ends \gset
\if :ends
CREATE TABLE cut_off AS SELECT as_text(convert_to(dense(9000, 1) || repeat(U&'\2026', 50), 'UTF8') || '\xe280') AS v;
SELECT substr(v, 9050, 1), substr(v, 9049, 2) FROM cut_off;
SELECT substr(v, 9051, 1) FROM cut_off;
SELECT substr(v, 9045, 100) FROM cut_off;
SELECT substr(v, 9045) FROM cut_off;
SELECT octet_length(right(v, 5)) FROM cut_off;
SELECT octet_length(right(v, -9000)) FROM cut_off;
DROP TABLE cut_off;
\endif

-- values that compression hardly makes shorter stay in their rows, which go to a table of heap that moves them out
CREATE TABLE dense_ones (id int, a text[], b text[], c text[], d text[], long text) WITH (toast_tuple_target = 256);
INSERT INTO dense_ones SELECT i, a[1:1], a[2:2], a[3:3], a[4:4], dense(5000, i)
    FROM (SELECT i, array_agg(dense(10 + i % 60, i + j) || repeat('x', i / 60) ORDER BY j) AS a FROM generate_series(1, 1200) i, generate_series(1, 4) j GROUP BY i) x;
CREATE TABLE moved_out (LIKE dense_ones) USING heap WITH (toast_tuple_target = 128);
INSERT INTO moved_out SELECT * FROM dense_ones;
SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY id)) FROM dense_ones t;
SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY id)) FROM moved_out t;
