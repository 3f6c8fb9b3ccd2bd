#!/bin/bash
# Random interleaved sessions on heap tables and on sliced ones, on a server each.  Ids come to
# the end of 2^32 meanwhile, and begin anew.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

hosts=()
for world in heap sliced; do
    server_start "$world" autovacuum=off max_prepared_transactions=50
    server_stop "$world"
    as_user "$PGS_BINDIR/pg_resetwal" -o 4294960000 -D "$PGDATA" >/dev/null
    server_start "$world"
    hosts+=("$PGHOST")
done
"$PGS_ROOT/test/model/interleaved/sessions.py" --hosts "${hosts[@]}" "$@"
is "$(sql -c 'SELECT lo_create(0)::bigint < 4000000000')" t "ids have begun anew"
