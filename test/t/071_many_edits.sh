#!/bin/bash
# Values with many thousands of edits: what is done with them takes time by their length, not by its square.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start main autovacuum=off shared_buffers=256MB
sql <<'END'
CREATE EXTENSION pg_sliced;
-- CPU time of this session so far, in hundredths of a second
CREATE FUNCTION ticks() RETURNS int LANGUAGE sql VOLATILE AS
$$SELECT (regexp_split_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' '))[12]::int$$;
-- what the statement takes, in hundredths of a second
CREATE FUNCTION takes(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    began int := ticks();
BEGIN
    EXECUTE statement;
    RETURN ticks() - began;
END $$;
CREATE FUNCTION element(n bigint, turn int) RETURNS text LANGUAGE sql AS $$SELECT left(md5(CASE WHEN n % 20 < turn THEN turn ELSE 0 END || 'x' || n), 30)$$;
END

# prepare N: a text[] and a jsonb of so many elements, one in 20 changed, and another one in 20 to come
prepare() {
    sql <<END
DROP TABLE IF EXISTS changed, sent;
CREATE TABLE changed (a text[], d jsonb) USING sliced;
ALTER TABLE changed ALTER a SET STORAGE external, ALTER d SET STORAGE external;
CREATE TABLE sent USING heap AS
    SELECT turn, array_agg(element(i, turn) ORDER BY i) AS a, jsonb_agg(jsonb_build_object('id', i, 'v', element(i, turn)) ORDER BY i) AS d
    FROM generate_series(0, 2) turn, generate_series(1, $1) i GROUP BY turn;
INSERT INTO changed SELECT a, d FROM sent WHERE turn = 0;
UPDATE changed SET a = (SELECT a FROM sent WHERE turn = 1), d = (SELECT d FROM sent WHERE turn = 1);
END
}
statements=("SELECT d @> '[{\"id\": -1}]' FROM changed"
    "UPDATE changed SET a = (SELECT a FROM sent WHERE turn = 2)" "UPDATE changed SET d = (SELECT d FROM sent WHERE turn = 2)")
names=("@> of a jsonb" "a text[] is sent again" "a jsonb is sent again")
declare -a few many
for count in 50000 300000; do
    prepare "$count"
    for i in 0 1 2; do
        took=$(sql -c "SELECT takes(\$\$${statements[i]}\$\$)")
        if [ "$count" = 50000 ]; then few[i]=$took; else many[i]=$took; fi
    done
    is "$(sql -c 'SELECT c.a = s.a, c.d = s.d FROM changed c, sent s WHERE turn = 2')" 't|t' "$count elements are what was sent"
    is "$(sql -c "SELECT count(*) FROM sliced.verify('changed')")" 0 "and sound"
done
# six times as many; its square is 36 times
for i in 0 1 2; do
    is "$((many[i] < 14 * (few[i] + 2)))" 1 "${names[i]}: ${few[i]} and ${many[i]} hundredths of a second"
done
