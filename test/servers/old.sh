# An older server, which test/t/22*_upgrade*.sh upgrade from: sourced by ./dev.
#
# It is the oldest major that this machine's packages have, with our extensions
# and all libraries but the C library, so it works in the root directory of a newer
# release of Debian as well: a C library serves programs made for older ones.
# PGS_OLD_MAJOR names another one, which root.sh has, of an older release.

# old_server MAJOR DIR: put a server that is older than MAJOR into DIR, and
# set PGS_OLD to that.  If there is none, PGS_NO_OLD says why.
old_server() {
    local config log=$2.log
    [ "$1" -gt 15 ] && [ -z "${PGS_OLD:-}${PGS_NO_OLD:-}" ] || return 0
    config=$(old_config "$1")
    if [ "${PGS_OLD_MAJOR:-$PG_MAJOR}" != "$PG_MAJOR" ]; then
        if { [ "$PGS_OLD_MAJOR" -lt "$1" ] && old_from_root "$PGS_OLD_MAJOR" "$2"; } >"$log" 2>&1; then
            PGS_OLD=$2
        else
            tail -n 10 "$log" | sed 's/^/# /'
            PGS_NO_OLD="PostgreSQL $PGS_OLD_MAJOR cannot be had, or is no older one"
        fi
    elif [ -z "$config" ]; then
        PGS_NO_OLD="no older major is installed here, with what extensions are compiled with"
    elif old_build "$config" "$2" >"$log" 2>&1; then
        PGS_OLD=$2
    else
        tail -n 10 "$log" | sed 's/^/# /'
        PGS_NO_OLD="our extensions cannot be compiled for $config"
    fi
    export PGS_OLD PGS_NO_OLD
}

# Put major $1 into directory $2, made in the root directory of its release of Debian.
old_from_root() (
    run=$(mktemp -d "$PGS_TMPDIR/pg_sliced.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf $(printf %q "$run")" EXIT
    root_make "$1" && checkout_copy "$run/checkout" &&
        root_run "$PGS_CACHE/roots/$1" "$run" "$1" old /tmp/old "${PGS_CPPFLAGS:-}" && mv "$run/old" "$2"
)

# The pg_config of a major before $1: PGS_OLD_CONFIG, or else the oldest.
old_config() {
    local config
    for config in ${PGS_OLD_CONFIG:-/usr/lib/postgresql/*/bin/pg_config}; do
        if [ -r "$(dirname "$("$config" --pgxs 2>/dev/null)")/pgxs.mk" ] && [ "$(major_of "$config")" -lt "$1" ]; then
            echo "$config"
            return
        fi
    done
}

major_of() {
    "$1" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/'
}

# Put the server of pg_config $1 into directory $2: bin has its programs, initdb the
# data of a new server.
old_build() (
    PG_CONFIG=$1 PG_MAJOR=$(major_of "$1") tree=$2.tree checkout=$root
    bindir=$("$PG_CONFIG" --bindir) libdir=$("$PG_CONFIG" --pkglibdir)
    mkdir "$2" "$2/bin" "$2/lib" "$tree" &&
        { ! is_special || { checkout=$2.checkout && checkout_copy "$checkout"; }; } &&
        build "$checkout" && tree_make "$tree" && tree_install "$checkout" && contrib_install "$checkout" &&
        rm -rf "$tree$libdir"/{llvmjit*,bitcode,*.a,pgxs} &&
        mv "$PGS_INITDB" "$2/initdb" && chmod -R a+rX "$2/initdb" &&
        (cd "$tree" && cp -rL --parents ".$bindir" ".$libdir" ".$("$PG_CONFIG" --sharedir)" "$2") &&
        old_libraries "$2$bindir"/* "$2$libdir"/*.so | xargs -r cp -Lt "$2/lib" &&
        old_programs "$2" "$bindir" &&
        rm -rf "$tree" "$2.checkout"
)

# Libraries that these files need, without those of the C library.
old_libraries() {
    { ldd "$@" 2>/dev/null || true; } | awk '$2 == "=>" && $3 ~ "^/" && !seen[$1]++ { print $1, $3 }' |
        grep -vE '^(lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nss_.*)\.so|ld-)' | cut -d ' ' -f 2
}

# Scripts in $1/bin that run the programs in $1$2 with these libraries.
old_programs() {
    local program
    for program in "$1$2"/*; do
        cat >"$1/bin/${program##*/}" <<END
#!/bin/sh
old=\${0%/bin/*}
LD_LIBRARY_PATH=\$old/lib exec "\$old$2/${program##*/}" "\$@"
END
    done
    chmod 755 "$1/bin"/*
}
