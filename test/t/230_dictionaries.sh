#!/bin/bash
# Dictionaries where there is more than one server: standbys, crashes, dumps, logical
# decoding.  What looks back at one is right, wherever it is read.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
here=$PGS_ROOT/test/t/dictionaries

server_start primary wal_level=logical hot_standby=on wal_sender_timeout=0 wal_keep_size=1GB autovacuum=off sliced.compression=zstd wal_writer_delay=10s
sql -f "$here/tables.sql"
as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
server_start standby unix_socket_directories="$PGS_TMP/standby/socket" max_standby_streaming_delay=-1
server_use primary

caught_up() {
    local lsn i
    lsn=$(on primary -c 'SELECT pg_current_wal_flush_lsn()')
    for ((i = 0; i < 300; i++)); do
        [ "$(on standby -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" = f ] || break
        sleep 0.1
    done
}

# same STATE NAME: is that the state of both?
same() {
    caught_up
    is "$(on primary -c 'SELECT state()')" "$1" "$2"
    is "$(on standby -c 'SELECT state()')" "$1" "$2, on the standby"
}

# One session of the standby reads all the time: what it keeps in memory stays right.
same '400 0 0 0 0' "before there are dictionaries"
touch "$PGS_TMP/reading"
while [ -e "$PGS_TMP/reading" ]; do echo 'SELECT wrong(); SELECT pg_sleep(0.05);'; sleep 0.1; done |
    on standby >"$PGS_TMP/read" 2>&1 &
reader=$!
on primary -c 'BEGIN' -c 'SELECT trained()' -c 'CALL fill(401, 500)' -c 'SELECT pg_sleep(1)' -c ROLLBACK >"$PGS_TMP/out"
is "$(head -n 1 "$PGS_TMP/out")" 'doc made, t made' "dictionaries are made"
same '400 0 0 0 0' "rolled back"
# the ids of the dictionaries that are gone may be taken by others, whose bytes are others
is "$(on primary -c 'BEGIN' -c 'SELECT trained()' -c 'CALL fill(401, 500)' -c COMMIT)" 'doc made, t made' "and made again"
same '500 0 2 2 0' "in the transaction that trains"
on primary -c 'CALL fill(501, 600)'
same '600 0 2 2 0' "after it"
on primary -c 'DELETE FROM docs WHERE id % 5 = 0' -c 'VACUUM docs' -c "UPDATE docs SET doc = jsonb_set(doc, '{id}', to_jsonb(id)), t = t || ''" \
    -c 'VACUUM docs' -c 'CALL fill(601, 700)'
same '580 0 2 2 0' "changes"
on primary -c 'VACUUM FULL docs'
same '580 0 2 2 0' "VACUUM FULL"
on primary -c 'ALTER TABLE docs ADD n int DEFAULT random()' -c 'CLUSTER docs USING docs_pkey' -c 'ALTER TABLE docs DROP n'
same '580 0 2 2 0' "rewrites"
on primary -c 'BEGIN' -c 'TRUNCATE docs' -c 'CALL fill(1, 300)' -c 'SELECT trained()' -c 'CALL fill(301, 600)' -c COMMIT >"$PGS_TMP/out"
same '600 0 2 2 0' "TRUNCATE, and others"
rm "$PGS_TMP/reading"
wait "$reader"
is "$(sed '/^$/d' "$PGS_TMP/read" | sort -u)" 0 "a session of the standby has always read what is right"
is "$(on standby -c "SELECT sliced.train('docs')" 2>&1 | sed 's/: */: /')" 'ERROR: cannot execute sliced.train() during recovery' "nobody trains on the standby"

# ANALYZE makes them by itself; for the other column it has found that none is worth it
on primary -c 'CREATE TABLE auto (LIKE docs) USING sliced WITH (toast_tuple_target = 128)' -c "SELECT sliced.alter_table('auto', 'dictionary=auto')" \
    -c 'INSERT INTO auto (id, doc) SELECT i, document(i) FROM generate_series(1, 1500) i' -c 'ANALYZE auto' \
    -c 'INSERT INTO auto (id, doc) SELECT i, document(i) FROM generate_series(1501, 1600) i' >"$PGS_TMP/out"
caught_up
for server in primary standby; do
    is "$(on $server -c "SELECT col, in_use FROM sliced.dictionaries WHERE rel = 'auto' ORDER BY 1" \
        -c 'SELECT count(*), count(*) FILTER (WHERE doc <> document(id)) FROM auto' \
        -c "SELECT count(*), sum(slices) FROM sliced.dictionary_slices('auto')")" 'doc|t
