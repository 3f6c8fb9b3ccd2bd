#!/bin/bash
# What docs/recovery.md tells people to do, word by word, in the situations it speaks of.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

doc=$PGS_ROOT/docs/recovery.md

# A server whose libraries are in a place of its own, for the library to go and come back.
tree=$PGS_TMP/tree
for dir in --bindir --pkglibdir --sharedir; do
    dir=$("$PG_CONFIG" $dir)
    as_user mkdir -p "$tree$dir"
    as_user cp -rs "$PGS_TREE$dir/." "$tree$dir"
done
as_user cp --remove-destination -L "$PGS_BINDIR/postgres" "$tree$("$PG_CONFIG" --bindir)/postgres"
export PGS_POSTGRES=$tree$("$PG_CONFIG" --bindir)/postgres
library=$tree$("$PG_CONFIG" --pkglibdir)/pg_sliced.so
as_user cp "$PGS_ROOT/docs/salvage.py" "$PGS_TMP"

# block NAME: the code that the document calls so
block() {
    awk -v name="<!-- test: $1 -->" '$0 == name { found = 1; next } /^```/ && found { if (inside) exit; inside = 1; next } inside' "$doc"
}

# as_told NAME: run that in the current database; what comes before and after, in the same session, is in $2 and $3
as_told() {
    { echo "${2:-}"; block "$1"; echo "${3:-}"; } | as_user tee "$PGS_TMP/told" >/dev/null
    [ -n "$(block "$1")" ] || echo "not ok - $doc has nothing for \"$1\""
    case $(grep -A 1 -xF "<!-- test: $1 -->" "$doc" | tail -n 1) in
        '```sql') sql -f "$PGS_TMP/told" 2>&1 | sed 's/^psql:[^ ]* //' ;;
        '```sh') as_user env PATH="$PGS_BINDIR:$PATH" bash -e "$PGS_TMP/told" 2>&1 ;;
    esac
}

