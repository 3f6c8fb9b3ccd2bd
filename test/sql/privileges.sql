-- Who may do what with functions, views and labels of the extension; what the
-- owner of a database, who is no superuser, gets by installing it.  That exchanged
-- functions tell nobody more than core's: test/like_heap/privileges.sql.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;

-- nothing runs as anybody else, or before a security barrier, or is in a language that looks for names
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = prolang
    WHERE pronamespace IN ('sliced'::regnamespace, 'sliced_functions'::regnamespace) AND (prosecdef OR proleakproof OR lanname <> 'c' OR proowner <> 10);
SELECT c.relname, c.reloptions FROM pg_class c WHERE relnamespace = 'sliced'::regnamespace AND relkind = 'v' ORDER BY 1;
SELECT n.nspname, n.nspowner = 10 AS superuser, n.nspacl::text ~ '[{,]=U/' AS used_by_all, n.nspacl::text ~ '[{,]=[^/]*C' AS filled_by_all
    FROM pg_namespace n WHERE nspname IN ('sliced', 'sliced_functions') ORDER BY 1;
SELECT evtname, evtowner = 10 AS superuser, evtenabled FROM pg_event_trigger WHERE evtname ~ 'sliced' ORDER BY 1;

CREATE ROLE regress_sliced_ann;
CREATE ROLE regress_sliced_eve;
CREATE SCHEMA priv;
GRANT ALL ON SCHEMA priv TO PUBLIC;
SET search_path = priv;
SET ROLE regress_sliced_ann;
CREATE TABLE t (id int, who text, body text) USING sliced;
INSERT INTO t SELECT i, 'ann', repeat('the secret of ann ', 5000) FROM generate_series(1, 3) i;

