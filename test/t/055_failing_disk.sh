#!/bin/bash
# Disks that are full, or cannot read or write: relations, WAL, temporary files.  Every
# change is made to a heap table in the same transaction, so the two never differ.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

disk=$PGS_TMP/disk
gcc -O1 -g -fPIC -shared -U_FORTIFY_SOURCE -Wall -Werror "$PGS_ROOT/test/t/failing/failing.c" -ldl -o "$PGS_TMP/failing.so"

# order [KIND HOW N PATTERN]: what fails from now on; without arguments, nothing
order() {
    { printf '%-64s' "$*"; head -c 64 /dev/zero; } | as_user dd of="$disk" conv=notrunc status=none bs=128 iflag=fullblock
}
failed() {
    od -A n -t d4 -j 68 -N 4 "$disk" | xargs
}
up() {
    local n
    for ((n = 0; n < 600; n++)); do
        ! sql -c 'SELECT 1' >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    die "the server has not come back"
}

head -c 128 /dev/zero | as_user tee "$disk" >/dev/null
(
    export FAILING=$disk LD_PRELOAD=$PGS_TMP/failing.so
    server_start failing shared_preload_libraries=pg_sliced,sliced_spill shared_buffers=1MB fsync=on \
        synchronous_commit=on autovacuum=off max_parallel_workers_per_gather=0 wal_init_zero=on \
        min_wal_size=32MB max_wal_size=32MB data_sync_retry=off
)
server_use failing
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE EXTENSION sliced_spill' \
    -c 'CREATE TABLE s (id int PRIMARY KEY, doc jsonb, body text) USING sliced' \
    -c 'CREATE TABLE h (id int PRIMARY KEY, doc jsonb, body text) USING heap' \
    -c "CREATE FUNCTION filled(first int, n int) RETURNS TABLE (id int, doc jsonb, body text) LANGUAGE sql AS \$f\$
        SELECT i, (SELECT jsonb_object_agg('k' || j, md5((i * j)::text)) FROM generate_series(1, 600) j),
            (SELECT string_agg(sha512((i + j)::text::bytea)::text, '') FROM generate_series(1, 300) j)
        FROM generate_series(first, first + n - 1) i \$f\$" \
    -c 'INSERT INTO s SELECT * FROM filled(1, 20)' -c 'INSERT INTO h SELECT * FROM s'
relations=base/$(sql -c "SELECT oid FROM pg_database WHERE datname = 'postgres'")/

# Each for table $T; the last ones store the same rows in another way.
changes=(
    'DELETE FROM $T WHERE id >= 1000; INSERT INTO $T SELECT * FROM filled(1000, 10)'
    "UPDATE \$T SET doc = jsonb_set(doc, '{k7}', to_jsonb(md5(doc::text)))"
    "UPDATE \$T SET body = body || repeat(md5(body), 300), doc = doc || jsonb_build_object('n' || id, repeat(md5(body), 400))"
    'UPDATE $T SET body = reverse(body) WHERE id % 3 = 0'
    'DELETE FROM $T WHERE id >= 1000'
    "DELETE FROM \$T WHERE id >= 2000; COPY \$T FROM PROGRAM \$\$printf '%d\\t{}\\t%0200000d\\n' 2000 1 2001 2\$\$"
    'DELETE FROM $T WHERE id >= 2000; CREATE INDEX ON $T (length(body)); DROP INDEX $T_length_idx'
)
alone=(
    'VACUUM s'
    'CLUSTER s USING s_pkey'
    'CALL sliced.convert($$s$$)'
    'VACUUM FULL s'
)

wrong=0 failures=0
# Again if there is no answer: where another process could not write, the server stops a little later.
same() {
    local n said
    for ((n = 0; n < 100; n++)); do
        ! said=$(sql -c 'SELECT count(*) FROM (SELECT * FROM s EXCEPT SELECT * FROM h) d' \
            -c 'SELECT count(*) FROM (SELECT * FROM h EXCEPT SELECT * FROM s) d' \
            -c "SELECT * FROM sliced.verify('s')" 2>&1) || break
        sleep 0.1
    done
    [ "$said" = $'0\n0' ] || echo "# $said"
}

