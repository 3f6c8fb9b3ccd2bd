#!/bin/bash
# What advise() says comes true: its SQL is executed, and the table takes what it said.
# Each choice of estimate() is as near.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start main autovacuum=off compute_query_id=on
has_statements=false
if as_user test -e "$("$PG_CONFIG" --sharedir)/extension/pg_stat_statements.control"; then
    server_stop main
    server_start main shared_preload_libraries=pg_stat_statements
    has_statements=true
fi
sql -f "$PGS_ROOT/test/t/advice/tables.sql" >/dev/null

# near NAME SAID IS: is what was said within 15 % of what is?
near() {
    if ((100 * $2 > 115 * $3 || 115 * $2 < 100 * $3)); then
        is "$2" "$3" "$1: $((100 * $2 / $3)) % of it was foretold"
    else
        is near near "$1: foretold within 15 %"
    fi
}

# topics TABLE: of what does it speak?
topics() { sql -c "SELECT string_agg(topic, ', ' ORDER BY topic COLLATE \"C\") FROM sliced.advise('$1')"; }

# ---- temporary files, once there were many ----
about_files() { sql -c "SELECT rel IS NULL, bytes_now > 1024 ^ 3, sql FROM sliced.advise() WHERE topic = 'temporary files'" 2>/dev/null; }
is "$(about_files)" "" "there were few temporary files"
sql -c "SET work_mem = '64kB'; WITH c AS MATERIALIZED (SELECT repeat(i::text, 1000000) AS w FROM generate_series(100, 480) i) SELECT count(length(w)) FROM c" >/dev/null
until [ "$(sql -c "SELECT temp_bytes > 1024 ^ 3 FROM pg_stat_database WHERE datname = 'postgres'")" = t ]; do sleep 0.1; done
is "$(about_files)" "t|t|ALTER DATABASE postgres SET sliced.temp_file_compression = 'auto';" "there were many"
sql -c "$(about_files | cut -d'|' -f3)"
is "$(about_files)" "" "they are compressed"
sql -c 'ALTER DATABASE postgres RESET ALL'
server_stop main
(
    tree_copy
    as_user rm "$PGS_TREE$("$PG_CONFIG" --pkglibdir)/sliced_spill.so"
    server_start main
    is "$(about_files)" "t|t|" "nothing can compress them"
    server_stop main
)
server_start main

# ---- each choice comes true ----
while read -r table dictionaries; do
    sql -F ' ' -c "SELECT codec, coalesce(level, 0), dictionary, coalesce(toast_tuple_target, 0), stored_bytes
        FROM sliced.estimate('$table') WHERE col IS NULL AND codec IS NOT NULL" </dev/null >"$PGS_TMP/choices"
    is "$(grep -c ' t ' "$PGS_TMP/choices")" "$dictionaries" "$table: choices with a dictionary"
    while read -r codec level dictionary target said; do
        options="compression=$codec"
        [ "$level" = 0 ] || options+=", level=$level"
        sql >/dev/null <<END
            SET client_min_messages = warning;
            DROP TABLE IF EXISTS other;
            CREATE TABLE other (LIKE $table INCLUDING STORAGE) USING sliced;
            ALTER TABLE other SET (toast_tuple_target = $((target > 0 ? target : 2032)));
            SELECT sliced.alter_table('other', '$options, dictionary=off');
            INSERT INTO other SELECT * FROM $table;
END
        [ "$dictionary" = f ] || sql >/dev/null <<END
            SELECT sliced.alter_table('other', '$options');
            SELECT sliced.train('other');
            VACUUM FULL other;
END
        near "$table, $codec $level, dictionary $dictionary, target $target" "$said" "$(sql -c "SELECT takes('other')")" </dev/null
    done <"$PGS_TMP/choices"
done <<'END'
documents 0
short 4
mixed 2
END

