# A private PostgreSQL to test with: sourced by ./dev, test/t/*.sh, bench/*.
#
# Nothing is installed in the system.  PostgreSQL finds its files relative to
# its own binary, so a copy of the binaries beside links to the rest is a
# complete installation, and the extension is installed into that.  Servers
# live in PGS_TMP, listen on a socket there and nowhere else, and run as an
# unprivileged user when we are root.
#
# ./dev sets, and scripts find in their environment:
#
#   PGS_ROOT    the checkout (for test/t and test/model: a readable copy of it)
#   PGS_TREE    the private installation
#   PGS_BINDIR  its programs
#   PGS_TMP     a directory of one's own; servers and scratch files go here
#   PGS_USER    who runs the servers
#
# and, once a server was started, PGHOST, PGPORT, PGUSER, PGDATABASE, PGDATA,
# so that psql and pgbench need no arguments.  Shell scripts begin with
#
#   . "$PGS_ROOT/test/lib.sh"
#
# The demo is the one server that outlives ./dev: its tree and data are in
# $(demo_dir), and ./dev stop removes both.

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Who runs servers?  PostgreSQL refuses to run as root.
test_user() {
    if [ "$(id -u)" != 0 ]; then
        id -un
    elif id postgres >/dev/null 2>&1; then
        echo postgres
    else
        echo nobody
    fi
}

# Run a program in PGS_TMP, as PGS_USER when we are root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        set -- setpriv --reuid="$PGS_USER" --regid="$(id -g "$PGS_USER")" --clear-groups -- "$@"
    fi
    env -C "$PGS_TMP" HOME="$PGS_TMP" "$@"
}

# Make an installation in directory $1, without the extension, and a directory
# for PGS_USER's files; set the variables above.
tree_make() {
    local bindir libdir sharedir checksums name
    bindir=$("$PG_CONFIG" --bindir)
    libdir=$("$PG_CONFIG" --pkglibdir)
    sharedir=$("$PG_CONFIG" --sharedir)

    PGS_USER=$(test_user)
    export PGS_TREE=$1 PGS_BINDIR=$1$bindir PGS_TMP=$1/tmp PGS_USER

    chmod 755 "$1"
    mkdir -p "$PGS_BINDIR" "$1$libdir" "$1$sharedir" "$PGS_TMP"
    cp -rL "$bindir/." "$PGS_BINDIR"
    cp -rs "$libdir/." "$1$libdir"
    cp -rs "$sharedir/." "$1$sharedir"
    for name in pg_sliced sliced_; do
        rm -rf "$1$libdir/$name"* "$1$libdir/bitcode/$name"* "$1$sharedir/extension/$name"*
    done
    if [ "$(id -u)" = 0 ]; then
        chown "$PGS_USER:" "$PGS_TMP"
    fi
    as_user test -r "$PGS_BINDIR/postgres" ||
        die "user $PGS_USER cannot read $1: set TMPDIR to a directory it can"
    as_user test -r "$1$sharedir/postgres.bki" ||
        die "user $PGS_USER cannot read $sharedir"
    # tests damage bytes, and it is us who have to notice: core's checksums of pages, since 18, would
    checksums=$("$PGS_BINDIR/initdb" --help | grep -o -m 1 -e --no-data-checksums || true)
    as_user "$PGS_BINDIR/initdb" -D "$PGS_TMP/initdb" -U postgres -A trust \
        -E UTF8 --locale=C --no-sync --no-instructions $checksums >/dev/null
    export PGS_INITDB=$PGS_TMP/initdb
}

# From now on, use a copy of the installation in PGS_TMP, which a script may change.
tree_copy() {
    local dir
    for dir in "$("$PG_CONFIG" --bindir)" "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)"; do
        as_user mkdir -p "$PGS_TMP/tree$dir"
        as_user cp -a --no-preserve=ownership "$PGS_TREE$dir/." "$PGS_TMP/tree$dir"
    done
    PGS_TREE=$PGS_TMP/tree
    PGS_BINDIR=$PGS_TREE$("$PG_CONFIG" --bindir)
}

# Install the extension as built in checkout $1 into the tree.
tree_install() {
    flock "$1" make -s -C "$1" install DESTDIR="$PGS_TREE" PG_CONFIG="$PG_CONFIG" with_llvm=no
}

# server_start NAME [SETTING=VALUE...]: start server NAME, on a new data
# directory unless it has one, and make it the default for clients.  Settings
# last until the data directory goes.  PGS_POSTGRES names another program to
# run in place of postgres.
server_start() {
    local dir=$PGS_TMP/$1 setting
    shift
    if [ ! -d "$dir" ]; then
        as_user mkdir -m 700 "$dir" "$dir/socket"
        as_user cp -r "$PGS_INITDB" "$dir/data"
        set -- listen_addresses= port=5432 unix_socket_directories="$dir/socket" \
            fsync=off max_prepared_transactions=10 "$@"
    fi
    for setting; do
        echo "${setting%%=*} = '${setting#*=}'"
    done | as_user tee -a "$dir/data/postgresql.conf" >/dev/null
    server_use "${dir##*/}"
    as_user "$PGS_BINDIR/pg_ctl" -s -w -t 300 -D "$PGDATA" -l "$dir/log" \
        ${PGS_POSTGRES:+-p "$PGS_POSTGRES"} start || {
        as_user tail -n 20 "$dir/log" >&2
        die "server ${dir##*/} did not start"
    }
}

