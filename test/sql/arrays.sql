-- Arrays: what plans call, and what reading and changing a part costs.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
CREATE TYPE pair AS (x int, y int[]);
CREATE DOMAIN list AS int[];
CREATE TABLE arrays (id int PRIMARY KEY, n int, i int[], f float8[], t text[], z int[], m int[], v varchar(20)[], l list, p pair[]) USING sliced;
INSERT INTO arrays SELECT 1, 0, a, ARRAY(SELECT sqrt(x) FROM unnest(a) x), a, ARRAY(SELECT nullif(x, 7) FROM unnest(a) x), ARRAY[a, a], '{a}', a, '{"(1,)"}' FROM (SELECT array_agg(x * 7919 % 1000003) AS a FROM generate_series(1, 200000) x) s;

-- subscripts are evaluated only if there is an array, in reading, and new values only if no subscript is NULL
-- (19 calls the nth SubPlan expr_n)
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        RETURN NEXT replace(line, 'SubPlan expr_', 'SubPlan ');
    END LOOP;
END $$;
SELECT plan('SELECT i[5], i[id], i[n + 1], m[1][id], i[2:3], i[:id], m[1:1][n + 1:], (SELECT i)[5], (SELECT i)[n + 1], array_length(i, 1), l[5] FROM arrays');
EXPLAIN (VERBOSE, COSTS OFF) UPDATE arrays SET i[5] = 1, f[n] = 1, t[n] = t[n + 1], z[n:5] = m, m[1][2] = n / 0, l[3] = 4, p[1].x = 5;
CREATE TABLE missing (n int, m int, i int[]) USING sliced;
INSERT INTO missing VALUES (0, NULL, NULL);
SELECT i[1 / n], i[1 / n:], i[:1 / n][1 / n] FROM missing;
UPDATE missing SET i[1 / n] = 5;
UPDATE missing SET i[m] = 1 / n;
UPDATE missing SET i[m:1 / n] = '{1}';
UPDATE missing SET i[m + 1:2] = ARRAY[1 / n];
UPDATE missing SET i[2] = 5, i[4:5] = '{1,2}' RETURNING i;
DROP TABLE missing;
-- a field of an element is assigned: core puts in the old element, also if its type is a domain, with constraints or without
CREATE DOMAIN any_pair AS pair;
CREATE DOMAIN some_pair AS any_pair CHECK ((VALUE).x > 0);
CREATE TABLE fields (p pair[], a any_pair[], s some_pair[]) USING sliced;
INSERT INTO fields VALUES ('{"(1,{2})"}', '{"(1,{2})"}', '{"(1,{2})"}');
UPDATE fields SET p[1].x = 5, a[1].x = 5, s[1].x = 5 RETURNING *;
UPDATE fields SET p[1].y[1] = 6, a[1].y[1] = 6, s[1].y[1] = 6, p[1].x = 7, a[1].x = 7, s[1].x = 7 RETURNING *;
DROP TABLE fields;
DROP DOMAIN any_pair CASCADE;
-- other types have subscripts that work in other ways, but for vectors, whose subscripts core takes for those of arrays
EXPLAIN (VERBOSE, COSTS OFF) SELECT indkey[0], (point '(1,2)')[0], ('name'::name)[0] FROM arrays, pg_index;
-- the type of an element is varchar(20), not any
CREATE TABLE taken AS SELECT v[1], v[n + 1] AS v2, v[1:1] AS vs FROM arrays;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'taken'::regclass AND attnum > 0 ORDER BY attnum;
DROP TABLE taken;

-- who calls our functions by hand
SELECT sliced_functions.array_element('{1,2,3}'::int[], 2), sliced_functions.array_element('{{1,2},{3,4}}'::int[], '{2,1}'), sliced_functions.array_slice('{1,2,3}'::int[], '{2,0}', 1),
    sliced_functions.edit_array_element(NULL::int[], '{3}', 1), sliced_functions.edit_array_slice('{1,2,3}'::int[], '{2,1}', 3, '{5,6}');
