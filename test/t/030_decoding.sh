#!/bin/bash
# Logical decoding: whatever was written before a slot existed, and whichever
# replica identity a table has, a subscriber gets the publisher's rows.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

loops=${LOOPS:-25}

verified() {
    is "$(on "$1" -c "SELECT * FROM pg_class c, sliced.verify(c.oid::regclass)
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relam = (SELECT oid FROM pg_am WHERE amname = 'sliced')")" \
        '' "$1: verify finds nothing"
}

tables='
CREATE EXTENSION pg_sliced;
SET default_table_access_method = sliced;
CREATE TABLE by_key (id int PRIMARY KEY, a text, b text, n int DEFAULT 0);
CREATE TABLE by_full (id int, a text, b text, n int DEFAULT 0);
ALTER TABLE by_full REPLICA IDENTITY FULL;
CREATE TABLE by_index (id int NOT NULL, a text NOT NULL, b text, n int DEFAULT 0);
CREATE UNIQUE INDEX by_index_idx ON by_index (id, a);
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_idx;'

server_start pub wal_level=logical wal_sender_timeout=60s
on pub -c "$tables" -c '
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql AS $dense$
    SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), $$hex$$), $$$$), n)
    FROM generate_series(0, n / 128) i $dense$;
CREATE PROCEDURE fill(first int, last int) LANGUAGE sql AS $$
    INSERT INTO by_key SELECT i, dense(i * 400, i), repeat(i::text, i * 200) FROM generate_series(first, last) i;
    INSERT INTO by_full SELECT i, dense(i * 400, i), repeat(i::text, i * 200) FROM generate_series(first, last) i;
    INSERT INTO by_index SELECT i, left(dense(i * 90, i), 2300), dense(i * 300, i) FROM generate_series(first, last) i $$;'
server_start sub wal_level=logical
on sub -c "$tables"

contents() {
    on "$1" -c "SELECT t, id, n, md5(a), md5(b) FROM (SELECT 'key' AS t, * FROM by_key UNION ALL
        SELECT 'full', * FROM by_full UNION ALL SELECT 'index', * FROM by_index) s ORDER BY t, id, n"
}

caught_up() {
    on pub -c "CALL public.wait_for_subscriber()" && is "$(contents sub)" "$(contents pub)" "$1"
}
on pub -c "CREATE PROCEDURE wait_for_a_lock() LANGUAGE plpgsql AS \$\$
    BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.02); END LOOP; END \$\$"
on pub -c "CREATE PROCEDURE wait_for_subscriber() LANGUAGE plpgsql AS \$\$
DECLARE upto pg_lsn := pg_current_wal_lsn();
BEGIN
    FOR i IN 1..400 LOOP
        EXIT WHEN (SELECT bool_and(replay_lsn >= upto) FROM pg_stat_replication WHERE application_name = 'sub');
        COMMIT;
        PERFORM pg_sleep(0.05);
    END LOOP;
END \$\$"

# Rows from before any logical slot: written as slices, some of them in parts.
on pub -c "SELECT FROM pg_create_physical_replication_slot('physical')" >/dev/null
on pub -c 'CALL fill(1, 40)'
for t in by_key by_full by_index; do
    on pub -c "UPDATE $t SET b = b || 'grown' WHERE id % 2 = 0" -c "UPDATE $t SET b = b || dense(2000, id) WHERE id % 4 = 0" \
        -c "UPDATE $t SET b = overlay(b PLACING 'changed' FROM 2000) WHERE id % 3 = 0"
done
is "$(on pub -c 'SELECT DISTINCT object IS NOT NULL FROM by_key, sliced.inspect(a) WHERE id > 30')" t \
    "without a slot values are written as slices"

on pub -c 'CREATE PUBLICATION pub FOR ALL TABLES'
on sub -c "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGS_TMP/pub/socket port=5432 user=postgres dbname=postgres' PUBLICATION pub"
for ((i = 0; i < 600; i++)); do
    [ "$(on sub -c "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")" != 0 ] || break
    sleep 0.1