# database NAME: a new one, with tables that are sliced, and make it the current one
database() {
    sql -d postgres -c "CREATE DATABASE $1"
    export PGDATABASE=$1
    sql >/dev/null <<'END'
CREATE EXTENSION pg_sliced;
CREATE TABLE docs (id int PRIMARY KEY, body text, doc jsonb, d bytea) USING sliced WITH (toast_tuple_target = 128);
INSERT INTO docs (id, body, doc) SELECT i, (SELECT string_agg(md5((i * n)::text), '') FROM generate_series(1, 20000) n),
    jsonb_build_object('n', i, 'long', repeat(i::text, 50000)) FROM generate_series(1, 4) i;
SET sliced.compression = pglz;
INSERT INTO docs (id, body, doc) SELECT id + 4, body || id, doc || '{"more": [1, 2, 3]}' FROM docs WHERE id < 3;
SET sliced.compression = zstd;
INSERT INTO docs (id, body, doc) SELECT id + 6, body || id, doc || '{"more": [1, 2, 3]}' FROM docs WHERE id < 3;
SET sliced.compression = none;
INSERT INTO docs (id, body, doc) SELECT id + 8, repeat(id || 'é', 90000), doc FROM docs WHERE id < 3;
UPDATE docs SET body = body || 'a line' || id;
UPDATE docs SET body = body || 'a line', doc = jsonb_set(doc, '{n}', '[]') WHERE id % 2 = 0;
UPDATE docs SET body = overlay(body placing 'another' from 50000 for 3) WHERE id % 3 = 0;
BEGIN; UPDATE docs SET body = body || repeat('not to be seen', 1000); ROLLBACK;
-- with trees of several levels, slices that leaves borrow, something behind the root, and with dictionaries of both codecs
UPDATE docs SET d = convert_to(body, 'UTF8') WHERE id IN (1, 2);
UPDATE docs SET d = substr(d, 1000) || 'more'::bytea WHERE id = 2;
DO $$ BEGIN FOR i IN 1..40 LOOP
    UPDATE docs SET d = overlay(d PLACING 'edit ' || i::text::bytea FROM 7000 * i % 300000 + 1) WHERE id IN (1, 2);
END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..300 LOOP UPDATE docs SET d = overlay(d PLACING 'edit ' || i::text::bytea FROM 4999 * i % 29000 + 1) WHERE id = 2; END LOOP; END $$;
UPDATE docs SET d = d || 'behind the root'::bytea WHERE id = 2;
-- with a list of entries that has moved
INSERT INTO docs (id, doc) SELECT 90, jsonb_agg(repeat('abc', i % 7)) FROM generate_series(1, 3000) i;
UPDATE docs SET doc = doc - 100 WHERE id = 90;
UPDATE docs SET doc = jsonb_set(doc, '{50}', '"longer than before"') WHERE id = 90;
SET sliced.compression = zstd;
INSERT INTO docs (id, doc) SELECT i, jsonb_build_object('name', 'the name of ' || md5(i::text), 'text', 'a text that all have in common but for ' || md5(i::text),
    'state', 'ordered', 'items', (SELECT jsonb_agg(jsonb_build_object('number', md5((i * k)::text), 'what', 'an item of the catalogue')) FROM generate_series(1, 9) k))
    FROM generate_series(101, 500) i;
SELECT * FROM sliced.train('docs', 'doc');
INSERT INTO docs (id, doc) SELECT id + 1000, doc FROM docs WHERE id > 100;
SET sliced.compression = lz4;
INSERT INTO docs (id, doc) SELECT id + 2000, doc FROM docs WHERE id BETWEEN 100 AND 1000;
SELECT 1 / (count(*) = 800)::int FROM docs, sliced.inspect(doc) WHERE codec LIKE '%dictionary';
SELECT 1 / (count(*) > 10)::int FROM docs, sliced.inspect(d) WHERE codec = 'node' AND start < -1;
SET sliced.compression = none;
CREATE TABLE "Others" (a text) USING sliced;
INSERT INTO "Others" SELECT repeat('other', 10000);
CREATE MATERIALIZED VIEW m USING sliced AS SELECT id, body FROM docs;
CREATE TABLE plain AS SELECT 1 AS a;
SECURITY LABEL FOR sliced ON TABLE docs IS 'compression=zstd';
SECURITY LABEL FOR sliced ON COLUMN "Others".a IS 'compression=pglz';
END
}
contents="SELECT count(*), md5(string_agg(md5((id, body, doc, d)::text), '' ORDER BY id)) FROM docs
    UNION ALL SELECT length(a), md5(a) FROM \"Others\" UNION ALL SELECT count(*), md5(string_agg(md5((id, body)::text), '' ORDER BY id)) FROM m"
methods="SELECT c.relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'm') ORDER BY 1"
in_heap='Others|heap
docs|heap
m|heap
plain|heap'

server_start recovery restart_after_crash=on

# ---- back to heap ----
database leave
all=$(sql -c "$contents")
is "$(sql -c 'DROP EXTENSION pg_sliced CASCADE' 2>&1 | head -n 2)" 'ERROR:  cannot drop extension pg_sliced because 3 tables have access method sliced
DETAIL:  Tables: "Others", docs, m.' "DROP EXTENSION names the tables"
is "$(as_told 'one table')" "" "one table goes back to heap"
is "$(sql -c "$methods" | grep sliced)" 'Others|sliced
m|sliced' "it alone"
is "$(as_told 'all tables' '' | grep -v '^NOTICE' || true)" "" "all tables go, and the extension"
is "$(sql -c "$methods" -c "SELECT count(*) FROM pg_seclabels" -c "SELECT count(*) FROM pg_extension WHERE extname = 'pg_sliced'")" "$in_heap
0
0" "nothing is left of it"
is "$(sql -c "$contents")" "$all" "all values are there"

# ---- to another server ----
database dumped
is "$(as_told 'dump without')" "" "a dump for a server without pg_sliced"
sql -c 'VACUUM FULL docs'
is "$(sql -c 'SELECT count(*) FROM sliced.dictionaries')" 1 "a dictionary made of the rows there are"
as_told 'drop a dictionary' >/dev/null
is "$(sql -c 'SELECT count(*) FROM sliced.dictionaries')" 0 "data that must be gone"
restore() {
    as_user mv "$library" "$library.gone"
    sql -d postgres -c "CREATE DATABASE $1"
    PGDATABASE=$1
    is "$(sql -f "$PGS_TMP/docs.sql" 2>&1 | grep -v '^$' || true)" "" "$1: no errors"
    is "$(sql -c "$methods" -c "$contents")" "$in_heap
$all" "$1: tables of heap, and all values"
    as_user mv "$library.gone" "$library"
}
restore elsewhere

