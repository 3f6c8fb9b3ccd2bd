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

# Characters are looked for in what can be read.
sql -c 'CREATE TABLE letters (id int, t text) USING sliced' -c 'ALTER TABLE letters ALTER t SET STORAGE external' \
    -c "INSERT INTO letters SELECT i, 'ä' || array_to_string(words('', 900), 'ö') FROM generate_series(1, 3) i"
damage letters 'chunk_seq BETWEEN 15000 AND 17000' 200
is "$(message "UPDATE letters SET t = overlay(t PLACING 'x' FROM 100 FOR 20000)" | cut -d ' ' -f 1)$(message "UPDATE letters SET t = substr(t, 100, 20000)" | cut -d ' ' -f 1)" \
    XX001:XX001: "damage between two characters"
is "$(sql -c "UPDATE letters SET t = overlay(t PLACING 'x' FROM 100 FOR 200) WHERE id = 1" -c "SELECT substr(t, 99, 3) FROM letters WHERE id = 1")" \
    "$(sql -c "SELECT substr(overlay('ä' || array_to_string(words('', 900), 'ö') PLACING 'x' FROM 100 FOR 200), 99, 3)")" "characters before it"

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

# Rows that a superuser has made, with the right checksums.
. "$PGS_ROOT/test/t/bytes/functions.sh"
bytes_install
sql <<'SQL'
-- a number as it is on disk; a row, not compressed
CREATE FUNCTION number(n bigint, bytes int) RETURNS bytea LANGUAGE sql AS $$
    SELECT string_agg(set_byte('\x00', 0, (n >> 8 * i & 255)::int), '' ORDER BY i) FROM generate_series(0, bytes - 1) i $$;
CREATE FUNCTION made(kind int, continuations int, bytes int, rest bytea) RETURNS bytea LANGUAGE sql AS $$
    SELECT number(0, 4) || number(16 + kind, 2) || number(continuations, 2) || number(bytes, 4) || number(bytes, 4) || number(4294967295, 4) || rest $$;
CREATE TABLE made (id int, v bytea, j jsonb) USING sliced WITH (autovacuum_enabled = off);
ALTER TABLE made ALTER v SET STORAGE external;
INSERT INTO made SELECT i, noise(60000, i) FROM generate_series(1, 8) i;
UPDATE made SET v = overlay(v PLACING 'edited' FROM 30001) WHERE id = 6;
UPDATE made SET v = overlay(v PLACING 'edited' FROM 20001 FOR 20000) WHERE id = 7;
UPDATE made SET v = v || noise(2000, 7) WHERE id = 6;
INSERT INTO made SELECT i, NULL, jsonb_build_object('a', repeat('abcd', 5000), 'list', words('', 300), 'n', i) FROM generate_series(9, 10) i;
-- the row that has a byte, by itself or at first
CREATE FUNCTION place(row_id int, byte int) RETURNS TABLE (object oid, seq int, bytes int) LANGUAGE sql AS $$
    SELECT object, CASE start WHEN 0 THEN -1 ELSE start END, raw_bytes::int
    FROM (SELECT s.* FROM made, sliced.inspect(v) s WHERE id = row_id UNION ALL SELECT s.* FROM made, sliced.inspect(j) s WHERE id = row_id) s
    WHERE start <= byte ORDER BY start DESC LIMIT 1 $$;
CREATE TABLE others AS SELECT id, object, seq + behind AS seq, forge(data, object, seq + behind) AS data
FROM generate_series(1, 10) id, place(id, CASE WHEN id > 8 THEN 0 WHEN id = 8 THEN 59999 ELSE 20000 END), LATERAL (VALUES
    -- a continuation that is too long, or too short
    (1, 0, made(2, 1, bytes, noise(1000, 1))), (1, 1, made(3, 1, bytes, noise(bytes - 1, 1))),
    (2, 0, made(2, 1, bytes, noise(1000, 1))), (2, 1, made(3, 1, bytes, noise(bytes - 1001, 1))),
    -- the same, before a slice that lacks one
    (3, 0, made(2, 1, bytes, noise(1000, 1))), (3, 1, made(3, 1, bytes, noise(bytes - 1001, 1))), (3, 10, made(2, 1, 9000, noise(1000, 1))),
    -- an entry of the directory; a kind that a newer release may have
    (4, 0, made(6, 0, bytes, noise(bytes, 1))), (5, 0, made(7, 0, bytes, noise(bytes, 1))),
    -- a slice behind the last one, which is damaged; a head with nothing in it
    (8, 0, '\x00'), (8, bytes, made(2, 0, 100, noise(100, 1))), (9, 0, made(1, 0, 0, number(0, 12)))) m(of, behind, data) WHERE of = id;
