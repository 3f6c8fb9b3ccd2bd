#!/bin/bash
# Logical decoding on a standby (PostgreSQL 16), and slots that are synchronized to one
# (17): subscribers get the primary's rows, or the decoder stops; it never passes over
# a value.  036 does it all again where the servers preload the library (PRELOADED).
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"

if [ "$PG_MAJOR" -lt 16 ]; then
    echo "# skipped: PostgreSQL $PG_MAJOR does not decode on standbys"
    exit 0
fi

dense='CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $f$
    SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), $$hex$$), $$$$), n) FROM generate_series(0, n / 128) i $f$'
server_start primary wal_level=logical hot_standby=on max_wal_senders=9 autovacuum=off wal_sender_timeout=60s \
    shared_preload_libraries="${PRELOADED:-}"
on primary -c 'CREATE EXTENSION pg_sliced' -c "$dense" -c 'CREATE TABLE t (id int PRIMARY KEY, v text, n int DEFAULT 0) USING sliced' \
    -c 'INSERT INTO t SELECT i, dense(i * 500, i) FROM generate_series(1, 30) i' -c "SELECT pg_create_physical_replication_slot('standby')" >/dev/null
standby_start primary standby hot_standby_feedback=on wal_receiver_status_interval=1s primary_slot_name=standby
server_start sub
on sub -c 'CREATE TABLE t (id int PRIMARY KEY, v text, n int)'

contents='SELECT id, n, length(v), md5(v) FROM t ORDER BY id'
# What of a value is stored how?
forms() {
    on primary -c "SELECT DISTINCT object IS NOT NULL FROM t, sliced.inspect(v) WHERE id = $1"
}
# A value as changes() shows it.
short() {
    on "${2:-primary}" -c "SELECT left(v, 9) || '..' || right(v, 9) FROM t WHERE id = $1"
}
# Make a slot on the standby, which waits for the primary's running transactions.
slot_on_standby() {
    on standby -c "SELECT FROM pg_create_logical_replication_slot('$1', 'test_decoding')" >/dev/null &
    local pid=$!
    while kill -0 $pid 2>/dev/null; do
        on primary -c 'SELECT pg_log_standby_snapshot()' >/dev/null
        sleep 0.3
    done
    wait $pid
}
caught_up() {
    until_true standby "SELECT pg_last_wal_replay_lsn() >= '$(on primary -c 'SELECT pg_current_wal_insert_lsn()')'"
}
changes() {
    on standby -c "SELECT regexp_replace(data, '''([^'']{9})[^'']*([^'']{9})''', '\1..\2') FROM pg_logical_slot_get_changes('$1', NULL, NULL) WHERE data ~ '^table'" 2>&1 |
        sed -E 's/(toast chunk) [0-9]+/\1/; s/entry -?[0-9]+/entry/; s/^psql.*ERROR/ERROR/' | grep -v CONTEXT
}

# the standby's feedback tells the primary that somebody decodes there
on primary -c "INSERT INTO t SELECT 100, dense(9000, 1)"
is "$(forms 100)" t "without a slot anywhere, slices"
slot_on_standby decoder
until_true primary "SELECT catalog_xmin IS NOT NULL FROM pg_replication_slots WHERE slot_name = 'standby'"
on primary -c "INSERT INTO t SELECT 101, dense(9000, 101)" -c "UPDATE t SET v = v || 'grown' WHERE id = 100" -c "UPDATE t SET n = 1 WHERE id = 30"
caught_up
is "$(changes decoder)" "table public.t: INSERT: id[integer]:101 v[text]:$(short 101) n[integer]:0
table public.t: UPDATE: id[integer]:100 v[text]:$(short 100) n[integer]:0
table public.t: UPDATE: id[integer]:30 v[text]:unchanged-toast-datum n[integer]:1" "a slot on the standby"
on standby -c "SELECT pg_drop_replication_slot('decoder')" >/dev/null
on primary -c 'CREATE PUBLICATION pub FOR TABLE t'
caught_up
on sub -c "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGS_TMP/standby/socket port=5432 user=postgres dbname=postgres' PUBLICATION pub" &
pid=$!
while kill -0 $pid 2>/dev/null; do
    on primary -c 'SELECT pg_log_standby_snapshot()' >/dev/null
    sleep 0.3
done
wait $pid
until_true primary "SELECT catalog_xmin IS NOT NULL FROM pg_replication_slots WHERE slot_name = 'standby'"
for ((i = 0; i < 200; i++)); do
    on primary -c 'SELECT pg_log_standby_snapshot()' >/dev/null
    [ "$(on sub -c "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")" != 0 ] || break
    sleep 0.2
done
on primary -c "UPDATE t SET v = v || id WHERE id % 2 = 0" -c "UPDATE t SET v = overlay(v PLACING 'new' FROM 50), n = n + 1 WHERE id % 3 = 0" \
    -c "DELETE FROM t WHERE id % 7 = 0" -c "BEGIN; UPDATE t SET v = dense(20000, id) WHERE id < 9; SAVEPOINT s; UPDATE t SET v = v || 'lost'; ROLLBACK TO s; COMMIT" \
    -c "INSERT INTO t SELECT i, dense(i * 100, i) FROM generate_series(200, 230) i" -c 'VACUUM FULL t' -c 'UPDATE t SET n = n + 1'