# ---- advice comes true ----
is "$(topics documents)" storage "documents that have much in common"
is "$(topics short)" 'short rows' "short ones"
is "$(topics logs)" storage "logs"
is "$(topics long)" storage "long logs"
is "$(topics seen)" storage "a materialized view"
is "$(topics various)" 'short rows, storage' "some long, some short"
is "$(sql -c 'SET sliced.dictionary = off' -c "SELECT sql ~ 'dictionary=auto' FROM sliced.advise('short')")" t "a setting forbids nothing that a label would say"
is "$(sql -c "SELECT topic, col, substring(advice FROM 'lz4.*shorter') FROM sliced.advise('external')")" \
    'external|body|lz4 would make them 1.8 times shorter' "values that may not be compressed, and could be"
is "$(topics random)" leave "nothing to compress"
is "$(topics numbers)" leave "nothing that is long"
is "$(topics nothing)" leave "an empty table"
is "$(topics no_values)" leave "a table without a toast relation"
is "$(sql -c "SELECT rel, topic FROM sliced.advise('parts') ORDER BY 1")" $'parts1|storage\nparts2|storage' "partitions"

# much that is empty, and what heap has left
is "$(sql -c "SELECT topic, bytes_then BETWEEN bytes_now / 5 AND bytes_now / 3 FROM sliced.advise('holes') WHERE topic = 'space'")" 'space|t' "much of it is empty"
is "$(topics bloated)" space "a table of heap's, half empty, and no smaller otherwise"
sql -c "SELECT sql, bytes_then FROM sliced.advise('bloated')" -F $'\t' >"$PGS_TMP/bloated"
sql -c "$(cut -f 1 "$PGS_TMP/bloated")"
near "VACUUM FULL of heap's" "$(cut -f 2 "$PGS_TMP/bloated")" "$(sql -c "SELECT takes('bloated')")"
is "$(sql -c "SELECT topic, sql FROM sliced.advise('adopted') WHERE topic = 'convert'")" "convert|CALL sliced.convert('public.adopted');" "values of heap's in an adopted table"
sql -c "CALL sliced.convert('adopted')" 2>/dev/null
is "$(topics adopted | grep -c convert)" 0 "none after convert()"

tables=$(sql -c "SELECT DISTINCT rel FROM sliced.advise() WHERE topic IN ('storage', 'short rows', 'external') ORDER BY 1")
is "$(grep -cE '^(documents|short|various|logs|long|mixed|seen|parts1|parts2|external|kept)$' <<<"$tables")" 11 "advice for all tables"
for table in $tables; do
    before=$(sql -c "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM $table t")
    sql -c "CREATE TABLE advice AS SELECT * FROM sliced.advise('$table') WHERE topic IN ('storage', 'short rows', 'external')"
    for topic in 'storage' 'short rows' 'external'; do
        sql -c "SELECT sql FROM advice WHERE topic = '$topic'" >"$PGS_TMP/do.sql"
        [ -s "$PGS_TMP/do.sql" ] || continue
        last=$topic
        if sql -f - <"$PGS_TMP/do.sql" >/dev/null 2>"$PGS_TMP/err"; then
            near "$table, $topic" "$(sql -c "SELECT bytes_then FROM advice WHERE topic = '$topic'")" "$(sql -c "SELECT takes('$table')")"
        else
            is "$(cat "$PGS_TMP/err")" "" "$table, $topic: its SQL runs"
        fi
    done
    sql -c 'DROP TABLE advice'
    is "$(sql -c "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM $table t")" "$before" "$table: rows are what they were"
    # once followed, it is not given again
    is "$(topics "$table" | grep -c "$last")" 0 "$table: that is done"
done

is "$(sql -c 'SET sliced.zstd_level = 1' -c "CREATE TABLE thorough AS
    SELECT string_agg('word' || i * j * 7919 % 997 || ' ' || left(md5((j % 50)::text), i * j % 9), '') AS t
    FROM generate_series(1, 30) i, generate_series(1, 4000) j GROUP BY i" \
    -c "SELECT substring(advice FROM '^zstd of level 9 '), substring(sql FROM 'compression=[^'']*') FROM sliced.advise('thorough') WHERE topic = 'storage'")" \
    'zstd of level 9 |compression=zstd, level=9' "a level above the usual one is named"