done
caught_up "the initial copy"

on pub -c 'CALL fill(41, 60)'
caught_up "rows inserted with a slot"
is "$(on pub -c "SELECT topic, sql FROM sliced.advise() WHERE topic = 'decoding'")" \
    "decoding|ALTER SYSTEM SET shared_preload_libraries = 'pg_sliced';  -- and restart the server" "advise() says what keeps it so"
for t in by_key by_full by_index; do
    on pub -c "UPDATE $t SET n = n + 1 WHERE id % 3 = 0" \
        -c "UPDATE $t SET b = dense(id * 500, -id) WHERE id % 4 = 0" \
        -c "UPDATE $t SET b = left(a, 10) WHERE id % 7 = 0" \
        -c "UPDATE $t SET b = b || 'more' WHERE id % 5 = 2" \
        -c "UPDATE $t SET b = overlay(b PLACING 'inside' FROM 1000) WHERE id % 5 = 3" \
        -c "UPDATE $t SET b = a, n = -1 WHERE id % 11 = 0" \
        -c "BEGIN; UPDATE $t SET n = 100 WHERE id IN (38, 39); SAVEPOINT s; UPDATE $t SET b = dense(50000, 1) WHERE id IN (38, 39);
            ROLLBACK TO s; UPDATE $t SET b = dense(40000, 2) || b WHERE id = 39; COMMIT" \
        -c "BEGIN; UPDATE $t SET b = dense(60000, id) WHERE id > 30; DELETE FROM $t WHERE id > 50; ROLLBACK" \
        -c "DELETE FROM $t WHERE id % 5 = 1"
    caught_up "$t: updates and deletes of rows from before and after the slot"
    on pub -c "UPDATE $t SET a = dense(2100, id + 1000) WHERE id % 6 = 2" \
        -c "UPDATE $t SET id = id + 1000 WHERE id % 9 = 4" \
        -c "BEGIN; UPDATE $t SET n = 7 WHERE id % 2 = 0; UPDATE $t SET n = 8 WHERE id % 2 = 0; COMMIT"
    caught_up "$t: updates of key columns"
done
on pub -c 'CREATE TEMP TABLE other AS SELECT dense(9000, 77) AS v' \
    -c 'UPDATE by_key SET b = v FROM other WHERE id % 13 = 5' \
    -c 'UPDATE by_key SET a = b, b = a WHERE id % 13 = 7' \
    -c 'ALTER TABLE by_key SET (toast_tuple_target = 128)' \
    -c 'UPDATE by_key SET b = dense(1000, id) WHERE id % 13 = 9' \
    -c 'ALTER TABLE by_key RESET (toast_tuple_target)'
caught_up "new values that come as pointers, or are short"
on pub -c 'VACUUM FULL by_key' -c 'CLUSTER by_index USING by_index_idx' \
    -c 'ALTER TABLE by_key ADD x text DEFAULT dense(1, 1)' -c 'ALTER TABLE by_key DROP x' \
    -c 'UPDATE by_key SET n = n + 5' -c 'UPDATE by_index SET n = n + 5'
caught_up "after rewrites"
on pub -c "COPY (SELECT id + 2000, a, b, n FROM by_key) TO '$PGS_TMP/rows'" -c "COPY by_key FROM '$PGS_TMP/rows'"
caught_up "COPY"
on sub -c "UPDATE by_full SET b = b || 'local' WHERE false" -c 'VACUUM FULL by_full'
on pub -c 'UPDATE by_full SET n = n + 1' -c 'DELETE FROM by_full WHERE id % 2 = 0'
caught_up "by_full: every row"
verified pub
verified sub

