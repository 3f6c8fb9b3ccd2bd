#!/bin/bash
# report() is a page that stands for itself: any parser of XML reads it, names are no
# markup, it shows what it should to those who may see it, and fits a phone.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start main autovacuum=off
sql -f "$PGS_ROOT/test/t/advice/tables.sql" >/dev/null
sql >/dev/null <<'END'
SET client_min_messages = warning;
CREATE TABLE "</pre><b>Ärger & 'Co" USING sliced AS SELECT id, doc AS "<i>", 'x' AS U&"bell\0007, tab\0009, line\000A, \FFFE\FFFF" FROM documents;
UPDATE "</pre><b>Ärger & 'Co" SET "<i>" = jsonb_set("<i>", '{status}', '"<u>"') WHERE id <= 300;
CREATE TABLE trained (LIKE short) USING sliced WITH (toast_tuple_target = 128);
SELECT sliced.alter_column('trained', 'doc', 'compression=zstd');
INSERT INTO trained SELECT * FROM short;
SELECT * FROM sliced.train('trained');
CREATE ROLE guest;
GRANT SELECT ON documents, random TO guest;
-- values that are no longer there, or no longer outside; and one that was sent and is not written
CREATE TABLE was (id int, gone bytea, inside bytea) USING sliced;
INSERT INTO was SELECT i, noise(i, 5000), noise(i, 6000) FROM generate_series(1, 150) i;
UPDATE was SET gone = NULL, inside = '';
CREATE TABLE still (id int, raw bytea) USING sliced;
INSERT INTO still SELECT i, noise(i, 9000) FROM generate_series(1, 150) i;
SELECT sliced.stat_reset('still');
UPDATE still SET raw = overlay(raw PLACING substr(raw, 1, 9) FROM 1) WHERE id = 1;
-- of many changes each writes little
CREATE TABLE often (id int, raw bytea) USING sliced;
INSERT INTO often SELECT i, noise(i, 100000) FROM generate_series(1, 50) i;
SELECT sliced.stat_reset('often');
DO $$ BEGIN FOR i IN 1 .. 5 LOOP UPDATE often SET raw = set_byte(raw, 10000 * i, i); END LOOP; END $$;
END

# report NAME [psql argument...]: write it to a file of that name.
report() {
    local name=$1
    shift
    sql -c 'SET client_min_messages = warning' "$@" -c 'SELECT sliced.report()' >"$PGS_TMP/$name"
}

# ask FILE EXPRESSION: of the page as 'root', its text as 'text', elements of a class by of().
ask() {
    python3 - "$PGS_TMP/$1" "$2" <<'END'
import re, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
text = " ".join(" ".join(root.find("body").itertext()).split())
def of(name): return [e for e in root.iter() if name in e.get("class", "").split()]
def section(title):
    body = list(root.find("body"))
    start = next(i for i, e in enumerate(body) if e.tag == "h2" and e.text == title)
    end = next((i for i, e in enumerate(body) if i > start and e.tag == "h2"), len(body))
    return [e for part in body[start:end] for e in part.iter()]
def names(title, tag): return [e.text for e in section(title) if e.tag == tag and e.text]
result = eval(sys.argv[2])
print("\n".join(map(str, result)) if isinstance(result, list) else result)
END
}

odd="</pre><b>Ärger & 'Co"

report page
is "$(tr -d '\n\t\40-\176' <"$PGS_TMP/page" | wc -c)" 0 "all of it is ASCII"
is "$(grep -ciE '<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:' "$PGS_TMP/page" || true)" 0 "it needs nothing else"
is "$(ask page '{e.tag for e in root.iter()} - set("html head meta title style body h1 h2 h3 p div span b i section pre table tr th td".split())')" \
    'set()' "no name became markup"
is "$(ask page 'sorted(names("Where the space is", "th")[1:])')" \
    "$(sql -c "SELECT DISTINCT 'public.' || rel::text COLLATE \"C\" AS name FROM sliced.advise() ORDER BY name")" \
    "it has the tables that advise() speaks of"
