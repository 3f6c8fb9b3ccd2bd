#!/bin/bash
# Toasters that raise errors or return nonsense: a clear error that names them, and
# nothing stored depends on them.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

config=${PG_CONFIG:-pg_config}
gcc -O1 -g -fPIC -shared -I"$PGS_ROOT/src" -isystem "$("$config" --includedir-server)" \
    "$PGS_ROOT/test/t/toasters/hostile.c" -o "$PGS_TMP/hostile.so"

server_start hostile
sql <<SQL
CREATE EXTENSION pg_sliced;
CREATE EXTENSION hstore;
CREATE FUNCTION noise(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
    SELECT string_agg(md5(seed || '.' || i), '') FROM generate_series(1, n / 32) i \$\$;
CREATE TABLE t (id int, n int, j json, h hstore) USING sliced;
INSERT INTO t SELECT id, 0, json_build_object('a', noise(20000, 1), 'b', noise(20000, id), 'c', noise(20000, 2)), hstore('k', noise(20000, 3)) FROM generate_series(1, 2) id;
CREATE TABLE expected AS TABLE t;
SQL
different="SELECT count(*) FROM t FULL JOIN expected e USING (id) WHERE t.j::text IS DISTINCT FROM e.j::text OR t.h::text IS DISTINCT FROM e.h::text"

# with SYMBOL: json has this toaster, and no other.
with() {
    sql -c 'DROP FUNCTION IF EXISTS json_toaster(json)' -c 'DROP FUNCTION IF EXISTS hstore_toaster(hstore)' \
        -c "CREATE FUNCTION ${2:-json}_toaster(${2:-json}) RETURNS sliced.toaster_handler AS '$PGS_TMP/hostile.so', '$1' LANGUAGE C" 2>"$PGS_TMP/notices"
}

# refused SYMBOL STATEMENT ERROR [TYPE]: the statement ends in an error, the rows are what they were.
refused() {
    local got
    with "$1" "${4:-}"
    got=$(sql -c "$2" 2>&1 | grep -E '^(ERROR|CONTEXT|psql:.*ERROR)' | sed 's/^ERROR:  //; s/^CONTEXT:  //' || true)
    case $got in
        *"$3"*) echo "ok - $1: $(xargs -d '\n' <<<"$got")" ;;
        *) is "$got" "$3" "$1: $2" ;;
    esac
    sql -c 'DROP FUNCTION IF EXISTS json_toaster(json)' -c 'DROP FUNCTION IF EXISTS hstore_toaster(hstore)' 2>"$PGS_TMP/notices"
    is "$(sql -c "$different" -c "SELECT * FROM sliced.verify('t')")" 0 "$1: nothing has changed"
}

insert="INSERT INTO t SELECT 3, 0, json_build_object('a', noise(20000, 5))"
update="UPDATE t SET j = json_build_object('a', noise(20000, 1), 'new', noise(20000, 7), 'c', noise(20000, 2))"

# what a toaster's function returns is looked at before anything else
refused fails "$insert" 'out of luck
function json_toaster(json)'
for symbol in is_null is_nothing; do
    refused $symbol "$insert" 'function json_toaster(json) returned no toaster'
done
refused other_api "$insert" 'function json_toaster(json) returned a toaster for interface 99 of pg_sliced'
for symbol in no_swaps fewer_than_no_swaps swap_of_no_kind swap_without_name swap_of_nothing; do
    refused $symbol "$insert" 'function json_toaster(json) returned a toaster with impossible functions to exchange'
done
details() {
    for symbol in no_swaps fewer_than_no_swaps swap_of_no_kind swap_without_name swap_of_nothing cuts_overlap cuts_end_early cuts_of_no_region cuts_are_fewer_than_none cuts_cross; do
        with $symbol
        sql -c "$insert" 2>&1 | sed -n 's/^DETAIL:  //p'
    done
}
is "$(details)" '"nswaps" is 3, and "swaps" is NULL.
"nswaps" is -1, and "swaps" is not NULL.
"swaps[0].kind" is 77.
"swaps[0].ours" is NULL.
"swaps[0]" has neither "core" nor "theirs".
Cut 1 has 19010 bytes from 1000 on, and should begin at 2000.
The last cut ends at 20009.
Cut 1 is in region 2 of 2.
There are -1 cuts in -5 regions; at most 400 cuts, and no more regions, are possible.
Cut 3 is in region 1, which has ended: a region around it has gone on.' "messages name the member that is wrong"
sql -c 'DROP FUNCTION json_toaster(json)'