# test_decoding sees whole values, or unchanged ones
slot() {
    on pub -c "SELECT FROM pg_create_logical_replication_slot('$1', 'test_decoding')" >/dev/null
}
changes() {
    on pub -c "SELECT regexp_replace(regexp_replace(data, '''([^'']{40})[^'']*([^'']{10})''', '''\1..\2''', 'g'), 'COMMIT.*|BEGIN.*', '')
        FROM pg_logical_slot_get_changes('$1', NULL, NULL) WHERE data LIKE 'table%'"
}
on sub -c 'DROP SUBSCRIPTION sub'
on pub -c 'TRUNCATE by_key, by_full, by_index' -c 'CALL fill(1, 3)' \
    -c 'INSERT INTO by_key SELECT 10, dense(9000, 1), dense(8000, 2)' \
    -c 'INSERT INTO by_full SELECT 10, dense(9000, 1), dense(8000, 2)'
is "$(on pub -c 'SELECT bool_and(object IS NOT NULL AND codec IS NOT NULL) FROM by_full, sliced.inspect(a) WHERE id = 10')" t \
    "when the last slot is gone, values are written as slices again"
slot plain
for t in by_key by_full; do
    on pub -c "UPDATE $t SET n = 5 WHERE id = 10" -c "UPDATE $t SET a = dense(7000, 3) WHERE id = 10" \
        -c "DELETE FROM $t WHERE id = 10"
done
seen=$(changes plain)
a1=$(on pub -c "SELECT left(dense(9000, 1), 40) || '..' || right(dense(9000, 1), 10)")
a2=$(on pub -c "SELECT left(dense(7000, 3), 40) || '..' || right(dense(7000, 3), 10)")
b1=$(on pub -c "SELECT left(dense(8000, 2), 40) || '..' || right(dense(8000, 2), 10)")
is "$seen" "table public.by_key: UPDATE: id[integer]:10 a[text]:unchanged-toast-datum b[text]:unchanged-toast-datum n[integer]:5
table public.by_key: UPDATE: id[integer]:10 a[text]:'$a2' b[text]:'$b1' n[integer]:5
table public.by_key: DELETE: id[integer]:10
table public.by_full: UPDATE: old-key: id[integer]:10 a[text]:'$a1' b[text]:'$b1' n[integer]:0 new-tuple: id[integer]:10 a[text]:'$a1' b[text]:'$b1' n[integer]:5
table public.by_full: UPDATE: old-key: id[integer]:10 a[text]:'$a1' b[text]:'$b1' n[integer]:5 new-tuple: id[integer]:10 a[text]:'$a2' b[text]:unchanged-toast-datum n[integer]:5
table public.by_full: DELETE: id[integer]:10 a[text]:'$a2' b[text]:'$b1' n[integer]:5" "test_decoding"
on pub -c "SELECT pg_drop_replication_slot('plain')" >/dev/null

# the setting
rows_of() {
    on pub -c "SET sliced.logical_decoding = $1" -c "INSERT INTO by_key SELECT $2, dense(9000, $2)"
    on pub -c "SELECT bool_and(object IS NOT NULL AND codec IS NOT NULL) FROM by_key, sliced.inspect(a) WHERE id = $2"
}
core=$(slot setting; rows_of auto 500)
is "$(on pub -c "SELECT count(*) FROM by_key b, pg_class c WHERE c.oid = 'by_key'::regclass AND id = 500 AND length(a) = 9000")" 1 \
    "a row is readable that was written with a slot"
is "$(changes setting | grep -c unchanged || true)" 0 "a row written with a slot is decoded as a whole"
rows_of off 501 >/dev/null
is "$(changes setting | grep -c 'id.integer.:501' || true)" 1 "sliced.logical_decoding = off: the decoder goes on"
on pub -c "SELECT pg_drop_replication_slot('setting')" >/dev/null
forced=$(rows_of on 502)
is "$forced" "$core" "sliced.logical_decoding = on: the core way without a slot"
on pub -c 'CREATE ROLE somebody' -c 'GRANT ALL ON by_key TO somebody'
is "$(on pub -c "LOAD 'pg_sliced'" -c 'SET ROLE somebody' -c 'SET sliced.logical_decoding = off' 2>&1 | grep -c denied)" 1 \
    "sliced.logical_decoding is for superusers"
