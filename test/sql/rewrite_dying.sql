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
DROP FUNCTION dense;
