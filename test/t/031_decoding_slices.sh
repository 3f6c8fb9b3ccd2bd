#!/bin/bash
# Logical decoding where the server preloads the library: slices always, and decoders see
# what they would see of a heap table.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

seeds=${SEEDS:-"1 2 3"} count=${COUNT:-100}
here=$PGS_ROOT/test/t/decoding

server_start pub wal_level=logical shared_preload_libraries=pg_sliced max_replication_slots=20 max_wal_senders=20
on pub -f "$here/functions.sql"

slot() {
    on pub -c "SELECT FROM pg_create_logical_replication_slot('$1', '${2:-test_decoding}'${3:-})" >/dev/null
}
drop_slot() {
    on pub -c "SELECT pg_drop_replication_slot('$1')" >/dev/null
}
digest() {
    on "$1" -c "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM $2 t"
}

# Slots are served, standbys are not: nothing keeps old files back any more.
files_go() {
    local kept went=0
    kept=$(on pub -c 'SELECT count(*) FROM sliced.kept_files()')
    for ((i = 0; i < 100; i++)); do
        on pub -c CHECKPOINT -c "SELECT count(*) FROM pg_logical_slot_get_binary_changes('$1', NULL, NULL)" >/dev/null
        went=$((went + $(on pub -c 'SELECT sliced.remove_kept_files() FROM (SELECT count(d) FROM w) w')))
        [ "$(on pub -c 'SELECT count(*) FROM sliced.kept_files()')" != 0 ] || break
        sleep 0.1
    done
    is "$went" "$kept" "$kept old files go when the slot has passed, each once"
}

# ---- what is written ----

on pub -c 'CREATE TABLE w (id int PRIMARY KEY, d jsonb) USING sliced' -c 'INSERT INTO w SELECT 1, doc(10000, 1)' \
    -c "UPDATE w SET d = jsonb_set(d, '{seed}', '3')"
slot written
on pub -c 'CHECKPOINT' -c "UPDATE w SET d = jsonb_set(d, '{seed}', '4')"
wal=$(on pub -c "SELECT pg_current_wal_insert_lsn() AS began" -c "UPDATE w SET d = jsonb_set(d, '{seed}', '5')" \
    -c 'SELECT pg_current_wal_insert_lsn()')
wal=$(on pub -c "SELECT '${wal##*$'\n'}'::pg_lsn - '${wal%%$'\n'*}'::pg_lsn")
[ "$wal" -lt 1000 ] && echo "ok - WAL of a key changed in a document of 1 MB: $wal bytes" || echo "not ok - WAL of a changed key: $wal bytes"
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('written', NULL, NULL)
    WHERE md5(substring(data FROM '''(.*)'''))= (SELECT md5(d::text) FROM w)")" 1 "and what is decoded of the last change"
drop_slot written

# ---- a table that is gone before the decoder comes by ----

on pub -c 'CREATE TABLE g (v text) USING sliced' -c 'INSERT INTO g SELECT dense(9000, 1)'
slot gone
on pub -c 'INSERT INTO g SELECT dense(9000, 2)' -c 'DROP TABLE g'
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('gone', NULL, NULL) WHERE length(data) > 9000")" 1 "a value of a table that was dropped"
files_go gone
drop_slot gone

# ---- so is its dictionary ----

entry="string_agg('entry ' || k || ' of the list: ' || md5((i * k)::text) || ', state ' || i % k, '; ')"
on pub -c 'CREATE TABLE gd (id int, v text) USING sliced WITH (toast_tuple_target = 128)' \
    -c "INSERT INTO gd SELECT i, $entry FROM generate_series(1, 600) i, generate_series(1, 60) k GROUP BY i"
slot gone
is "$(on pub -c 'SET sliced.compression = zstd' -c "SELECT dictionary IS NOT NULL FROM sliced.train('gd')" \
    -c "INSERT INTO gd SELECT i, $entry FROM generate_series(1001, 1003) i, generate_series(1, 60) k GROUP BY i" \
    -c "SELECT count(*) FROM gd, sliced.inspect(v) WHERE id > 1000 AND codec LIKE '%dictionary%'" | xargs)" 't 3' "values that look back at a dictionary"
rows=$(on pub -c "SELECT md5(string_agg(v, ',' ORDER BY id)) FROM gd WHERE id > 1000")
on pub -c 'DROP TABLE gd'
is "$(on pub -c "SELECT md5(string_agg(substring(data FROM '''(.*)'''), ',' ORDER BY data)) FROM pg_logical_slot_get_changes('gone', NULL, NULL) WHERE data LIKE 'table%'")" \
    "$rows" "are decoded when the table is gone"
files_go gone
drop_slot gone

