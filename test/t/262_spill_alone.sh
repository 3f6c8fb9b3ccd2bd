#!/bin/bash
# sliced_spill without pg_sliced, beside it in any order, and pg_sliced without it: who has the
# setting and from where, what plans and rows are, and whose statistics are kept.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

restart() { server_stop main; server_start main "$@"; }
library() { echo "SELECT strpos(pg_read_file('/proc/self/maps'), '/$1.so') > 0"; }
little="SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET enable_mergejoin = off; SET enable_nestloop = off"
query='SELECT count(*), sum(length(a.w) + length(b.w)) FROM a JOIN b USING (k)'
# keys that pg_sliced reads, below nodes of ours
documents="SELECT count(*), sum((x.doc->>'n')::int + y.id), max(y.doc->>'t') FROM docs x JOIN docs y ON x.doc->'k' = y.doc->'k'"
groups="SELECT count(*), sum(n) FROM (SELECT doc->>'t' AS t, count(doc->'n') AS n FROM docs GROUP BY 1 ORDER BY 1 OFFSET 0) q"
update="UPDATE docs SET doc = jsonb_set(doc, '{n}', to_jsonb(a.id + 1)) FROM a WHERE a.id = docs.id"
read="SELECT sum(slices_read) FROM sliced.stat_tables"
# spills STATEMENT...: how many nodes of ours are in the plan of the last one?
spills() {
    local options=()
    for statement in "$little" "${@:1:$#-1}" "EXPLAIN ${*: -1}"; do options+=(-c "$statement"); done
    sql "${options[@]}" | grep -cE 'Custom Scan .Sliced (Spill|Spill Groups|Spill Runs)'
}

# ---- what the libraries show each other ----
so=$PGS_TREE$("$PG_CONFIG" --pkglibdir)/sliced_spill.so
# a build that counts coverage shows gcov's
is "$(nm -D --defined-only "$so" | awk '{ print $3 }' | grep -vE '^(Pg_magic_func|_PG_init|(pg_finfo_)?sliced_spill_[a-z_]+|__gcov_[a-z_]+|mangle_path)$')" "" "no function is seen that another library may have"

# ---- alone ----
server_start main autovacuum=off parallel_setup_cost=0 parallel_tuple_cost=0 min_parallel_table_scan_size=0
sql <<'END'
CREATE TABLE a AS SELECT i AS id, i % 2000 AS k, repeat(md5(i::text), 3) AS w FROM generate_series(1, 8000) i;
CREATE TABLE b AS SELECT i AS id, i % 3000 AS k, repeat(md5(i::text), 3) AS w FROM generate_series(1, 8000) i;
ANALYZE a, b;
CREATE ROLE ann LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ann;
END
expected=$(sql -c "$query")
set_it="SET sliced.temp_file_compression = lz4"
is "$(sql -c "LOAD 'sliced_spill'" -c "$set_it" -c "$little" -c "$query" -c "$(library pg_sliced)")" "$expected"$'\nf' "LOAD: the join is right, and pg_sliced is not loaded"
is "$(spills "LOAD 'sliced_spill'" "$set_it" "$query")" 1 "LOAD: it spills"
is "$(spills "$set_it" "$query" || true)" 0 "not loaded: the setting is as good as any"
restart shared_preload_libraries=sliced_spill sliced.temp_file_compression=lz4
is "$(sql -c "$little" -c "$query" -c "$(library pg_sliced)")" "$expected"$'\nf' "preloaded: the join is right"
is "$(spills "$query")" 1 "preloaded: it spills"
sql -c 'CREATE EXTENSION sliced_spill'
is "$(sql -c 'SELECT node, spills > 0 FROM sliced_spill.stat_temp_files')" "hash join|t" "statistics are those of sessions before"

# ---- with pg_sliced, in any order ----
sql <<'END'
CREATE EXTENSION pg_sliced;
CREATE TABLE docs (id int, doc jsonb) USING sliced WITH (parallel_workers = 0);
INSERT INTO docs SELECT i, jsonb_build_object('k', 'key' || i % 700, 'n', i, 't', 'text' || i % 900, 'w', (SELECT jsonb_agg(md5((i * j)::text)) FROM generate_series(1, 600) j))
    FROM generate_series(1, 2000) i;
ANALYZE docs;
GRANT SELECT ON docs TO ann;
END
restart shared_preload_libraries= sliced.temp_file_compression=off
other=$(sql -c 'SELECT FROM sliced.stat_reset()' -c "$documents" -c "$groups")
slices=$(sql -c "$read")
for first in 'pg_sliced, sliced_spill' 'sliced_spill, pg_sliced' pg_sliced; do
    restart shared_preload_libraries="$first" sliced.temp_file_compression=lz4
    is "$(sql -c 'SHOW sliced.temp_file_compression' -c "SELECT source FROM pg_settings WHERE name = 'sliced.temp_file_compression'")" \
        $'lz4\nconfiguration file' "preload $first: it is set"
    is "$(sql -c 'SELECT FROM sliced.stat_reset()' -c "$little" -c "$query" -c "$documents" -c "$groups")" "$expected"$'\n'"$other" "preload $first: rows are right"
    is "$(sql -c "$read")" "$slices" "preload $first: no more of documents is read"
    is "$(sql -c 'SELECT FROM sliced.stat_reset()' -c "$little" -c BEGIN -c "$update" -c ROLLBACK -c 'SELECT changed, replaced, anew_short, anew_new FROM sliced.stat_columns')" \
        "2000|0|0|0" "preload $first: an update writes what it changes"
    is "$(spills "$query") $(spills "$documents") $(spills "$groups") $(spills "$update")" "1 1 1 1" "preload $first: it spills"
    is "$(sql -c 'SELECT * FROM sliced.verify($$docs$$)')" "" "preload $first: verify finds nothing"
