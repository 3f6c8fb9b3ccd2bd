#!/bin/bash
# Joins of parallel plans that do not fit in memory: the same rows as core's, random statements
# among them, and nothing left when statements end early.
#
# SEEDS="4 5 6" COUNT=500 tries others.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start main autovacuum=off shared_buffers=64MB max_worker_processes=16 max_parallel_workers=12
sql <<'END'
CREATE EXTENSION sliced_spill;
CREATE TABLE a AS SELECT i AS id, i % 2000 AS k, CASE WHEN i % 11 > 0 THEN i % 500 END AS n, repeat(md5((i % 1000)::text), 1 + i % 6) AS w
    FROM generate_series(1, 8000) i;
CREATE TABLE b AS SELECT i AS id, i % 3000 AS k, CASE WHEN i % 13 > 0 THEN i % 700 END AS n, repeat(md5((i % 1500)::text), 1 + i % 6) AS w
    FROM generate_series(1, 12000) i;
-- one key that a third has; few rows; partitions
CREATE TABLE c AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 7 ELSE i % 5000 END AS k, i % 100000 AS n, repeat(md5((i % 1500)::text), 3) AS w
    FROM generate_series(1, 3000) i;
CREATE TABLE d AS SELECT i AS id, i AS k, i AS n, repeat('x', i) AS w FROM generate_series(1, 300) i;
CREATE TABLE p (id int, k int, n int, w text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (3000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (3000) TO (20001);
INSERT INTO p SELECT i, i % 4000, CASE WHEN i % 11 > 0 THEN i % 900 END, md5(i::text) FROM generate_series(1, 10000) i;
VACUUM ANALYZE;
CREATE FUNCTION is_shared(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ 'Parallel Custom Scan .Sliced Spill' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
END
settings="LOAD 'sliced_spill'; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET enable_mergejoin = off; SET enable_nestloop = off; SET jit = off; SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET sliced.temp_file_compression = lz4;"
try() { sql -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 -c "$settings" "$@" 2>&1; }
files() { as_user find "$PGDATA/base/pgsql_tmp" -type f 2>/dev/null | wc -l; }

# ---- random statements ----
for seed in ${SEEDS:-1 2}; do
    python3 -B "$PGS_ROOT/test/t/spill/statements.py" "$seed" "${COUNT:-40}" >"$PGS_TMP/statements.sql"
    (echo "$settings"; cat "$PGS_TMP/statements.sql") | sql -f - >"$PGS_TMP/result" 2>&1 || true
    is "$(grep -c '^[0-9]*|' "$PGS_TMP/result")" "${COUNT:-40}" "seed $seed: all statements"
    is "$(grep -v '^[0-9]*|' "$PGS_TMP/result" | head -n 3)" "" "seed $seed: the same rows"
    is "$(($(grep -c '|plan' "$PGS_TMP/result") * 6 > ${COUNT:-40}))" 1 "seed $seed: $(grep -c '|plan' "$PGS_TMP/result") plans share a join"
done

# ---- what EXPLAIN says of all processes ----
query='SELECT count(*), sum(a.id + b.id) FROM a JOIN b USING (k)'
expected=$(sql -c "$query")
# all rows are written, but for those of the outer side that the filter drops; those that are split count again
for leader in on off; do
    try -c "SET parallel_leader_participation = $leader" -c "EXPLAIN (ANALYZE, FORMAT JSON) $query" | python3 -c '
import json, sys
def find(plan):
    return plan if plan.get("Custom Plan Provider") == "Sliced Spill" else next(filter(None, map(find, plan.get("Plans", []))), None)
node = find(json.load(sys.stdin)[0]["Plan"])
print(node["Spilled Rows"] + node.get("Rows Removed by Bloom Filter", 0) >= 20000, node["Parallel Aware"], node["Partitions"] >= 8)' >"$PGS_TMP/explained"
    is "$(cat "$PGS_TMP/explained")" "True True True" "EXPLAIN counts the rows of all processes, the leader's part $leader"
done
is "$(try -c 'SET max_parallel_workers = 0' -c "$query")" "$expected" "there are no workers"
is "$(try -c 'SET parallel_leader_participation = off' -c "$query")" "$expected" "the leader takes no part"
is "$(try -c 'SELECT count(*) FROM a JOIN b USING (k) WHERE a.id < 0')" 0 "an empty side"
is "$(try -c 'SELECT count(*), count(a.w || b.w) FROM a JOIN b USING (k) WHERE a.id * 2 < 0')" '0|0' "a side that is empty, though many rows were expected"
of_many='SELECT count(*), sum(b.id + p.id), max(b.w) FROM b JOIN p USING (k)'
is "$(try -c 'SET max_parallel_workers_per_gather = 1' -c 'SET parallel_leader_participation = off' -c "$of_many")" "$(sql -c "$of_many")" \
    "a filter that drops nothing"
# without a Material node the subquery is run once for each row, with new workers
again="SELECT s.* FROM (VALUES (1), (2), (3)) v LEFT JOIN ($query) s ON true"
is "$(try -c 'SET enable_material = off' -c "SELECT is_shared('$again')" -c "$again")" $'t\n'"$expected"$'\n'"$expected"$'\n'"$expected" \
    "a shared join is run three times"

# ---- a file for each process and side, which is counted and logged when all have been read ----
before=$(as_user grep -c 'fileset' "$PGDATA/../log" || true)
try -c 'SET log_temp_files = 0' -c "$query" >/dev/null
made=$(($(as_user grep -c 'fileset' "$PGDATA/../log") - before))
is "$((made >= 2 && made <= 6))" 1 "3 processes have made $made files"

# ---- statements that end early ----
is "$(files)" 0 "none is left"
is "$(try -c 'SELECT a.id > 0 FROM a JOIN b USING (k) LIMIT 1')" t "LIMIT"
is "$(files)" 0 "none is left"
is "$(try -c 'SELECT count(*) FROM a JOIN b USING (k) WHERE 1000 / (a.id - 7777) < 100000 AND a.id + b.id > 3' -c "$query")" \
    $'ERROR:  22012\n'"$expected" "an error"
is "$(files)" 0 "none is left"
for ms in 5 15 40; do
    is "$(try -c "SET statement_timeout = '${ms}ms'" -c "$query, pg_sleep(0.2)" -c 'RESET statement_timeout' -c "$query")" \
        $'ERROR:  57014\n'"$expected" "statement_timeout: $ms ms"
    is "$(files)" 0 "none is left"
done
is "$(try -c "SET temp_file_limit = '10kB'" -c "SELECT count(a.w), count(b.w), max(a.w), max(b.w) FROM a JOIN b USING (k)" -c 'RESET temp_file_limit' -c "$query")" \
    $'ERROR:  53400\n'"$expected" "temp_file_limit"
is "$(files)" 0 "none is left"

# ---- damage: one byte of each file, when most rows have been written ----
damage() {
    cat >"$PGS_TMP/damage" <<END
cat >/dev/null      # or COPY fails, if it writes to a program that has ended
find $PGDATA/base/pgsql_tmp -type f -size +0 | while read -r file; do
    byte=\$(od -An -tu1 -j$1 -N1 "\$file")
    printf "\\\\\$(printf %03o \$((byte ^ 64)))" | dd of="\$file" bs=1 seek=$1 conv=notrunc status=none
done
END
    chmod 755 "$PGS_TMP/damage"
}
sql <<END
CREATE FUNCTION damage(int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE AS \$\$
BEGIN
    IF \$1 = 11900 THEN
        EXECUTE 'COPY (SELECT 1) TO PROGRAM ''bash $PGS_TMP/damage''';
    END IF;
    RETURN true;
END \$\$;
END
for place in 22 17; do
    damage $place
    is "$(try -c 'SELECT count(*) FROM a JOIN b USING (k) WHERE damage(b.id)' -c "$query")" $'ERROR:  XX001\n'"$expected" "byte $place of each file is damaged"
done
echo "find $PGDATA/base/pgsql_tmp -type f -delete" >"$PGS_TMP/damage"
is "$(try -c 'SELECT count(*) FROM a JOIN b USING (k) WHERE damage(b.id)' -c "$query")" $'ERROR:  58P01\n'"$expected" "the files are removed"
is "$(files)" 0 "none is left"
is "$(sql -c 'SELECT sum(spills) > 50 FROM sliced_spill.stat_temp_files')" t "statistics have what workers did"