# ---- a table that is emptied in the transaction that has made it, and has no identity ----

slot emptied
for t in heap sliced; do
    on pub -c 'SET sliced.logical_decoding = slices' -c "BEGIN; CREATE TABLE of_$t (id int, v text) USING $t; ALTER TABLE of_$t REPLICA IDENTITY NOTHING;
        INSERT INTO of_$t SELECT 1, dense(9000, 1); TRUNCATE of_$t; INSERT INTO of_$t SELECT 2, dense(9000, 2);
        SAVEPOINT s; TRUNCATE of_$t; INSERT INTO of_$t SELECT 3, dense(9000, 3); ROLLBACK TO s; COMMIT" \
        -c "UPDATE of_$t SET v = v || 'x'" -c "INSERT INTO of_$t SELECT 4, dense(9000, 4)" -c "DELETE FROM of_$t WHERE id = 4"
done
on pub -c "SELECT data FROM pg_logical_slot_get_changes('emptied', NULL, NULL) WHERE data LIKE 'table%'" >"$PGS_TMP/decoded"
is "$(sed -n 's/^table public.of_sliced//p' "$PGS_TMP/decoded")" "$(sed -n 's/^table public.of_heap//p' "$PGS_TMP/decoded")" "a table that was emptied at once"
is "$(on pub -c "SELECT id, v = dense(9000, 2) || 'x' FROM of_sliced" -c "SELECT * FROM sliced.verify('of_sliced')")" '2|t' "and its rows"
toast=$(on pub -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'of_sliced'::regclass")
chunks="SELECT count(*) FROM $toast WHERE chunk_id IN (SELECT object FROM of_sliced, sliced.inspect(v))"
is "$(on pub -c 'SET enable_indexscan = off' -c 'SET enable_seqscan = off' -c "$chunks")" "$(on pub -c 'SET enable_indexscan = off' -c 'SET enable_bitmapscan = off' -c "$chunks")" \
    "a bitmap scan of a toast relation"
on pub -c BEGIN -c 'SELECT sliced.remove_kept_files()' -c "PREPARE TRANSACTION 'removing'" >/dev/null
on pub -c "SET statement_timeout = '30s'" -c 'ANALYZE w'
on pub -c "ROLLBACK PREPARED 'removing'"
files_go emptied
drop_slot emptied

# ---- many rows in one record ----

slot copied
on pub -c "COPY (SELECT i, dense(i % 3 * 3000 + 9, i), dense(4000, -i) FROM generate_series(1, 30) i) TO '$PGS_TMP/rows'"
for t in heap sliced; do
    on pub -c "CREATE TABLE of_many_$t (id int, v text, w text) USING $t" -c "COPY of_many_$t FROM '$PGS_TMP/rows'"
done
on pub -c "SELECT data FROM pg_logical_slot_get_changes('copied', NULL, NULL) WHERE data LIKE 'table%'" >"$PGS_TMP/decoded"
is "$(sed -n 's/^table public.of_many_sliced//p' "$PGS_TMP/decoded")" "$(sed -n 's/^table public.of_many_heap//p' "$PGS_TMP/decoded")" "COPY"
drop_slot copied

# ---- a slot that skips changes, and one that is made while others write ----

on pub -c 'CREATE TABLE o (id int PRIMARY KEY, v text) USING sliced' -c 'INSERT INTO o SELECT i, dense(9000, i) FROM generate_series(1, 3) i'
slot skips
on pub -c "UPDATE o SET v = v || 'a'" -c "SELECT FROM pg_replication_slot_advance('skips', pg_current_wal_insert_lsn())" -c "UPDATE o SET v = v || 'b' WHERE id = 1"
is "$(on pub -c "SELECT count(*), count(*) FILTER (WHERE data ~ 'ab''$') FROM pg_logical_slot_get_changes('skips', NULL, NULL) WHERE data LIKE 'table%'")" '1|1' \
    "changes behind those that were skipped"
drop_slot skips

waits_for() { until [ "$(on pub -c "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND $1")" = t ]; do sleep 0.05; done; }
on pub -c 'SELECT pg_advisory_lock(7)' -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
until holder=$(on pub -c "SELECT pid FROM pg_locks WHERE locktype = 'advisory'") && [ -n "$holder" ]; do sleep 0.05; done
# it waits for one transaction, and then for another that has begun meanwhile
on pub -c BEGIN -c "UPDATE o SET v = v || 'c' WHERE id = 1" -c "PREPARE TRANSACTION 'first'"
slot made &
made=$!
waits_for "locktype = 'transactionid'"
on pub -c "BEGIN; UPDATE o SET v = v || 'd' WHERE id = 2; SELECT pg_advisory_xact_lock(7); UPDATE o SET v = v || 'e' WHERE id = 2; COMMIT" >/dev/null &
second=$!
waits_for "locktype = 'advisory'"
on pub -c "COMMIT PREPARED 'first'"
waits_for "locktype = 'transactionid' AND transactionid IN (SELECT transactionid FROM pg_locks WHERE granted AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory'))"
on pub -c "UPDATE o SET v = v || 'f' WHERE id = 3" -c "SELECT pg_terminate_backend($holder)" >/dev/null
wait $second $made
on pub -c "UPDATE o SET v = v || 'g' WHERE id = 2"
is "$(on pub -c "SELECT string_agg(right(data, 5), ' ') FROM pg_logical_slot_get_changes('made', NULL, NULL) WHERE data LIKE 'table%'" | sed "s/[^ ]*\(...\)'/\1/g")" deg \
    "changes of transactions that began after the slot could see them"
drop_slot made

# ---- an index that was replaced, unknown to VACUUM, leads to other rows ----

on pub -c 'CREATE TABLE r (id int PRIMARY KEY, v text) USING sliced' -c 'INSERT INTO r SELECT 1, dense(5000, 1)'
for ((i = 0; i < 40; i++)); do echo "UPDATE r SET v = v || dense(300, $i);"; done | on pub
slot replaced
on pub -c "UPDATE r SET v = v || 'end'" -c 'REINDEX TABLE r' -c 'VACUUM r' -c 'INSERT INTO r SELECT i, dense(1000 + i * 10, i) FROM generate_series(2, 200) i'
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('replaced', NULL, NULL)
    WHERE data ~ 'UPDATE' AND strpos(data, (SELECT v FROM r WHERE id = 1)) > 0")" 1 "a value read through an index that was replaced"
files_go replaced
drop_slot replaced

# ---- a database that moves, with its old files ----

as_user mkdir "$PGS_TMP/space"
on pub -c "CREATE TABLESPACE space LOCATION '$PGS_TMP/space'" -c 'CREATE DATABASE d'
in_d() {
    on pub -d d "$@"
}
in_d -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE m (v text) USING sliced' -c "SELECT FROM pg_create_logical_replication_slot('moved', 'test_decoding')" \
    -c "INSERT INTO m SELECT repeat(md5('m'), 300)" -c 'VACUUM FULL m' >/dev/null
labels="SELECT count(*) FROM pg_seclabel WHERE provider = 'sliced_kept_files'"
on pub -c 'CREATE DATABASE copy TEMPLATE d'
is "$(on pub -d copy -c "$labels" -c 'SELECT count(*) FROM sliced.kept_files()' -c 'SELECT sliced.remove_kept_files()' -c "$labels" | xargs)" '2 0 0 0' \
    "a copy of a database has none of its old files"
on pub -c 'DROP DATABASE copy'
on pub -c 'ALTER DATABASE d SET TABLESPACE space'
drop_slot moved
is "$(in_d -c 'SELECT sliced.remove_kept_files()' -c CHECKPOINT)" 2 "files of a database that has moved go as well"
is "$(comm -23 <(as_user find "$PGS_TMP/space" -type f -name '[0-9]*' -printf '%f\n' | grep -v '[._]' | sort) \
    <(in_d -c 'SELECT pg_relation_filenode(oid) FROM pg_class' | sort))" '' "and are there no more"

# ---- files of another tablespace; those of tables that go with the extension ----

slot others
on pub -c "SELECT pg_replication_origin_create('other'), pg_replication_origin_session_setup('other')" -c "UPDATE w SET d = jsonb_set(d, '{seed}', '6')" >/dev/null
in_d -c "SELECT FROM pg_create_logical_replication_slot('leaving', 'test_decoding')" \
    -c 'CREATE TABLE elsewhere (v text) USING sliced TABLESPACE pg_default' -c "INSERT INTO elsewhere SELECT string_agg(md5(i::text), '') FROM generate_series(1, 300) i" \
    -c 'CREATE UNLOGGED TABLE unlogged (LIKE m) USING sliced' -c 'INSERT INTO unlogged TABLE elsewhere' -c 'DROP TABLE unlogged' -c 'VACUUM FULL elsewhere'
is "$(in_d -c "SELECT spcname, count(*), bool_and(bytes > 0) FROM sliced.kept_files() JOIN pg_tablespace t ON t.oid = tablespace GROUP BY 1")" 'pg_default|2|t' \
    "files of another tablespace"
in_d -c 'BEGIN; DROP TABLE elsewhere, m; DROP EXTENSION pg_sliced; COMMIT'
is "$(in_d -c "$labels" -c CHECKPOINT)" 0 "nothing is kept without the extension"
is "$(as_user find "$PGDATA/base/$(on pub -c "SELECT oid FROM pg_database WHERE datname = 'd'")" -type f)" '' "its files go"
drop_slot leaving
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('others', NULL, NULL, 'only-local', '1') WHERE data LIKE 'table%'")" 0 \
    "changes of another origin, and of another database"
drop_slot others
on pub -c 'DROP DATABASE d' -c 'DROP TABLESPACE space'

# ---- rows of heap's that become ours, and a conversion of the others ----

for t in h s; do
    on pub -c "CREATE TABLE $t (id int PRIMARY KEY, v text, n int DEFAULT 0) USING heap" -c "ALTER TABLE $t REPLICA IDENTITY FULL" \
        -c "INSERT INTO $t SELECT i, dense(9000, i) FROM generate_series(1, 9) i" -c "INSERT INTO $t SELECT 10, repeat('z', 900000)"
done
on pub -c "SELECT sliced.adopt('s')" >/dev/null
slot adopted
changed() {
    for t in h s; do
        for change in "UPDATE $t SET n = n + 1 WHERE id = $1" "UPDATE $t SET v = v || 'x' WHERE id = $1" "UPDATE $t SET id = -id WHERE id = $1" \
            "DELETE FROM $t WHERE id = $1 + 1" "UPDATE $t SET n = 1 WHERE id = 10" "UPDATE $t SET v = dense(9000, 77) WHERE id = $1 + 2"; do
            on pub -c "$change"
        done
    done
    on pub -c "SELECT data FROM pg_logical_slot_get_changes('adopted', NULL, NULL) WHERE data LIKE 'table%'" >"$PGS_TMP/decoded"
    is "$(sed -n 's/^table public.s//p' "$PGS_TMP/decoded" | md5sum)" "$(sed -n 's/^table public.h//p' "$PGS_TMP/decoded" | md5sum)" "$2"
}
changed 1 "rows of heap's, and their identity"
# its last commit is flushed when it likes
on pub -c "CALL sliced.convert('s')" -c CHECKPOINT
is "$(on pub -c "SELECT count(*) > 5, count(*) FILTER (WHERE data ~ 'old-key.*unchanged.*new-tuple'), count(*) FILTER (WHERE data !~ 'new-tuple.*unchanged')
    FROM pg_logical_slot_get_changes('adopted', NULL, NULL) WHERE data ~ '^table'")" 't|0|0' "a conversion changes no value, and tells whose"
is "$(on pub -c 'SELECT bool_and(object IS NOT NULL) FROM s, sliced.inspect(v)')" t "and makes slices of all, with a slot"
changed 4 "rows that were converted"
drop_slot adopted
on pub -c 'DROP TABLE h, s'

# ---- the same statements on a heap table and on a sliced one ----

for seed in $seeds; do
    "$PGS_PYTHON" "$here/statements.py" "$seed" "$count" >"$PGS_TMP/statements"
    on pub -c 'CREATE TABLE h (id int PRIMARY KEY, a text, b text, d jsonb, n int DEFAULT 0) USING heap' \
        -c 'CREATE TABLE s (LIKE h INCLUDING ALL) USING sliced'
    slot twins test_decoding ', false, true'
    sed 's/%T/h/g; s/%P/h_pkey/g; s/%G/h_/g; s/$/;/' "$PGS_TMP/statements" >"$PGS_TMP/h.sql"
    sed 's/%T/s/g; s/%P/s_pkey/g; s/%G/s_/g; s/$/;/' "$PGS_TMP/statements" >"$PGS_TMP/s.sql"
    paste -d '\n' "$PGS_TMP/h.sql" "$PGS_TMP/s.sql" | on pub -v ON_ERROR_STOP=0 >/dev/null 2>"$PGS_TMP/errors" || true
    is "$(grep -c ERROR "$PGS_TMP/errors" || true)" 0 "seed $seed: no statement fails"
    is "$(digest pub s)" "$(digest pub h)" "seed $seed: rows"
    is "$(on pub -c "SELECT count(*) FROM sliced.verify('s')")" 0 "seed $seed: verify"
    is "$(on pub -c "SELECT kept_files = (SELECT count(*) FROM sliced.kept_files()), (kept_bytes > 0) = (kept_files > 0), lag_bytes > 0, lag_transactions > 0
        FROM sliced.decoding WHERE slot_name = 'twins'")" 't|t|t|t' "seed $seed: what the slot holds up"
    # files that were replaced meanwhile are still there after a crash
    server_stop pub immediate
    server_start pub
    on pub -c "SELECT data FROM pg_logical_slot_get_changes('twins', NULL, NULL, 'include-xids', '0')" >"$PGS_TMP/decoded"
    result=$("$PGS_PYTHON" "$here/compare.py" test_decoding h s <"$PGS_TMP/decoded")
    echo "# $result" | sed '2,$s/^/# /'
    case $result in *", 0 different") echo "ok - seed $seed: what is decoded is equal" ;; *) echo "not ok - seed $seed: decoded" ;; esac
    files_go twins
    drop_slot twins
    on pub -c 'DROP TABLE h, s'
