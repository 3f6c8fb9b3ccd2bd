#!/bin/bash
# Values that consist of trees, made by hand: sound ones are read, verified, changed, rewritten
# and deleted; of damaged ones readers, sliced.verify() and sliced.inspect() say what is wrong.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/bytes/functions.sh"

server_start trees autovacuum=off
sql -c 'CREATE EXTENSION pg_sliced'
bytes_install
sql <<'SQL'
-- Nodes: docs/format.md.  The object of an extent is that of the node minus 'delta'.
CREATE FUNCTION little_endian(n bigint, size int) RETURNS bytea LANGUAGE sql AS $$
    SELECT string_agg(set_byte('\x00', 0, (n >> 8 * i & 255)::int), '' ORDER BY i) FROM generate_series(0, size - 1) i $$;
CREATE FUNCTION num(n bigint) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN
    RETURN CASE WHEN n > 127 THEN set_byte('\x00', 0, (n & 127 | 128)::int) || num(n >> 7) ELSE set_byte('\x00', 0, n::int) END;
END $$;
CREATE FUNCTION fold(n bigint) RETURNS bytea LANGUAGE sql AS $$ SELECT num(CASE WHEN n < 0 THEN -2 * n - 1 ELSE 2 * n END) $$;
CREATE FUNCTION extent(delta bigint, seq bigint, len bigint, hint bytea DEFAULT '') RETURNS bytea LANGUAGE sql AS $$
    SELECT num(CASE hint WHEN '' THEN 0 ELSE 3 END) || fold(delta) || fold(seq) || num(len) || hint $$;
CREATE FUNCTION below(seq int, len bigint, hint bytea DEFAULT num(0)) RETURNS bytea LANGUAGE sql AS $$ SELECT num(1) || fold(0) || fold(seq) || num(len) || hint $$;
CREATE FUNCTION borrowed() RETURNS bytea LANGUAGE sql AS $$ SELECT num(2) $$;
CREATE FUNCTION literal(s text) RETURNS bytea LANGUAGE sql AS $$ SELECT num(length(s) * 4) || convert_to(s, 'UTF8') $$;
CREATE FUNCTION run(child int, left_out bigint, len bigint) RETURNS bytea LANGUAGE sql AS $$ SELECT num(len * 4 + 2) || num(child) || num(left_out) $$;
CREATE FUNCTION next_run(left_out bigint, len bigint) RETURNS bytea LANGUAGE sql AS $$ SELECT num(len * 4 + 1) || num(left_out) $$;
CREATE FUNCTION node(owns bool, children bytea[], items bytea[]) RETURNS bytea LANGUAGE sql AS $$
    SELECT num(2 * cardinality(children) + owns::int) || string_agg(b, '' ORDER BY n) FROM unnest(children || items) WITH ORDINALITY u(b, n) $$;

CREATE TABLE raw AS SELECT (SELECT string_agg(decode(md5(i::text), 'hex'), '') FROM generate_series(1, 3000) i) AS body;
CREATE FUNCTION bytes(start int, len int) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(body, start + 1, len) FROM raw $$;
CREATE TABLE t (id int PRIMARY KEY, body bytea) USING sliced;
ALTER TABLE t ALTER body SET STORAGE external;
INSERT INTO t SELECT id, body FROM raw, generate_series(1, 13) id;
-- where the third slice begins, the fourth, and the sixth
CREATE TABLE slices AS SELECT s[3] AS a, s[4] AS b, s[6] AS c FROM (SELECT array_agg(start::int ORDER BY start) AS s FROM t, sliced.inspect(body) WHERE id = 1) s;

-- What rows of the toast relation, which is a table for a moment, become by this statement.
CREATE PROCEDURE toast_do(statement text) LANGUAGE plpgsql AS $$
DECLARE
    toast regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 't'::regclass);
BEGIN
    SET LOCAL allow_system_table_mods = on;
    UPDATE pg_class SET relkind = 'r' WHERE oid = toast;
    EXECUTE format(statement, toast);
    UPDATE pg_class SET relkind = 't' WHERE oid = toast;
END $$;

