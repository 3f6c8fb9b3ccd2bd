#!/bin/bash
# Bytes are changed on their pages, one at a time: those of rows of the toast relation, with the
# checksum as it was (damage) or made right (forgery), and those of pointers to them.  Each time
# the value is read whole and in parts, changed, replaced, deleted, rewritten and verified.
#
# Damage must lead to the right data or an error that names the value.  Forged bytes may lead to
# other data.  Nothing may crash the server, take long, or take much memory.
#
# THIN=N changes one in N bytes of headers (6); FULL=1 every byte, also of what is compressed, which takes hours.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/bytes/functions.sh"

thin=${THIN:-6} step=2003 slow=60 times=1
[ -z "${FULL:-}" ] || thin=1 step=1 slow=20 times=8

# Nobody needs more than this of address space, in kB; a pointer alone may say 1 GB, as in heap.
(
    ulimit -v 2500000
    server_start flips shared_buffers=64MB autovacuum=off restart_after_crash=off log_min_messages=log log_min_error_statement=panic \
        client_min_messages=error statement_timeout=600s
)
server_use flips
sql -c 'CREATE EXTENSION sliced_hstore CASCADE' 2>/dev/null
bytes_install
is "$(sql -c "SELECT name FROM sliced.toasters WHERE type = 'hstore'::regtype")" hstore "contrib's toaster is there"
sql <"$PGS_ROOT/test/t/bytes/values.sql"
sql <"$PGS_ROOT/test/t/bytes/flips.sql"
is "$(sql -c 'CALL get_chunks()' -c "SELECT form, answer FROM queries WHERE answer ~ '^[0-9A-Z]{5} ' OR verify AND answer <> 'false'")" "" \
    "what is tried succeeds before anything is changed"

# survives NAME COMMAND...: if not, the server's log says what was changed last
survives() {
    local name=$1
    shift
    if "$@" >"$PGS_TMP/out" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        { tail -n 5 "$PGS_TMP/out"; as_user grep ' LOG:  form ' "$PGS_TMP/flips/log" | tail -n 1; } | sed 's/^/# /'
        server_stop flips immediate || true
        exit
    fi
}

for mode in damaged forged; do
    survives "bytes are $mode" sql -c "SET client_min_messages = error" -c "DO \$\$ DECLARE form int; BEGIN
        FOR form IN SELECT id FROM forms ORDER BY id LOOP CALL flip_chunks(form, '$mode', $thin, $step, $slow); COMMIT; END LOOP; END \$\$"
    is "$(sql -c "SELECT form, flip, query, got FROM wrong WHERE mode = '$mode' ORDER BY form LIMIT 10")" "" "$mode: the right data, or the right error"
done
# A pointer may call anything compressed; heap, which copies it, has an assertion that it is.
if [ "$(sql -c 'SHOW debug_assertions')" = off ]; then
    survives "pointers are changed" sql -c "DO \$\$ DECLARE form int; BEGIN
        FOR form IN SELECT id FROM forms ORDER BY id LOOP CALL flip_pointer(form, $times); COMMIT; END LOOP; END \$\$"
    is "$(sql -c "SELECT form, flip, query, got FROM wrong WHERE mode = 'pointer' ORDER BY form LIMIT 10")" "" "pointers: no wrong error"
else
    echo "ok - pointers are changed # SKIP assertions"
fi

# Growth, on the top level of transactions.
for mode in damaged forged; do
    sql -c "SELECT growth_script(id, '$mode', $thin) FROM forms WHERE name ~ '^grown'" >"$PGS_TMP/growth.sql"
    sql -v ON_ERROR_STOP=0 -v VERBOSITY=verbose <"$PGS_TMP/growth.sql" >"$PGS_TMP/growth" 2>&1 || true
    expected='XX001|25P02|22021'
    # forged bytes may say that a newer release has written them
    [ "$mode" = damaged ] || expected="$expected|0A000"
    is "$([ "$mode" = forged ] || grep -x f "$PGS_TMP/growth")$(grep '^ERROR' "$PGS_TMP/growth" | grep -vE "^ERROR:  ($expected): " | sort | uniq -c)" "" \
        "values with $mode bytes grow, or do not"
    sql -c "INSERT INTO counts VALUES ('$mode', $(grep -c BEGIN "$PGS_TMP/growth.sql"), $(wc -l <"$PGS_TMP/growth.sql"), $(grep -c XX001 "$PGS_TMP/growth"))"
done

# Heap does not look into what it stores: such documents can be copied, and replace others.
sql <<'SQL'
CREATE TABLE broken (id int, v jsonb) USING heap;
ALTER TABLE broken ALTER v SET STORAGE external;
INSERT INTO broken SELECT 1, document(3);
CREATE TABLE broken_copy (LIKE broken INCLUDING STORAGE) USING heap;
CREATE TABLE broken_here (id int, v jsonb) USING sliced;
SQL
for header in 09000020 ffffff2f ffffff4f 0000002f; do
    # the first row of the toast relation: header, chunk_id, chunk_seq, length, and the document
    sql -c "SELECT row_poke(reltoastrelid, '(0,1)', 24 + 4 + 4 + 4, '\\x$header') FROM pg_class WHERE oid = 'broken'::regclass" >/dev/null
    is "$(sql -c 'TRUNCATE broken_here, broken_copy' -c 'INSERT INTO broken_here SELECT * FROM broken' -c "UPDATE broken_here SET v = document(4)" \
        -c 'UPDATE broken_here SET v = broken.v FROM broken' -c 'VACUUM FULL broken_here' -c 'INSERT INTO broken_copy SELECT * FROM broken_here' \
        -c "SELECT kind FROM sliced.verify('broken_here')" \
        -c "SELECT substr(row_bytes(a.reltoastrelid, '(0,1)'), 37) = substr(row_bytes(b.reltoastrelid, '(0,1)'), 37)
            FROM pg_class a, pg_class b WHERE a.oid = 'broken'::regclass AND b.oid = 'broken_copy'::regclass" 2>&1 || true)" \
        t "a document that is none, root $header"
done

# Everything is as it was; and with a byte of each table changed, VACUUM does its work.
is "$(sql -c 'SELECT DISTINCT form, query FROM (SELECT form, look AS query, answer, attempt(change, look) AS now FROM queries) q WHERE now IS DISTINCT FROM answer')" "" \
    "afterwards everything is as it was"
sql -c "SELECT row_poke(toast_of(form), min(place), length(row_bytes(toast_of(form), min(place))) - 1, '\\x55') FROM chunks GROUP BY form" >/dev/null
sql -c "SELECT format('VACUUM form_%s;', id) FROM forms" >"$PGS_TMP/vacuum.sql"
survives "VACUUM of damaged values" sql <"$PGS_TMP/vacuum.sql"
is "$(sql -c "SELECT count(*) > 0 FROM forms, LATERAL sliced.verify(('form_' || id)::regclass)")" t "verify finds them"
sql -c "SELECT '# ' || mode || ': ' || sum(flips) || ' changes, ' || sum(statements) || ' statements, ' || sum(errors) || ' errors'
    FROM counts GROUP BY mode ORDER BY mode" \
    -c "SELECT '# processor time: ' || (s[16]::int + s[17]::int) / 100 || ' s' FROM string_to_array(pg_read_file('/proc/'
        || split_part(pg_read_file('postmaster.pid'), E'\\n', 1) || '/stat'), ' ') s" \
    -c "SELECT '# memory: ' || (regexp_match(pg_read_file('/proc/self/status'), 'VmPeak:\\s*(\\d+ kB)'))[1]"
server_stop flips
