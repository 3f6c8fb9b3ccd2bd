-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sliced" to load this file. \quit

CREATE FUNCTION sliced.handler(internal)
RETURNS table_am_handler
AS 'MODULE_PATHNAME', 'sliced_handler'
LANGUAGE C;

CREATE ACCESS METHOD sliced TYPE TABLE HANDLER sliced.handler;
COMMENT ON ACCESS METHOD sliced IS
'heap with oversized values in small, separately compressed slices';
