#!/bin/bash
# A dictionary that is damaged or has gone: what looks back at it is not readable, and
# says so; all else is.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start damage autovacuum=off sliced.compression=zstd
sql -f "$PGS_ROOT/test/t/dictionaries/tables.sql"

# rows 1 to 400 without dictionaries, 401 to 500 with both
table() {
    sql -c 'TRUNCATE docs' -c 'CALL fill(1, 400)' -c 'SELECT trained()' -c 'CALL fill(401, 500)' -c CHECKPOINT >"$PGS_TMP/out"
    doc=$(id_of doc) t=$(id_of t)
}

id_of() {
    sql -c "SELECT dictionary FROM sliced.dictionaries WHERE rel = 'docs' AND col = '$1'"
}

# rows STATEMENT: change rows of the toast relation, which $toast stands for
rows() {
    local toast
    toast=$(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'docs'::regclass")
    sql -c 'SET allow_system_table_mods = on' -c "UPDATE pg_class SET relkind = 'r' WHERE oid = '$toast'::regclass" \
        -c "${1//\$toast/$toast}" -c "UPDATE pg_class SET relkind = 't' WHERE oid = '$toast'::regclass" -c 'VACUUM docs'
}

# flip CONDITION BYTE: change a byte of rows
flip() {
    rows "UPDATE \$toast SET chunk_data = set_byte(chunk_data, $2, get_byte(chunk_data, $2) # 1) WHERE $1"
}

message() {
    sql -v VERBOSITY=verbose -c "$1" 2>&1 | sed -n 's/^ERROR: *//p' | sed -E "s/value [0-9]+/value N/; s/$doc/DOC/; s/\b$t\b/T/"
}

problems() {
    sql -c "SELECT kind, CASE value WHEN $doc THEN 'DOC' WHEN $t THEN 'T' ELSE 'N' END, message, count(*) FROM sliced.verify('docs') v (rel, kind, row, col, value, byte_offset, message) GROUP BY 1, 2, 3 ORDER BY 1, 2"
}

# readable NAME: which rows' values are, each column by itself?
readable() {
    is "$(sql -c 'SELECT count(*) FROM docs WHERE id <= 400 AND doc = document(id) AND t = reverse(document(id)::text)')" 400 "$1: older values are readable"
    is "$(sql -c 'SELECT count(*) FROM docs WHERE t = reverse(document(id)::text)')" 500 "$1: so are those of another column"
}

# written NAME: new values do without the dictionary of the first column
written() {
    sql -c 'CALL fill(501, 510)'
    is "$(sql -c 'SELECT count(*) FROM docs WHERE id > 500 AND (doc <> document(id) OR t <> reverse(document(id)::text))' \
        -c "SELECT count(DISTINCT d.codec) FILTER (WHERE d.codec LIKE '%dictionary%') || ' ' || count(DISTINCT t.codec) FILTER (WHERE t.codec LIKE '%dictionary%')
            FROM docs, sliced.inspect(doc) d, sliced.inspect(t) t WHERE id > 500")" "0
$2" "$1: new values"
}

for name in damaged missing; do
    table
    if [ $name = damaged ]; then
        flip "chunk_id = $doc AND chunk_seq IN (-1, 0)" 500
    else
        rows "DELETE FROM \$toast WHERE chunk_id = $doc"
    fi
    error="XX001: value N of table \"docs\" is corrupted at offset 0: its dictionary is $name"
    readable "$name"
    is "$(message 'SELECT md5(doc::text) FROM docs WHERE id = 450')" "$error" "$name: who reads a value that looks back at it"
    is "$(message "SELECT doc->>'id' FROM docs WHERE id = 450")" "$error" "$name: who reads a part of one"
    is "$(sql -c 'SELECT doc FROM docs WHERE id = 450' 2>&1 | sed -n 's/^DETAIL: *//p')" \
        "The dictionary is value $doc of \"$(sql -c "SELECT relname FROM pg_class WHERE oid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'docs')")\"." "$name: which it is"
    is "$(problems)" "corrupted dictionary|DOC|its dictionary is $name|1
corrupted slice|N|its dictionary is $name|100" "$name: verify"
    written "$name" '0 1'
    is "$(message 'SELECT trained()')" "$error" "$name: training"
    is "$(message 'VACUUM FULL docs')" "$error" "$name: VACUUM FULL refuses"
    # all that looks back at it is replaced
    sql -c 'UPDATE docs SET doc = document(id) WHERE id BETWEEN 401 AND 450' -c 'DELETE FROM docs WHERE id BETWEEN 451 AND 500'
    is "$(problems)" "corrupted dictionary|DOC|its dictionary is $name|1" "$name: verify, when all values are sound"
    sql -c 'VACUUM FULL docs'
    is "$(sql -c 'SELECT state()')" '460 0 2 2 0' "$name: then VACUUM FULL makes others"
done