is "$(ask page "[c for c in names('What is in rows, and what is outside', 'span') if '<' in c]")" "<i>" "and columns"
is "$(ask page "[ascii(c) for c in names('What is in rows, and what is outside', 'span') if 'bell' in c]")" "'bell\\ufffd, tab\\t, line\\n, \\ufffd\\ufffd'" "of a name only what a page may have"
is "$(ask page 'len([e for e in root.iter("pre")]) > 5 and "leave" not in names("What to do", "span")')" True "there is advice"
is "$(ask page "[e.text for e in section('Dictionaries') if e.tag == 'th']")" $'table\npublic.trained' "dictionaries"
is "$(ask page "40 < int([e.text for e in section('Dictionaries') if e.tag == 'td'][-1].split()[0]) < 60")" True "and what they save"
is "$(ask page "[n for n in names('What changes have cost', 'h3') if '<' in n]")" "public.\"$odd\": <i>" "changes"
is "$(ask page "'values 688, 188 of them changed in part' in text and 'times as much' in text")" True "and what they cost"
is "$(ask page "[int(of.replace(',', '')) > 10 for of in re.findall(r'about \d+ MB, ([0-9.,]+) times as much', text)]")" True "also where they cost next to nothing"
is "$(ask page "sorted(n for n in names('What changes have cost', 'h3') if 'public.was' in n or 'public.still' in n)")" $'public.still: raw\npublic.was: gone\npublic.was: inside' "changes of what is there no longer, and none"
is "$(ask page "'pg_sliced 1.0' in text and 'SET ACCESS METHOD heap' in text")" True "our version, and the way back"
is "$(ask page "len(of('present')) > 0")" True "what a sliced table has now is marked"

# sizes are those of the tables
is "$(ask page "[[e.text for e in row if e.tag == 'td'][2:5] for row in section('Where the space is') if row.tag == 'tr' and row[0].text == 'public.documents'][0]")" \
    "$(sql -F $'\n' -c "SELECT pg_size_pretty(pg_relation_size(oid)), pg_size_pretty(pg_relation_size(reltoastrelid) + pg_indexes_size(reltoastrelid)),
        pg_size_pretty(pg_indexes_size(oid)) FROM pg_class WHERE oid = 'documents'::regclass")" \
    "sizes"

# ---- others ----
report guest -c 'SET ROLE guest'
is "$(ask guest 'sorted(set(names("Where the space is", "th")[1:]))')" $'public.documents\npublic.random' "who may read two tables sees two"
sql >/dev/null <<'END'
CREATE ROLE visitor;
CREATE TABLE nulls AS SELECT i AS id, NULL::text AS t FROM generate_series(1, 40000) i;
SELECT format('CREATE TABLE many%s AS SELECT repeat(''x'', 1900) AS t FROM generate_series(1, 600)', i) FROM generate_series(1, 21) i \gexec
GRANT SELECT ON nulls TO visitor;
SELECT format('GRANT SELECT ON many%s TO visitor', i) FROM generate_series(1, 21) i \gexec
END
report many -c 'SET ROLE visitor'
is "$(ask many "[len([e for e in section(s) if e.tag == 'h3']) for s in ('What tables would take', 'What is in rows, and what is outside')] + [len(names('Where the space is', 'th'))]")" \
    $'20\n20\n23' "of many tables, the largest ones"
sql -c "DO \$\$ BEGIN FOR i IN 1 .. 21 LOOP EXECUTE 'DROP TABLE many' || i; END LOOP; END \$\$" -c 'DROP TABLE nulls'
sql -c 'BEGIN READ ONLY' -c "SELECT sliced.report('1 s')" >"$PGS_TMP/read"
sql -c 'CREATE SCHEMA hidden' -c 'CREATE TABLE hidden.t (v text) USING sliced' \
    -c "INSERT INTO hidden.t SELECT string_agg(md5(i::text), '') FROM generate_series(1, 3000) i"
