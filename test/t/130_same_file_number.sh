#!/bin/bash
# A temporary table's file may have the number of a permanent one's: they are
# told apart by who uses them, and each table finds its own pages.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start numbers
sql -c 'CREATE EXTENSION pg_sliced' -c 'CREATE TABLE shared (id int, v text) USING sliced' \
    -c 'ALTER TABLE shared ALTER v SET STORAGE external'
# a file whose number is not the oid of anything
sql -c 'TRUNCATE shared'
number=$(sql -c "SELECT pg_relation_filenode('shared')")

# Numbers are given out anew from shortly before that one.
server_stop numbers
as_user "$PGS_BINDIR/pg_resetwal" -o $((number - 100)) "$PGS_TMP/numbers/data" >/dev/null
server_start numbers

# Rows at the same places in both tables, of other values and of the same,
# updated and deleted in turns.
content="string_agg(id || left(v, 1) || length(v) || right(v, 1), ' ' ORDER BY id)"
is "$(sql <<END
CREATE TEMP TABLE own (id int, v text) USING sliced;
ALTER TABLE own ALTER v SET STORAGE external;
DO \$\$ BEGIN WHILE lo_create(0) <> $number - 1 LOOP END LOOP; END \$\$;
TRUNCATE own;
SELECT pg_relation_filenode('own') = pg_relation_filenode('shared');
INSERT INTO shared SELECT i, repeat(CASE WHEN i > 2 THEN '=' ELSE 's' END, 9000 + i) FROM generate_series(1, 6) i;
INSERT INTO own SELECT i, repeat(CASE WHEN i > 2 THEN '=' ELSE 'o' END, 9000 + i) FROM generate_series(1, 6) i;
UPDATE shared SET v = v || 'x' WHERE id = 1;
UPDATE own SET v = v || 'y' WHERE id = 2;
UPDATE shared SET v = v || 'x' WHERE id = 3;
UPDATE own SET v = repeat('=', 9004) WHERE id = 4;
DELETE FROM shared WHERE id = 5;
DELETE FROM own WHERE id = 6;
SELECT $content FROM shared;
SELECT $content FROM own;
SELECT 'shared', kind, message FROM sliced.verify('shared') UNION ALL SELECT 'own', kind, message FROM sliced.verify('own');
END
)" 't
1s9002x 2s9002s 3=9004x 4=9004= 6=9006=
1o9001o 2o9003y 3=9003= 4=9004= 5=9005=' 'two tables with one file number'

# A value's id may be that of another table's value: one statement reads both documents.
sql -c 'CREATE TABLE one (j jsonb) USING sliced' -c 'CREATE TABLE two (j jsonb) USING sliced' \
    -c "CREATE FUNCTION doc(what text) RETURNS jsonb LANGUAGE sql AS 'SELECT jsonb_object_agg(k, what || md5(what || k)) FROM generate_series(1000, 1400) k'" \
    -c "INSERT INTO one SELECT doc('one')"
number=$(sql -c 'SELECT DISTINCT object FROM one, sliced.inspect(j) WHERE object IS NOT NULL')
server_stop numbers
as_user "$PGS_BINDIR/pg_resetwal" -o $((number - 100)) "$PGS_TMP/numbers/data" >/dev/null
server_start numbers
is "$(sql <<END
DO \$\$ BEGIN WHILE lo_create(0) <> $number - 1 LOOP END LOOP; END \$\$;
INSERT INTO two SELECT doc('two');
SELECT DISTINCT object = $number FROM two, sliced.inspect(j) WHERE object IS NOT NULL;
SELECT left(one.j->>'1005', 3), left(two.j->>'1005', 3), left(one.j->>'1399', 3), left(two.j->>'1399', 3) FROM one, two;
END
)" $'t\none|two|one|two' 'two documents with one id'
server_stop numbers
