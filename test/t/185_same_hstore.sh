#!/bin/bash
# contrib/sliced_hstore: whatever is read of hstores or changed in them, results and
# errors, is the same as heap's; it costs a part of the value; and nothing is lost
# when the toaster is dropped.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

[ -e "$PGS_TREE$("$PG_CONFIG" --sharedir)/extension/sliced_hstore.control" ] || {
    echo "# skipped: contrib/sliced_hstore: this server has no hstore"
    exit
}
dir=$PGS_ROOT/test/t/hstore seed=${SEED:-15} count=${CASES:-2500}
echo "# seed $seed, $count cases; SEED=... and CASES=... for others"

# on_am ACCESS_METHOD: make the tables and run the cases.
on_am() {
    sql -v am="$1" -f "$dir/tables.sql"
    PGOPTIONS="-c search_path=on_$1,public" sql -v ON_ERROR_STOP=0 -e -f "$PGS_TMP/cases.sql" 2>&1 |
        sed 's/^psql:.*: ERROR:/ERROR:/' >"$PGS_TMP/$1"
}

server_start hstore max_wal_size=4GB
sql -c 'CREATE EXTENSION sliced_hstore CASCADE' -c "ALTER DATABASE postgres SET default_toast_compression = $(best_method)" \
    -c 'CREATE FUNCTION show(t text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN length(t) < 60 THEN t ELSE length(t) || md5(t) END $$' 2>"$PGS_TMP/notices"
python3 "$dir/cases.py" "$seed" "$count" >"$PGS_TMP/cases.sql"
on_am heap &
heap=$!
on_am sliced
wait "$heap"
if diff -U3 "$PGS_TMP/heap" "$PGS_TMP/sliced" >"$PGS_TMP/diff"; then
    echo "ok - $(grep -c '^UPDATE v' "$PGS_TMP/cases.sql") changes, $(grep -c '^ERROR' "$PGS_TMP/heap") errors"
else
    echo "not ok - $(grep -c '^@@' "$PGS_TMP/diff") differences"
    cut -c 1-300 "$PGS_TMP/diff" | sed -n '1,40s/^/# /p'
fi
is "$(sql -c "SELECT * FROM sliced.verify('on_sliced.v')")" '' "verify finds nothing"

awk '/^(UPDATE|SELECT) / && ++n <= 900 { print "EXPLAIN (VERBOSE, COSTS OFF) " $0 }' "$PGS_TMP/cases.sql" >"$PGS_TMP/explain.sql"
PGOPTIONS='-c search_path=on_sliced,public -c client_min_messages=log -c debug_print_plan=on -c debug_pretty_print=off' \
    sql -v ON_ERROR_STOP=0 -f "$PGS_TMP/explain.sql" >"$PGS_TMP/plans" 2>&1
called=$(grep -aoE ':(op)?funcid [0-9]+' "$PGS_TMP/plans" | cut -d ' ' -f 2 | sort -un | xargs | tr ' ' ,)
is "$(sql -c "SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^sliced_hstore_' AND oid NOT IN ($called)")" '' "all functions are called"

# ---- what it costs: 200 short values between long ones, 1.4 MB ----

