-- hstores in a sliced table: the same rows as from heap, from a part of the value.
SET client_min_messages = warning;
CREATE EXTENSION sliced_hstore CASCADE;
RESET client_min_messages;
SELECT name, type, extension, is_default FROM sliced.toasters WHERE extension = 'sliced_hstore';
SELECT function, exchanged_by, works, why FROM sliced.toaster_functions WHERE toaster = 'hstore' ORDER BY function COLLATE "C";

CREATE TABLE in_heap (id int PRIMARY KEY, h hstore) USING heap;
CREATE TABLE in_slices (id int PRIMARY KEY, h hstore) USING sliced;
-- 2000 short values, three long ones, and NULLs
INSERT INTO in_heap SELECT 1, hstore(array_agg('key' || i), array_agg(CASE WHEN i % 9 > 0 THEN 'value ' || i END))
        || hstore(ARRAY['long', 'longer', 'z'], ARRAY[repeat('long ', 2000), (SELECT string_agg(md5(j::text), '') FROM generate_series(1, 20000) j), NULL])
    FROM generate_series(1, 2000) i;
INSERT INTO in_heap VALUES (2, ''), (3, NULL), (4, 'a=>1, b=>NULL');
-- one of the format before PostgreSQL 9.0
CREATE CAST (bytea AS hstore) WITHOUT FUNCTION;
INSERT INTO in_heap SELECT 5, ('\x0200000001000050000000000100000003a00000'::bytea || 'a' || convert_to(string_agg(md5(i::text), ''), 'SQL_ASCII') || 'b')::hstore
    FROM generate_series(1, 640) i;
INSERT INTO in_slices TABLE in_heap;
SELECT hstore_version_diag(s.h), length(s.h -> 'a'), s.h ? 'b' AS b, count(*) AS slices FROM in_slices s, sliced.inspect(h) WHERE id = 5 GROUP BY 1, 2, 3;

-- the same expression of both tables; an error's text is the result as well
CREATE FUNCTION result(expression text, relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(coalesce((%s)::text, ''NULL''), ''; '' ORDER BY id) FROM %I', expression, relation) INTO result;
    RETURN left(result, 100) || CASE WHEN length(result) > 100 THEN ' ... ' || md5(result) ELSE '' END;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END $$;
-- the hash is of all bytes, also those that hstore_send() does not show
CREATE FUNCTION change(expression text, relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('UPDATE %I SET %s', relation, expression);
    EXECUTE format('SELECT string_agg(coalesce(hstore_hash_extended(h, 0)::text, ''NULL''), ''; '' ORDER BY id) FROM %I', relation) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN 'error: ' || SQLERRM;
END $$;

-- each function of ours is compared with hstore's by itself as well
SET sliced.check_toasters = on;
\pset format unaligned
\pset tuples_only on
SELECT e, CASE WHEN result(e, 'in_slices') = result(e, 'in_heap') THEN result(e, 'in_heap') ELSE 'DIFFERENT: ' || result(e, 'in_slices') END
FROM (VALUES ('h -> ''key7'''), ('h -> ''key9'''), ('h -> ''none'''), ('h -> ''longer'''), ('h -> ''z'''), ('h -> NULL'),
    ('h -> ARRAY[''key1'', ''none'', ''key2000'', NULL, ''key1'']'), ('h -> ''{{key1,a},{b,key3}}''::text[]'), ('h -> ''{}''::text[]'),
    ('slice(h, ARRAY[''key1'', ''key9'', ''none''])'), ('h ? ''key9'''), ('exist(h, ''none'')'), ('isexists(h, ''a'')'), ('defined(h, ''key9'')'), ('isdefined(h, ''key10'')'),
    ('h ?| ARRAY[''none'', ''key1'']'), ('h ?& ARRAY[''key1'', ''key2000'']'), ('h ?& ARRAY[''key1'', ''none'']'), ('h ?& ''{}''::text[]'), ('h ?| ''{}''::text[]'), ('h ?| NULL'),
    ('h @> ''key1=>"value 1", key9=>NULL'''), ('h @> ''key1=>"value 2"'''), ('''a=>1'' <@ h'), ('h @> ''a=>1'''), ('h <@ ''a=>1, b=>NULL, c=>3'''), ('h[''key7'']'), ('h[''none'']'), ('h[NULL]'),
    ('h[''key'' || id]'), ('(h || ''key7=>x'') -> ''key7'''), ('h -> ARRAY[h -> ''a'', ''b'']')) v(e);

SELECT e, CASE WHEN s.outcome <> h.outcome THEN 'DIFFERENT: ' || s.outcome WHEN s.outcome ~ 'error' THEN s.outcome ELSE 'the same' END
FROM (VALUES ('h = h || ''key7=>seven'''), ('h = h || ''key7=>seven'''), ('h = h || ''new=>1, aaaa=>NULL, zzzzzzzzzzzzz=>3'''), ('h = ''first=>1, key1=>mine'' || h'), ('h = h || ''''::hstore'),
    ('h[''key5''] = ''five'''), ('h[''key5''] = NULL, h[''key6''] = ''six'''), ('h[NULL] = ''x'''), ('h = delete(h, ''key11'')'), ('h = h - ''none''::text'), ('h = h - ARRAY[''key12'', ''none'', NULL, ''key13'']'),
    ('h = h - ''key14=>"value 14", key15=>"no", key18=>NULL''::hstore'), ('h = h - ''key99''::text || ''key99=>back'''), ('h = (h || ''y=>1'') || hstore(''z'', h -> ''key1'')'), ('h = h || h'), ('h = h || ''""=>NULL'''), ('h = h - ''''::text'), ('h = ''""=>""'' || h'), ('h = h - ''""=>""''::hstore'),
    ('h = h || ''longer=>short'''), ('h = slice(h, ARRAY[''key1'', ''key2'']) || h'), ('h = CASE WHEN h ? ''key1'' THEN h - ''key1''::text ELSE h END'),
    ('h = (SELECT hstore(array_agg(k), array_agg(v)) FROM each(h) s(k, v) WHERE k <> ''key20'')')) v(e),
    change(e, 'in_slices') s(outcome), change(e, 'in_heap') h(outcome);
-- functions of hstore that are dropped or replaced meanwhile are not compared
CREATE FUNCTION replaced() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    ALTER EXTENSION hstore DROP FUNCTION isexists(hstore, text);
    DROP FUNCTION isexists(hstore, text);
    ALTER FUNCTION exist(hstore, text) CALLED ON NULL INPUT;
    RETURN true;
END $$;
BEGIN;
SELECT exist(h, 'key7') FROM in_slices WHERE id = 1 AND replaced();
ROLLBACK;
DROP FUNCTION replaced;
RESET sliced.check_toasters;
-- functions of those names in SQL, and in other schemas, are not exchanged
CREATE SCHEMA other;
CREATE FUNCTION other.slice(hstore, text[]) RETURNS hstore LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION slice(hstore, int) RETURNS hstore LANGUAGE sql AS 'SELECT $1';
SELECT function, exchanged_by, works, why FROM sliced.toaster_functions WHERE toaster = 'hstore' AND function ~ 'slice' ORDER BY function COLLATE "C";
DROP FUNCTION slice(hstore, int), other.slice(hstore, text[]);
DROP SCHEMA other;
SELECT * FROM sliced.verify('in_slices');
\pset tuples_only off

-- bytes that are no hstore: stored and read like any others
CREATE CAST (hstore AS bytea) WITHOUT FUNCTION;
CREATE TABLE broken (id int, h hstore) USING sliced;
INSERT INTO broken SELECT n, (decode(start, 'hex') || decode((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 2000) i), 'hex'))::hstore
    FROM (VALUES (1, '02000080ffff0080ffff00000000000000000000'), (2, 'ffffffff'), (3, '02000080')) v(n, start);
-- one that goes on behind its end, and one with long values that follow each other
INSERT INTO broken SELECT n, (decode(start, 'hex') || decode((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 2000) i), 'hex'))::hstore
    FROM (VALUES (4, '010000800100008002000000'), (5, '0200008000000080803e0000803e0000007d0000')) v(n, start);
