-- Values that heap has compressed are stored as they are, where codec and length
-- allow it.  A server without lz4 has too few of them.
SELECT 'lz4' = ANY (enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression' \gset
\if :lz4
\else
\quit
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA taken;
SET search_path = taken;
SET sliced.compression = lz4;

-- texts of one byte a character, or of two; every compressor makes something else of them
CREATE FUNCTION words(n int, seed int, alphabet text) RETURNS text LANGUAGE sql AS $$
    SELECT left(string_agg(translate(substr(md5(seed || '.' || i % 97 || '.' || i % 89), 1, 9), '0123456789abcdef', alphabet), '' ORDER BY i), n)
    FROM generate_series(0, n / 9) i $$;
\set ascii abcdabcdabcdabcd
\set letters абвгабвгабвгабвг
CREATE TABLE lz4 (id serial, v text COMPRESSION lz4) USING heap WITH (toast_tuple_target = 128);
INSERT INTO lz4 (v) SELECT words(n, n, :'ascii') FROM unnest(ARRAY[500, 3000, 10000, 65535, 65536, 131071, 131072, 131073, 200000]) n;
INSERT INTO lz4 (v) SELECT words(n, n, :'letters') FROM unnest(ARRAY[500, 3000, 10000, 65535, 65536, 65537, 150000]) n;
CREATE TABLE pglz (id serial, v text COMPRESSION pglz) USING heap WITH (toast_tuple_target = 128);
INSERT INTO pglz (v) SELECT words(n, n, :'ascii') FROM unnest(ARRAY[500, 3000, 32767, 32768, 32769, 131072]) n;
INSERT INTO pglz (v) SELECT words(n, n, :'letters') FROM unnest(ARRAY[500, 3000, 16384, 16385, 65536]) n;

-- Is the value what it was in heap, and are its bytes?  Core counts four more, for the length.
CREATE FUNCTION compare(rel regclass, original regclass) RETURNS TABLE (bytes int, same bool, codecs text, taken bool)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT octet_length(o.v), t.v = o.v AND length(t.v) = length(o.v) AND octet_length(t.v) = octet_length(o.v)'
        '   AND substr(t.v, octet_length(o.v) / 4, 50) = substr(o.v, octet_length(o.v) / 4, 50)'
        '   AND right(t.v, 20) = right(o.v, 20) AND left(t.v, -7) = left(o.v, -7),'
        ' string_agg(DISTINCT s.codec, '' ''), count(*) = 1 AND min(s.stored_bytes) = pg_column_size(o.v) - 4 AND pg_column_compression(o.v) IS NOT NULL'
        ' FROM %1$s t JOIN %2$s o USING (id), sliced.inspect(t.v) s GROUP BY o.id, o.v, t.v ORDER BY o.id', rel, original);
END $$;
CREATE TABLE t (id int, v text) USING sliced WITH (toast_tuple_target = 128);
INSERT INTO t SELECT * FROM lz4;
SELECT * FROM compare('t', 'lz4');
SELECT count(DISTINCT bytes), bool_and(same) FROM compare('t', 'lz4');

-- another codec, another storage
TRUNCATE t;
INSERT INTO t SELECT * FROM pglz;
SELECT * FROM compare('t', 'pglz');
ALTER TABLE t ALTER v SET COMPRESSION pglz;
TRUNCATE t;
INSERT INTO t SELECT * FROM pglz;
SELECT * FROM compare('t', 'pglz');
TRUNCATE t;
INSERT INTO t SELECT * FROM lz4;
SELECT count(*), bool_and(same), bool_or(taken), string_agg(DISTINCT codecs, ', ') AS codecs FROM compare('t', 'lz4');
ALTER TABLE t ALTER v SET COMPRESSION default;
SET sliced.compression = zstd;
TRUNCATE t;
INSERT INTO t SELECT * FROM lz4;
SELECT count(*), bool_and(same), bool_or(taken), string_agg(DISTINCT codecs, ', ') AS codecs FROM compare('t', 'lz4');
SET sliced.compression = lz4;
TRUNCATE t;
ALTER TABLE t ALTER v SET STORAGE external;
INSERT INTO t SELECT * FROM lz4;
SELECT count(*), bool_and(same), bool_or(taken), string_agg(DISTINCT codecs, ', ') AS codecs FROM compare('t', 'lz4');
TRUNCATE t;
ALTER TABLE t ALTER v SET STORAGE main;
INSERT INTO t SELECT * FROM lz4;
SELECT count(*), bool_and(same), count(*) FILTER (WHERE taken) AS taken, string_agg(DISTINCT codecs, ', ') AS codecs FROM compare('t', 'lz4');

