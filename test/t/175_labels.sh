#!/bin/bash
# Labels survive dumps in all formats, pg_upgrade, and DROP EXTENSION; sessions
# that have not loaded the library can set them.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

labels='SELECT objtype, objname, label FROM pg_seclabels WHERE provider = $$sliced$$ ORDER BY 1, 2'
holds='SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns ORDER BY rel::text, col'
contents='SELECT md5(string_agg(p::text, $$,$$ ORDER BY id)) FROM parts p UNION ALL SELECT md5(string_agg(p::text, $$,$$ ORDER BY id)) FROM plain p'
stored='SELECT DISTINCT p.tableoid::regclass, i.codec FROM parts p, sliced.inspect(doc) i WHERE raw_bytes > 5000 AND id < 20 ORDER BY 1'
as_labelled='parts1|zstd
parts2|pglz'

server_start labels client_min_messages=warning
sql -c 'CREATE DATABASE one'
# the partitioned table sorts before all sliced ones, so its label is the first that is restored
sql -d one <<'END'
CREATE EXTENSION pg_sliced;
SET default_table_access_method = sliced;
CREATE TABLE parts (id int, doc jsonb, body text) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE TABLE parts3 PARTITION OF parts FOR VALUES FROM (20) TO (30) USING heap;
CREATE TABLE plain (id int, v text COMPRESSION pglz, w text);
INSERT INTO parts SELECT i, jsonb_build_object('a', string_agg(repeat(md5((i + n)::text), 3), ''), 'b', repeat('long', 9000)), i
    FROM generate_series(0, 29) i, generate_series(1, 300) n GROUP BY i;
CREATE MATERIALIZED VIEW m AS SELECT * FROM parts;
SECURITY LABEL FOR sliced ON TABLE parts IS 'compression=zstd, level=6';
SECURITY LABEL FOR sliced ON COLUMN parts2.doc IS 'compression=pglz, toaster=plain';
SECURITY LABEL FOR sliced ON COLUMN plain.w IS 'level=2';
SECURITY LABEL FOR sliced ON MATERIALIZED VIEW m IS 'compression=none';
-- what could not be set now: the toaster is gone, the type another one, the table a heap
CREATE FUNCTION other_toaster(text) RETURNS sliced.toaster_handler AS '$libdir/pg_sliced', 'sliced_text_toaster' LANGUAGE C;
SECURITY LABEL FOR sliced ON COLUMN plain.v IS 'toaster=other';
SECURITY LABEL FOR sliced ON TABLE plain IS 'toaster=other';
INSERT INTO plain SELECT id, doc->>'a', doc->>'b' FROM parts;
DROP FUNCTION other_toaster;
SECURITY LABEL FOR sliced ON COLUMN parts3.body IS 'level=9';
CREATE TABLE changed (v text, w jsonb);
SECURITY LABEL FOR sliced ON COLUMN changed.v IS 'compression=pglz';
SECURITY LABEL FOR sliced ON COLUMN changed.w IS 'toaster=jsonb';
ALTER TABLE changed ALTER v TYPE int USING 1, ALTER w TYPE text;
END
all_labels=$(sql -d one -c "$labels")
all_holds=$(sql -d one -c "$holds")
all_contents=$(sql -d one -c "$contents")
is "$(wc -l <<<"$all_labels")" 9 "labels to begin with"

# check NAME OUTPUT: is database "two" like "one", were there no errors, and are values stored as labels say?
check() {
    is "$(sql -d two -c "$labels")" "$all_labels" "$1: labels"
    is "$(sql -d two -c "$holds")" "$all_holds" "$1: what holds"
    is "$(sql -d two -c "$contents")" "$all_contents" "$1: contents"
    is "$(sql -d two -c "$stored")" "$as_labelled" "$1: values are stored so"
    is "$(grep -iE 'error|fatal' <<<"$2")" "" "$1: no errors"
}

