#!/bin/bash
# A streaming standby reads what the primary wrote, whole and in part, while
# the primary goes on; promoted, it goes on by itself.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

contents="SELECT id, md5(v), length(w), md5(substr(v, 3990, 20)), md5(substr(v, length(v) / 2, 70000)),
    md5(substr(w, length(w) - 100, 90)), get_byte(b, length(b) / 2) FROM t ORDER BY id"
checks='SELECT * FROM sliced.verify($$t$$)'

server_start primary wal_level=replica hot_standby=on max_wal_senders=5 wal_consistency_checking=heap
on primary -c 'CREATE EXTENSION pg_sliced' \
    -c 'CREATE TABLE t (id int PRIMARY KEY, v text, w text, b bytea, n int DEFAULT 0) USING sliced' \
    -c 'CREATE FUNCTION dense(n int) RETURNS text LANGUAGE sql AS $f$
        SELECT string_agg(encode(sha512(random()::text::bytea), $$hex$$), $$$$) FROM generate_series(0, n / 128) $f$' \
    -c 'INSERT INTO t SELECT i, dense(i * 4000), repeat(i::text, i * 2000), convert_to(dense(i * 900), $$UTF8$$)
        FROM generate_series(1, 60) i'

as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
server_start standby unix_socket_directories="$PGS_TMP/standby/socket" max_standby_streaming_delay=-1

caught_up() {
    local lsn i
    lsn=$(on primary -c 'SELECT pg_current_wal_insert_lsn()')
    for ((i = 0; i < 300; i++)); do
        [ "$(on standby -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" = f ] || break
        sleep 0.1
    done
    is "$(on standby -c "$contents")" "$(on primary -c "$contents")" "$1"
}

caught_up "the base backup"
on primary -c 'UPDATE t SET v = v || dense(30000) WHERE id % 3 = 0' -c 'DELETE FROM t WHERE id % 7 = 0' \
    -c 'BEGIN; UPDATE t SET v = dense(70000) WHERE id < 20; SAVEPOINT s; UPDATE t SET w = dense(9000); ROLLBACK TO s; COMMIT' \
    -c 'BEGIN; UPDATE t SET v = dense(70000); ROLLBACK' -c 'INSERT INTO t SELECT 1000, dense(3000000)'
caught_up "changes"
on primary -c 'VACUUM FULL t' -c 'UPDATE t SET n = n + 1' -c 'CLUSTER t USING t_pkey' -c 'VACUUM t' -c 'REINDEX TABLE t'
caught_up "rewrites"
is "$(on standby -c "$checks")" '' "verify finds nothing on the standby"

# a reader with a snapshot of its own, while the primary replaces everything
on standby -c 'ALTER SYSTEM SET hot_standby_feedback = on' -c 'SELECT FROM pg_reload_conf()' >/dev/null
on standby -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c "$contents" -c "SELECT pg_sleep(4)" -c "$contents" >"$PGS_TMP/reader" &
reader=$!
sleep 1
on primary -c 'UPDATE t SET v = dense(9000), w = dense(9000)' -c 'VACUUM t' -c 'DELETE FROM t WHERE id % 2 = 0' -c 'VACUUM t'
wait "$reader"
half=$(($(wc -l <"$PGS_TMP/reader") / 2))
is "$(tail -n "$half" "$PGS_TMP/reader")" "$(head -n "$half" "$PGS_TMP/reader")" "an old snapshot on the standby ($half rows)"

# a value that grows, is rolled back and vacuumed while the standby reads it
on primary -c 'CREATE TABLE growing (n int, v text) USING sliced' -c 'INSERT INTO growing VALUES (0, $$$$)' \
    -c 'CREATE FUNCTION line(n int) RETURNS text LANGUAGE sql AS $f$ SELECT n || repeat($$.$$, n % 300) || $$;$$ $f$' \
    -c 'CREATE FUNCTION lines(n int) RETURNS text LANGUAGE sql AS $f$
        SELECT coalesce(string_agg(line(i), $$$$ ORDER BY i), $$$$) FROM generate_series(1, n) i $f$' \
    -c 'CREATE PROCEDURE grow(upto int) LANGUAGE plpgsql AS $p$ BEGIN
        FOR i IN 1 .. upto LOOP
            UPDATE growing SET v = v || $$rolled back$$; ROLLBACK;
            UPDATE growing SET n = n + 1, v = v || line(n + 1); COMMIT;
        END LOOP; END $p$'
caught_up "before growth"
on primary -c 'CALL grow(6000)' &
writer=$!
while kill -0 "$writer" 2>/dev/null; do
    on standby -c 'SELECT n, v = whole, length(v) = length(whole), right(v, 200) = right(whole, 200) FROM growing, lines(n) whole'
    on primary -c 'VACUUM growing'
done >"$PGS_TMP/growth" 2>&1 &
on standby -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT n, v = lines(n) FROM growing' -c "SELECT pg_sleep(3)" \
    -c 'SELECT n, v = lines(n) FROM growing' >"$PGS_TMP/reader"
wait
is "$(grep -v '|t|t|t$' "$PGS_TMP/growth")" '' "the standby reads a value that grows"
echo "# $(uniq "$PGS_TMP/growth" | wc -l) different lengths"
is "$(sed '/^$/d; s/.*|//' "$PGS_TMP/reader" | xargs) $(sed '/^$/d' "$PGS_TMP/reader" | uniq | wc -l)" 't t 1' "an old snapshot of it"
caught_up "growth"

# a transaction in progress when the standby is promoted is gone
on primary -c 'BEGIN; UPDATE t SET v = dense(50000)' -c 'SELECT pg_sleep(30)' >/dev/null 2>&1 &
sleep 1
caught_up "before promotion"
expected=$(on primary -c "$contents")
server_stop primary immediate
wait
(server_use standby && as_user "$PGS_BINDIR/pg_ctl" -s -w -D "$PGDATA" promote)
is "$(on standby -c "$contents")" "$expected" "after promotion"
on standby -c 'UPDATE t SET v = v || dense(9000)' -c 'INSERT INTO t SELECT 2000, dense(90000)' -c 'VACUUM t' -c 'CHECKPOINT'
is "$(on standby -c "$checks")" '' "verify finds nothing after promotion"
server_stop standby