-- what is short enough stays in the row, as it is
CREATE TABLE short (id int, v text, w text) USING sliced;
INSERT INTO short SELECT id, v, v FROM lz4 WHERE octet_length(v) < 3000;
CREATE TABLE inside (id int, v text COMPRESSION lz4, w text COMPRESSION lz4) USING heap;
INSERT INTO inside SELECT n, repeat('inside ' || n, n), words(9000, n, :'ascii') FROM unnest(ARRAY[500, 2500, 13000]) n;
CREATE TABLE kept (LIKE inside) USING sliced;
INSERT INTO kept SELECT * FROM inside;
SELECT id, s.v = o.v AS same, pg_column_size(s.v) = pg_column_size(o.v) + 4 AS same_size, object IS NULL AS inside
    FROM short s JOIN lz4 o USING (id), sliced.inspect(s.v) ORDER BY id;
SELECT id, k.v = i.v AND k.w = i.w AS same, pg_column_size(k.v) = pg_column_size(i.v) AS same_size, object IS NULL AS inside,
    (SELECT bool_and(stored_bytes = pg_column_size(i.w) - 4) FROM sliced.inspect(k.w)) AS taken
    FROM kept k JOIN inside i USING (id), sliced.inspect(k.v) ORDER BY id;

-- ... or goes out of it, if the table wants that
CREATE TABLE pushed (id int, v text COMPRESSION lz4, w text COMPRESSION pglz, x text) USING sliced WITH (toast_tuple_target = 128);
INSERT INTO pushed SELECT id, v, v, w FROM inside;
SELECT id, p.v = i.v AND p.w = i.v AS same, octet_length(i.v) AS bytes, pg_column_compression(i.v) AS codec,
    (SELECT string_agg(raw_bytes || ' ' || codec, ', ') FROM sliced.inspect(p.v)) AS v,
    (SELECT string_agg(DISTINCT codec, ', ') FROM sliced.inspect(p.w)) AS w
    FROM pushed p JOIN inside i USING (id) ORDER BY id;

-- a pointer leads to the beginning of a value that has grown since: the rest is not taken
CREATE TABLE grows (v text) USING sliced;
ALTER TABLE grows ALTER v SET STORAGE external;
CREATE TABLE earlier (v text) USING sliced;
ALTER TABLE earlier ALTER v SET STORAGE external;
INSERT INTO grows SELECT words(100000, 1, :'ascii');
CREATE FUNCTION keep_earlier() RETURNS void LANGUAGE plpgsql AS $$
DECLARE before text;
BEGIN
    SELECT v INTO before FROM grows;
    UPDATE grows SET v = v || repeat('longer', 1000);
    INSERT INTO earlier VALUES (before);
END $$;
SELECT keep_earlier();
SELECT e.v = left(g.v, 100000) AS same, length(e.v), length(g.v) FROM earlier e, grows g;
SELECT * FROM sliced.verify('earlier');

-- documents that are to be cut are not taken from heap
CREATE TABLE documents (id int, v jsonb COMPRESSION lz4) USING heap;
INSERT INTO documents SELECT n, jsonb_build_object('a', words(n, n, :'ascii'), 'b', words(n / 3, n, :'letters'), 'c', n)
    FROM unnest(ARRAY[4000, 8000, 40000, 80000]) n;
CREATE TABLE d (LIKE documents) USING sliced;
INSERT INTO d SELECT * FROM documents;
SELECT id, d.v = o.v AND d.v->'b' = o.v->'b' AS same, bool_or(stored_bytes = pg_column_size(o.v) - 4) AS taken, bool_or(codec = 'node') AS cut
    FROM d JOIN documents o USING (id), sliced.inspect(d.v) GROUP BY 1, 2 ORDER BY 1;

-- ... but from where they have been cut, with all that there is of them
CREATE TABLE e (LIKE d) USING sliced;
CREATE FUNCTION copy_differs(id int) RETURNS bool LANGUAGE sql AS $$
    SELECT (SELECT array_agg((s.piece, s.start, s.raw_bytes, s.stored_bytes, s.codec, object IS NULL) ORDER BY s.piece, s.start) FROM d, sliced.inspect(d.v) s WHERE d.id = $1)
        IS DISTINCT FROM (SELECT array_agg((s.piece, s.start, s.raw_bytes, s.stored_bytes, s.codec, object IS NULL) ORDER BY s.piece, s.start) FROM e, sliced.inspect(e.v) s WHERE e.id = $1)
        OR (SELECT (v, v->'b', v->'c', length(v->>'a')) FROM d WHERE d.id = $1) IS DISTINCT FROM (SELECT (v, v->'b', v->'c', length(v->>'a')) FROM e WHERE e.id = $1) $$;