t|f
1600|0
1|100' "ANALYZE makes them: $server"
done

# ---- logical decoding ----

# What a decoder sees: whole values, and nothing of dictionaries.
on primary -c 'CREATE TABLE seen (data text)' -c "SELECT FROM pg_create_logical_replication_slot('slot', 'test_decoding')" >/dev/null
on primary -c 'BEGIN' -c 'SELECT trained()' -c 'CALL fill(701, 720)' -c COMMIT -c 'CALL fill(721, 740)' \
    -c 'UPDATE docs SET t = t WHERE id = 701' -c "UPDATE docs SET doc = jsonb_set(doc, '{id}', to_jsonb(id)) WHERE id = 702" \
    -c 'DELETE FROM docs WHERE id = 740' -c 'ALTER TABLE docs REPLICA IDENTITY FULL' \
    -c "UPDATE docs SET t = t || '' WHERE id BETWEEN 590 AND 600" -c 'DELETE FROM docs WHERE id BETWEEN 580 AND 589' >"$PGS_TMP/out"
on primary -c "INSERT INTO seen SELECT data FROM pg_logical_slot_get_changes('slot', NULL, NULL)" \
    -c "SELECT pg_drop_replication_slot('slot')" >/dev/null
is "$(on primary -c "SELECT split_part(data, ' ', 3), count(*) FROM seen WHERE data LIKE 'table%' GROUP BY 1 ORDER BY 1")" 'DELETE:|11
INSERT:|40
UPDATE:|13' "decoded are changes of rows, and nothing else"
is "$(on primary -c "SELECT count(*) FROM seen, generate_series(701, 740) i WHERE data = format('table public.docs: INSERT: id[integer]:%s doc[jsonb]:%L t[text]:%L',
    i, document(i), reverse(document(i)::text))")" 40 "inserted values are decoded"
is "$(on primary -c "SELECT count(*) FROM seen, generate_series(580, 589) i WHERE data = format('table public.docs: DELETE: id[integer]:%s doc[jsonb]:%L t[text]:%L',
    i, document(i), reverse(document(i)::text))")" 10 "so are old ones, which look back at a dictionary"
is "$(on primary -c "SELECT count(*) FROM seen WHERE data LIKE '%pg_toast%'")" 0 "of the toast relation nothing appears"
same '629 0 2 2 0' "after decoding"

# ---- a crash right after training ----

for round in 1 2 3; do
    on primary -c 'TRUNCATE docs' -c 'CALL fill(1, 400)' -c CHECKPOINT
    # not flushed; what comes later may be on disk and what comes earlier not, if pages are written before their WAL
    on primary -c 'SET synchronous_commit = off' -c 'SELECT trained()' -c 'CALL fill(401, 410)' >"$PGS_TMP/out"
    [ $round != 2 ] || on primary -c 'SET synchronous_commit = on' -c 'CALL fill(411, 411)'
    [ $round != 3 ] || on primary -c 'BEGIN' -c 'SELECT trained()' -c 'CALL fill(411, 411)' -c CHECKPOINT -c "SELECT pg_sleep(100)" >"$PGS_TMP/out" 2>&1 &
    [ $round != 3 ] || sleep 3
    server_kill
    wait %% 2>/dev/null || true
    server_start primary
    state=$(sql -c 'SELECT state()')
    case $round$state in
        1'400 0 0 0 0' | 1'400 0 2 0 0' | 1'410 0 2 2 0' | 2'411 0 2 2 0' | 3'410 0 2 2 0') echo "ok - killed after training, round $round ($state)" ;;
        *) echo "not ok - killed after training, round $round: $state" ;;
    esac
    # ids of what is gone are used for something else
    sql -c 'SELECT trained()' -c 'CALL fill(1001, 1100)' -c 'VACUUM docs' >"$PGS_TMP/out"
    is "$(sql -c 'SELECT wrong()' -c "SELECT count(*) FROM sliced.verify('docs')")" '0
0' "and it goes on, round $round"
done

# ---- dump and restore ----

sql -c "SELECT sliced.alter_column('docs', 'doc', 'dictionary=auto')" -c 'CREATE DATABASE two' >"$PGS_TMP/out"
as_user "$PGS_BINDIR/pg_dump" postgres | sql -d two >"$PGS_TMP/out"
sum='SELECT md5(string_agg(d::text, $$,$$ ORDER BY id)) FROM docs d'
is "$(sql -d two -c "$sum")" "$(sql -c "$sum")" "dump and restore"
is "$(sql -d two -c "SELECT count(*) FROM sliced.dictionaries WHERE rel = 'docs'" \
    -c "SELECT dictionary FROM sliced.columns WHERE rel = 'docs' AND col = 'doc'" -c "SELECT * FROM sliced.verify('docs')")" '0