SQL
change made 'DELETE FROM $toast USING others WHERE chunk_id = object AND chunk_seq = seq; INSERT INTO $toast SELECT object, seq, data FROM others'
# what the root does not have is behind the last possible byte; the first row is one of core's
change made "UPDATE \$toast SET chunk_data = forge(overlay(chunk_data PLACING number(2147483647, 4) FROM 29), chunk_id, chunk_seq)
    WHERE chunk_seq = -1 AND chunk_id = (SELECT object FROM place(6, -1))"
change made "UPDATE \$toast SET chunk_seq = 0 WHERE chunk_seq = -1 AND chunk_id = (SELECT object FROM place(10, 0))"
# a head with a root is in place of a slice; the last slice before those that were cut out is missing
change made "DELETE FROM \$toast USING place(7, 20000) WHERE chunk_id = object AND (chunk_seq = -1 OR chunk_seq = seq);
    INSERT INTO \$toast SELECT s.object, -1, forge(chunk_data, s.object, -1) FROM \$toast, place(7, 20000) s, place(7, -1) root WHERE chunk_id = root.object AND chunk_seq = -1"
looks_made() {
    local look
    for look in 'md5(v) FROM made WHERE id = 1' 'md5(v) FROM made WHERE id = 2' 'substr(v, 20000, 30) FROM made WHERE id = 3' 'md5(v) FROM made WHERE id = 4' \
        'substr(v, 61000, 10) FROM made WHERE id = 6' 'md5(v) FROM made WHERE id = 7' 'md5(v) FROM made WHERE id = 8' "j->'n' FROM made WHERE id = 9" \
        "j->'n' FROM made WHERE id = 10" 'md5(v) FROM made WHERE id = 5'; do
        message "SELECT $look" | sed 's/value N of table "made" is corrupted at offset //'
    done
}
is "$(looks_made)" 'XX001: 15876: a continuation does not belong to the slice
XX001: 15876: the slice'"'"'s rows do not add up
XX001: 19999: the slice'"'"'s rows do not add up
XX001: 15876: the slice is missing
XX001: 60999: what the root has is longer than the value
XX001: 0: the slice is missing
XX001: 59548: row too short
XX001: 0: the slice is missing
XX001: 0: the value is not stored as slices
0A000: value N of table "made" was stored by a newer release of pg_sliced: unknown kind of row' "rows that do not fit together"
is "$(sql -c "SELECT (SELECT id FROM made WHERE ctid = row_ctid) AS id, byte_offset, message FROM sliced.verify('made') ORDER BY 1, 2, 3")" "1|15876|a continuation does not belong to the slice
2|15876|the slice's rows do not add up
3|15876|the slice's rows do not add up
3|15886|a continuation of the slice is missing
4|15876|impossible entry of a dictionary
5|15876|unknown kind of row
6|1|no node of the value names this row
6|1977|no node of the value names this row
6|2147483647|the slice is missing
7|0|the slice is missing
7|15876|the slice is missing
7||no node of the value names this row
8|59548|row too short
9|0|the slice is missing
9|30805|the slice is missing
10|0|the value is not stored as slices" "verify knows all of them"