-- How many of d's documents have been read?  A copy of what is stored is no reading.
CREATE FUNCTION copy_documents() RETURNS TABLE (read bigint) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE e;
    PERFORM sliced.stat_reset('d');
    INSERT INTO e SELECT * FROM d;
    RETURN QUERY SELECT coalesce(sum(reads), 0)::bigint FROM sliced.stat_tables WHERE rel = 'd';
END $$;
CREATE FUNCTION differing() RETURNS int[] LANGUAGE sql AS $$ SELECT array_agg(id ORDER BY id) FILTER (WHERE copy_differs(id)) FROM d $$;
-- what is short about one is in its head; that of the other is not, and a part of it does not compress
DELETE FROM d WHERE id < 16000;
INSERT INTO d SELECT 7, jsonb_object_agg('key' || i, md5(i::text)) || jsonb_build_object('a', words(30000, 7, :'ascii'),
    'b', (SELECT string_agg(md5(j::text), '') FROM generate_series(1, 150) j), 'c', 7) FROM generate_series(1, 60) i;
SELECT id, string_agg(DISTINCT codec, ' ') FILTER (WHERE codec <> 'node') AS codecs, bool_or(codec = 'node') AS cut FROM d, sliced.inspect(v) GROUP BY 1 ORDER BY 1;
SELECT copy_documents(), differing();
VACUUM FULL e;
SELECT differing();
-- not those that have changed, until they are written anew, nor with another codec
UPDATE d SET v = jsonb_set(v, '{c}', '"changed"') WHERE id > 7;
SELECT copy_documents();
VACUUM FULL d;
SELECT copy_documents(), differing();
ALTER TABLE e ALTER v SET COMPRESSION pglz;
SELECT copy_documents();
SELECT bool_and(d.v = e.v), (SELECT string_agg(DISTINCT codec, ' ') FROM e, sliced.inspect(v) WHERE codec <> 'node') AS codecs FROM d JOIN e USING (id);
ALTER TABLE e ALTER v SET COMPRESSION lz4;
SELECT copy_documents(), differing();
-- as they are they can be changed like any, and stand for others
UPDATE e SET v = jsonb_set(v, '{b}', '"new"') || '{"more": 1}';
SELECT bool_and(e.v = jsonb_set(d.v, '{b}', '"new"') || '{"more": 1}') FROM d JOIN e USING (id);
UPDATE e SET v = d.v FROM d WHERE d.id = e.id;
SELECT bool_and(e.v = d.v) FROM d JOIN e USING (id);

-- What looks back at a dictionary stays with it.
CREATE TABLE with_dictionary (id int, v jsonb) USING sliced WITH (autovacuum_enabled = off);
INSERT INTO with_dictionary SELECT i, jsonb_build_object('a', string_agg(md5(i * j || '') || ' the same words in all of these documents ', ''), 'n', i)
    FROM generate_series(1, 40) i, generate_series(1, 250) j GROUP BY i;
SELECT col, dictionary IS NOT NULL AS made FROM sliced.train('with_dictionary', 'v');
VACUUM FULL with_dictionary;
SELECT count(*) > 0 AS some FROM with_dictionary, sliced.inspect(v) WHERE codec ~ 'dictionary';
CREATE TABLE without (LIKE with_dictionary) USING sliced;
INSERT INTO without SELECT * FROM with_dictionary;
SELECT count(*), bool_and(a.v = b.v) FROM without a JOIN with_dictionary b USING (id);
SELECT count(*) FROM without, sliced.inspect(v) WHERE codec ~ 'dictionary';

-- a whole table, there and back; what was taken can be changed like any
CREATE TABLE moved (LIKE lz4 INCLUDING ALL) USING heap;
INSERT INTO moved SELECT * FROM lz4;
ALTER TABLE moved SET ACCESS METHOD sliced;
SELECT count(*), bool_and(same), count(*) FILTER (WHERE taken) AS taken FROM compare('moved', 'lz4');
SELECT count(DISTINCT bytes), bool_and(same) FROM compare('moved', 'lz4');
CREATE FUNCTION changed(v text) RETURNS text LANGUAGE sql AS $$ SELECT overlay(v || 'ж' placing 'это' from octet_length(v) / 4) $$;
UPDATE moved SET v = v || 'ж';
UPDATE moved SET v = overlay(v placing 'это' from (octet_length(v) - 2) / 4);
SELECT bool_and(m.v = changed(o.v)), bool_and(length(m.v) = length(o.v) + 1) FROM moved m JOIN lz4 o USING (id);
VACUUM FULL moved;
SELECT bool_and(m.v = changed(o.v)), bool_and(length(m.v) = length(o.v) + 1) FROM moved m JOIN lz4 o USING (id);

