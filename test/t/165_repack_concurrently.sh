#!/bin/bash
# REPACK (CONCURRENTLY) while others are writing (PostgreSQL 19): afterwards the table
# has the rows of one of heap that got the same changes, and its values are slices.
#
# That is how the betas did it.  From the release candidate on, core refuses it for tables
# that are not of heap itself, before anything has happened.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

rounds=${ROUNDS:-2}
if [ "$PG_MAJOR" -lt 19 ]; then
    echo "# skipped: PostgreSQL $PG_MAJOR has no REPACK"
    exit 0
fi

# The first slot switches decoding on, as REPACK makes one.
server_start repack wal_level=replica autovacuum=off
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $f$
        SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), $$base64$$), $$$$), n) FROM generate_series(0, n / 88) i $f$'
for am in heap sliced; do
    sql -c "CREATE TABLE on_$am (id int PRIMARY KEY, v text, d jsonb, c int[], n int DEFAULT 0) USING $am" \
        -c "INSERT INTO on_$am SELECT i, dense(i * 150, i), jsonb_build_object('id', i, 'text', dense(i * 90, i)), array(SELECT generate_series(1, i * 30)) FROM generate_series(1, 200) i"
done
sql -c 'CREATE INDEX ON on_sliced (n)'

# One writer of each kind of rows, so that both tables get the same: change WHO STEP
sql -c 'CREATE PROCEDURE change(who int, step int) LANGUAGE plpgsql AS $p$
DECLARE t text; k int := who + 4 * (step % 50);
BEGIN
    FOREACH t IN ARRAY ARRAY[$q$on_heap$q$, $q$on_sliced$q$] LOOP
        EXECUTE replace(CASE step % 9
            WHEN 0 THEN $q$UPDATE t SET v = v || $2 WHERE id % 4 = $1 % 4 AND id > $2 % 150 + 20$q$
            WHEN 1 THEN $q$UPDATE t SET n = n + 1 WHERE id = $3$q$
            WHEN 2 THEN $q$UPDATE t SET d = jsonb_set(d, ARRAY[$$id$$], to_jsonb($2)), v = v || $$x$$ WHERE id = $3$q$
            WHEN 3 THEN $q$UPDATE t SET v = overlay(v PLACING dense(300, $2) FROM 100), c = c || $2 WHERE id = $3$q$
            WHEN 4 THEN $q$DELETE FROM t WHERE id = $3$q$
            WHEN 5 THEN $q$INSERT INTO t SELECT 1000 + $1 + 4 * $2, dense(9000, $2), jsonb_build_object($$a$$, dense(5000, $1)), NULL$q$
            WHEN 6 THEN $q$UPDATE t SET v = dense(7000, $2), id = id + 100000 WHERE id = $3 + 4$q$
            WHEN 7 THEN $q$UPDATE t SET v = NULL, c[3] = $2, d = d - $$text$$ WHERE id = $3 + 8$q$
            ELSE $q$UPDATE t SET v = v || $$grows$$, n = -1 WHERE id % 4 = $1 % 4 AND id < 1000$q$ END, $q$ t $q$, format($q$ %I $q$, t)) USING who, step, k;
    END LOOP;
    IF step % 13 = 5 THEN ROLLBACK; ELSE COMMIT; END IF;
END $p$'

writer() {
    local step
    for ((step = 0; step < 100000; step++)); do
        [ -e "$PGS_TMP/writing" ] || break
        echo "CALL change($1, $step);"
    done | sql -f - || echo "writer $1 ended" >>"$PGS_TMP/failed"
}

same() {
    is "$(sql -c "SELECT count(*) FROM on_heap h FULL JOIN on_sliced s USING (id) WHERE h IS DISTINCT FROM NULL AND (h.v, h.d, h.c, h.n) IS DISTINCT FROM (s.v, s.d, s.c, s.n) OR h.id IS NULL OR s.id IS NULL")" 0 "$1: the rows of heap"
    is "$(sql -c "SELECT kind, message FROM sliced.verify('on_sliced')")" '' "$1: verify finds nothing"
}

if ! sql -c 'REPACK (CONCURRENTLY) on_sliced' 2>"$PGS_TMP/refused"; then
    is "$(grep -c 'only supported for the "heap" access method' "$PGS_TMP/refused")" 1 "REPACK (CONCURRENTLY) is refused"
    same "after that"
    sql -c 'CALL change(1, 0)' -c 'REPACK on_sliced' -c 'CALL change(2, 3)'
    same "after REPACK, which takes a lock"
    sql -c 'REPACK (CONCURRENTLY) on_heap'
    same "after REPACK (CONCURRENTLY) of the heap table"
    server_stop repack
    exit 0
fi

touch "$PGS_TMP/writing" "$PGS_TMP/failed"
for who in 1 2 3 4; do writer $who & done
for ((i = 0; i < rounds; i++)); do
    sleep 1
    case $((i % 2)) in
        0) sql -c 'REPACK (CONCURRENTLY) on_sliced' ;;
        1) sql -c 'REPACK (CONCURRENTLY) on_sliced USING INDEX on_sliced_pkey' ;;
    esac 2>"$PGS_TMP/error" || { echo "not ok - REPACK: $(head -n 3 "$PGS_TMP/error")"; }
    # writes that are not decoded: the slot of REPACK is gone
    sleep 0.5
done
rm "$PGS_TMP/writing"
wait
is "$(cat "$PGS_TMP/failed")" '' "the writers go on"
echo "# $(sql -c 'SELECT count(*), sum(n) FROM on_sliced') rows"
same "after REPACK with writers"
sql -c 'REPACK (CONCURRENTLY) on_sliced'
same "after REPACK without writers"
is "$(sql -c "SELECT bool_and(object IS NOT NULL AND codec IS NOT NULL) FROM on_sliced, sliced.inspect(v) WHERE length(v) > 5000")" t "values are slices"
sql -c "UPDATE on_sliced SET v = v || 'after', d = d || '{\"after\": 1}'" -c "UPDATE on_heap SET v = v || 'after', d = d || '{\"after\": 1}'" -c 'VACUUM on_sliced'
same "and goes on"
server_stop repack