done

# ---- subscribers ----

# Not on 18.6, heap tables or not: it calls a transaction streamed that was rolled back before it
# was, if it takes more memory than this, and then the plugin or the subscriber crashes.  Nor
# with assertions: one of core's fails, of subtransactions that have nothing to spill.
streams=t
[ "$PG_MAJOR" != 18 ] && [ "$(on pub -c 'SHOW debug_assertions')" = off ] || streams=f
[ $streams = f ] ||
    on pub -c "ALTER SYSTEM SET logical_decoding_work_mem = '64kB'" -c 'SELECT pg_reload_conf()' >/dev/null

# Whatever method a table has here, it has the other one there.
tables() {
    for i in 1 2 3; do
        echo "CREATE TABLE h$i (id int PRIMARY KEY, a text, b text, d jsonb, n int DEFAULT 0) USING $1;"
        echo "CREATE TABLE s$i (LIKE h$i INCLUDING ALL) USING $2;"
    done
    echo 'ALTER TABLE h2 REPLICA IDENTITY FULL; ALTER TABLE s2 REPLICA IDENTITY FULL;'
}
server_start sub max_logical_replication_workers=10
on sub -f "$here/functions.sql" -c "$(tables sliced heap)"
on pub -c "$(tables heap sliced)" -c 'INSERT INTO h1 (id, a) SELECT -i, dense(5000, i) FROM generate_series(1, 20) i' \
    -c 'INSERT INTO s1 SELECT * FROM h1' -c 'CREATE PUBLICATION pub FOR TABLE h1, h2, h3, s1, s2, s3'
