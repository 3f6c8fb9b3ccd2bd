-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION sliced_spill" to load this file. \quit

-- It is new and belongs to a superuser: no other role has put anything into it.
CREATE SCHEMA sliced_spill;
COMMENT ON SCHEMA sliced_spill IS 'sliced_spill: statistics of compressed temporary files';
GRANT USAGE ON SCHEMA sliced_spill TO PUBLIC;

CREATE FUNCTION sliced_spill.stat_temp_files(
    OUT node text, OUT spills bigint, OUT files bigint, OUT rows bigint, OUT filtered_rows bigint,
    OUT raw_bytes bigint, OUT stored_bytes bigint, OUT uncompressed_bytes bigint,
    OUT compress_ms double precision, OUT write_ms double precision, OUT saved_ms double precision,
    OUT since timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sliced_spill_stat_temp_files'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sliced_spill.stat_temp_files() IS
'for the view sliced_spill.stat_temp_files';

CREATE VIEW sliced_spill.stat_temp_files WITH (security_invoker = true) AS
SELECT s.node, s.spills, s.files, s.rows, s.filtered_rows, s.raw_bytes, s.stored_bytes, s.uncompressed_bytes,
    s.compress_ms, s.write_ms, s.saved_ms, s.since
FROM sliced_spill.stat_temp_files() s;
COMMENT ON VIEW sliced_spill.stat_temp_files IS
'compressed temporary files: their size, and the time they saved';
GRANT SELECT ON sliced_spill.stat_temp_files TO PUBLIC;

CREATE FUNCTION sliced_spill.stat_reset() RETURNS void
AS 'MODULE_PATHNAME', 'sliced_spill_stat_reset'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sliced_spill.stat_reset() IS
'reset the statistics of this database''s temporary files';
REVOKE EXECUTE ON FUNCTION sliced_spill.stat_reset() FROM PUBLIC;