auto' "without dictionaries, but with the option"
sql -c 'CREATE DATABASE three TEMPLATE two' -c 'DROP DATABASE two'
# another database has a toast relation and values of the same ids, and sessions are in one only
sql -d three -c 'SELECT trained()' -c 'CALL fill(2001, 2010)' >"$PGS_TMP/out"
sql -c 'CREATE DATABASE four TEMPLATE three'
is "$(sql -d four -c 'SELECT wrong()' -c "SELECT count(*) FROM sliced.verify('docs')" -c "SELECT count(*) FROM sliced.dictionary_slices('docs')")" '0
0
2' "a copy of the database"

# ---- columns and the extension come and go ----

sql -d four -c 'ALTER TABLE docs DROP t' -c 'ALTER TABLE docs ADD t text' -c 'CALL fill(3001, 3100)' >"$PGS_TMP/out"
is "$(sql -d four -c "SELECT coalesce(col, '-'), in_use FROM sliced.dictionaries WHERE rel = 'docs' ORDER BY 1" \
    -c 'SELECT count(*) FROM docs WHERE doc <> document(id) OR t <> reverse(document(id)::text)' -c "SELECT * FROM sliced.verify('docs')")" '-|t
doc|t
0' "a new column has no dictionary of the one that was dropped"
sql -d four -c 'VACUUM FULL docs'
is "$(sql -d four -c "SELECT coalesce(col, '-') FROM sliced.dictionaries WHERE rel = 'docs'" -c "SELECT * FROM sliced.verify('docs')")" 'doc' \
    "VACUUM FULL leaves the dropped one's behind"
is "$(sql -d four -c 'DROP EXTENSION pg_sliced' 2>&1 | grep -c ERROR)" 1 "DROP EXTENSION refuses, as there are tables"
is "$(sql -d four -c "SELECT sliced.alter_column('docs', 'doc', NULL)" -c "SELECT sliced.alter_table('auto', NULL)" -c 'ALTER TABLE auto SET ACCESS METHOD heap' \
    -c 'ALTER TABLE docs SET ACCESS METHOD heap' -c 'DROP EXTENSION pg_sliced' -c 'CREATE EXTENSION pg_sliced' \
    -c 'ALTER TABLE docs SET ACCESS METHOD sliced' -c 'CALL fill(4001, 4100)' -c 'SELECT count(*) FROM docs WHERE doc <> document(id)' \
    -c "SELECT count(*) FROM sliced.dictionaries" -c "SELECT * FROM sliced.verify('docs')" 2>&1 | sed '/^$/d')" '0
0' "the extension goes when they are heap's, and comes again"

# ---- core's checks of what is there ----

sql -c 'CREATE EXTENSION amcheck' -c 'VACUUM docs'
is "$(sql -c "SELECT bt_index_check(indexrelid, true) FROM pg_index, pg_class c WHERE indrelid = c.reltoastrelid AND c.oid = 'docs'::regclass" 2>&1 | sed '/^$/d')" '' \
    "amcheck: the index of the toast relation"

# ---- promotion ----

on primary -c 'TRUNCATE docs' -c 'CALL fill(1, 400)' -c 'SELECT trained()' -c 'CALL fill(401, 500)' >"$PGS_TMP/out"
# in progress, which the standby has seen of
on primary -c 'BEGIN' -c 'CALL fill(501, 600)' -c "SELECT dictionary FROM sliced.train('docs')" -c 'CALL fill(601, 610)' -c 'SELECT pg_sleep(100)' >"$PGS_TMP/out" 2>&1 &
sleep 2
on primary -c 'CREATE TABLE flushed ()'
same '500 0 2 2 0' "before promotion"
(server_use primary && server_stop primary immediate)
wait %% 2>/dev/null || true
(server_use standby && as_user "$PGS_BINDIR/pg_ctl" -s -w -D "$PGDATA" promote)
is "$(on standby -c 'SELECT state()')" '500 0 2 2 0' "promoted"
on standby -c 'CALL fill(501, 550)' -c 'SELECT trained()' -c 'CALL fill(551, 600)' -c 'VACUUM docs' >"$PGS_TMP/out"
is "$(on standby -c 'SELECT state()')" '600 0 2 2 0' "promoted, it goes on"
on standby -c 'VACUUM FULL docs'
is "$(on standby -c 'SELECT state()')" '600 0 2 2 0' "VACUUM FULL there"
server_stop standby
