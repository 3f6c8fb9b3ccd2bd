#!/bin/bash
# The extensions in a directory of their own, as an image of extensions is mounted, beside
# a server that has none of them: they are found, preloaded or not, by workers, and when
# a dump is restored.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

[ "$PG_MAJOR" -ge 18 ] || {
    echo "# skipped: PostgreSQL $PG_MAJOR looks for extensions in one place only"
    exit
}
tree_copy
mounted=$PGS_TMP/extensions/sliced
as_user "$PGS_ROOT/packaging/extension_files" "$PGS_TREE" "$PG_CONFIG" "$mounted"
for dir in "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)/extension"; do
    rm -f "$PGS_TREE$dir"/pg_sliced* "$PGS_TREE$dir"/sliced_*
done

server_start main
is "$(sql -c 'CREATE EXTENSION pg_sliced' 2>&1 | grep -c 'is not available')" 1 "the server has none of them"
server_stop main
server_start main extension_control_path="\$system:$mounted/share" dynamic_library_path="\$libdir:$mounted/lib"
is "$(sql -c "SELECT name, default_version FROM pg_available_extensions WHERE name ~ 'sliced' ORDER BY 1")" \
    $'pg_sliced|1.0\nsliced_hstore|1.0\nsliced_spill|1.0' "they are available"
sql >"$PGS_TMP/said" 2>&1 <<'END'
CREATE EXTENSION pg_sliced;
CREATE EXTENSION sliced_hstore CASCADE;
CREATE EXTENSION sliced_spill;
CREATE TABLE docs (id int, body text, pairs hstore) USING sliced;
INSERT INTO docs SELECT 1, string_agg(md5(i::text), ''), hstore(array_agg(i::text), array_agg(md5(i::text))) FROM generate_series(1, 9999) i;
UPDATE docs SET body = body || 'x', pairs['8'] = 'newer';
CREATE TABLE old (id int, body text);
INSERT INTO old SELECT i, repeat(md5(i::text), 99) FROM generate_series(1, 2000) i;
SELECT sliced.adopt('old');
CALL sliced.convert('old');
END
read_all="SELECT length(body), pairs->'8', pairs->'9' = md5('9') FROM docs; SELECT count(*), sum(length(body)) FROM old"
expected=$'319969|newer|t\n2000|6336000'
is "$(sql -c "$read_all")" "$expected" "values are changed and read"
is "$(sql -c "SELECT count(*) FROM sliced.verify('docs') UNION ALL SELECT count(*) FROM sliced.verify('old')" 2>"$PGS_TMP/notices")" \
    $'0\n0' "nothing is damaged"

server_stop main
server_start main shared_preload_libraries=pg_sliced,sliced_spill \
    parallel_setup_cost=0 parallel_tuple_cost=0 min_parallel_table_scan_size=0
is "$(sql -c "$read_all" -c "SELECT count(*) FROM sliced.decoding" -c 'SHOW sliced.temp_file_compression')" \
    "$expected"$'\n0\noff' "they are preloaded, and workers find them"
as_user "$PGS_BINDIR/pg_dump" >"$PGS_TMP/dump"
sql -c 'CREATE DATABASE restored'
sql -d restored -f "$PGS_TMP/dump" >/dev/null
is "$(sql -d restored -c "$read_all")" "$expected" "a dump is restored"
