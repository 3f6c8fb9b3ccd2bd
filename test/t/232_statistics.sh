#!/bin/bash
# Statistics: of many sessions at a time, over restarts and crashes, with and without
# preloading, of parallel workers, on a standby, and where nothing is shared.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

config=${PG_CONFIG:-pg_config}
gcc -O1 -g -fPIC -shared -isystem "$("$config" --includedir-server)" \
    "$PGS_ROOT/test/t/statistics/bracket.c" -o "$PGS_TMP/bracket.so"

# Of table t: values stored, and reads of them.
counts="SELECT coalesce((SELECT stored FROM sliced.stat_columns WHERE rel = 't' AND col = 'v'), 0),
    coalesce((SELECT reads FROM sliced.stat_tables WHERE rel = 't'), 0)"
value="string_agg(md5(i::text), '') FROM generate_series(1, 1000) i"

server_start primary wal_level=replica hot_standby=on max_wal_senders=5 autovacuum=off \
    max_parallel_workers_per_gather=0 track_io_timing=on
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int, v text) USING sliced'

work() {
    local i
    for i in 1 2 3 4 5; do
        echo "INSERT INTO t SELECT $1, $value; SELECT count(md5(v)) FROM t WHERE id = $1;"
        echo "BEGIN; INSERT INTO t SELECT $1, $value; ROLLBACK;"
    done | sql >/dev/null
}
pids=()
for session in 1 2 3 4 5 6; do
    work $session &
    pids+=($!)
done
wait "${pids[@]}"
# 5 times 2 values, one of them rolled back, and 1 + 2 + 3 + 4 + 5 reads
is "$(sql -c "$counts")" '60|90' 'six sessions at a time'
is "$(sql -c "SELECT read_ms > 0, since > now() - interval '1 hour', since <= now() FROM sliced.stat_tables")" 't|t|t' 'the time of reads'
sql -c "SELECT sliced.stat_reset('t')" -c 'SET track_io_timing = off' -c 'SELECT count(md5(v)) FROM t' >/dev/null
is "$(sql -c 'SELECT reads, read_ms FROM sliced.stat_tables')" '30|0' 'time is not measured where track_io_timing is off'
sql -c "SELECT sliced.stat_reset('t')" >/dev/null

# a session that ends in the middle of a transaction, by itself or by force
sql -c 'BEGIN' -c 'SELECT count(md5(v)) FROM t' >/dev/null
is "$(sql -c "$counts")" '0|30' 'a transaction that never ended'
sql -c 'SELECT count(md5(v)) FROM t' -c 'SELECT pg_terminate_backend(pg_backend_pid())' >/dev/null 2>&1 || true
is "$(sql -c "$counts")" '0|60' 'a session that was terminated'

# a session that begins to count in the middle of a command, which cancels then what it has
# registered last to be done at the session's end; and one that does not come back from there
sql -c "CREATE FUNCTION in_bracket(text) RETURNS void AS '$PGS_TMP/bracket.so' LANGUAGE C"
is "$(sql -c "SELECT in_bracket('SELECT count(md5(v)) FROM t')" -c "SELECT in_bracket('SELECT 1 / (count(md5(v)) - 30) FROM t')" 2>&1 | xargs)" \
    'ERROR: division by zero CONTEXT: SQL statement SELECT 1 / (count(md5(v)) - 30) FROM t' 'a session that begins within a command'
is "$(sql -c "$counts")" '0|120' 'has counted'
sql -c "SELECT in_bracket('SELECT count(md5(v)), pg_terminate_backend(pg_backend_pid()) FROM t')" >/dev/null 2>&1 || true
is "$(sql -c "$counts")" '0|150' 'and one that is terminated there'
sql -c "SELECT sliced.stat_reset('t')" -c 'SELECT count(md5(v)) FROM t' -c 'SELECT count(md5(v)) FROM t' >/dev/null