# ---- statements ----
if $has_statements; then
    sql >/dev/null <<'END'
        CREATE EXTENSION pg_stat_statements;
        CREATE TABLE asked (LIKE mixed INCLUDING STORAGE) USING heap;
        INSERT INTO asked SELECT i, log(i, 100), document(i, 100), noise(i, 10), 'b' FROM generate_series(1, 100) i;
        CREATE TABLE below (LIKE parts1) PARTITION BY RANGE (id);
        ALTER TABLE below ADD body text;
        CREATE TABLE below1 (body text, doc jsonb, id int);
        ALTER TABLE below ATTACH PARTITION below1 FOR VALUES FROM (0) TO (1000);
        INSERT INTO below SELECT id, doc, CASE id WHEN 1 THEN log(1, 1000) END FROM parts;
        CREATE TABLE only_read AS SELECT i AS id, log(i, 200) AS body FROM generate_series(1, 50) i;
        SELECT pg_stat_statements_reset();
        SELECT doc->>'name' FROM asked WHERE id = 1;
        SELECT doc->>'name' FROM asked WHERE id = 2;
        SELECT count(*) FROM (SELECT 1 FROM numbers n JOIN asked x USING (id) WHERE x.doc @> '{"id": 1}') y;
        UPDATE asked SET doc = jsonb_set(doc, '{id}', '0'), a = a || 'x' WHERE id < 3;
        UPDATE asked SET doc['id'] = '1' WHERE id < 3;
        SELECT doc FROM asked;
        SELECT substr(a, 5, 5) FROM asked WHERE id = 1;
        SELECT length(b) FROM asked;
        UPDATE below SET doc = doc - 'id' WHERE id = 1;
        SELECT doc->>'name' FROM below1 WHERE id = 2;
        UPDATE asked
            SET doc = jsonb_set(doc, '{id}', to_jsonb(repeat('x', 20000000))) WHERE id = 50;
        SET search_path = nowhere;
        SELECT pg_catalog.count(*) FROM public.asked;
END
    sql -c $'SELECT substr(body,\t5, 5)\r\nFROM only_read' >/dev/null
    is "$(sql -c "SELECT col, substring(advice FROM '^[^,]*') FROM sliced.advise('asked') WHERE topic = 'parts' ORDER BY 1")" \
        $'a|parts of values have been read once and changed once\ndoc|parts of values have been read 3 times and changed 3 times' "who reads or changes parts"
    is "$(sql -c "SELECT substring(advice FROM 'most of the time: (.{60})') FROM sliced.advise('asked') WHERE topic = 'parts' AND col = 'doc'")" \
        'UPDATE asked             SET doc = jsonb_set(doc, $1, to_jso' "the statement that took most time"
    is "$(sql -c "SELECT advice ~ ' (ms|s) and with [0-9.]+ [kMG]B of WAL;' FROM sliced.advise('asked') WHERE topic = 'parts' AND col = 'doc'")" \
        t "the WAL that changes took"
    is "$(sql -c "SELECT rel, col, substring(advice FROM '^[^,]*') FROM sliced.advise('below') WHERE topic = 'parts'")" \
        'below1|doc|parts of values have been read once and changed once' "partitions, where statements name the table"
    is "$(sql -c "SELECT advice ~ 'WAL', substring(advice FROM 'most of the time: (.*)') FROM sliced.advise('only_read') WHERE topic = 'parts'")" \
        'f|SELECT substr(body, $1, $2)  FROM only_read' "values that are only read"
    sql -c 'CREATE ROLE watcher IN ROLE pg_read_all_stats' -c 'GRANT SELECT ON only_read TO watcher'
    is "$(sql -c 'SET ROLE watcher' -c "SELECT count(*) FROM sliced.advise('only_read') WHERE topic = 'parts'")" 1 "who may see statements of others"
    is "$(sql -c "SELECT count(*) FROM sliced.advise('only_read', '1 microsecond') WHERE topic = 'parts'")" 0 "in no time"
    # statements of others are looked at, and nothing in them runs: here the input function of a domain's array
    sql <<'END'
        CREATE ROLE intruder;
        CREATE SCHEMA theirs AUTHORIZATION intruder;
        GRANT USAGE ON SCHEMA theirs TO PUBLIC;
        SET ROLE intruder;
        CREATE SEQUENCE theirs.calls;           -- it keeps its number when a transaction is rolled back
        GRANT USAGE ON theirs.calls TO PUBLIC;
        CREATE FUNCTION theirs.run(x int) RETURNS bool LANGUAGE plpgsql AS $f$
            BEGIN PERFORM nextval('theirs.calls'); RETURN true; END $f$;
        CREATE DOMAIN theirs.d AS int CHECK (theirs.run(value));
        CREATE TYPE theirs.pair AS (d theirs.d);
        WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i FROM r)
            CYCLE i SET c TO theirs._d '{1}' DEFAULT theirs._d '{2}' USING p SELECT count(*) FROM r;
        SELECT '(1)'::theirs.pair, '{3}'::theirs.d[];