-- Make a row's value one of 'size' bytes with a root, and nodes -2, -3 ...  It has an id of its own.
CREATE PROCEDURE plant(which int, size int, root bytea, nodes bytea[]) LANGUAGE plpgsql AS $$
DECLARE
    row bytea := row_bytes('t', ctid) FROM t WHERE id = which;
    at int := length(row) - 16;
    value bigint := object_of(which) + 1000000;
    data bytea := '\x00000000110000000000000000000000000000000000' || little_endian(length(root), 2) || little_endian(0, 4) || little_endian(1, 4) || root;
BEGIN
    CALL toast_do(format('INSERT INTO %%s VALUES (%s, -1, %L)', value, forge(data, value::oid, -1)));
    FOR i IN 1 .. cardinality(nodes) LOOP
        data := '\x0000000015000000' || little_endian(length(nodes[i]), 4) || little_endian(length(nodes[i]), 4) || '\x00000000' || nodes[i];
        CALL toast_do(format('INSERT INTO %%s VALUES (%s, %s, %L)', value, -1 - i, forge(data, value::oid, -1 - i)));
    END LOOP;
    row := overlay(row PLACING little_endian(size + 4, 4) || little_endian(size + (3::bigint << 30), 4) || little_endian(value, 4) FROM at + 1);
    PERFORM row_poke('t', ctid, 0, row) FROM t WHERE id = which;
END $$;
CREATE FUNCTION object_of(which int) RETURNS bigint LANGUAGE sql AS $$ SELECT max(object::bigint) FROM t, sliced.inspect(body) WHERE id = which $$;

-- The same sound tree for all.  The slice from a to b belongs to node -2; leaf -3 borrows it.
CREATE FUNCTION leaf() RETURNS bytea LANGUAGE sql AS $$
    SELECT node(false, ARRAY[borrowed()], ARRAY[run(0, 10, 100), literal('leaf'), next_run(5, 20)]) $$;
CREATE FUNCTION owner() RETURNS bytea LANGUAGE sql AS $$
    SELECT node(true, ARRAY[extent(1000000, a, b - a), below(-3, 124)], ARRAY[literal('owner'), run(1, 0, 50), literal('between'), next_run(2, 72), run(0, 200, 300)]) FROM slices $$;
CREATE FUNCTION root(extra bytea[] DEFAULT '{}', owner int DEFAULT 434, items bytea[] DEFAULT '{}', longer int DEFAULT 0, hint bytea DEFAULT num(0)) RETURNS bytea LANGUAGE sql AS $$
    SELECT node(false, ARRAY[below(-2, owner, hint), extent(1000000, b, c - b + longer, CASE hint WHEN num(0) THEN '' ELSE hint END)] || extra,
        ARRAY[literal('root'), run(0, 0, 434), literal('x'), run(1, 0, 5000), next_run(7, c - b - 5007 + longer)] || items) FROM slices $$;
CREATE TABLE expected AS SELECT 'root' || convert_to('owner', 'UTF8') || substr(leaf, 1, 50) || 'between' || substr(leaf, 53) || bytes(a + 200, 300) || 'x'
    || bytes(b, 5000) || bytes(b + 5007, c - b - 5007) AS body FROM slices, LATERAL (SELECT bytes(a + 10, 100) || 'leaf' || bytes(a + 115, 20) AS leaf) l;

CREATE FUNCTION size() RETURNS int LANGUAGE sql AS $$ SELECT length(body) FROM expected $$;
CREATE PROCEDURE make(which int, root bytea, size int DEFAULT size(), nodes bytea[] DEFAULT ARRAY[owner(), leaf()]) LANGUAGE plpgsql AS $$ BEGIN
    CALL toast_do(format('DELETE FROM %%s WHERE chunk_id = %s AND chunk_seq NOT IN (SELECT a FROM slices) AND NOT chunk_seq BETWEEN (SELECT b FROM slices) AND (SELECT c - 1 FROM slices)',
        object_of(which)));
    CALL plant(which, size, root, nodes);
