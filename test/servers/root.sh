# PostgreSQL's majors of other releases of Debian, each in a root directory of
# that release: sourced by ./dev.
#
# Programs of another release need its C library, so tests run within the root
# directory, on a copy of the checkout, in namespaces of their own: mounts and
# processes go with the last of us, however we end.  The root directory stays
# in PGS_CACHE/roots; what tests write goes to a directory that they see as /tmp.

# Which release of Debian has a major?
release_of() {
    case $1 in
        15) echo bookworm ;;
        17) echo trixie ;;
        18) echo sid ;;
        19) echo experimental ;;
    esac
}

# Experimental is no whole release: what is not in it comes from sid.
base_of() {
    case $1 in
        experimental) echo sid ;;
        *) echo "$1" ;;
    esac
}

# The address this machine's own release comes from, whatever the form of apt's
# configuration.  Updates and security are other "releases"; a snapshot does
# not get any newer.  apt knows of no address before its first update.
debian_mirror() {
    local codename
    # shellcheck disable=SC1091
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v codename="$codename" '
            $2 == codename && $3 == "main" && !found[$1]++ {
                if ($1 ~ /snapshot/) last = last $1 "\n"; else print $1 }
            END { printf "%s", last }' | head -n 1
}

# Keys of all of Debian's releases in one file, as debootstrap takes one only.
debian_keys() {
    local file
    for file in /usr/share/keyrings/*-archive-*.gpg; do
        case $file in
            *removed*) ;;
            *) [ ! -r "$file" ] || cat "$file" ;;
        esac
    done
}

# Tell why there is no server to test on.  Nothing has failed: run_majors and
# others know us by the status.
unavailable() {
    echo "# not tested: $*"
    exit 3
}

# The root directory that has major $1, made unless it is there.
root_make() {
    local dir=$PGS_CACHE/roots/$1
    [ "$(id -u)" = 0 ] ||
        unavailable "PostgreSQL $1: a root directory of another release takes root privileges"
    command -v apt-get >/dev/null ||
        unavailable "PostgreSQL $1: this machine has no apt, which knows a mirror of Debian"
    mkdir -p "$PGS_CACHE/roots"
    (
        flock 9
        [ -d "$dir" ] || root_bootstrap "$1" "$dir"
    ) 9>"$dir.lock" || exit
}

# Make it: debootstrap, then what "./dev setup" installs.
root_bootstrap() {
    local new=$2.new log=$2.log start=$SECONDS release mirror run
    release=$(release_of "$1")
    [ -n "$release" ] || unavailable "PostgreSQL $1: no release of Debian is known to have it (test/servers/root.sh)"
    need debootstrap || unavailable "PostgreSQL $1: package debootstrap cannot be installed"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || apt-get -qq update || true
    mirror=${mirror:-$(debian_mirror)}
    [ -n "$mirror" ] || unavailable "PostgreSQL $1: apt's configuration names no mirror of Debian"
    echo "getting PostgreSQL $1 of Debian $release"
    unshare --mount --pid --fork true 2>"$log" ||
        unavailable "PostgreSQL $1: namespaces cannot be made here"
    rm -rf --one-file-system "$new"
    debian_keys >"$2.keys"
    run=$(mktemp -d "$PGS_TMPDIR/pg_sliced.XXXXXX")
    checkout_copy "$run/checkout"
    {
        http_proxy=$(apt_setting Acquire::http::Proxy) https_proxy=$(apt_setting Acquire::https::Proxy) \
            unshare --mount --pid --fork --kill-child -- \
            debootstrap --variant=minbase --include=ca-certificates --keyring="$2.keys" \
            "$(base_of "$release")" "$new" "$mirror" &&
            root_configure "$new" "$release" "$mirror" "$1" &&
            root_run "$new" "$run" "$1" setup &&
            chroot "$new" apt-get clean &&
            mv "$new" "$2"
    } >>"$log" 2>&1 || {
        tail -n 5 "$log" | sed 's/^/# /'
        rm -rf "$run"
        unavailable "PostgreSQL $1: Debian $release cannot be had from the mirror (all of it: $log)"
    }
    rm -rf "$run"
    echo "got PostgreSQL $1 of Debian $release in $((SECONDS - start)) s"
}

apt_setting() {
    local value
    eval "$(apt-config shell value "$1")"
    echo "${value:-}"
}

# apt's configuration in root directory $1, for release $2 from mirror $3: proxies are
# ours.  Of experimental we want major $4 and what belongs to it.  No package starts a
# server there.
root_configure() {
    local release
    for release in $(printf '%s\n' "$(base_of "$2")" "$2" | sort -u); do
        echo "deb $3 $release main"
    done >"$1/etc/apt/sources.list"
    rm -f "$1"/etc/apt/sources.list.d/*
    if [ "$2" = experimental ]; then
        printf '%s\n' "Package: src:postgresql-$4 src:postgresql-common" \
            'Pin: release a=experimental' 'Pin-Priority: 990' >"$1/etc/apt/preferences.d/90tests"
    fi
    apt-config dump | grep -iE '^Acquire::(https?|Retries)' >"$1/etc/apt/apt.conf.d/90host" || true
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
    mkdir -p "$1/etc/postgresql-common"
    echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.conf"
    # a mirror may be weeks behind; signatures are checked all the same
    cat >"$1/etc/apt/apt.conf.d/91tests" <<'END'
Dpkg::Options { "--force-confdef"; "--force-confold"; };
Acquire::Check-Valid-Until "false";
END
    chroot "$1" apt-get -q update
}

# Run ./dev in root directory $1, with $2, which has the checkout, as its /tmp, on major $3.
root_run() {
    local dir=$1 run=$2 major=$3 name unset=()
    shift 3
    chmod 1777 "$run"
    for name in ${!PGS_@} PG_CONFIG TMPDIR XDG_CACHE_HOME; do
        unset+=(-u "$name")
    done
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child -- bash -ec '
        mount -t proc proc "$1/proc"
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
        mount --bind "$2" "$1/tmp"
        shift 2
        exec chroot "$@"' bash "$dir" "$run" "$dir" \
        env -C /tmp/checkout "${unset[@]}" HOME=/root PG_MAJOR="$major" \
        ${PGS_OLD:+PGS_OLD=/tmp/old} ${PGS_NO_OLD:+PGS_NO_OLD="$PGS_NO_OLD"} \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ./dev "$@"
}

# "./dev test" with these arguments on major $1, in its root directory.
test_in_root() {
    local major=$1 status=0 run results=$root/test/output_pg$1
    shift
    root_make "$major"
    run=$(mktemp -d "$PGS_TMPDIR/pg_sliced.XXXXXX")
    # shellcheck disable=SC2064
    trap "${KEEP:+: }rm -rf $(printf %q "$run")" EXIT
    trap 'exit 130' INT TERM
    checkout_copy "$run/checkout"
    case " $* " in *" tap "* | *" upgrade "*)
        chmod 755 "$run"
        old_server "$major" "$run/old"
        ;;
    esac
    root_run "$PGS_CACHE/roots/$major" "$run" "$major" test "$@" || status=$?
    [ -z "${KEEP:-}" ] || echo "/tmp was $run"
    rm -rf "$results"
    mkdir "$results"
    cp -r "$run"/checkout/test/output* "$results" 2>/dev/null || rmdir "$results"
    return "$status"
}