is "$(on pub -c 'SET ROLE somebody' -c 'SET sliced.logical_decoding = off' -c 'SELECT FROM by_key WHERE false' \
    -c 'SHOW sliced.logical_decoding' 2>/dev/null)" auto "also before the library is loaded"
verified pub

# A conversion is an update that changes no large value, whatever the plugin and the setting.
# pgoutput's message of an update: type, oid, "N", number of columns, "t" and one byte of id, "u".
on pub -c 'CREATE TABLE converted (id int PRIMARY KEY, v text, w text, n int) USING heap' \
    -c 'INSERT INTO converted SELECT i, dense(9000, i), dense(5000 * (i % 2), -i), 0 FROM generate_series(1, 6) i' \
    -c "SELECT sliced.adopt('converted')" -c "UPDATE converted SET w = w || 'ours' WHERE id > 4" >/dev/null
for setting in auto on off; do
    before=$(on pub -c 'SELECT md5(string_agg(c::text, $$,$$ ORDER BY id)) FROM converted c WHERE id < 10')
    slot conversion
    on pub -c "SELECT FROM pg_create_logical_replication_slot('messages', 'pgoutput')" >/dev/null
    case $setting in auto) codec=lz4 ;; on) codec=zstd ;; off) codec=none ;; esac
    on pub -c "SET sliced.logical_decoding = $setting" -c "SET sliced.compression = $codec" \
        -c "CALL sliced.convert('converted')" 2>/dev/null
    on pub -c "INSERT INTO converted VALUES (10, 'last', '', 0)" -c 'UPDATE converted SET n = n + 1 WHERE id = 1'
    unchanged='v[text]:unchanged-toast-datum'
    is "$(changes conversion | sed "s/ w\[text\].*//" | sort | uniq -c | xargs)" \
        "$({ printf "table public.converted: UPDATE: id[integer]:%s $unchanged\n" 1 1 2 3 4 5 6 &&
            echo "table public.converted: INSERT: id[integer]:10 v[text]:'last'"; } | sort | uniq -c | xargs)" \
        "test_decoding of a conversion, sliced.logical_decoding = $setting"
    is "$(on pub -c "SELECT chr(get_byte(data, 0)), CASE chr(get_byte(data, 0)) WHEN 'U' THEN chr(get_byte(data, 14)) END, count(*)
        FROM pg_logical_slot_get_binary_changes('messages', NULL, NULL, 'proto_version', '1', 'publication_names', 'pub')
        WHERE chr(get_byte(data, 0)) IN ('U', 'I', 'D') GROUP BY 1, 2 ORDER BY 1" 2>&1 | xargs)" 'I||1 U|u|7' \
        "pgoutput of a conversion, sliced.logical_decoding = $setting"
    on pub -c "SELECT pg_drop_replication_slot('conversion'), pg_drop_replication_slot('messages')" \
        -c 'DELETE FROM converted WHERE id = 10' -c 'UPDATE converted SET n = 0 WHERE id = 1' >/dev/null
    is "$(on pub -c 'SELECT md5(string_agg(c::text, $$,$$ ORDER BY id)) FROM converted c')" "$before" "and its rows ($setting)"
done

# rows of heap's whose identity has values stay heap's where slices are hidden
for am in heap sliced; do
    on pub -c "CREATE TABLE stays_$am (id int, v text) USING heap" -c "ALTER TABLE stays_$am REPLICA IDENTITY FULL" \
        -c "INSERT INTO stays_$am SELECT i, dense(9000, i) FROM generate_series(1, 3) i"
