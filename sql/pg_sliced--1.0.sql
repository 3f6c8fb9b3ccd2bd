-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sliced" to load this file. \quit

-- Both are new and belong to a superuser: no other role has put a function into them
-- that would be called instead of ours.
CREATE SCHEMA sliced;
COMMENT ON SCHEMA sliced IS 'pg_sliced: what users call and read';
GRANT USAGE ON SCHEMA sliced TO PUBLIC;
CREATE SCHEMA sliced_functions;
COMMENT ON SCHEMA sliced_functions IS
'pg_sliced: functions for plans, views and types, not to be called by name';
GRANT USAGE ON SCHEMA sliced_functions TO PUBLIC;

CREATE FUNCTION sliced.handler(internal)
RETURNS table_am_handler
AS 'MODULE_PATHNAME', 'sliced_handler'
LANGUAGE C;
COMMENT ON FUNCTION sliced.handler(internal) IS
'callbacks of access method "sliced"';

CREATE ACCESS METHOD sliced TYPE TABLE HANDLER sliced.handler;
COMMENT ON ACCESS METHOD sliced IS
'heap with oversized values in small, separately compressed slices';

-- Toasters: what is known of a type.  Made by functions of this result type.

CREATE TYPE sliced.toaster_handler;
CREATE FUNCTION sliced_functions.toaster_handler_in(cstring) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_toaster_handler_in'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.toaster_handler_in(cstring) IS
'input of type toaster_handler: always an error';
CREATE FUNCTION sliced_functions.toaster_handler_out(sliced.toaster_handler) RETURNS cstring
AS 'MODULE_PATHNAME', 'sliced_toaster_handler_out'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.toaster_handler_out(sliced.toaster_handler) IS
'output of type toaster_handler: always an error';
CREATE TYPE sliced.toaster_handler (
    INPUT = sliced_functions.toaster_handler_in, OUTPUT = sliced_functions.toaster_handler_out, LIKE = internal);
COMMENT ON TYPE sliced.toaster_handler IS
'result of functions that make a toaster for their argument''s type';

CREATE FUNCTION sliced_functions.plain_toaster("any") RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_plain_toaster_handler'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.plain_toaster("any") IS
'toaster of types that have no other: values are cut anywhere';
CREATE FUNCTION sliced_functions.text_toaster(text) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_text_toaster'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.text_toaster(text) IS
'toaster of text and varchar';
CREATE FUNCTION sliced_functions.bytea_toaster(bytea) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_bytea_toaster'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.bytea_toaster(bytea) IS
'toaster of bytea';
CREATE FUNCTION sliced_functions.jsonb_toaster(jsonb) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_jsonb_toaster'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.jsonb_toaster(jsonb) IS
'toaster of jsonb';
CREATE FUNCTION sliced_functions.array_toaster(anyarray) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME', 'sliced_array_toaster'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.array_toaster(anyarray) IS
'toaster of arrays';

CREATE FUNCTION sliced_functions.list_toasters(
    OUT name name, OUT type regtype, OUT function regprocedure, OUT is_default bool)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_list_toasters'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.list_toasters() IS
'for view sliced.toasters';

CREATE VIEW sliced.toasters WITH (security_invoker = true) AS
SELECT t.name, t.type, e.extname AS extension, t.is_default, t.function
FROM sliced_functions.list_toasters() t
LEFT JOIN (pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e
           ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
           AND e.oid OPERATOR(pg_catalog.=) d.refobjid AND d.deptype OPERATOR(pg_catalog.=) 'e')
    ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
    AND d.objid OPERATOR(pg_catalog.=) t.function::pg_catalog.oid;
COMMENT ON VIEW sliced.toasters IS
'toasters; a column that names none uses its type''s default';
GRANT SELECT ON sliced.toasters TO PUBLIC;