SELECT sliced_functions.array_element('{1,2,3}'::int[], '{}'::int[]);
SELECT sliced_functions.array_slice('{1,2,3}'::int[], '{1,2,3}', 0);
SELECT sliced_functions.edit_array_element('{1,2,3}'::int[], NULL, 5);
SELECT sliced_functions.edit_array_slice('{1,2,3}'::int[], '{1,NULL}', 1, '{5}');
SELECT sliced_functions.array_subscripts('{1,NULL}');

SELECT sliced_functions.array_slice(array_in('{1,2,3}', 23, -1), '{2,1}', 3);

-- at the edges of what an array may be: the same as heap's
CREATE TABLE edges (i int[], m int[], o oid[], low int[], high int[]) USING sliced;
INSERT INTO edges SELECT a, ARRAY[a, a], array_replace(a, 7919, NULL)::oid[], ('[-2147483648:-2147463649]=' || a::text)::int[], ('[2147463647:2147483646]=' || a::text)::int[]
    FROM (SELECT array_agg(x * 7919 % 1000003) AS a FROM generate_series(1, 20000) x) s;
CREATE TABLE edges_of_heap USING heap AS TABLE edges;
CREATE FUNCTION outcome(change text, relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('UPDATE %I e SET %s RETURNING concat_ws('' '', array_dims(i), array_dims(m), array_dims(o), array_dims(low), array_dims(high), left(md5(e::text), 6))', relation, change) INTO result;
    RAISE '%', result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END $$;
SELECT change, s AS outcome, h AS of_heap
FROM unnest(ARRAY['i[134217728] = 1', 'i[200000000] = 1', 'i[200000000:200000001] = ''{1,2}''', 'i[2:3] = NULL', 'low = 5 || low', 'high = high || 5', 'high = high || ''{5,6}''', 'm = i || m', 'm = m || i', 'i = i || m',
    'i = i || ARRAY[m]', 'm = NULL::int[] || m', 'o = o || ''''::oidvector::oid[]', 'o = ''''::oidvector::oid[] || o', 'i[2] = CASE i[3] WHEN 5 THEN 6 WHEN 23757 THEN 8 END']) change,
    outcome(change, 'edges') s, outcome(change, 'edges_of_heap') h WHERE s <> h;
DROP TABLE edges, edges_of_heap;
DROP FUNCTION outcome;

-- bytes that are no array: of the elements of a text[], or of the numbers before them, some are wrong
CREATE FUNCTION texts(bytea, bytea) RETURNS text[] LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION numbers(bytea, bytea) RETURNS int[] LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION result(expression text, id int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT (%s)::text FROM damaged WHERE id = %s', expression, id) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN regexp_replace(SQLERRM, 'value [0-9]+', 'value N');
END $$;
CREATE TABLE damaged (id int, what text, t text[], i int[]) USING sliced;
ALTER TABLE damaged ALTER t SET STORAGE EXTERNAL, ALTER i SET STORAGE EXTERNAL;
INSERT INTO damaged SELECT n, what, texts(decode(header || element, 'hex'), convert_to(repeat('junk ', 1000), 'UTF8'))
FROM (VALUES (1, 'sound', '01000000 00000000 19000000 02000000 01000000', '096f6e65 0974776f'),
    (2, 'seven dimensions', '07000000 00000000 19000000 02000000 01000000', '096f6e65 0974776f'),
    (3, 'fewer than none', 'ffffffff 00000000 19000000 02000000 01000000', '096f6e65 0974776f'),
    (4, 'no such type', '01000000 00000000 ffffffff 02000000 01000000', '096f6e65 0974776f'),
    (5, 'elements are cstrings', '01000000 00000000 e3080000 02000000 01000000', '096f6e65 0974776f'),
    (6, 'elements are numbers', '01000000 00000000 17000000 02000000 01000000', '096f6e65 0974776f'),
    (0, 'elements are varchars', '01000000 00000000 13040000 02000000 01000000', '096f6e65 0974776f'),
    (7, 'an element is a pointer', '01000000 00000000 19000000 02000000 01000000', '01126565 0974776f'),
    (8, 'an element without length', '01000000 00000000 19000000 02000000 01000000', '00000000 0974776f'),
    (9, 'an element beyond the end', '01000000 00000000 19000000 02000000 01000000', 'fcffff3f 0974776f')) v(n, what, header, element);
-- of 8000 numbers there are 3000
INSERT INTO damaged SELECT 10, 'numbers are missing', NULL, numbers(decode('01000000 00040000 17000000 401f0000 01000000', 'hex'), decode(repeat('ff', 1000) || repeat('05000000', 3000), 'hex'));
SELECT id, what, result('t[2]', id) FROM damaged WHERE id < 10 ORDER BY id;
SELECT item, result(format('i[%s]', item), 10) FROM unnest('{20,3500,4851,7990}'::int[]) item;
UPDATE damaged SET t = t || '{three}'::text[] WHERE id = 0;
DROP TABLE damaged;
DROP FUNCTION texts, numbers, result;

-- buffers: a few descents and rows, of a value of a hundred pages and more
CREATE FUNCTION buffers(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    FOR i IN 1 .. 2 LOOP        -- the first looks into catalogs too
        EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    END LOOP;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
SELECT expression FROM unnest(ARRAY['array_length(i, 1)', 'cardinality(f)', 'array_dims(m)', 'array_upper(t, 1)', 'i[100000]', 'f[199999]', 'm[2][5]', 'z[150000]', 'i[100000:100100]', 'm[2:2][7:9]', 't[1]', 't[100:200]',
    '(SELECT sum(i[x]) FROM generate_series(100000, 100020) x)']) expression WHERE buffers('SELECT ' || expression || ' FROM arrays') > 16;
-- elements of different lengths: what has been walked over stays in memory while the statement lasts
SELECT buffers('SELECT count(t[x]) FROM arrays, generate_series(1, 200000, 1000) x') < 1000 AS read_once;

-- WAL, without that of commit (34): medians, because merges add to some
CREATE PROCEDURE costs(statement text, at_most int, times int) LANGUAGE plpgsql AS $$
DECLARE plan json; measured int[]; median int;
BEGIN
    FOR k IN 1 .. times LOOP
        EXECUTE 'EXPLAIN (ANALYZE, WAL, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
        COMMIT;
        measured := measured || (plan->0->'Plan'->>'WAL Bytes')::int;
    END LOOP;
    median := percentile_disc(0.5) WITHIN GROUP (ORDER BY m) FROM unnest(measured) m;
    RAISE NOTICE '%: %', statement, CASE WHEN median <= at_most THEN 'at most ' || at_most ELSE median || ': ' || measured::text END;
END $$;
CHECKPOINT;
SET client_min_messages = notice;
CALL costs('UPDATE arrays SET i[100000] = random() * 100', 1000, 9);
CALL costs('UPDATE arrays SET f[100000] = f[5] + 1', 1000, 9);
CALL costs('UPDATE arrays SET i = i || n', 1000, 21);
CALL costs('UPDATE arrays SET f = array_append(f, 0.5)', 1000, 21);
CALL costs('UPDATE arrays SET f[200100:200102] = ''{1,NULL,3}''', 40000, 1);
CALL costs('UPDATE arrays SET f = f || NULL::float8', 1000, 21);
CALL costs('UPDATE arrays SET f = 0.5::float8 || f', 40000, 9);
CALL costs('UPDATE arrays SET t = t || ''x''::text', 1000, 21);
CALL costs('UPDATE arrays SET t[300] = repeat(''x'', n)', 1000, 9);
CALL costs('UPDATE arrays SET t = ''{x,y}'' || t', 1000, 9);
CALL costs('UPDATE arrays SET z[5] = 100', 1000, 9);
CALL costs('UPDATE arrays SET z[500] = NULL', 1000, 9);
CALL costs('UPDATE arrays SET z[300:310] = z[5:15]', 1000, 9);
CALL costs('UPDATE arrays SET m[2][77] = 5', 1000, 9);
CALL costs('UPDATE arrays SET l = l || 5', 1000, 9);
CALL costs('UPDATE arrays SET i = i', 150, 5);

-- what applications send
CREATE TABLE sent AS SELECT i, f, t, z FROM arrays;
UPDATE sent SET i = i[:1000] || 5 || i[1001:70000] || i[70010:], f = f[2:] || 7::float8, t = t[:100] || 'new'::text || t[101:150000] || t[150002:];
CALL costs('UPDATE arrays SET i = sent.i FROM sent', 1500, 1);
CALL costs('UPDATE arrays SET f = sent.f FROM sent', 40000, 1);
CALL costs('UPDATE arrays SET t = sent.t FROM sent', 1500, 1);
SELECT a.i = s.i, a.f = s.f, a.t = s.t FROM arrays a, sent s;

-- a variable of PL/pgSQL, which is an expanded array; and one that is a promise
DO $$ DECLARE a int[]; b int[]; BEGIN
    UPDATE arrays SET i[3] = 33 RETURNING i INTO a;
    a[4] := a[3] + 1;
    UPDATE arrays SET i = a || 5, l = a RETURNING i INTO b;
    b[5] := 55;
    UPDATE arrays SET i[6:7] = b[4:5];
END $$;
SELECT i[1:9], l[4], cardinality(i) - cardinality(l) AS one FROM arrays;
SELECT * FROM sliced.verify('arrays');
-- arrays whose bytes say something else: fewer dimensions than none, elements of a type that has another shape, or the same
CREATE TABLE others (id int, i int[], b int8[], t text[]) USING sliced;
ALTER TABLE others ALTER i SET STORAGE external, ALTER b SET STORAGE external, ALTER t SET STORAGE external;
CREATE FUNCTION bytes(int[], bytea DEFAULT '') RETURNS bytea LANGUAGE internal AS 'byteacat';
CREATE FUNCTION bytes(int8[], bytea DEFAULT '') RETURNS bytea LANGUAGE internal AS 'byteacat';
CREATE FUNCTION bytes(text[], bytea DEFAULT '') RETURNS bytea LANGUAGE internal AS 'byteacat';
CREATE FUNCTION ints(bytea, bytea DEFAULT '') RETURNS int[] LANGUAGE internal AS 'byteacat';
CREATE FUNCTION bigints(bytea, bytea DEFAULT '') RETURNS int8[] LANGUAGE internal AS 'byteacat';
CREATE FUNCTION texts(bytea, bytea DEFAULT '') RETURNS text[] LANGUAGE internal AS 'byteacat';
CREATE FUNCTION with_type(array_bytes bytea, type regtype) RETURNS bytea LANGUAGE sql AS $$
    SELECT overlay(array_bytes PLACING set_byte(set_byte('\x00000000', 0, type::oid::int & 255), 1, type::oid::int >> 8) FROM 9) $$;
INSERT INTO others SELECT 1, ints(overlay(bytes(i) PLACING '\xffffffff'::bytea FROM 1)), bigints(with_type(bytes(b), 'macaddr8')), texts(with_type(bytes(t), 'path'))
    FROM (SELECT array_agg(n) AS i, array_agg(n::int8) AS b, array_agg(md5(n::text)) AS t FROM generate_series(1, 3000) n) a;
INSERT INTO others SELECT 2, ints(with_type(bytes(array_agg(n)), 'date')) FROM generate_series(1, 3000) n;
CREATE TABLE core USING heap AS SELECT * FROM others WHERE id = 2;
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN regexp_replace(SQLERRM, 'value \d+', 'value N');
END $$;
SELECT statement, error_of(statement) FROM unnest(ARRAY['SELECT i[5] FROM others WHERE id = 1', 'SELECT b[5] FROM others WHERE id = 1', 'SELECT t[5] FROM others WHERE id = 1',
    'UPDATE others SET i = i || 5 WHERE id = 1', 'UPDATE others SET b = b || ARRAY[5, 6]::int8[] WHERE id = 1', 'UPDATE others SET t = ARRAY[''5'', ''6''] || t WHERE id = 1',
    'UPDATE others SET i = i || ARRAY[5, 6] WHERE id = 2', 'UPDATE core SET i = i || ARRAY[5, 6]', 'UPDATE others SET i = ARRAY[5, 6] || i WHERE id = 2', 'UPDATE core SET i = ARRAY[5, 6] || i']) statement;
DROP TABLE others, core;
DROP FUNCTION bytes(int[], bytea), bytes(int8[], bytea), bytes(text[], bytea), ints, bigints, texts, with_type, error_of;
DROP TABLE arrays, sent;
DROP PROCEDURE costs;
DROP FUNCTION buffers;
DROP DOMAIN list;
DROP TYPE pair;
