#!/bin/bash
# From an older major to this one by logical replication ("blue/green"): the new server is a
# subscriber with a copy of the tables, then takes over, with the old one as its subscriber.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"
. "$PGS_ROOT/test/t/upgrade/servers.sh"

# subscribe SUBSCRIBER PUBLISHER [OPTION]
subscribe() {
    on "$2" -c 'CREATE PUBLICATION pub FOR TABLE t, u'
    on "$1" -c "CREATE SUBSCRIPTION sub CONNECTION '$(connection "$2")' PUBLICATION pub ${3:+WITH ($3)}" 2>/dev/null
    copied "$1"
}

# replicate METHOD METHOD: "t" is sliced on both, "u" has these methods.
replicate() {
    local test="from $1 of $from to $2 of $to" settings="wal_level=logical shared_preload_libraries=pg_sliced"
    # shellcheck disable=SC2086
    old_start "blue$1" $settings
    fill "blue$1" sliced "$1"
    # shellcheck disable=SC2086
    server_start "green$1" $settings
    on "green$1" -f "$here/functions.sql" -f "$here/changing.sql" -c "$(tables sliced "$2")"
    keep_changing "blue$1"
    subscribe "green$1" "blue$1"
    change "blue$1" 2 30
    stop_changing "blue$1"
    caught_up "blue$1"
    same "blue$1" "green$1" "$test: changed while it was copied"
    is "$(on "green$1" -c 'SELECT count(*) > count(DISTINCT id) FROM u, sliced.inspect(u.d)')" \
        "$([ "$2" = heap ] && echo f || echo t)" "$test: the new server stores slices, or does not"

    on "green$1" -c 'DROP SUBSCRIPTION sub' 2>/dev/null
    subscribe "blue$1" "green$1" 'copy_data = off'
    keep_changing "green$1"
    change "green$1" 3 30
    on "green$1" -c "DELETE FROM u WHERE id = 3" -c 'INSERT INTO u SELECT id + 100, b, a, d FROM u'
    stop_changing "green$1"
    caught_up "green$1"
    same "green$1" "blue$1" "$test: and back"
    server_stop "green$1"
    old_stop "blue$1"
}

replicate sliced heap
replicate heap sliced
