# For scripts that look at rows as they are on their pages, and change them there.

# Compile bytes.c and make its functions known to the server.
bytes_install() {
    local config=${PG_CONFIG:-pg_config}
    # shellcheck disable=SC2046
    gcc -O1 -g -fPIC -shared -I"$PGS_ROOT/src" -isystem "$("$config" --includedir-server)" \
        "$PGS_ROOT/test/t/bytes/bytes.c" "$PGS_ROOT/src/format/checksum.c" -o "$PGS_TMP/bytes.so"
    chmod 755 "$PGS_TMP/bytes.so"
    sql -c "CREATE FUNCTION row_bytes(regclass, tid) RETURNS bytea AS '$PGS_TMP/bytes.so' LANGUAGE C" \
        -c "CREATE FUNCTION row_poke(regclass, tid, int, bytea) RETURNS void AS '$PGS_TMP/bytes.so' LANGUAGE C" \
        -c "CREATE FUNCTION forge(bytea, oid, int) RETURNS bytea AS '$PGS_TMP/bytes.so' LANGUAGE C"
}
