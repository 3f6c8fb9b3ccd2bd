#!/bin/bash
# What released versions have stored is read by this one: whole and in parts; it can be
# changed, deleted and rewritten.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/bytes/functions.sh"

# Integers on disk are in the machine's order.
if [ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" != 1 ]; then
    echo "ok - golden files are of machines that are little-endian # SKIP"
    exit
fi

# An error is an answer, too, and not the expected one.
try() {
    sql "$@" 2>&1 || true
}

# check NAME: all values are what they should be, and everything in order
check() {
    is "$(try -c "SELECT name FROM golden WHERE md5 <> md5_of('golden_' || id) ORDER BY 1")" "" "$release: values are right $1"
    is "$(try -c "SELECT name, v.* FROM golden, LATERAL sliced.verify(('golden_' || id)::regclass) v ORDER BY 1")" "" "$release: and verified $1"
}

server_start golden
for directory in "$PGS_ROOT"/test/golden/*/; do
    release=$(basename "$directory")
    sql -c "CREATE DATABASE golden"
    PGDATABASE=golden
    sql -c 'CREATE EXTENSION pg_sliced'
    bytes_install
    sql <<'SQL'
CREATE TABLE golden (id int PRIMARY KEY, name text, type text, pointer bytea, md5 text);
CREATE TABLE golden_rows (id int, chunk_id oid, chunk_seq int, encoded text, chunk_data bytea);
CREATE FUNCTION md5_of(rel text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(v::text) FROM %s', rel) INTO result;
    RETURN result;
END $$;
-- do the same to a value and to its copy in a heap table; are they the same then?
CREATE FUNCTION differ(rel text, change text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    result bool;
BEGIN
    EXECUTE format('CREATE TEMP TABLE copy ON COMMIT DROP AS SELECT * FROM %s', rel);
    change := CASE WHEN change ~ '^v\[[^]]*\] = ' THEN change ELSE 'v = ' || change END;
    EXECUTE format('UPDATE %s SET %s', rel, change);
    EXECUTE format('UPDATE copy SET %s', change);
    EXECUTE format('SELECT md5(t.v::text) <> md5(c.v::text) FROM %s t JOIN copy c USING (id)', rel) INTO result;
    DROP TABLE copy;
    RETURN result;
END $$;
-- what the access method reads in parts, core reads in the heap
CREATE FUNCTION parts_differ(rel text, part text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    result bool;
BEGIN
    EXECUTE format('CREATE TEMP TABLE copy ON COMMIT DROP AS SELECT * FROM %s', rel);
    EXECUTE format('SELECT (SELECT md5((%s)::text) FROM %s) IS DISTINCT FROM (SELECT md5((%1$s)::text) FROM copy)', part, rel) INTO result;
    DROP TABLE copy;
    RETURN result;
END $$;
CREATE TABLE parts (type text, part text);
INSERT INTO parts VALUES ('bytea', 'substr(v, 3000, 40)'), ('bytea', 'get_byte(v, 2000)'), ('bytea', 'substr(v, length(v) - 30)'),
    ('text', 'substr(v, 3000, 40)'), ('text', 'right(v, 50)'), ('text', 'left(v, 9)'),
    ('jsonb', $$v->'list'->50->>'s'$$), ('jsonb', $$v->'deep'->'a'->'b'$$), ('jsonb', $$v->>'long'$$),
    ('jsonb', $$v->'items'->20->>'number'$$), ('jsonb', $$v #>> '{list,7,items,20}'$$),
    ('jsonb', $$v->'list'->>1400$$), ('integer[]', 'v[2000]'), ('integer[]', 'v[3:7]'), ('text[]', 'v[800]'), ('text[]', 'v[100:110]');
CREATE TABLE changes (type text, change text);
INSERT INTO changes VALUES ('bytea', $$v || 'more'::bytea$$), ('bytea', $$overlay(v PLACING 'new' FROM 2500)$$),
    ('bytea', $$set_byte(v, 2100, 0)$$), ('bytea', $$overlay(overlay(overlay(v PLACING repeat('x', 100)::bytea FROM 700)
        PLACING repeat('y', 100)::bytea FROM 2300) PLACING repeat('z', 100)::bytea FROM 3100)$$),
    ('text', $$v || 'möre'$$), ('text', $$overlay(v PLACING 'ä new word' FROM 2500)$$),
    ('jsonb', $$jsonb_set(v, '{list,5}', '"new"')$$), ('jsonb', $$jsonb_set(v, '{deep,a}', '"new"')$$), ('jsonb', $$jsonb_set(v, '{items,20,state}', '"new"')$$), ('jsonb', $$v || '{"last": 1}'$$),
    ('integer[]', 'v || 8'), ('integer[]', 'v[1:1000] || 7 || v[1001:]'),
    ('integer[]', 'v[1100] = 8'), ('integer[]', 'v[301:400] = array_fill(4, ARRAY[100])'), ('text[]', $$v || 'new'::text$$);
SQL
    sql -c 'COPY golden FROM STDIN' < <(awk -F '\t' -v OFS='\t' '{ $4 = "\\\\x" $4; print }' "$directory/values")
    sql -c 'COPY golden_rows (id, chunk_id, chunk_seq, encoded) FROM STDIN' <"$directory/rows"
    sql -c "UPDATE golden_rows SET chunk_data = decode(encoded, 'base64')"
    sql <"$PGS_ROOT/test/golden/load.sql"
    is "$(try -c "SELECT count(*) > 10, count(DISTINCT type) FROM golden WHERE md5 <> ''")" 't|5' "$release: there are values of all types"
    is "$(try -c "SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind) FROM (SELECT CASE get_byte(chunk_data, 4) WHEN 17 THEN 'head'
        WHEN 18 THEN 'slice' WHEN 19 THEN 'continuation' WHEN 20 THEN 'tail' WHEN 21 THEN 'node' WHEN 22 THEN 'entry' END AS kind FROM golden_rows) r")" \
        "continuation entry head node slice tail" "$release: and rows of all kinds"
    # of a node's first child: what it is, and how high
    is "$(try -c "SELECT string_agg(DISTINCT type, ', ') FROM golden_rows JOIN golden USING (id) WHERE get_byte(chunk_data, 4) = 17
        AND substr(chunk_data, 23, 2) <> '\x0000' AND get_byte(chunk_data, 33) & 3 = 1")" "bytea, integer[], jsonb, text" "$release: and roots with nodes below them"
    is "$(try -c "SELECT count(*) FILTER (WHERE kind = 17 AND child & 3 = 1 AND child >> 2 >= 1) > 0, count(*) FILTER (WHERE kind = 21 AND child & 3 = 1) > 0,
        count(*) FILTER (WHERE kind = 21 AND child = 2) > 0
        FROM (SELECT get_byte(chunk_data, 4) AS kind, get_byte(chunk_data, CASE get_byte(chunk_data, 4) WHEN 17 THEN 33 ELSE 21 END) AS child
            FROM golden_rows WHERE get_byte(chunk_data, 4) IN (17, 21) AND length(chunk_data) > 33) r")" "t|t|t" "$release: and trees of three levels, and borrowed slices"
    is "$(try -c "SELECT count(DISTINCT id) > 1 FROM golden_rows JOIN golden USING (id) WHERE get_byte(chunk_data, 4) = 20 AND EXISTS (SELECT FROM golden_rows r
        WHERE r.id = golden.id AND get_byte(r.chunk_data, 4) = 21)")" t "$release: and what has grown behind its tree"
    is "$(try -c "SELECT string_agg(DISTINCT codec - 128 || ' ' || type, ', ' ORDER BY codec - 128 || ' ' || type) FROM (SELECT get_byte(chunk_data, 5) AS codec, type
        FROM golden_rows JOIN golden USING (id) WHERE get_byte(chunk_data, 4) IN (17, 18)) r WHERE codec > 128")" \
        "2 bytea, 2 jsonb, 3 jsonb, 3 text" "$release: and slices with dictionaries"
    is "$(try -c "SELECT string_agg(name, ', ' ORDER BY id) FROM golden JOIN golden_rows USING (id) WHERE substr(chunk_data, 17, 4) = '\xffffffff' AND get_byte(chunk_data, 4) = 17")" \
        "taken lz4, taken pglz, taken lz4, changed and grown" "$release: and what was taken as heap had compressed it"
    check "as they were stored"
    is "$(try -c "SELECT name, part FROM golden JOIN parts USING (type) WHERE parts_differ('golden_' || id, part)")" "" \
        "$release: parts of them are read"
    is "$(try -c "SELECT name, change FROM golden JOIN changes USING (type) WHERE differ('golden_' || id, change)")" "" "$release: they are changed"
    is "$(try -c "SELECT count(*), bool_and(d.bytes > 0 AND d.in_use AND u.slices > 0) FROM golden, LATERAL sliced_functions.table_dictionaries(('golden_' || id)::regclass) d
        LEFT JOIN LATERAL sliced.dictionary_slices(('golden_' || id)::regclass) u USING (dictionary)")" "4|t" "$release: dictionaries are known, and used"
    sql -c "UPDATE golden SET md5 = md5_of('golden_' || id)"
    check "after that"
    sql -c "SELECT format('VACUUM FULL golden_%s;', id) FROM golden" | sql
    check "after VACUUM FULL"
    sql -c "SELECT format('DELETE FROM golden_%s; VACUUM golden_%1\$s;', id) FROM golden" | sed 's/; /;\n/' | sql
    is "$(try -c "SELECT name, v.* FROM golden, LATERAL sliced.verify(('golden_' || id)::regclass) v")" "" "$release: nothing is left behind"
    PGDATABASE=postgres
    sql -c 'DROP DATABASE golden'
done
server_stop golden
