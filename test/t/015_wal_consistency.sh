#!/bin/bash
# What we change in place is logged: replay compares each page with the one it was made
# from, and the server starts again after a crash.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start consistent fsync=on wal_consistency_checking=all wal_level=logical autovacuum=off
sql >/dev/null <<'END'
CREATE EXTENSION pg_sliced;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), 'hex'), ''), n) FROM generate_series(0, n / 128) i $$;
CREATE TABLE w (id int PRIMARY KEY, body text, n int) USING heap;
INSERT INTO w SELECT i, dense(9000, i), 0 FROM generate_series(1, 40) i;
CREATE TABLE f (id int PRIMARY KEY, body text, n int) USING sliced;
ALTER TABLE f REPLICA IDENTITY FULL;
INSERT INTO f TABLE w;
SELECT sliced.adopt('w');
END

# crash NAME: kill the server, and start it again
crash() {
    local before
    before=$(sql -c "$rows")
    server_kill
    if server_start consistent 2>"$PGS_TMP/why"; then
        is "$(sql -c "$rows" -c "SELECT * FROM sliced.verify('w')" -c "SELECT * FROM sliced.verify('f')")" "$before" "$1"
    else
        echo "not ok - $1: the server does not start"
        grep -h FATAL "$PGS_TMP/why" | sed 's/^/# /'
        exit
    fi
}
rows="SELECT id, md5(body), n FROM w UNION ALL SELECT -id, md5(body), n FROM f ORDER BY 1"

sql -c CHECKPOINT -c "UPDATE w SET n = 1 WHERE id = 1" -c "UPDATE w SET body = 'new' || body WHERE id = 2"
crash "rows of core's are marked"
sql -c CHECKPOINT -c "UPDATE w SET n = 2 WHERE id = 20" -c "BEGIN" -c "UPDATE w SET body = 'new' || body WHERE id = 21" -c "ROLLBACK" \
    -c "DELETE FROM w WHERE id = 22" -c "UPDATE w SET body = 'short' WHERE id IN (21, 23)"
crash "and stay so after a rollback"
sql -c CHECKPOINT -c "CALL sliced.convert('w')" 2>/dev/null
crash "a table is converted"

# the identity of old rows is decoded
sql -c "SELECT FROM pg_create_logical_replication_slot('slot', 'test_decoding')" -c CHECKPOINT >/dev/null
sql -c "UPDATE f SET n = 1 WHERE id = 1" -c "DELETE FROM f WHERE id = 2" -c "UPDATE f SET body = 'short' WHERE id = 3" \
    -c BEGIN -c "UPDATE f SET body = body || 'end' WHERE id = 4" -c ROLLBACK -c "UPDATE f SET n = n + 1 WHERE id = 4"
sql -c "UPDATE w SET body = body || 'end' WHERE id < 9" -c "DELETE FROM w WHERE id = 30"
crash "old rows are logged with their values"
sql -c "SELECT pg_drop_replication_slot('slot')" -c CHECKPOINT >/dev/null
sql -c "UPDATE f SET body = body || 'more', n = n + 1" -c "UPDATE w SET body = body || 'more'"
crash "and changed without"
server_stop consistent
