#!/bin/bash
# The functions that plans for sliced tables call in place of core's: results
# and errors are the same for any argument, in any encoding.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

dir=$PGS_ROOT/test/t/functions seed=${SEED:-15} count=${CASES:-2500}
echo "# seed $seed, $count cases; SEED=... and CASES=... for others"

ascii='abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,;:-+*/()'
# as many of each length in bytes: they will lie across the ends of slices
utf8='aé€😀bßあ𝄞cñ한🂡düЖ𐍈eøक🜁fæ漢𓀀gλ→🎲hπ∞𠀋iц語🚀jд字💎kж、🗿lй。🧊mв丁🪐'
latin1='aébßcñdüeøfægåhæiÿjÄkÖlÜmáníoópúqàrèsìtòuùvâwêxîyôzûÆØÅÞðþ¿¡§'
eucjp='aあbいcう漢dｱeｲ字fｳえgｴ語hおｵiかｶ、jきｷ。kくｸlけｹmこｺ丁nさｻ丂oし丄pすｾq丅'

# on_am ACCESS_METHOD ENCODING: make the tables and run the cases.
on_am() {
    sql -v am="$1" -f "$dir/tables.sql"
    PGOPTIONS="-c search_path=on_$1" sql -v ON_ERROR_STOP=0 -v am="$1" -e -f "$PGS_TMP/$2.sql" 2>&1 |
        sed 's/^psql:.*: ERROR:/ERROR:/' >"$PGS_TMP/$2.$1"
}

# compare ENCODING LETTERS COUNT: run COUNT cases in a database of its own.
compare() {
    local encoding=$1 database=in_${1,,} heap out=$PGS_TMP/$1 plans
    sql -c "CREATE DATABASE $database TEMPLATE template0 ENCODING $encoding LOCALE 'C'"
    export PGDATABASE=$database PGCLIENTENCODING=UTF8
    sql -c 'CREATE EXTENSION pg_sliced' -c "ALTER DATABASE $database SET test.letters = '$2'" \
        -c "ALTER DATABASE $database SET default_toast_compression = $(best_method)"
    python3 "$dir/cases.py" "$seed" "$3" "$2" >"$out.sql"
    on_am heap "$encoding" &
    heap=$!
    on_am sliced "$encoding"
    wait "$heap"
    if diff -U3 "$out.heap" "$out.sliced" >"$out.diff"; then
        echo "ok - $encoding: $(grep -c '^UPDATE' "$out.heap") changes, $(grep -c '^ERROR' "$out.heap") errors"
    else
        echo "not ok - $encoding: $(grep -c '^@@' "$out.diff") differences"
        cut -c 1-300 "$out.diff" | head -n 40 | sed 's/^/# /'
    fi
    is "$(sql -c "SELECT * FROM sliced.verify('on_sliced.v')")" '' "$encoding: verify finds nothing"
}

server_start functions max_wal_size=4GB
compare UTF8 "$utf8" "$count"

# None of that says much if the plans call core's functions, or if the values
# that have been through many changes look like others.  EXPLAIN does not show
# which function an operator or a cast calls; the plan's numbers do.
awk '/^(UPDATE|SELECT) / && ++n <= 600 { print "EXPLAIN (VERBOSE, COSTS OFF) " $0 }' "$PGS_TMP/UTF8.sql" >"$PGS_TMP/explain.sql"
PGOPTIONS='-c search_path=on_sliced -c client_min_messages=log -c debug_print_plan=on -c debug_pretty_print=off' \
    sql -f "$PGS_TMP/explain.sql" >"$PGS_TMP/plans" 2>&1
called=$(grep -oE ':(op)?funcid [0-9]+' "$PGS_TMP/plans" | cut -d ' ' -f 2 | sort -un | xargs | tr ' ' ,)
is "$(sql -c "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'sliced_functions'::regnamespace
    AND proname ~ '^(text|get|edit)_' AND proname !~ 'jsonb|array|_toaster$' AND oid NOT IN ($called)")" '' "all our functions are called"
is "$(grep -av ':funcid' "$PGS_TMP/plans" | grep -ac 'sliced_functions\.edit_[a-z]*(' | awk '{ print ($1 > 100) }')" 1 "EXPLAIN shows them"
is "$(sql -c "SELECT name, count(DISTINCT object) FROM on_sliced.v, sliced.inspect(t) WHERE name = 'changed' GROUP BY 1 HAVING bool_or(codec = 'node') AND max(piece) > 3
    UNION ALL SELECT 'of nodes', 1 WHERE EXISTS (SELECT FROM on_sliced.v, sliced.inspect(b) WHERE codec = 'node' AND start < -1)
    UNION ALL SELECT name, count(DISTINCT object) FROM on_sliced.v, sliced.inspect(t) WHERE name = 'grown' GROUP BY 1 HAVING count(*) > 2" | cut -d '|' -f 1)" \
    $'changed\nof nodes\ngrown' "values consist of several slices, nodes and tails"

compare LATIN1 "$latin1" $((count / 3))
compare EUC_JP "$eucjp" $((count / 3))
server_stop functions
