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

-- Functions that take the place of core's in plans for sliced tables, as
-- docs/reference.md describes.  Not to be called by name.

CREATE FUNCTION sliced.text_length(text) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_text_length'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.text_substr(text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.text_substr(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.text_right(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_text_right'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.get_byte(bytea, int) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_bytea_get_byte'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.get_bit(bytea, bigint) RETURNS int
AS 'MODULE_PATHNAME', 'sliced_bytea_get_bit'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced.edit_textcat(text, text) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_textcat'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_byteacat(bytea, bytea) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_byteacat'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_overlay(text, text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_overlay'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_overlay(text, text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_overlay_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_overlay(bytea, bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_overlay'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_overlay(bytea, bytea, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_overlay_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_set_byte(bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_set_byte'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_set_bit(bytea, bigint, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_set_bit'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_substr(text, int, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_substr(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_substr(bytea, int, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_substr'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_substr(bytea, int) RETURNS bytea
AS 'MODULE_PATHNAME', 'sliced_edit_bytea_substr_no_len'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_left(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_left'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_right(text, int) RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_text_right'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_varchar(varchar, int, bool) RETURNS varchar
AS 'MODULE_PATHNAME', 'sliced_edit_varchar'
LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced.edit_concat(VARIADIC "any") RETURNS text
AS 'MODULE_PATHNAME', 'sliced_edit_concat'
LANGUAGE C STABLE PARALLEL UNSAFE;
