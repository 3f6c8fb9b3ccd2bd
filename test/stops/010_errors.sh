#!/bin/bash
# Errors at every stop point: see errors.py.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start errors wal_level=logical autovacuum=off
"${PGS_PYTHON:-/usr/bin/python3}" -B "$PGS_ROOT/test/stops/errors.py" "$@"
server_stop errors
