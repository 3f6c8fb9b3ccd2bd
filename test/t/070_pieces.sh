#!/bin/bash
# Values that consist of pieces of others: read, verified, deleted, rewritten.
# A small module writes them, as no UPDATE would: pieces overlap, come in any
# order, lead nowhere, and slices that none of them needs stay where they are.

set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

# check NAME EXPECTED SQL
check() {
    is "$(sql -c "$3" 2>&1 || true)" "$2" "$1"
}

config=${PG_CONFIG:-pg_config}
# shellcheck disable=SC2046
gcc -O1 -g -fPIC -shared -I"$PGS_ROOT/src" -isystem "$("$config" --includedir-server)" \
    "$PGS_ROOT/test/t/pieces/derive.c" "$PGS_ROOT"/src/{format,codec}/*.c \
    -llz4 -lzstd -o "$PGS_TMP/derive.so"

server_start pieces
sql <<END
CREATE EXTENSION pg_sliced;
LOAD 'pg_sliced';
CREATE FUNCTION derive(regclass, tid, int, int[], bytea) RETURNS void AS '$PGS_TMP/derive.so' LANGUAGE C;
CREATE TABLE t (id int, body bytea, model bytea) USING sliced;
ALTER TABLE t ALTER model SET STORAGE PLAIN;
CREATE TABLE raw AS SELECT (SELECT string_agg(decode(md5(i::text), 'hex'), '') FROM generate_series(1, 30000) i) AS body;
INSERT INTO t SELECT id, body FROM raw, generate_series(1, 3) id;
CREATE FUNCTION piece(start int, len int) RETURNS bytea LANGUAGE sql AS 'SELECT substr(body, start + 1, len) FROM raw';
CREATE TABLE expected (id int, body bytea);
INSERT INTO expected VALUES
  (1, piece(0, 100) || 'hello'::bytea || piece(200000, 150000) || piece(5, 10) || 'lo'::bytea),
  (2, piece(479000, 1000) || piece(0, 480000)),
  (3, piece(0, 480000));
LOAD 'pg_sliced';
SELECT length(body) FROM t;
SELECT derive('t', ctid, 2, '{-1,0,100, 0,0,5, -1,200000,150000, -1,5,10, 0,3,2}', 'hello') FROM t WHERE id = 1;
SELECT derive('t', ctid, 2, '{-1,479000,1000, -1,0,480000}', '') FROM t WHERE id = 2;
END

differences="SELECT count(*) FROM t FULL JOIN expected e USING (id) WHERE t.body IS DISTINCT FROM e.body"
ranges="SELECT count(*) FROM t JOIN expected e USING (id), generate_series(0, 480100, 997) o, (VALUES (1), (50), (3000), (200000)) l(n)
    WHERE substr(t.body, o + 1, n) IS DISTINCT FROM substr(e.body, o + 1, n)"
check "values made of pieces are read whole" 0 "$differences"
check "and in ranges" 0 "$ranges"
problems="SELECT DISTINCT kind FROM sliced.verify('t') ORDER BY 1"
check "verify finds slices that no piece needs, and nothing else" "excess slice" "$problems"
export PGOPTIONS="-c client_min_messages=error"
check "inspect shows the pieces that have slices" "4" "SELECT max(piece) FROM t, sliced.inspect(body) WHERE id = 1"
sql -c "VACUUM FULL t"
check "VACUUM FULL keeps them" 0 "$differences"
check "makes them whole" 1 "SELECT max(piece) FROM t, sliced.inspect(body)"
check "and leaves nothing behind" "" "SELECT * FROM sliced.verify('t')"

sql -c "SELECT derive('t', ctid, 2, '{-1,100,200000, 0,0,5}', 'hello') FROM t WHERE id = 3" \
    -c "BEGIN; DELETE FROM t WHERE id = 3; ROLLBACK"
check "a deletion rolled back" "200005" "SELECT length(body) FROM t WHERE id = 3"
check "is harmless" "excess slice" "$problems"
sql -c "DELETE FROM t WHERE id = 3"
check "deleting the row deletes the pieces" "" "SELECT * FROM sliced.verify('t')"

sql -c "SELECT derive('t', ctid, 2, '{-1,100,2000000}', '') FROM t WHERE id = 2"
check "a piece beyond its object is missing" "missing slice" "$problems"
check "and said to be" 1 "DO \$\$ BEGIN PERFORM length(encode(body, 'hex')) FROM t WHERE id = 2;
    EXCEPTION WHEN data_corrupted THEN CREATE TABLE noticed(); END \$\$;
    SELECT count(*) FROM pg_class WHERE relname = 'noticed'"
