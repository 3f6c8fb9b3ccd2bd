#!/bin/bash
# Compressed temporary files: what happens when they are damaged, and when statements end early.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start main autovacuum=off log_temp_files=0 shared_buffers=64MB
sql <<'END'
CREATE EXTENSION sliced_spill;
CREATE TABLE a AS SELECT i AS id, i % 20000 AS k, repeat(md5(i::text), 6) AS w FROM generate_series(1, 40000) i;
CREATE TABLE b AS SELECT i AS id, i % 30000 AS k, repeat(md5(i::text), 6) AS w FROM generate_series(1, 40000) i;
VACUUM ANALYZE a, b;
END
settings="LOAD 'sliced_spill'; SET work_mem = '256kB'; SET hash_mem_multiplier = 1; SET enable_mergejoin = off;
    SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET sliced.temp_file_compression = lz4;"
query='SELECT count(*), sum(length(a.w) + length(b.w)) FROM a JOIN b ON a.k = b.k'
expected=$(sql -c "$query")
# of each node: rows, and whether what comes out is right
rows=('SELECT a.id, b.id AS n FROM a JOIN b ON a.k = b.k' 'SELECT w, count(*) AS n FROM a GROUP BY w OFFSET 0' 'SELECT w, id AS n FROM a ORDER BY w, id OFFSET 0')
nodes=('Spill)' 'Spill Groups' 'Spill Runs')
plan=('' 'SET enable_sort = off' 'SET enable_hashagg = off')
summary() { echo "SELECT count(*), sum(n), sum(r * (n % 7)) FROM (SELECT n, CASE WHEN $2 THEN row_number() OVER () END AS r FROM ($1) q) p"; }
files() { as_user find "$PGDATA/base/pgsql_tmp" -type f 2>/dev/null | wc -l; }
try() { sql -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 -c "$settings" "$@" 2>&1; }

is "$(try -c "$query")" "$expected" "a join on temporary files"
is "$(as_user grep -c 'temporary file: path' "$PGDATA/../log")" "$(as_user grep -c 'pgsql_tmp' "$PGDATA/../log")" "log_temp_files tells of them"
is "$(sql -c "SELECT pg_stat_clear_snapshot()" -c "SELECT temp_files > 50 AND temp_bytes > 1000000 FROM pg_stat_database WHERE datname = 'postgres'" | tail -n 1)" t \
    "pg_stat_database counts them"
is "$(files)" 0 "none is left"
for i in 0 1 2; do
    is "$(try -c "${plan[i]}" -c "EXPLAIN ${rows[i]}" | grep -c "${nodes[i]}")" 1 "the plan has a node: ${nodes[i]}"
    is "$(try -c "${plan[i]}" -c "$(summary "${rows[i]}" "$((i == 2))::bool")")" "$(sql -c "${plan[i]}" -c "$(summary "${rows[i]}" "$((i == 2))::bool")")" \
        "rows are the same: ${rows[i]}"
done

# ---- other places, and how often they are written and read ----
as_user mkdir "$PGS_TMP/one" "$PGS_TMP/two"
sql -c "CREATE TABLESPACE one LOCATION '$PGS_TMP/one'" -c "CREATE TABLESPACE two LOCATION '$PGS_TMP/two'"
for i in 0 1 2; do
    try -c "SET temp_tablespaces = one, two" -c "${plan[i]}" -c 'BEGIN' -c "DECLARE c NO SCROLL CURSOR FOR ${rows[i]}" -c 'MOVE 1 IN c' \
        -c "COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; find $PGS_TMP/one $PGS_TMP/two -type f | sed s,PG_.*,, | sort -u >$PGS_TMP/places'" -c 'COMMIT' >/dev/null
    is "$(as_user cat "$PGS_TMP/places" | sed "s,$PGS_TMP/,," | xargs)" 'one/ two/' "temp_tablespaces: ${nodes[i]}"
    is "$(try -c "${plan[i]}" -c "SET track_io_timing = on" -c "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${rows[i]}" | python3 -c '
import json, sys
plan = json.load(sys.stdin)[0]["Plan"]
read, written = plan["Temp Read Blocks"], plan["Temp Written Blocks"]
print(written > 50 and abs(read - written) <= 0.05 * written and plan["Temp I/O Write Time"] > 0 and plan["Temp I/O Read Time"] > 0)')" True "EXPLAIN (BUFFERS) counts blocks: ${nodes[i]}"
done
is "$(as_user find "$PGS_TMP/one" "$PGS_TMP/two" -type f | wc -l)" 0 "none is left"

# ---- damage: one byte of each file, while a cursor is open ----
for place in 3 16 22 200; do
    cat >"$PGS_TMP/damage" <<END
