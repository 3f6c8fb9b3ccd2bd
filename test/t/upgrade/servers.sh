# The server of an older major and how it becomes this one: sourced by scripts beside this
# folder.  PGS_OLD has the older one (test/servers/old.sh).  Without one, it is this major.

version_of() {
    "$1/postgres" -V | sed 's/^[^0-9]*//; s/ .*//'
}

old_is_this() {
    old=$PGS_BINDIR initdb=$PGS_INITDB from=$(version_of "$PGS_BINDIR")
}

old_is_this
to=$from
if [ -n "${PGS_OLD:-}" ]; then
    old=$PGS_OLD/bin initdb=$PGS_TMP/initdb from=$(version_of "$PGS_OLD/bin")
    as_user cp -r "$PGS_OLD/initdb" "$initdb"
    as_user chmod -R go-rwx "$initdb"
elif [ "$PG_MAJOR" -gt 15 ]; then
    echo "# skipped: ${0##*/} from an older major: ${PGS_NO_OLD:-./dev test prepares none}"
fi

# As server_start, a server of the older major.
old_start() {
    (PGS_BINDIR=$old PGS_INITDB=$initdb && server_start "$@")
}

old_stop() {
    (PGS_BINDIR=$old && server_stop "$@")
}

# new_make NAME [SETTING...]: data of this major for pg_upgrade to fill.
new_make() {
    local new=$PGS_TMP/$1 setting
    shift
    as_user mkdir -m 700 "$new" "$new/socket"
    as_user cp -r "$PGS_INITDB" "$new/data"
    as_user chmod -R go-rwx "$new/data"
    for setting; do
        echo "${setting%%=*} = '${setting#*=}'"
    done | as_user tee -a "$new/data/postgresql.conf" >/dev/null
}

# pg_upgrade_run NAME [OPTION...]: from the server "old" to NAME, into upgrade.log.
pg_upgrade_run() {
    local new=$PGS_TMP/$1
    shift
    (cd "$PGS_TMP" && as_user "$PGS_BINDIR/pg_upgrade" -U postgres -b "$old" -B "$PGS_BINDIR" -d "$PGS_TMP/old/data" \
        -D "$new/data" -s "$PGS_TMP" -p 5433 -P 5434 --no-sync "$@") >"$PGS_TMP/upgrade.log" 2>&1
}

# pg_upgrade_to MODE [SETTING...]: the server "old" becomes "newMODE"; MODE is --copy, which leaves the old one as it is, or --link.
pg_upgrade_to() {
    local mode=$1 new=$PGS_TMP/new$1 test="pg_upgrade $1 from $from to $to"
    shift
    [ -d "$new" ] || new_make "new$mode" "$@"
    # shellcheck disable=SC2086
    if pg_upgrade_run "new$mode" ${mode#--copy}; then
        echo "ok - $test"
    else
        echo "not ok - $test"
        tail -n 30 "$PGS_TMP/upgrade.log" | sed 's/^/# /'
        find "$new/data/pg_upgrade_output.d" -name '*.log' -exec grep -hE 'error|ERROR|FATAL' {} + 2>/dev/null | head | sed 's/^/# /'
        return 1
    fi
    server_start "new$mode" listen_addresses= port=5432 unix_socket_directories="$new/socket" fsync=off
    is "$(sql -c "SELECT split_part(version(), ' ', 2)")" "$to" "$test: the new server"
}

# Minor versions of 2026 keep versions of columns in their options, where composite values need
# them.  Servers from before cannot restore these, whatever the tables' access method.  $1 is
# the database.
forget_versions() {
    grep -qa pg_attver "$PGS_BINDIR/postgres" ||
        sql -d "$1" -c "WITH removed AS (UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '%pg_attver%' RETURNING 1)
            SELECT format('# pg_attver removed of %s columns, as PostgreSQL $to does not know it', count(*)) FROM removed HAVING count(*) > 0"
}