SELECT id, octet_length(h -> '') FROM broken WHERE id = 5;
UPDATE broken SET h = (h::bytea || '!')::hstore;
SELECT id, length(h::bytea), right(md5(h::bytea), 4) FROM broken;
UPDATE broken SET h = hstore('a', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i)) WHERE id = 1;
SELECT id, md5(h -> 'a') = md5((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i)) AS same FROM broken WHERE id = 1;
SELECT * FROM sliced.verify('broken');
DROP TABLE broken;
DROP CAST (bytea AS hstore);
DROP CAST (hstore AS bytea);
-- what plans call
-- a plan without what EXPLAIN adds from 18 on (test/t/232_statistics.sh)
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        IF line !~ '^ *Operators on Parts' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;
SELECT plan_of($$SELECT h['a'], slice(h, '{a}') FROM in_slices WHERE h ? 'a'$$);
SELECT plan_of($$UPDATE in_slices SET h['a'] = 'x', h['b'] = h -> 'c' WHERE id = 1$$);
-- in other schemas
CREATE SCHEMA elsewhere;
ALTER EXTENSION sliced_hstore SET SCHEMA elsewhere;
CREATE SCHEMA theirs;
ALTER EXTENSION hstore SET SCHEMA theirs;
SET search_path = public, theirs;
EXPLAIN (VERBOSE, COSTS OFF) SELECT slice(h, '{a}') FROM in_slices;

-- one of our functions has gone
ALTER EXTENSION sliced_hstore DROP FUNCTION elsewhere.sliced_hstore_fetchval(hstore, text);
DROP FUNCTION elsewhere.sliced_hstore_fetchval(hstore, text);
EXPLAIN (VERBOSE, COSTS OFF) SELECT h['a'] FROM in_slices;

-- bytes stay when the toaster goes
CREATE TABLE before AS SELECT id, md5(hstore_send(h)) FROM in_slices;
DROP EXTENSION sliced_hstore;
SELECT count(*) FROM before b JOIN in_slices s USING (id) WHERE b.md5 IS DISTINCT FROM md5(hstore_send(h));
EXPLAIN (VERBOSE, COSTS OFF) SELECT slice(h, '{a}') FROM in_slices;
DROP TABLE in_heap, in_slices, before;
DROP EXTENSION hstore;
DROP SCHEMA elsewhere, theirs;
