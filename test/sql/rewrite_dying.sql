-- VACUUM FULL and CLUSTER copy versions that only others still see; their values
-- do not stay behind when those versions go.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE TABLE dying (id int PRIMARY KEY, a text, b text) USING sliced;
CREATE FUNCTION dense(n int, seed text) RETURNS text LANGUAGE sql AS
    $$ SELECT string_agg(md5(seed || i), '') FROM generate_series(1, n / 32) i $$;
INSERT INTO dying SELECT g, dense(9000, 'a' || g), dense(5000, 'b' || g) FROM generate_series(1, 20) g;
BEGIN;
UPDATE dying SET a = a || 'x' WHERE id < 8;
DELETE FROM dying WHERE id = 9;
SAVEPOINT s;
CLUSTER dying USING dying_pkey;
SELECT * FROM sliced.verify('dying');
ROLLBACK TO s;
SELECT * FROM sliced.verify('dying');
CLUSTER dying USING dying_pkey;
COMMIT;
SELECT * FROM sliced.verify('dying');
SELECT count(*), sum(length(a)), sum(length(b)) FROM dying;
BEGIN;
UPDATE dying SET a = a || 'x' WHERE id < 8;
SET enable_indexscan = off;
CLUSTER dying USING dying_pkey;
UPDATE dying SET b = b || 'x' WHERE id < 12;
COMMIT;
SELECT * FROM sliced.verify('dying');
SELECT count(*), sum(length(a)), sum(length(b)) FROM dying;
DROP TABLE dying;

-- a row that has too many values for us while some of its versions had not
DO $$
BEGIN
    EXECUTE 'CREATE TABLE wide (id int PRIMARY KEY, ' ||
        (SELECT string_agg('c' || i || ' text', ', ') FROM generate_series(1, 130) i) || ') USING sliced';
    EXECUTE 'INSERT INTO wide SELECT g, ' ||
        (SELECT string_agg(CASE WHEN i <= 60 THEN 'dense(3000, g || ''.' || i || ''')' ELSE 'NULL' END, ', ')
         FROM generate_series(1, 130) i) || ' FROM generate_series(1, 3) g';
END $$;
INSERT INTO wide VALUES (4, 'short');
BEGIN;
DO $$
BEGIN
    EXECUTE 'UPDATE wide SET ' || (SELECT string_agg('c' || i || ' = dense(3000, id || ''.' || i || ''')', ', ')
        FROM generate_series(61, 130) i) || ' WHERE id < 3';
END $$;
UPDATE wide SET c130 = '' WHERE id = 2;
CLUSTER wide USING wide_pkey;
COMMIT;
SELECT id, count(DISTINCT md5(value)), sum(length(value)),
       bool_and(value IN ('', 'short', id::text, dense(3000, id || '.' || substr(key, 2))))
    FROM wide, to_jsonb(wide) j, jsonb_each_text(j) GROUP BY id ORDER BY id;
SELECT DISTINCT kind FROM sliced.verify('wide');
UPDATE wide SET c1 = '' WHERE id < 3;
VACUUM FULL wide;
SELECT * FROM sliced.verify('wide');
DROP TABLE wide;
DROP FUNCTION dense;

-- the order of a rewrite is calculated by a function that writes values itself
CREATE TABLE written (v text) USING sliced;
CREATE FUNCTION long(i int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(md5(i * j || ''), '') FROM generate_series(1, 200) j $$;
CREATE FUNCTION writes(i int) RETURNS void LANGUAGE sql VOLATILE AS $$ INSERT INTO public.written SELECT public.long(i) $$;
CREATE FUNCTION place(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.writes(i); RETURN -i; END $$;
CREATE TABLE ordered (id int, v text) USING sliced;
INSERT INTO ordered SELECT i, long(i) FROM generate_series(1, 5) i;
CREATE INDEX ordered_place ON ordered (place(id));
CLUSTER ordered USING ordered_place;
SELECT count(*) > 5 AS some, min(length(v)), max(length(v)) FROM written;
SELECT string_agg(id::text, ' ' ORDER BY ctid) AS ids, bool_and(v = long(id)) AS same FROM ordered;
SELECT count(*) AS kept FROM pg_backend_memory_contexts WHERE name = 'sliced rows';
DROP TABLE written, ordered;
DROP FUNCTION long, writes, place;
