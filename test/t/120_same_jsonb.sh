#!/bin/bash
# Documents of type jsonb: whatever is read of them or changed in them, results
# and errors, and the documents' bytes, are the same as heap's.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

dir=$PGS_ROOT/test/t/jsonb seed=${SEED:-15} count=${CASES:-1000} folder=${FOLDER:-}
echo "# seed $seed, $count cases; SEED=... and CASES=... for others"

# on_am ACCESS_METHOD: make the tables, run the cases, and look at what they left.
on_am() {
    DOCUMENTS=$PGS_TMP/documents sql -v am="$1" -f "$dir/tables.sql"
    PGOPTIONS="-c search_path=on_$1 -c default_table_access_method=$1" sql -v ON_ERROR_STOP=0 -e -f "$PGS_TMP/cases.sql" -f "$dir/same.sql" 2>&1 |
        sed -E 's/^psql:[^ ]*: (ERROR|NOTICE):/\1:/; /^CONTEXT:  parallel worker/d' >"$PGS_TMP/$1"
}

server_start jsonb max_wal_size=4GB wal_level=logical
sql -c 'CREATE EXTENSION pg_sliced' -c "ALTER DATABASE postgres SET default_toast_compression = $(best_method)"
python3 -B "$dir/cases.py" "$seed" "$count" "$PGS_TMP" ${folder:+"$folder"}
on_am heap &
heap=$!
on_am sliced
wait "$heap"
if diff -U5 "$PGS_TMP/heap" "$PGS_TMP/sliced" >"$PGS_TMP/diff"; then
    echo "ok - $(grep -c 'UPDATE' "$PGS_TMP/cases.sql") changes, $(grep -c '^ERROR' "$PGS_TMP/heap") errors"
else
    echo "not ok - $(grep -c '^@@' "$PGS_TMP/diff") differences"
    cut -c 1-400 "$PGS_TMP/diff" | head -n 60 | sed 's/^/# /'
fi
is "$(sql -c "SELECT t, problem.* FROM (VALUES ('v'), ('w'), ('audit'), ('pool')) names(t), sliced.verify(('on_sliced.' || t)::regclass) problem")" '' "verify finds nothing"

# That plans call our functions for all of this EXPLAIN does not show; their
# numbers do.  Given documents may lack what some are called for.
if [ -z "$folder" ]; then
    awk '/^(UPDATE|SELECT) / && ++n <= 3000 { print "EXPLAIN (VERBOSE, COSTS OFF) " $0 }' "$PGS_TMP/cases.sql" >"$PGS_TMP/explain.sql"
    PGOPTIONS='-c search_path=on_sliced -c client_min_messages=log -c debug_print_plan=on -c debug_pretty_print=off' \
        sql -v ON_ERROR_STOP=0 -f "$PGS_TMP/explain.sql" >"$PGS_TMP/plans" 2>&1
    called=$(grep -aoE ':(op)?funcid [0-9]+' "$PGS_TMP/plans" | cut -d ' ' -f 2 | sort -un | xargs | tr ' ' ,)
    is "$(sql -c "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'sliced_functions'::regnamespace AND proname ~ 'json' AND proname !~ '_toaster$'
        AND (proname <> 'jsonb_for_query' OR $PG_MAJOR >= 16)
        AND oid NOT IN ($called)")" '' "all our functions are called"
fi
server_stop jsonb