-- ---- functions and views, called by somebody else ----
SET ROLE regress_sliced_eve;
SELECT count(*) FROM sliced.columns WHERE rel = 't';      -- what pg_attribute and pg_seclabels show to all
SELECT count(*) > 3 FROM sliced.toasters;
SELECT * FROM sliced.verify('t');
SELECT i.* FROM t, sliced.inspect(body) i;
SELECT sliced.alter_table('t', 'compression=zstd');
SELECT sliced.alter_column('t', 'body', 'compression=zstd');
SECURITY LABEL FOR sliced ON COLUMN t.body IS 'compression=zstd';
SELECT sliced.alter_table('no_such', NULL);
SELECT sliced.alter_table(0, NULL);
SELECT sliced.alter_table('pg_class', 'compression=zstd');
SELECT sliced_functions.before_label();
SELECT sliced_functions.before_drop();
SELECT sliced_functions.text_toaster('x');
SET sliced.logical_decoding = off;
DO $$ BEGIN PERFORM sliced.verify(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', regexp_replace(sqlerrm, '\d+', 'N'); END $$;
CREATE FUNCTION evil_toaster(text) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_text_toaster';
CREATE FUNCTION evil_toaster(text) RETURNS sliced.toaster_handler LANGUAGE sql AS 'SELECT sliced_functions.text_toaster(NULL)';
SELECT count(*) FROM sliced.toasters WHERE name = 'evil';
CREATE TABLE mine (v text) USING sliced;
SELECT sliced.alter_column('mine', 'v', 'toaster=evil');

-- columns and rows
SET ROLE regress_sliced_ann;
GRANT SELECT (id, body) ON t TO regress_sliced_eve;
SET ROLE regress_sliced_eve;
SELECT id, sum(raw_bytes) FROM t, sliced.inspect(body) GROUP BY id ORDER BY id;
SELECT i.* FROM t, sliced.inspect(who) i;
SELECT * FROM sliced.verify('t');
SET ROLE regress_sliced_ann;
GRANT SELECT ON t TO regress_sliced_eve;
SET ROLE regress_sliced_eve;
SELECT * FROM sliced.verify('t');
SET ROLE regress_sliced_ann;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_row ON t USING (id = 2);
SELECT * FROM sliced.verify('t');
SET ROLE regress_sliced_eve;
SELECT id, count(*) FROM t, sliced.inspect(body) GROUP BY id ORDER BY id;
SELECT * FROM sliced.verify('t');
SET row_security = off;
SELECT * FROM sliced.verify('t');
RESET row_security;
SET ROLE regress_sliced_ann;
ALTER TABLE t FORCE ROW LEVEL SECURITY;
SELECT * FROM sliced.verify('t');
RESET ROLE;
SELECT * FROM sliced.verify('t');

-- a setting that is for superusers, set before the library is there to say so
\c -
SET client_min_messages = warning;
SET search_path = priv;
SET ROLE regress_sliced_eve;
SET sliced.logical_decoding = off;
SELECT count(*) FROM t WHERE length(body) > 5;
SHOW sliced.logical_decoding;
RESET ROLE;

-- ---- exchanged functions called by name, with whatever they do not expect: an error, or a result ----
CREATE TABLE odd (t text, b bytea, j jsonb, i int[], m int[], a text[]) USING sliced;
INSERT INTO odd SELECT repeat('abcdé', 4000), convert_to(repeat('abcdé', 4000), 'UTF8'),
    (SELECT jsonb_object_agg('k' || n, CASE n % 10 WHEN 0 THEN to_jsonb(repeat('x' || n, 2000)) ELSE to_jsonb(n) END) FROM generate_series(1, 50) n),
    (SELECT array_agg(n) FROM generate_series(1, 4000) n), (SELECT array_agg(ARRAY[n, -n]) FROM generate_series(1, 2000) n),
    (SELECT array_agg(md5(n::text)) FROM generate_series(1, 300) n);
CREATE TABLE arguments (type text, n int, expr text) USING heap;
INSERT INTO arguments SELECT type, n, expr FROM (VALUES
    ('text', ARRAY['NULL::text', '''''::text', '''é''::text', 't', 'sliced_functions.edit_textcat(t, ''x'')', 'sliced_functions.edit_textcat(sliced_functions.edit_textcat(t, t), ''x'')']),
    ('character varying', ARRAY['NULL::varchar', '''a''::varchar', 't::varchar']),
    ('bytea', ARRAY['NULL::bytea', '''\x00''::bytea', 'b', 'sliced_functions.edit_byteacat(b, b)']),
    ('integer', ARRAY['NULL::int', '0', '1', '-1', '2147483647', '(-2147483648)', '70000']),
    ('bigint', ARRAY['NULL::bigint', '0::bigint', '77::bigint', '9223372036854775807', '(-1)::bigint']),
    ('boolean', ARRAY['NULL::bool', 'true', 'false']),
    ('jsonb', ARRAY['NULL::jsonb', '''{}''::jsonb', '''[1, {"a": 2}]''::jsonb', '''1''::jsonb', 'j', 'sliced_functions.jsonb_field_part(j, ''k10'')', 'sliced_functions.edit_jsonb_concat(j, ''{"z": 1}'')']),
    ('jsonpath', ARRAY['NULL::jsonpath', '''$''::jsonpath', '''$.k1 == 1''::jsonpath', '''strict $.none''::jsonpath', '''$.*''::jsonpath']),
    ('integer[]', ARRAY['NULL::int[]', '''{}''::int[]', '''{1}''::int[]', '''{1,2}''::int[]', '''{NULL}''::int[]', '''{-1,-2147483648}''::int[]', '''{2147483647,1}''::int[]', '''{{1,2},{3,4}}''::int[]',
        '''{1,1,1,1,1,1,1,1,1,1,1,1,1,1}''::int[]', 'i']),
    ('text[]', ARRAY['NULL::text[]', '''{}''::text[]', '''{k1,x}''::text[]', '''{NULL}''::text[]', '''{{k10,-1},{a,b}}''::text[]', 'a']),
    ('anyarray', ARRAY['NULL::int[]', '''{}''::int[]', 'i', 'm', '''[5:6]={1,NULL}''::int[]', 'a']),
    ('anyelement', ARRAY['NULL::int', '1', '''x''::text'])) v (type, exprs), unnest(exprs) WITH ORDINALITY u (expr, n);
INSERT INTO arguments SELECT replace(type, 'any', 'anycompatible'), n, expr FROM arguments WHERE type = 'anyarray';
INSERT INTO arguments SELECT 'anycompatible', n, expr FROM arguments WHERE type = 'anyelement';
INSERT INTO arguments SELECT '"any"', n, expr FROM arguments WHERE type IN ('text', 'jsonb');
GRANT SELECT ON odd, arguments TO PUBLIC;
SET ROLE regress_sliced_eve;
DO $$
DECLARE f record; call text; calls int := 0; failed int := 0;
BEGIN
    FOR f IN SELECT p.oid, proname, proargtypes::oid[] AS types, provariadic NOT IN (0, 2276) AS variadic FROM pg_proc p
        WHERE pronamespace = 'sliced_functions'::regnamespace AND proname ~ '^(text|get|edit|jsonb|array)_' AND proname !~ '_toaster$' LOOP
        FOR call IN
            -- the 80 combinations of arguments that a hash brings to the top
            WITH RECURSIVE c AS (
                SELECT 0 AS n, ARRAY[]::text[] AS args
                UNION ALL
                SELECT c.n + 1, c.args || (CASE WHEN f.variadic AND c.n + 1 = cardinality(f.types) THEN 'VARIADIC ' ELSE '' END || a.expr)
                FROM c JOIN arguments a ON a.type = format_type(f.types[c.n], NULL))
            SELECT format('SELECT md5(x::text) FROM odd, LATERAL (SELECT sliced_functions.%I(%s) AS x) s', f.proname, array_to_string(args, ', '))
            FROM c WHERE n = cardinality(f.types) ORDER BY md5(args::text) LIMIT 80 LOOP
            calls := calls + 1;
            BEGIN
                EXECUTE call;
            EXCEPTION WHEN OTHERS THEN
                failed := failed + 1;
                IF sqlstate ~ '^(XX|58|53)' THEN RAISE WARNING '%: % %', call, sqlstate, sqlerrm; END IF;
            END;
        END LOOP;
    END LOOP;
    RAISE WARNING 'more than 3000 calls: %, some were errors: %, some were not: %', calls > 3000, failed > 100, calls - failed > 1000;
END $$;
RESET ROLE;
SELECT * FROM sliced.verify('odd');

-- ---- the owner of a database ----
CREATE ROLE regress_sliced_owner;
\set main :DBNAME
CREATE DATABASE regress_sliced_db OWNER regress_sliced_owner;
\c regress_sliced_db
SET client_min_messages = warning;
SET ROLE regress_sliced_eve;
CREATE EXTENSION pg_sliced;
-- a function that would be taken for ours
SET ROLE regress_sliced_owner;
CREATE SCHEMA sliced_functions;
CREATE FUNCTION sliced_functions.column_options(oid) RETURNS TABLE (col name) LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'called as %', current_user; END $$;
\set SHOW_CONTEXT never
CREATE EXTENSION pg_sliced;
\set SHOW_CONTEXT errors
DROP SCHEMA sliced_functions CASCADE;
CREATE EXTENSION pg_sliced SCHEMA public;
CREATE EXTENSION pg_sliced;
SELECT extowner::regrole FROM pg_extension WHERE extname = 'pg_sliced';
-- who can use it, and not change it
CREATE TABLE t (v text) USING sliced;
INSERT INTO t VALUES (repeat('x', 100000));
SELECT sliced.alter_column('t', 'v', 'compression=zstd');
VACUUM FULL t;
SELECT col, compression FROM sliced.columns;
CREATE FUNCTION sliced.verify(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OR REPLACE FUNCTION sliced_functions.before_drop() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$;
ALTER FUNCTION sliced_functions.before_drop() OWNER TO regress_sliced_owner;
DROP FUNCTION sliced_functions.before_drop();
ALTER EXTENSION pg_sliced DROP FUNCTION sliced_functions.before_drop();
ALTER EXTENSION pg_sliced DROP SCHEMA sliced;
ALTER SCHEMA sliced RENAME TO other;
DROP SCHEMA sliced CASCADE;
DROP VIEW sliced.columns;
ALTER VIEW sliced.columns SET (security_invoker = false);
DROP ACCESS METHOD sliced;
ALTER EVENT TRIGGER sliced_before_label DISABLE;
DROP EVENT TRIGGER sliced_before_drop;
CREATE ACCESS METHOD another TYPE TABLE HANDLER sliced.handler;
CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION sliced_functions.before_label();
CREATE FUNCTION my_toaster(text) RETURNS sliced.toaster_handler LANGUAGE c AS '$libdir/pg_sliced', 'sliced_text_toaster';
CREATE FUNCTION evil_toaster(text) RETURNS sliced.toaster_handler LANGUAGE sql AS 'SELECT sliced_functions.text_toaster(NULL)';
ALTER EXTENSION pg_sliced ADD FUNCTION evil_toaster(text);
SELECT name FROM sliced.toasters ORDER BY 1;
ALTER EXTENSION pg_sliced DROP FUNCTION evil_toaster(text);
DROP FUNCTION evil_toaster;
LOAD 'pg_sliced';
-- others' tables are theirs
GRANT CREATE ON SCHEMA public TO regress_sliced_eve;
SET ROLE regress_sliced_eve;
CREATE TABLE hers (v text) USING sliced;
INSERT INTO hers VALUES (repeat('x', 100000));
SET ROLE regress_sliced_owner;
SELECT sliced.alter_table('hers', 'compression=none');
SELECT * FROM sliced.verify('hers');
SELECT sum(raw_bytes) FROM hers, sliced.inspect(v);
VACUUM FULL hers;

-- ---- nobody drops tables with the extension ----
DROP EXTENSION pg_sliced;
DROP EXTENSION pg_sliced CASCADE;
DROP EXTENSION IF EXISTS plpgsql, pg_sliced CASCADE;
DROP OWNED BY regress_sliced_owner;
DROP OWNED BY regress_sliced_owner CASCADE;
DROP OWNED BY regress_sliced_owner, regress_sliced_nobody CASCADE;
SET ROLE regress_sliced_eve;
DROP EXTENSION pg_sliced CASCADE;
SELECT length(v) FROM hers;
DO $$ BEGIN FOR i IN 1..11 LOOP EXECUTE format('CREATE TABLE hers%s (v text) USING sliced', to_char(i, 'FM00')); END LOOP; END $$;
DROP TABLE hers;
SET ROLE regress_sliced_owner;
DROP EXTENSION pg_sliced;
SET session_replication_role = replica;
RESET ROLE;
SET session_replication_role = replica;
DROP EXTENSION pg_sliced CASCADE;
RESET session_replication_role;
CREATE EVENT TRIGGER of_all ON ddl_command_start EXECUTE FUNCTION sliced_functions.before_drop();
DROP TABLE hers11;
DROP EVENT TRIGGER of_all;
CREATE FUNCTION as_trigger() RETURNS trigger LANGUAGE c AS '$libdir/pg_sliced', 'sliced_before_drop';
CREATE TABLE triggered (i int) USING heap;
CREATE TRIGGER as_trigger BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION as_trigger();
INSERT INTO triggered VALUES (1);
DROP TABLE triggered;
DROP FUNCTION as_trigger;
DROP OWNED BY regress_sliced_eve;
-- an extension without its access method
BEGIN;
ALTER EXTENSION pg_sliced DROP ACCESS METHOD sliced;
DROP ACCESS METHOD sliced CASCADE;
DROP EXTENSION pg_sliced;
ROLLBACK;
-- as the message says; the label stays
ALTER TABLE t SET ACCESS METHOD heap;
SET ROLE regress_sliced_owner;
DROP EXTENSION pg_sliced;
SELECT length(v) FROM t;
SELECT nspname FROM pg_namespace WHERE nspname = 'sliced';
-- with everything that is theirs
CREATE EXTENSION pg_sliced;
ALTER TABLE t SET ACCESS METHOD sliced;
SELECT col, compression FROM sliced.columns;
DROP OWNED BY regress_sliced_owner CASCADE;
SELECT extname FROM pg_extension ORDER BY 1;

\c :main
SET client_min_messages = warning;
DROP DATABASE regress_sliced_db;
DROP SCHEMA priv CASCADE;
DROP ROLE regress_sliced_owner, regress_sliced_ann, regress_sliced_eve;