# ---- the library is missing ----
database missing
as_user mv "$library" "$library.gone"
server_kill
server_start recovery
PGDATABASE=missing
# from PostgreSQL 18 on without $libdir
missing='ERROR:  could not access file "pg_sliced": No such file or directory'
without='s/"[$]libdir[/]/"/'
for statement in 'TABLE docs' 'VACUUM docs' 'DROP TABLE "Others"' 'DROP EXTENSION pg_sliced' 'SELECT * FROM sliced.toasters' "SECURITY LABEL ON TABLE plain IS 'x'" 'DROP OWNED BY nobody'; do
    is "$(sql -d missing -c "$statement" 2>&1 | head -n 1 | sed "$without")" "$missing" "without the library: $statement"
done
sql -d postgres -c 'CREATE ROLE nobody'
is "$(sql -c 'SELECT * FROM plain' -c 'VACUUM plain')" 1 "other tables work"
is "$(as_told 'triggers off')" "" "triggers are switched off"
is "$(sql -c 'DROP OWNED BY nobody' 2>&1)" "" "then other objects can be dropped"
is "$(as_told 'triggers on')" "" "and on again"
is "$(sql -c 'DROP OWNED BY nobody' 2>&1 | sed "$without")" "$missing" "they are on"
as_user mv "$library.gone" "$library"
is "$(sql -c "$contents")" "$all" "with the library again, new connections find it"
is "$(sql -c "SELECT * FROM sliced.verify('docs')" -c 'DROP EXTENSION pg_sliced' 2>&1 | head -n 1)" \
    'ERROR:  cannot drop extension pg_sliced because 3 tables have access method sliced' "and the triggers"

# the last resort, also with a value in core's format and one that is damaged
as_user mv "$library" "$library.gone"
is "$(as_told salvage | sed -E 's/pg_toast_[0-9]+: [0-9]+/N/')" 'pg_toast.N values, 0 lost
pg_toast.N values, 0 lost
pg_toast.N values, 0 lost' "values are salvaged without the library"
as_user mv "$library.gone" "$library"
restore salvaged

