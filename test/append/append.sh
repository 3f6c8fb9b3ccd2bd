#!/bin/bash
# Appends to lists in long values, in mode MODE (append.py), or the checker on histories made by hand.
# Longer: MINUTES=10; SEED=5 makes the same choices, though not at the same time.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

export PYTHONPATH=$PGS_ROOT/test PYTHONDONTWRITEBYTECODE=1
# how long each mode works, of the whole
declare -A percent=([sabotage]=6 [pretended]=6 [heap]=8 [mixed]=22 [serializable]=14 [kills]=18 [promotion]=14 [subscriber]=12)

if [ "$MODE" = checker ]; then
    exec "$PGS_PYTHON" "$PGS_ROOT/test/append/checker_test.py"
fi
seconds=$(awk "BEGIN { print ${MINUTES:-0.8} * 60 * ${percent[$MODE]} / 100 }")
exec "$PGS_PYTHON" "$PGS_ROOT/test/append/append.py" "$MODE" --seconds "$seconds" --seed "${SEED:-$RANDOM}"
