#!/bin/bash
# Everything at once, for a minute and a half, or MINUTES=60; SEED=5 for the same choices again.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

export PYTHONPATH=$PGS_ROOT/test
exec python3 "$PGS_ROOT/test/soak/load/soak.py" --minutes "${MINUTES:-1.2}" --seed "${SEED:-$RANDOM}"