on sub -c "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGS_TMP/pub/socket port=5432 user=postgres dbname=postgres'
    PUBLICATION pub WITH (streaming = on, two_phase = on, binary = $((RANDOM % 2)))" 2>/dev/null
for ((i = 0; i < 600; i++)); do
    [ "$(on sub -c "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")" != 0 ] || break
    sleep 0.1
done
for i in 1 2; do
    "$PGS_PYTHON" "$here/statements.py" "$((i + 10))" "$count" dml >"$PGS_TMP/statements$i"
    for t in h s; do
        sed "s/%T/$t$i/g; s/%P/${t}${i}_pkey/g; s/%G/$t${i}_/g; s/\$/;/" "$PGS_TMP/statements$i" | on pub -v ON_ERROR_STOP=0 >/dev/null 2>"$PGS_TMP/errors$t$i" &
    done
done
# transactions that are streamed while they go on, and in part rolled back
for t in h3 s3; do
    on pub -c "BEGIN; INSERT INTO $t (id, a) SELECT i, dense(2500, i) FROM generate_series(1, 2000) i;
        SAVEPOINT s; UPDATE $t SET a = a || 'more'; ROLLBACK TO s;
        UPDATE $t SET a = overlay(a PLACING 'inside' FROM 1000) WHERE id % 2 = 0; COMMIT" \
        -c "BEGIN; UPDATE $t SET a = 'x' || a; ROLLBACK" \
        -c "BEGIN; UPDATE $t SET a = a || 'y'; PREPARE TRANSACTION 'streamed$t'" \
        -c "VACUUM $t" -c "COMMIT PREPARED 'streamed$t'" -c "DELETE FROM $t WHERE id > 1000"