# who only reads does not need the toaster
reads() { sql -c "SELECT md5(j ->> 'a') = md5(noise(20000, 1)), h['k'] = noise(20000, 3) FROM t WHERE id = 1" 2>&1; }
for symbol in is_null is_nothing other_api no_swaps swap_of_no_kind validates; do
    with $symbol
    is "$(reads)" 't|t' "$symbol: reading goes on"
    with $symbol hstore
    is "$(reads)" 't|t' "$symbol: reading by subscripts goes on"
done
mv "$PGS_TMP/hostile.so" "$PGS_TMP/elsewhere.so"
is "$(reads)" 't|t' "without its library, reading goes on"
is "$(sql -c "$insert" 2>&1 | grep -o 'could not access file\|function hstore_toaster(hstore)' | head -n 1)" '' "without its library, other columns are written"
is "$(sql -c "UPDATE t SET h = hstore('k', noise(20000, 9))" 2>&1 | grep -o 'could not access file')" 'could not access file' "without its library, its columns are not"
mv "$PGS_TMP/elsewhere.so" "$PGS_TMP/hostile.so"
sql -c 'DELETE FROM t WHERE id = 3' -c 'DROP FUNCTION hstore_toaster(hstore)'
is "$(sql -c "$different")" 0 "nothing has changed"

column='toaster "json" of column "j" of table "t"'
for symbol in cuts_overlap cuts_leave_a_gap cuts_end_early cuts_go_beyond cuts_go_round cuts_of_no_region cuts_of_less_than_no_region cuts_of_a_billion_regions \
    cuts_of_negative_regions cuts_skip_a_region cuts_of_nothing cuts_are_nowhere cuts_are_fewer_than_none cuts_are_many cuts_cross; do
    refused $symbol "$insert" "bytes are not possible
$column"
done
refused cut_fails "$insert" "out of luck
$column"
# a value that is written anew because it has nothing of the old one; then all values
refused cuts_overlap "UPDATE t SET j = json_build_object('b', noise(30000, 9))" "$column"
refused cuts_overlap "VACUUM FULL t" "toaster \"json\" of column \"j\""

refused difference_is_none "$update" "a difference between two values does not lead to the new value
$column"
refused difference_is_wrong "$update" "a difference between two values does not lead to the new value
$column"
refused difference_of_another "$update" "a difference between two values does not lead to the new value
$column"
refused difference_goes_beyond "$update" "of a value of 60030 bytes
$column"
refused difference_looks_beyond "$update" "a toaster asks for bytes 10 to 4294967305 of a value of"
refused difference_fails "$update" "out of luck
$column"

# functions are named by themselves; the one of core has another argument since 18
change=$(sql -c "SELECT replace(oid::regprocedure::text, 'strip_nulls', 'change') FROM pg_proc WHERE proname = 'json_strip_nulls'")
wrong_function() {
    with swaps_functions
    sql -c 'DROP FUNCTION IF EXISTS json_text(json, text)' -c "DROP FUNCTION IF EXISTS $change" \
        -c "CREATE FUNCTION $2 AS '$PGS_TMP/hostile.so', '$1' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE" 2>"$PGS_TMP/notices"
    refused swaps_functions "$3" "$4"
}
wrong_function read_beyond 'json_text(json, text) RETURNS text' "SELECT j ->> 'a' FROM t" 'function json_text(json,text) asks for bytes'
wrong_function read_argument_before 'json_text(json, text) RETURNS text' "SELECT j ->> 'a' FROM t" 'function json_text(json,text) asks for the document in argument -1, and has 2'
wrong_function read_no_argument 'json_text(json, text) RETURNS text' "SELECT j ->> 'a' FROM t" 'function json_text(json,text) asks for the document in argument 5, and has 2'
wrong_function edit_beyond "$change RETURNS json" 'UPDATE t SET j = json_strip_nulls(j)' "function $change asks for bytes 1000000000 to 1000000001"
wrong_function edit_huge "$change RETURNS json" 'UPDATE t SET j = json_strip_nulls(j)' "function $change makes a value of"
wrong_function edit_of_another "$change RETURNS json" 'UPDATE t SET j = json_strip_nulls(j)' "function $change joins ropes of different values"