done
on pub -c "SELECT sliced.adopt('stays_sliced')" >/dev/null 2>&1
slot hidden
is "$(on pub -c 'SET sliced.logical_decoding = off' -c "CALL sliced.convert('stays_sliced')" 2>&1 | sed -n 's/^.*NOTICE: *//p')" \
    $'converted no rows of "stays_sliced"\n3 rows of "stays_sliced" stay as they are' "a conversion where slices are hidden"
for am in heap sliced; do
    on pub -c 'SET sliced.logical_decoding = off' -c "UPDATE stays_$am SET v = reverse(v) WHERE id < 3" -c "DELETE FROM stays_$am WHERE id = 1"
done
changes hidden >"$PGS_TMP/hidden"
is "$(sed -n 's/^table public.stays_sliced//p' "$PGS_TMP/hidden")" "$(sed -n 's/^table public.stays_heap//p' "$PGS_TMP/hidden")" "is decoded as in heap"
on pub -c "SELECT pg_drop_replication_slot('hidden')" >/dev/null
is "$(on pub -c "CALL sliced.convert('stays_sliced')" 2>&1 | sed -n 's/^.*NOTICE: *//p')" 'converted 2 rows of "stays_sliced"' "and is converted when nobody decodes"
is "$(on pub -c 'SELECT count(*) FROM stays_sliced JOIN stays_heap USING (id, v)')" 2 "the rows are the same"

# an update that logs the old row goes on while others hold the row's key, as in heap
for am in heap sliced; do
    on pub -c "CREATE TABLE held_by_$am (id int PRIMARY KEY, v text, n int) USING $am" -c "ALTER TABLE held_by_$am REPLICA IDENTITY FULL" \
        -c "INSERT INTO held_by_$am SELECT 1, dense(9000, 1), 0"
    on pub -c "BEGIN; SELECT id FROM held_by_$am FOR KEY SHARE; PREPARE TRANSACTION 'held'" >/dev/null
    for change in "n = 1" "v = v || 'x'" "id = 2"; do
        on pub -v VERBOSITY=terse -c 'SET sliced.logical_decoding = on' -c "SET lock_timeout = '300ms'" \
            -c "UPDATE held_by_$am SET $change RETURNING id, n, length(v)" 2>&1 || true
    done >"$PGS_TMP/held_by_$am"
    on pub -c "COMMIT PREPARED 'held'"
done
is "$(cat "$PGS_TMP/held_by_sliced")" "$(cat "$PGS_TMP/held_by_heap")" "others may hold the key of a row that is updated"

# Who hides his changes does not take a row from under somebody who does not.
on pub -c 'CREATE TABLE adopted (id int, v text) USING heap' -c 'ALTER TABLE adopted REPLICA IDENTITY FULL' \
    -c 'INSERT INTO adopted SELECT 1, dense(9000, 1)' -c "SELECT sliced.adopt('adopted')" >/dev/null
slot waiting
on pub -c "BEGIN; SELECT id FROM adopted FOR UPDATE; PREPARE TRANSACTION 'held'" >/dev/null
on pub -c 'DELETE FROM adopted' &
on pub -c "CALL public.wait_for_a_lock()"
on pub -c 'SET sliced.logical_decoding = off' -c "SET lock_timeout = '300ms'" -c "UPDATE adopted SET v = v || 'x'" 2>/dev/null || true
on pub -c "COMMIT PREPARED 'held'"
wait
is "$(changes waiting)" "table public.adopted: DELETE: id[integer]:1 v[text]:'$a1'" "the identity of a row that somebody else would take"
on pub -c "SELECT pg_drop_replication_slot('waiting')" >/dev/null

# An error leaves a row exposed to heapam's toaster.  Who waits for the row, and is not decoded,
# sees that before he changes it.
for table in exposed key_exposed; do
    on pub -c "CREATE TABLE $table (k text NOT NULL, v text, wide text) USING sliced" \
        -c "ALTER TABLE $table ALTER k SET STORAGE EXTERNAL, ALTER wide SET STORAGE PLAIN" \
        -c "ALTER TABLE $table ADD UNIQUE (k)" -c "INSERT INTO $table SELECT dense(2400, 1), dense(9000, 1)"
