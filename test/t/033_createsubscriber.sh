#!/bin/bash
# pg_createsubscriber (PostgreSQL 17) makes a subscriber of a standby while values change:
# rows are equal, and what is written afterwards arrives.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"

if [ "$PG_MAJOR" -lt 17 ]; then
    echo "# skipped: PostgreSQL $PG_MAJOR has no pg_createsubscriber"
    exit 0
fi

server_start pub wal_level=logical shared_preload_libraries=pg_sliced
fill pub sliced
standby_start pub sub
keep_changing pub
change pub 2 20
server_stop sub
# what the standby has not got yet is replayed first
change pub 3 20
if as_user "$PGS_BINDIR/pg_createsubscriber" -D "$PGS_TMP/sub/data" -P "$(connection pub)" -d postgres -U postgres \
    -s "$PGS_TMP/sub/socket" -p 5432 --publication pub --subscription sub >"$PGS_TMP/createsubscriber" 2>&1; then
    echo "ok - pg_createsubscriber"
else
    echo "not ok - pg_createsubscriber"
    tail -n 20 "$PGS_TMP/createsubscriber" | sed 's/^/# /'
    exit
fi
server_start sub
is "$(on sub -c 'SELECT pg_is_in_recovery()')" f "the standby is none any more"
change pub 4 20
stop_changing pub
caught_up pub
same pub sub "changed while it ran"

on pub -c "UPDATE u SET d = jsonb_set(d, '{items,7}', '\"seven\"')" -c "UPDATE u SET a = a || 'appended'" -c 'DELETE FROM u WHERE id % 3 = 0' \
    -c 'INSERT INTO u SELECT id + 100, b, a, d FROM u' -c 'UPDATE u SET n = -n'
change pub 5 30
caught_up pub
same pub sub "changed afterwards"
is "$(on sub -c 'SELECT count(*) > count(DISTINCT id) FROM u, sliced.inspect(u.d) WHERE id > 100')" t "stored as slices"
server_stop sub
server_stop pub