# results that differ, of functions that work like any others: sliced.check_toasters finds them
checked() { wrong_function "$1" "$2" "SET sliced.check_toasters = on; $3" "results of functions $4, of toaster \"json\", and $5 differ"; }
checked read_nothing 'json_text(json, text) RETURNS text' "SELECT j ->> 'a' FROM t" 'json_text(json,text)' 'json_object_field_text(json,text)'
checked read_something 'json_text(json, text) RETURNS text' "SELECT j ->> 'none' FROM t" 'json_text(json,text)' 'json_object_field_text(json,text)'
checked read_beginning 'json_kind(json) RETURNS text' 'SELECT json_typeof(j) FROM t' 'json_kind(json)' 'json_typeof(json)'
sql -c 'DROP FUNCTION json_kind(json)'
checked read_longer 'json_kind(json) RETURNS text' 'SELECT json_typeof(j) FROM t' 'json_kind(json)' 'json_typeof(json)'
sql -c 'DROP FUNCTION json_kind(json)'
checked read_one 'json_count(json) RETURNS int' 'SELECT json_array_length(json_build_array(id, j)) FROM t' 'json_count(json)' 'json_array_length(json)'
sql -c 'DROP FUNCTION json_count(json)'
checked edit_nothing "$change RETURNS json" 'UPDATE t SET j = json_strip_nulls(j)' "$change" "${change/change/strip_nulls}"
checked edit_first_byte "$change RETURNS json" 'UPDATE t SET j = json_strip_nulls(j)' "$change" "${change/change/strip_nulls}"
is "$(with swaps_functions; sql -c "BEGIN; UPDATE t SET j = json_strip_nulls(j); SELECT DISTINCT left(j::text, 1) FROM t; ROLLBACK")" '!' "without it a wrong change is stored"

sql -c "DROP FUNCTION $change" -c "CREATE FUNCTION $change RETURNS json AS '$PGS_TMP/hostile.so', 'edit_twice' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE"
is "$(with swaps_functions; sql -c "BEGIN; UPDATE t SET j = json_strip_nulls(j); SELECT bool_and(t.j::text = e.j::text || e.j::text) FROM t JOIN expected e USING (id); ROLLBACK")" t "a value twice, one behind the other, is no growth"

# the view says why a toaster, or an exchange, is no use
why() { with "$1"; sql -c "SELECT function, exchanged_by, works, why FROM sliced.toaster_functions WHERE type = 'json'::regtype"; }
is "$(why fails)" '||f|out of luck' "fails: the view"
is "$(why is_null)" '||f|function json_toaster(json) returned no toaster' "is_null: the view"
is "$(why other_api)" '||f|function json_toaster(json) returned a toaster for interface 99 of pg_sliced, which has interface 1' "other_api: the view"
is "$(why swap_without_name)" '||f|function json_toaster(json) returned a toaster with impossible functions to exchange: "swaps[0].ours" is NULL.' "swap_without_name: the view"
sql -c "CREATE FUNCTION json_text(json, text) RETURNS text AS '$PGS_TMP/hostile.so', 'read_by_core' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE"
is "$(why swaps_twice)" 'json_object_field_text(json,text)|no_such|f|schema public has no function no_such(json, text)
json_object_field_text(json,text)|json_text(json,text)|t|
json_object_field_text(json,text)|json_text(json,text)|f|json_text(json,text) takes the place of json_object_field_text(json,text) already
no_such|json_text|f|schema pg_catalog has no function no_such
4294967295|json_text|f|there is no function with OID 4294967295
count("any")|json_text|f|count("any") is an aggregate, a window function or a procedure' "swaps_twice: the view"
# what toasters get of us: documents, and other toasters
sql -c "CREATE FUNCTION has_document(json) RETURNS bool AS '$PGS_TMP/hostile.so', 'has_document' LANGUAGE C" \
    -c "CREATE FUNCTION finds_toasters(regclass) RETURNS bool AS '$PGS_TMP/hostile.so', 'finds_toasters' LANGUAGE C STRICT"
is "$(sql -c "SELECT md5(j ->> 'a') = md5(noise(20000, 1)), has_document(j), has_document('{}'), has_document(NULL) FROM t WHERE id = 1" \
    -c 'CREATE TABLE two (id int, t text) USING sliced' -c "SELECT finds_toasters('two')" -c "SELECT sliced.alter_column('two', 't', 'toaster=plain')" -c "SELECT finds_toasters('two')" -c 'DROP TABLE two')" \
    $'t|t|f|f\nt\n\nf' "documents and toasters are what they are"