END
    is "$(sql -c "SELECT count(*) FROM pg_stat_statements WHERE query LIKE '%CYCLE i SET c TO theirs._d ''{1}''%'" \
        -c 'ALTER SEQUENCE theirs.calls RESTART' -c "SELECT count(*) > 0 FROM sliced.advise('asked') WHERE topic = 'parts'" \
        -c 'SELECT length(sliced.report()) > 0' -c 'SELECT is_called FROM theirs.calls')" $'1\nt\nt\nf' "no code of others runs"
    is "$(sql -c 'BEGIN' -c "SELECT count(*) > 0 FROM sliced.advise('asked')" -c "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('asked'::regclass, 'below'::regclass)")" \
        $'t\nAccessShareLock' "nor is a lock kept that such a statement would take"
    # a statement that names what somebody has locked is left out, and nobody waits
    sql -c 'BEGIN' -c 'LOCK TABLE asked' -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
    while [ "$(sql -c "SELECT count(*) FROM pg_locks WHERE relation = 'asked'::regclass AND granted AND mode = 'AccessExclusiveLock'")" = 0 ]; do sleep 0.1; done
    is "$(sql -c "SELECT count(*) FROM sliced.advise('below') WHERE topic = 'parts'")" 1 "a locked table keeps nobody waiting"
    is "$(sql -c "SELECT count(*) FROM sliced.advise() WHERE rel = 'asked'" 2>&1 | tail -n 1)" 0 "nor when all are asked for"
    is "$(sql -c "SET statement_timeout = '60ms'" -c "SELECT count(*) FROM sliced.advise('below')" 2>&1 | head -n 1)" \
        'ERROR:  canceling statement due to statement timeout' "who may not wait so long is told"
    sql -c "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'asked'::regclass" >/dev/null
    wait || true
    # a use is of a table's own column, however often and wherever the statement has it
    sql -c 'CREATE UNIQUE INDEX ON asked (id)' -c 'SELECT pg_stat_statements_reset()' >/dev/null
    sql >/dev/null <<'END'
        SELECT doc->>'name', doc->>'id', doc['id'] FROM asked WHERE id = 1;
        SELECT (SELECT x.doc->>'name') FROM asked x WHERE id = 1;
        INSERT INTO asked (id, doc) SELECT 1000, doc->'id' FROM asked WHERE id = 2;
        DELETE FROM asked WHERE doc->>'name' = 'nobody';
        UPDATE asked SET doc = jsonb_set(doc || '{"x": 1}', '{y}', '2') WHERE id = 1;
        INSERT INTO asked (id, doc) VALUES (1, '{"z": 1}') ON CONFLICT (id) DO UPDATE SET doc = asked.doc || excluded.doc;
        MERGE INTO asked USING below1 s ON asked.id = s.id AND s.id = 1 WHEN MATCHED THEN UPDATE SET doc = asked.doc - 'z' WHEN NOT MATCHED THEN DO NOTHING;
        -- none of these uses a part of a column
        WITH c AS (SELECT doc FROM asked WHERE id = 1) SELECT doc->>'name' FROM c;
        SELECT count(*) FROM asked x JOIN asked y ON x = y AND x.ctid = y.ctid WHERE x.id = 1 AND (ARRAY[y.id])[1] = 1;
        UPDATE asked SET a = upper(a), doc = ('{"id": {}}'::jsonb || '{"x": 1}')['id'] WHERE id = 3;
