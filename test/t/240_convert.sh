#!/bin/bash
# sliced.convert() while writers, readers, VACUUM, a standby and a subscriber are at work; it is
# cancelled, its server is killed, and it is called again.
#
# What is done to the table is done to a heap table in the same transaction.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

seconds=${SECONDS_EACH:-8} rows=300

server_start pub wal_level=logical hot_standby=on max_wal_senders=8 autovacuum=on autovacuum_naptime=1s \
    wal_sender_timeout=60s
on pub -c 'CREATE EXTENSION pg_sliced' -c "
CREATE FUNCTION words(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
    SELECT string_agg(seed * i || ' word ', '') FROM generate_series(1, n) i \$\$;
CREATE TABLE t (id int PRIMARY KEY, n int DEFAULT 0, doc jsonb, body text) USING heap;
CREATE INDEX ON t (md5(body));
CREATE TABLE h (LIKE t INCLUDING ALL) USING heap;
CREATE TABLE f (id int, body text) USING heap;
ALTER TABLE f REPLICA IDENTITY FULL;
INSERT INTO f SELECT i, words(2000, i) FROM generate_series(1, 3) i;
INSERT INTO t SELECT i, 0, jsonb_build_object('a', words(3000, i), 'b', i, 'c', words(500, -i)), words(3000 + i, i) FROM generate_series(1, $rows) i;
INSERT INTO h TABLE t;
CREATE FUNCTION problems() RETURNS SETOF text LANGUAGE sql AS \$\$
    SELECT 'row ' || coalesce(t.id, h.id) FROM t FULL JOIN h USING (id) WHERE (t.n, t.doc, t.body) IS DISTINCT FROM (h.n, h.doc, h.body) \$\$;
CREATE PUBLICATION pub FOR TABLE t, h, f;"
server_start sub
on sub -c "CREATE TABLE t (id int PRIMARY KEY, n int, doc jsonb, body text); CREATE TABLE h (LIKE t INCLUDING ALL); CREATE TABLE f (id int, body text)" \
    -c "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGS_TMP/pub/socket port=5432 user=postgres dbname=postgres' PUBLICATION pub"
server_use pub
as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
server_start standby unix_socket_directories="$PGS_TMP/standby/socket" max_standby_streaming_delay=-1 hot_standby_feedback=on
server_use pub
for ((i = 0; i < 600; i++)); do
    [ "$(on sub -c "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")" != 0 ] || break
    sleep 0.1
done

# wait_until SERVER QUERY: until it says t
wait_until() {
    local i
    for ((i = 0; i < 600; i++)); do
        [ "$(on "$1" -c "$2")" != t ] || return 0
        sleep 0.1
    done
    echo "not ok - timed out: $2"
}

caught_up() {
    local lsn
    lsn=$(on pub -c 'SELECT pg_current_wal_lsn()')
    wait_until pub "SELECT count(*) = 2 AND bool_and(replay_lsn >= '$lsn') FROM pg_stat_replication"
}
contents='SELECT md5(string_agg(t::text, $$,$$ ORDER BY id)) FROM t'

on pub -c "SELECT sliced.adopt('t'), sliced.adopt('f')" >/dev/null

# Changes of every kind, to both tables, in transactions of a few that may end either way.
writer() {
    local i k end=$((SECONDS + seconds))
    while [ $SECONDS -lt $end ]; do
        for ((i = 0; i < 20; i++)); do
            echo 'BEGIN;'
            for k in t h; do
                case $((i % 5)) in
                    0) echo "UPDATE $k SET n = n + 1 WHERE id % 20 = $1 + $i % 3 AND id < 1000;" ;;
                    1) echo "UPDATE $k SET body = body || 'more of $i' WHERE id = $(($1 * 20 + i + 1));" ;;
                    2) echo "UPDATE $k SET doc = jsonb_set(doc, '{b}', '\"$i\"') WHERE id = $(($1 * 20 + i + 1));" ;;
                    3) echo "DELETE FROM $k WHERE id = $((1000 + $1));" ;;
                    4) echo "INSERT INTO $k VALUES ($((1000 + $1)), 0, '{}', words($((i * 100)), $i)) ON CONFLICT (id) DO UPDATE SET body = excluded.body;" ;;
                esac
            done
            [ $((i % 7)) != 6 ] && echo 'COMMIT;' || echo 'ROLLBACK;'
        done | as_user "$PGS_BINDIR/psql" -X -q >>"$PGS_TMP/writer$1" 2>&1 || return 0
    done
}