# What is added to a value is there, although a small slice before it is damaged, or missing, or there is
# one that nobody wrote: such slices are not merged.
sql -c 'CREATE TABLE grown (id int, v bytea) USING sliced WITH (autovacuum_enabled = off)' -c 'ALTER TABLE grown ALTER v SET STORAGE external' \
    -c 'INSERT INTO grown SELECT i, noise(9000, i) FROM generate_series(1, 6) i'
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
# the last has two rows, and only the first, or the second, is there
change grown "UPDATE \$toast SET chunk_data = forge(made(2, 1, 1000, noise(500, 1)), chunk_id, chunk_seq) WHERE $(slice 5 2)"
change grown "UPDATE \$toast SET chunk_seq = chunk_seq + 1, chunk_data = forge(made(3, 1, 1000, noise(500, 1)), chunk_id, chunk_seq + 1) WHERE $(slice 6 2)"
sql -c "UPDATE grown SET v = v || noise(6000, 7)"
is "$(sql -c "SELECT id, substr(v, 12001) = noise(6000, 7) FROM grown ORDER BY id")" '1|t
2|t
3|t
4|t
5|t
6|t' "what is added behind damage can be read"
is "$(message 'SELECT md5(v) FROM grown WHERE id = 1')" \
    'XX001: value N of table "grown" is corrupted at offset 9000: checksum mismatch' "damage before it stays what it is"
is "$(message 'SELECT md5(v) FROM grown WHERE id = 2' | cut -d ' ' -f 1)" XX001: "so does what is missing"
is "$(message 'SELECT md5(v) FROM grown WHERE id = 5')$(message 'SELECT md5(v) FROM grown WHERE id = 6')" \
    'XX001: value N of table "grown" is corrupted at offset 11000: a continuation of the slice is missingXX001: value N of table "grown" is corrupted at offset 11000: the slice is missing' \
    "and what is there in part"
is "$(sql -c "SELECT count(*) FROM grown, sliced.inspect(v) WHERE id = 4 AND start IN (10000, 11000)")" 0 "sound slices are merged"
# Bytes of transactions that have aborted are no bytes of a value, even where others are missing.
# gone TABLE SEQ: the row is there, but of another object
toast_of() { sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$1'::regclass"; }
gone() {
    sql -c "SELECT row_poke('$(toast_of $1)', ctid, 24, '\\x01000000') FROM $(toast_of $1) WHERE chunk_seq = $2" >/dev/null
}
sql -c 'CREATE TABLE dead (v bytea) USING sliced WITH (autovacuum_enabled = off)' -c 'ALTER TABLE dead ALTER v SET STORAGE external' \
    -c 'INSERT INTO dead VALUES (noise(9000, 1))' \
    -c 'BEGIN' -c 'UPDATE dead SET v = v || noise(1000, 2)' -c 'UPDATE dead SET v = v || noise(1000, 3)' -c 'ROLLBACK' \
    -c 'UPDATE dead SET v = v || noise(1976, 4)'
is "$(sql -c 'SELECT substr(v, 10501, 50) = substr(noise(1976, 4), 1501, 50) FROM dead')" t "a row behind one that was rolled back"
gone dead 9000
is "$(message 'SELECT substr(v, 10501, 50) FROM dead')" 'XX001: value N of table "dead" is corrupted at offset 10500: the slice is missing' "no reader takes the one that was rolled back"
# ... unless it is of a transaction that a reader's snapshot may have met, whichever has begun first
for before in false true; do
    sql -c 'CREATE TABLE tails (v bytea) USING sliced WITH (autovacuum_enabled = off)' -c 'ALTER TABLE tails ALTER v SET STORAGE external' \
        -c 'INSERT INTO tails VALUES (noise(9000, 1))' -c 'UPDATE tails SET v = v || noise(20, 2)'
    is "$(sql 2>&1 <<SQL
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT length(v) FROM tails;
SELECT pg_current_xact_id() > '0' WHERE $before;
\! "$PGS_BINDIR/psql" -Xqc BEGIN -c "UPDATE tails SET v = v || noise(20, 3)" -c ROLLBACK
\o /dev/null
SELECT row_poke('$(toast_of tails)', ctid, 24, '\\x01000000') FROM $(toast_of tails) WHERE chunk_seq = 9000;
\o
SELECT substr(v, 9001) = noise(20, 2) FROM tails;
SELECT pg_current_xact_id() > '0', substr(v, 9001) = noise(20, 2) FROM tails;
SQL
)" "9020$([ $before = false ] || printf '\nt')
t
t|t" "what it has of the value is right"
    sql -c 'DROP TABLE tails'
