#!/bin/bash
# Eight writers add to one row and change parts of others, with aborts,
# savepoints, cancels, VACUUM and readers with old snapshots; then the server is
# killed.  Every committed byte is there, in order, and nothing else.
#
# Who adds to the one row notes in a heap table, in the same transaction, what it
# added and where.  What is done to the others is done to a heap table too.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

seconds=${SECONDS_EACH:-20} writers=8

setup='
CREATE EXTENSION pg_sliced;
CREATE TABLE hot (v text, b bytea) USING sliced;
ALTER TABLE hot ALTER v SET STORAGE EXTERNAL;
INSERT INTO hot VALUES (repeat($$start$$, 1000), $$$$);
CREATE TABLE log (place bigint, token text);
CREATE TABLE t (id int PRIMARY KEY, v text, b bytea) USING sliced;
CREATE TABLE h (LIKE t INCLUDING ALL) USING heap;
CREATE INDEX ON t (right(v, 20));
INSERT INTO t SELECT i, string_agg(md5((i * j)::text), $$$$), decode(repeat(md5(i::text), i * 300), $$hex$$)
    FROM generate_series(1, 12) i, generate_series(1, 300) j GROUP BY i;
INSERT INTO h TABLE t;
CREATE FUNCTION problems() RETURNS SETOF text LANGUAGE sql AS $f$
    SELECT $$hot$$ FROM hot WHERE v <> repeat($$start$$, 1000) || coalesce((SELECT string_agg(token, $$$$ ORDER BY place) FROM log), $$$$)
        OR b <> convert_to(substr(v, 5001), $$UTF8$$)
    UNION ALL SELECT $$row $$ || id FROM t FULL JOIN h USING (id) WHERE (t.v, t.b) IS DISTINCT FROM (h.v, h.b) $f$;
CREATE FUNCTION digest() RETURNS text LANGUAGE sql AS $f$
    SELECT md5(string_agg(md5(v) || md5(b), $$$$ ORDER BY v)) FROM (SELECT v, b FROM t UNION ALL SELECT v, b FROM hot) s $f$;'

# What each sees, it sees twice the same.
reader() {
    local after=$((SECONDS + seconds))
    while [ $SECONDS -lt $after ]; do
        sql -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT problems()' -c 'SELECT digest() AS before' \
            -c 'SELECT pg_sleep(2)' -c 'SELECT digest()' -c 'COMMIT' 2>&1 |
            awk 'NF && ++n <= 2 { seen[n] = $0; next } NF { print "more:", $0 } END { if (seen[1] != seen[2]) print seen[1], seen[2] }'
    done
}

# run: everybody works for some seconds; what readers have to complain of goes to $PGS_TMP/readers.
run() {
    local pids=() w
    for ((w = 1; w <= writers; w++)); do
        python3 "$PGS_ROOT/test/t/writers/writer.py" "$((w + $1))" 20000 >"$PGS_TMP/writer$w.sql"
        PGAPPNAME=writer as_user timeout "$((seconds + 1))" "$PGS_BINDIR/psql" -X -q -f "$PGS_TMP/writer$w.sql" >"$PGS_TMP/writer$w.out" 2>&1 &
        pids+=($!)
    done
    reader >"$PGS_TMP/readers" 2>&1 &
    pids+=($!)
    (
        end=$((SECONDS + seconds))
        while [ $SECONDS -lt $end ]; do
            sql -c 'VACUUM t, hot' -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'writer' AND random() < 0.4" >/dev/null 2>&1 || true
            sleep 0.2
        done
    ) &
    pids+=($!)
    if [ "${2:-}" = kill ]; then
        sleep "$((seconds / 2)).$((RANDOM % 10))"
        server_kill
        wait "${pids[@]}" || true
        server_start writers
    else
        wait "${pids[@]}" || true
    fi
}

check() {
    is "$(sql -c 'SELECT problems()')" '' "$1: every byte is there"
    is "$(sql -c "SELECT * FROM sliced.verify('t') UNION ALL SELECT * FROM sliced.verify('hot')")" '' "$1: verify finds nothing"
    echo "# $(sql -c "SELECT count(*) || ' additions, ' || pg_size_pretty(max(place)) FROM log" \
        -c "SELECT pg_size_pretty(pg_table_size('hot')) || ' on disk'" | xargs)"
}

server_start writers max_wal_size=4GB full_page_writes=on
sql -c "$setup"

run 0
check "eight writers"
is "$(head -n 5 "$PGS_TMP/readers")" '' "readers see what their snapshots have"
# errors of any other kind would be hidden by all these
is "$(cat "$PGS_TMP"/writer*.out | grep -a 'ERROR:' | grep -vaE 'could not serialize|deadlock detected|canceling statement|current transaction is aborted|savepoint .* does not exist|only be used in transaction blocks|division by zero' |
    sort | uniq -c | head -n 10)" '' "writers get no errors but those of concurrency"

run 100 kill
check "after a crash"
is "$(sql -c 'VACUUM FULL t' -c 'VACUUM FULL hot' -c 'SELECT problems()')" '' "after VACUUM FULL"
server_stop writers
