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

# compare ENCODING LETTERS COUNT: run COUNT cases in a database of its own.
compare() {
    local encoding=$1 letters=$2 am
    sql -c "CREATE DATABASE in_$encoding TEMPLATE template0 ENCODING $encoding LOCALE 'C'"
    export PGDATABASE=in_$encoding PGCLIENTENCODING=UTF8
    sql -c 'CREATE EXTENSION pg_sliced' -c "ALTER DATABASE in_$encoding SET test.letters = '$letters'" \
        -c "ALTER DATABASE in_$encoding SET default_toast_compression = lz4"
    python3 "$dir/cases.py" "$seed" "$3" "$letters" >"$PGS_TMP/cases.$encoding"
    for am in heap sliced; do
        (
            sql -v am="$am" -f "$dir/tables.sql"
            PGOPTIONS="-c search_path=$am" sql -v ON_ERROR_STOP=0 -e -f "$PGS_TMP/cases.$encoding" 2>&1
        ) | sed 's/^psql:.*: ERROR:/ERROR:/' >"$PGS_TMP/$encoding.$am" &
    done
    wait
    if diff -U3 "$PGS_TMP/$encoding".{heap,sliced} >"$PGS_TMP/$encoding.diff"; then
        echo "ok - $encoding: $(grep -c '^UPDATE' "$PGS_TMP/$encoding.heap") changes, $(grep -c '^ERROR' "$PGS_TMP/$encoding.heap") errors"
    else
        echo "not ok - $encoding: $(grep -c '^@@' "$PGS_TMP/$encoding.diff") differences"
        cut -c 1-300 "$PGS_TMP/$encoding.diff" | head -n 40 | sed 's/^/# /'
    fi
    is "$(sql -c "SELECT * FROM sliced.verify('sliced.v')")" '' "$encoding: verify finds nothing"
}

server_start functions max_wal_size=4GB
compare UTF8 "$utf8" "$count"