sql <<'SQL'
CREATE TABLE costs (id int, h hstore) USING sliced;
INSERT INTO costs SELECT 1, on_heap.pairs(200) || hstore(ARRAY['b', 'long', 'longest'], ARRAY[on_heap.noise(30000, 3), on_heap.noise(500000, 1), on_heap.noise(900000, 2)]);
CREATE TABLE theirs (LIKE costs) USING heap;
INSERT INTO theirs TABLE costs;
-- the second run has what the first has found in the catalogs
CREATE FUNCTION blocks(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
-- the least of several runs, which have their numbers for %: some write whole pages
CREATE FUNCTION wal(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before pg_lsn;
    result bigint;
BEGIN
    FOR i IN 1 .. 5 LOOP
        before := pg_current_wal_insert_lsn();
        EXECUTE replace(statement, '%', i::text);
        result := least(result, pg_current_wal_insert_lsn() - before);
    END LOOP;
    RETURN result;
END $$;
SQL

# at_most LIMIT TIMES blocks|wal STATEMENT: no more than LIMIT, and heap takes so many times as much.
at_most() {
    local ours theirs
    ours=$(sql -c "SELECT $3(\$\$$4\$\$)")
    theirs=$(sql -c "SELECT $3(\$\$${4/costs/theirs}\$\$)")
    is "$((ours <= $1)) $((theirs >= $2 * ours))" "1 1" "$3: $4 ($ours, heap $theirs)"
}
at_most 8 20 blocks "SELECT h -> 'k6' FROM costs"
at_most 8 20 blocks "SELECT h ? 'none', h['kk7'] FROM costs"
at_most 8 20 blocks "SELECT h -> ARRAY['k6', 'k101'], h @> 'k6=>x' FROM costs"
at_most 18 10 blocks "SELECT h -> 'b' FROM costs"
at_most 1000 1000 wal "UPDATE costs SET h['k6'] = '%'"
at_most 1000 1000 wal "UPDATE costs SET h = h || 'kkkk199=>%'"
at_most 2400 500 wal "UPDATE costs SET h = 'aaa%=>1' || h"
at_most 2000 500 wal "UPDATE costs SET h = h - 'aaa%'::text"
at_most 1200 1000 wal "UPDATE costs SET h = (SELECT hstore(array_agg(key), array_agg(CASE WHEN key = 'k6' THEN 'whole %' ELSE value END)) FROM each(h))"
at_most 200 1000 wal "UPDATE costs SET h = h || 'k6=>\"whole 5\"'"

# ---- the toaster goes while a session has plans that call it ----

sql -c 'UPDATE theirs SET h = costs.h FROM costs'
cat >"$PGS_TMP/kept.sql" <<SQL
PREPARE r AS SELECT md5(slice(h, '{k6,b}')::text), h -> 'kk7', h['b'] IS NULL FROM costs;
PREPARE w AS UPDATE costs SET h = h || hstore('k6', \$1::text) - ARRAY['kkk8', \$1];
PREPARE w2 AS UPDATE theirs SET h = h || hstore('k6', \$1::text) - ARRAY['kkk8', \$1];
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE r;
EXECUTE r;
PREPARE s AS UPDATE costs SET h['new'] = \$1, h['kk7'] = h -> 'k6';
PREPARE s2 AS UPDATE theirs SET h['new'] = \$1, h['kk7'] = h -> 'k6';
EXECUTE w('one');
EXECUTE s('one');
EXECUTE s2('one');
EXECUTE w2('one');
BEGIN;
EXECUTE w('rolled back');
ROLLBACK;
\\! "$PGS_BINDIR/psql" -X -q -c 'DROP EXTENSION sliced_hstore'
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE r;
EXECUTE r;
EXECUTE w('two');
EXECUTE w2('two');
EXECUTE s('two');
EXECUTE s2('two');
EXECUTE r;
SELECT count(*) FROM costs JOIN theirs USING (id) WHERE hstore_hash_extended(costs.h, 0) IS DISTINCT FROM hstore_hash_extended(theirs.h, 0);
SELECT name FROM sliced.toasters WHERE type = 'hstore'::regtype;
\\! "$PGS_BINDIR/psql" -X -q -c 'CREATE EXTENSION sliced_hstore'
DISCARD PLANS;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE r;
SQL
sql -f "$PGS_TMP/kept.sql" >"$PGS_TMP/kept" 2>&1 || true
is "$(grep -o 'sliced_hstore_slice\|[^_]slice(\|ERROR.*\|^[0-9]$' "$PGS_TMP/kept" | tr -d '( ' | xargs)" "sliced_hstore_slice slice 0 sliced_hstore_slice" "plans are made anew when the toaster goes and comes"

# Written with the toaster, changed with and without it: what is there is what heap has.
sql -c 'DROP EXTENSION sliced_hstore'
state="SELECT md5(string_agg(concat(id, md5(hstore_send(h)), hstore_hash_extended(h, 0), hstore_hash_extended(d, 0)), ',' ORDER BY id)) FROM"
same() {
    is "$(sql -c "$state on_sliced.v")" "$(sql -c "$state on_heap.v")" "without the toaster: $1"
    is "$(sql -c "SELECT * FROM sliced.verify('on_sliced.v')")" '' "verify: $1"
}
same "values are read"
for am in heap sliced; do
    sql -c "UPDATE on_$am.v SET h = h || 'k5=>five, gone=>yes', d['k7'] = 'seven'" -c "UPDATE on_$am.v SET h = h - 'k3'::text WHERE id % 2 = 0" \
        -c "UPDATE on_$am.v SET h = (SELECT hstore(array_agg(key), array_agg(upper(value))) FROM each(h)) WHERE id > 3"
done
same "changed"
as_user "$PGS_BINDIR/pg_dump" -n on_sliced postgres >"$PGS_TMP/dump"
sql -c 'CREATE DATABASE two'
sql -d two -c 'CREATE EXTENSION hstore; CREATE EXTENSION pg_sliced' -f "$PGS_TMP/dump" >"$PGS_TMP/restored" 2>&1
is "$(sql -d two -c "$state on_sliced.v")" "$(sql -c "$state on_heap.v")" "without the toaster: dumped and restored"
sql -c 'VACUUM FULL on_sliced.v'
same "VACUUM FULL"
sql -c 'ALTER TABLE on_sliced.v SET ACCESS METHOD heap'
is "$(sql -c "$state on_sliced.v")" "$(sql -c "$state on_heap.v")" "without the toaster: back to heap"
server_stop hstore
