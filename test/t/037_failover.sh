#!/bin/bash
# A standby that synchronizes the slot of a subscription (PostgreSQL 17) is promoted: the
# subscriber goes on with it, though tables were written anew that it has still to read.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"

if [ "$PG_MAJOR" -lt 17 ]; then
    echo "# skipped: PostgreSQL $PG_MAJOR does not synchronize slots"
    exit 0
fi

server_start primary wal_level=logical shared_preload_libraries=pg_sliced autovacuum=off synchronized_standby_slots=standby
fill primary sliced
on primary -c 'CREATE PUBLICATION pub FOR TABLE t, u' -c "SELECT FROM pg_create_physical_replication_slot('standby', true)"
standby_start primary standby synchronized_standby_slots= primary_slot_name=standby hot_standby_feedback=on wal_receiver_status_interval=1s sync_replication_slots=on
server_start sub wal_receiver_status_interval=1s
on sub -f "$here/functions.sql" -c "$(tables sliced)" \
    -c "CREATE SUBSCRIPTION sub CONNECTION '$(connection primary)' PUBLICATION pub WITH (failover = true)" 2>/dev/null
copied sub
keep_changing primary
for ((i = 0; i < 60; i++)); do
    [ "$(on standby -c "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'sub' AND synced AND NOT temporary")" = 0 ] || break
    on primary -c 'SELECT pg_log_standby_snapshot()' >/dev/null
    sleep 0.5
done
is "$(on standby -c "SELECT synced AND NOT temporary FROM pg_replication_slots WHERE slot_name = 'sub'")" t "the slot is synchronized"

# the subscriber lags, and the primary fails
on sub -c 'ALTER SUBSCRIPTION sub DISABLE'
change primary 2 30
on primary -c 'VACUUM FULL u' -c "UPDATE u SET a = a || 'anew'" -c 'VACUUM u' -c 'BEGIN; TRUNCATE t; INSERT INTO t SELECT * FROM u; COMMIT'
stop_changing primary
caught_up primary
for table in t u; do
    digest primary $table
done >"$PGS_TMP/rows"
server_stop primary immediate
(server_use standby && as_user "$PGS_BINDIR/pg_ctl" -s -w -D "$PGDATA" promote)
is "$(for table in t u; do digest standby $table; done)" "$(cat "$PGS_TMP/rows")" "the standby has the primary's rows"
is "$(on standby -c "SELECT kept_files > 0 FROM sliced.decoding WHERE slot_name = 'sub'")" t "and the files that the slot needs"
on sub -c "ALTER SUBSCRIPTION sub CONNECTION '$(connection standby)'" -c 'ALTER SUBSCRIPTION sub ENABLE'
caught_up standby
same standby sub "after promotion"
keep_changing standby
change standby 3 30
stop_changing standby
caught_up standby
same standby sub "changed afterwards"
is "$(on sub -c 'SELECT apply_error_count FROM pg_stat_subscription_stats')" 0 "no errors"
server_stop sub
server_stop standby