-- from one table of ours to another: whole, grown, changed, and not yet written
CREATE TABLE copied (id int, v text) USING sliced WITH (toast_tuple_target = 128);
TRUNCATE t;
ALTER TABLE t ALTER v SET STORAGE extended;
INSERT INTO t SELECT * FROM lz4;
INSERT INTO copied SELECT * FROM t;
SELECT count(*) FILTER (WHERE taken) AS taken FROM compare('copied', 'lz4');
SELECT count(*), bool_and(same) FROM compare('copied', 'lz4');
TRUNCATE copied;
ALTER TABLE copied ALTER v SET COMPRESSION pglz;
INSERT INTO copied SELECT * FROM t;
SELECT count(*), bool_and(same) FROM compare('copied', 'lz4');
ALTER TABLE copied ALTER v SET COMPRESSION default;
-- Slices are copied as they are: one of pglz is longer than we would make it.  What has
-- grown, or has another codec, is compressed anew.
CREATE TABLE source (id int, v text COMPRESSION pglz) USING sliced;
INSERT INTO source SELECT id, v FROM pglz WHERE octet_length(v) > 30000;
CREATE TABLE target (id int, v text COMPRESSION pglz) USING sliced;
CREATE FUNCTION slices(rel regclass) RETURNS TABLE (id int, bytes int, same bool, slices text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT t.id, octet_length(t.v), left(t.v, length(p.v)) = p.v AND length(t.v) - length(p.v) = octet_length(t.v) - octet_length(p.v),'
        ' (SELECT string_agg(raw_bytes || '' '' || codec, '', '' ORDER BY start) FROM sliced.inspect(t.v)) FROM %s t JOIN pglz p USING (id) ORDER BY 1', rel);
END $$;
INSERT INTO target SELECT * FROM source;
UPDATE target SET v = v || 'x' WHERE id > 5;
SELECT * FROM slices('target');
VACUUM FULL target;
SELECT * FROM slices('target');
ALTER TABLE target ALTER v SET COMPRESSION lz4;
VACUUM FULL target;
SELECT * FROM slices('target');
VACUUM FULL target;
SELECT * FROM slices('target');
-- Behind a slice that is longer than ours, none is copied: what is copied need not be converted.
TRUNCATE target;
ALTER TABLE target ALTER v SET COMPRESSION pglz;
INSERT INTO target SELECT id, v FROM pglz WHERE id = 6;
UPDATE target SET v = v || words(40000, 1, :'ascii');
SELECT * FROM slices('target');
SET client_min_messages = warning;
CALL sliced.convert('target');
RESET client_min_messages;
SELECT * FROM slices('target');
\set VERBOSITY terse
CALL sliced.convert('target');
\set VERBOSITY default
TRUNCATE copied;
UPDATE t SET v = v || 'ж' WHERE id % 3 = 1;
UPDATE t SET v = overlay(v placing 'это' from octet_length(v) / 4) WHERE id % 3 = 2;
INSERT INTO copied SELECT * FROM t;
SELECT count(*), bool_and(c.v = t.v), bool_and(length(c.v) = length(t.v)) FROM copied c JOIN t USING (id);
TRUNCATE copied;
DO $$
DECLARE x text;
BEGIN
    FOR i IN 1..16 LOOP
        UPDATE t SET v = v || 'x' WHERE id = i RETURNING v INTO x;
        INSERT INTO copied VALUES (i, x);
        UPDATE t SET v = v || 'y' WHERE id = i;
    END LOOP;
END $$;
SELECT count(*), bool_and(c.v || 'y' = t.v) FROM copied c JOIN t USING (id);
SELECT relname, v.* FROM pg_class c, sliced.verify(c.oid::regclass) v
    WHERE relnamespace = 'taken'::regnamespace AND relkind = 'r' AND relam = (SELECT oid FROM pg_am WHERE amname = 'sliced');
ALTER TABLE moved SET ACCESS METHOD heap;
SELECT bool_and(m.v = changed(o.v)) FROM moved m JOIN lz4 o USING (id);
SET client_min_messages = warning;
DROP SCHEMA taken CASCADE;
