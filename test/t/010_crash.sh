#!/bin/bash
# Kill the server while clients change large values, again and again: what was
# acknowledged must be there, what was not must be gone, and no slice of it left.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

clients=4 rounds=${ROUNDS:-4}

# Client $1 works on rows of its own and remembers what it committed: each
# transaction reports the state it leaves behind ("intent") and then that it is
# over ("done").  Of the last one the answer may be missing, so there are two
# states to be found after a crash.
client() {
    as_user "$PGS_BINDIR/psql" -X -q -A -t -v c="$1" -v seed="$2" 2>/dev/null <<'SQL' || true
SET search_path = crash;
SELECT setseed(:seed / 100.0);
SELECT format($f$
BEGIN;
CALL change(%1$s, %2$s);
SAVEPOINT a;
CALL change(%1$s, %3$s);
%4$s
SAVEPOINT b;
CALL change(%1$s, %5$s);
%6$s
SELECT 'intent ' || state(%1$s);
%7$s;
$f$, :c, i * 3, i * 3 + 1, (ARRAY['ROLLBACK TO a;', 'RELEASE a;', ''])[1 + i % 3], i * 3 + 2,
    (ARRAY['ROLLBACK TO b;', ''])[1 + i % 2],
    CASE WHEN i % 5 = 0 THEN 'ROLLBACK' ELSE E'COMMIT;\nSELECT ''done''' END)
FROM generate_series(:seed * 10000, :seed * 10000 + 9999) i
\gexec
SQL
}

# What client $1 may have left: after its last acknowledged transaction, or the next.
allowed() {
    awk '$1 == "intent" { intent = $2 }
         $1 == "done" { acknowledged = intent }
         END { print acknowledged; print intent }' "$PGS_TMP/client$1"
}

setup='
CREATE EXTENSION pg_sliced;
CREATE SCHEMA crash;
SET search_path = crash;
CREATE TABLE t (c int, id int, v bytea, w text, a int[], PRIMARY KEY (c, id)) USING sliced;
CREATE INDEX ON t (md5(w));
CREATE FUNCTION noise(n int) RETURNS bytea LANGUAGE sql AS $f$
    SELECT string_agg(sha512(random()::text::bytea), $$$$) FROM generate_series(1, 1 + n / 64) $f$;
CREATE FUNCTION state(who int) RETURNS text LANGUAGE sql AS $f$
    SELECT md5(string_agg(format($$%s %s %s %s$$, id, md5(v), md5(w), md5(a::text)), $$,$$ ORDER BY id)) FROM t WHERE c = who $f$;
CREATE PROCEDURE change(who int, i int) LANGUAGE plpgsql AS $$
BEGIN
    CASE i % 9
        WHEN 0 THEN INSERT INTO t SELECT who, i % 40, noise((random() * 60000)::int), repeat(i::text, 5000), (SELECT array_agg(x) FROM generate_series(i, i + 2000) x)
            ON CONFLICT (c, id) DO UPDATE SET v = t.v || excluded.v;
        WHEN 1 THEN UPDATE t SET v = noise((random() * 300000)::int) WHERE c = who AND id = i % 40;
        WHEN 2 THEN UPDATE t SET w = repeat(md5(random()::text), (random() * 3000)::int) WHERE c = who AND id % 5 = i % 5;
        WHEN 3 THEN DELETE FROM t WHERE c = who AND id = (i * 7) % 40;
        WHEN 4 THEN UPDATE t SET v = substr(v, 2), w = left(w, 1000) || w WHERE c = who AND id % 7 = i % 7;
        WHEN 5 THEN UPDATE t SET v = v || int4send(i), w = w || i WHERE c = who;
        WHEN 6 THEN UPDATE t SET v = set_byte(v, i % length(v), 7), w = overlay(w PLACING md5(i::text) FROM 1 + i) WHERE c = who AND id % 3 = i % 3;
        WHEN 7 THEN FOR j IN 1 .. 30 LOOP
            UPDATE t SET a[1 + floor(random() * 2000)] = j, v = set_byte(v, (i * j * 97) % length(v), 7) WHERE c = who AND id % 8 = i % 8;
        END LOOP;
        ELSE INSERT INTO t SELECT who, 100 + i % 10, noise(9000), NULL ON CONFLICT DO NOTHING;
    END CASE;
