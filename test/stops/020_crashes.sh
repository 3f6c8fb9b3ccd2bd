#!/bin/bash
# The death of the server at every stop point: see crashes.py.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

# Replay compares pages, but not for heap2: where VACUUM has cut a page off since, core takes the
# missing page of a VISIBLE record for a wrong one.
# WAL is written when somebody asks for it, not meanwhile; checkpoints do not take their time
server_start crashes wal_level=logical autovacuum=off wal_writer_delay=10s wal_writer_flush_after=1GB max_wal_size=4GB \
    checkpoint_completion_target=0 wal_consistency_checking=heap
"${PGS_PYTHON:-/usr/bin/python3}" -B "$PGS_ROOT/test/stops/crashes.py" "$@"
server_stop crashes
