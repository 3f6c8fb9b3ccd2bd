#!/bin/bash
# pg_upgrade of a server that has kept files for slots: the new one has none of them.  From 17
# on slots are upgraded as well: refused before they have consumed everything, and they
# go on afterwards.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"
. "$PGS_ROOT/test/t/upgrade/servers.sh"

settings="wal_level=logical shared_preload_libraries=pg_sliced autovacuum=off"
is_built_with lz4 || settings+=" sliced.compression=pglz"

# Let the slot of server $1 consume everything.  How many changes have the text of row 5?
consume() {
    on "$1" -c "SELECT count(*) FILTER (WHERE position((SELECT convert_to(a, 'UTF8') FROM u WHERE id = 5) IN data) > 0)
        FROM pg_logical_slot_get_binary_changes('slot', NULL, NULL, 'proto_version', '1', 'publication_names', 'pub')"
}

# Files of the database on server $1 that belong to no relation.
stray_files() (
    server_use "$1"
    database=$(sql -c 'SELECT oid FROM pg_database WHERE datname = current_database()')
    comm -23 <(as_user find "$PGDATA/base/$database" -type f -name '[0-9]*' -printf '%f\n' | grep -v '[._]' | sort) \
        <(sql -c 'SELECT pg_relation_filenode(oid) FROM pg_class' | sort)
)

refused() {
    new_make new--link $settings
    if pg_upgrade_run new--link --link --check; then
        echo "not ok - $test: refused before a slot has consumed everything"
    else
        is "$(as_user find "$PGS_TMP/new--link/data/pg_upgrade_output.d" -name invalid_logical_slots.txt -exec cat {} +)" \
            'The slot "slot" has not consumed the WAL yet' "$test: refused before a slot has consumed everything"
    fi
}

upgrade() {
    local slots= test="slots from $from to $to" table
    [ "${from%%[!0-9]*}" -lt 17 ] || slots=yes
    # shellcheck disable=SC2086
    old_start old $settings
    fill old sliced
    on old -c 'CREATE PUBLICATION pub FOR TABLE t, u' -c "SELECT FROM pg_create_logical_replication_slot('slot', 'pgoutput')" >/dev/null
    if [ -n "$slots" ]; then
        server_start sub
        on sub -f "$here/functions.sql" -c "$(tables sliced)" -c "CREATE SUBSCRIPTION sub CONNECTION '$(connection old)' PUBLICATION pub" 2>/dev/null
        copied sub
    fi
    change old 2 20
    on old -c 'VACUUM FULL u' -c 'VACUUM FULL t' -c "UPDATE u SET a = a || 'anew', d = jsonb_set(d, '{seed}', '-1')"
    is "$(on old -c 'SELECT count(*) >= 4 FROM sliced.kept_files()')" t "$test: files are kept"
    (server_use old && forget_versions postgres)
    if [ -n "$slots" ]; then
        caught_up old
        on sub -c 'ALTER SUBSCRIPTION sub DISABLE'
        old_stop old
        refused
        old_start old
        consume old >/dev/null
        is "$(on old -c 'SELECT count(*) >= 4 FROM sliced.kept_files()')" t "$test: and are when slots have consumed everything"
    fi
    for table in t u; do digest old $table; done >"$PGS_TMP/rows"
    old_stop old

    # shellcheck disable=SC2086
    pg_upgrade_to --link $settings || return 0
    is "$(for table in t u; do digest new--link $table; done)" "$(cat "$PGS_TMP/rows")" "$test: rows"
    is "$(damage new--link)" '' "$test: verify finds nothing"
    is "$(on new--link -c 'SELECT count(*), (SELECT count(*) FROM sliced.decoding WHERE kept_files > 0), sliced.remove_kept_files() FROM sliced.kept_files()')" \
        '0|0|0' "$test: no files are kept"
    is "$(stray_files new--link)" '' "$test: and none are left behind"
    [ -n "$slots" ] || on new--link -c "SELECT FROM pg_create_logical_replication_slot('slot', 'pgoutput')" >/dev/null

    on new--link -c "UPDATE u SET a = overlay(a PLACING 'new' FROM 10) WHERE id = 5" -c 'VACUUM FULL u'
    is "$(consume new--link)" 1 "$test: a slot decodes what is changed afterwards"
    if [ -n "$slots" ]; then
        on sub -c "ALTER SUBSCRIPTION sub CONNECTION '$(connection new--link)'" -c 'ALTER SUBSCRIPTION sub ENABLE'
        change new--link 3 30
        caught_up new--link
        same new--link sub "$test: a subscriber goes on"
        server_stop sub
    fi
    is "$(on new--link -c 'SELECT count(*) > 0 FROM sliced.kept_files()')" t "$test: files are kept again"
    consume new--link >/dev/null
    server_stop new--link
}

upgrade
# where the older major cannot upgrade slots, this one can perhaps
if [ "${from%%[!0-9]*}" -lt 17 ] && [ "$PG_MAJOR" -ge 17 ]; then
    rm -rf "$PGS_TMP/old" "$PGS_TMP/new--link"
    old_is_this
    upgrade
fi
