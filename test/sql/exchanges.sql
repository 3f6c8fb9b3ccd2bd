-- Which functions toasters exchange, and why some are not; comparing them with core's.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
CREATE SCHEMA exch;
SET search_path = exch;
\set VERBOSITY terse

-- all of ours work, on every major
SELECT toaster, count(*), bool_and(works), count(why) FROM sliced.toaster_functions GROUP BY toaster ORDER BY toaster COLLATE "C";

-- a toaster of another schema finds no functions there, or ones that do not fit
CREATE FUNCTION mine_toaster(text) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_text_toaster';
CREATE FUNCTION text_length(text) RETURNS int LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_text_length';
CREATE FUNCTION text_substr(text, int, int) RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_text_substr';
CREATE FUNCTION text_substr(text, int) RETURNS text LANGUAGE c STRICT STABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_text_substr_no_len';
CREATE FUNCTION text_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE PARALLEL RESTRICTED AS '$libdir/pg_sliced', 'sliced_text_right';
CREATE FUNCTION edit_textcat(text, text) RETURNS varchar LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_textcat';
CREATE FUNCTION edit_overlay(text, text, int, int) RETURNS text LANGUAGE sql STRICT IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION edit_overlay(text, text, int) RETURNS SETOF text LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_text_overlay_no_len';
CREATE FUNCTION edit_left(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_text_left';
REVOKE EXECUTE ON FUNCTION edit_left FROM PUBLIC;
CREATE FUNCTION edit_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_text_right';
CREATE PROCEDURE edit_varchar(varchar, int, bool) LANGUAGE sql AS 'SELECT 1';
SELECT function, exchanged_by, works, why FROM sliced.toaster_functions WHERE toaster = 'mine' ORDER BY function COLLATE "C", exchanged_by COLLATE "C";
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.length(text) FROM PUBLIC;
SELECT works, why FROM sliced.toaster_functions WHERE toaster = 'mine' AND function = 'length(text)';
ROLLBACK;
-- ours are no more volatile than core's, no less safe in workers, and STRICT or sets where those are
BEGIN;
ALTER FUNCTION text_substr(text, int) VOLATILE;
ALTER FUNCTION pg_catalog.substr(text, int) STABLE;
ALTER FUNCTION text_right(text, int) PARALLEL UNSAFE;
ALTER FUNCTION pg_catalog.right(text, int) PARALLEL RESTRICTED;
ALTER FUNCTION pg_catalog.left(text, int) CALLED ON NULL INPUT;
ALTER FUNCTION pg_catalog.length(text) VOLATILE;
CREATE FUNCTION keys_toaster(jsonb) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_jsonb_toaster';
CREATE FUNCTION jsonb_object_keys(jsonb) RETURNS text LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_jsonb_object_keys';
SELECT function, exchanged_by, works, why FROM sliced.toaster_functions
    WHERE toaster IN ('mine', 'keys') AND function ~ '^(substr.text,integer.$|"right"|"left"|length.text.|jsonb_object_keys)' ORDER BY function COLLATE "C", exchanged_by COLLATE "C";
ROLLBACK;
-- of several toasters of a type the default is the one of its name; nothing else that returns a toaster is one
BEGIN;
CREATE FUNCTION one_toaster(json) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION two_toaster(json) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION text_toaster(text) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION toaster(json) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION json_toasters(json) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION json_toaster(json, int) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
CREATE FUNCTION json_toaster(json) RETURNS SETOF sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_plain_toaster_handler';
SELECT name, type, is_default, count(*) FROM sliced.toasters WHERE type IN ('json'::regtype, 'text'::regtype) GROUP BY 1, 2, 3 ORDER BY 2, 1, 3;
CREATE TABLE several (j json) USING sliced;
SELECT toaster, toaster_from FROM sliced.columns WHERE rel = 'several';
ROLLBACK;
-- subscripts stay subscripts without a function in C that PUBLIC may execute
CREATE TABLE s (n int, a int[], j jsonb) USING sliced;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a[n], a[1:n], j['k'] FROM s;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE s SET a[n] = 1 / n, j['k'] = '1';
BEGIN;
REVOKE EXECUTE ON FUNCTION sliced_functions.array_subscripts(int[]) FROM PUBLIC;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE s SET a[n] = 1 / n, j['k'] = '1';
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA sliced_functions FROM PUBLIC;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a[n], a[1:n], j['k'] FROM s;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE s SET a[n] = 1, j['k'] = '1';
ROLLBACK;
BEGIN;
ALTER FUNCTION sliced_functions.array_element(anyarray, int) RENAME TO other;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a[n] FROM s;
CREATE FUNCTION sliced_functions.array_element(anyarray, int) RETURNS anyelement LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1[0]';
EXPLAIN (VERBOSE, COSTS OFF) SELECT a[n] FROM s;
ROLLBACK;
DROP TABLE s;
-- every role sees it
CREATE ROLE regress_sliced_rita;
GRANT USAGE ON SCHEMA exch TO regress_sliced_rita;
SET ROLE regress_sliced_rita;
SELECT count(*) > 90, count(*) FILTER (WHERE toaster = 'mine') FROM sliced.toaster_functions;
RESET ROLE;

-- plans exchange what the view says: this session has met no other toaster of text
CREATE TABLE t (id int, v text) USING sliced;
SELECT sliced.alter_column('t', 'v', 'toaster=mine');
INSERT INTO t SELECT i, repeat('abcdefgh' || i, 20000) FROM generate_series(1, 4) i;
\c -
SET client_min_messages = warning;
SET search_path = exch;
\set VERBOSITY terse
EXPLAIN (VERBOSE, COSTS OFF) SELECT length(v), substr(v, 1, 2), substr(v, 2), right(v, 2) FROM t;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET v = left(v, 5) WHERE right(v, 5) = '';
EXPLAIN (VERBOSE, COSTS OFF) UPDATE t SET v = right(v, 5);

-- ---- a function that reads, and one that changes, have wrong results ----
CREATE OR REPLACE FUNCTION text_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_text_substr_no_len';
CREATE OR REPLACE FUNCTION edit_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_text_left';
\set VERBOSITY default
BEGIN;
UPDATE t SET v = right(v, 100000) WHERE id = 1;
SELECT left(right(v, 179990), 5), left(v, 10), length(v) FROM t ORDER BY id;
ROLLBACK;
SET sliced.check_toasters = on;
SELECT left(right(v, 179990), 5) FROM t ORDER BY id;
UPDATE t SET v = right(v, 100000);
-- a plan that is there already, and one that is run by workers
SET sliced.check_toasters = off;
SET plan_cache_mode = force_generic_plan;
PREPARE r AS SELECT md5(right(v, $1)) IS NULL FROM t WHERE id = 1;
EXECUTE r(179990);
SET sliced.check_toasters = on;
EXECUTE r(179990);
SET sliced.check_toasters = off;
EXECUTE r(179990);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
ALTER TABLE t SET (parallel_workers = 2);
SET sliced.check_toasters = on;
\set SHOW_CONTEXT always
SELECT count(*) FROM t WHERE right(v, 179990) > 'x';
\set SHOW_CONTEXT errors
RESET parallel_leader_participation;
-- the right ones are, for every argument: long, short, null
CREATE OR REPLACE FUNCTION text_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE AS '$libdir/pg_sliced', 'sliced_text_right';
CREATE OR REPLACE FUNCTION edit_right(text, int) RETURNS text LANGUAGE c STRICT IMMUTABLE AS '$libdir/pg_sliced', 'sliced_edit_text_right';
INSERT INTO t VALUES (5, 'short'), (6, NULL);
SELECT left(right(v, 179990), 5) FROM t ORDER BY id;
UPDATE t SET v = right(right(v, 179990), 170000) WHERE id <> 2;
SELECT id, left(v, 10), length(v) FROM t ORDER BY id;
DROP TABLE t;
DROP FUNCTION mine_toaster;

-- a library that may be elsewhere is not looked for
\c -
SET client_min_messages = warning;
SET search_path = exch;
SELECT set_config('dynamic_library_path', '/nowhere:' || current_setting('dynamic_library_path'), false) \gset
SELECT bool_and(works) FROM sliced.toaster_functions;
RESET dynamic_library_path;
-- (a setting of Debian's servers)
SELECT count(set_config(name, '/nowhere', false)) <= 1 AS set FROM pg_settings WHERE name = 'extension_destdir';
SELECT bool_and(works) FROM sliced.toaster_functions;
SELECT count(set_config(name, boot_val, false)) <= 1 AS set FROM pg_settings WHERE name = 'extension_destdir';
SET sliced.check_toasters = on;

-- ---- every kind of function of ours, and of argument ----
CREATE TABLE k (id int, t text, b bytea, j jsonb, a int[]) USING sliced;
INSERT INTO k SELECT i, repeat('abcdé' || i, 9000), decode(repeat(md5(i::text), 2000), 'hex'),
    (SELECT jsonb_object_agg('k' || n, jsonb_build_object('s', repeat('x' || n, n * 5), 'l', jsonb_build_array(n, i))) FROM generate_series(1, 200) n),
    (SELECT array_agg(n * i) FROM generate_series(1, 9000) n) FROM generate_series(1, 2) i;
INSERT INTO k VALUES (3, 'short', '\x00', '{"k1": 1}', '{1}'), (4, NULL, NULL, NULL, NULL);
SELECT id, length(t), substr(t, 8000, 5), right(t, 3), get_byte(b, 0), a[8000], a[3:4], array_length(a, 1), j -> 'k7' -> 'l' ->> 0, j #> '{k8,l}', j ? 'k9', j @> '{"k9": {"l": [9]}}',
    jsonb_path_query_array(j, '$.k3.l[*]'), j['k5']['l'], jsonb_typeof(j -> 'k6') FROM k ORDER BY id;
UPDATE k SET t = concat(left(t, 40000) || 'x', id, NULL, t), b = set_byte(b || '\x01', 0, 7), a = array_append(a, 5) || a,
    j = jsonb_set(jsonb_set(j || '{"new": 1}', '{k1,l}', (j -> 'k1' -> 'l') || '[7]') - 'k2', '{k4}', jsonb_build_object('old', j -> 'k4'));
UPDATE k SET j['k9']['l'] = '"assigned"', a[2] = 77, t = overlay(t placing 'yy' from 30000 for 5);
SELECT id, length(t), length(b), cardinality(a), j -> 'k1' ->> 'l', j #>> '{k4,old,l}', j -> 'k9' ->> 'l', j ? 'k2' FROM k ORDER BY id;
SELECT count(*) FROM k, jsonb_object_keys(j);
EXPLAIN (VERBOSE, COSTS OFF) SELECT x.a FROM k, XMLTABLE('/a' PASSING (NULL::xml) COLUMNS a text PATH 'b' DEFAULT right(k.t, 2)) x;
RESET sliced.check_toasters;
SELECT * FROM sliced.verify('k');
DROP TABLE k;
DROP SCHEMA exch CASCADE;
DROP ROLE regress_sliced_rita;
