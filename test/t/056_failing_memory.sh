#!/bin/bash
# Memory that cannot be had, at each call of malloc() that a statement makes: an error,
# after which the session goes on, and nothing has changed.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

gcc -O1 -g -fPIC -shared -U_FORTIFY_SOURCE -Wall -Werror "$PGS_ROOT/test/t/failing/failing.c" -ldl -o "$PGS_TMP/failing.so"
head -c 128 /dev/zero | as_user tee "$PGS_TMP/orders" >/dev/null
(
    export FAILING=$PGS_TMP/orders LD_PRELOAD=$PGS_TMP/failing.so
    server_start failing shared_preload_libraries=pg_sliced,sliced_spill autovacuum=off max_parallel_workers_per_gather=0 \
        sliced.compression=zstd
)
as_user env PYTHONPATH="$PGS_ROOT/test" /usr/bin/python3 "$PGS_ROOT/test/t/failing/memory.py" failing "$PGS_TMP/orders"
server_stop failing
