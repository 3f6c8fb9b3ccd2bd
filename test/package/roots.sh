# Root directories of a release of Debian, to build and use packages in: sourced by run.
#
# A root is a directory that debootstrap fills.  What runs in it has process ids
# and mounts of its own, so nothing outlives the command.  The first root is kept,
# for copying, and so is every package that apt fetches, in PGS_CACHE/packages.  All
# of it comes from the mirror that this machine's apt is configured for, or, for
# another release (PGS_RELEASE=trixie), from beside it.

cache=$PGS_CACHE/packages
# shellcheck disable=SC1091
release=${PGS_RELEASE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-}")}
http_proxy=$(apt_setting Acquire::http::Proxy) https_proxy=$(apt_setting Acquire::https::Proxy)

# Experimental is there for one major, which the rest of it does not know.
new_major=
if [ "$release" = experimental ]; then
    for new_major in 19 18; do
        [ "$(release_of $new_major)" != experimental ] || break
    done
fi

# in_root DIRECTORY COMMAND...: as root, with the packages that apt has fetched before.
in_root() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -euc '
        mount -t proc proc "$0/proc"
        mount -t tmpfs tmpfs "$0/dev/shm"
        mount --bind "$1" "$0/var/cache/apt/archives"
        root=$0
        shift
        exec chroot "$root" "$@"' "$1" "$cache/archives" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TZ="${TZ:-UTC}" \
        DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# The root that others are copied from.
base() {
    local new=$cache/$release.new mirror
    [ ! -d "$cache/$release" ] || return 0
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { echo "apt's configuration names no mirror of Debian"; return 1; }
    rm -rf --one-file-system "$new"
    mkdir -p "$cache/archives/partial"
    debian_keys >"$work/keys"
    http_proxy=$http_proxy https_proxy=$https_proxy debootstrap --variant=minbase --include=ca-certificates \
        --keyring="$work/keys" "$(base_of "$release")" "$new" "$mirror"
    root_configure "$new" "$release" "$mirror" "$new_major"
    [ -z "$new_major" ] || echo "$new_major" >"$new/etc/postgresql-common/supported_versions"
    echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/unsafe-io"
    # apt is to keep what it has fetched
    rm -f "$new/etc/apt/apt.conf.d/docker-clean"
    mv "$new" "$cache/$release"
}

# clean_root DIRECTORY PACKAGE...: a copy of it, as new as the mirror, with packages.
clean_root() {
    cp -a "$cache/$release" "$1"
    in_root "$1" apt-get -qq update
    in_root "$1" apt-get -qq -y dist-upgrade
    in_root "$1" apt-get -qq -y --no-install-recommends install "${@:2}"
}