# ---- releases ----
database releases
# toast_rows TABLE STATEMENT: change rows of a toast relation ("toast" in the statement) by hand
toast_rows() {
    local toast
    toast=$(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$1'::regclass")
    sql -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
        -c "${2//toast/$toast}" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass" -c "VACUUM $1"
}
# the head of the value in "Others", as of format version 2: its checksum is right
newer=$(sql -c "$(sed "s/toast/$(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '\"Others\"'::regclass")/" \
    <<<"SELECT chunk_id, chunk_seq, encode(chunk_data, 'hex') FROM toast WHERE chunk_seq = -1")" 2>/dev/null | as_user /usr/bin/python3 -c '
import struct, sys
chunk_id, seq, data = sys.stdin.read().strip().split("|")
data = bytearray(bytes.fromhex(data))
data[4] = 0x21
mask, multiplier = 2**64 - 1, 0x9E3779B97F4A7C15
def mix(x):
    x = (x ^ x >> 32) * multiplier & mask
    x = (x ^ x >> 29) * multiplier & mask
    return x ^ x >> 32
rest, place = bytes(data[4:]), int(chunk_id) << 32 | int(seq) & 0xFFFFFFFF
a, b, c, d = 0x6A09E667F3BCC908 ^ place, 0xBB67AE8584CAA73B ^ len(rest), 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1
while len(rest) >= 32:
    w = struct.unpack("<4Q", rest[:32])
    a, b, c, d = ((x ^ y) * multiplier & mask for x, y in zip((a, b, c, d), w))
    rest = rest[32:]
while len(rest) >= 8:
    a, rest = mix(a ^ struct.unpack("<Q", rest[:8])[0]), rest[8:]
if rest:
    b = mix(b ^ int.from_bytes(rest, "little"))
result = mix(mix(mix(mix(a) ^ b) ^ c) ^ d)
data[:4] = struct.pack("<I", (result ^ result >> 32) & 0xFFFFFFFF)
print(data.hex())')
toast_rows '"Others"' "UPDATE toast SET chunk_data = '\\x$newer' WHERE chunk_seq = -1"
is "$(sql -v VERBOSITY=verbose -c 'SELECT md5(a) FROM "Others"' 2>&1 | sed -E 's/value [0-9]+/value N/; /LOCATION/d')" \
    'ERROR:  0A000: value N of table "Others" was stored by a newer release of pg_sliced: unknown format version
DETAIL:  The library of this server knows format version 1.
HINT:  Install the newer release again: it reads what older ones have stored.' "a value of a newer format"
sql -c "UPDATE pg_proc SET prosrc = 'sliced_of_2_0' WHERE oid = 'sliced.inspect'::regproc"
is "$(sql -c 'SELECT sliced.inspect(1)' 2>&1 | sed -E 's/in file.*/in file/')" 'ERROR:  could not find function "sliced_of_2_0" in file' "a function of a newer release"
is "$(sql -c 'SELECT count(*), sum(length(body)) > 0 FROM docs' -c "UPDATE docs SET body = body || 'x' WHERE id = 1")" '1211|t' "then tables can be used"
is "$(as_told update)" 'NOTICE:  version "1.0" of extension "pg_sliced" is already installed' "ALTER EXTENSION UPDATE"

# ---- damage ----
database damaged
sql -c 'SET sliced.compression = none' -c "SELECT sliced.alter_table('docs', NULL)" -c 'VACUUM FULL docs' >/dev/null
for id in 3 9; do
    toast_rows docs "UPDATE toast SET chunk_data = set_byte(chunk_data, 100, get_byte(chunk_data, 100) # 1)
        WHERE (chunk_id, chunk_seq) = (SELECT object, start::int FROM docs, sliced.inspect(body) WHERE id = $id AND start > 40000 ORDER BY start LIMIT 1)"
done
is "$(sql -c 'SELECT md5(body) FROM docs WHERE id = 3' 2>&1 | sed -E 's/value [0-9]+/value N/; s/offset [0-9]+/offset N/' | head -n 1)" \
    'ERROR:  value N of table "docs" is corrupted at offset N: checksum mismatch' "a damaged value"
is "$(as_told find | cut -d '|' -f 1,2,4)" '3|body|checksum mismatch
9|body|checksum mismatch' "the rows with damaged values"
is "$(as_told parts)" "" "the readable parts are rescued"
is "$(sql -c 'SELECT id, count(*) > 10, count(part) BETWEEN CASE id WHEN 3 THEN count(*) - 17 ELSE 1 END AND count(*) - 1 FROM rescued GROUP BY id ORDER BY id' \
    -c 'SELECT md5(right(body, 1000)) FROM docs WHERE id = 9')" '3|t|t
9|t|t
'"$(sql -d leave -c 'SELECT md5(right(body, 1000)) FROM docs WHERE id = 9')" "most of them"
is "$(as_told replace '')" "" "damaged values are replaced, and nothing is wrong any more"
parts="SELECT id, start, substr(body, start, 8192) AS part FROM (SELECT id, body, generate_series(1, length(body), 8192) AS start FROM docs) d WHERE id IN (3, 9)"
is "$(comm -23 <(sql -c 'SELECT id, start, part FROM rescued WHERE part IS NOT NULL' | sort) <(sql -d leave -c "$parts" | sort))" "" "each is what it was"
is "$(sql -c 'VACUUM FULL docs' -c 'SELECT count(*), count(body) FROM docs')" '1211|10' "VACUUM FULL works again"

# a page of the toast relation is overwritten
path=$(sql -c "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'docs'::regclass" -c CHECKPOINT)
server_stop recovery
as_user dd if=/dev/urandom of="$path" bs=8192 seek=20 count=1 conv=notrunc status=none
server_start recovery
PGDATABASE=damaged
is "$(sql -c 'SELECT count(md5(body)) FROM docs' 2>&1 | sed -E 's/of relation.*//')" 'ERROR:  invalid page in block 20 ' "a damaged page"
is "$(as_told pages | grep -v '^WARNING' | sed -E 's/^[1-9][0-9]*[|](the|a continuation of the) slice is missing/N/')" N "it is read as empty, and verify says what is missing"
is "$(as_told find | wc -l)" 1 "one value has lost a part"
server_stop recovery