# a column's label is refused by its toaster
with validates
is "$(sql -c 'CREATE TABLE two (id int, j json, k json) USING sliced' -c 'ALTER TABLE two ALTER k SET STORAGE EXTERNAL' -c "SELECT sliced.alter_column('two', 'j', 'toaster=json')" \
    -c "SELECT sliced.alter_column('two', 'k', 'toaster=json')" 2>&1 | sed -n 's/.*ERROR: *//p'; sql -c "SELECT label FROM pg_seclabels WHERE objoid = 'two'::regclass" -c 'DROP TABLE two')" \
    $'json with this storage is not for me\ntoaster=json' "validates: a label is refused"
# all that is remembered of toasters goes while one is being loaded
with changes_all
is "$(sql -c "BEGIN; $insert; $update WHERE id = 3; SELECT md5(j ->> 'new') = md5(noise(20000, 7)), h['k'] FROM t WHERE id = 3; SELECT count(*) FROM sliced.toaster_functions WHERE type = 'json'::regtype; ROLLBACK" 2>&1)" $'t|\n0' "changes_all: rows are written and read"
mv "$PGS_TMP/hostile.so" "$PGS_TMP/elsewhere.so"
is "$(sql -c "SELECT works, why FROM sliced.toaster_functions WHERE type = 'json'::regtype")" 'f|the library of function json_toaster(json) is missing' "without its library: the view"
mv "$PGS_TMP/elsewhere.so" "$PGS_TMP/hostile.so"
sql -c 'DROP FUNCTION json_toaster(json)' -c 'DROP FUNCTION json_text(json, text)' -c "DROP FUNCTION $change"

refused subscript_fails "SELECT h['k'] FROM t" 'out of luck
toaster "hstore"' hstore
refused subscript_is_no_call "SELECT h['k'] FROM t" 'a call that is to take the place of an expression is not what was offered
toaster "hstore"' hstore
refused subscript_is_of_another_type "SELECT h['k'] FROM t" 'a call that is to take the place of an expression is not what was offered
toaster "hstore"' hstore
refused subscript_is_anything "SELECT h['k'] FROM t" 'a call that is to take the place of an expression is not what was offered
toaster "hstore"' hstore
[ "$PG_MAJOR" -lt 16 ] || refused document_is_anything "SELECT j IS JSON OBJECT FROM t" 'a call that is to take the place of an expression is not what was offered
toaster "json"'

# functions that are not in C only claim the type, and are none
sql -c "CREATE FUNCTION json_toaster(json) RETURNS sliced.toaster_handler LANGUAGE sql AS 'SELECT NULL::sliced.toaster_handler'" \
    -c "CREATE FUNCTION other_toaster(json) RETURNS sliced.toaster_handler LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
is "$(sql -c "SELECT count(*) FROM sliced.toasters WHERE type = 'json'::regtype" -c "BEGIN; $insert; SELECT md5(j::text) FROM t WHERE id = 3; $update WHERE id = 3; SELECT length(j::text) FROM t WHERE id = 3; ROLLBACK")" \
    "$(sql -c 'SELECT 0' -c "SELECT md5(json_build_object('a', noise(20000, 5))::text)" -c "SELECT length(json_build_object('a', noise(20000, 1), 'new', noise(20000, 7), 'c', noise(20000, 2))::text)")" \
    "functions in SQL and PL/pgSQL are no toasters"
sql -c 'DROP FUNCTION json_toaster(json)' -c 'DROP FUNCTION other_toaster(json)'

# of what was written with a toaster everything is there without it
with cuts_are_sound
sql -c "$insert" -c "INSERT INTO expected SELECT * FROM t WHERE id = 3"
is "$(sql -c "SELECT bool_or(codec = 'node') FROM t, sliced.inspect(j) WHERE id = 3")" t "a toaster's order is kept in the value"
with cuts_enclose
sql -c "UPDATE t SET j = (j::text || ' ')::json WHERE id = 3" -c "UPDATE t SET j = rtrim(j::text)::json WHERE id = 3" -c "INSERT INTO t SELECT 4, 0, j::text::json FROM t WHERE id = 3" -c "INSERT INTO expected SELECT * FROM t WHERE id = 4"
sql -c 'DROP FUNCTION json_toaster(json)'
is "$(sql -c "$different" -c "SELECT * FROM sliced.verify('t')")" 0 "and read without the toaster"
sql -c 'VACUUM FULL t'
is "$(sql -c "$different" -c "SELECT * FROM sliced.verify('t')")" 0 "VACUUM FULL writes it without"
server_stop hostile