# others see what a session has done when a transaction ends, and not before
sql >/dev/null 2>&1 <<'SQL' &
SELECT count(md5(v)) FROM t;
BEGIN; SELECT count(md5(v)) FROM t; ROLLBACK;
BEGIN; SELECT count(md5(v)) FROM t; SELECT pg_advisory_lock(1); SELECT pg_sleep(60);
SQL
session=$!
until holder=$(sql -c "SELECT pid FROM pg_locks WHERE locktype = 'advisory'") && [ -n "$holder" ]; do sleep 0.1; done
is "$(sql -c "$counts")" '0|120' 'a session that goes on'
sql -c "SELECT pg_terminate_backend($holder, 10000)" >/dev/null
wait $session || true
is "$(sql -c "$counts")" '0|150' 'and is over'
sql -c "SELECT sliced.stat_reset('t')" -c 'SELECT count(md5(v)) FROM t' -c 'SELECT count(md5(v)) FROM t' >/dev/null

# parallel workers count as well
is "$(sql <<'SQL'
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT count(md5(v)) FROM t;
SQL
)" 30 'a query in parallel workers'
is "$(sql -c "$counts")" '0|90' 'parallel workers'

# numbers of the server that a restart, or a crash some time after, finds
server_stop primary
server_start primary
is "$(sql -c "$counts")" '0|90' 'a restart'
sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
server_kill
server_start primary
is "$(sql -c "$counts")" '0|120' 'a crash: what sessions had left when they ended is there'
is "$(sql -c "SELECT rel FROM sliced.stat_tables WHERE rel IS NULL")" '' 'everything has a table'
server_stop primary
as_user truncate -s 100 "$PGDATA/pg_stat_tmp/pg_sliced.stat"
server_start primary
is "$(sql -c "$counts" -c 'SELECT count(md5(v)) FROM t' -c "$counts" | xargs)" '0|0 30 0|30' 'a file cut short: numbers begin anew'
server_stop primary
as_user dd if=/dev/urandom of="$PGDATA/pg_stat_tmp/pg_sliced.stat" bs=1 count=4 conv=notrunc status=none
server_start primary
is "$(sql -c "$counts" -c 'SELECT count(md5(v)) FROM t' -c "$counts" | xargs)" '0|0 30 0|30' 'a file of another release'

for damage in 'truncate -s 0 FILE' 'dd if=/dev/zero of=FILE bs=4 seek=1 count=1 conv=notrunc status=none' 'dd if=/dev/zero of=FILE bs=4 seek=3 count=1 conv=notrunc status=none'; do
    server_stop primary
    # shellcheck disable=SC2086
    as_user ${damage/FILE/$PGDATA/pg_stat_tmp/pg_sliced.stat}
    server_start primary
    is "$(sql -c "$counts" -c 'SELECT count(md5(v)) FROM t' -c "$counts" | xargs)" '0|0 30 0|30' 'a file that is empty, or says that rows have no length, or are of no database'
done

# a file that cannot be written: the log says so, and the next session writes it
as_user ln -s /dev/full "$PGDATA/pg_stat_tmp/pg_sliced.stat.tmp"
unwritten='could not write file "pg_stat_tmp/pg_sliced.stat": No space left on device'
sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
until as_user grep -q "$unwritten" "$PGS_TMP/primary/log"; do sleep 0.05; done
sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
server_stop primary
is "$(as_user grep -c "$unwritten" "$PGS_TMP/primary/log")" 1 'a file that cannot be written'
server_start primary
is "$(sql -c "$counts")" '0|90' 'is written later'
sql -c "SELECT sliced.stat_reset('t')" -c 'SELECT count(md5(v)) FROM t' >/dev/null

# one that is full of other databases' numbers, and has rows of none: there is room again when they are found to be gone
server_stop primary
as_user "$PGS_PYTHON" - "$PGDATA/pg_stat_tmp/pg_sliced.stat" <<'END'
import struct, sys
file = open(sys.argv[1], "r+b")
magic, size, n = struct.unpack("III", file.read(12))
file.seek(0)
file.write(struct.pack("III", magic, size, 9000))
for i in range(9000):
    file.write(struct.pack("I", i and 1000000 + i) + bytes(size - 4))
END
server_start primary
is "$(sql -c 'SELECT count(md5(v)) FROM t' -c 'SELECT count(*) FROM pg_class' -c 'SELECT count(md5(v)) FROM t' | sed 2d | xargs)" '30 30' 'no room for any numbers'
is "$(sql -c "$counts" -c 'SELECT count(md5(v)) FROM t' -c "$counts" | xargs)" '0|0 30 0|30' 'and room again'

