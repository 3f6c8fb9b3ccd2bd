-- The header of a row that was toasted is the caller's too: RETURNING shows it,
-- and whether the row needs index entries is read off it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE FUNCTION dense(n int, seed text) RETURNS text LANGUAGE sql AS
    $$ SELECT string_agg(md5(seed || i), '') FROM generate_series(1, n / 32) i $$;
CREATE TABLE header (id int PRIMARY KEY, n int, v text) USING sliced;
INSERT INTO header VALUES (1, 0, dense(10000, 'a'))
    RETURNING xmin::text::bigint = pg_current_xact_id()::text::bigint AS mine, xmax, ctid;
INSERT INTO header VALUES (1, 0, 'b'), (2, 0, dense(9000, 'b'))
    ON CONFLICT (id) DO UPDATE SET v = dense(8000, excluded.v) RETURNING id, xmax = 0 AS inserted, ctid;
UPDATE header SET v = dense(5000, v) RETURNING id, xmin::text::bigint = pg_current_xact_id()::text::bigint AS mine, ctid;

-- A trigger that returns the old row, which may be heap-only; the new one is not
-- always.  Whatever happens, the index finds it.
CREATE FUNCTION return_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$;
INSERT INTO header SELECT g, 0, dense(5000, g::text) FROM generate_series(3, 60) g;
UPDATE header SET n = 1;
CREATE TRIGGER return_old BEFORE UPDATE ON header FOR EACH ROW EXECUTE FUNCTION return_old();
DO $$ BEGIN FOR i IN 1..20 LOOP UPDATE header SET n = n + 1; END LOOP; END $$;
SET enable_seqscan = off;
SELECT count(*) FROM generate_series(1, 60) g, LATERAL (SELECT 1 FROM header WHERE id = g OFFSET 0) x;
VACUUM header;
SELECT count(*) FROM generate_series(1, 60) g, LATERAL (SELECT 1 FROM header WHERE id = g OFFSET 0) x;
SELECT * FROM sliced.verify('header');
DROP TABLE header;
DROP FUNCTION dense, return_old;
