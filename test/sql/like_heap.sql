-- What the scripts in test/like_heap do gives the same results on heap and on
-- sliced.  How they are run and compared: test/like_heap/run.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
\setenv PGDATABASE :DBNAME
\! "$PG_ABS_SRCDIR"/like_heap/run dml
\! "$PG_ABS_SRCDIR"/like_heap/run appends
\! "$PG_ABS_SRCDIR"/like_heap/run triggers
\! "$PG_ABS_SRCDIR"/like_heap/run scans
\! "$PG_ABS_SRCDIR"/like_heap/run whole_rows
\! "$PG_ABS_SRCDIR"/like_heap/run ddl
\! "$PG_ABS_SRCDIR"/like_heap/run shapes
\! "$PG_ABS_SRCDIR"/like_heap/run privileges
\! "$PG_ABS_SRCDIR"/like_heap/run since_17
\! "$PG_ABS_SRCDIR"/like_heap/run since_18
\! "$PG_ABS_SRCDIR"/like_heap/run since_19
\! "$PG_ABS_SRCDIR"/like_heap/run edits
\! "$PG_ABS_SRCDIR"/like_heap/run lists
\! "$PG_ABS_SRCDIR"/like_heap/run differences
\! "$PG_ABS_SRCDIR"/like_heap/run parts