done
wait
for i in 1 2; do
    is "$(cat "$PGS_TMP/errorss$i")" "$(sed "s/h$i/s$i/g" "$PGS_TMP/errorsh$i")" "pair $i: the same statements fail"
done

caught_up() {
    local upto
    upto=$(on pub -c 'SELECT pg_current_wal_lsn()')
    for ((i = 0; i < 1200; i++)); do
        [ "$(on pub -c "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= '$upto'")" = 0 ] || break
        sleep 0.1
    done
    for t in h1 s1 h2 s2 h3 s3; do
        is "$(digest sub $t)" "$(digest pub $t)" "$1: table $t"
    done
}
caught_up 'subscriber'
[ $streams = f ] ||
    is "$(on pub -c "SELECT bool_or(stream_txns > 0) FROM pg_stat_replication_slots")" t 'some transactions were streamed'

# streamed, and rolled back meanwhile, which takes the new files away
if [ $streams = t ]; then
    slot aborted pgoutput
    for seconds in 0.02 0.05 0.1; do
        rm -f "$PGS_TMP/streamed"
        on pub -c "BEGIN; TRUNCATE s3; INSERT INTO s3 (id, a) SELECT i, dense(20000, i) FROM generate_series(1, 300) i" \
            -c "COPY (SELECT 1) TO '$PGS_TMP/streamed'" -c "SELECT pg_sleep($seconds)" -c ROLLBACK >/dev/null &
        until [ -e "$PGS_TMP/streamed" ]; do sleep 0.01; done
        on pub -c "SELECT count(*) FROM pg_logical_slot_get_binary_changes('aborted', NULL, NULL, 'proto_version', '2', 'publication_names', 'pub', 'streaming', 'on')" 2>&1
        wait
    done >"$PGS_TMP/decoded"
    is "$(grep -c ERROR "$PGS_TMP/decoded" || true)" 0 'streamed, and rolled back meanwhile'
    drop_slot aborted
