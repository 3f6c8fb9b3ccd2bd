# A server that is built from source: from Debian's source package, or from an
# archive of PostgreSQL's.  Sourced by ./dev.
#
# It is built once and stays in PGS_CACHE/built, under a name made of the
# archive's checksum and the options.  Beside its programs is "source", with
# PostgreSQL's own suites of tests.

build_packages="gcc make perl bison flex tar bzip2 xz-utils zlib1g-dev liblz4-dev libzstd-dev"

# Set PG_CONFIG, which ./dev has, to that of a server made from archive $1, or if that is
# empty from the source of the installed major; $2 is --assert or empty.
server_from_archive() {
    local archive=$1 options dir name
    if [ -z "$archive" ]; then
        need "postgresql-$PG_MAJOR"
        archive=$("$root/test/servers/fetch_source") ||
            unavailable "PostgreSQL $PG_MAJOR${2:+ with assertions}: its source cannot be fetched"
    fi
    [ -r "$archive" ] || die "no archive of PostgreSQL's source: $archive"
    options="--without-icu --without-readline --with-lz4 --with-zstd ${2:+--enable-cassert}"
    name=$({ sha256sum <"$archive" && echo "$options"; } | sha256sum | cut -c 1-16)
    dir=$PGS_CACHE/built/$name
    mkdir -p "$PGS_CACHE/built"
    # shellcheck disable=SC2086
    need $build_packages
    (
        flock 9
        [ -x "$dir/bin/postgres" ] || server_build "$archive" "$dir" "$options"
    ) 9>"$dir.lock" || die "PostgreSQL cannot be built from $archive"
    PG_CONFIG=$dir/bin/pg_config
}

# Build archive $1 with options $3 for directory $2, which appears when all is done.
server_build() {
    local work=$2.work log=$2.log start=$SECONDS status=0
    echo "building a server from ${1##*/}"
    rm -rf "$work"
    mkdir -p "$work/source"
    # shellcheck disable=SC2086
    {
        tar -C "$work/source" --strip-components=1 --no-same-owner -xf "$1" &&
            cd "$work/source" &&
            ./configure -q --prefix="$2" $3 CFLAGS="-O2 -g1" &&
            make -s -j "$(nproc)" world-bin &&
            make -s install-world-bin DESTDIR="$work/installed" &&
            mkdir -p "$work/installed$2/source/src/test" &&
            make -s -C src/test/regress clean &&
            make -s -C src/test/isolation clean &&
            cp -r src/test/regress src/test/isolation "$work/installed$2/source/src/test" &&
            mv "$work/installed$2" "$2"
    } >"$log" 2>&1 || status=$?
    cd "$root" && rm -rf "$work"
    if [ "$status" != 0 ]; then
        tail -n 20 "$log"
        return "$status"
    fi
    echo "built $("$2/bin/pg_config" --version) in $((SECONDS - start)) s"
}