done

# Rows of the toast relation that are no rows of one: their data is not there, too long, compressed, elsewhere.
sql -c 'CREATE TABLE poked (id int, v bytea) USING sliced WITH (autovacuum_enabled = off)' -c 'ALTER TABLE poked ALTER v SET STORAGE external' \
    -c 'INSERT INTO poked SELECT i, noise(9000, i) FROM generate_series(1, 6) i' -c 'UPDATE poked SET v = v || noise(8, id)'
# poke ID BYTE BYTES [SEQ]
poke() {
    sql -c "SELECT row_poke('$(toast_of poked)', t.ctid, $2, '\\x$3') FROM $(toast_of poked) t WHERE chunk_seq = ${4:--1} AND chunk_id = (SELECT object FROM poked, sliced.inspect(v) WHERE id = $1 LIMIT 1)" >/dev/null
}
poke 1 32 01
poke 2 32 02
# where its columns begin: behind it, or before its last byte
poke 3 22 f8 9000
poke 5 22 a8 9000
change poked "UPDATE \$toast SET chunk_data = NULL WHERE chunk_seq = -1 AND chunk_id = (SELECT object FROM poked, sliced.inspect(v) WHERE id = 4 LIMIT 1)"
is "$(sql -c "SELECT (SELECT id FROM poked WHERE ctid = row_ctid) AS id, byte_offset, message FROM sliced.verify('poked') ORDER BY 1" -c 'SELECT v = noise(9000, id) || noise(8, id) FROM poked WHERE id = 6')" \
    '1|0|row too short
2|0|row too short
3|9000|the slice is missing
4|0|row too short
5|9000|the slice is missing
t' "rows without data"
for i in 1 2 3 4 5; do
    is "$(message "SELECT md5(v) FROM poked WHERE id = $i" | cut -d : -f 1)" XX001 "a reader of row $i"
done

# Conversion leaves damaged values alone, and does its work for the others.
sql -c 'CREATE TABLE converted (id int, v text) USING sliced WITH (autovacuum_enabled = off)' -c 'SET sliced.compression = lz4' \
    -c "INSERT INTO converted SELECT i, repeat(array_to_string(words(i::text, 300), ' '), 30) FROM generate_series(1, 5) i"
damage converted "(chunk_id, chunk_seq) IN (SELECT object, max(start) FROM converted, sliced.inspect(v) WHERE id = 1 GROUP BY 1)" 100
delete converted "chunk_id = (SELECT object FROM converted, sliced.inspect(v) WHERE id = 2 LIMIT 1) AND chunk_seq > 0"
damage converted "(chunk_id, chunk_seq) IN (SELECT object, start FROM converted, sliced.inspect(v) WHERE id = 5 AND start = 131072)" 100
is "$(sql -c 'SET sliced.compression = lz4' -c "CALL sliced.convert('converted')" \
    -c "SELECT id FROM converted WHERE id IN (3, 4) AND v = repeat(array_to_string(words(id::text, 300), ' '), 30)" 2>&1 | grep -v '^NOTICE')" '3
4' "conversion of a table with damaged values"