CREATE FUNCTION sliced_functions.list_toaster_functions(
    OUT toaster name, OUT type regtype, OUT function text, OUT exchanged_by text,
    OUT works bool, OUT why text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_list_toaster_functions'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.list_toaster_functions() IS
'for view sliced.toaster_functions';

CREATE VIEW sliced.toaster_functions WITH (security_invoker = true) AS
SELECT f.toaster, f.type, f.function, f.exchanged_by, f.works, f.why
FROM sliced_functions.list_toaster_functions() f;
COMMENT ON VIEW sliced.toaster_functions IS
'functions whose place toasters'' functions take; if one does not, why';
GRANT SELECT ON sliced.toaster_functions TO PUBLIC;

-- Options of columns: labels of provider "sliced".

-- The provider is there once the library is loaded: see to that before labels are set.
CREATE FUNCTION sliced_functions.before_label() RETURNS event_trigger
AS 'MODULE_PATHNAME', 'sliced_before_label'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.before_label() IS
'loads the library before labels are set';
CREATE EVENT TRIGGER sliced_before_label ON ddl_command_start WHEN TAG IN ('SECURITY LABEL')
EXECUTE FUNCTION sliced_functions.before_label();
ALTER EVENT TRIGGER sliced_before_label ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER sliced_before_label IS 'loads the library before labels are set';

CREATE FUNCTION sliced.alter_column(rel regclass, col name, options text) RETURNS void
AS 'MODULE_PATHNAME', 'sliced_alter_column'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.alter_column(regclass, name, text) IS
'set the options of a column, as in ''toaster=jsonb, compression=zstd, level=9''; NULL removes them';

CREATE FUNCTION sliced.alter_table(rel regclass, options text) RETURNS void
AS 'MODULE_PATHNAME', 'sliced_alter_table'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.alter_table(regclass, text) IS
'set the options of a table''s columns that have none of their own; NULL removes them';

CREATE FUNCTION sliced.adopt(rel regclass) RETURNS void
AS 'MODULE_PATHNAME', 'sliced_adopt'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.adopt(regclass) IS
'make a heap table, with all its partitions, or a materialized view sliced, without rewriting it';

-- Dictionaries, which short values look back at.

CREATE FUNCTION sliced.train(
    rel regclass, OUT rel text, INOUT col name DEFAULT NULL,
    OUT dictionary oid, OUT samples int,
    OUT bytes int, OUT tried_bytes bigint, OUT stored_without bigint, OUT stored_with bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_train'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.train(regclass, name) IS
'make a dictionary for new values of a column, or of all columns, from a sample of its values, where that saves space';

CREATE FUNCTION sliced_functions.table_dictionaries(
    rel regclass,
    OUT col name, OUT dictionary oid, OUT in_use boolean, OUT bytes int, OUT samples int,
    OUT trained_at timestamptz, OUT saves numeric)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_table_dictionaries'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.table_dictionaries(regclass) IS
'for view sliced.dictionaries';

CREATE FUNCTION sliced.dictionary_slices(
    rel regclass, OUT rel text,
    OUT dictionary oid, OUT slices bigint, OUT raw_bytes bigint, OUT stored_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_dictionary_slices'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.dictionary_slices(regclass) IS
'how many slices use each dictionary of a table; reads all of its toast relation';

CREATE VIEW sliced.dictionaries WITH (security_invoker = true) AS
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid, d.*
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
CROSS JOIN LATERAL sliced_functions.table_dictionaries(c.oid::pg_catalog.regclass) d
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}')
    AND a.amhandler OPERATOR(pg_catalog.=) 'sliced.handler'::pg_catalog.regproc;
COMMENT ON VIEW sliced.dictionaries IS
'dictionaries of sliced tables; saves: the fraction that its sample became smaller by';
GRANT SELECT ON sliced.dictionaries TO PUBLIC;

CREATE PROCEDURE sliced.convert(
    rel regclass, max_rate float8 DEFAULT NULL, max_wait float8 DEFAULT 10, max_dead float8 DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sliced_convert'
LANGUAGE C;
COMMENT ON PROCEDURE sliced.convert(regclass, float8, float8, float8) IS
'store old values as new ones would be, while the table is used; limits: MB of values a second, seconds of waiting for locked rows, dead fraction of the toast relation''s rows';

CREATE FUNCTION sliced_functions.conversions(
    OUT pid int, OUT datid oid, OUT relid oid, OUT phase bigint, OUT started bigint,
    OUT pass bigint, OUT pass_started bigint, OUT blocks bigint, OUT blocks_done bigint,
    OUT rows_converted bigint, OUT rows_locked bigint, OUT rows_left bigint,
    OUT raw_bytes bigint, OUT bytes_before bigint, OUT bytes_after bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_conversions'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sliced_functions.conversions() IS
'for view sliced.convert_progress';

CREATE VIEW sliced.convert_progress WITH (security_invoker = true) AS
SELECT c.pid, d.datname,
    CASE WHEN d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() THEN c.relid::pg_catalog.regclass::pg_catalog.text END AS rel,
    c.relid,
    CASE c.phase WHEN 0 THEN 'converting' WHEN 1 THEN 'throttled' WHEN 2 THEN 'waiting for locked rows'
        WHEN 3 THEN 'waiting for VACUUM' END AS phase,
    c.pass, c.blocks, c.blocks_done, c.rows_converted, c.rows_locked, c.rows_left,
    c.raw_bytes, c.bytes_before, c.bytes_after,
    (c.raw_bytes OPERATOR(pg_catalog./) GREATEST(s.seconds, 0.001))::bigint AS bytes_per_second,
    pg_catalog.make_interval(secs =>
        s.pass_seconds OPERATOR(pg_catalog.*) (c.blocks OPERATOR(pg_catalog.-) c.blocks_done)::float8
        OPERATOR(pg_catalog./) NULLIF(c.blocks_done, 0)::float8) AS time_left
FROM sliced_functions.conversions() c
JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) c.datid
CROSS JOIN LATERAL (
    -- timestamps count microseconds from 2000-01-01
    SELECT (now.usec OPERATOR(pg_catalog.-) c.started::float8) OPERATOR(pg_catalog./) 1e6::float8 AS seconds,
        (now.usec OPERATOR(pg_catalog.-) c.pass_started::float8) OPERATOR(pg_catalog./) 1e6::float8 AS pass_seconds
    FROM (SELECT (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.-)
        pg_catalog.date_part('epoch', '2000-01-01 00:00:00+00'::pg_catalog.timestamptz)) OPERATOR(pg_catalog.*) 1e6::float8 AS usec) now) s;
COMMENT ON VIEW sliced.convert_progress IS
'progress of the calls of sliced.convert() that are running';
GRANT SELECT ON sliced.convert_progress TO PUBLIC;

CREATE FUNCTION sliced.kept_files(
    OUT tablespace oid, OUT file oid, OUT bytes bigint, OUT replaced_by xid8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_list_kept_files'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sliced.kept_files() IS
'files of this database that tables no longer use, kept for logical decoding';

CREATE FUNCTION sliced.remove_kept_files() RETURNS int
AS 'MODULE_PATHNAME', 'sliced_remove_kept_files'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.remove_kept_files() IS
'remove kept files that no slot needs, and return their number; ANALYZE does so as well';
REVOKE EXECUTE ON FUNCTION sliced.remove_kept_files() FROM PUBLIC;

-- An old transaction id has a large age.
CREATE VIEW sliced.decoding WITH (security_invoker = true) AS
SELECT s.slot_name, s.slot_type, s.database, s.active,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_wal_lsn_diff(
        pg_catalog.pg_current_wal_lsn(), COALESCE(s.confirmed_flush_lsn, s.restart_lsn)) END AS lag_bytes,
    pg_catalog.age(s.catalog_xmin) AS lag_transactions, k.kept_files, k.kept_bytes
FROM pg_catalog.pg_replication_slots s
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) AS kept_files, COALESCE(pg_catalog.sum(f.bytes), 0) AS kept_bytes
    FROM sliced.kept_files() f
    WHERE pg_catalog.age(f.replaced_by::pg_catalog.xid) OPERATOR(pg_catalog.<=) pg_catalog.age(s.catalog_xmin)) k
WHERE s.catalog_xmin IS NOT NULL
AND s.wal_status IS DISTINCT FROM 'lost';
COMMENT ON VIEW sliced.decoding IS
'logical slots, how far they lag, and what is kept for them of this database';
GRANT SELECT ON sliced.decoding TO PUBLIC;

CREATE FUNCTION sliced_functions.column_options(
    rel regclass,
    OUT col name, OUT type regtype, OUT toaster name, OUT toaster_from text,
    OUT compression text, OUT compression_from text, OUT level int, OUT level_from text,
    OUT dictionary text, OUT dictionary_from text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_column_options'
LANGUAGE C STRICT STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.column_options(regclass) IS
'for view sliced.columns';

CREATE VIEW sliced.columns WITH (security_invoker = true) AS
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid, o.*
FROM pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
CROSS JOIN LATERAL sliced_functions.column_options(c.oid::pg_catalog.regclass) o
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}') AND a.amhandler OPERATOR(pg_catalog.=) 'sliced.handler'::pg_catalog.regproc
    OR c.relkind OPERATOR(pg_catalog.=) 'p' AND EXISTS (
        SELECT FROM pg_catalog.pg_seclabel l
        WHERE l.objoid OPERATOR(pg_catalog.=) c.oid
        AND l.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        AND l.provider OPERATOR(pg_catalog.=) 'sliced');
COMMENT ON VIEW sliced.columns IS
'options of the columns of sliced tables, and of partitioned tables with labels, and where they come from';
GRANT SELECT ON sliced.columns TO PUBLIC;

CREATE FUNCTION sliced.verify(
    rel regclass, details boolean DEFAULT false,
    OUT rel text, OUT kind text, OUT row_ctid tid, OUT col name, OUT value_id oid,
    OUT byte_offset bigint, OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_verify'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.verify(regclass, boolean) IS
'damage in the oversized values of a table, a row for each; with details, also how much was checked';

CREATE FUNCTION sliced.inspect(
    value anyelement,
    OUT piece int, OUT object oid, OUT start bigint, OUT raw_bytes int,
    OUT stored_bytes int, OUT codec text, OUT rows int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_inspect'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION sliced.inspect(anyelement) IS
'the slices of a value';

-- Statistics.  Column 0 is what is read: a reader does not know a value's column.

CREATE FUNCTION sliced_functions.stat_counts(
    OUT toastrelid oid, OUT attnum smallint, OUT since timestamptz,
    OUT reads bigint, OUT core_reads bigint, OUT slices_read bigint, OUT stored_bytes_read bigint,
    OUT bytes_decompressed bigint, OUT read_usec bigint,
    OUT kept_compressed bigint, OUT kept_as_is bigint, OUT stored bigint, OUT stored_as_is bigint,
    OUT unchanged bigint, OUT appended bigint, OUT changed bigint,
    OUT replaced bigint, OUT replaced_core bigint,
    OUT anew_short bigint, OUT anew_new bigint,
    OUT slices bigint[], OUT raw_bytes bigint[], OUT stored_bytes bigint[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_stat_counts'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.stat_counts() IS
'for the views sliced.stat_tables, stat_columns and stat_codecs';

CREATE FUNCTION sliced.stat_reset() RETURNS void
AS 'MODULE_PATHNAME', 'sliced_stat_reset'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.stat_reset() IS
'reset the statistics of all tables of this database';
REVOKE EXECUTE ON FUNCTION sliced.stat_reset() FROM PUBLIC;

CREATE FUNCTION sliced.stat_reset(rel regclass) RETURNS void
AS 'MODULE_PATHNAME', 'sliced_stat_reset_table'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.stat_reset(regclass) IS
'reset the statistics of a table';
REVOKE EXECUTE ON FUNCTION sliced.stat_reset(regclass) FROM PUBLIC;

CREATE VIEW sliced.stat_tables WITH (security_invoker = true) AS
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid, s.reads, s.core_reads, s.slices_read, s.stored_bytes_read,
    s.bytes_decompressed, s.read_usec::pg_catalog.float8 OPERATOR(pg_catalog./) 1000 AS read_ms, s.since
FROM sliced_functions.stat_counts() s
LEFT JOIN pg_catalog.pg_class c ON c.reltoastrelid OPERATOR(pg_catalog.=) s.toastrelid
WHERE s.attnum OPERATOR(pg_catalog.=) 0::pg_catalog.int2
AND (c.oid IS NOT NULL OR s.toastrelid IS NULL);
COMMENT ON VIEW sliced.stat_tables IS
'reads of oversized values, by table';
GRANT SELECT ON sliced.stat_tables TO PUBLIC;

CREATE VIEW sliced.stat_columns WITH (security_invoker = true) AS
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid, a.attname AS col, s.stored, s.stored_as_is, s.kept_compressed,
    s.kept_as_is, n.slices, n.raw_bytes, n.stored_bytes, s.unchanged, s.appended, s.changed, s.replaced,
    s.replaced_core, s.anew_short, s.anew_new, s.since
FROM sliced_functions.stat_counts() s
JOIN pg_catalog.pg_class c ON c.reltoastrelid OPERATOR(pg_catalog.=) s.toastrelid
JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
    AND a.attnum OPERATOR(pg_catalog.=) s.attnum AND NOT a.attisdropped
CROSS JOIN LATERAL (
    SELECT pg_catalog.sum(u.slices)::pg_catalog.int8 AS slices, pg_catalog.sum(u.raw)::pg_catalog.int8 AS raw_bytes,
        pg_catalog.sum(u.stored)::pg_catalog.int8 AS stored_bytes
    FROM ROWS FROM (pg_catalog.unnest(s.slices), pg_catalog.unnest(s.raw_bytes),
                    pg_catalog.unnest(s.stored_bytes)) u (slices, raw, stored)) n
WHERE s.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2;
COMMENT ON VIEW sliced.stat_columns IS
'writes of oversized values, by column';
GRANT SELECT ON sliced.stat_columns TO PUBLIC;

CREATE VIEW sliced.stat_codecs WITH (security_invoker = true) AS
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid, a.attname AS col,
    ('{none,pglz,lz4,zstd}'::pg_catalog.text[])[u.codec] AS codec, u.slices, u.raw_bytes, u.stored_bytes
FROM sliced_functions.stat_counts() s
JOIN pg_catalog.pg_class c ON c.reltoastrelid OPERATOR(pg_catalog.=) s.toastrelid
JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
    AND a.attnum OPERATOR(pg_catalog.=) s.attnum AND NOT a.attisdropped
CROSS JOIN LATERAL ROWS FROM (
    pg_catalog.unnest(s.slices), pg_catalog.unnest(s.raw_bytes), pg_catalog.unnest(s.stored_bytes))
    WITH ORDINALITY u (slices, raw_bytes, stored_bytes, codec)
WHERE s.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND u.stored_bytes OPERATOR(pg_catalog.>) 0::pg_catalog.int8;
COMMENT ON VIEW sliced.stat_codecs IS
'slices written, by column and codec';
GRANT SELECT ON sliced.stat_codecs TO PUBLIC;

CREATE VIEW sliced.table_sizes WITH (security_invoker = true) AS
SELECT s.rel, s.relid, s.table_bytes, s.toast_bytes, s.toast_index_bytes, s.index_bytes,
    s.table_bytes OPERATOR(pg_catalog.+) s.toast_bytes OPERATOR(pg_catalog.+) s.toast_index_bytes
        OPERATOR(pg_catalog.+) s.index_bytes AS total_bytes,
    s.toast_live_rows, s.toast_dead_rows, s.toast_last_vacuum
FROM (
    SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS rel, c.oid AS relid,
        pg_catalog.pg_table_size(c.oid) OPERATOR(pg_catalog.-) COALESCE(pg_catalog.pg_total_relation_size(t.oid), 0) AS table_bytes,
        COALESCE(pg_catalog.pg_table_size(t.oid), 0) AS toast_bytes,
        COALESCE(pg_catalog.pg_indexes_size(t.oid), 0) AS toast_index_bytes,
        pg_catalog.pg_indexes_size(c.oid) AS index_bytes,
        pg_catalog.pg_stat_get_live_tuples(t.oid) AS toast_live_rows,
        pg_catalog.pg_stat_get_dead_tuples(t.oid) AS toast_dead_rows,
        GREATEST(pg_catalog.pg_stat_get_last_vacuum_time(t.oid),
                 pg_catalog.pg_stat_get_last_autovacuum_time(t.oid)) AS toast_last_vacuum
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
    LEFT JOIN pg_catalog.pg_class t ON t.oid OPERATOR(pg_catalog.=) c.reltoastrelid
    WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}')
    AND a.amhandler OPERATOR(pg_catalog.=) 'sliced.handler'::pg_catalog.regproc) s;
COMMENT ON VIEW sliced.table_sizes IS
'disk space of sliced tables';
GRANT SELECT ON sliced.table_sizes TO PUBLIC;

CREATE FUNCTION sliced.toast_space(
    rel regclass, percent double precision DEFAULT 100, OUT rel text,
    OUT pages bigint, OUT pages_read bigint, OUT live_bytes bigint, OUT dead_bytes bigint,
    OUT free_bytes bigint, OUT heads bigint, OUT derived bigint, OUT nodes bigint, OUT slices bigint,
    OUT raw_bytes bigint, OUT stored_bytes bigint,
    OUT core_values bigint, OUT core_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_toast_space'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sliced.toast_space(regclass, double precision) IS
'contents of the pages of a table''s toast relation, of all or of some percent';

-- Advice: what would be gained?

CREATE FUNCTION sliced.estimate(
    rel regclass, max_time interval DEFAULT '10 s', OUT rel text,
    OUT col name, OUT codec text, OUT level int, OUT dictionary boolean, OUT toast_tuple_target int,
    OUT rows bigint, OUT raw_bytes bigint, OUT stored_bytes bigint, OUT write_mb_s double precision,
    OUT read_mb_s double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_estimate_table'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.estimate(regclass, interval) IS
'size of a heap or sliced table now (first row) and with each codec, by trying a sample of its rows; then of each column';

CREATE FUNCTION sliced.advise(
    rel regclass DEFAULT NULL, max_time interval DEFAULT '1 min', OUT rel text,
    OUT col name, OUT topic text, OUT advice text,
    OUT bytes_now bigint, OUT bytes_then bigint, OUT sql text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_advise'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.advise(regclass, interval) IS
'what to do with a table, or with all tables of 1 MB and more, and how much that saves';

CREATE FUNCTION sliced.report(max_time interval DEFAULT '1 min') RETURNS text
AS 'MODULE_PATHNAME', 'sliced_report'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.report(interval) IS
'a page of HTML: where large values are, what makes them smaller, what changes cost';

-- Nobody drops tables by dropping the extension.
CREATE FUNCTION sliced_functions.before_drop() RETURNS event_trigger
AS 'MODULE_PATHNAME', 'sliced_before_drop'
LANGUAGE C;
COMMENT ON FUNCTION sliced_functions.before_drop() IS
'keeps DROP EXTENSION from dropping tables';
CREATE EVENT TRIGGER sliced_before_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP OWNED')
EXECUTE FUNCTION sliced_functions.before_drop();
ALTER EVENT TRIGGER sliced_before_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER sliced_before_drop IS 'keeps DROP EXTENSION from dropping tables';

-- Functions that take the place of core's in plans for sliced tables, as
-- docs/reference.md describes.  Not to be called by name.

CREATE FUNCTION sliced_functions.text_length(text) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_text_length'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.text_length(text) IS
'in plans, for values stored as slices: length() of core';

CREATE FUNCTION sliced_functions.text_substr(text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.text_substr(text, int, int) IS
'in plans, for values stored as slices: substr() of core';

CREATE FUNCTION sliced_functions.text_substr(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.text_substr(text, int) IS
'in plans, for values stored as slices: substr() of core';

CREATE FUNCTION sliced_functions.text_right(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_right'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.text_right(text, int) IS
'in plans, for values stored as slices: right() of core';

CREATE FUNCTION sliced_functions.get_byte(bytea, int) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_bytea_get_byte'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.get_byte(bytea, int) IS
'in plans, for values stored as slices: get_byte() of core';

CREATE FUNCTION sliced_functions.get_bit(bytea, bigint) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_bytea_get_bit'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.get_bit(bytea, bigint) IS
'in plans, for values stored as slices: get_bit() of core';

CREATE FUNCTION sliced_functions.edit_textcat(text, text) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_textcat'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_textcat(text, text) IS
'in plans, for values stored as slices: textcat() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_byteacat(bytea, bytea) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_byteacat'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_byteacat(bytea, bytea) IS
'in plans, for values stored as slices: byteacat() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_overlay(text, text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_overlay'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_overlay(text, text, int, int) IS
'in plans, for values stored as slices: overlay() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_overlay(text, text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_overlay_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_overlay(text, text, int) IS
'in plans, for values stored as slices: overlay() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_overlay(bytea, bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_overlay'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_overlay(bytea, bytea, int, int) IS
'in plans, for values stored as slices: overlay() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_overlay(bytea, bytea, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_overlay_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_overlay(bytea, bytea, int) IS
'in plans, for values stored as slices: overlay() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_set_byte(bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_set_byte'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_set_byte(bytea, int, int) IS
'in plans, for values stored as slices: set_byte() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_set_bit(bytea, bigint, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_set_bit'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_set_bit(bytea, bigint, int) IS
'in plans, for values stored as slices: set_bit() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_substr(text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_substr(text, int, int) IS
'in plans, for values stored as slices: substr() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_substr(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_substr(text, int) IS
'in plans, for values stored as slices: substr() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_substr(bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_substr(bytea, int, int) IS
'in plans, for values stored as slices: substr() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_substr(bytea, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_substr(bytea, int) IS
'in plans, for values stored as slices: substr() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_left(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_left'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_left(text, int) IS
'in plans, for values stored as slices: left() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_right(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_right'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_right(text, int) IS
'in plans, for values stored as slices: right() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_varchar(varchar, int, bool) RETURNS varchar
AS 'MODULE_PATHNAME', 'sliced_edit_varchar'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_varchar(varchar, int, bool) IS
'in plans, for values stored as slices: the length of a varchar; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_concat(VARIADIC "any") RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_concat'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_concat(VARIADIC "any") IS
'in plans, for values stored as slices: concat() of core; what it returns may be a change that is not written yet';

-- The same for jsonb.  A part is a container within a document that is not copied.

CREATE FUNCTION sliced_functions.jsonb_field(jsonb, text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_field'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_field(jsonb, text) IS
'in plans, for values stored as slices: jsonb_object_field() of core';

CREATE FUNCTION sliced_functions.jsonb_field_part(jsonb, text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_field_part'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_field_part(jsonb, text) IS
'in plans, for values stored as slices: jsonb_object_field() of core; what it returns may be a part of a document';

CREATE FUNCTION sliced_functions.jsonb_field_text(jsonb, text) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_jsonb_field_text'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_field_text(jsonb, text) IS
'in plans, for values stored as slices: jsonb_object_field_text() of core';

CREATE FUNCTION sliced_functions.jsonb_element(jsonb, int) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_element'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_element(jsonb, int) IS
'in plans, for values stored as slices: jsonb_array_element() of core';

CREATE FUNCTION sliced_functions.jsonb_element_part(jsonb, int) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_element_part'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_element_part(jsonb, int) IS
'in plans, for values stored as slices: jsonb_array_element() of core; what it returns may be a part of a document';

CREATE FUNCTION sliced_functions.jsonb_element_text(jsonb, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_jsonb_element_text'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_element_text(jsonb, int) IS
'in plans, for values stored as slices: jsonb_array_element_text() of core';

CREATE FUNCTION sliced_functions.jsonb_extract_path(jsonb, VARIADIC text[]) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_extract_path'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_extract_path(jsonb, VARIADIC text[]) IS
'in plans, for values stored as slices: jsonb_extract_path() of core';

CREATE FUNCTION sliced_functions.jsonb_extract_path_part(jsonb, VARIADIC text[]) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_extract_path_part'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_extract_path_part(jsonb, VARIADIC text[]) IS
'in plans, for values stored as slices: jsonb_extract_path() of core; what it returns may be a part of a document';

CREATE FUNCTION sliced_functions.jsonb_extract_path_text(jsonb, VARIADIC text[]) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_jsonb_extract_path_text'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_extract_path_text(jsonb, VARIADIC text[]) IS
'in plans, for values stored as slices: jsonb_extract_path_text() of core';

CREATE FUNCTION sliced_functions.jsonb_exists(jsonb, text) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_exists'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_exists(jsonb, text) IS
'in plans, for values stored as slices: jsonb_exists() of core';

CREATE FUNCTION sliced_functions.jsonb_exists_any(jsonb, text[]) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_exists_any'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_exists_any(jsonb, text[]) IS
'in plans, for values stored as slices: jsonb_exists_any() of core';

CREATE FUNCTION sliced_functions.jsonb_exists_all(jsonb, text[]) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_exists_all'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_exists_all(jsonb, text[]) IS
'in plans, for values stored as slices: jsonb_exists_all() of core';

CREATE FUNCTION sliced_functions.jsonb_typeof(jsonb) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_jsonb_typeof'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_typeof(jsonb) IS
'in plans, for values stored as slices: jsonb_typeof() of core';

CREATE FUNCTION sliced_functions.jsonb_array_length(jsonb) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_jsonb_array_length'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_array_length(jsonb) IS
'in plans, for values stored as slices: jsonb_array_length() of core';

CREATE FUNCTION sliced_functions.jsonb_object_keys(jsonb) RETURNS SETOF text
AS 'MODULE_PATHNAME', 'sliced_jsonb_object_keys'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_object_keys(jsonb) IS
'in plans, for values stored as slices: jsonb_object_keys() of core';

CREATE FUNCTION sliced_functions.jsonb_contains(jsonb, jsonb) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_contains'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_contains(jsonb, jsonb) IS
'in plans, for values stored as slices: jsonb_contains() of core';

CREATE FUNCTION sliced_functions.jsonb_contained(jsonb, jsonb) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_contained'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_contained(jsonb, jsonb) IS
'in plans, for values stored as slices: jsonb_contained() of core';

CREATE FUNCTION sliced_functions.jsonb_path_exists(jsonb, jsonpath, jsonb, bool) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_exists'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_exists(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_exists() of core';

CREATE FUNCTION sliced_functions.jsonb_path_exists_tz(jsonb, jsonpath, jsonb, bool) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_exists_tz'
LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_exists_tz(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_exists_tz() of core';

CREATE FUNCTION sliced_functions.jsonb_path_match(jsonb, jsonpath, jsonb, bool) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_match'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_match(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_match() of core';

CREATE FUNCTION sliced_functions.jsonb_path_match_tz(jsonb, jsonpath, jsonb, bool) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_match_tz'
LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_match_tz(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_match_tz() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query_array(jsonb, jsonpath, jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query_array'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query_array(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query_array() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query_array_tz(jsonb, jsonpath, jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query_array_tz'
LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query_array_tz(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query_array_tz() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query_first(jsonb, jsonpath, jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query_first'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query_first(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query_first() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query_first_tz(jsonb, jsonpath, jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query_first_tz'
LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query_first_tz(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query_first_tz() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query(jsonb, jsonpath, jsonb, bool) RETURNS SETOF jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query() of core';

CREATE FUNCTION sliced_functions.jsonb_path_query_tz(jsonb, jsonpath, jsonb, bool) RETURNS SETOF jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_query_tz'
LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_query_tz(jsonb, jsonpath, jsonb, bool) IS
'in plans, for values stored as slices: jsonb_path_query_tz() of core';

CREATE FUNCTION sliced_functions.jsonb_path_exists_opr(jsonb, jsonpath) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_exists_opr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_exists_opr(jsonb, jsonpath) IS
'in plans, for values stored as slices: jsonb_path_exists_opr() of core';

CREATE FUNCTION sliced_functions.jsonb_path_match_opr(jsonb, jsonpath) RETURNS bool
AS 'MODULE_PATHNAME', 'sliced_jsonb_path_match_opr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_path_match_opr(jsonb, jsonpath) IS
'in plans, for values stored as slices: jsonb_path_match_opr() of core';

CREATE FUNCTION sliced_functions.jsonb_for_query(jsonb, jsonpath, internal) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_jsonb_for_query'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.jsonb_for_query(jsonb, jsonpath, internal) IS
'in plans, for values stored as slices: the document that jsonpath, or SQL/JSON, looks into';

CREATE FUNCTION sliced_functions.edit_jsonb_set(jsonb, text[], jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_set'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_set(jsonb, text[], jsonb, bool) IS
'in plans, for values stored as slices: jsonb_set() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_set_lax(jsonb, text[], jsonb, bool, text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_set_lax'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_set_lax(jsonb, text[], jsonb, bool, text) IS
'in plans, for values stored as slices: jsonb_set_lax() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_insert(jsonb, text[], jsonb, bool) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_insert'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_insert(jsonb, text[], jsonb, bool) IS
'in plans, for values stored as slices: jsonb_insert() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_concat(jsonb, jsonb) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_concat'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_concat(jsonb, jsonb) IS
'in plans, for values stored as slices: jsonb_concat() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_delete(jsonb, text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_delete'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_delete(jsonb, text) IS
'in plans, for values stored as slices: jsonb_delete() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_delete(jsonb, int) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_delete_idx'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_delete(jsonb, int) IS
'in plans, for values stored as slices: jsonb_delete() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_delete(jsonb, VARIADIC text[]) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_delete_array'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_delete(jsonb, VARIADIC text[]) IS
'in plans, for values stored as slices: jsonb_delete() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_delete_path(jsonb, text[]) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_delete_path'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_delete_path(jsonb, text[]) IS
'in plans, for values stored as slices: jsonb_delete_path() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_build_object(VARIADIC "any") RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_build_object'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_build_object(VARIADIC "any") IS
'in plans, for values stored as slices: jsonb_build_object() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_jsonb_subscript(jsonb, jsonb, bool, VARIADIC text[]) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sliced_edit_jsonb_subscript'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_jsonb_subscript(jsonb, jsonb, bool, VARIADIC text[]) IS
'in plans, for values stored as slices: assignment to a subscript of jsonb; what it returns may be a change that is not written yet';

-- Arrays.  Subscripts, which are not functions, become calls of some of these.

CREATE FUNCTION sliced_functions.array_ndims(anyarray) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_array_ndims'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_ndims(anyarray) IS
'in plans, for values stored as slices: array_ndims() of core';

CREATE FUNCTION sliced_functions.array_dims(anyarray) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_array_dims'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_dims(anyarray) IS
'in plans, for values stored as slices: array_dims() of core';

CREATE FUNCTION sliced_functions.array_lower(anyarray, int) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_array_lower'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_lower(anyarray, int) IS
'in plans, for values stored as slices: array_lower() of core';

CREATE FUNCTION sliced_functions.array_upper(anyarray, int) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_array_upper'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_upper(anyarray, int) IS
'in plans, for values stored as slices: array_upper() of core';

CREATE FUNCTION sliced_functions.array_length(anyarray, int) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_array_length'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_length(anyarray, int) IS
'in plans, for values stored as slices: array_length() of core';

CREATE FUNCTION sliced_functions.array_cardinality(anyarray) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_array_cardinality'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_cardinality(anyarray) IS
'in plans, for values stored as slices: cardinality() of core';

CREATE FUNCTION sliced_functions.array_element(anyarray, int) RETURNS anyelement
AS 'MODULE_PATHNAME', 'sliced_array_element'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_element(anyarray, int) IS
'in plans, for values stored as slices: a subscript of an array';

CREATE FUNCTION sliced_functions.array_element(anyarray, int[]) RETURNS anyelement
AS 'MODULE_PATHNAME', 'sliced_array_element_of_many'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_element(anyarray, int[]) IS
'in plans, for values stored as slices: a subscript of an array';

CREATE FUNCTION sliced_functions.array_slice(anyarray, int[], int) RETURNS anyarray
AS 'MODULE_PATHNAME', 'sliced_array_slice'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_slice(anyarray, int[], int) IS
'in plans, for values stored as slices: a slice of an array';

CREATE FUNCTION sliced_functions.array_subscripts(int[]) RETURNS int[]
AS 'MODULE_PATHNAME', 'sliced_array_subscripts'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.array_subscripts(int[]) IS
'in plans, for values stored as slices: subscripts of an array in one array';

CREATE FUNCTION sliced_functions.edit_array_element(anyarray, int[], anyelement) RETURNS anyarray
AS 'MODULE_PATHNAME', 'sliced_edit_array_element'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_array_element(anyarray, int[], anyelement) IS
'in plans, for values stored as slices: assignment to a subscript of an array; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_array_slice(anyarray, int[], int, anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'sliced_edit_array_slice'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_array_slice(anyarray, int[], int, anyarray) IS
'in plans, for values stored as slices: assignment to a slice of an array; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_array_append(anycompatiblearray, anycompatible) RETURNS anycompatiblearray
AS 'MODULE_PATHNAME', 'sliced_edit_array_append'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_array_append(anycompatiblearray, anycompatible) IS
'in plans, for values stored as slices: array_append() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_array_prepend(anycompatible, anycompatiblearray) RETURNS anycompatiblearray
AS 'MODULE_PATHNAME', 'sliced_edit_array_prepend'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_array_prepend(anycompatible, anycompatiblearray) IS
'in plans, for values stored as slices: array_prepend() of core; what it returns may be a change that is not written yet';

CREATE FUNCTION sliced_functions.edit_array_cat(anycompatiblearray, anycompatiblearray) RETURNS anycompatiblearray
AS 'MODULE_PATHNAME', 'sliced_edit_array_cat'
LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced_functions.edit_array_cat(anycompatiblearray, anycompatiblearray) IS
'in plans, for values stored as slices: array_cat() of core; what it returns may be a change that is not written yet';
