#!/bin/bash
# VACUUM FULL keeps row versions for a snapshot of the primary.  An older snapshot of a
# standby, unknown to the primary, may see them.  Their values must stay until replay
# has waited for that snapshot.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start primary wal_level=logical hot_standby=on max_wal_senders=5 autovacuum=off
on primary -c 'CREATE EXTENSION pg_sliced' -c 'CREATE FUNCTION dense(n int) RETURNS text LANGUAGE sql AS $f$
        SELECT string_agg(encode(sha512(random()::text::bytea), $$hex$$), $$$$) FROM generate_series(0, n / 128) $f$' \
    -c 'CREATE TABLE slices (id int, v text) USING sliced' -c 'CREATE TABLE chunks (id int, v text) USING sliced' \
    -c 'INSERT INTO slices SELECT i, dense(9000) FROM generate_series(1, 20) i' -c 'INSERT INTO chunks SELECT * FROM slices'
# it keeps pages of catalogs from being pruned, for which replay would wait as well
on primary -c "SELECT FROM pg_create_logical_replication_slot('catalogs', 'test_decoding')"

as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
server_start standby unix_socket_directories="$PGS_TMP/standby/socket" max_standby_streaming_delay=-1 hot_standby_feedback=off

# the tables' rows, seen by a snapshot that is kept until it is released
contents='SELECT id, md5(v) FROM slices UNION ALL SELECT -id, md5(v) FROM chunks ORDER BY 1'
look_later() {
    on "$1" -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT FROM pg_am' -c "\\! while ! [ -e '$PGS_TMP/released.$1' ]; do sleep 0.1; done" -c "$contents"
}

expected=$(on primary -c "$contents")
look_later primary >"$PGS_TMP/primary.rows" &
on_primary=$!
look_later standby >"$PGS_TMP/standby.rows" 2>&1 &
on_standby=$!
sleep 1
for table in slices chunks; do
    export PGOPTIONS="-c sliced.logical_decoding=$([ $table = slices ] && echo off || echo on)"
    on primary -c "UPDATE $table SET v = dense(9000)" -c "VACUUM FULL $table"
done
touch "$PGS_TMP/released.primary"
wait "$on_primary"
is "$(sed '/^$/d' "$PGS_TMP/primary.rows")" "$expected" "the snapshot of the primary"
on primary -c 'SELECT txid_current()' >/dev/null
for table in slices chunks; do      # the values alone: the versions would have replay wait
    on primary -c "VACUUM $(on primary -c "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = '$table'")"
done
sleep 1
lsn=$(on primary -c 'SELECT pg_current_wal_insert_lsn()')
is "$(on standby -c "SELECT pg_last_wal_replay_lsn() < '$lsn'")" t "replay waits"
touch "$PGS_TMP/released.standby"
wait "$on_standby" || true
is "$(sed '/^$/d' "$PGS_TMP/standby.rows")" "$expected" "the snapshot of the standby"
server_stop standby
server_stop primary
