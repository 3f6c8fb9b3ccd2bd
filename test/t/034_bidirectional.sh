#!/bin/bash
# Two servers that subscribe to each other with origin = none (PostgreSQL 16): each change
# arrives once, and rows are equal.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"
. "$PGS_ROOT/test/t/decoding/servers.sh"

if [ "$PG_MAJOR" -lt 16 ]; then
    echo "# skipped: subscriptions of PostgreSQL $PG_MAJOR know no origins"
    exit 0
fi

for server in a b; do
    server_start $server wal_level=logical shared_preload_libraries=pg_sliced
done
fill a sliced
on b -f "$here/functions.sql" -f "$here/changing.sql" -c "$(tables sliced)"
for server in a b; do
    on $server -c 'CREATE PUBLICATION pub FOR TABLE t, u'
done
on b -c "CREATE SUBSCRIPTION from_a CONNECTION '$(connection a)' PUBLICATION pub WITH (origin = none)" 2>/dev/null
copied b
on a -c "CREATE SUBSCRIPTION from_b CONNECTION '$(connection b)' PUBLICATION pub WITH (origin = none, copy_data = off)" 2>/dev/null
copied a
same a b "copied"

# from here on each server counts what is changed in it, by whomever
for server in a b; do
    on $server -c 'CREATE TABLE changes (id int)' -c 'CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO public.changes VALUES (COALESCE(new.id, old.id)); RETURN NULL; END $$' \
        -c 'CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON u FOR EACH ROW EXECUTE FUNCTION count_change()' \
        -c 'ALTER TABLE u ENABLE ALWAYS TRIGGER count_change'
done
# each changes rows of its own, at the same time
change_own() {
    for ((i = 1; i <= 30; i++)); do
        echo "UPDATE u SET n = n + 1, d = jsonb_set(d, '{items,$i,price}', '\"$1 $i\"') WHERE id % 2 = $2;
            UPDATE u SET a = a || '$1 $i', b = overlay(b PLACING '$1' FROM $i) WHERE id % 2 = $2;"
    done | on "$1"
    on "$1" -c "INSERT INTO u SELECT id + $3, a, b, d FROM u WHERE id <= 10 AND id % 2 = $2" -c "DELETE FROM u WHERE id > $3 AND id % 4 = $2"
}
change_own b 1 100 &
change_own a 0 100
change a 2 30
wait
caught_up a
caught_up b
same a b "each its own rows"
is "$(on a -c 'SELECT count(*), count(DISTINCT n) FROM u WHERE id <= 10 AND n = 30')" '10|1' "each its own rows: no change is lost"

# then those of the other
change_own a 1 200
caught_up a
change_own b 0 200
change b 3 30
caught_up b
same a b "each the other's rows"
is "$(on a -c 'SELECT count(*) FROM u WHERE id <= 10 AND n = 60')" 10 "each the other's rows: no change is lost"

expected=$(on a -c 'SELECT count(*) FROM changes')
is "$(on b -c 'SELECT count(*) FROM changes')" "$expected" "each change arrives once"
sleep 1
is "$(on a -c 'SELECT count(*) FROM changes')" "$expected" "and goes round no more"
for server in a b; do
    is "$(on $server -c 'SELECT apply_error_count FROM pg_stat_subscription_stats')" 0 "no errors on $server"
done
for server in a b; do
    server_stop $server
done