END
    is "$(sql -c "SELECT col, substring(advice FROM '^[^,]*') FROM sliced.advise('asked') WHERE topic = 'parts' ORDER BY 1")" \
        'doc|parts of values have been read 4 times and changed 3 times' "uses of a column"
    is "$(sql -c 'SET pg_stat_statements.track = none' -c 'SELECT FROM pg_stat_statements_reset()' -c "SELECT count(*) FROM sliced.advise('only_read') WHERE topic = 'parts'")" 0 "there are no statements"
else
    echo "ok - # skip statements: this server has no pg_stat_statements"
fi

# ---- what other sessions have ----
sql -c 'CREATE TABLE busy USING sliced AS SELECT * FROM documents' -c 'CREATE INDEX ON long (id)'
toast_index=$(sql -c "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'busy')")
sql -c 'BEGIN' -c "REINDEX INDEX $toast_index" \
    -c 'REINDEX INDEX long_id_idx' -c "LOCK TABLE numbers IN SHARE MODE" -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
while [ "$(sql -c "SELECT count(*) FROM pg_locks WHERE relation = 'numbers'::regclass AND granted AND mode = 'ShareLock'")" = 0 ]; do sleep 0.1; done
is "$(sql -c "SET statement_timeout = '60s'; SET lock_timeout = '1h'; SELECT length(sliced.report('1 min')) > 0" 2>&1 | grep -v NOTICE | sort)" \
    $'WARNING:  table "public.busy" is left out: canceling statement due to lock timeout\nWARNING:  table "public.long" is left out: canceling statement due to lock timeout\nt' \
    "indexes that are being built keep nobody waiting"
is "$(sql -c "SET lock_timeout = '20ms'; SELECT sliced.report('1 min') ~ '2 tables were not looked at'" 2>/dev/null)" t "the page says what is missing"
sql -c "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'numbers'::regclass AND mode = 'ShareLock'" >/dev/null
wait || true
sql -c 'DROP TABLE busy'

sql -c 'CREATE TEMP TABLE temporary (id int, t text) USING sliced' -c 'CREATE TEMP TABLE other (t text) USING heap' -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
while [ "$(sql -c "SELECT count(*) FROM pg_class WHERE relname = 'other' AND relpersistence = 't'")" = 0 ]; do sleep 0.1; done
is "$(sql -c 'SELECT count(*) > 0 FROM sliced.columns' -c "SELECT count(*) FROM sliced.dictionaries WHERE rel ~ 'temporary'")" $'t\n0' "temporary tables of others are in no way"
theirs=$(sql -c "SELECT relnamespace::regnamespace FROM pg_class WHERE relname = 'temporary'")
is "$(sql -c "SELECT * FROM sliced.estimate('$theirs.temporary')" 2>&1; sql -c "SELECT * FROM sliced.verify('$theirs.other')" 2>&1)" \
    $'ERROR:  "temporary" is a temporary table of another session\nERROR:  "other" is a temporary table of another session' "and are not read"
sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'" >/dev/null
wait || true

# ---- options of columns stay in advised SQL ----
sql -c 'CREATE TABLE options (id int, t text) USING sliced' -c "SELECT sliced.alter_column('options', 't', 'toaster=plain, compression=pglz, dictionary=off')" \
    -c "INSERT INTO options SELECT i, (SELECT string_agg(md5((i * j % 500)::text), ' ') FROM generate_series(1, 200) j) FROM generate_series(1, 300) i" >/dev/null
is "$(sql -c "SELECT DISTINCT substring(sql FROM '''(toaster=[^'']*)''') FROM sliced.advise('options') WHERE topic = 'storage'")" \
    'toaster=plain, compression=zstd, dictionary=off' "options that the advice is not about, and no dictionary where it is off"
