#!/bin/bash
# Other people's output plugins: wal2json, and decoderbufs, which Debezium can use.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

here=$PGS_ROOT/test/t/decoding
plugins=
for plugin in wal2json decoderbufs; do
    if [ -e "$("$PGS_BINDIR/pg_config" --pkglibdir)/$plugin.so" ]; then
        plugins+=" $plugin"
    else
        echo "# skipped: $plugin, which does not belong to this installation"
    fi
done
[ -n "$plugins" ] || exit 0

# since 15.20 the server's owner says which plugins may be used
listed=
"$PGS_BINDIR/postgres" --describe-config >"$PGS_TMP/settings"
! grep -q '^output_plugin_libraries' "$PGS_TMP/settings" || listed="output_plugin_libraries=pgoutput,test_decoding${plugins// /,}"
# shellcheck disable=SC2086
server_start plugins wal_level=logical shared_preload_libraries=pg_sliced autovacuum_naptime=1s $listed
sql -f "$here/functions.sql"

for identity in DEFAULT FULL; do
    sql -c 'CREATE TABLE h (id int PRIMARY KEY, a text, b text, d jsonb, n int DEFAULT 0) USING heap' -c 'CREATE TABLE s (LIKE h INCLUDING ALL) USING sliced' \
        -c "ALTER TABLE h REPLICA IDENTITY $identity" -c "ALTER TABLE s REPLICA IDENTITY $identity"
    for plugin in $plugins; do
        sql -c "SELECT FROM pg_create_logical_replication_slot('$plugin', '$plugin')" >/dev/null
    done
    "$PGS_PYTHON" "$here/statements.py" 31 60 dml >"$PGS_TMP/statements"
    for t in h s; do
        sed "s/%T/$t/g; s/%P/${t}_pkey/g; s/%G/${t}_/g; s/\$/;/" "$PGS_TMP/statements" >"$PGS_TMP/$t.sql"
    done
    # some fail, and do so with both
    paste -d '\n' "$PGS_TMP/h.sql" "$PGS_TMP/s.sql" | sql -v ON_ERROR_STOP=0 >/dev/null 2>&1 || true
    sql -c 'VACUUM FULL s' -c 'VACUUM'
    for plugin in $plugins; do
        options="'format-version', '2'"
        [ "$plugin" = wal2json ] || options="'debug-mode', '1'"
        sql -c "SELECT data FROM pg_logical_slot_get_changes('$plugin', NULL, NULL, $options)" 2>/dev/null >"$PGS_TMP/decoded"
        result=$("$PGS_PYTHON" "$here/compare.py" "$plugin" h s <"$PGS_TMP/decoded")
        echo "# $plugin: $result" | sed '2,$s/^/# /'
        case $result in *" 0 different") echo "ok - $plugin, replica identity $identity" ;; *) echo "not ok - $plugin, replica identity $identity" ;; esac
        sql -c "SELECT pg_drop_replication_slot('$plugin')" >/dev/null
    done
    sql -c 'DROP TABLE h, s'
done
server_stop plugins
