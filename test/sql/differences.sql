-- What an update writes that sends a whole new value with edits far apart.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA differences;
SET search_path = differences, public;

-- "mb" million bytes
CREATE FUNCTION log(mb int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format(E'request %s of user %s took %s ms, for "%s", and was served by %s\n', to_char(i, 'FM0000000'), to_char(i * 7919 % 997, 'FM000'),
                             to_char(i * 31 % 89, 'FM00'), substr(md5(i::text), 1, 20), substr(md5((i % 9)::text), 1, 12)), '' ORDER BY i)
    FROM generate_series(1, mb * 10000) i
$$;
CREATE FUNCTION edited(v text, place int, cut int, put text) RETURNS text LANGUAGE sql AS $$ SELECT overlay(v PLACING put FROM place FOR cut) $$;

CREATE TABLE old (v text) USING heap;
INSERT INTO old VALUES (log(1));
SELECT length(v) FROM old;
CREATE TABLE t (v text, c varchar, j json, b bytea, d jsonb) USING sliced;
CREATE FUNCTION set_all(new text) RETURNS void LANGUAGE sql AS $$
    UPDATE t SET v = new, c = new::varchar, j = to_json(new), b = new::bytea, d = jsonb_build_object('a', 1, 'long', new)
$$;
-- what is written when column "col" gets another value: new values are computed by then
CREATE FUNCTION wal_of(col text, new text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    value text := CASE col WHEN 'j' THEN '$1::json' WHEN 'b' THEN '$1::bytea' WHEN 'd' THEN '$1::jsonb' WHEN 'c' THEN '$1::varchar' ELSE '$1' END;
    start pg_lsn;
BEGIN
    IF col = 'j' THEN new := to_json(new); END IF;
    IF col = 'd' THEN new := jsonb_build_object('a', 1, 'long', new); END IF;
    start := pg_current_wal_insert_lsn();
    EXECUTE format('UPDATE t SET %I = %s', col, value) USING new;
    RETURN pg_current_wal_insert_lsn() - start;
END $$;
-- the least of three that begin with the old value; other sessions may write as well
CREATE FUNCTION writes(col text, new text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE least numeric;
BEGIN
    FOR i IN 1 .. 3 LOOP
        DELETE FROM t;
        INSERT INTO t VALUES (NULL);
        PERFORM set_all(v) FROM old;
        PERFORM wal_of(col, (SELECT edited(v, 7, 1, '+') FROM old));    -- it touches the pages: their images are written once
        PERFORM wal_of(col, (SELECT v FROM old));
        least := least(least, wal_of(col, new));
    END LOOP;
    RETURN least;
END $$;
CREATE VIEW columns AS SELECT column_name::text AS col FROM information_schema.columns WHERE table_schema = 'differences' AND table_name = 't' ORDER BY ordinal_position;

-- two edits at either end, then as many in the middle, of other lengths
SELECT col, writes(col, edited(edited(v, 1000, 3, '###'), 999000, 3, '###')) < 3000 AS two,
    writes(col, edited(edited(v, 1000, 3, 'inserted here'), 999000, 30, '')) < 3000 AS two_moved
FROM columns, old;
-- five, one of them of two thousand bytes
SELECT col, writes(col, edited(edited(edited(edited(edited(v, 900000, 1, 'five'), 700000, 44, ''), 500000, 2000, '4'), 400000, 1, repeat(md5('3'), 60)), 30, 0, 'two')) < 9000 AS five
FROM columns, old;
-- a quarter is cut out, and something changed on either side; some beginning is new, and there is an edit behind it
SELECT col, writes(col, left(edited(v, 50000, 3, '+++'), 400000) || edited(substr(v, 650000), 300000, 2, 'end')) < 9000 AS cut_out,
    writes(col, repeat(md5('new'), 2000) || edited(substr(v, 50000), 700000, 3, '---')) < 80000 AS other_beginning
FROM columns, old;

-- one line in ten: the same, moved by some bytes at each; and in the one object of a document
SELECT sliced.stat_reset('t');
SELECT set_all(string_agg(CASE WHEN n % 10 = 3 THEN replace(line, 'request', 'question') ELSE line END, E'\n' ORDER BY n))
FROM old, string_to_table(v, E'\n') WITH ORDINALITY l (line, n);
SELECT md5(v), c = v AS c, (j #>> '{}') = v AS j, convert_from(b, 'UTF8') = v AS b, (d->>'long') = v AS d FROM t;
SELECT * FROM sliced.verify('t');

-- with nothing in common columns are stored whole, and soon no longer compared
CREATE TABLE other (id int, v text) USING sliced;
INSERT INTO other SELECT 1, v FROM old;
SELECT sliced.stat_reset('other');
DO $$ BEGIN
    FOR i IN 1 .. 3 LOOP
        UPDATE other SET v = (SELECT translate(old.v, 'abcdefghijklmnopqrstuvwxyz0123456789', substr('bcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789', i * 5)) FROM old);
    END LOOP;
END $$;
SELECT replaced, changed FROM sliced.stat_columns WHERE rel = 'other' AND col = 'v';

-- a change in every object of a document that compresses well costs more than the document
CREATE TABLE dense (id int, v jsonb) USING sliced;
INSERT INTO dense SELECT 1, jsonb_agg((SELECT jsonb_object_agg('key' || j, 'value' || j) FROM generate_series(1, 18) j)) FROM generate_series(1, 2000) i;
CREATE TABLE changed AS SELECT jsonb_agg(e || '{"key7": "another"}') AS v FROM dense, jsonb_array_elements(v) e;
UPDATE dense SET v = changed.v FROM changed;
SELECT replaced, changed, dense.v = changed.v AS same FROM sliced.stat_columns, dense, changed WHERE rel = 'dense' AND col = 'v';
-- ... but not if it does not compress
UPDATE dense SET v = (SELECT jsonb_agg((SELECT jsonb_object_agg('key' || j, md5(i || ' ' || j)) FROM generate_series(1, 18) j)) FROM generate_series(1, 2000) i);
UPDATE changed SET v = (SELECT jsonb_agg(e || '{"key7": "another"}') FROM dense, jsonb_array_elements(v) e);
UPDATE dense SET v = changed.v FROM changed;
SELECT replaced, changed, dense.v = changed.v AS same FROM sliced.stat_columns, dense, changed WHERE rel = 'dense' AND col = 'v';
DROP TABLE dense, changed;
-- bytes that are no jsonb: a container without room for its entries, at the end of a document
-- many edits of a value that has been edited where a sample of what is stored is taken
CREATE TABLE sampled (v text) USING sliced;
ALTER TABLE sampled ALTER v SET STORAGE external;
INSERT INTO sampled SELECT string_agg(md5(i::text) || ' word ' || repeat(md5(i::text), 4), '' ORDER BY i) FROM generate_series(1, 320) i;
CREATE TABLE core USING heap AS TABLE sampled;
UPDATE sampled SET v = overlay(v PLACING repeat('literal', 30) FROM 6540 FOR 210);
UPDATE core SET v = overlay(v PLACING repeat('literal', 30) FROM 6540 FOR 210);
SELECT object AS shared FROM sampled, sliced.inspect(v) WHERE codec <> 'node' LIMIT 1 \gset
UPDATE sampled SET v = replace(v, ' word ', ' WORD ');
UPDATE core SET v = replace(v, ' word ', ' WORD ');
SELECT s.v = c.v AS same, :shared IN (SELECT object FROM sampled, sliced.inspect(v)) AS shared FROM sampled s, core c;
DROP TABLE sampled, core;

-- what one column's values have in common says nothing of another column, even the 64th behind it
CREATE TABLE many_columns (c1 text) USING sliced;
DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE many_columns ' || string_agg(format('ADD c%s text', i), ', ') FROM generate_series(2, 65) i); END $$;
ALTER TABLE many_columns ALTER c1 SET STORAGE external, ALTER c65 SET STORAGE external;
CREATE FUNCTION other(seed int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(md5(seed || '.' || i), '') FROM generate_series(1, 600) i $$;
INSERT INTO many_columns (c1, c65) VALUES (other(0), other(0));
DO $$ BEGIN FOR i IN 1 .. 12 LOOP UPDATE many_columns SET c1 = other(i); END LOOP; END $$;
SELECT object AS shared FROM many_columns, sliced.inspect(c65) LIMIT 1 \gset
UPDATE many_columns SET c65 = overlay(other(0) PLACING 'edited' FROM 9000);
SELECT c1 = other(12) AND c65 = overlay(other(0) PLACING 'edited' FROM 9000) AS same, :shared IN (SELECT object FROM many_columns, sliced.inspect(c65)) AS shared FROM many_columns;
DROP TABLE many_columns;
DROP FUNCTION other;

CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION;
CREATE TABLE broken (id int, v jsonb) USING sliced;
-- an array of an array of 3,000 bytes, which says that it has one element, and of one of 4 bytes, which says so too
INSERT INTO broken SELECT 1, (decode('02000040' || 'b80b0050' || '04000050', 'hex') ||
    (SELECT substr(decode('01000040' || string_agg(md5(i::text), ''), 'hex'), 1, 3000) FROM generate_series(1, 200) i) || decode('01000040', 'hex'))::jsonb;
UPDATE broken SET v = jsonb_build_array((SELECT jsonb_agg(md5(i::text)) FROM generate_series(1, 100) i), (SELECT jsonb_agg(md5(i::text)) FROM generate_series(1, 100) i));
SELECT jsonb_array_length(v), jsonb_array_length(v->1) FROM broken;
-- a list that has moved, but for a word that core would have written in another way
CREATE CAST (jsonb AS bytea) WITHOUT FUNCTION;
TRUNCATE broken;
INSERT INTO broken SELECT 2, jsonb_agg(md5(i::text)) FROM generate_series(1, 1500) i;
CREATE TABLE intended USING heap AS SELECT overlay(jsonb_set(v, '{0}', '"another text"')::bytea PLACING '\x20000000'::bytea FROM 1 + 4 * (1 + 320)) AS bytes FROM broken;
UPDATE broken SET v = bytes::jsonb FROM intended;
SELECT v::bytea = bytes AS same, v->320 = to_jsonb(md5('321')) AS right FROM broken, intended;
DROP TABLE intended;
DROP CAST (jsonb AS bytea);
DROP TABLE broken;
DROP CAST (bytea AS jsonb);
SELECT * FROM sliced.verify('other');
SET client_min_messages = warning;
DROP SCHEMA differences CASCADE;
