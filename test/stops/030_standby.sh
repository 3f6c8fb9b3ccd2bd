#!/bin/bash
# A standby that ends at each stop point: see standby.py.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start primary wal_level=logical autovacuum=off wal_keep_size=4GB max_wal_size=4GB wal_sender_timeout=0 wal_consistency_checking=heap
"${PGS_PYTHON:-/usr/bin/python3}" -B "$PGS_ROOT/test/stops/standby.py" "$@"
server_stop primary
