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
server_stop numbers