fi

# a publisher that waits for the subscriber, with locks that the decoder must do without
on pub -c "ALTER SYSTEM SET synchronous_standby_names = 'sub'" -c 'SELECT pg_reload_conf()' >/dev/null
on pub -c "SET statement_timeout = '30s'" -c "BEGIN; UPDATE s2 SET a = a || 'z'; REINDEX TABLE s2; ALTER TABLE s2 ADD x int; ALTER TABLE s2 DROP x; COMMIT" \
    -c "BEGIN; UPDATE s2 SET a = 'z' || a, b = a; CLUSTER s2 USING s2_pkey; TRUNCATE s1; INSERT INTO s1 SELECT * FROM s2; COMMIT"
on pub -c "UPDATE s2 SET a = a || 'y'" &
on pub -c "SET statement_timeout = '30s'" -c 'VACUUM FULL pg_database' -c 'VACUUM FULL s2'
wait
on pub -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'SELECT pg_reload_conf()' >/dev/null
caught_up 'a publisher that waits'

# a subscriber that lags, while old values are vacuumed and tables written anew
server_stop sub
"$PGS_PYTHON" "$here/statements.py" 21 "$count" dml >"$PGS_TMP/statements"
sed 's/%T/s1/g; s/%P/s1_pkey/g; s/%G/lag_/g; s/$/;/' "$PGS_TMP/statements" | on pub -v ON_ERROR_STOP=0 >/dev/null 2>&1 || true
on pub -c 'VACUUM FULL s1' -c 'UPDATE s2 SET n = n + 1' -c 'VACUUM s2' -c 'TRUNCATE s1' -c 'VACUUM'
server_stop pub immediate
server_start pub
server_start sub
caught_up 'one that lagged, after a crash'
on sub -c 'DROP SUBSCRIPTION sub' 2>/dev/null

# ---- messages of others ----

on pub -c 'CREATE ROLE somebody' -c 'CREATE TABLE f (id int PRIMARY KEY, v text) USING sliced' -c 'INSERT INTO f SELECT 1, dense(9000, 1)'
slot forged
on pub -c 'SET ROLE somebody' -c "SELECT pg_logical_emit_message(true, 'pg_sliced', convert_to(repeat('A', 40), 'UTF8'))" \
    -c "SELECT pg_logical_emit_message(true, 'pg_sliced', '')" -c "SELECT pg_logical_emit_message(false, 'pg_sliced', 'x')" >/dev/null
on pub -c "BEGIN; SELECT pg_logical_emit_message(true, 'pg_sliced', convert_to(repeat('z', 400), 'UTF8')); UPDATE f SET v = v || 'x';
    SELECT pg_logical_emit_message(true, 'pg_sliced', 'short'), pg_logical_emit_message(true, 'pg_sliced2', convert_to(repeat('z', 400), 'UTF8')); COMMIT" >/dev/null
is "$(on pub -c "SELECT count(*) FILTER (WHERE data ~ 'prefix: pg_sliced'), count(*) FILTER (WHERE data ~ 'UPDATE.*x''$')
    FROM pg_logical_slot_get_changes('forged', NULL, NULL)")" '6|1' "messages of others that look like ours go to the plugin"

if [ $streams = t ]; then
    on pub -c "BEGIN; INSERT INTO f SELECT i, dense(2500, i) FROM generate_series(10, 2000) i;
        SELECT pg_logical_emit_message(true, 'pg_sliced', 'streamed'); INSERT INTO f SELECT 2001, dense(2500, 1); COMMIT" -c 'DELETE FROM f WHERE id > 1' >/dev/null
    is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('forged', NULL, NULL, 'stream-changes', '1') WHERE data ~ '^streaming message.*prefix: pg_sliced'")" 1 \
        "also where they are streamed"
fi

# ---- the library is loaded late ----

