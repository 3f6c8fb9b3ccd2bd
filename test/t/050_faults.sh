#!/bin/bash
# Statements that fail half way, for whatever reason, leave nothing behind.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

state="SELECT count(*), md5(string_agg(md5(t::text), ',' ORDER BY id)) FROM t"
verify="SELECT * FROM sliced.verify('t')"

server_start faults
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int PRIMARY KEY, v bytea, w text) USING sliced' \
    -c 'CREATE FUNCTION noise(n int) RETURNS bytea LANGUAGE sql AS $f$
        SELECT string_agg(sha512(random()::text::bytea), $$$$) FROM generate_series(0, n / 64) $f$' \
    -c 'INSERT INTO t SELECT i, noise(i * 1000), repeat(i::text, i * 900) FROM generate_series(1, 150) i'

# timeouts
expected=$(sql -c "$state")
for ((ms = 2; ms < 200; ms += 13)); do
    for statement in 'UPDATE t SET v = noise(length(v))' 'UPDATE t SET v = v || v, w = w || w' \
        'INSERT INTO t SELECT id + 1000, v, w FROM t' 'DELETE FROM t' 'VACUUM FULL t' 'CLUSTER t USING t_pkey'; do
        sql -c "SET statement_timeout = $ms" -c "BEGIN; SAVEPOINT s; $statement; SELECT 1 / 0; COMMIT" \
            -c "$statement" 2>>"$PGS_TMP/errors" && expected=$(sql -c "$state") || true
        case $statement in VACUUM* | CLUSTER*)
            sql -c "SET statement_timeout = $ms" -c "$statement" 2>>"$PGS_TMP/errors" || true ;;
        esac
    done
done
is "$(grep -v 'division by zero' "$PGS_TMP/errors" | grep ERROR | grep -cv 'canceling statement\|VACUUM cannot' || true)" 0 "no error but timeouts"
is "$(sql -c "$state")" "$expected" "$(grep -c 'statement timeout' "$PGS_TMP/errors") timeouts: contents"
is "$(sql -c 'SET statement_timeout = 0' -c "$verify")" '' "timeouts: verify"

# cancel and terminate
for signal in pg_cancel_backend pg_terminate_backend; do
    before=$(sql -c "$state")
    for ((i = 0; i < 12; i++)); do
        as_user env PGAPPNAME=victim "$PGS_BINDIR/psql" -X -q -c 'BEGIN' -c 'UPDATE t SET v = noise(length(v)) || v' \
            -c 'SAVEPOINT s' -c 'UPDATE t SET w = md5(w) || w' -c 'DELETE FROM t' -c 'ROLLBACK TO s' \
            -c 'COPY t TO $$/dev/null$$' -c 'SELECT 1 / 0' -c 'COMMIT' >/dev/null 2>&1 &
        sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
        sql -c "SELECT $signal(pid) FROM pg_stat_activity WHERE application_name = 'victim'" >/dev/null
        wait
    done
    is "$(sql -c "$state")" "$before" "$signal: contents"
    is "$(sql -c "$verify")" '' "$signal: verify"
done

# too little memory
(
    ulimit -v 700000
    server_start small shared_buffers=16MB max_parallel_workers=0
)
server_use small
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int, v text) USING sliced' \
    -c 'INSERT INTO t SELECT i, repeat(md5(i::text), 2000000) FROM generate_series(1, 2) i'
before=$(sql -c 'SELECT id, length(v), hashtext(left(v, 100000)) FROM t ORDER BY id')
failed=0
for statement in "UPDATE t SET v = v || v || v || v || v || v || v" 'INSERT INTO t SELECT 3, string_agg(v || v || v || v, $$$$) FROM t' \
    'SELECT length(upper(v || v || v || v || v || v)) FROM t'; do
    sql -c "$statement" >/dev/null 2>>"$PGS_TMP/memory" || failed=$((failed + 1))
done
is "$((failed > 0)) $(grep ERROR "$PGS_TMP/memory" | grep -cv 'out of memory')" '1 0' "out of memory is an error"
is "$(sql -c 'SELECT id, length(v), hashtext(left(v, 100000)) FROM t ORDER BY id')" "$before" "out of memory: contents"
is "$(sql -c "$verify")" '' "out of memory: verify"
server_stop small

# no space left: a limit to the size of files looks much the same
(
    ulimit -f 20480
    server_start full shared_buffers=16MB wal_recycle=off
)
server_use full
sql -c 'CREATE EXTENSION pg_sliced' -c "CREATE TABLE t (id int PRIMARY KEY, v bytea, w text) USING sliced" \
    -c 'CREATE FUNCTION noise(n int) RETURNS bytea LANGUAGE sql AS $f$
        SELECT string_agg(sha512(random()::text::bytea), $$$$) FROM generate_series(0, n / 64) $f$' \
    -c 'INSERT INTO t SELECT i, noise(i * 5000), repeat(i::text, i * 900) FROM generate_series(1, 60) i'
before=$(sql -c "$state")
failed=0
for statement in 'UPDATE t SET v = noise(500000)' 'INSERT INTO t SELECT id + 100, noise(500000) FROM t' \
    'ALTER TABLE t ALTER v TYPE text USING repeat(encode(v, $$hex$$), 9)' 'UPDATE t SET v = v || v || v || v'; do
    sql -c "$statement" 2>>"$PGS_TMP/full.log" || failed=$((failed + 1))
done
is "$failed $(grep ERROR "$PGS_TMP/full.log" | grep -cv 'File too large')" '4 0' "no space left is an error"
is "$(sql -c "$state")" "$before" "no space left: contents"
is "$(sql -c "$verify")" '' "no space left: verify"
is "$(sql -c 'VACUUM FULL t' -c "$state" -c "$verify")" "$before" "no space left: VACUUM FULL afterwards"
server_stop full
server_stop faults
