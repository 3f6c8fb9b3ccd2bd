#!/bin/bash
# Damaged bytes are found, named and survived.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

flips=${FLIPS:-200}

# stop, change bytes on disk, start
offline() {
    server_stop damage
    as_user /usr/bin/python3 - "$@"
    server_start damage
}

server_start damage shared_buffers=16MB restart_after_crash=on
sql -c 'CREATE EXTENSION pg_sliced' -c 'SET sliced.compression = none' \
    -c 'CREATE TABLE t (id int PRIMARY KEY, v bytea) USING sliced' \
    -c 'CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql AS $f$
        SELECT substr(string_agg(sha512(int4send(seed) || int4send(i)), $$$$), 1, n) FROM generate_series(0, n / 64) i $f$' \
    -c 'INSERT INTO t SELECT i, noise(60000, i) FROM generate_series(1, 9) i' \
    -c "UPDATE t SET v = overlay(v placing 'damage my slice' FROM 30001) WHERE id = 4" \
    -c "UPDATE t SET v = overlay(v placing 'damage my head' FROM 101) WHERE id = 6" \
    -c 'VACUUM FULL t' -c 'CHECKPOINT'
path=$(sql -c "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass")
slice=$(sql -c 'SELECT max(start) FROM t, sliced.inspect(v) WHERE id = 4 AND start <= 30000')
offline "$path" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    data = bytearray(f.read())
    for pattern in b"damage my slice", b"damage my head":
        at = data.index(pattern)
        data[at] ^= 1
    f.seek(0)
    f.write(data)
END

message() {
    sql -v VERBOSITY=verbose -c "$1" 2>&1 | sed -n 's/^ERROR: *//p' | sed -E 's/value [0-9]+/value N/'
}
is "$(message 'SELECT md5(v) FROM t WHERE id = 4')" \
    "XX001: value N of table \"t\" is corrupted at offset $slice: checksum mismatch" "a damaged slice"
is "$(message 'SELECT md5(v) FROM t WHERE id = 6')" \
    'XX001: value N of table "t" is corrupted at offset 0: checksum mismatch' "a damaged head"
is "$(message 'SELECT substr(v, 30001, 20) FROM t WHERE id = 4')" \
    'XX001: value N of table "t" is corrupted at offset 30000: checksum mismatch' "a part of a damaged slice"
is "$(sql -c 'SELECT bool_and(v = noise(60000, id)) FROM t WHERE id NOT IN (4, 6)')" t "other rows are readable"
is "$(sql -c 'SELECT substr(v, 1, 20000) = noise(20000, 4), substr(v, 50001) = substr(noise(60000, 4), 50001) FROM t WHERE id = 4')" \
    't|t' "so are other slices of the damaged value"
is "$(sql -c "SELECT kind, col, message, (SELECT id FROM t WHERE ctid = row_ctid) FROM sliced.verify('t') ORDER BY 4")" \
    'corrupted slice|v|checksum mismatch|4
corrupted slice|v|checksum mismatch|6' "verify reports both"
is "$(message 'VACUUM FULL t' | cut -d ' ' -f 1)" XX001: "VACUUM FULL refuses"
sql -c "UPDATE t SET v = '\x00' WHERE id = 4" -c 'DELETE FROM t WHERE id = 6' -c 'VACUUM FULL t'
is "$(sql -c "SELECT * FROM sliced.verify('t')" -c 'SELECT count(v), sum(length(v)) FROM t')" '8|420001' \
    "damaged rows can be replaced and deleted"

# What an application sends replaces a damaged value, though it is compared with it first.
sql -c 'CREATE TABLE whole (id int, t text, j jsonb) USING sliced' \
    -c 'ALTER TABLE whole ALTER t SET STORAGE external, ALTER j SET STORAGE external' \
    -c 'CREATE FUNCTION words(seed text, n int) RETURNS text[] LANGUAGE sql AS $f$ SELECT array_agg(md5(seed || i)) FROM generate_series(1, n) i $f$' \
    -c "INSERT INTO whole SELECT n, array_to_string(words('', n), ''), to_jsonb(words('', n)) FROM unnest(ARRAY[900, 10000]) n"