expected=$(on primary -c "$contents")
for ((i = 0; i < 300; i++)); do
    [ "$(on sub -c "$contents")" != "$expected" ] || break
    sleep 0.2
done
is "$(on sub -c "$contents")" "$expected" "a subscriber of the standby"
on sub -c 'DROP SUBSCRIPTION sub'
until_true primary "SELECT catalog_xmin IS NULL FROM pg_replication_slots WHERE slot_name = 'standby'"
on primary -c "INSERT INTO t SELECT 102, dense(9000, 102)"
is "$(forms 102)" t "when the last slot is gone, slices again"

# no feedback: the primary cannot know.  The decoder stops where a value is stored as slices.
on standby -c 'ALTER SYSTEM SET hot_standby_feedback = off' -c 'SELECT pg_reload_conf()' >/dev/null
on primary -c "INSERT INTO t SELECT i, dense(9000, i) || 'tail' FROM generate_series(300, 302) i" -c "UPDATE t SET v = v || 'tail' WHERE id BETWEEN 300 AND 302"
# (With assertions core's own error handling ends in one.)
number=0
[ "$(on primary -c 'SHOW debug_assertions')" = on ] ||
for change in "UPDATE t SET v = v || 'x' WHERE id = 300" "UPDATE t SET v = overlay(v PLACING 'x' FROM 99) WHERE id = 301" "INSERT INTO t SELECT 310, dense(9000, 310)"; do
    number=$((number + 1))
    slot_on_standby blind$number
    on primary -c "$change"
    caught_up
    case $change in *310*) id=310 ;; *300) id=300 ;; *) id=301 ;; esac
    if [ -z "${PRELOADED:-}" ]; then
        is "$(changes blind$number)" 'ERROR:  got sequence entry for toast chunk instead of seq 0' "the decoder stops: $change"
    else
        is "$(changes blind$number)" "table public.t: ${change%% *}: id[integer]:$id v[text]:$(short $id) n[integer]:0" "it does not need to know: $change"
    fi
    on standby -c "SELECT pg_drop_replication_slot('blind$number')" >/dev/null
done
if [ -z "${PRELOADED:-}" ]; then
    slot_on_standby told
    on primary -c 'SET sliced.logical_decoding = on' -c "UPDATE t SET v = v || 'y' WHERE id = 300" -c "DELETE FROM t WHERE id = 301" -c "UPDATE t SET v = 'short' WHERE id = 302"
    caught_up
    is "$(changes told)" "table public.t: UPDATE: id[integer]:300 v[text]:$(short 300) n[integer]:0
table public.t: DELETE: id[integer]:301
table public.t: UPDATE: id[integer]:302 v[text]:'short' n[integer]:0" "sliced.logical_decoding = on: it goes on"
    on standby -c "SELECT pg_drop_replication_slot('told')" >/dev/null
fi

# a slot of the primary that is synchronized goes on when the standby is promoted
if [ "$PG_MAJOR" -ge 17 ]; then
    on standby -c 'ALTER SYSTEM SET hot_standby_feedback = on' -c 'SELECT pg_reload_conf()' >/dev/null
    on primary -c "SELECT FROM pg_create_logical_replication_slot('kept', 'test_decoding', failover => true)" >/dev/null
    on primary -c 'SELECT pg_log_standby_snapshot()' -c "INSERT INTO t SELECT 400, dense(9000, 400)" >/dev/null
    caught_up
    for ((i = 0; i < 100; i++)); do
        on standby -c "SET statement_timeout = '2s'" -c 'SELECT pg_sync_replication_slots()' >/dev/null 2>"$PGS_TMP/error" || true
        [ "$(on standby -c "SELECT NOT temporary AND synced FROM pg_replication_slots WHERE slot_name = 'kept'")" != t ] || break
        on primary -c 'SELECT pg_log_standby_snapshot()' -c "SELECT count(*) FROM pg_logical_slot_get_changes('kept', NULL, NULL)" >/dev/null
        caught_up
    done
    on primary -c "UPDATE t SET v = v || 'last' WHERE id = 400"
    last=$(short 400)
    caught_up
    server_stop primary immediate
    (server_use standby && as_user "$PGS_BINDIR/pg_ctl" -s -w -D "$PGDATA" promote)
    on standby -c "INSERT INTO t SELECT 401, dense(9000, 401)" -c "UPDATE t SET v = v || 'more' WHERE id = 400"
    is "$(changes kept | sed -n '/:400.*last/,$p')" "table public.t: UPDATE: id[integer]:400 v[text]:$last n[integer]:0
table public.t: INSERT: id[integer]:401 v[text]:$(short 401 standby) n[integer]:0
table public.t: UPDATE: id[integer]:400 v[text]:$(short 400 standby) n[integer]:0" \
        "a synchronized slot goes on after promotion"
fi
on standby -c "SELECT * FROM sliced.verify('t')" >"$PGS_TMP/verify" 2>&1 || true
is "$(grep -v 'cannot execute' "$PGS_TMP/verify" || true)" '' "verify finds nothing"
server_stop sub
