-- What Citus plans in ways of its own, for both twins.
\set ON_ERROR_STOP 1
\set am sliced
\ir each.sql
\set am heap
\ir each.sql
