#!/bin/bash
# Who reads the row of an update that has not written its values yet: a decoder that streams the
# transaction, a BRIN index, and a subscription that looks for a row without a key.  t/080 leaves it
# to luck.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start pauses wal_level=logical autovacuum=off shared_preload_libraries=pg_sliced logical_decoding_work_mem=64kB
sql >/dev/null <<'END'
CREATE EXTENSION pg_sliced;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), 'hex'), ''), n) FROM generate_series(0, n / 128) i $$;
CREATE TABLE t (a text, id int, of_all int DEFAULT 1) USING sliced;
ALTER TABLE t REPLICA IDENTITY FULL;
INSERT INTO t SELECT dense(6000, i), i FROM generate_series(0, 5) i;
CREATE TABLE padding (a text);
CREATE DATABASE subscriber TEMPLATE postgres;
CREATE PUBLICATION pub FOR TABLE t, padding;
SELECT pg_create_logical_replication_slot(name, 'pgoutput') FROM (VALUES ('streaming'), ('subscribed')) AS slot (name);
END

# update VALUE END: a session updates a row and comes no further than to the row.
update() {
    holder_begin 'SELECT pg_advisory_xact_lock(1)'
    sql -c "BEGIN; INSERT INTO padding SELECT dense(1000, i) FROM generate_series(1, 40) i; SET LOCAL sliced.stop_at = 'update.row-updated:pause:1';
        UPDATE t SET a = $1 WHERE id = 1; $2" >"$PGS_TMP/writer" 2>&1 &
    writer=$!
    until [ "$(sql -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")" = 1 ]; do sleep 0.05; done
}

go_on() {
    holder_end 'SELECT'
    wait "$writer" || true
}

# Something smaller in another transaction makes the decoder stream the former.
for end in COMMIT ROLLBACK; do
    value="dense(6000, 3) || '$end'"
    update "$value" $end
    sql -c 'INSERT INTO padding SELECT dense(1000, i) FROM generate_series(1, 30) i' -c "SET application_name = 'decoder'" \
        -c "SELECT count(*) FROM pg_logical_slot_get_binary_changes('streaming', NULL, NULL, 'proto_version', '2', 'publication_names', 'pub', 'streaming', 'on')
            WHERE position(convert_to($value, 'UTF8') IN data) > 0" >"$PGS_TMP/decoder" 2>&1 &
    decoder=$!
    sleep 2
    is "$(sql -c "SELECT state FROM pg_stat_activity WHERE application_name = 'decoder'")" active "a decoder waits for the value, before $end"
    go_on
    wait "$decoder" || true
    got=$(cat "$PGS_TMP/decoder" "$PGS_TMP/writer")
    # if it comes too late for a transaction that is rolled back, it needs nothing
    [ "$end $got" != 'ROLLBACK 0' ] || got=1
    is "$got" 1 "and has it"
done

sql -c 'CREATE INDEX brin ON t USING brin (right(a, 4))' -c 'SELECT brin_desummarize_range($$brin$$, 0)' >/dev/null
update "dense(6000, 3) || 'BRIN'" COMMIT
sql -c "SET application_name = 'summary'" -c "SELECT brin_summarize_new_values('brin')" >"$PGS_TMP/summary" 2>&1 &
summary=$!
sleep 2
is "$(sql -c "SELECT state FROM pg_stat_activity WHERE application_name = 'summary'")" active "a BRIN index waits for the value"
go_on
wait "$summary" || true
is "$(cat "$PGS_TMP/summary")" 1 "and has it"
is "$(sql -c 'SET enable_seqscan = off' -c "SELECT id FROM t WHERE right(a, 4) = 'BRIN'")" 1 "and finds the row"

# wait_for SQL: until it is true
wait_for() {
    for ((i = 0; i < 600; i++)); do
        [ "$(sql -c "SELECT $1")" != t ] || return 0
        sleep 0.1
    done
}

# Scanning, a subscription meets the new row in the place of a deleted one, before the row that it
# looks for.  Since 16 it uses any index, and meets the new row behind the old one.
export PGDATABASE=subscriber
sql -c 'CREATE SUBSCRIPTION sub CONNECTION $$dbname=postgres$$ PUBLICATION pub WITH (slot_name = subscribed, create_slot = off, copy_data = off)'
wait_for "EXISTS (SELECT FROM t WHERE id = 1 AND a ~ 'BRIN')"
sql -c 'DELETE FROM t WHERE id = 0'

# looks_for ID END VALUE: the update ends so, and leaves that
looks_for() {
    sql -c 'VACUUM t'
    update "dense(6000, 4 + $1)" COMMIT
    sql -d postgres -c "DELETE FROM t WHERE id = $1"
    sleep 2
    is "$(sql -c "SELECT count(*) FROM t WHERE id = $1")" 1 "a subscription waits for the value, before $2"
    [ "$2" = COMMIT ] || sql -c "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" >/dev/null
    go_on
    wait_for "NOT EXISTS (SELECT FROM t WHERE id = $1)"
    is "$(sql -c "SELECT (a = $3, EXISTS (SELECT FROM t WHERE id = $1)) FROM t WHERE id = 1" \
        -c 'SELECT apply_error_count FROM pg_stat_subscription_stats' | xargs)" '(t,f) 0' "and finds the row"
}
looks_for 2 'the end of the session' "dense(6000, 3) || 'BRIN'"
looks_for 3 COMMIT 'dense(6000, 4 + 3)'
if [ "$PG_MAJOR" -ge 16 ]; then
    sql -c 'CREATE INDEX ON t (of_all)'
    looks_for 4 'the end of the session' 'dense(6000, 4 + 3)'
    looks_for 5 COMMIT 'dense(6000, 4 + 5)'
fi

sql -c 'ALTER SUBSCRIPTION sub DISABLE' -c 'ALTER SUBSCRIPTION sub SET (slot_name = NONE)' -c 'DROP SUBSCRIPTION sub'
server_stop pauses