done
on pub -c 'ALTER TABLE exposed REPLICA IDENTITY FULL' -c 'ALTER TABLE key_exposed REPLICA IDENTITY USING INDEX key_exposed_k_key'
for table in exposed key_exposed; do
    for change in "UPDATE $table SET v = dense(9000, 2)" "DELETE FROM $table"; do
        slot waiting
        on pub -c "BEGIN; SELECT FROM $table FOR UPDATE" -c 'CALL public.wait_for_a_lock()' \
            -c "UPDATE $table SET wide = repeat('y', 8300)" -c ROLLBACK >"$PGS_TMP/held" 2>&1 &
        for ((i = 0; i < 600; i++)); do
            [ "$(on pub -c "SELECT count(*) FROM pg_locks WHERE relation = '$table'::regclass AND mode = 'RowShareLock'")" = 0 ] || break
            sleep 0.05
        done
        is "$(on pub -c 'BEGIN; SET LOCAL sliced.logical_decoding = off' -c "$change" \
            -c "SELECT md5(v) = md5(dense(9000, 2)) FROM $table" -c ROLLBACK 2>&1)" \
            "$([ "${change%% *}" != UPDATE ] || echo t)" "a row of table $table that an error left exposed: ${change%% *}"
        wait
        is "$(grep -c 'row is too big' "$PGS_TMP/held")" 1 "and the error before"
        on pub -c "SELECT pg_drop_replication_slot('waiting')" >/dev/null
    done
done
verified pub

# Slots created while transactions come and go: what a slot decodes is whole.
on pub -c 'CREATE TABLE race (id serial PRIMARY KEY, who int, v text) USING sliced' -c 'ALTER TABLE race REPLICA IDENTITY FULL'
touch "$PGS_TMP/racing"
for who in 1 2 3; do
    while [ -e "$PGS_TMP/racing" ]; do
        on pub -c "BEGIN; INSERT INTO race (who, v) SELECT $who, dense(3000 + i * 100, i) FROM generate_series(1, 3) i; COMMIT" \
            -c "UPDATE race SET v = dense(5000, id) WHERE who = $who AND id > (SELECT max(id) FROM race) - 9" \
            -c "BEGIN; INSERT INTO race (who, v) VALUES ($who, 'short')" \
            -c "UPDATE race SET v = dense(4000, id) || v WHERE who = $who AND id > (SELECT max(id) FROM race) - 20" \
            -c "DELETE FROM race WHERE who = $who AND id < (SELECT max(id) FROM race) - 40; COMMIT"
    done &
done
bad=0 decoded=0
for ((i = 0; i < loops; i++)); do
    slot "race$i" 2>"$PGS_TMP/error" || bad=$((bad + 1))
    sleep 0.1
    # an insert must come with its value, an update with both, a delete with the old one
    if got=$(on pub -c "SELECT count(*), count(*) FILTER (WHERE data ~ 'unchanged|null' OR
            length(data) < 2900 AND data !~ 'short') FROM pg_logical_slot_get_changes('race$i', NULL, NULL) WHERE data LIKE 'table%'" 2>"$PGS_TMP/error"); then
        decoded=$((decoded + ${got%|*}))
        [ "${got#*|}" = 0 ] || bad=$((bad + 1))
    else
        bad=$((bad + 1))
        head -n 2 "$PGS_TMP/error" | cut -c 1-200 | sed 's/^/# /'
    fi
    on pub -c "SELECT pg_drop_replication_slot('race$i')" >/dev/null
done
rm "$PGS_TMP/racing"
wait
is "$bad" 0 "slots created among running transactions decode whole rows"
[ "$decoded" -gt "$loops" ] && echo "ok - $decoded changes decoded" || echo "not ok - only $decoded changes decoded"
verified pub
server_stop sub
server_stop pub