table
flip 'chunk_id = 0' 30
error='directory of dictionaries in "pg_toast_N" is corrupted: checksum mismatch'
is "$(sql -c 'SELECT wrong(), count(*) FROM docs')" '0|500' "damaged directory: all values are readable"
is "$(problems)" 'corrupted dictionary|N|checksum mismatch|1
orphaned value|DOC|no row points to this value|1
orphaned value|T|no row points to this value|1' "damaged directory: verify"
is "$(sql -c "SELECT count(*) FROM sliced_functions.table_dictionaries('docs')" 2>&1)" 'WARNING:  directory of dictionaries of table "docs" is corrupted: checksum mismatch
0' "damaged directory: what dictionaries there are"
is "$(message 'SELECT trained()' | sed -E 's/pg_toast_[0-9]+/pg_toast_N/')" "XX001: $error" "damaged directory: training"
written "damaged directory" '0 0'
sql -c 'CALL fill(2001, 3000)'
is "$(sql -c 'SET sliced.dictionary = auto' -c 'ANALYZE docs' 2>&1 | sed -E 's/pg_toast_[0-9]+/pg_toast_N/')" \
    "WARNING:  no dictionary was made for table \"docs\": $error" "damaged directory: ANALYZE"
sql -c 'VACUUM FULL docs'
is "$(sql -c 'SELECT state()' -c 'SELECT trained()' -c 'CALL fill(511, 520)' -c 'SELECT state()')" '1510 0 0 0 0
doc made, t made
1520 0 2 2 0' "VACUUM FULL makes a new directory"

# Rows that a superuser has made, with the right checksums.
. "$PGS_ROOT/test/t/bytes/functions.sh"
bytes_install
sql -c "CREATE FUNCTION number(n bigint, bytes int) RETURNS bytea LANGUAGE sql AS \$\$
    SELECT string_agg(set_byte('\x00', 0, (n >> 8 * i & 255)::int), '' ORDER BY i) FROM generate_series(0, bytes - 1) i \$\$"
reads='SELECT md5(doc::text) FROM docs WHERE id = 450'
error='XX001: value N of table "docs" is corrupted at offset 0: its dictionary is damaged'
table
rows "INSERT INTO \$toast SELECT $doc, 2000000, forge('\\x0000000014000000780000000001', $doc, 2000000)"
is "$(message "$reads")" "$error" "a dictionary that is too long"
rows "DELETE FROM \$toast WHERE chunk_id = $doc AND chunk_seq = 2000000"
is "$(message "$reads")$(sql -c 'SELECT wrong()')" 0 "... and no more"
# it would be read in order to read it
rows "UPDATE \$toast SET chunk_data = forge(overlay(set_byte(chunk_data, 5, get_byte(chunk_data, 5) | 128) PLACING CASE chunk_seq WHEN -1 THEN number($doc, 4) ELSE '' END
    FROM CASE chunk_seq WHEN -1 THEN 33 ELSE 1 END), chunk_id, chunk_seq) WHERE chunk_id = $doc"
is "$(message "$reads")" "$error" "a dictionary that looks back at itself"
table
rows "INSERT INTO \$toast SELECT 0, 9, forge(substr(chunk_data, 1, 4) || '\\x12' || substr(chunk_data, 6), 0, 9) FROM \$toast WHERE chunk_id = 0 ORDER BY chunk_seq LIMIT 1"
is "$(sql -c "SELECT count(*) FROM sliced_functions.table_dictionaries('docs')" 2>&1)" 'WARNING:  directory of dictionaries of table "docs" is corrupted: impossible entry of a dictionary
2' "a slice in the directory"
# other documents are worth another dictionary
table
rows "INSERT INTO \$toast SELECT 0, chunk_seq | 65535, forge(chunk_data, 0, chunk_seq | 65535) FROM \$toast WHERE chunk_id = 0"
is "$(sql -c 'SELECT wrong(), count(*) FROM docs')" '0|500' "the last number of a dictionary"
sql -c "UPDATE docs SET doc = translate(doc::text, 'abcdefghijklmnopqrstuvwxyz', 'zyxwvutsrqponmlkjihgfedcba')::jsonb"
is "$(message 'SELECT trained()' | sed -E 's/column [0-9]+/column N/')" '54000: column N of the table has had too many dictionaries' "there is no other number"
sql -c 'VACUUM FULL docs'
is "$(sql -c "SELECT max(chunk_seq & 65535) < 9 FROM $(sql -c "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'docs'::regclass") WHERE chunk_id = 0")" t \
    "VACUUM FULL begins with the first number again"
# the name of a dictionary begins in one row, and ends in the next
table
rows "INSERT INTO \$toast SELECT chunk_id, 1, forge(substr(chunk_data, 1, 4) || '\\x13' || substr(chunk_data, 6, 1) || number(1, 2) || substr(chunk_data, 9, 12) || substr(chunk_data, 37), chunk_id, 1)
        FROM \$toast WHERE chunk_seq = -1 AND chunk_id = (SELECT object FROM docs, sliced.inspect(doc) WHERE id = 450);
    UPDATE \$toast SET chunk_data = forge(overlay(substr(chunk_data, 1, 36) PLACING number(1, 2) FROM 7), chunk_id, -1)
        WHERE chunk_seq = -1 AND chunk_id = (SELECT object FROM docs, sliced.inspect(doc) WHERE id = 450)"
is "$(message "$reads")$(sql -c 'SELECT wrong()' -c "SELECT rows FROM docs, sliced.inspect(doc) WHERE id = 450")" '0
2' "a value whose first row is that short is readable"
is "$(sql -c 'DELETE FROM docs WHERE id < 401' -c "CALL sliced.convert('docs')" 2>&1 | grep -c 'converted 1 row of')$(sql -c 'SELECT wrong()' -c "SELECT rows FROM docs, sliced.inspect(doc) WHERE id = 450")" '10
1' "... and stored anew by a conversion"
server_stop damage
