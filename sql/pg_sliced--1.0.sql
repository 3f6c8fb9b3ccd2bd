-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sliced" to load this file. \quit

GRANT USAGE ON SCHEMA sliced TO PUBLIC;

CREATE FUNCTION sliced.handler(internal)
RETURNS table_am_handler
AS 'MODULE_PATHNAME', 'sliced_handler'
LANGUAGE C;

CREATE ACCESS METHOD sliced TYPE TABLE HANDLER sliced.handler;
COMMENT ON ACCESS METHOD sliced IS
'heap with oversized values in small, separately compressed slices';

CREATE FUNCTION sliced.verify(
    rel regclass,
    OUT kind text, OUT row_ctid tid, OUT attname name, OUT value_id oid,
    OUT byte_offset bigint, OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_verify'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION sliced.verify(regclass) IS
'one row for everything wrong with the oversized values of a table';

CREATE FUNCTION sliced.inspect(
    value anyelement,
    OUT piece int, OUT object oid, OUT start bigint, OUT raw_bytes int,
    OUT stored_bytes int, OUT codec text, OUT rows int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_inspect'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION sliced.inspect(anyelement) IS
'the slices that a value consists of';
