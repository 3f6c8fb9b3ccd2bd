-- What is read of jsonb documents, and how they are stored.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA documents;
SET search_path = documents;
SET default_table_access_method = sliced;
CREATE TABLE t (id int PRIMARY KEY, doc jsonb);
CREATE FUNCTION noise(n int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(sha512(int4send(i))::text, '') FROM generate_series(1, n) i $$;
INSERT INTO t VALUES
    (1, jsonb_build_object('a', 1, 'long', noise(100), 'inner', jsonb_build_object('b', 2, 'text', noise(100), 'c', jsonb_build_array(1, 'two', '{"three": 3}'::jsonb)), 'z', 'end')),
    (2, (SELECT jsonb_object_agg('k' || i, noise(1)) FROM generate_series(1, 200) i)),
    (3, (SELECT jsonb_agg(jsonb_build_object('n', i, 'm', md5(i::text))) FROM generate_series(1, 20000) i)),
    (4, to_jsonb(noise(1000))), (5, (SELECT jsonb_agg(noise(60)) FROM generate_series(1, 100)));

-- short values together, and before the long ones; or in their own order
SELECT id, count(DISTINCT piece) AS pieces, pg_column_size(doc) - sum(raw_bytes) AS in_root,
    min(start) FILTER (WHERE codec <> 'node') AS start FROM t, sliced.inspect(doc) GROUP BY 1 ORDER BY 1;
VACUUM FULL t;
SELECT id, count(DISTINCT piece) AS pieces FROM t, sliced.inspect(doc) GROUP BY 1 ORDER BY 1;
SELECT * FROM sliced.verify('t');

-- are the buffers that it takes to evaluate something at most so many?
CREATE FUNCTION buffers(what text, at_most int, ids int[] = '{1, 2, 3}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE plan json; n int; value int;
BEGIN
    FOREACH value IN ARRAY ids LOOP
        FOR again IN 1 .. 2 LOOP
            EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT %s FROM t WHERE id = %s', what, value) INTO plan;
        END LOOP;
        n := (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
        RETURN NEXT format('%s, %s: %s', value, what, CASE WHEN n <= at_most THEN 'at most ' || at_most ELSE n::text END);
    END LOOP;
END $$;
SET enable_seqscan = off;
SELECT buffers('id', 3);
SELECT buffers($$doc->>'z'$$, 7, '{1}');
SELECT buffers($$doc->'a', doc->'inner'->'b', doc->'inner'->'c'->2->>'three', doc['z'], doc #>> '{inner,c,1}'$$, 7, '{1}');
SELECT buffers($$doc ? 'a', doc ?| '{x,y}', doc ?& '{a,x}', jsonb_typeof(doc->'inner'), jsonb_array_length(doc->'inner'->'c')$$, 7, '{1}');
SELECT buffers($$doc @> '{"a": 1, "inner": {"b": 2}}', doc @? '$.inner.c[2].three', jsonb_path_query_first(doc, '$.z')$$, 7, '{1}');
SELECT buffers($$(SELECT count(*) FROM jsonb_object_keys(doc))$$, 7, '{1}');
SELECT buffers($$length(doc->'inner'->>'text')$$, 18, '{1}');
SELECT buffers($$doc->'k150'$$, 25, '{2}');
SELECT buffers($$doc->15000->>'m', doc->-1, doc #> '{15001,n}', doc @? '$[15002].n'$$, 60, '{3}');
SELECT buffers($$length(doc->>50)$$, 18, '{5}');

-- a document that was changed at many places: short values near the top, and between long ones
INSERT INTO t SELECT 6, jsonb_build_object('id', 7, 'name', 'short', 'state', 'new',
    's', (SELECT jsonb_object_agg('k' || i, jsonb_build_object('t', 'string', 'n', i)) FROM generate_series(1, 400) i),
    'list', (SELECT jsonb_agg(jsonb_build_object('n', i, 'text', md5(i::text), 'more', repeat(md5((-i)::text), 4))) FROM generate_series(1, 100) i));
DO $$ BEGIN FOR i IN 1 .. 40 LOOP
    UPDATE t SET doc = jsonb_set(doc, ARRAY['list', (i * 37 % 100)::text, 'text'], to_jsonb('changed ' || i)) WHERE id = 6;
    COMMIT;
END LOOP; END $$;
VACUUM t;
SELECT buffers($$doc->'id'$$, 9, '{6}');
SELECT buffers($$doc->'id', doc->>'name', doc->'state'$$, 10, '{6}');
SELECT buffers($$doc->'list'->50->>'n'$$, 12, '{6}');
SELECT buffers($$(SELECT sum(length(i::text)) FROM jsonb_array_elements(doc->'list') i)$$, 12, '{6}');
DELETE FROM t WHERE id = 6;

-- the plans of chains keep their operators
RESET enable_seqscan;
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
SELECT plan_of($$SELECT doc->'inner'->'c'->2->>'three', doc['inner']['b'], doc['x'][id] FROM t$$);
SET enable_seqscan = off;
SELECT doc->'inner'->'c'->2->>'three', doc['inner']['b'], doc['inner']['c'][id] FROM t WHERE id = 1;

-- a part of a document that leaves its expression is an ordinary datum
SELECT jsonb_agg(doc->'inner'->'c'), max((doc->'inner'->'c'->0)::int), min(jsonb_pretty(doc->'inner'->'c'->2)) FROM t WHERE id = 1;

-- what was read stays until the statement ends, not longer, and is not read by others
BEGIN;
SELECT doc->'a' FROM t WHERE id = 1;
SAVEPOINT s;
UPDATE t SET doc = jsonb_set(doc, '{a}', '"changed"') WHERE id = 1 RETURNING doc->'a', doc->'inner'->'b';
SELECT doc->'a' FROM t WHERE id = 1;
ROLLBACK TO s;
SELECT doc->'a' FROM t WHERE id = 1;
UPDATE t SET doc = jsonb_set(doc, '{a}', '"otherwise"') WHERE id = 1 RETURNING doc->'a', doc->'inner'->'b';
COMMIT;
SELECT doc->'a' FROM t WHERE id = 1;

-- a document stays while core works on it, whatever that takes
CREATE TABLE big (id int PRIMARY KEY, doc jsonb);
INSERT INTO big SELECT i, jsonb_build_object('a', '{"x": 1}'::jsonb, 'b', repeat('x', 40000000)) FROM generate_series(1, 2) i;
UPDATE big SET doc = doc || '{"x": 1}' WHERE id = 2;
SELECT p.doc->'a' <@ q.doc AS contained FROM big p, big q WHERE p.id = 1 AND q.id = 2;

-- subscripts are evaluated when core would
CREATE TABLE one (x int, doc jsonb);
INSERT INTO one VALUES (0, NULL);
SELECT doc[(SELECT (1 / x)::text FROM one)] IS NULL AS nothing FROM one;
UPDATE one SET doc[NULL] = to_jsonb(1 / x);
UPDATE one SET doc['a'] = to_jsonb(1 / x);
UPDATE one SET doc['a']['b'] = to_jsonb(1 + x) RETURNING doc;

RESET enable_seqscan;
-- beyond an array's end, names that are no numbers, values of other kinds: the same as heap's
CREATE TABLE lists (id int, doc jsonb);
INSERT INTO lists SELECT 1, jsonb_agg(jsonb_build_object('n', i, 'm', md5(i::text))) FROM generate_series(1, 300) i;
INSERT INTO lists SELECT 2, jsonb_build_object('list', doc, 'few', '{"x": [1, {"n": 2}]}'::jsonb) FROM lists;
INSERT INTO lists VALUES (3, to_jsonb(noise(100)));
CREATE TABLE lists_of_heap USING heap AS TABLE lists;
CREATE FUNCTION outcome(query text, relation text, id int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format(query, relation, id) INTO result;
    RAISE '%', result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END $$;
SELECT change, id, s AS outcome, h AS of_heap
FROM unnest(ARRAY['doc - 300', 'doc - (-301)', 'doc #- ''{300}''', 'doc #- ''{300,m}''', 'jsonb_set(doc, ''{300}'', ''1'', false)', 'jsonb_set(doc, ''{-301}'', ''1'')', 'jsonb_set(doc, ''{300,m}'', ''1'')', 'jsonb_insert(doc, ''{300,m}'', ''1'')',
    'jsonb_set(doc, ''{99999999999}'', ''1'')', 'jsonb_set(doc, ''{""}'', ''1'')', 'jsonb_set(doc, ''{1x}'', ''1'')', 'jsonb_set_lax(doc->0, ''{x}'', NULL, true, ''return_target'')', 'jsonb_set_lax(doc->''few'', ''{x}'', NULL, true, ''return_target'')']) change,
    generate_series(1, 2) id, LATERAL (SELECT 'UPDATE %I SET doc = ' || change || ' WHERE id = %s RETURNING length(doc::text) || '' '' || left(md5(doc::text), 6)') q(query),
    outcome(query, 'lists', id) s, outcome(query, 'lists_of_heap', id) h WHERE s <> h;
SELECT change, s AS outcome, h AS of_heap
FROM unnest(ARRAY['[302]', '[-301]', '[300]', '[300][''m'']', '[-301][''m'']', '[-1][''m'']', '[''300'']', '[''x'']']) change, LATERAL (SELECT 'UPDATE %I SET doc' || change || ' = ''1'' WHERE id = %s RETURNING length(doc::text) || '' '' || left(md5(doc::text), 6)') q(query),
    outcome(query, 'lists', 1) s, outcome(query, 'lists_of_heap', 1) h WHERE s <> h;
SELECT expression, id, s AS outcome, h AS of_heap
FROM unnest(ARRAY['doc #>> ''{99999999999}''', 'doc #>> ''{""}''', 'doc #>> ''{1x}''', 'doc #>> ''{-300,n}''', 'doc[NULL::int]', 'jsonb_array_length(doc)', 'jsonb_typeof(doc)', '(SELECT string_agg(j::text, '' '') FROM jsonb_path_query(doc->''few'', ''$.x[*]'') j)',
    '(SELECT count(*) FROM jsonb_path_query(doc, ''$'') j)', 'jsonb_path_query_first(doc, ''$[1 to 2].n'')', 'jsonb_path_query_array(doc, ''$[1, 2].n'')', 'jsonb_path_query_array(doc, ''$[1.7].n'')', 'jsonb_path_query_array(doc, ''$[last].n'')', 'jsonb_path_query_array(doc, ''$[1 + 1].n'')',
    'jsonb_path_query_array(doc, ''$[-1].n'')', 'jsonb_path_query_array(doc, ''$[3000000000].n'')', 'jsonb_path_query_array(doc, ''$.size()'')', 'jsonb_path_query_array(doc, ''$.type()'')', 'jsonb_path_query_array(doc, ''$.few.x[1].n'')', 'jsonb_path_query_array(doc, ''$.few[0].x'')', 'jsonb_path_query_array(doc, ''strict $.few[0].x'')']) expression,
    generate_series(1, 3) id, LATERAL (SELECT 'SELECT ' || expression || ' FROM %I WHERE id = %s') q(query),
    outcome(query, 'lists', id) s, outcome(query, 'lists_of_heap', id) h WHERE s <> h;
-- longer than a document may be
\set VERBOSITY sqlstate
UPDATE big SET doc = jsonb_build_object('a', doc, 'b', doc, 'c', doc, 'd', doc, 'e', doc, 'f', doc, 'g', doc) WHERE id = 1;
UPDATE big SET doc = jsonb_build_object('u', doc, 'v', doc, 'w', doc, 'x', doc, 'y', doc, 'z', doc) || doc WHERE id = 1;
\set VERBOSITY default

-- what returns its argument as it is returns a value that is stored, and may be taken back
BEGIN;
SAVEPOINT s;
UPDATE lists SET doc = doc - 'list' || '{"list": [1]}' || jsonb_build_object('text', noise(60)) WHERE id = 2;
UPDATE lists SET doc = doc - 'few' WHERE id = 2;
UPDATE lists SET doc = doc - 'none' - 'list' WHERE id = 2;
SELECT doc - 'text', length(doc->>'text') FROM lists WHERE id = 2;
ROLLBACK TO s;
UPDATE lists SET doc = doc - 'none' - 'list' WHERE id = 2;
SELECT doc FROM lists WHERE id = 2;
COMMIT;
SELECT * FROM sliced.verify('lists');
DROP TABLE lists, lists_of_heap;
-- bytes that are no jsonb, in a value that is not ours
CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION;
UPDATE t SET doc = doc || '\x'::bytea::jsonb WHERE id = 3;
UPDATE t SET doc = doc || '\x00000050'::bytea::jsonb WHERE id = 3;
UPDATE t SET doc = doc || '\x010000400500000001'::bytea::jsonb WHERE id = 3;
DROP CAST (bytea AS jsonb);

-- so deep that our own way would take more stack, or memory, than core's
CREATE TABLE deep (doc jsonb);
INSERT INTO deep VALUES ((repeat('{"a":', 5500) || '1' || repeat('}', 5500))::jsonb);
UPDATE deep SET doc = jsonb_set(doc, array_fill('a'::text, ARRAY[5500]), '"much longer"');
UPDATE deep SET doc = jsonb_insert(doc, array_fill('a'::text, ARRAY[3000]) || '{b}', '2');
UPDATE deep SET doc = doc #- (array_fill('a'::text, ARRAY[100]) || '{b}') || '{"c": 3}';
SELECT length(doc::text), doc #> array_fill('a'::text, ARRAY[5500]) AS innermost, doc->'c' AS c FROM deep;

-- so many changes that little is left of what is between them
CREATE TABLE much (id int, doc jsonb);
CREATE TABLE core USING heap AS SELECT jsonb_object_agg('k' || i * 2, repeat(md5(i::text), 5)) AS doc FROM generate_series(1, 5000) i;
INSERT INTO much SELECT id, doc FROM core, generate_series(1, 3) id;
UPDATE much SET doc = doc || (SELECT jsonb_object_agg('k' || i * 3, repeat('x', i % 200)) FROM generate_series(1, 2500) i) WHERE id = 1;
UPDATE much SET doc = doc - (SELECT array_agg('k' || i * 6) FROM generate_series(1, 1000) i) WHERE id = 2;
UPDATE much SET doc = replace(doc::text, '8f1', 'a word')::jsonb WHERE id = 3;
SELECT id, much.doc::text = (CASE id WHEN 1 THEN core.doc || (SELECT jsonb_object_agg('k' || i * 3, repeat('x', i % 200)) FROM generate_series(1, 2500) i)
    WHEN 2 THEN core.doc - (SELECT array_agg('k' || i * 6) FROM generate_series(1, 1000) i)
    ELSE replace(core.doc::text, '8f1', 'a word')::jsonb END)::text AS same FROM much, core ORDER BY id;

-- subscripts of paths that are calculated; subscripts that are NULL, beside a new value that is not evaluated then
CREATE TABLE looked_at (id int, doc jsonb);
INSERT INTO looked_at SELECT 1, jsonb_build_object('list', jsonb_agg(md5(i::text)), 'n', 1) FROM generate_series(1, 1000) i;
INSERT INTO looked_at SELECT 2, to_jsonb(string_agg(md5(i::text), '')) FROM generate_series(1, 300) i;
CREATE TABLE looked_at_in_core USING heap AS TABLE looked_at;
SELECT path, jsonb_path_query_array(t.doc, path) = jsonb_path_query_array(c.doc, path) AS same, jsonb_array_length(jsonb_path_query_array(t.doc, path))
    FROM looked_at t, looked_at_in_core c, unnest(ARRAY['$.list[(1.7).floor()]', '$.list[1, (2.7).ceiling(), (-3).abs() to 9]', '$.list[last - 1]']::jsonpath[]) path WHERE t.id = 1 AND c.id = 1;
CREATE FUNCTION evaluated() RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'evaluated'; RETURN '7'; END $$;
UPDATE looked_at SET doc[NULL] = evaluated() WHERE id = 1;
UPDATE looked_at_in_core SET doc[NULL] = evaluated() WHERE id = 1;
-- a text becomes the first element
UPDATE looked_at SET doc = doc || '1' WHERE id = 2;
UPDATE looked_at_in_core SET doc = doc || '1' WHERE id = 2;
-- a list is replaced by a much shorter one, a much longer one, and one like it
CREATE FUNCTION list(n int, seed text) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_agg(md5(seed || i)) FROM generate_series(1, n) i $$;
SELECT format('UPDATE %s SET doc = jsonb_set(doc, ''{list}'', list(%s, '''')) WHERE id = 1', tab, n) FROM unnest(ARRAY[120, 900, 910]) n, unnest(ARRAY['looked_at', 'looked_at_in_core']) tab
\gexec
UPDATE looked_at SET doc = jsonb_set(doc, '{n}', list(200, 'n')) WHERE id = 1;
UPDATE looked_at_in_core SET doc = jsonb_set(doc, '{n}', list(200, 'n')) WHERE id = 1;
SELECT id, t.doc = c.doc AS same, jsonb_typeof(t.doc), jsonb_array_length(t.doc->'list') FROM looked_at t JOIN looked_at_in_core c USING (id) ORDER BY 1;

-- functions that nobody should call by name
SELECT sliced_functions.edit_jsonb_subscript('{}', '1', true, VARIADIC NULL::text[]);
SELECT sliced_functions.edit_jsonb_subscript('{}', '1', true, VARIADIC '{}'::text[]);
SELECT sliced_functions.edit_jsonb_subscript('{}', NULL, false, 'a');
SELECT sliced_functions.edit_jsonb_subscript(NULL, NULL, NULL, NULL), sliced_functions.edit_jsonb_set_lax(NULL, NULL, NULL, NULL, NULL);
SET client_min_messages = warning;
DROP SCHEMA documents CASCADE;
