#!/bin/bash
# Rows longer than any tuple, and values as long as a tuple can be: what can be
# stored can be rewritten, and taken to heap and back.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

# lz4 because pglz would take a minute
server_start long max_wal_size=4GB default_toast_compression=lz4 shared_buffers=32MB
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE t (id int, a bytea, b bytea) USING sliced' \
    -c "CREATE FUNCTION x(n int) RETURNS bytea LANGUAGE sql AS 'SELECT convert_to(repeat(repeat(''x'', 1000), n / 1000) || repeat(''x'', n % 1000), ''SQL_ASCII'')'" \
    -c "INSERT INTO t VALUES (1, x(1000000), x(5000000))"

# grow LENGTH...: let a have that length, and say what is wrong
grow() {
    local length
    for length; do
        sql -v VERBOSITY=verbose -c "UPDATE t SET a = a || x($length - octet_length(a))" 2>&1 |
            sed -n 's/.*ERROR: *//p'
    done
}

# after COMMAND: are both values as they were?
after() {
    local values='SELECT id, octet_length(a), octet_length(b), substr(a, 500000000, 3), substr(b, 4999998) FROM t' before
    before=$(sql -c "$values")
    is "$(sql -c "$1" -c "$values" 2>&1)" "$before" "${before//|/, }: $1"
}

# Together these are more than MaxAllocSize, 1073741823; heap's lz4 takes a little less at once.
grow 250000000 500000000 750000000 1069500000
after 'ALTER TABLE t SET ACCESS METHOD heap'
after 'ALTER TABLE t SET ACCESS METHOD sliced'

# heap would form a tuple with 24 + 24 bytes of headers, and 8 and 18 beside the value.
grow 1073741749
is "$(grow 1073741750)" 'XX000: invalid memory alloc request size 1073741824' "a value is as long as in heap, but not longer"
is "$(sql -c "UPDATE t SET a = overlay(a placing 'xx' from 5 for 1)" 2>&1 | grep -c 1073741824)" 1 "nor by any other change"
after 'VACUUM FULL t'
is "$(sql -c "SELECT * FROM sliced.verify('t')" -c "SELECT position('z'::bytea IN a) FROM t")" 0 "it can be read as a whole"
server_stop long