on pub -c "UPDATE f SET v = v || 'y'"
server_stop pub
server_start pub shared_preload_libraries=
# what decoders have still to read stays meanwhile
on pub -c "UPDATE f SET v = reverse(v)" -c "UPDATE f SET v = reverse(v)" -c 'VACUUM f' -c 'CREATE TABLE kept (LIKE f INCLUDING ALL) USING sliced' -c 'INSERT INTO kept SELECT * FROM f' -c 'TRUNCATE f' -c 'INSERT INTO f SELECT * FROM kept'
# with assertions test_decoding objects before that: the message is no text
[ "$(on pub -c 'SHOW debug_assertions')" = on ] ||
    is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('forged', NULL, NULL)" 2>&1 | grep -c 'begun without pg_sliced\|shared_preload_libraries')" 2 \
    "who has missed what was announced says what to do"
slot late
on pub -c "BEGIN; CREATE TABLE large AS SELECT i, repeat('l', 300) FROM generate_series(1, 1000) i;
    SELECT pg_logical_emit_message(true, 'pg_sliced', convert_to(repeat('z', 400), 'UTF8')); UPDATE f SET v = v || 'z'; COMMIT" >/dev/null
is "$(on pub -c "SET logical_decoding_work_mem = '64kB'" -c "SELECT count(*) FILTER (WHERE data ~ 'UPDATE.*xyz''$'), count(*) FILTER (WHERE data ~ 'lll') FROM pg_logical_slot_get_changes('late', NULL, NULL)")" \
    '1|1000' "who has missed nothing joins in, whatever others say, and whatever is not in memory"
# what a subtransaction has announced counts if it is committed
for end in 'ROLLBACK TO s' 'RELEASE s'; do
    on pub -c "SET sliced.logical_decoding = slices; BEGIN; SAVEPOINT s; UPDATE f SET v = v || '1' WHERE id = 1; $end;
        SET LOCAL sliced.logical_decoding = auto; UPDATE f SET v = v || '2' WHERE id = 1; COMMIT"
    on pub -c "SELECT right(rtrim(data, ''''), 3) FROM pg_logical_slot_get_changes('late', NULL, NULL) WHERE data ~ 'UPDATE'" 2>&1 || true
done | sed 's/:.*//' >"$PGS_TMP/late"
is "$(xargs <"$PGS_TMP/late")" 'yz2 ERROR HINT' "in a subtransaction"
drop_slot late
if [ $streams = t ]; then
    for how in auto slices; do
        slot late
        on pub -c "SET sliced.logical_decoding = $how" -c "INSERT INTO f SELECT i, dense(6000, i) FROM generate_series(10, 2000) i"
        on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('late', NULL, NULL, 'stream-changes', '1') WHERE data ~ '^streaming change'" 2>&1 || true
        drop_slot late
        on pub -c 'DELETE FROM f WHERE id > 1'
    done | sed '/HINT\|CONTEXT\|^slot/d' >"$PGS_TMP/late"
    is "$(xargs <"$PGS_TMP/late")" '1991 ERROR: logical decoding has begun without pg_sliced, and needs it' "while its first transaction is streamed"
fi
server_stop pub
server_start pub shared_preload_libraries=pg_sliced
is "$(on pub -c "SELECT count(*) FILTER (WHERE data ~ 'UPDATE.*xy''$') FROM pg_logical_slot_get_changes('forged', NULL, NULL)")" 2 \
    "and nothing is lost when that has been done"
drop_slot forged

# ---- a value that is gone, though a slot needs it ----

