#!/bin/bash
# Some readers look at rows of transactions in progress: BRIN summarization, and
# the apply worker of a subscription to a table without a key.  An update writes
# the row before its slices, and large values take their time: these readers
# must not take a value for damaged that is only not finished.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

seconds=${SECONDS_EACH:-6}

server_start pub wal_level=logical
sql -c 'CREATE TABLE t (id int, v text, n int)' -c 'ALTER TABLE t REPLICA IDENTITY FULL' \
    -c "INSERT INTO t SELECT 1, repeat(md5('pub'), 100000), 0" -c 'CREATE PUBLICATION pub FOR ALL TABLES'

server_start sub
# column w has a value of core's, in a row with one of ours
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int, v text, n int, w text) USING heap' \
    -c 'ALTER TABLE t ALTER v SET STORAGE EXTERNAL, ALTER w SET STORAGE EXTERNAL' \
    -c "INSERT INTO t SELECT 1, repeat(md5('sub'), 100000), 0, repeat('w', 9000)" -c "SELECT sliced.adopt('t')" \
    -c 'CREATE INDEX t_brin ON t USING brin (substr(v, 3000000, 20)) WITH (pages_per_range = 1)'

touch "$PGS_TMP/racing"
while [ -e "$PGS_TMP/racing" ]; do
    sql -c 'UPDATE t SET v = repeat(md5(random()::text), 100000)' \
        -c 'BEGIN; UPDATE t SET v = repeat(md5(random()::text), 100000); ROLLBACK' >/dev/null
done &

end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
    sql -c "SELECT brin_desummarize_range('t_brin', b) FROM generate_series(0, 2) b" \
        -c "SELECT brin_summarize_new_values('t_brin')" >/dev/null 2>>"$PGS_TMP/brin" || true
done
is "$(grep ERROR "$PGS_TMP/brin" | cut -c 1-120 | head -n 3 || true)" '' "BRIN summarization"

before=$(wc -l <"$PGS_TMP/sub/log")
sql -c 'DROP INDEX t_brin' \
    -c "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGS_TMP/pub/socket port=5432 user=postgres dbname=postgres'
        PUBLICATION pub WITH (copy_data = false)" 2>/dev/null
server_use pub
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
    sql -c 'UPDATE t SET n = n + 1'
    sleep 0.3
done
for ((i = 0; i < 100; i++)); do
    [ "$(sql -c 'SELECT replay_lsn >= sent_lsn AND sent_lsn >= pg_current_wal_lsn() FROM pg_stat_replication')" != t ] || break
    sleep 0.2
done
rm "$PGS_TMP/racing"
wait
is "$(tail -n "+$((before + 1))" "$PGS_TMP/sub/log" | grep ERROR | cut -d : -f 4- | head -n 3 || true)" '' "the apply worker's search without a key"
server_use sub
is "$(sql -c "SELECT * FROM sliced.verify('t')")" '' "verify finds nothing"
server_stop sub
server_stop pub