for file in base/pgsql_tmp/*; do
    byte=\$(od -An -tu1 -j$place -N1 "\$file")
    printf "\\\\\$(printf %03o \$((byte ^ 64)))" | dd of="\$file" bs=1 seek=$place conv=notrunc status=none
done
END
    chmod 755 "$PGS_TMP/damage"
    for i in 0 1 2; do
        # a sort has the first block of each run in memory by then
        [ "$i" = 2 ] && sed -i 's/bs=1 seek=\([0-9]*\)/bs=1 seek=$(($(stat -c %s "$file") - 1 - \1))/; s/-j\([0-9]*\)/-j$(($(stat -c %s "$file") - 1 - \1))/' "$PGS_TMP/damage"
        is "$(try -c "${plan[i]}" -c 'BEGIN' -c "DECLARE c NO SCROLL CURSOR FOR ${rows[i]}" -c 'MOVE 1 IN c' \
            -c "COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; bash $PGS_TMP/damage'" -c 'MOVE ALL IN c' -c 'ROLLBACK' -c "$query")" \
            $'ERROR:  XX001\n'"$expected" "byte $place of the files is damaged: ${nodes[i]}"
    done
done
is "$(files)" 0 "none is left"

# what the header of a block says: the first files' first block
damage() {
    # shellcheck disable=SC2016
    printf 'cat >/dev/null\nfor file in base/pgsql_tmp/*; do %s; done\n' "$1" >"$PGS_TMP/damage"
}
flip() { echo "printf '\\x$2' | dd of=\$file bs=1 seek=$1 conv=notrunc status=none"; }
long="SELECT t, count(*) AS n FROM (SELECT lpad(id::text, 50, 'x') AS t FROM a OFFSET 0) q GROUP BY t"
noise="SELECT t, count(*) AS n FROM (SELECT sha512(id::text::bytea) || sha512(k::text::bytea) AS t FROM a OFFSET 0) q GROUP BY t"
while IFS='|' read -r codec name how; do
    damage "$how"
    is "$(try -c "${plan[1]}" -c "SET sliced.temp_file_compression = $codec" -c BEGIN -c "DECLARE c NO SCROLL CURSOR FOR $([ "$codec" = lz4 ] && echo "$long" || echo "$noise")" \
        -c 'MOVE 1 IN c' -c "COPY (SELECT 1) TO PROGRAM 'bash $PGS_TMP/damage'" -c 'MOVE ALL IN c' -c ROLLBACK)" 'ERROR:  XX001' "a block's header: $name"
done <<END
lz4|the codec|$(flip 32 63)
lz4|more bytes than there are|$(flip 19 7f)
lz4|more rows|$(flip 26 ff)
lz4|shorter rows|$(flip 28 04)
lz4|longer rows|$(flip 30 ff)
lz4|fewer bytes in memory|$(flip 20 '00\x00\x00\x00\x00\x00\x00\x00')
pglz|rows by words, and not compressed|$(flip 24 07)
pglz|two lengths of what is not compressed|$(flip 21 01)
lz4|the file's end is missing|truncate -s -9 \$file
END
is "$(files)" 0 "none is left"

# ---- statements that end early ----
for i in 0 1 2; do
    is "$(try -c "${plan[i]}" -c "SET statement_timeout = '10ms'" -c "$(summary "${rows[i]}" false)" -c 'RESET statement_timeout' -c "$query")" \
        $'ERROR:  57014\n'"$expected" "statement_timeout: ${nodes[i]}"
    is "$(files)" 0 "none is left"
    is "$(try -c "${plan[i]}" -c "SET temp_file_limit = '200kB'" -c "$(summary "${rows[i]}" false)" -c 'RESET temp_file_limit' -c "$query")" \
        $'ERROR:  53400\n'"$expected" "temp_file_limit: ${nodes[i]}"
    is "$(files)" 0 "none is left"
done
is "$(try -c 'SELECT a.id > 0 FROM a JOIN b ON a.k = b.k LIMIT 1')" t "LIMIT"
is "$(files)" 0 "none is left"
is "$(try -c 'BEGIN' -c 'SAVEPOINT s' -c 'DECLARE c CURSOR FOR SELECT a.id, b.id FROM a JOIN b ON a.k = b.k' -c 'MOVE 100 IN c' -c 'ROLLBACK TO s' -c "$query" -c 'COMMIT')" \
    "$expected" "a savepoint is rolled back to"
is "$(files)" 0 "none is left"

sql -c "$settings" -c 'BEGIN' -c 'DECLARE c CURSOR FOR SELECT a.id, b.id FROM a JOIN b ON a.k = b.k' -c 'MOVE 1 IN c' -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
until [ "$(sql -c "SELECT count(*) FROM pg_stat_activity WHERE query ~ 'pg_sleep.600' AND pid <> pg_backend_pid()")" = 1 ]; do sleep 0.1; done
is "$(($(files) > 10))" 1 "a session has some"
server_kill
wait
server_start main
is "$(files)" 0 "none is left after a crash"

# ---- memory: not much more than core's takes ----
peak() {
    sql -c "$settings" -c "SET work_mem = '4MB'" -c "SET sliced.temp_file_compression = $1" -c "${plan[i]}" -c "$(summary "${rows[i]}" false)" \
        -c "SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s*(\d+) kB'))[1]" | tail -n 1
}
for i in 0 1 2; do
    core=$(peak off)
    ours=$(peak lz4)
    is "$((ours < core + 1536))" 1 "memory: $ours kB, of core's $core kB: ${nodes[i]}"
done

# the same for groups that grow when all of them have come
rows[3]='SELECT k % 2000, cardinality(array_agg(id)) AS n FROM a, generate_series(1, 30) GROUP BY 1 OFFSET 0'
plan[3]='SET enable_sort = off; SET jit = off'
core=$(i=3 peak off)
ours=$(i=3 peak lz4)
is "$((ours < core + 1536))" 1 "memory: $ours kB, of core's $core kB: groups that grow"