END $$;
-- hints that are wrong: no such block, another row
CALL make(1, root(hint => num(1) || num(4294967294)));
CALL make(2, root(hint => num(1) || num(0)));
CALL make(3, root());
CALL make(4, root());
CALL make(5, root(extra => ARRAY[below(-2, 434)], items => ARRAY[run(2, 0, 434)]), size() + 434);
CALL make(6, root(), size(), ARRAY[owner(), leaf(), leaf()]);
CALL make(7, root(longer => 100), size() + 100);
CALL make(8, root(owner => 435));
CALL make(9, root(), size(), ARRAY[node(false, ARRAY[below(-2, 434)], ARRAY[run(0, 0, 434)])]);
CALL make(10, root(), size() - 1);
CALL plant(11, size(), root(), ARRAY[owner(), leaf()]);    -- with all slices of the object
CALL make(12, root(), size(), ARRAY[owner()]);
CALL toast_do(format('INSERT INTO %%s VALUES (%s, -3, (SELECT forge(chunk_data, %1$s, -3) FROM %%1$s WHERE chunk_id = %s AND chunk_seq = (SELECT b FROM slices)))',
    object_of(12), object_of(12) - 1000000));
-- twenty levels, and each node has the next one 300 times: 300 bytes, and 300^20 ways to the last
CREATE FUNCTION same(below int) RETURNS bytea LANGUAGE sql AS $$
    SELECT node(false, array_agg(below(below, 300)), array_agg(run(i, i, 1))) FROM generate_series(0, 299) i $$;
CREATE FUNCTION ways() RETURNS bytea[] LANGUAGE sql AS $$
    SELECT array_agg(CASE WHEN i < 20 THEN same(-2 - i) ELSE node(false, '{}', ARRAY[literal(repeat('xyz', 100))]) END ORDER BY i) FROM generate_series(1, 20) i $$;
SELECT object_of(13) AS thirteen \gset
CALL plant(13, 300, same(-2), ways());
CALL toast_do('DELETE FROM %s WHERE chunk_id = ' || :thirteen);
SELECT object_of(3) AS three, object_of(4) AS four \gset
CALL toast_do('DELETE FROM %s WHERE chunk_id = ' || :three || ' AND chunk_seq = -3');
CALL toast_do('UPDATE %s SET chunk_data = set_byte(chunk_data, 40, get_byte(chunk_data, 40) # 1) WHERE chunk_id = ' || :four || ' AND chunk_seq = -2');
CREATE VIEW problems AS SELECT id, kind, byte_offset, message FROM sliced.verify('t') LEFT JOIN t ON t.ctid = row_ctid;
SQL

# complaints STATEMENT: errors and warnings, without what is different each time
complaints() {
    sql -v VERBOSITY=verbose -c "$1" 2>&1 | sed -nE 's/value [0-9]+/value N/; s/^(ERROR|WARNING): *//p'
}
# check NAME EXPECTED SQL
check() {
    is "$(sql -c "$3" 2>&1 || true)" "$2" "$1"
}

check "sound trees are read whole" 't|t' "SELECT t.body = e.body, length(t.body) = length(e.body) FROM t, expected e WHERE id = 1"
check "and in ranges" 0 "SELECT count(*) FROM t, expected e, generate_series(0, length(e.body), 97) o, (VALUES (1), (50), (3000), (20000)) l(n)
    WHERE id = 1 AND substr(t.body, o + 1, n) IS DISTINCT FROM substr(e.body, o + 1, n)"
check "verified" "" "SELECT * FROM problems WHERE id IN (1, 2)"
check "shown: the root and two nodes, and three slices" 'node|{-3,-2,-1}|0|3
none||3|3' "SELECT codec, array_agg(start ORDER BY start) FILTER (WHERE start < 0), count(piece), sum(rows) FROM t, sliced.inspect(body) WHERE id = 1 GROUP BY 1 ORDER BY 1"
check "sound after changes" 't|f' "UPDATE t SET body = overlay(body PLACING 'changed' FROM 100) WHERE id = 2;
    SELECT t.body = overlay(e.body PLACING 'changed' FROM 100), EXISTS (SELECT FROM problems WHERE id = 2) FROM t, expected e WHERE id = 2"
