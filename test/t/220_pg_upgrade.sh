#!/bin/bash
# pg_upgrade from an older major to this one, copying and linking, keeps tables of all
# kinds, and values in every form, slice for slice; and they go on as before.
#
# Without an older one (upgrade/servers.sh), this major is upgraded to itself, only linking.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
here=$PGS_ROOT/test/t/upgrade
. "$here/servers.sh"

# What must be the same afterwards: contents, forms, labels, damage.
state() {
    sql -d data -f "$here/state.sql"
}

# upgrade MODE: with all tables.
upgrade() {
    local step steps=changes test="pg_upgrade $1 from $from to $to"
    pg_upgrade_to "$1" || return 0
    is "$(state)" "$expected" "$test: nothing has changed"
    # and it goes on: changes of parts, new rows; then rewrites, and new tables, for which it is
    # all the same how the files got here
    [ "$1" = --copy ] || steps="changes rewrites"
    for step in $steps; do
        sql -d data -f "$here/$step.sql" >/dev/null
        is "$(sql -d data -c 'SELECT * FROM different()' -c 'SELECT * FROM parts_different()')" '' "$test, $step: the same as in heap"
        is "$(sql -d data -c 'SELECT * FROM damage()')" '' "$test, $step: verify finds nothing"
        is "$(sql -d data -c 'SELECT * FROM ignored()')" '' "$test, $step: labels are heeded"
    done
    server_stop "new$1"
    rm -rf "$PGS_TMP/new$1"
}

# To a server without lz4 from one that has it: values outside their rows are as before.
# Within rows core cannot read those of lz4, and verify says which these are.
upgrade_without_lz4() {
    local test="pg_upgrade from $from to $to, without lz4" source="FROM generate_series(1, 4) i"
    local outside="(SELECT string_agg(md5(i || '.' || k), '') FROM generate_series(1, 2000) k)"
    (
        PGS_BINDIR=$old PGS_INITDB=$initdb
        server_start old client_min_messages=warning wal_level=logical
        sql -c 'CREATE DATABASE data'
        sql -d data -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE v (id int, t text) USING sliced' \
            -c "INSERT INTO v SELECT i, $outside $source" -c 'SET sliced.compression = pglz' \
            -c "INSERT INTO v SELECT i + 10, repeat('pglz' || i, 1000) $source" -c 'SET sliced.compression = lz4' \
            -c "INSERT INTO v SELECT i + 20, repeat('lz4' || i, 1000) $source"
        forget_versions data
        server_stop old
    )
    pg_upgrade_to --link || return 0
    is "$(sql -d data -c 'SELECT string_agg(md5(t), NULL ORDER BY id) FROM v WHERE id < 20')" \
        "$(sql -d data -c "SELECT string_agg(md5(t), NULL ORDER BY id) FROM (SELECT i, $outside $source
            UNION ALL SELECT i + 10, repeat('pglz' || i, 1000) $source) s (id, t)")" "$test: all that can be read is"
    is "$(sql -d data -c "SELECT kind, col, string_agg(id::text, ' ' ORDER BY id) FROM sliced.verify('v') f JOIN v ON v.ctid = f.row_ctid GROUP BY 1, 2")" \
        'unreadable value|t|21 22 23 24' "$test: verify names the others"
    server_stop new--link
}

modes=--link
[ -z "${PGS_OLD:-}" ] || modes="--copy --link"

if ! is_built_with lz4; then
    [ -z "${PGS_OLD:-}" ] || upgrade_without_lz4
    exit
fi

(
    PGS_BINDIR=$old PGS_INITDB=$initdb
    server_start old client_min_messages=warning wal_level=logical
    sql -c 'CREATE DATABASE data'
    sql -d data -f "$here/tables.sql" >/dev/null
    forget_versions data
    state >"$PGS_TMP/expected"
    is "$(sql -d data -c 'SELECT * FROM different()' -c 'SELECT * FROM parts_different()' -c 'SELECT * FROM damage()')" '' "from $from: before"
    is "$(sql -d data -c 'SELECT * FROM forms()')" '' "from $from: values in every form"
    server_stop old
)
expected=$(cat "$PGS_TMP/expected")
for mode in $modes; do
    upgrade "$mode"
done
