#!/bin/bash
# What sliced.convert() comes upon after it has waited: the toast relation has gone, a
# partition was dropped, is heap's, or is converted by another session.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start ddl
sql >/dev/null <<'END'
CREATE EXTENSION pg_sliced;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), 'hex'), ''), n) FROM generate_series(0, n / 128) i $$;
CREATE TABLE t (id int PRIMARY KEY, a text) USING heap;
INSERT INTO t SELECT i, dense(9000, i) FROM generate_series(1, 4) i;
SELECT sliced.adopt('t');
CREATE FUNCTION partitions() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    DROP TABLE IF EXISTS root;
    CREATE TABLE root (id int, a text) PARTITION BY LIST (id);
    FOR i IN 1..3 LOOP
        EXECUTE format('CREATE TABLE p%s PARTITION OF root FOR VALUES IN (%s) USING heap', i, i);
        EXECUTE format('INSERT INTO root VALUES (%s, dense(9000, %s))', i, i);
    END LOOP;
END $$;
-- core's values have a row 0
CREATE FUNCTION left_over() RETURNS SETOF regclass LANGUAGE plpgsql AS $$ DECLARE part record; n int; BEGIN
    FOR part IN SELECT c.oid::regclass AS name, reltoastrelid::regclass AS toast FROM pg_partition_tree('root') p JOIN pg_class c ON c.oid = p.relid WHERE isleaf ORDER BY 1 LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE chunk_seq = 0', part.toast) INTO n;
        IF n > 0 THEN RETURN NEXT part.name; END IF;
    END LOOP;
END $$;
END

# convert TABLE: in the background, until it waits for rows
convert() {
    as_user "$PGS_BINDIR/psql" -X -q -v VERBOSITY=terse -c "CALL sliced.convert('$1', max_wait => 600)" >"$PGS_TMP/of_$1" 2>&1 &
    converts=$!
    for ((i = 0; i < 600; i++)); do
        [ "$(sql -c "SELECT count(*) FROM sliced.convert_progress WHERE phase = 'waiting for locked rows' AND rel = '${2:-$1}'")" = 0 ] || return 0
        sleep 0.1
    done
    echo "not ok - timed out: conversion of $1 does not wait"
}

# A function in an index expression waits as well, so an index build may come while convert sleeps.
holder_begin "UPDATE t SET a = 'short' WHERE id = 4"
convert t
sql -c 'CREATE INDEX CONCURRENTLY i ON t (md5(a))' >"$PGS_TMP/index" 2>&1 &
index=$!
sleep 1
holder_end 'SELECT'
wait "$converts" "$index"
is "$(cat "$PGS_TMP/index")$(sql -c 'SELECT count(*) FROM pg_index WHERE NOT indisvalid')" 0 "an index is built meanwhile"

sql -c "UPDATE t SET a = dense(9000, id)" -c "VACUUM FULL t" -c 'ALTER TABLE t SET ACCESS METHOD heap' -c "SELECT sliced.adopt('t')" >/dev/null
holder_begin "UPDATE t SET a = 'short' WHERE id = 4"
convert t
holder_end 'DROP INDEX i; ALTER TABLE t ALTER a TYPE int USING 1'
wait "$converts" || true
is "$(grep -c ERROR "$PGS_TMP/of_t")" 0 "the toast relation goes"
is "$(sql -c 'SELECT count(*), sum(a) FROM t')" '4|4' "the rows are as they were made"

sql -c 'ALTER TABLE t ALTER a TYPE text' -c 'UPDATE t SET a = dense(9000, id)' -c 'ALTER TABLE t SET ACCESS METHOD heap' -c "SELECT sliced.adopt('t')" >/dev/null 2>&1
holder_begin 'SELECT id FROM t WHERE id = 4 FOR UPDATE'
convert t
holder_end 'TRUNCATE t'
wait "$converts" || true
is "$(grep -c ERROR "$PGS_TMP/of_t")" 0 "the blocks go"

for what in 'DROP TABLE p2' 'ALTER TABLE p2 SET ACCESS METHOD heap'; do
    sql -c 'SELECT partitions()' -c "SELECT sliced.adopt('p1'), sliced.adopt('p2'), sliced.adopt('p3')" >/dev/null 2>&1
    holder_begin 'SELECT id FROM p1 FOR UPDATE'
    convert root p1
    sql -c "$what"
    holder_end 'SELECT'
    wait "$converts" || true
    is "$(grep -c ERROR "$PGS_TMP/of_root")" 0 "$what meanwhile"
    is "$(sql -c "SELECT n FROM left_over() n WHERE n::text <> 'p2'")" "" "the other partitions are converted"
done

sql -c 'SELECT partitions()' -c 'INSERT INTO root VALUES (1, dense(9000, 4))' -c "SELECT sliced.adopt('p1'), sliced.adopt('p2'), sliced.adopt('p3')" >/dev/null 2>&1
holder_begin 'SELECT id FROM p1 LIMIT 1 FOR UPDATE'
convert root p1
holder_end 'DROP TABLE p1'
wait "$converts" || true
is "$(grep -c ERROR "$PGS_TMP/of_root")" 0 "the partition that is being converted goes"
is "$(sql -c 'SELECT * FROM left_over()')" "" "and the others are converted"

sql -c 'SELECT partitions()' -c "SELECT sliced.adopt('p1'), sliced.adopt('p2'), sliced.adopt('p3')" >/dev/null 2>&1
holder_begin 'SELECT id FROM p1 FOR UPDATE'
convert p1
first=$converts
is "$(as_user "$PGS_BINDIR/psql" -X -q -v VERBOSITY=terse -c "CALL sliced.convert('root')" 2>&1 | grep -E 'ERROR|WARNING')" \
    'WARNING:  another session is converting "p1"' "a partition that is converted already"
is "$(sql -c 'SELECT * FROM left_over()')" p1 "the other partitions are converted"
holder_end 'SELECT'
wait "$first"
is "$(sql -c 'SELECT * FROM left_over()')" "" "and that one by its own conversion"
is "$(sql -c 'CREATE TABLE to_come (id int, v text) PARTITION BY RANGE (id)' -c "SELECT sliced.adopt('to_come')" 2>&1 |
    grep -c 'new partitions of "to_come" will have access method "heap"')" "$((PG_MAJOR < 17))" "adopt() says what new partitions will be"

# a page that was never filled, as a crash may leave one behind
sql -c 'ALTER TABLE t SET ACCESS METHOD heap' -c 'INSERT INTO t SELECT i, dense(9000, i) FROM generate_series(1, 4) i' -c "SELECT sliced.adopt('t')" >/dev/null 2>&1
path=$(sql -c "SELECT pg_relation_filepath('t')")
server_stop ddl
as_user truncate -s +8192 "$PGDATA/$path"
server_start ddl
is "$(as_user "$PGS_BINDIR/psql" -X -q -v VERBOSITY=terse -c "CALL sliced.convert('t')" 2>&1 | sed 's/^.*NOTICE/NOTICE/')" 'NOTICE:  converted 4 rows of "t"' "a page that was never filled"
is "$(sql -c "SELECT * FROM sliced.verify('t')" -c 'SELECT count(*) FROM t WHERE a = dense(9000, id)')" 4 "has nothing"
server_stop ddl
