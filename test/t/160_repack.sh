#!/bin/bash
# pg_repack on our tables, while others change them, with either default access
# method: the same rows as in a heap table throughout, and VACUUM FULL leads back.
#
# What is particular to the states that it leaves behind is in
# test/sql/foreign_toast.sql.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

[ -x "$PGS_BINDIR/pg_repack" ] || {
    echo "# skipped: pg_repack, which does not belong to this installation"
    exit
}

server_start repack
sql <<'END'
CREATE EXTENSION pg_sliced;
CREATE EXTENSION pg_repack;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql AS
    $$ SELECT string_agg(md5(seed || '.' || i), '') FROM generate_series(1, n / 32) i $$;
CREATE FUNCTION digest(rel regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(md5(r::text), '','' ORDER BY id)) FROM %s r', rel) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION state(rel regclass) RETURNS text LANGUAGE sql AS $$
    SELECT am.amname || ' in ' || toast_am.amname || ', depends on ' ||
        (SELECT count(*) FROM pg_depend WHERE objid IN (c.oid, toast.oid) AND refclassid = 'pg_am'::regclass) ||
        (SELECT coalesce(string_agg(DISTINCT ', ' || kind, ''), '') FROM sliced.verify(rel))
    FROM pg_class c JOIN pg_class toast ON toast.oid = c.reltoastrelid
        JOIN pg_am am ON am.oid = c.relam JOIN pg_am toast_am ON toast_am.oid = toast.relam WHERE c.oid = rel
$$;
END

# Statements are printed, for a session of their own or one that goes on.

# twice STATEMENT: for both tables, "@" in the statement, in one transaction.
twice() {
    echo "BEGIN; ${1//@/ours}; ${1//@/theirs}; COMMIT;"
}

# changes FROM TO: all kinds, to rows with these ids.
changes() {
    local rows="id BETWEEN $1 AND $2"
    twice "update @ set t = t || 'longer' where $rows and id % 5 = 0"
    twice "update @ set t = overlay(t placing 'changed' from 500), n = n + 1 where $rows and id % 5 = 1"
    twice "update @ set j = jsonb_set(j, '{id}', to_jsonb(n)), b = substr(b, 2) where $rows and id % 5 = 2"
    twice "update @ set t = dense(length(t) + 1000, id), n = n + 1 where $rows and id % 5 = 3"
    twice "update @ set n = n + 1 where $rows"
    twice "insert into @ values ($1, 0, 'x') on conflict (id) do update set t = @.t || dense(640, @.n)"
}

# rows FROM TO: new rows, with values of all forms.
rows() {
    twice "insert into @ select i, i, dense(i * 300, i), repeat('compressible ', i * 20), decode(dense(i * 200, -i), 'hex'),
            jsonb_build_object('id', i, 'long', dense(i * 150, i), 'list', (select jsonb_agg(dense(3000, k)) from generate_series(1, i % 4) k), 'end', 1)
        from generate_series($1, $2) i"
    twice "insert into @ select 1000 + i, i, dense(2200, i) from generate_series($1, $2) i"
    changes "$1" "$2"
}

# same NAME: do both tables have the same rows?
same() {
    is "$(sql -c "SELECT digest('ours')")" "$(sql -c "SELECT digest('theirs')")" "$1"
}

# How many slices, with a head, are there?
slices() {
    sql -c "SELECT count(*) FROM $(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'ours'") WHERE chunk_seq = -1"
}

repack() {
    PGOPTIONS="-c default_table_access_method=$1" as_user "$PGS_BINDIR/pg_repack" -d postgres -D -t "$2" 2>&1
}

# repack_busily DEFAULT: while two others change rows of their own, each in one session
repack_busily() {
    local who round rounds before
    touch "$PGS_TMP/busy"
    rm -f "$PGS_TMP/rounds"
    touch "$PGS_TMP/rounds"
    for who in 0 1; do
        for ((round = 0; round < 1000; round++)); do
            [ -e "$PGS_TMP/busy" ] || break
            sleep 0.2
            changes $((who * 25 + 1)) $((who * 25 + 25))
            twice "delete from @ where id = $((1001 + who * 25 + round % 25))"
            twice "insert into @ select $((1001 + who * 25 + round % 25)), $round, dense(10000, $round)"
            echo "\\! echo $round >>rounds"
        done | sql &
    done
    # pg_repack waits for a transaction as old as itself, and keeps a log of what others do
    sql -c 'SELECT pg_sleep(3)' >/dev/null &
    until [ -s "$PGS_TMP/rounds" ]; do sleep 0.1; done
    before=$(wc -l <"$PGS_TMP/rounds")
    repack "$1" ours >"$PGS_TMP/said" || echo "not ok - pg_repack: $(grep ERROR "$PGS_TMP/said")"
    rounds=$(($(wc -l <"$PGS_TMP/rounds") - before))
    # and in what it has left behind
    sleep 1
    rm "$PGS_TMP/busy"
    wait
    [ "$rounds" -gt 0 ] && echo "ok - $rounds rounds of changes meanwhile" || echo "not ok - no changes meanwhile"
}