# What each sees is right, and stays the same.
reader() {
    local end=$((SECONDS + seconds))
    while [ $SECONDS -lt $end ]; do
        on "$1" -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT problems()' -c "$contents" -c 'SELECT pg_sleep(1)' \
            -c "$contents" -c 'COMMIT' 2>&1 | awk 'NF && !seen[$0]++ { n++; line[n] = $0 } END { for (i = 1; n > 1 && i <= n; i++) print line[i] }'
    done
}

# call ARGUMENTS: convert, and show how many rows
call() {
    as_user "$PGS_BINDIR/psql" -X -q -v ON_ERROR_STOP=1 -v VERBOSITY=terse -c "CALL sliced.convert($1)" 2>&1
}

# ---- one at a time; progress ----
call "'t', max_rate => 0.5" >"$PGS_TMP/first" &
first=$!
wait_until pub 'SELECT count(*) = 1 FROM sliced.convert_progress WHERE rows_converted > 0 AND bytes_per_second > 0'
is "$(call "'t'" | sed 's/^.*ERROR/ERROR/')" 'ERROR:  another session is converting "t"' "a second conversion is refused"
is "$(on pub -c "SELECT rel, pass, blocks > 0, rows_converted BETWEEN 1 AND 299, raw_bytes > bytes_after, bytes_before > 0 FROM sliced.convert_progress")" \
    't|1|t|t|t|t' "progress"
is "$(on pub -c "SET ROLE pg_monitor" -c "SELECT rel FROM sliced.convert_progress" -c "SET ROLE pg_signal_backend" -c "SELECT rel, rows_converted FROM sliced.convert_progress")" \
    $'t\n|' "progress is for who may see it"
is "$(on pub -c 'CREATE ROLE peer IN ROLE postgres' -c 'SET ROLE peer' -c 'SELECT rel FROM sliced.convert_progress')" t "such as a member of the role that converts"
on pub -c 'VACUUM t' -c 'ALTER TABLE t SET (fillfactor = 99)' -c 'CREATE INDEX CONCURRENTLY t_late ON t (length(body))'
is "$(on pub -c 'SELECT count(*) FROM sliced.convert_progress')" 1 "VACUUM, ALTER TABLE and CREATE INDEX CONCURRENTLY go on beside it"
on pub -c 'SELECT pg_cancel_backend(pid) FROM sliced.convert_progress' >/dev/null
wait "$first" || true
is "$(sed 's/^.*ERROR/ERROR/' "$PGS_TMP/first" | tail -n 1)" 'ERROR:  canceling statement due to user request' "a conversion is cancelled"
is "$(on pub -c 'SELECT count(*) FROM sliced.convert_progress')$(on pub -c 'SELECT * FROM problems()')" 0 "no progress is left, and all rows are"

# ---- with everybody at work ----
pids=()
for w in 1 2 3; do
    writer $w &
    pids+=($!)
done
reader pub >"$PGS_TMP/reader.pub" 2>&1 &
pids+=($!)
reader standby >"$PGS_TMP/reader.standby" 2>&1 &
pids+=($!)
converted=0
end=$((SECONDS + seconds - 1))
while [ $SECONDS -lt $end ]; do
    for codec in zstd lz4; do
        on pub -c "ALTER DATABASE postgres SET sliced.compression = $codec"
        call "'t', max_wait => 1" >>"$PGS_TMP/calls"
        converted=$((converted + 1))
    done