done
for first in "LOAD 'pg_sliced'; LOAD 'sliced_spill'" "LOAD 'sliced_spill'; LOAD 'pg_sliced'" "LOAD 'pg_sliced'" "SELECT count(doc->'k') > 0 FROM docs"; do
    restart shared_preload_libraries= sliced.temp_file_compression=off
    is "$(sql -c "$first" -c "$set_it" -c "$little" -c "$query" -c "$documents" -c "$groups" | tail -n 3)" "$expected"$'\n'"$other" "$first: rows are right"
    is "$(spills "$first" "$set_it" "$query") $(spills "$first" "$set_it" "$documents")" "1 1" "$first: it spills"
done
is "$(as_user grep -c 'invalid configuration parameter' "$PGDATA/../log")" 0 "nothing was said of the setting"

# ---- settings of a database and of a role ----
for preload in '' pg_sliced 'pg_sliced, sliced_spill'; do
    restart shared_preload_libraries="$preload"
    sql -c "ALTER DATABASE postgres SET sliced.temp_file_compression = 'lz4'" -c "ALTER ROLE ann SET sliced.temp_file_compression = 'zstd'"
    use="SELECT count(doc->'k') FROM docs"
    is "$(sql -c "$use" -c 'SHOW sliced.temp_file_compression'; sql -U ann -c "$use" -c 'SHOW sliced.temp_file_compression' -c "SET sliced.temp_file_compression = 'pglz'" -c 'SHOW sliced.temp_file_compression')" \
        $'2000\nlz4\n2000\nzstd\npglz' "of a database and a role, preload '$preload'"
    is "$(spills "$use" "$query")" 1 "it spills, preload '$preload'"
    sql -c 'ALTER DATABASE postgres RESET ALL' -c 'ALTER ROLE ann RESET ALL'
done
sql -c "ALTER DATABASE postgres SET session_preload_libraries = 'sliced_spill'" -c "ALTER DATABASE postgres SET sliced.temp_file_compression = 'auto'"
for preload in '' pg_sliced; do
    restart shared_preload_libraries="$preload"
    is "$(sql -c 'SHOW sliced.temp_file_compression'; spills "$query")" $'auto\n1' "session_preload_libraries, preload '$preload'"
done
sql -c 'ALTER DATABASE postgres RESET ALL'
is "$(as_user grep -c 'invalid configuration parameter' "$PGDATA/../log")" 0 "nothing was said of the setting"

# ---- statistics of more databases than there is room for ----
restart shared_preload_libraries=sliced_spill sliced.temp_file_compression=lz4
counted() { sql -d "$1" -c 'SELECT count(*) FROM sliced_spill.stat_temp_files'; }
is "$(counted postgres)" 0 "numbers go with the server"
sort='SELECT count(w) FROM (SELECT md5(i::text) AS w FROM generate_series(1, 5000) i ORDER BY 1 OFFSET 0) q'
sql -c 'CREATE DATABASE d1'
sql -d d1 -c 'CREATE EXTENSION sliced_spill' -c "$little" -c "$sort" >/dev/null
for i in $(seq 2 33); do
    sql -c "CREATE DATABASE d$i TEMPLATE d1"
    sql -d "d$i" -c "$little" -c "$sort" >/dev/null
    sql -d d2 -c "$little" -c "$sort" >/dev/null
done
is "$(counted d1) $(counted d2) $(counted d3) $(counted d33)" "0 1 1 1" "the one that has not spilled for the longest time is forgotten"
is "$(sql -d d2 -c 'SELECT spills FROM sliced_spill.stat_temp_files'; sql -d d3 -c 'SELECT spills FROM sliced_spill.stat_temp_files')" $'33\n1' "others are not"
sql -d d1 -c 'SELECT FROM sliced_spill.stat_reset()'
is "$(counted d2) $(counted d3) $(counted d33)" "1 1 1" "nor if that one is reset"
server_stop main

# ---- a session on its own, with no other to share with ----
is "$(printf '%s\n' "LOAD 'sliced_spill'" "SET work_mem = '64kB'" "$set_it" "$sort" 'SELECT FROM sliced_spill.stat_reset()' 'SELECT node FROM sliced_spill.stat_temp_files' |
    as_user "$PGS_BINDIR/postgres" --single -D "$PGDATA" d2 2>/dev/null | grep -oE '(count|node) = "[^"]*"')" 'count = "5000"' "on its own: it spills, and counts nothing"

# ---- pg_sliced, where sliced_spill is not installed ----
tree_copy
as_user rm "$PGS_TREE$("$PG_CONFIG" --pkglibdir)/sliced_spill.so"
server_start main shared_preload_libraries=pg_sliced sliced.temp_file_compression=lz4
is "$(sql -c "$documents" -c "$groups")" "$other" "not installed: rows are right"
is "$(as_user grep -c 'WARNING:  invalid configuration parameter name "sliced.temp_file_compression"' "$PGDATA/../log")" 1 "not installed: the log says so"
is "$(sql -v ON_ERROR_STOP=0 -v VERBOSITY=sqlstate -c "$set_it" 2>&1)" "ERROR:  42602" "not installed: it cannot be set"
server_stop main
