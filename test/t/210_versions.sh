#!/bin/bash
# ALTER EXTENSION UPDATE from every version that has a script leads to the same
# objects as CREATE EXTENSION of the newest.
#
# As that says little while there are few versions, the test makes one of its own in
# a copy of the installation: an earlier one without some objects and with some that
# are different, an update that makes good for it, and updates that forget something,
# which must be noticed.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

# All that makes up the extensions of database $1, as pg_upgrade would create it,
# with owners, privileges and comments, but without object ids.
objects() {
    as_user "$PGS_BINDIR/pg_dump" --binary-upgrade --schema-only "$1" |
        sed -E '/binary_upgrade_set_next_/d; /^(--|\\|SET |SELECT pg_catalog.set_config|$)/d'
}

# update EXTENSION FROM: to the newest; what is different then goes to PGS_TMP/difference.
update() {
    sql -c 'DROP DATABASE IF EXISTS updated' -c 'DROP DATABASE IF EXISTS fresh' -c 'CREATE DATABASE updated' -c 'CREATE DATABASE fresh'
    sql -d fresh -c "CREATE EXTENSION $1 CASCADE"
    # what others build on first, in its newest version
    [ "$1" != sliced_hstore ] || sql -d updated -c 'CREATE EXTENSION hstore' -c 'CREATE EXTENSION pg_sliced'
    sql -d updated -c "CREATE EXTENSION $1 VERSION '$2'" -c "ALTER EXTENSION $1 UPDATE"
    objects fresh >"$PGS_TMP/fresh"
    objects updated >"$PGS_TMP/updated"
    diff "$PGS_TMP/fresh" "$PGS_TMP/updated" >"$PGS_TMP/difference"
}

# same EXTENSION FROM: one test.
same() {
    if update "$1" "$2"; then
        echo "ok - $1 $2 is updated"
    else
        echo "not ok - $1 $2 is updated"
        sed 's/^/# /' "$PGS_TMP/difference" | head -n 20
    fi
}

versions() {
    sql -c "SELECT version FROM pg_available_extension_versions WHERE name = '$1' ORDER BY 1"
}

server_start versions client_min_messages=warning
for extension in pg_sliced sliced_hstore sliced_spill; do
    for version in $(versions $extension); do
        same $extension "$version"
    done
done
newest=$(sql -c "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_sliced'")
update pg_sliced "$newest"
is "$(grep -cE 'ALTER EXTENSION "*pg_sliced"* ADD (FUNCTION|PROCEDURE)' "$PGS_TMP/fresh")" \
    "$(sql -d fresh -c "SELECT count(*) FROM pg_depend WHERE deptype = 'e' AND classid = 'pg_proc'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_sliced')")" "all functions are compared"
server_stop versions

# ---- a version that never was, in an installation of our own ----

tree_copy
extensions=$PGS_TREE$("$PG_CONFIG" --sharedir)/extension

lost='CREATE FUNCTION sliced_functions.text_right(text, int) RETURNS text
AS $$MODULE_PATHNAME$$, $$sliced_text_right$$
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION sliced_functions.text_right(text, int) IS $$in plans, for values stored as slices: right() of core$$;'
changed='ALTER FUNCTION sliced_functions.text_length(text) IMMUTABLE;'
comment='COMMENT ON FUNCTION sliced.inspect(anyelement) IS $$the slices of a value$$;'
privilege='GRANT SELECT ON sliced.toasters TO PUBLIC;'

# earlier VERSION STATEMENT...: a version that lacks all of these, and an update that has these.
earlier() {
    sed -e '/^CREATE FUNCTION sliced_functions.text_right/,/;$/d' \
        -e '/^COMMENT ON FUNCTION sliced_functions.text_right/,/;$/d' \
        -e '/^CREATE FUNCTION sliced_functions.text_length/,/;$/s/IMMUTABLE/STABLE/' \
        -e '/^COMMENT ON FUNCTION sliced.inspect/,/;$/d' \
        -e '/^GRANT SELECT ON sliced.toasters/d' "$extensions/pg_sliced--$newest.sql" >"$extensions/pg_sliced--$1.sql"
    printf '%s\n' "${@:2}" >"$extensions/pg_sliced--$1--$newest.sql"
}

earlier 0.0.1 "$lost" "$changed" "$comment" "$privilege"
earlier 0.0.2 "$changed" "$comment" "$privilege"
earlier 0.0.3 "$lost" "$comment" "$privilege"
earlier 0.0.4 "$lost" "$changed" "$privilege"
earlier 0.0.5 "$lost" "$changed" "$comment"
server_start versions
same pg_sliced 0.0.1
for forgotten in '2 text_right' '3 STABLE' '4 inspect' '5 toasters'; do
    if update pg_sliced "0.0.${forgotten%% *}"; then
        echo "not ok - an update that forgets ${forgotten##* } is noticed"
    else
        is "$(grep -c "[<>].*${forgotten##* }" "$PGS_TMP/difference" | sed 's/^[1-9]$/some/')" some \
            "an update that forgets ${forgotten##* } is noticed"
    fi
done
server_stop versions
