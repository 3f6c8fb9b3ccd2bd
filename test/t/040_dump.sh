#!/bin/bash
# pg_dump and pg_restore in all formats keep contents and access methods.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

state='SELECT c.relname, amname, (xpath($x$/row/s/text()$x$, query_to_xml(format(
        $f$SELECT count(*) || $$ $$ || md5(string_agg(md5(t::text), $$,$$ ORDER BY md5(t::text))) AS s FROM %s t$f$,
        c.oid::regclass), true, true, $$$$)))[1]
    FROM pg_class c JOIN pg_am a ON a.oid = c.relam
    WHERE relnamespace = $$public$$::regnamespace AND relkind IN ($$r$$, $$m$$) ORDER BY 1'
damage='SELECT c.relname, v.* FROM pg_class c, sliced.verify(c.oid::regclass) v
    WHERE relnamespace = $$public$$::regnamespace AND relkind IN ($$r$$, $$m$$)
    AND relam = (SELECT oid FROM pg_am WHERE amname = $$sliced$$)'

server_start dump
sql -c 'CREATE DATABASE one'
sql -d one -c 'CREATE EXTENSION pg_sliced' -c 'SET default_table_access_method = sliced' \
    -c 'CREATE FUNCTION dense(n int) RETURNS text LANGUAGE sql AS $f$
        SELECT string_agg(encode(sha512(random()::text::bytea), $$hex$$), $$$$) FROM generate_series(0, n / 128) $f$' \
    -c 'CREATE TABLE texts (id int PRIMARY KEY, v text COMPRESSION pglz, w text)' \
    -c 'INSERT INTO texts SELECT i, repeat(i::text, i * 1000), dense(i * 500) FROM generate_series(0, 90) i' \
    -c 'CREATE TABLE others (id int REFERENCES texts, j jsonb, a text[], b bytea)' \
    -c 'INSERT INTO others SELECT id, to_jsonb(t), ARRAY[v, w], convert_to(w || v, $$UTF8$$) FROM texts t' \
    -c 'CREATE TABLE in_heap USING heap AS TABLE texts' \
    -c 'CREATE TABLE parts (id int, v text) PARTITION BY HASH (id)' \
    -c 'CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING heap' \
    -c 'CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)' \
    -c 'INSERT INTO parts SELECT i, dense(i * 1000) FROM generate_series(1, 20) i' \
    -c 'CREATE MATERIALIZED VIEW m AS SELECT id, w FROM texts'
expected=$(sql -d one -c "$state")

# check NAME: is database "two" like "one"?
check() {
    local got
    got=$(sql -d two -c "$state")
    if [ "$got" = "$expected" ] && [ -z "$(sql -d two -c "$damage")" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        diff <(echo "$expected") <(echo "$got") | sed 's/^/# /' || true
    fi
    sql -c 'DROP DATABASE two'
}

sql -c 'CREATE DATABASE two'
as_user "$PGS_BINDIR/pg_dump" one | sql -d two >/dev/null
check "pg_dump | psql"

sql -c 'CREATE DATABASE two'
as_user "$PGS_BINDIR/pg_dump" --inserts --rows-per-insert=7 one | sql -d two >/dev/null
check "pg_dump --inserts | psql"

for format in custom directory tar; do
    jobs=
    [ $format != directory ] || jobs=-j2
    as_user "$PGS_BINDIR/pg_dump" -F $format $jobs -f "$PGS_TMP/dump.$format" one
    [ $format = tar ] || jobs=-j2
    sql -c 'CREATE DATABASE two'
    as_user "$PGS_BINDIR/pg_restore" $jobs -d two "$PGS_TMP/dump.$format"
    check "pg_dump -F $format $jobs | pg_restore"
done

# the way out: without access methods a dump restores where there is no extension
sql -c 'CREATE DATABASE two'
as_user "$PGS_BINDIR/pg_dump" --no-table-access-method -T dense -t texts -t in_heap one | sql -d two >/dev/null
out=$(sql -d two -c "$state")
if [ "$(grep -E '^(texts|in_heap)' <<<"$expected" | sed 's/|sliced|/|heap|/')" = "$out" ]; then
    echo "ok - pg_dump --no-table-access-method"
else
    echo "not ok - pg_dump --no-table-access-method"
fi

# all of it by the owner of a database, who is no superuser
sql -c 'DROP DATABASE two' -c 'CREATE ROLE owner LOGIN CREATEDB' -c 'CREATE ROLE other LOGIN'
as_owner() { sql -U owner "$@"; }
as_owner -c 'CREATE DATABASE one_of_owner'
as_owner -d one_of_owner -c 'CREATE EXTENSION pg_sliced' -c 'GRANT CREATE ON SCHEMA public TO other' -c 'SET default_table_access_method = sliced' \
    -c 'CREATE TABLE texts (id int PRIMARY KEY, v text, j jsonb)' -c 'CREATE MATERIALIZED VIEW m AS SELECT id, v FROM texts WITH NO DATA' \
    -c "INSERT INTO texts SELECT i, repeat(i::text, 20000), jsonb_build_object('a', repeat(i::text, 20000)) FROM generate_series(1, 9) i" \
    -c "SELECT sliced.alter_column('texts', 'j', 'compression=zstd, level=7')" -c "SELECT sliced.alter_table('texts', 'compression=pglz')" \
    -c 'REFRESH MATERIALIZED VIEW m' -c 'ALTER TABLE texts ENABLE ROW LEVEL SECURITY' -c 'CREATE POLICY p ON texts USING (j ? $$a$$)' >"$PGS_TMP/out"
labels='SELECT objtype, objname, label FROM pg_seclabels WHERE provider = $$sliced$$ ORDER BY 1, 2'
expected=$(as_owner -d one_of_owner -c "$state" -c "$labels")
for format in plain custom; do
    as_owner -c 'CREATE DATABASE two'
    as_user "$PGS_BINDIR/pg_dump" -U owner -F $format -f "$PGS_TMP/owner.$format" one_of_owner
    if [ $format = plain ]; then
        out=$(as_owner -d two -f "$PGS_TMP/owner.$format" 2>&1 >"$PGS_TMP/out" || true)
    else
        out=$(as_user "$PGS_BINDIR/pg_restore" -U owner -d two "$PGS_TMP/owner.$format" 2>&1 || true)
    fi
    is "$out" "" "pg_restore -F $format by the owner of a database: no errors"
    is "$(as_owner -d two -c "$state" -c "$labels")" "$expected" "pg_restore -F $format by the owner of a database"
    is "$(as_owner -d two -c 'ALTER TABLE texts SET ACCESS METHOD heap' -c 'DROP MATERIALIZED VIEW m' \
        -c "SELECT sliced.alter_column('texts', 'j', NULL)" -c "SELECT sliced.alter_table('texts', NULL)" \
        -c 'DROP EXTENSION pg_sliced' -c 'SELECT count(*), sum(length(v)) FROM texts' 2>/dev/null | tail -n 1)" '9|180000' "the owner leaves"
    sql -c 'DROP DATABASE two'
done
server_stop dump
