#!/bin/bash
# What a change writes after a checkpoint, each from a session of its own: the first
# logs the pages that it touches, the others stay on these pages.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start fresh autovacuum=off full_page_writes=on
sql -c 'CREATE EXTENSION pg_sliced' \
    -c 'CREATE TABLE d (id int PRIMARY KEY, doc jsonb) USING sliced' -c 'CREATE TABLE t (id int PRIMARY KEY, v text) USING sliced' \
    -c "INSERT INTO d SELECT k, jsonb_build_object('n', 1, 'list', jsonb_agg(i), 'text', string_agg(md5(i::text || k), ''),
            'inner', jsonb_build_object('list', jsonb_agg(md5(i::text || k)), 'z', 'last'))
        FROM generate_series(1, 20) k, generate_series(1, 6000) i GROUP BY k" \
    -c "INSERT INTO t SELECT k, string_agg(md5(i::text || k), '') FROM generate_series(1, 20) k, generate_series(1, 6000) i GROUP BY k" \
    -c VACUUM

# limit BYTES STATEMENT NAME: of ten sessions that run it, how much do the eight write that write least?
limit() {
    local i written
    sql -c CHECKPOINT
    written=$(for i in 1 2 3 4 5 6 7 8 9 10; do
        sql <<<"SELECT pg_current_wal_insert_lsn() AS before \gset
            $2; SELECT pg_current_wal_insert_lsn() - :'before'"
    done | sort -n | head -n 8 | xargs)
    is "$(tr ' ' '\n' <<<"$written" | awk -v limit="$1" '{ sum += $1 } END { print (sum <= 8 * limit) }')" 1 "$3: at most $1 bytes a session"
    echo "# $written"
}
limit 800 "UPDATE d SET doc = jsonb_set(doc, '{n}', to_jsonb(random())) WHERE id = 3" "a value in a document"
limit 1200 "UPDATE d SET doc = jsonb_set(doc, '{inner,z}', to_jsonb(repeat(md5(random()::text), 20))) WHERE id = 4" "a longer one"
limit 600 "UPDATE t SET v = overlay(v PLACING md5(random()::text) FROM 100000) WHERE id = 3" "a part of a text"
limit 1000 "UPDATE t SET v = overlay(v PLACING repeat(md5(random()::text), 30) FROM 100000) WHERE id = 4" "a longer one"
limit 400 "UPDATE t SET v = v || md5(random()::text) WHERE id = 5" "an addition"
is "$(sql -c "SELECT * FROM sliced.verify('d')" -c "SELECT * FROM sliced.verify('t')")" '' "verify finds nothing"
server_stop fresh
