#!/bin/bash
# A transaction of another database keeps row versions for sessions with a snapshot,
# but not for VACUUM of the toast relation.  Commands that take those versions
# without their values get no errors, and nothing is lost.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start horizon autovacuum=off max_prepared_transactions=2
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE DATABASE other'
sql -d other -c 'BEGIN' -c 'CREATE TABLE t ()' -c "PREPARE TRANSACTION 'old'"

# old_versions AM: a table with row versions that have lost their values.
old_versions() {
    sql -c 'SET client_min_messages = error' -c 'DROP TABLE IF EXISTS t' \
        -c "CREATE TABLE t (id int PRIMARY KEY, n int, v text, j jsonb) USING $1" -c 'CREATE INDEX ON t (n)' -c 'CREATE INDEX t_v ON t (md5(v))' \
        -c "INSERT INTO t SELECT i, 0, string_agg(md5((i * k)::text), ''), jsonb_agg(k || 'x') FROM generate_series(1, 40) i, generate_series(1, 2000) k GROUP BY i" \
        -c "INSERT INTO t VALUES (41, 0, 'short', '[]')" -c 'UPDATE t SET v = (SELECT v FROM t WHERE id = 1) WHERE id = 41' -c "UPDATE t SET v = 'short' WHERE id = 41" \
        -c 'UPDATE t SET n = n + id, v = v || id WHERE id < 15' -c "UPDATE t SET n = 1, v = overlay(v PLACING 'x' FROM 5), j = j - 1 WHERE id < 10" \
        -c 'DELETE FROM t WHERE id BETWEEN 12 AND 20'
    sql -c "VACUUM $(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 't'::regclass")"
}
state() { sql -c "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM t"; }

failed=
for command in 'VACUUM FULL t' 'CLUSTER t USING t_pkey' 'SET enable_indexscan = off; CLUSTER t USING t_v' 'CREATE INDEX ON t (substr(v, 7, 9), id)' \
    'CREATE INDEX ON t USING brin (left(v, 5))' 'CREATE INDEX ON t USING gin (j)' 'CREATE INDEX CONCURRENTLY ON t (left(v, 7))' 'REINDEX TABLE t' \
    'ALTER TABLE t ALTER n TYPE bigint' 'ALTER TABLE t SET ACCESS METHOD heap'; do
    old_versions heap
    want=$(state)
    sql -c "$command" >/dev/null 2>&1 || failed+="${failed:+; }$command"
    old_versions sliced
    is "$(sql -c "$command" 2>&1 && state)" "$want" "$command"
    [ "$(sql -c "SELECT amname FROM pg_class c JOIN pg_am a ON relam = a.oid WHERE c.oid = 't'::regclass")" = heap ] ||
        is "$(sql -c "SELECT * FROM sliced.verify('t')")" '' "verify after $command"
done
echo "# in heap tables fail: $failed"

sql -d other -c "COMMIT PREPARED 'old'"
server_stop horizon
