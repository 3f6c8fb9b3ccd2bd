# Servers whose temporary files are slow, where they are in a tablespace of that name: sourced by run, demo.
#
# Files below a directory "slow" take as long as on a device of 200 MB/s (slow_files.c).
# For all others, asking whether they are such takes no time that could be measured.
slow_files() {
    # shellcheck disable=SC2046
    as_user $("$PG_CONFIG" --cc) -O2 -fPIC -shared "$PGS_ROOT/bench/slow_files.c" -o "$PGS_TMP/slow_files.so" -ldl
    printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$PGS_TMP/slow_files.so" "$PGS_BINDIR/postgres" |
        as_user tee "$PGS_TMP/postgres" >/dev/null
    as_user chmod +x "$PGS_TMP/postgres"
    export PGS_POSTGRES=$PGS_TMP/postgres
}