for default in heap sliced; do
    name="default $default"
    sql -c 'CREATE TABLE ours (id int PRIMARY KEY, n int, t text, u text, b bytea, gone text, j jsonb) USING sliced' \
        -c 'ALTER TABLE ours ALTER b SET STORAGE EXTERNAL' -c 'CREATE INDEX ON ours (right(t, 20))' \
        -c 'ALTER TABLE ours DROP gone' -c 'CREATE TABLE theirs (LIKE ours INCLUDING ALL) USING heap'
    rows 1 60 | sql
    repack_busily $default
    same "$name: pg_repack keeps all rows, and what others change meanwhile"
    case $default in
        heap) left='sliced in heap, depends on 1, foreign toast relation' ;;
        sliced) left='sliced in sliced, depends on 1' ;;
    esac
    is "$(sql -c "SELECT state('ours')")" "$left" "$name: what verify() says of it"
    [ $default = sliced ] || is "$(slices)" 0 "$name: nobody writes slices for core to read"

    { rows 61 80; changes 1 80; } | sql
    sql -c 'COPY theirs TO STDOUT' | sed 's/^/9/' >"$PGS_TMP/rows"
    sql -c "COPY ours FROM STDIN" <"$PGS_TMP/rows"
    sql -c "COPY theirs FROM STDIN" <"$PGS_TMP/rows"
    twice 'delete from @ where id % 7 = 0' | sql
    same "$name: what is written afterwards is read"
    is "$(sql -c "SELECT state('ours')")" "$left" "$name: verify() finds nothing else"

    sql -c 'CREATE DATABASE restored'
    sql -d restored -c 'CREATE EXTENSION pg_sliced'
    as_user "$PGS_BINDIR/pg_dump" -t ours postgres | sql -d restored >/dev/null
    is "$(sql -d restored -c 'SELECT md5(string_agg(r::text, $$,$$ ORDER BY id)) FROM ours r' -c "SELECT * FROM sliced.verify('ours')")" \
        "$(sql -c 'SELECT md5(string_agg(r::text, $$,$$ ORDER BY id)) FROM theirs r')" "$name: a dump restores in order"
    sql -c 'DROP DATABASE restored'

    repack_busily $default
    same "$name: pg_repack again"
    sql -c 'VACUUM FULL ours'
    same "$name: VACUUM FULL keeps all rows"
    { changes 1 80; rows 81 90; } | sql
    same "$name: after VACUUM FULL"
    is "$(sql -c "SELECT state('ours')" -c 'SELECT count(*) > 1 FROM ours, sliced.inspect(t) WHERE id = 82')" \
        $'sliced in sliced, depends on 1\nt' "$name: VACUUM FULL leads back to slices"

    repack $default ours >/dev/null
    sql -c 'ALTER TABLE ours SET ACCESS METHOD heap'
    changes 1 90 | sql
    same "$name: SET ACCESS METHOD heap"
    repack heap ours >/dev/null
    sql -c 'ALTER TABLE ours SET ACCESS METHOD sliced'
    changes 1 90 | sql
    same "$name: and back"
    is "$(sql -c "SELECT state('ours')")" 'sliced in sliced, depends on 1' "$name: and back to slices"

    if [ $default = sliced ]; then
        is "$(repack sliced theirs | grep -o 'pg_repack cannot give table "theirs" rows of access method "sliced"')" \
            'pg_repack cannot give table "theirs" rows of access method "sliced"' "a heap table does not get our rows"
        same "the heap table is as it was"
        is "$(sql -c 'SELECT amname FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE pg_class.oid = (SELECT reltoastrelid FROM pg_class WHERE relname = $$theirs$$)')" \
            heap "with its toast relation"
    fi
    sql -c 'DROP TABLE ours, theirs'
done
server_stop repack