# neither can one be made, written in part, or put in the old one's place
written=$PGDATA/pg_stat_tmp/pg_sliced.stat
no_file() {
    local before
    before=$(reports | wc -l)
    sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(reports | wc -l)" = "$before" ] || break
        sleep 0.1
    done
    is "$(reports | tail -n +$((before + 1)) | sed 's/.*: //')" "$1" "$2"
}
reports() { as_user grep 'could not write file "pg_stat_tmp/pg_sliced.stat"' "$PGS_TMP/primary/log" || true; }
as_user mkdir "$written.tmp"
no_file 'Is a directory' 'a file that cannot be made'
as_user rmdir "$written.tmp"
sql <<'SQL'
SELECT format('CREATE TABLE m%s (v text) USING sliced; INSERT INTO m%1$s SELECT string_agg(md5(i::text), '''') FROM generate_series(1, 200) i', i)
FROM generate_series(1, 60) i
\gexec
SQL
as_user ln -s /dev/full "$written.tmp"
no_file 'No space left on device' 'one that is written in part'
as_user rm "$written"
as_user mkdir -p "$written/full"
no_file 'Is a directory' 'one that cannot be put in its place'
as_user rm -r "$written"
sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
server_stop primary
server_start primary
is "$(sql -c "$counts")" '0|150' 'and one that can be'
sql <<'SQL'
SELECT format('DROP TABLE m%s', i) FROM generate_series(1, 60) i
\gexec
SQL
sql -c "SELECT sliced.stat_reset('t')" -c 'SELECT count(md5(v)) FROM t' >/dev/null

# a table that gets the OIDs of another one, which is gone, has nothing of its statistics
oids="SELECT c.oid, c.reltoastrelid FROM pg_class c WHERE relname = 'gone'"
of_gone="SELECT count(*) FROM sliced_functions.stat_counts() s JOIN pg_class c ON c.reltoastrelid = s.toastrelid WHERE relname = 'gone'"
sql -c 'CREATE TABLE gone (v text) USING sliced' -c "INSERT INTO gone SELECT $value" -c 'SELECT count(md5(v)) FROM gone' >/dev/null
is "$(sql -c "$of_gone")" 2 'a table'
had=$(sql -c "$oids")
sql -c 'DROP TABLE gone' -c VACUUM    # nothing is left of it in the catalogs
server_stop primary
as_user "$PGS_BINDIR/pg_resetwal" -o "${had%|*}" "$PGDATA" >/dev/null
server_start primary
sql -c 'CREATE TABLE gone (v text) USING sliced'
is "$(sql -c "$oids")" "$had" 'a table of the same OIDs'
is "$(sql -c "$of_gone")" 0 'has no statistics yet'
sql -c "INSERT INTO gone SELECT $value" -c 'DROP TABLE gone'
is "$(sql -c "SELECT count(*) FROM sliced_functions.stat_counts() s LEFT JOIN pg_class c ON c.oid = s.toastrelid WHERE c.oid IS NULL")" 0 'a table that was dropped'

# one that is being made, by somebody whose session has booked a lot, stays
sql >"$PGS_TMP/making" <<SQL &
BEGIN;
CREATE TABLE made (v text) USING sliced;
INSERT INTO made SELECT $value;
SELECT count(*) FROM sliced.stat_columns WHERE rel = 'made';
SELECT pg_advisory_lock(1);
SELECT pg_sleep(2);
SELECT count(*) FROM sliced.stat_columns WHERE rel = 'made';
COMMIT;
SQL
making=$!
until [ "$(sql -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" = 1 ]; do sleep 0.1; done
sql -c 'SELECT count(*) FROM sliced.stat_columns' >/dev/null
wait $making
is "$(xargs <"$PGS_TMP/making")" '1 1' 'a table that somebody else is just making'

sql -c 'DROP TABLE made'

# another database, and one that is dropped
sql -c 'CREATE DATABASE other'
sql -d other -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (v text) USING sliced' -c "INSERT INTO t SELECT $value" \
    -c 'SELECT sliced.stat_reset()' -c 'SELECT count(md5(v)) FROM t' >/dev/null
is "$(sql -d other -c "SELECT coalesce(sum(stored), 0) FROM sliced.stat_columns" -c 'SELECT reads FROM sliced.stat_tables' | xargs)" '0 1' 'another database'
is "$(sql -c "$counts")" '0|30' 'reset was of that database only'
sql -c 'DROP DATABASE other'

# rows that were deleted are dead, also while somebody still sees them
sql -c 'CREATE TABLE held AS SELECT * FROM t' -c 'ALTER TABLE held SET ACCESS METHOD sliced' \
    -c 'BEGIN' -c 'SELECT pg_current_xact_id()' -c "PREPARE TRANSACTION 'old'" -c 'DELETE FROM held' >/dev/null
is "$(sql -c "SELECT live_bytes, dead_bytes > 0, raw_bytes FROM sliced.toast_space('held')")" '0|t|0' 'rows that are recently dead'
sql -c "ROLLBACK PREPARED 'old'" -c 'VACUUM held'
is "$(sql -c "SELECT pages FROM sliced.toast_space('held')")" 0 'VACUUM'
sql -c 'DROP TABLE held'

# many tables: sessions do not write the file each time, but the last one does
sql <<'SQL'
SELECT format('CREATE TABLE m%s (v text) USING sliced; INSERT INTO m%1$s SELECT string_agg(md5(i::text), '''') FROM generate_series(1, 200) i', i)
FROM generate_series(1, 300) i
\gexec
SQL
sql -c "SELECT sliced.stat_reset('t')" -c 'SELECT count(md5(v)) FROM t' >/dev/null
for i in 1 2 3; do sql -c 'SELECT count(md5(v)) FROM t' >/dev/null; done
server_stop primary
server_start primary
is "$(sql -c "$counts")" '0|120' 'a restart finds what the last sessions have read'
sql <<'SQL'
SELECT format('DROP TABLE m%s', i) FROM generate_series(1, 300) i
\gexec
SQL