# With the extension, or where the database has it: then CREATE EXTENSION loads nothing.
for there in '' ', the extension is there'; do
    for how in "-F plain" "-F custom" "-F directory -j2"; do
        sql -c 'DROP DATABASE IF EXISTS two' -c 'CREATE DATABASE two'
        [ -z "$there" ] || sql -d two -c 'CREATE EXTENSION pg_sliced'
        # shellcheck disable=SC2086
        as_user "$PGS_BINDIR/pg_dump" $how -f "$PGS_TMP/dump" one
        if [ "$how" = "-F plain" ]; then
            out=$(as_user "$PGS_BINDIR/psql" -X -q -d two -f "$PGS_TMP/dump" 2>&1 || true)
        else
            out=$(as_user "$PGS_BINDIR/pg_restore" -j4 -d two "$PGS_TMP/dump" 2>&1 || true)
        fi
        check "pg_dump $how$there" "$out"
        as_user rm -rf "$PGS_TMP/dump"
    done
done

# only the partitioned table and its label, into a session that has opened nothing of ours
as_user "$PGS_BINDIR/pg_dump" -t parts -f "$PGS_TMP/dump" one
sql -d two -c 'DROP TABLE parts CASCADE'
out=$(as_user "$PGS_BINDIR/psql" -X -q -d two -f "$PGS_TMP/dump" 2>&1 >/dev/null || true)
is "$out" "" "pg_dump -t of a partitioned table"

# section by section, in sessions of their own
as_user "$PGS_BINDIR/pg_dump" -F custom -f "$PGS_TMP/sections" one
sql -c 'DROP DATABASE two' -c 'CREATE DATABASE two'
out=$(for section in pre-data data post-data; do
    as_user "$PGS_BINDIR/pg_restore" --section=$section -j2 -d two "$PGS_TMP/sections" 2>&1 || true
done)
check "pg_restore --section" "$out"

# a replica's session: the event trigger fires there as well
is "$(sql -d one -c 'SET session_replication_role = replica' \
    -c "SECURITY LABEL FOR sliced ON COLUMN plain.w IS 'level=2'" 2>&1)" "" "session_replication_role = replica"

# DROP EXTENSION and back
sql -d two -c 'DROP MATERIALIZED VIEW m' \
    -c 'ALTER TABLE parts1 SET ACCESS METHOD heap' -c 'ALTER TABLE parts2 SET ACCESS METHOD heap' \
    -c 'ALTER TABLE plain SET ACCESS METHOD heap' -c 'ALTER TABLE changed SET ACCESS METHOD heap'
out=$(sql -d two -c 'DROP EXTENSION pg_sliced' 2>&1)
is "$(head -n 1 <<<"$out")" 'WARNING:  8 labels of provider "sliced" stay in this database' "DROP EXTENSION says that labels stay"
kept=$(sql -d two -c "$labels")
is "$kept" "$(grep -v '^materialized' <<<"$all_labels")" "labels outlive the extension"
is "$(sql -d two -c "$contents")" "$all_contents" "so do values"
out=$(sql -d two -c "SECURITY LABEL FOR sliced ON TABLE plain IS NULL" 2>&1 || true)
is "$out" 'ERROR:  security label provider "sliced" is not loaded' "without it they cannot be changed just so"
sql -d two -c "LOAD 'pg_sliced'" -c "SECURITY LABEL FOR sliced ON TABLE plain IS NULL" -c 'CREATE TABLE t (v text)' -c 'INSERT INTO t VALUES (repeat($$x$$, 9999))'
is "$(sql -d two -c "$labels" | grep -c '^table|plain|' || true)" 0 "but with the library"
sql -d two -c 'CREATE EXTENSION pg_sliced' -c 'ALTER TABLE parts1 SET ACCESS METHOD sliced' -c 'ALTER TABLE parts2 SET ACCESS METHOD sliced'
is "$(sql -d two -c "$stored")" "$as_labelled" "the extension finds labels again"
is "$(sql -d two -c "$contents")" "$all_contents" "and the values"

