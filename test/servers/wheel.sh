# PostgreSQL 16 as the Python package "pgserver" has it, with headers and PGXS:
# sourced by ./dev.
#
# It is built without lz4 and ICU and has no extensions but plpgsql, so it also
# shows how we do on such servers.  It runs on this machine's C library, and stays
# in PGS_CACHE/wheels.

wheel_major=16
wheel=pgserver==0.1.4

# Set PG_CONFIG, which ./dev has, to that of the package's server.
server_from_wheel() {
    local dir=$PGS_CACHE/wheels/$wheel_major
    need python3-pip || unavailable "PostgreSQL $wheel_major: package python3-pip cannot be installed"
    mkdir -p "$PGS_CACHE/wheels"
    (
        flock 9
        [ -d "$dir" ] || wheel_get "$dir"
    ) 9>"$dir.lock" || exit
    PG_CONFIG=$dir/pgserver/pginstall/bin/pg_config
    # psql looks for libpq beside the package, not beside its copy in our tree
    export LD_LIBRARY_PATH=$dir/pgserver.libs
}

# Unpack it into $1.  It is made for certain versions of Python, which we do not need.
wheel_get() {
    echo "getting $wheel, which has PostgreSQL $wheel_major"
    rm -rf "$1.new"
    "$PGS_PYTHON" -m pip install --no-deps --no-compile --only-binary :all: --python-version 3.11 \
        --target "$1.new" "$wheel" >"$1.log" 2>&1 &&
        "$1.new/pgserver/pginstall/bin/pg_config" --version >>"$1.log" 2>&1 || {
        tail -n 5 "$1.log" | sed 's/^/# /'
        unavailable "PostgreSQL $wheel_major: the Python package $wheel cannot be had (all of it: $1.log)"
    }
    chmod -R a+rX "$1.new"
    mv "$1.new" "$1"
}
