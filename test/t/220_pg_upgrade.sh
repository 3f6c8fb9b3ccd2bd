#!/bin/bash
# pg_upgrade from one major to another, copying and linking, keeps tables of all
# kinds, and values in every form, slice for slice; and they go on as before.
#
# The other majors are those of PGS_OLD_CONFIG and PGS_NEW_CONFIG (a pg_config
# each), or else whatever this machine has: Debian's, and what "./dev test
# --pg-source" has built.  If there is none, the server is upgraded to its own major.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
here=$PGS_ROOT/test/t/upgrade

major_of() {
    "$1" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/'
}

# Other installations, one for each other major, as "MAJOR PG_CONFIG".
others() {
    local config
    for config in ${PGS_OLD_CONFIG:-} ${PGS_NEW_CONFIG:-}; do
        echo "$(major_of "$config") $config"
    done
    [ -z "${PGS_OLD_CONFIG:-}${PGS_NEW_CONFIG:-}" ] || return 0
    for config in /usr/lib/postgresql/*/bin/pg_config "$PGS_CACHE"/built/*/bin/pg_config; do
        if [ -x "$config" ] && [ "$(major_of "$config")" != "$PG_MAJOR" ] && [ "$(major_of "$config")" -ge 15 ]; then
            echo "$(major_of "$config") $config"
        fi
    done | sort -n -u -k 1,1
}

# An installation of pg_config $1 in directory $2, with the extensions compiled for it.
install_other() {
    local copy=$PGS_TMP/source dir
    mkdir -p "$2"
    rm -rf "$copy"
    cp -r "$PGS_ROOT" "$copy"
    (
        PG_CONFIG=$1
        tree_make "$2"
        make -s -j2 -C "$copy" PG_CONFIG="$1" with_llvm=no install DESTDIR="$2"
        for dir in "$copy"/contrib/*/; do
            make -s -C "$dir" PG_CONFIG="$1" with_llvm=no COPT=-I"$2$("$1" --includedir-server)" install DESTDIR="$2"
        done
    ) >"$PGS_TMP/make.log" 2>&1 || {
        tail -n 20 "$PGS_TMP/make.log" | sed 's/^/# /'
        die "cannot compile for $1"
    }
    rm -rf "$copy"
}

# What must be the same afterwards: contents, forms, labels, damage.
state() {
    sql -d data -f "$here/state.sql"
}

# upgrade FROM TO MODE: servers of the programs in FROM and TO; MODE is --copy or --link.
upgrade() {
    local old=$PGS_TMP/old$3 new=$PGS_TMP/new$3 checksums= name="$4"
    as_user cp -r "$PGS_TMP/old" "$old"
    as_user mkdir -m 700 "$new" "$new/socket"
    # from 18 on checksums are the default; both must have them or not
    ! as_user "$2/initdb" --help | grep no-data-checksums >/dev/null || checksums=--no-data-checksums
    as_user "$2/initdb" -D "$new/data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions $checksums >/dev/null
    if (cd "$PGS_TMP" && as_user "$2/pg_upgrade" -U postgres -b "$1" -B "$2" -d "$old/data" -D "$new/data" \
        -s "$PGS_TMP" -p 5433 -P 5434 $([ "$3" = --copy ] || echo "$3")) >"$PGS_TMP/upgrade.log" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        tail -n 30 "$PGS_TMP/upgrade.log" | sed 's/^/# /'
        find "$new/data/pg_upgrade_output.d" -name '*.log' -exec grep -hE 'error|ERROR|FATAL' {} + 2>/dev/null | head | sed 's/^/# /'
        return 0
    fi
    PGS_BINDIR=$2 server_start "new$3" listen_addresses= port=5432 unix_socket_directories="$new/socket" fsync=off
    (
        PGS_BINDIR=$2
        is "$(sql -c 'SHOW server_version_num' | sed 's/....$//')" "$("$2/postgres" -V | sed 's/^[^0-9]*\([0-9]*\).*/\1/')" "$name: the new server"
        is "$(state)" "$expected" "$name: nothing has changed"
        # and it goes on: changes of parts, a rewrite, new tables
        sql -d data -f "$here/changes.sql" >/dev/null
        is "$(sql -d data -c 'SELECT * FROM different()')" '' "$name: changes give the same as in heap"
        is "$(sql -d data -c 'SELECT * FROM damage()')" '' "$name: verify finds nothing afterwards"
        server_stop "new$3"
    )
    rm -rf "$old" "$new"
}

mine=$PGS_BINDIR
mapfile -t found < <(others)
if [ ${#found[@]} = 0 ]; then
    echo "# skipped: pg_upgrade between majors: there is only PostgreSQL $PG_MAJOR (PGS_OLD_CONFIG or PGS_NEW_CONFIG names another pg_config)"
    found=("$PG_MAJOR $PG_CONFIG")
fi
for other in "${found[@]}"; do
    major=${other%% *} config=${other#* }
    theirs=$mine
    if [ "$config" != "$PG_CONFIG" ]; then
        install_other "$config" "$PGS_TMP/other$major"
        theirs=$PGS_TMP/other$major$("$config" --bindir)
    fi
    from=$mine to=$theirs name="$PG_MAJOR to $major"
    if [ "$major" -lt "$PG_MAJOR" ]; then
        from=$theirs to=$mine name="$major to $PG_MAJOR"
    fi

    # the old server, with the other's or our own initdb
    initdb=$PGS_INITDB
    [ "$from" = "$mine" ] || initdb=$PGS_TMP/other$major/tmp/initdb
    PGS_BINDIR=$from PGS_INITDB=$initdb server_start old client_min_messages=warning
    PGS_BINDIR=$from
    sql -c 'CREATE DATABASE data'
    sql -d data -f "$here/tables.sql" >/dev/null
    # Minor versions of 2026 keep versions of columns in their options, where composite values need
    # them.  Servers from before cannot restore these, whatever the tables' access method.
    if grep -qa pg_attver "$from/postgres" && ! grep -qa pg_attver "$to/postgres"; then
        echo "# PostgreSQL $("$to/postgres" -V | sed 's/.* //') is older than pg_attver: removed for the upgrade"
        sql -d data -c "UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '%pg_attver%'"
    fi
    expected=$(state)
    is "$(sql -d data -c 'SELECT * FROM different()')" '' "$name: before"
    is "$(sql -d data -c 'SELECT * FROM forms()')" '' "$name: values in every form"
    server_stop old
    upgrade "$from" "$to" --copy "pg_upgrade from $name"
    upgrade "$from" "$to" --link "pg_upgrade --link from $name"
    rm -rf "$PGS_TMP/old" "$PGS_TMP/other$major"
    PGS_BINDIR=$mine
done