# what docs/recovery.md tells people who leave
sql -d two >/dev/null <<'END'
SELECT format('SECURITY LABEL FOR sliced ON %s %s IS NULL', objtype, objname)
FROM pg_seclabels WHERE provider = 'sliced' \gexec
END
is "$(sql -d two -c "$labels")" "" "all labels are removed"

# the same in one session, where the library knew the old extension
out=$(sql -d two 2>&1 <<'END'
CREATE TABLE s (v text) USING sliced;
SECURITY LABEL FOR sliced ON COLUMN s.v IS 'toaster=text, compression=pglz';
ALTER TABLE s SET ACCESS METHOD heap;
ALTER TABLE parts1 SET ACCESS METHOD heap;
ALTER TABLE parts2 SET ACCESS METHOD heap;
SET client_min_messages = error;
DROP EXTENSION pg_sliced;
SECURITY LABEL FOR sliced ON COLUMN s.v IS 'compression=zstd';
SECURITY LABEL FOR sliced ON COLUMN s.v IS NULL;
CREATE EXTENSION pg_sliced;
SECURITY LABEL FOR sliced ON COLUMN s.v IS 'toaster=text';
ALTER TABLE s SET ACCESS METHOD sliced;
SELECT toaster, toaster_from, compression FROM sliced.columns WHERE rel = 's';
END
) || true
is "$out" "text|label of column|lz4" "one session drops the extension and creates it"

# all may see the options of a temporary table, whose dictionaries only its own session can read
is "$(sql -d one <<SQL
CREATE TEMP TABLE own (v text) USING sliced;
SECURITY LABEL FOR sliced ON TABLE own IS 'compression=zstd, dictionary=on';
INSERT INTO own VALUES (repeat('long', 9000));
\! "$PGS_BINDIR/psql" -XAtq -d one -c "SELECT compression, dictionary FROM sliced.columns WHERE rel::text LIKE 'pg_temp%.own'"
SQL
)" 'zstd|on' "another session's temporary table"

# pg_upgrade, of the server with all that in it
sql -c 'DROP DATABASE two'
server_stop labels
as_user cp -r "$PGS_INITDB" "$PGS_TMP/upgraded"
if (cd "$PGS_TMP" && as_user "$PGS_BINDIR/pg_upgrade" -U postgres -b "$PGS_BINDIR" -B "$PGS_BINDIR" \
    -d "$PGDATA" -D "$PGS_TMP/upgraded" -s "$PGS_TMP" -p 5433 -P 5434) >"$PGS_TMP/upgrade.log" 2>&1; then
    echo "ok - pg_upgrade"
else
    echo "not ok - pg_upgrade"
    tail -n 30 "$PGS_TMP/upgrade.log" | sed 's/^/# /'
fi
as_user mkdir -m 700 "$PGS_TMP/new" "$PGS_TMP/new/socket"
as_user mv "$PGS_TMP/upgraded" "$PGS_TMP/new/data"
server_start new listen_addresses= port=5432 unix_socket_directories="$PGS_TMP/new/socket"
is "$(sql -d one -c "$labels")" "$all_labels" "pg_upgrade: labels"
is "$(sql -d one -c "$holds")" "$all_holds" "pg_upgrade: what holds"
is "$(sql -d one -c "$contents")" "$all_contents" "pg_upgrade: contents"
sql -d one -c 'UPDATE parts SET doc = doc || jsonb_build_object($$new$$, repeat(id::text, 9000))'
is "$(sql -d one -c "SELECT count(*) FROM pg_event_trigger WHERE evtname = 'sliced_before_label'" -c \
    "SECURITY LABEL FOR sliced ON TABLE plain IS NULL")" 1 "pg_upgrade: a label is changed"
server_stop new