# more tables than there is room for: what finds none is not lost, and room comes back
sql <<'SQL'
SELECT format('CREATE TABLE m%s (v text) USING sliced; INSERT INTO m%1$s SELECT string_agg(md5(i::text), '''') FROM generate_series(1, 200) i', i)
FROM generate_series(1, 9000) i
\gexec
SQL
is "$(sql -c "SELECT count(*) FROM sliced_functions.stat_counts() WHERE attnum > 0" -c "SELECT count(*) FROM sliced.stat_tables WHERE rel IS NULL" | xargs)" '8127 1' \
    'as many columns as there is room for, and one of all others'
sql <<'SQL'
SELECT format('DROP TABLE m%s', i) FROM generate_series(1, 9000) i
\gexec
SQL
is "$(sql -c "SELECT count(*) FROM sliced_functions.stat_counts() WHERE attnum > 0")" 0 'room comes back'

# a standby counts for itself
sql -c 'SELECT sliced.stat_reset()' -c 'SELECT count(md5(v)) FROM t' >/dev/null
as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
server_start standby unix_socket_directories="$PGS_TMP/standby/socket"
is "$(sql -c "$counts" -c 'SELECT count(md5(v)) FROM t' -c 'SELECT count(md5(v)) FROM t' -c "$counts" | xargs)" '0|0 30 30 0|60' 'a standby'
is "$(sql -c "SELECT sliced.stat_reset()" -c "$counts" | xargs)" '0|0' 'reset there'
is "$(on primary -c "$counts")" '0|30' 'the primary'
# what the primary drops has none there either
on primary -c 'CREATE TABLE passing (v text) USING sliced' -c "INSERT INTO passing SELECT $value"
replayed() {
    local lsn
    lsn=$(on primary -c 'SELECT pg_current_wal_flush_lsn()')
    until [ "$(on standby -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" = t ]; do sleep 0.05; done
}
replayed
sql -c 'SELECT count(md5(v)) FROM passing' >/dev/null
is "$(sql -c 'SELECT count(*) FROM sliced.stat_tables')" 1 'a table there'
on primary -c 'DROP TABLE passing'
replayed
is "$(sql -c 'SELECT count(*) FROM sliced.stat_tables' -c 'SELECT count(*) FROM sliced_functions.stat_counts()' | xargs)" '0 0' 'that the primary has dropped'
server_stop standby

# preloaded, and where nothing is shared: a server for one user
server_use primary
server_stop primary
server_start primary shared_preload_libraries=pg_sliced
sql -c 'SELECT count(md5(v)) FROM t' >/dev/null
is "$(sql -c "$counts")" '0|60' 'preloaded'
server_stop primary
server_start primary
is "$(sql -c "$counts")" '0|60' 'and stopped'
server_stop primary
is "$(echo "SELECT count(md5(v)) FROM t; SELECT reads FROM sliced.stat_tables WHERE rel = 't'" | tr -d '\n' |
    as_user "$PGS_BINDIR/postgres" --single -D "$PGDATA" postgres 2>/dev/null | grep -o 'reads = "[0-9]*"')" 'reads = "30"' 'a session on its own'
server_start primary
is "$(sql -c "$counts")" '0|60' 'which leaves nothing'

# where memory cannot be shared a session counts for itself, and as much as it has room for
server_stop primary
server_start primary dynamic_shared_memory_type=mmap shared_preload_libraries=
as_user chmod 500 "$PGDATA/pg_dynshmem"
is "$(sql <<'SQL'
SELECT format('CREATE TABLE broad (id int, %s) USING sliced', string_agg('c' || i || ' text', ', ')) FROM generate_series(1, 300) i \gexec
SELECT format('INSERT INTO broad (id, %s) SELECT 1, %s', string_agg('c' || i, ', '), string_agg(format('repeat(md5(''%s''), 200)', i), ', '))
FROM generate_series(1, 300) i GROUP BY i / 30 \gexec
SELECT count(*), sum(stored + kept_compressed + kept_as_is), count(toastrelid) FROM sliced_functions.stat_counts();
SELECT sliced.stat_reset();
SELECT count(*) FROM sliced_functions.stat_counts();
SQL
)" $'256|300|255\n\n0' 'a session that shares nothing'
is "$(as_user grep -c 'statistics of sliced tables stay in this session: could not open shared memory segment' "$PGS_TMP/primary/log" || true)" 1 'as the log says'
as_user chmod 700 "$PGDATA/pg_dynshmem"
is "$(sql -c 'SELECT count(md5(v)) FROM t' -c 'SELECT count(*) FROM sliced_functions.stat_counts()' | xargs)" '30 1' 'and one that can share again'

# EXPLAIN, where it can be added to
if [ "$PG_MAJOR" -ge 18 ]; then
    explain="EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF"
    is "$(sql -c "$explain) SELECT md5(v) FROM t WHERE id = 1" | grep -c Oversized)" 1 'EXPLAIN'
    is "$(sql -c "$explain) SELECT count(md5(v)) FROM t" | sed -n 's/^Oversized Values: reads=\([0-9]*\) slices=\([0-9]*\) .*/\1 \2/p')" \
        "$(sql -c 'SELECT sliced.stat_reset()' -c 'SELECT count(md5(v)) FROM t' -c 'SELECT reads, slices_read FROM sliced.stat_tables' | tail -n 1 | tr '|' ' ')" \
        'EXPLAIN says what statistics say'
    is "$(sql -c "$explain, BUFFERS OFF) SELECT count(md5(v)) FROM t" | grep -c Oversized || true)" 0 'not without BUFFERS'
    is "$(sql -c "$explain) SELECT count(id) FROM t" | grep -c Oversized || true)" 0 'nor where nothing was read'
    is "$(sql -c "$explain, FORMAT JSON) SELECT count(md5(v)) FROM t" | tr -d ' \n' | grep -o '"OversizedValues":{"Reads":30,')" '"OversizedValues":{"Reads":30,' 'as JSON'
    sql -c "CREATE TABLE o (j jsonb) USING sliced"
    is "$(sql -c "EXPLAIN (VERBOSE, COSTS OFF) SELECT j->>'a', j->'b'->'c', length(j::text) FROM o WHERE j @> '{}'" | grep -A 1 'Operators on Parts')" \
        'Operators on Parts: ->>(jsonb,text), ->(jsonb,text), @>(jsonb,jsonb)' 'operators whose functions were exchanged'
    is "$(sql -c "EXPLAIN (VERBOSE, COSTS OFF) SELECT id + 1 FROM t" | grep -c 'Operators on Parts' || true)" 0 'no others'
    is "$(sql <<'SQL'
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(md5(v)) FROM t \g |grep -o 'Oversized Values: reads=[0-9]*'
SQL
)" 'Oversized Values: reads=30' 'with what parallel workers read'
fi
server_stop primary