for dictionary in on auto; do
    sql -c "SELECT sliced.alter_column('options', 't', 'compression=pglz, dictionary=$dictionary')" >/dev/null
    is "$(sql -c "SELECT DISTINCT substring(sql FROM '''(comp[^'']*)''') FROM sliced.advise('options') WHERE topic = 'storage'")" "compression=zstd, dictionary=$dictionary" "dictionary=$dictionary"
done
sql >/dev/null <<'END'
CREATE TABLE unlike (id int, t text) USING sliced;
SELECT sliced.alter_column('unlike', 't', 'dictionary=auto');
INSERT INTO unlike SELECT i, log(i, 300) FROM generate_series(1, 100) i;
CREATE TABLE levels (id int, doc jsonb) USING sliced;
SELECT sliced.alter_column('levels', 'doc', 'compression=zstd, level=5');
INSERT INTO levels SELECT i, document(i, i % 15) FROM generate_series(1, 2000) i;
END
is "$(sql -c "SELECT substring(sql FROM '''(comp[^'']*)''') FROM sliced.advise('unlike') WHERE topic = 'storage'")" 'compression=zstd, dictionary=auto' "no dictionary that saves something"
is "$(sql -c "SELECT topic, substring(sql FROM '''(comp[^'']*)''') FROM sliced.advise('levels')")" 'short rows|compression=zstd, level=5, dictionary=auto' "a level that is not among those tried"

# ---- a value that is half as long as one can be ----
sql -c 'CREATE TABLE huge (t text) USING sliced' -c "INSERT INTO huge VALUES (repeat('x', 512 * 1024 * 1024))" -c 'CREATE ROLE reader' -c 'GRANT SELECT ON huge, long TO reader'
is "$(sql -c "SELECT topic, advice, sql FROM sliced.advise('huge') WHERE topic = 'limit'")" 'limit|a value has 512 MB: none can have more than 1 GB|' "it is near the limit"

# ---- damage, and time ----
damaged() { sql -c "SELECT count(*) > 0 FROM sliced.advise() WHERE rel = 'long'" 2>&1 | sed 's/value [0-9]*/value N/'; }
file=$(sql -c "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 'long'")
server_stop main
as_user dd if=/dev/zero of="$PGDATA/$file" bs=8192 count=1 conv=notrunc status=none
server_start main
is "$(damaged | grep -oE 'WARNING:  table "public.long" is left out|^f$')" $'WARNING:  table "public.long" is left out\nf' "a damaged table is named, the others have their advice"
is "$(sql -c 'SET ROLE reader' -c "SELECT r ~ '1 table was not looked at', r ~ 'a value has 512 MB' FROM sliced.report() r" 2>/dev/null)" 't|t' "the page says so, and has the limit"
began=$(date +%s%N)
sql -c "SELECT count(*) FROM sliced.advise('documents', '100 ms')" >/dev/null
is "$((($(date +%s%N) - began) / 1000000 < 5000))" 1 "it takes about as long as it may"

# ---- decoders, and what is preloaded ----
about_decoding() { sql "$@" -c "SELECT sql FROM sliced.advise(NULL, '100 ms') WHERE topic = 'decoding'" 2>/dev/null; }
server_stop main
server_start main wal_level=logical
preloaded=$(sql -c "SELECT coalesce(quote_literal(nullif(current_setting('shared_preload_libraries'), '')) || ', ', '')")
is "$(about_decoding)" "" "no slots"
sql -c "SELECT FROM pg_create_logical_replication_slot('slot', 'pgoutput')"
is "$(about_decoding)" "ALTER SYSTEM SET shared_preload_libraries = $preloaded'pg_sliced';  -- and restart the server" "libraries that are preloaded stay"
is "$(about_decoding -c 'SET sliced.logical_decoding = off')" "" "nobody decodes these tables"
is "$(about_decoding -c 'SET ROLE reader' -P null=NULL)" NULL "who may not see what is preloaded"
server_stop main
server_start main shared_preload_libraries=,
is "$(about_decoding -P null=NULL)" NULL "what is not understood"
server_stop main
