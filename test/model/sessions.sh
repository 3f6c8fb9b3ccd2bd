#!/bin/bash
# Random interleaved sessions on heap tables and on sliced ones, on a server each.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

hosts=()
for world in heap sliced; do
    server_start "$world" autovacuum=off max_prepared_transactions=50
    hosts+=("$PGHOST")
done
"$PGS_ROOT/test/model/interleaved/sessions.py" --hosts "${hosts[@]}" "$@"
