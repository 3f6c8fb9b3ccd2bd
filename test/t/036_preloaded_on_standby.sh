#!/bin/bash
# Logical decoding on a standby where the servers preload the library: slices, always.
set -euo pipefail
PRELOADED=pg_sliced exec bash "$PGS_ROOT/test/t/035_decoding_on_standby.sh"