report blind -c 'SET ROLE guest'
is "$(ask blind 'root.find("body/h1").text')" 'Large values in postgres' "who may not look into a schema sees a page"
sql -c 'DROP SCHEMA hidden CASCADE' 2>/dev/null
is "$(ask read 'len(of("figures"))')" 1 "in a transaction that only reads"
sql -c "SELECT sliced.report('1 ms')" >"$PGS_TMP/hasty" 2>/dev/null
is "$(ask hasty 'root.find("body/h1").text')" 'Large values in postgres' "in no time"
is "$(sql -c "SELECT sliced.report('0')" 2>&1)" 'ERROR:  max_time must be more than nothing' "not in less"

mkfifo "$PGS_TMP/held"
sql <"$PGS_TMP/held" >/dev/null &
exec 7>"$PGS_TMP/held"
echo 'BEGIN; LOCK TABLE documents, trained IN ACCESS EXCLUSIVE MODE; SELECT pg_advisory_lock(1);' >&7
until [ "$(sql -c 'SELECT count(*) FROM pg_locks WHERE locktype = $$advisory$$')" = 1 ]; do sleep 0.1; done
sql -c "SET statement_timeout = '60s'" -c "SELECT sliced.report('50s')" >"$PGS_TMP/locked" 2>"$PGS_TMP/warned"
# how far it is it tells a slow machine
is "$(grep -v '^NOTICE: .* tables looked at$' "$PGS_TMP/warned" | sort)" $'WARNING:  table "public.documents" is left out: another session has locked it\nWARNING:  table "public.trained" is left out: another session has locked it' \
    "tables that are locked are warned of"
is "$(ask locked '"public.documents" in names("Where the space is", "th"), "public.random" in names("Where the space is", "th")')" \
    '(False, True)' "and left out"
exec 7>&-
wait

# a byte that is a character in LATIN1, one that WIN1252 lacks in UTF-8, and an encoding without a conversion
declare -A names=([LATIN1]='gr\374n' [SQL_ASCII]='gr\374n' [WIN1252]='gr\201n' [MULE_INTERNAL]='gr\201\374n')
for encoding in LATIN1 SQL_ASCII WIN1252 MULE_INTERNAL; do
    # 19 has no MULE_INTERNAL
    [ "$(sql -c "SELECT pg_char_to_encoding('$encoding')")" != -1 ] || continue
    sql -c "CREATE DATABASE other ENCODING $encoding TEMPLATE template0"
    report empty -d other -c 'CREATE EXTENSION pg_sliced'
    is "$(ask empty '"There is no table" in text')" True "$encoding: an empty database"
    # shellcheck disable=SC2059
    sql -d other -c "CREATE TABLE \"$(printf "${names[$encoding]}")\" AS SELECT id, repeat(md5(id::text), 300) AS t FROM generate_series(1, 9000) id"
    report other -d other
    is "$(ask other 'names("Where the space is", "th")[1]')" \
        "$([ $encoding = LATIN1 ] && echo 'public."grün"' || echo 'public."gr�n"')" "$encoding: characters"
    sql -c 'DROP DATABASE other'
done

# ---- in a browser ----
if ! command -v chromium >/dev/null; then
    echo "# skipped: how wide it is in a browser, as there is no chromium"
    exit
fi
cp "$PGS_TMP/page" "$PGS_TMP/page.html"
for width in 375 1200; do
    cat >"$PGS_TMP/frame.html" <<END
<iframe id="f" src="page.html" style="width: ${width}px; height: 700px; border: 0"></iframe>
<script>window.onload = () => document.title = document.getElementById("f").contentDocument.documentElement.scrollWidth</script>
END
    as_user chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom \
        "file://$PGS_TMP/frame.html" >"$PGS_TMP/dom" 2>"$PGS_TMP/errors" || cat "$PGS_TMP/errors"
    width_used=$(grep -o '<title>[^<]*' "$PGS_TMP/dom")
    is "$((${width_used#*>} <= width))" 1 "nothing is wider than a window of $width pixels"
done