slot needs
on pub -c 'CREATE TABLE n (v text) USING sliced' -c 'INSERT INTO n SELECT dense(9000, 1)'
toast=$(on pub -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'n'::regclass")
on pub -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
    -c "DELETE FROM $toast" -c "VACUUM $toast" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass"
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('needs', NULL, NULL)" 2>&1 | sed -n 's/value [0-9]*/value N/; s/^ERROR: *//p')" \
    'replication slot "needs" needs value N of table "n", which cannot be read: the value is missing' "an error that says what it is about"
drop_slot needs
# the index of that time leads behind the end of the file
slot needs
on pub -c 'INSERT INTO n SELECT dense(90000, 3)' -c 'REINDEX TABLE n' -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
    -c "DELETE FROM $toast" -c "VACUUM $toast" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass"
is "$(on pub -c "SELECT pg_relation_size('$toast')" -c "SELECT count(*) FROM pg_logical_slot_get_changes('needs', NULL, NULL)" 2>&1 | sed -n '1p; s/value [0-9]*/value N/; s/^ERROR: *//p')" \
    '0
replication slot "needs" needs value N of table "n", which cannot be read: the value is missing' "a file that is shorter since"
drop_slot needs
slot needs
on pub -c 'INSERT INTO n SELECT dense(9000, 2)'
file=$(on pub -c "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'n'::regclass")
server_stop pub
as_user mv "$PGDATA/$file" "$PGS_TMP/file"
server_start pub
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('needs', NULL, NULL)" 2>&1 | sed -E 's/value [0-9]*/value N/; s/"base[^"]*"/FILE/' | head -n 2)" \
    $'ERROR:  could not open file FILE: No such file or directory\nCONTEXT:  reading value N of table "n" for replication slot "needs"' "or its file is"
server_stop pub
as_user mv "$PGS_TMP/file" "$PGDATA/$file"
server_start pub
is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('needs', NULL, NULL) WHERE data ~ 'INSERT'")" 1 "once it is there again"
drop_slot needs
on pub -c 'DROP TABLE n'

# ---- a value of core's that has another length than its row says ----

if [ "$(best_method)" = lz4 ]; then
    on pub -c 'CREATE TABLE short (id int, v text COMPRESSION lz4) USING heap WITH (toast_tuple_target = 128)' \
        -c 'ALTER TABLE short REPLICA IDENTITY FULL' -c 'INSERT INTO short SELECT i, repeat(dense(1200, i), 3) FROM generate_series(1, 2) i' \
        -c "SELECT sliced.adopt('short')" >/dev/null 2>&1
    toast=$(on pub -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'short'::regclass")
    # as many bytes, but nothing is compressed: a token, the length, and literals
    on pub -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
        -c "UPDATE $toast SET chunk_data = substr(chunk_data, 1, 4) || '\\xf0' || decode(repeat('ff', k), 'hex') ||
                set_byte('\\x00', 0, n - 17 - 256 * k) || convert_to(repeat('l', n - 2 - k), 'UTF8')
            FROM (SELECT chunk_id AS id, length(chunk_data) - 4 AS n, (length(chunk_data) - 21) / 256 AS k FROM $toast) x WHERE chunk_id = id" \
        -c "VACUUM $toast" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass"
    is "$(on pub -c "SELECT samples FROM sliced.train('short')")" 0 "a dictionary is not made of it"
    slot needs
    on pub -c 'UPDATE short SET v = dense(3000, id)'
    is "$(on pub -c "SELECT count(*) FROM pg_logical_slot_get_changes('needs', NULL, NULL)" 2>&1 | sed -n 's/value [0-9]*/value N/; s/^ERROR: *//p')" \
        'value N of table "short" has another length than its pointer says' "nor does a decoder take it for sound"
    drop_slot needs
    on pub -c 'DROP TABLE short'
fi

# ---- rows that are converted while a slot holds up VACUUM ----

slot held
on pub -c 'CREATE TABLE conv (id int, v text) USING heap' -c 'INSERT INTO conv SELECT i, dense(9000, i) FROM generate_series(1, 300) i' \
    -c "SELECT sliced.adopt('conv')" >/dev/null 2>&1
on pub -c "SET statement_timeout = '60s'" -c "CALL sliced.convert('conv', max_dead => 0.05)" 2>"$PGS_TMP/converted" &
converting=$!
while alive $converting; do
    on pub -c 'VACUUM conv' -c "SELECT count(*) FROM pg_logical_slot_get_changes('held', NULL, NULL)" >/dev/null
    sleep 0.1
done
wait $converting || true
is "$(grep -c 'waiting for VACUUM\|converted 300 rows' "$PGS_TMP/converted")" 2 "VACUUM catches up with a slot that is read"
is "$(on pub -c 'SELECT count(*) FROM conv WHERE v = dense(9000, id)' -c "SELECT * FROM sliced.verify('conv')")" 300 "and all values are there"
drop_slot held
on pub -c 'DROP TABLE conv'

# ---- a slot that the server has given up ----

slot lost
on pub -c "ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'" -c 'SELECT pg_reload_conf()' -c 'VACUUM FULL f' >/dev/null
for _ in 1 2 3; do on pub -c "UPDATE f SET v = v || 'x'" -c 'SELECT pg_switch_wal()' -c CHECKPOINT >/dev/null; done
is "$(on pub -c "SELECT wal_status, (SELECT count(*) FROM sliced.decoding) FROM pg_replication_slots WHERE slot_name = 'lost'")" 'lost|0' "holds up nothing"
on pub -c 'SELECT count(d) FROM w' -c 'SELECT txid_current()' >/dev/null
is "$(on pub -c 'SELECT sliced.remove_kept_files() > 0' -c 'SELECT count(*) FROM sliced.kept_files()')" $'t\n0' "and what was kept for it goes"
drop_slot lost
server_stop sub
server_stop pub