# Make server NAME the default for clients.
server_use() {
    export PGHOST=$PGS_TMP/$1/socket PGPORT=5432 PGUSER=postgres
    export PGDATABASE=postgres PGDATA=$PGS_TMP/$1/data
}

# server_stop NAME [fast|smart|immediate]
server_stop() {
    as_user "$PGS_BINDIR/pg_ctl" -s -w -t 300 -D "$PGS_TMP/$1/data" -m "${2:-fast}" stop
}

# Is a process alive?  A dead one may wait for a parent that never asks.
alive() {
    grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}

# Kill the default server's postmaster; its children notice.
server_kill() {
    local postmaster children pid
    postmaster=$(as_user head -n 1 "$PGDATA/postmaster.pid")
    children=$(ps -o pid= --ppid "$postmaster")
    as_user kill -9 "$postmaster"
    for pid in $postmaster $children; do
        while alive "$pid"; do sleep 0.05; done
    done
    as_user rm -f "$PGDATA/postmaster.pid"
}

# Stop whatever server still runs in PGS_TMP or below.
servers_stop() {
    local pidfile
    find "$PGS_TMP" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
        as_user "$PGS_BINDIR/pg_ctl" -s -D "${pidfile%/*}" -m immediate stop || true
    done
}

# psql that prints bare values and stops at the first error.
sql() {
    as_user "$PGS_BINDIR/psql" -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

# The same on server NAME.
on() {
    (server_use "$1" && shift && sql "$@")
}

# holder_begin SQL: a session that has a transaction open until holder_end SQL ends it.
holder_begin() {
    local line
    coproc HOLDER { as_user "$PGS_BINDIR/psql" -X -q -A -t; }
    holder=$HOLDER_PID
    echo "BEGIN; $1; \! echo began" >&"${HOLDER[1]}"
    while read -r line <&"${HOLDER[0]}" && [ "$line" != began ]; do :; done
}

holder_end() {
    echo "$1; COMMIT; \q" >&"${HOLDER[1]}"
    wait "$holder"
}

# is GOT EXPECTED NAME: one test.
is() {
    if [ "$1" = "$2" ]; then
        echo "ok - $3"
    else
        echo "not ok - $3"
        diff <(echo "$2") <(echo "$1") | cut -c 1-200 | head -n 20 | sed 's/^/# /' || true
    fi
}

# Where the demo lives.  The name is fixed so that ./dev stop finds it.
demo_dir() {
    echo "$PGS_TMPDIR/pg_sliced-demo-$(id -u)"
}

# A caller's own PostgreSQL settings must not leak into tests.
if [ -z "${PGS_TREE:-}" ]; then
    for name in ${!PG@}; do
        case $name in
            PG_CONFIG | PG_MAJOR | PGS_*) ;;
            *) unset "$name" ;;
        esac
    done
fi
export LC_ALL=C

# A socket's path must stay below 100 bytes.
PGS_TMPDIR=${TMPDIR:-/tmp}
[ ${#PGS_TMPDIR} -le 30 ] || PGS_TMPDIR=/tmp

# What takes long to get, and is kept: servers of other majors, sources.
if [ -z "${PGS_CACHE:-}" ]; then
    PGS_CACHE=/var/cache/pg_sliced      # PGS_USER can read it
    [ "$(id -u)" = 0 ] || PGS_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/pg_sliced
fi
export PGS_CACHE

# Debian's server of a major, which may have to be installed yet, or a certain one.
PG_MAJOR=${PG_MAJOR:-15}
if [ -z "${PG_CONFIG:-}" ]; then
    PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
    [ -x "$PG_CONFIG" ] || command -v dpkg-query >/dev/null || PG_CONFIG=pg_config
elif command -v "$PG_CONFIG" >/dev/null; then
    PG_MAJOR=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
fi
export PG_CONFIG PG_MAJOR

# Has the server what "configure" calls $1?
is_built_with() {
    grep -q "^#define USE_${1^^} 1" "$("$PG_CONFIG" --includedir-server)/pg_config.h"
}

# The better of core's compression methods that the server has.
best_method() {
    if is_built_with lz4; then echo lz4; else echo pglz; fi
}

# Is that a server of Debian's packages?
is_packaged() {
    case $PG_CONFIG in /usr/lib/postgresql/*) ;; *) return 1 ;; esac
}