done
wait "${pids[@]}" || true
is "$(grep -c ERROR "$PGS_TMP/calls" || true)" 0 "no call ended with an error ($converted calls)"
# Writers may wait for each other in a circle, as on heap: whose snapshot is newer finds rows in another order.
is "$(grep -hE '^ERROR|^FATAL' "$PGS_TMP"/writer? | grep -vE 'deadlock detected|current transaction is aborted' || true)" '' \
    "no writer was told of an error"
# the log says what each process in the circle was doing
is "$(grep -cE '^[[:space:]]Process [0-9]+: .*sliced\.convert' "$PGS_TMP/pub/log" || true)" 0 "no conversion is part of a deadlock"
is "$(cat "$PGS_TMP/reader.pub" "$PGS_TMP/reader.standby")" '' "readers, here and on the standby, see what is right, and see it again"
is "$(on pub -c 'SELECT * FROM problems()')" '' "rows are those of heap"
call "'t'" >/dev/null
is "$(call "'t'" | sed 's/^.*NOTICE/NOTICE/')" 'NOTICE:  converted no rows of "t"' "then there is nothing left to convert"
caught_up
for s in pub standby; do
    is "$(on $s -c "SELECT * FROM sliced.verify('t')")" '' "verify finds nothing: $s"
done
for s in sub standby; do
    is "$(on $s -c "$contents")" "$(on pub -c "$contents")" "the same rows: $s"
done

# ---- identities that are decoded with their values ----
is "$(call "'f'" | sed 's/^.*NOTICE/NOTICE/')" $'NOTICE:  converted no rows of "f"\nNOTICE:  3 rows of "f" stay as they are' \
    "REPLICA IDENTITY FULL, with a subscriber"
on pub -c "DELETE FROM f WHERE id = 2"
caught_up
is "$(on sub -c 'SELECT id, md5(body) FROM f ORDER BY id')" "$(on pub -c 'SELECT id, md5(body) FROM f ORDER BY id')" "and the subscriber finds its rows"

# ---- the server is killed ----
for n in 1 2; do
    on pub -c "ALTER DATABASE postgres SET sliced.compression = $([ $n = 1 ] && echo zstd || echo none)"
    call "'t', max_rate => 5" >"$PGS_TMP/killed" &
    first=$!
    wait_until pub 'SELECT count(*) = 1 FROM sliced.convert_progress WHERE rows_converted > 20'
    server_use pub
    server_kill
    wait "$first" || true
    server_start pub
    server_use pub
    is "$(on pub -c 'SELECT * FROM problems()')$(on pub -c "SELECT * FROM sliced.verify('t')")" '' "killed: rows are as they were ($n)"
    call "'t'" >"$PGS_TMP/again"
    is "$(call "'t'" | sed 's/^.*NOTICE/NOTICE/')" 'NOTICE:  converted no rows of "t"' "and the next call does the rest ($n)"
done
is "$(on pub -c 'SELECT * FROM problems()')$(on pub -c "SELECT * FROM sliced.verify('t')")" '' "rows are those of heap"
caught_up
for s in sub standby; do
    is "$(on $s -c "$contents")" "$(on pub -c "$contents")" "the same rows in the end: $s"
done
is "$(on standby -c "CALL sliced.convert('t')" 2>&1 | sed 's/^.*ERROR/ERROR/')" 'ERROR:  cannot execute sliced.convert() during recovery' "not on a standby"

# ---- bounds on what is dead ----
on pub -c 'ALTER DATABASE postgres SET sliced.compression = lz4'
call "'t', max_dead => 0.2" >"$PGS_TMP/bound"
is "$(on pub -c "SELECT (SELECT count(*) FROM t) > 250 AND NOT EXISTS (SELECT FROM problems())")" t "with a bound on dead rows, autovacuum sees to it"
server_stop sub
server_stop standby
server_stop pub
