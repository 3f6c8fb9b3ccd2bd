#!/bin/bash
# One transaction that appends again and again: its memory is bounded, whether
# or not each append is a subtransaction, and somebody keeps the results.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

n=${APPENDS:-100000}

server_start long max_wal_size=4GB
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int PRIMARY KEY, v text) USING sliced' \
    -c "CREATE FUNCTION memory() RETURNS bigint LANGUAGE sql AS 'SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts'"

# Run PL/pgSQL statement $2 for every i, as the whole of one transaction; does
# memory grow by more than $3 kB after the first fifth of them?
long() {
    sql -c 'TRUNCATE t' -c "INSERT INTO t SELECT i, repeat(md5(i::text), 200) FROM generate_series(0, 499) i"
    # in a function, whose variables are not detoasted like those of DO
    sql -c "CREATE OR REPLACE FUNCTION run() RETURNS text LANGUAGE plpgsql AS \$\$
        DECLARE kept text; before bigint; grown bigint;
        BEGIN
            FOR i IN 1 .. $n LOOP
                $2
                IF i = $n / 5 THEN before := memory(); END IF;
            END LOOP;
            grown := memory() - before;
            RETURN CASE WHEN grown < $3 * 1024 THEN 'bounded' ELSE (grown / 1024)::text || ' kB more' END;
        END \$\$"
    is "$(sql -c "SELECT run()" 2>&1)" bounded "$1"
    is "$(sql -c "SELECT count(*), sum(length(v)) FROM t" -c "SELECT * FROM sliced.verify('t')")" "${4:-500|$((500 * 6400 + n * 4))}" "$1: all of it is there"
}

update="UPDATE t SET v = v || 'ab' || 'cd' WHERE id = i % 500"
long "$n appends" "$update;" 16384
long "$n appends, returning" "$update RETURNING v INTO kept;" 16384
n=$((n / 4))
long "$n subtransactions" "BEGIN $update RETURNING v INTO kept; EXCEPTION WHEN division_by_zero THEN NULL; END;" 20480
long "$n subtransactions rolled back" "BEGIN $update RETURNING v INTO kept; PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END;" 49152 "500|$((500 * 6400))"

# Who has a promise has it until the end, after however many others.
sql -c 'CREATE TABLE many (id int PRIMARY KEY, v text) USING sliced' -c 'ALTER TABLE many ALTER v SET STORAGE EXTERNAL' \
    -c "INSERT INTO many SELECT i, repeat(md5(i::text), 95) FROM generate_series(1, 21000) i"
before=$(sql -c "SELECT md5(string_agg(md5(v || 'x'), '' ORDER BY id)) FROM many")
is "$(sql -c "WITH u AS (UPDATE many m SET v = s.v FROM (SELECT id, v || 'x' AS v FROM many OFFSET 0) s WHERE s.id = m.id RETURNING m.id, s.v)
    SELECT md5(string_agg(md5(v), '' ORDER BY id)) FROM u")" "$before" "21,000 promises in a tuplestore"
server_stop long