# What is copied as it is stored, or left as it is by a conversion.
sql <<'SQL'
SET sliced.compression = lz4;
CREATE TABLE cut (id int, j jsonb) USING sliced WITH (autovacuum_enabled = off);
INSERT INTO cut SELECT i, jsonb_build_object('a', repeat('abcd', 6000), 'b', array_to_string(words('b', 400), ' '), 'list', to_jsonb(words('', 500)), 'n', i) FROM generate_series(1, 9) i;
CREATE TABLE as_it_was AS TABLE cut;
CREATE TABLE copies (id int, j jsonb) USING sliced;
SQL
# forge ID SEQ DATA: other data for a row
forge() {
    change cut "UPDATE \$toast SET chunk_data = forge($3, chunk_id, chunk_seq) WHERE $(of_cut "$1" "$2")"
}
of_cut() {
    echo "chunk_id = (SELECT object FROM cut, sliced.inspect(j) WHERE id = $1 LIMIT 1) AND chunk_seq = $2"
}
# the first slice is missing, by itself or with all others, is damaged, is a tail, says that it is longer; a root may lead to a place behind its slices
delete cut "$(of_cut 1 1)"
delete cut "$(of_cut 9 chunk_seq) AND chunk_seq > 0"
damage cut "$(of_cut 2 1)" 100
forge 3 1 "'\\x0000000014000000'::bytea || noise(100, 1) || '\\x0000000001'"
forge 4 1 'overlay(chunk_data PLACING number(900000, 4) FROM 9)'
delete cut "$(of_cut 5 "(SELECT 1 + start FROM cut, sliced.inspect(j) WHERE id = 5 AND rows > 1 ORDER BY start DESC LIMIT 1)")"
forge 6 -1 'set_byte(chunk_data, 28, get_byte(chunk_data, 28) + 1)'
forge 7 -1 'set_byte(chunk_data, 32, 255)'
is "$(for i in 1 2 3 4 5 6 7 8 9; do message "INSERT INTO copies SELECT * FROM cut WHERE id = $i" | cut -d : -f 1,3; done)" 'XX001: the slice is missing
XX001: checksum mismatch
XX001: the slice is missing
XX001: the slice cannot be decompressed
XX001: a continuation of the slice is missing
XX001: impossible node
XX001: the slice is missing' "damaged documents are not copied"
is "$(sql -c "SELECT c.id, c.j = o.j FROM copies c JOIN as_it_was o USING (id) ORDER BY 1" -c "SELECT * FROM sliced.verify('copies')")" '6|t
8|t' "sound ones are"
# whatever byte of a root is another one, the copy is the same
sql <<'SQL'
CREATE FUNCTION bytes(jsonb, bytea DEFAULT '') RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION what(rel regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(bytes(j)) FROM %s WHERE id = 8', rel) INTO result;
    RETURN result;
EXCEPTION WHEN data_corrupted THEN
    RETURN 'corrupted';
END $$;
CREATE FUNCTION copied() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM copies;
    INSERT INTO copies SELECT * FROM cut WHERE id = 8;
    RETURN what('copies');
EXCEPTION WHEN data_corrupted THEN
    RETURN 'corrupted';
END $$;
CREATE FUNCTION copies_of_others() RETURNS TABLE (byte int, original text, copy text) LANGUAGE plpgsql AS $$
DECLARE
    toast regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'cut'::regclass);
    id oid := (SELECT object FROM cut, sliced.inspect(j) WHERE cut.id = 8 LIMIT 1);
    place tid;
    data bytea;