END $$;'

server_start crash fsync=on shared_buffers=16MB checkpoint_timeout=30s max_wal_size=64MB \
    autovacuum_naptime=1s full_page_writes=on wal_consistency_checking=heap
sql -c "$setup"

for ((round = 1; round <= rounds; round++)); do
    pids=()
    for ((c = 1; c <= clients; c++)); do
        client "$c" "$round" >>"$PGS_TMP/client$c" &
        pids+=($!)
    done
    (
        set +e
        while sql -c 'VACUUM crash.t' -c 'CHECKPOINT' >/dev/null 2>&1; do sleep 0.3; done
    ) &
    pids+=($!)
    sleep "$((RANDOM % 2 + 1)).$((RANDOM % 10))"

    server_kill
    wait "${pids[@]}"
    server_start crash

    for ((c = 1; c <= clients; c++)); do
        state=$(sql -c "SET search_path = crash" -c "SELECT state($c)")
        if allowed "$c" | grep -qFx -- "$state"; then
            echo "ok - round $round: client $c finds what was committed ($(grep -c done "$PGS_TMP/client$c") transactions)"
        else
            echo "not ok - round $round: client $c finds another state"
        fi
        # what is there now is where the next round starts
        printf 'intent %s\ndone\n' "$state" >>"$PGS_TMP/client$c"
    done
    damage=$(sql -c 'SELECT * FROM sliced.verify($$crash.t$$)')
    if [ -z "$damage" ]; then
        echo "ok - round $round: verify finds nothing"
    else
        echo "not ok - round $round: verify"
        head -n 20 <<<"$damage" | sed 's/^/# /'
    fi
done

if [ "$(sql -c 'VACUUM (FULL) crash.t' -c 'SELECT count(*) FROM sliced.verify($$crash.t$$)')" = 0 ]; then
    echo "ok - VACUUM FULL afterwards"
else
    echo "not ok - VACUUM FULL afterwards"
fi
server_stop crash

# Without WAL for files that a transaction has made itself.
server_start minimal wal_level=minimal max_wal_senders=0 autovacuum=off
sql <<'SQL'
CREATE EXTENSION pg_sliced;
CREATE TABLE source AS SELECT i AS id, (SELECT string_agg(md5(i || '.' || k), '') FROM generate_series(1, 1000) k) AS v,
    jsonb_build_object('a', repeat(md5(i::text), 3000)) AS j FROM generate_series(1, 20) i;
BEGIN;
CREATE TABLE made (LIKE source) USING sliced;
INSERT INTO made TABLE source;
UPDATE made SET v = v || 'x', j = jsonb_set(j, '{b}', '1');
CREATE TABLE adopted USING heap AS TABLE source;
SELECT sliced.adopt('adopted');
UPDATE adopted SET v = v || 'q' WHERE id > 3;
COMMIT;
SET sliced.logical_decoding = on;
UPDATE made SET v = v || 'y' WHERE id < 5;
UPDATE adopted SET v = v || 'r' WHERE id < 5;
RESET sliced.logical_decoding;
BEGIN;
CREATE TABLE emptied USING sliced AS TABLE source;
TRUNCATE emptied;
INSERT INTO emptied TABLE made;
SAVEPOINT s;
UPDATE emptied SET v = v || 'gone';
ROLLBACK TO s;
ALTER TABLE emptied ALTER id TYPE bigint;
UPDATE emptied SET v = v || 'z' WHERE id < 9;
COMMIT;
SQL
contents=$(for t in made adopted emptied; do echo "SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM $t t; SELECT * FROM sliced.verify('$t');"; done)
before=$(sql -c "$contents")
server_kill
server_start minimal
is "$(sql -c "$contents")" "$before" "wal_level = minimal"
server_stop minimal