# change TABLE STATEMENT: change its toast relation, which $toast stands for
change() {
    local toast
    toast=$(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$1'::regclass")
    sql -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
        -c "${2//\$toast/$toast}" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass" -c "VACUUM $1"
}
# damage TABLE CONDITION BYTE: change a byte of rows
damage() {
    change "$1" "UPDATE \$toast SET chunk_data = set_byte(chunk_data, $3, get_byte(chunk_data, $3) # 1) WHERE $2"
}
# delete TABLE CONDITION: rows
delete() {
    change "$1" "DELETE FROM \$toast WHERE $2"
}

damage whole 'chunk_seq BETWEEN 15000 AND 17000' 200
is "$(sql -c "SELECT count(DISTINCT (row_ctid, col)) FROM sliced.verify('whole')")" 4 "damaged values of two types and lengths"
sql -c "UPDATE whole SET t = array_to_string(words('other', id), ''), j = to_jsonb(words('other', id))"
is "$(sql -c "SELECT count(*) FROM sliced.verify('whole')" \
    -c "SELECT bool_and(t = array_to_string(words('other', id), '') AND j = to_jsonb(words('other', id))) FROM whole")" \
    '0
t' "they can be set to others as a whole"

# Values with trees of several levels: a node is damaged, or is not there.
sql -c 'CREATE TABLE edited (id int, a int8[])' -c 'ALTER TABLE edited SET ACCESS METHOD sliced' \
    -c 'ALTER TABLE edited ALTER a SET STORAGE external' \
    -c 'INSERT INTO edited SELECT k, array_agg(i) FROM generate_series(1, 20000) i, generate_series(1, 3) k GROUP BY k' \
    -c 'DO $$ BEGIN FOR i IN 1 .. 300 LOOP UPDATE edited SET a[i * 60] = -i; END LOOP; END $$'
# the name of the first node that is read, or of the last
node() {
    sql -c "SELECT object, start FROM edited, sliced.inspect(a) WITH ORDINALITY WHERE id = $1 AND codec = 'node' AND start < -1 ORDER BY ordinality $2 LIMIT 1"
}
IFS='|' read -r object seq < <(node 1 desc)
damage edited "chunk_id = $object AND chunk_seq = $seq" 30
IFS='|' read -r object seq < <(node 2 asc)
delete edited "chunk_id = $object AND chunk_seq = $seq"
is "$(message 'SELECT md5(a::text) FROM edited WHERE id = 1')" \
    'XX001: value N of table "edited" is corrupted at offset 0: checksum mismatch' "a damaged node"
sql -c 'CREATE FUNCTION element(n int) RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT a[n] FROM edited WHERE id = 1);
    EXCEPTION WHEN data_corrupted THEN RETURN NULL; END $$'
is "$(sql -c 'SELECT count(*) FILTER (WHERE e IS NULL) BETWEEN 1 AND 200, bool_and(e = -i) FROM generate_series(1, 300) i, element(i * 60) e')" 't|t' \
    "elements below it are not readable, others are"
is "$(message 'SELECT md5(a::text) FROM edited WHERE id = 2')" \
    'XX001: value N of table "edited" is corrupted at offset 0: a node is missing' "a missing node"
is "$(message 'DO $$ BEGIN FOR i IN 1 .. 300 LOOP UPDATE edited SET a[i * 60] = i WHERE id = 2; END LOOP; END $$')" \
    'XX001: value N of table "edited" is corrupted at offset 0: a node is missing' "which is found when it is to be changed"
is "$(sql -c 'SELECT a[60], a[120], a[61] FROM edited WHERE id = 3')" '-1|-2|61' "other rows are readable"
is "$(sql -c "SELECT DISTINCT kind, col, message, (SELECT id FROM edited WHERE ctid = row_ctid) FROM sliced.verify('edited') WHERE message ~ 'checksum|missing' ORDER BY 4")" \
    'corrupted slice|a|checksum mismatch|1
missing slice|a|a node is missing|2' "verify reports both"
is "$(message 'VACUUM FULL edited' | cut -d ' ' -f 1)" XX001: "VACUUM FULL refuses"
sql -c 'UPDATE edited SET a = (SELECT array_agg(i) FROM generate_series(0, 9000) i) WHERE id = 1' -c 'DELETE FROM edited WHERE id = 2'
is "$(sql -c "SELECT DISTINCT kind FROM sliced.verify('edited') WHERE kind NOT IN ('orphaned value', 'excess slice', 'corrupted slice')" \
    -c 'SELECT sum(cardinality(a)) FROM edited' -c 'SELECT a = (SELECT array_agg(i::int8) FROM generate_series(0, 9000) i) FROM edited WHERE id = 1')" '29001
t' "damaged rows can be replaced and deleted; damaged nodes, and what was below them, may be left"
sql -c 'VACUUM FULL edited'
is "$(sql -c "SELECT * FROM sliced.verify('edited')" -c 'SELECT sum(cardinality(a)) FROM edited')" 29001 "until VACUUM FULL"

# What is added to a value is there, although a small slice before it is damaged, or missing, or there is
# one that nobody wrote: such slices are not merged.
sql -c 'CREATE TABLE grown (id int, v bytea) USING sliced WITH (autovacuum_enabled = off)' -c 'ALTER TABLE grown ALTER v SET STORAGE external' \
    -c 'INSERT INTO grown SELECT i, noise(9000, i) FROM generate_series(1, 4) i'
for i in 1 2 3; do
    sql -c "UPDATE grown SET v = v || noise(1000, 10 + $i)"
done
# slice ID N: the Nth of the small slices
slice() {
    sql -c "SELECT format('chunk_id = %s AND chunk_seq = %s', object, start) FROM grown, sliced.inspect(v) WHERE id = $1 AND start >= 9000 ORDER BY start OFFSET $2 LIMIT 1"
}
damage grown "$(slice 1 0)" 100
delete grown "$(slice 2 1)"
change grown "INSERT INTO \$toast SELECT chunk_id, chunk_seq + 500, chunk_data FROM \$toast WHERE $(slice 3 1)"
sql -c "UPDATE grown SET v = v || noise(6000, 7)"
is "$(sql -c "SELECT id, substr(v, 12001) = noise(6000, 7) FROM grown ORDER BY id")" '1|t
2|t
3|t
4|t' "what is added behind damage can be read"
is "$(message 'SELECT md5(v) FROM grown WHERE id = 1')" \
    'XX001: value N of table "grown" is corrupted at offset 9000: checksum mismatch' "damage before it stays what it is"
is "$(message 'SELECT md5(v) FROM grown WHERE id = 2' | cut -d ' ' -f 1)" XX001: "so does what is missing"
is "$(sql -c "SELECT count(*) FROM grown, sliced.inspect(v) WHERE id = 4 AND start IN (10000, 11000)")" 0 "sound slices are merged"
# Conversion leaves damaged values alone, and does its work for the others.
sql -c 'CREATE TABLE converted (id int, v text) USING sliced WITH (autovacuum_enabled = off)' -c 'SET sliced.compression = lz4' \
    -c "INSERT INTO converted SELECT i, repeat(array_to_string(words(i::text, 300), ' '), 30) FROM generate_series(1, 4) i"
damage converted "(chunk_id, chunk_seq) IN (SELECT object, max(start) FROM converted, sliced.inspect(v) WHERE id = 1 GROUP BY 1)" 100
delete converted "chunk_id = (SELECT object FROM converted, sliced.inspect(v) WHERE id = 2 LIMIT 1) AND chunk_seq > 0"
is "$(sql -c 'SET sliced.compression = lz4' -c "CALL sliced.convert('converted')" \
    -c "SELECT id FROM converted WHERE id > 2 AND v = repeat(array_to_string(words(id::text, 300), ' '), 30)" 2>&1 | grep -v '^NOTICE')" '3
4' "conversion of a table with damaged values"

# ... and what was damaged goes with the last bytes of its object that are needed.
sql -c 'CREATE TABLE owner (v bytea) USING sliced' -c 'ALTER TABLE owner ALTER v SET STORAGE external' \
    -c 'INSERT INTO owner VALUES (noise(50000, 1))' -c "UPDATE owner SET v = overlay(v placing 'x' FROM 100)" \
    -c "UPDATE owner SET v = v || 'a tail of some bytes'"
damage owner 'chunk_seq = 1' 10
is "$(sql -c "SELECT kind, byte_offset FROM sliced.verify('owner')")" 'corrupted slice|1' "a damaged tail of a changed value"
sql -c "UPDATE owner SET v = overlay(noise(40000, 1) placing 'x' FROM 100)"
is "$(sql -c "SELECT * FROM sliced.verify('owner')" -c "SELECT v = overlay(noise(40000, 1) placing 'x' FROM 100) FROM owner")" t \
    "nothing is left of it"

# Values in core's format, in a table that was adopted.
sql -c 'CREATE TABLE old (id int, v text) USING heap' -c 'ALTER TABLE old ALTER v SET STORAGE external' \
    -c "INSERT INTO old SELECT i, array_to_string(words('', 500), '') FROM generate_series(1, 5) i" -c "SELECT sliced.adopt('old')" >/dev/null 2>&1
of() {
    echo "chunk_id = (SELECT object FROM old, sliced.inspect(v) WHERE old.id = $1 LIMIT 1)"
}
change old "UPDATE \$toast SET chunk_data = substr(chunk_data, 1, 100) WHERE $(of 1) AND chunk_seq = 2"
delete old "$(of 2) AND chunk_seq = 3"
delete old "$(of 3) AND chunk_seq = 8"
change old "INSERT INTO \$toast SELECT chunk_id, 9, chunk_data FROM \$toast WHERE $(of 4) AND chunk_seq = 0"
is "$(sql -c "SELECT kind, byte_offset, message, (SELECT id FROM old WHERE ctid = row_ctid) FROM sliced.verify('old') ORDER BY 4")" \
    'corrupted slice|3992|unexpected chunk length|1
missing slice|5988|unexpected chunk number|2
missing slice|15968|the chunk is missing|3
excess slice|16000|unexpected chunk number|4' "chunks of core's"
is "$(message 'SELECT md5(v) FROM old WHERE id = 2' | cut -d ' ' -f 1) $(sql -c 'SELECT length(v) FROM old WHERE id = 5')" 'XX001: 16000' "as core says, too"

# The rows of a slice come from one transaction.  A reader may come upon the first of them just before
# that transaction aborts, and another one appends to the value and writes a slice of the same lengths.
sql -c 'CREATE TABLE mixed (v text) USING sliced' -c 'SET sliced.compression = zstd' -c "INSERT INTO mixed SELECT array_to_string(words('', 900), '')"
damage mixed 'chunk_seq = 1' 100
damage mixed 'chunk_seq = 1' 100
is "$(message 'SELECT md5(v) FROM mixed')" 'XX001: value N of table "mixed" is corrupted at offset 0: a continuation of the slice is missing' \
    "a row of another transaction is not taken for a part of the slice"

# What heap has compressed is taken as it is, as heap itself does; what does not decompress is
# an error for those who read it, which names the value, and verify reports it.
sql -c 'CREATE TABLE packed (id int, v text COMPRESSION lz4, w text COMPRESSION pglz) USING heap' \
    -c "INSERT INTO packed SELECT n, t, t FROM (SELECT n, (SELECT string_agg(w || w, ' ä ') FROM unnest(words('', n)) w) AS t FROM unnest(ARRAY[300, 301]) n) s" \
    -c 'CREATE TABLE taken (LIKE packed INCLUDING COMPRESSION) USING sliced' -c 'SET sliced.compression = lz4'
toast=$(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'packed'::regclass")
corrupted='XX001: value N of table "taken" is corrupted at offset N: the slice cannot be decompressed'
# looks COLUMN TABLE: what readers of all or a part of the column complain of
looks() {
    local look
    for look in "md5($1)" "length($1)" "left($1, 9)" "right($1, 9)" "substr($1, 3000, 30)" "$1 || 'x'"; do
        message "SELECT $look FROM $2 WHERE id = 300" | sed 's/offset [0-9]*/offset N/' || true
    done | sort -u
}
unreadable=0
for column in v w; do
    # its first four bytes say how long the value is, the others what it is
    for byte in 0 4 5 6 40 41 42 300 301 302 303; do
        damage packed "chunk_seq = 0 AND chunk_id = (SELECT object FROM packed, sliced.inspect($column) WHERE packed.id = 300)" $byte
        for way in 'INSERT INTO taken SELECT * FROM packed WHERE id = 300' 'VACUUM FULL taken'; do
            is "$(message "$way")$(looks $column taken | grep -vxF "$corrupted")" "" "damaged byte $byte of $column: $way"
        done
        found=$(looks $column taken)
        is "$(sql -c "SELECT DISTINCT col, message FROM sliced.verify('taken')")" \
            "${found:+$column|the slice cannot be decompressed}" "damaged byte $byte of $column is found by verify if by readers"
        # where heap cannot read the value, it has not become another one
        [ -z "$(looks $column packed | grep -v 22021)" ] || is "${found:+found}" found "damaged byte $byte of $column is found as in heap"
        [ -z "$found" ] || unreadable=$((unreadable + 1))
        damage packed "chunk_seq = 0 AND chunk_id = (SELECT object FROM packed, sliced.inspect($column) WHERE packed.id = 300)" $byte
        sql -c 'TRUNCATE taken'
    done
done
is "$((unreadable > 4))" 1 "some of these bytes make values unreadable"
sql -c 'TRUNCATE taken' -c 'INSERT INTO taken SELECT * FROM packed'
is "$(sql -c "SELECT count(*) FROM sliced.verify('taken')" -c 'SELECT bool_and(t.v = p.v AND t.w = p.w) FROM taken t JOIN packed p USING (id)')" '0
t' "what is sound is taken"
sql -c 'CREATE TABLE again (LIKE packed INCLUDING COMPRESSION) USING sliced' -c 'INSERT INTO again SELECT * FROM taken'
damage taken "chunk_id = (SELECT object FROM taken, sliced.inspect(v) WHERE taken.id = 300) AND chunk_seq > 0" 100
is "$(message 'INSERT INTO again SELECT * FROM taken' | cut -d ' ' -f 1)" XX001: "damaged slices are not taken"

# Rows of the table itself are not what they seem: each in another way.
sql -c 'CREATE TABLE rows (id int, n int, c text COMPRESSION pglz, v bytea) USING sliced WITH (autovacuum_enabled = off)' \
    -c 'ALTER TABLE rows ALTER v SET STORAGE external' \
    -c "INSERT INTO rows SELECT i, 0, CASE i WHEN 6 THEN 'compressed' || repeat('x', 5000) END, CASE i WHEN 1 THEN 'short' ELSE noise(60000, i) END FROM generate_series(1, 9) i" \
    -c 'UPDATE rows SET n = 1 WHERE id = 7' -c "UPDATE rows SET v = overlay(v PLACING 'changed' FROM 30001) WHERE id = 8" -c CHECKPOINT
free="SELECT free_bytes FROM sliced.toast_space('rows')"
before=$(sql -c "$free")
offline $(sql -F ' ' -c "SELECT d || pg_relation_filepath(oid), d || pg_relation_filepath(reltoastrelid) FROM pg_class, concat(current_setting('data_directory'), '/') d WHERE oid = 'rows'::regclass") <<'END'
import struct
import sys
with open(sys.argv[1], "r+b") as f:
    data = bytearray(f.read())
    seen = set()
    for lp in range(24, struct.unpack_from("<H", data, 12)[0], 4):
        word = struct.unpack_from("<I", data, lp)[0]
        row, end = word & 0x7FFF, (word & 0x7FFF) + (word >> 17)
        mask2, mask, skip = struct.unpack_from("<HHB", data, row + 18)
        id = struct.unpack_from("<I", data, row + skip)[0]
        pointer = end - 18                              # two bytes, two lengths, two OIDs
        if id == 1:
            mask2 |= 0x0800                             # SLICED_MARKER
        elif id == 2:
            data[pointer + 1] = 1                       # VARTAG_INDIRECT
        elif id == 3:
            struct.pack_into("<I", data, pointer + 2, 0)
        elif id == 4:
            struct.pack_into("<I", data, pointer + 6, 0)
        elif id == 5:
            mask2 &= ~0x0800
            mask |= 0x0004                              # HEAP_HASEXTERNAL
        elif id == 6:
            data[data.index(b"compress", row) - 2] |= 0xC0  # the method
        elif id in (7, 8) and id not in seen:
            mask = mask & ~0x0400 | 0x0800              # HEAP_XMAX_INVALID: the old row is there again
            mask2 &= ~0xE000
        seen.add(id)
        struct.pack_into("<HH", data, row + 18, mask2, mask)
    f.seek(0)
    f.write(data)
# what is left where a relation was extended, and the server crashed
with open(sys.argv[2], "ab") as f:
    f.write(bytes(8192))
END
is "$(sql -c "SELECT DISTINCT (SELECT id FROM rows WHERE ctid = row_ctid) AS id, kind, col, message FROM sliced.verify('rows') WHERE row_ctid IS NOT NULL AND message !~ 'missing' ORDER BY 1, 4")" \
    "1|broken pointer||the row is not marked as what it is
2|broken pointer|v|the value points to memory
3|broken pointer|v|the pointer's length is impossible
4|broken pointer|v|the pointer's length is impossible
5|broken pointer|v|the pointer is not core's, but its row is
6|unreadable value|c|the value is compressed by a method that this server is built without
7|broken pointer|v|another row has the same value
8|broken pointer|v|another value has rows of this object" "verify says what is wrong with rows"
is "$(sql -c 'SELECT v = noise(60000, 9) FROM rows WHERE id = 9')" t "a sound row is readable"
is "$(($(sql -c "$free") - before))" 8192 "a page that was never written is free"
sql -c 'DROP TABLE rows'

# Random bytes of tuples' data, many at once: no crash, no wrong value, each
# damaged value reported.  The same bytes matter less to heap, which has no
# checksums, so here it is only about what follows the tuple header.
sql -c 'DROP TABLE t' -c 'CREATE TABLE t (id int, v bytea) USING sliced'
for codec in none pglz lz4 zstd; do
    sql -c "SET sliced.compression = $codec" \
        -c 'INSERT INTO t SELECT i, noise(i * 997 % 50000 + 3000, i) || repeat(i::text, i * 99 % 20000)::bytea
            FROM (SELECT (SELECT count(*) FROM t)::int + n AS i FROM generate_series(1, 40) n) s'
done
sql -c 'CREATE TABLE sums AS SELECT id, md5(v) AS sum FROM t' -c 'CHECKPOINT'
path=$(sql -c "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass")
log=$PGS_TMP/damage/log

for round in 1 2 3 4; do
    offline "$path" "$round" "$flips" <<'END'
import random
import struct
import sys
path, seed, flips = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if seed > 1:
    # undo what the last round did
    with open(path + ".good", "rb") as f:
        data = bytearray(f.read())
else:
    with open(path, "rb") as f:
        data = bytearray(f.read())
    with open(path + ".good", "wb") as f:
        f.write(data)
pick = random.Random(seed)
places = []
for block in range(0, len(data), 8192):
    lower = struct.unpack_from("<H", data, block + 12)[0]
    for lp in range(block + 24, block + lower, 4):
        word = struct.unpack_from("<I", data, lp)[0]
        offset, flags, length = word & 0x7FFF, word >> 15 & 3, word >> 17
        if flags == 1:
            # behind the tuple header: chunk_id, chunk_seq, length, data
            skip = data[block + offset + 22]
            places.append((block + offset + skip, length - skip))
for _ in range(flips):
    start, length = pick.choice(places)
    # half of them where the numbers are
    at = start + 8 + pick.randrange(min(24, length - 8) if pick.randrange(2) else length - 8)
    data[at] ^= 1 << pick.randrange(8)
with open(path, "r+b") as f:
    f.write(data)
END
    sql -o "$PGS_TMP/out" <<'SQL'
CREATE OR REPLACE FUNCTION attempt(v bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM substr(v, length(v) / 2, 100), substr(v, 1, 10);
    RETURN md5(v);
EXCEPTION WHEN data_corrupted THEN
    RETURN 'corrupted';
END $$;
SET client_min_messages = warning;
DROP TABLE IF EXISTS result;
CREATE TABLE result AS SELECT t.id, t.ctid AS row, attempt(v) AS got, sum FROM t JOIN sums USING (id);
SQL
    is "$(sql -c "SELECT count(*) FILTER (WHERE got <> sum AND got <> 'corrupted'), count(*) FILTER (WHERE got = 'corrupted') > 0 FROM result")" \
        '0|t' "round $round: right values or errors"
    is "$(sql -c "SELECT * FROM (SELECT DISTINCT row_ctid FROM sliced.verify('t') WHERE row_ctid IS NOT NULL) v
            FULL JOIN (SELECT row FROM result WHERE got = 'corrupted') r ON row = row_ctid WHERE row IS NULL")" '' \
        "round $round: verify knows rows that cannot be read"
    is "$(sql -c "SELECT count(*) FROM result r WHERE got = 'corrupted' AND row NOT IN
            (SELECT row_ctid FROM sliced.verify('t') WHERE row_ctid IS NOT NULL)")" 0 "round $round: and no others"
    sql -c 'SELECT count(*) FROM t, sliced.inspect(v)' >/dev/null 2>&1 || true
done
is "$(sql -c 'UPDATE t SET v = NULL' -c 'VACUUM t' -c "SELECT DISTINCT kind FROM sliced.verify('t')" -c 'SELECT count(v) FROM t')" 0 "damaged rows can be updated"
is "$(as_user grep -cE 'terminated by signal|PANIC|TRAP' "$log" || true)" 0 "no backend has crashed"
server_stop damage
