-- What users call and read: a change here is a change for them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;

SELECT proname AS function, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
    FROM pg_proc WHERE pronamespace = 'sliced'::regnamespace ORDER BY proname COLLATE "C", 2;
SELECT c.relname AS view, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS columns
    FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0
    WHERE relnamespace = 'sliced'::regnamespace AND relkind = 'v' GROUP BY 1 ORDER BY 1;

-- names that need quotes, objects without a comment, functions of ours that are called by name elsewhere
SELECT c.relname, attname FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0
    WHERE relnamespace = 'sliced'::regnamespace AND quote_ident(attname) <> attname;
SELECT p.oid::regprocedure, name FROM pg_proc p, unnest(proargnames) name
    WHERE pronamespace = 'sliced'::regnamespace AND name <> '' AND quote_ident(name) <> name;
SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_sliced')
    AND obj_description(objid, classid::regclass::name) IS NULL
    AND NOT (classid = 'pg_type'::regclass AND (SELECT typrelid <> 0 OR typelem <> 0 FROM pg_type WHERE oid = objid)) ORDER BY 1;

-- of a toaster's type there is no value that a user could write
SELECT 'sliced_text_toaster'::sliced.toaster_handler;
