-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION sliced_hstore" to load this file. \quit

CREATE FUNCTION hstore_toaster(hstore) RETURNS sliced.toaster_handler
AS 'MODULE_PATHNAME' LANGUAGE C;

-- Functions that take the place of hstore's in plans for sliced tables.  They have
-- the same arguments and results.  Not to be called by name.

CREATE FUNCTION sliced_hstore_fetchval(hstore, text) RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_slice_array(hstore, text[]) RETURNS text[]
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_slice(hstore, text[]) RETURNS hstore
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_exist(hstore, text) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_defined(hstore, text) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_exists_any(hstore, text[]) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_exists_all(hstore, text[]) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_contains(hstore, hstore) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION sliced_hstore_contained(hstore, hstore) RETURNS bool
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

-- The same for those that change a value: in UPDATE.

CREATE FUNCTION sliced_hstore_concat(hstore, hstore) RETURNS hstore
AS 'MODULE_PATHNAME' LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced_hstore_delete(hstore, text) RETURNS hstore
AS 'MODULE_PATHNAME', 'sliced_hstore_delete_key' LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced_hstore_delete(hstore, text[]) RETURNS hstore
AS 'MODULE_PATHNAME', 'sliced_hstore_delete_keys' LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

CREATE FUNCTION sliced_hstore_delete(hstore, hstore) RETURNS hstore
AS 'MODULE_PATHNAME', 'sliced_hstore_delete_pairs' LANGUAGE C STRICT IMMUTABLE PARALLEL UNSAFE;

-- h[key] = value: whatever of the three is null

CREATE FUNCTION sliced_hstore_assign(hstore, text, text) RETURNS hstore
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