# run KIND HOW PATTERN STATEMENT: fail at the first call, the fourth, the 16th, ..., until none is left
run() {
    local nth said
    for ((nth = 1; ; nth *= 4)); do
        # what was read comes from the disk again
        [ "$1" != read ] || sql -c 'SELECT count(*) FROM filler' >/dev/null
        order "$1" "$2" "$nth" "$3"
        sql -c "$4" >/dev/null 2>>"$PGS_TMP/errors" || true
        [ "$(failed)" != 0 ] || break
        order
        failures=$((failures + 1))
        up
        said=$(same)
        if [ -n "$said" ]; then
            echo "# $1 $2 $nth $3: $4"
            echo "$said"
            wrong=$((wrong + 1))
        fi
    done
    order
    up
}
# of both tables
both() {
    echo "BEGIN; ${1//'$T'/s}; ${1//'$T'/h}; COMMIT"
}

sql -c "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 2000)"
for how in 'write full' 'write once' 'read once'; do
    # shellcheck disable=SC2086
    for statement in "${changes[@]}"; do run $how "$relations" "$(both "$statement")"; done
    # shellcheck disable=SC2086
    for statement in "${alone[@]}"; do run $how "$relations" "$statement"; done
done
is "$wrong" 0 "files of relations: contents, after $failures failures"
is "$((failures > 50))" 1 "there were many"

# what cannot be written to WAL stops the server, which recovers
failures=0 wrong=0
for how in 'write once' 'sync once'; do
    # shellcheck disable=SC2086
    for statement in "${changes[@]}"; do run $how pg_wal/ "$(both "$statement")"; done
done
is "$wrong" 0 "WAL: contents, after $failures failures"
is "$((failures > 15)) $(grep -c 'PANIC' "$PGS_TMP/failing/log" | sed 's/[1-9].*/some/')" '1 some' "the server was stopped by some"
is "$(grep ERROR "$PGS_TMP/errors" | grep -v 'No space left on device\|Input/output error' | sort | uniq -c)" "" "errors say what failed"

# temporary files
failures=0 wrong=0
sql -c "CREATE TABLE a AS SELECT i AS id, i % 3000 AS k, repeat(md5(i::text), 4) AS w FROM generate_series(1, 8000) i" -c 'ANALYZE a'
queries=(
    'SELECT count(*), sum(x.id::bigint * y.id) FROM a x JOIN a y ON x.k = y.k AND x.w <> y.w'
    'SELECT count(*), sum(n) FROM (SELECT k, w, count(*) AS n FROM a GROUP BY k, w) q'
    'SELECT count(*), sum(id * n) FROM (SELECT id, row_number() OVER (ORDER BY w, id) AS n FROM a) q'
)
for workers in 0 2; do
    settings="SET work_mem = '64kB'; SET enable_mergejoin = off; SET max_parallel_workers_per_gather = $workers;
        SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
    for query in "${queries[@]}"; do
        expected=$(sql -c "$settings" -c "$query")
        for how in 'write full' 'write once' 'read once'; do
            for ((nth = 1; ; nth *= 4)); do
                # shellcheck disable=SC2086
                order $how "$nth" pgsql_tmp
                got=$(sql -c "$settings; SET sliced.temp_file_compression = lz4" -c "$query" 2>>"$PGS_TMP/temp_errors") || got=error
                [ "$(failed)" != 0 ] || break
                order
                failures=$((failures + 1))
                if [ "$got" != error ] || find "$PGDATA/base/pgsql_tmp" -type f | grep -q .; then
                    echo "# $how $nth, $workers workers: $got: $query"
                    wrong=$((wrong + 1))
                fi
            done
            order
            [ "$got" = "$expected" ] || wrong=$((wrong + 1))
        done
    done
done
is "$wrong" 0 "temporary files: an error, and nothing left behind, after $failures failures"
is "$((failures > 50))" 1 "there were many"
is "$(grep ERROR "$PGS_TMP/temp_errors" | grep -v 'No space left on device\|Input/output error' | sort | uniq -c)" "" "errors say what failed"
server_stop failing
