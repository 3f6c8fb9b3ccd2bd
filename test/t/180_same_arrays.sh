#!/bin/bash
# Arrays: whatever is read of them or changed in them, results and errors, and the
# arrays' bytes, are the same as heap's.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

dir=$PGS_ROOT/test/t/arrays seed=${SEED:-15} count=${CASES:-2500}
echo "# seed $seed, $count cases; SEED=... and CASES=... for others"

# on_am ACCESS_METHOD: make the tables and run the cases.
on_am() {
    sql -v am="$1" -f "$dir/tables.sql"
    PGOPTIONS="-c search_path=on_$1,public" sql -v ON_ERROR_STOP=0 -e -f "$PGS_TMP/cases.sql" 2>&1 |
        sed -E 's/^psql:[^ ]*: (ERROR|NOTICE):/\1:/' >"$PGS_TMP/$1"
}

server_start arrays max_wal_size=4GB
sql -c 'CREATE EXTENSION pg_sliced' -c "ALTER DATABASE postgres SET default_toast_compression = $(best_method)" -f "$dir/types.sql"
python3 -B "$dir/cases.py" "$seed" "$count" >"$PGS_TMP/cases.sql"
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
is "$(sql -c "SELECT * FROM sliced.verify('on_sliced.v')")" '' "verify finds nothing"
columns=$(sql -c "SELECT string_agg('raw(' || attname || ')', ', ') FROM pg_attribute WHERE attrelid = 'on_heap.v'::regclass AND attnum > 3")
for table in v seen; do
    for am in heap sliced; do
        sql -c "SET search_path = on_$am" -c "SELECT name, $columns FROM $table " | sort >"$PGS_TMP/$table.$am"
    done
    is "$(<"$PGS_TMP/$table.sliced")" "$(<"$PGS_TMP/$table.heap")" "$table: the same bytes"
done

# That plans call our functions for all of this EXPLAIN does not show; their
# numbers do.
awk '/^(UPDATE|SELECT) / && ++n <= 900 { print "EXPLAIN (VERBOSE, COSTS OFF) " $0 }' "$PGS_TMP/cases.sql" >"$PGS_TMP/explain.sql"
PGOPTIONS='-c search_path=on_sliced,public -c client_min_messages=log -c debug_print_plan=on -c debug_pretty_print=off' \
    sql -v ON_ERROR_STOP=0 -f "$PGS_TMP/explain.sql" >"$PGS_TMP/plans" 2>&1
called=$(grep -aoE ':(op)?funcid [0-9]+' "$PGS_TMP/plans" | cut -d ' ' -f 2 | sort -un | xargs | tr ' ' ,)
is "$(sql -c "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'sliced_functions'::regnamespace AND proname ~ '^(edit_)?array_' AND proname <> 'array_toaster'
    AND oid NOT IN ($called)")" '' "all our functions are called"
is "$(sql -c "SELECT name, count(*) > 5 AND bool_or(codec = 'node') FROM on_sliced.v, sliced.inspect(i) WHERE name IN ('changed', 'grown') GROUP BY 1 ORDER BY 1")" \
    $'changed|t\ngrown|t' "arrays have roots and several slices"
server_stop arrays
