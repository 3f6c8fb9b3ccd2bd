#!/bin/bash
# The first plan of a session is made before the extension's library is loaded, if
# only the planner opens a table of ours.  Such a plan, which may be kept for the
# whole session, calls our functions all the same.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start first
sql <<'END'
SET client_min_messages = warning;
CREATE EXTENSION pg_sliced;
CREATE TABLE parted (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (9) USING sliced;
CREATE TABLE parent (id int, v text) USING heap;
CREATE TABLE child () INHERITS (parent) USING sliced;
CREATE FUNCTION inlined() RETURNS SETOF part LANGUAGE sql STABLE AS 'SELECT * FROM part';
CREATE VIEW both_of_them AS SELECT id, v FROM parted UNION ALL SELECT id, v FROM parent;
INSERT INTO parted SELECT 1, string_agg(sha512(int4send(i))::text, '') FROM generate_series(1, 7000) i;
INSERT INTO child SELECT * FROM part;

-- a plan that is made and executed while another one is made
CREATE FUNCTION fold() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN count(*) FROM parted; END $$;

CREATE FUNCTION reads(source text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('CREATE FUNCTION pg_temp.read() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
        RETURN substr(v, 500000, 10) FROM %s LIMIT 1; END $f$', source);
    RETURN QUERY SELECT pg_temp.read() FROM generate_series(1, 10);
END $$;
CREATE FUNCTION changes(target text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('CREATE FUNCTION pg_temp.change() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN
        UPDATE %s SET v = v || ''x''; END $f$', target);
    PERFORM pg_temp.change() FROM generate_series(1, 10);
END $$;
END

is "$(sql -c "PREPARE p AS SELECT substr(v, 500000, 10) FROM parted" -c "SELECT count(*) FROM pg_settings WHERE name = 'sliced.compression'")" \
    0 "the library is loaded late"

# functions STATEMENT...: what reads v, by the plans that they print.
functions() {
    local args=() statement
    for statement; do args+=(-c "$statement"); done
    sql -c "SET plan_cache_mode = force_generic_plan" "${args[@]}" | grep -oE '[a-z._]*substr\(' | sort -u | xargs
}

# reads_little STATEMENT: does it, in the first transaction of a session, read few of the
# 140 blocks or so that a value has?
reads_little() {
    sql -c "BEGIN" -c "$1" -c "SELECT sum(pg_stat_get_xact_blocks_fetched(reltoastrelid)) BETWEEN 1 AND 500
        FROM pg_class WHERE relname IN ('part', 'child')" | tail -n 1
}

for from in parted parent 'inlined()' both_of_them 'parted WHERE id < fold() + 9'; do
    query="SELECT substr(v, 500000, 10) FROM $from"
    is "$(functions "EXPLAIN (VERBOSE) $query")" 'sliced_functions.text_substr(' "$from: once"
    is "$(functions "PREPARE p AS $query" "EXPLAIN (VERBOSE) EXECUTE p")" 'sliced_functions.text_substr(' "$from: prepared"
    is "$(functions "PREPARE p AS $query" "EXECUTE p" "EXPLAIN (VERBOSE) EXECUTE p")" 'sliced_functions.text_substr(' "$from: prepared and executed"
    is "$(reads_little "SELECT count(*) FROM reads('$from')")" t "$from: in a function"
done
for target in parted parent; do
    is "$(reads_little "SELECT changes('$target')")" t "$target: changed in a function"
done

is "$(sql -c "PREPARE p AS SELECT substr(v, 500000, 10) FROM parted" -c "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p" \
    -c "REVOKE EXECUTE ON FUNCTION sliced_functions.text_substr(text, int, int) FROM public" -c "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p" \
    | grep -oE '[a-z._]*substr\(' | xargs)" 'sliced_functions.text_substr( substr(' "the plan goes when the function may no longer be called"
server_stop first
