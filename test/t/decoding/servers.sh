# Servers that replicate tables "t" and "u": sourced by scripts beside this folder.
#
# Random transactions change "t".  Documents and texts of "u" change all the time between
# keep_changing and stop_changing.

here=$PGS_ROOT/test/t/decoding

# SQL that makes the two tables, with these access methods.
tables() {
    echo "CREATE TABLE t (id int PRIMARY KEY, a text, b text, d jsonb, n int DEFAULT 0) USING $1;
        CREATE TABLE u (LIKE t INCLUDING ALL) USING ${2:-$1};"
}

# fill SERVER METHOD [METHOD]: make the tables, with rows.
fill() {
    on "$1" -f "$here/functions.sql" -f "$here/changing.sql" -c "$(tables "$2" "${3:-$2}")" \
        -c "INSERT INTO u SELECT i, dense(i * 2000, i), dense(i * 300, -i), doc(i * 100, i) FROM generate_series(1, 10) i"
    change "$1" 1 30
}

# change SERVER SEED COUNT: run random transactions on "t".  Some fail by design.
change() {
    "$PGS_PYTHON" "$here/statements.py" "$2" "$3" dml | sed "s/%T/t/g; s/%P/t_pkey/g; s/%G/g$2_/g; s/\$/;/" |
        on "$1" -v ON_ERROR_STOP=0 >"$PGS_TMP/changes" 2>&1 || true
}

# Change "u" of server $1 until stop_changing.
keep_changing() {
    on "$1" -c 'TRUNCATE enough' -c 'CALL keep_changing()' &
    changing=$!
    until_true "$1" 'SELECT sum(n) > 10 FROM u'
}

stop_changing() {
    on "$1" -c 'INSERT INTO enough VALUES (1)'
    wait "$changing"
}

# Make server $2 a standby of server $1; the rest are settings.
standby_start() {
    local primary=$1 name=$2
    shift 2
    as_user mkdir -m 700 "$PGS_TMP/$name" "$PGS_TMP/$name/socket"
    (server_use "$primary" && as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/$name/data" -R -c fast -d dbname=postgres)
    server_start "$name" unix_socket_directories="$PGS_TMP/$name/socket" "$@"
}

# How others connect to server $1.
connection() {
    echo "host=$PGS_TMP/$1/socket port=5432 user=postgres dbname=${2:-postgres}"
}

# Wait until query $2 on server $1 says "t".
until_true() {
    local i
    for ((i = 0; i < 600; i++)); do
        [ "$(on "$1" -c "$2")" != t ] || return 0
        sleep 0.1
    done
    echo "not ok - $1: $2"
    return 1
}

# Wait until server $1 has copied all tables that it subscribes to.
copied() {
    until_true "$1" "SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel"
}

# Wait until all subscribers and standbys of server $1 have what was written there.
caught_up() {
    until_true "$1" "SELECT count(*) > 0 AND bool_and(replay_lsn >= '$(on "$1" -c 'SELECT pg_current_wal_lsn()')') FROM pg_stat_replication"
}

digest() {
    on "$1" -c "SELECT count(*), md5(string_agg(r::text, ',' ORDER BY id)) FROM $2 r"
}

# same SERVER SERVER NAME: three tests, that rows are equal and that verify finds nothing.
same() {
    local table
    for table in t u; do
        is "$(digest "$2" $table)" "$(digest "$1" $table)" "$3: rows of $table"
    done
    is "$(damage "$1"; damage "$2")" '' "$3: verify finds nothing"
}

# What verify finds in sliced tables of server $1.
damage() {
    on "$1" -c "SELECT c.relname, f FROM pg_class c JOIN pg_am a ON a.oid = c.relam, sliced.verify(c.oid) f
        WHERE c.relkind = 'r' AND a.amname = 'sliced'"
}