BEGIN
    EXECUTE format('SELECT ctid, chunk_data FROM %s WHERE chunk_id = %s AND chunk_seq = -1', toast, id) INTO place, data;
    FOR byte IN 28 .. length(data) - 1 LOOP
        PERFORM row_poke(toast, place, 36, forge(set_byte(data, byte, get_byte(data, byte) # 1), id, -1));
        RETURN QUERY SELECT byte, what('cut'), copied();
    END LOOP;
    PERFORM row_poke(toast, place, 36, data);
END $$;
CREATE TABLE copying AS SELECT * FROM copies_of_others();
SQL
is "$(sql -c 'SELECT count(DISTINCT copy) > 5 FROM copying' -c 'SELECT * FROM copying WHERE original <> copy')" t "copies of documents with other roots"
# a part that cannot be read can be replaced
is "$(sql -c "UPDATE cut SET j = jsonb_set(j, '{list}', to_jsonb(words('new', 500))) WHERE id = 5" \
    -c "SELECT c.j = jsonb_set(o.j, '{list}', to_jsonb(words('new', 500))) FROM cut c JOIN as_it_was o USING (id) WHERE id = 5")" t "a damaged list is replaced by another"
# a conversion leaves what it need not read, and renews what is not as it should be
is "$(sql -c 'DELETE FROM cut WHERE id IN (3, 5)' -c 'SET sliced.compression = lz4' -c "CALL sliced.convert('cut')" 2>&1 | sed -n 's/^ERROR:.*: //p')" 'impossible node' "conversion of a root that is none"
sql -c 'DELETE FROM cut WHERE id = 7' -c 'SET sliced.compression = lz4' -c "CALL sliced.convert('cut')" 2>"$PGS_TMP/notices"
is "$(grep -c 'converted 1 row of "cut"' "$PGS_TMP/notices")$(sql -c "SELECT id, c.j = o.j FROM (SELECT * FROM cut WHERE id IN (6, 8)) c JOIN as_it_was o USING (id)")" '16|t
8|t' "conversion of the others"

# ... and what was damaged goes with the last bytes of its object that are needed.
sql -c 'CREATE TABLE owner (v bytea) USING sliced' -c 'ALTER TABLE owner ALTER v SET STORAGE external' \
    -c 'INSERT INTO owner VALUES (noise(50000, 1))' -c "UPDATE owner SET v = overlay(v placing 'x' FROM 100)" \
    -c "UPDATE owner SET v = v || 'a tail of some bytes'"
damage owner 'chunk_seq = 1' 10
is "$(sql -c "SELECT kind, byte_offset FROM sliced.verify('owner')")" 'corrupted slice|1' "a damaged tail of a changed value"
sql -c "UPDATE owner SET v = overlay(noise(40000, 1) placing 'x' FROM 100)"
is "$(sql -c "SELECT * FROM sliced.verify('owner')" -c "SELECT v = overlay(noise(40000, 1) placing 'x' FROM 100) FROM owner")" t \
    "nothing is left of it"

# A toast relation of another name is named itself.
damage whole "chunk_id = (SELECT max(object) FROM whole, sliced.inspect(t)) AND chunk_seq > 0" 100
sql -c 'SET allow_system_table_mods = on' -c "DO \$\$ BEGIN EXECUTE format('ALTER TABLE %s RENAME TO other_name', (SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'whole')); END \$\$"
is "$(message 'SELECT sum(length(md5(t))) FROM whole' | cut -d ' ' -f 1-6)" 'XX001: value N of table "other_name"' "damage in a renamed toast relation"
sql -c 'DROP TABLE whole'

# Values in core's format, in a table that was adopted.
sql -c 'CREATE TABLE old (id int, v text) USING heap' -c 'ALTER TABLE old ALTER v SET STORAGE external' \
    -c "INSERT INTO old SELECT i, array_to_string(words('', 500), '') FROM generate_series(1, 6) i" -c "SELECT sliced.adopt('old')" >/dev/null 2>&1
of() {
    echo "chunk_id = (SELECT object FROM old, sliced.inspect(v) WHERE old.id = $1 LIMIT 1)"
}
change old "UPDATE \$toast SET chunk_data = substr(chunk_data, 1, 100) WHERE $(of 1) AND chunk_seq = 2"
delete old "$(of 2) AND chunk_seq = 3"
delete old "$(of 3) AND chunk_seq = 8"
change old "INSERT INTO \$toast SELECT chunk_id, 9, chunk_data FROM \$toast WHERE $(of 4) AND chunk_seq = 0"
change old "INSERT INTO \$toast SELECT chunk_id, 11, chunk_data FROM \$toast WHERE $(of 6) AND chunk_seq = 0"
is "$(sql -c "SELECT kind, byte_offset, message, (SELECT id FROM old WHERE ctid = row_ctid) FROM sliced.verify('old') ORDER BY 4")" \
    'corrupted slice|3992|unexpected chunk length|1
missing slice|5988|unexpected chunk number|2
missing slice|15968|the chunk is missing|3
excess slice|16000|unexpected chunk number|4
excess slice|16000|unexpected chunk number|6' "chunks of core's"
is "$(message 'SELECT md5(v) FROM old WHERE id = 2' | cut -d ' ' -f 1) $(sql -c 'SELECT length(v) FROM old WHERE id = 5')" 'XX001: 16000' "as core says, too"

# Rows that are deleted, and that a transaction may still want to see, are left out of a new index if they cannot be read.
# hold: a transaction that keeps what is deleted from now on, until it is let go
hold() {
    sql -c BEGIN -c 'CREATE TABLE held ()' -c "PREPARE TRANSACTION 'held'"
}
let_go() {
    sql -c "ROLLBACK PREPARED 'held'"
}
hold
sql -c 'DELETE FROM old WHERE id <> 5' -c 'CREATE INDEX ON old (md5(v))'
let_go
is "$(sql -c 'SET enable_seqscan = off' -c "SELECT count(*) FROM old WHERE md5(v) = md5(array_to_string(words('', 500), ''))")" 1 "an index on a table with damaged rows that are deleted"

# Before a value is said to be missing, a reader waits for those who write.
sql -c 'CREATE TABLE waited (id int, v text) USING sliced' -c 'ALTER TABLE waited ALTER v SET STORAGE external' \
    -c "INSERT INTO waited VALUES (1, array_to_string(words('', 500), ''))"
delete waited 'chunk_seq > 8000'
sql -c BEGIN -c "INSERT INTO waited VALUES (2, array_to_string(words('', 500), ''))" -c 'SELECT pg_sleep(1)' -c COMMIT >/dev/null &
until [ "$(sql -c "SELECT count(*) FROM pg_locks WHERE relation = '$(toast_of waited)'::regclass AND mode = 'RowExclusiveLock'")" = 1 ]; do sleep 0.02; done
is "$(message 'SELECT md5(v) FROM waited WHERE id = 1' | cut -d ' ' -f 1; sql -c 'SELECT count(*) FROM waited')" 'XX001:
2' "a value is missing when another transaction has ended"
wait

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

# An error in a toaster's column names the toaster, if it is one that looks into values.
sql -c 'CREATE TABLE short (v text COMPRESSION pglz) USING heap WITH (toast_tuple_target = 8160)' -c "INSERT INTO short SELECT repeat(array_to_string(words('', 100), ' '), 5)" \
    -c "SELECT row_poke('short', ctid, 40, decode(repeat('ff', 20), 'hex')) FROM short" >/dev/null
sql -c 'CREATE TABLE looked_into (v text) USING sliced' -c 'CREATE TABLE plain (v text) USING sliced' \
    -c "SELECT sliced.alter_column('plain', 'v', 'toaster=plain')" >/dev/null
for table in looked_into plain; do
    sql -c 'SET sliced.compression = zstd' -c "INSERT INTO $table SELECT * FROM short" 2>&1 | grep -v LOCATION || true
done >"$PGS_TMP/said"
is "$(cat "$PGS_TMP/said")" 'ERROR:  compressed pglz data is corrupt
CONTEXT:  toaster "text" of column "v" of table "looked_into"
ERROR:  compressed pglz data is corrupt' "errors of what heap has compressed"

# A value that has grown since, with its older version: VACUUM FULL writes what is more than that, and has to decompress it.
sql -c 'CREATE TABLE long (v text COMPRESSION pglz) USING heap' -c "INSERT INTO long SELECT left(repeat(array_to_string(words('', 100), ' '), 11), 32768)" \
    -c 'CREATE TABLE longer (v text COMPRESSION pglz) USING sliced'
change long "UPDATE \$toast SET chunk_data = overlay(chunk_data PLACING decode(repeat('ff', 40), 'hex') FROM 101) WHERE chunk_seq = 0"
sql -c 'INSERT INTO longer SELECT * FROM long'
hold
sql -c "UPDATE longer SET v = v || repeat('more ', 2000)"
is "$(message 'VACUUM FULL longer')" 'XX001: a compressed value of 42768 bytes cannot be decompressed' "VACUUM FULL with two versions of a damaged value"
let_go
sql -c 'VACUUM FULL longer'
is "$(sql -c "SELECT kind, message FROM sliced.verify('longer')" -c "SELECT octet_length(v) FROM longer")" 'corrupted slice|the slice cannot be decompressed
42768' "with one"

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