check "and appends" t "UPDATE t SET body = body || 'more'::bytea WHERE id = 2;
    SELECT t.body = overlay(e.body PLACING 'changed' FROM 100) || 'more'::bytea FROM t, expected e WHERE id = 2"

# what ID NAME ERROR PROBLEMS [WARNS]: what readers say, and what sliced.verify() finds; sliced.inspect() warns of that if
# readers say anything, or else if there is a last argument
what() {
    local warnings
    is "$(complaints "SELECT md5(body) FROM t WHERE id = $1")" "${3:+XX001: value N of table \"t\" is corrupted at offset $3}" "$2: readers"
    is "$(sql -c "SELECT DISTINCT kind, message FROM problems WHERE id = $1 ORDER BY 1")" "$4" "$2: sliced.verify()"
    warnings=$([ -z "$3${5:-}" ] || sed 's/.*|/XX001: value N is corrupted at offset N: /' <<<"$4")
    is "$(complaints "SELECT count(*) FROM t, sliced.inspect(body) WHERE id = $1" | sed 's/ offset [0-9-]*/ offset N/' | sort -u)" "$(sort -u <<<"$warnings")" "$2: sliced.inspect()"
}
unnamed='excess slice|no node of the value names this row'
twice='overlapping slice|two nodes name this row'
end=$(sql -c 'SELECT size()')
what 3 "a missing node" "0: a node is missing" 'missing slice|a node is missing'
what 4 "a damaged node, so nobody names what is below it" "0: checksum mismatch" "corrupted slice|checksum mismatch
$unnamed"
what 5 "a node named twice, and all that is below it" "" "$twice"
what 6 "a node that is not named" "" "$unnamed"
what 7 "an extent that does not end with a slice" "$end: the slice is missing" 'missing slice|the slice is missing'
what 8 "a node that is shorter than it should be" "0: impossible node" "corrupted slice|impossible node
$unnamed"
is "$(complaints "SELECT md5(body) FROM t WHERE id = 9")" "XX001: value N of table \"t\" is corrupted at offset 0: impossible node" "a node below itself: readers"
check "a node below itself: sliced.verify()" "$unnamed
$twice" "SELECT DISTINCT kind, message FROM problems WHERE id = 9 ORDER BY 1"
what 10 "a root of more bytes than the value" "" 'broken pointer|what the root has is longer than the value' warns
what 11 "slices that are not named" "" "$unnamed"
what 12 "a slice in the place of a node" "0: slice in the wrong place" 'corrupted slice|slice in the wrong place'

export PGOPTIONS='-c statement_timeout=20s'
what 13 "nodes with many parents" "" "$twice"
check "can be changed" 'changed' "UPDATE t SET body = overlay(body PLACING 'changed' FROM 100) WHERE id = 13; SELECT convert_from(substr(body, 100, 7), 'UTF8') FROM t WHERE id = 13"
unset PGOPTIONS

check "changes of a value that is damaged elsewhere" 'rooT' "UPDATE t SET body = overlay(body PLACING 'T' FROM 4) WHERE id = 3; SELECT convert_from(substr(body, 1, 4), 'UTF8') FROM t WHERE id = 3"
is "$(complaints 'VACUUM FULL t' | cut -d ' ' -f 1)" XX001: "VACUUM FULL refuses"
check "a deletion that is rolled back is harmless" t "BEGIN; DELETE FROM t WHERE id = 1; ROLLBACK; SELECT t.body = e.body FROM t, expected e WHERE id = 1"
sql -c 'DELETE FROM t WHERE id > 2'
check "damaged rows can be deleted, and nothing is left of them" "" "SELECT * FROM problems"
sql -c 'VACUUM FULL t'
check "VACUUM FULL keeps sound trees" 't|t' "SELECT bool_or(t.body = e.body), bool_or(t.body = overlay(e.body PLACING 'changed' FROM 100) || 'more'::bytea) FROM t, expected e"
check "and writes them anew" '' "SELECT * FROM problems UNION ALL SELECT id, codec, 0, '' FROM t, sliced.inspect(body) WHERE codec = 'node'"
sql -c 'DELETE FROM t' -c 'VACUUM t'
check "nothing is left" 0 "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass"
server_stop trees
