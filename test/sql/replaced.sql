-- Slices that a longer one has replaced disappear row by row, as pages are pruned.
-- Readers may find one whose continuation is gone; here that is made by hand.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE TABLE replaced (v text) USING sliced;
INSERT INTO replaced VALUES ('');
-- 10 kB that take several rows, compressed
CREATE FUNCTION page(i int) RETURNS text LANGUAGE sql AS $$
    SELECT left(string_agg(md5((i * j)::text) || ' and words that come again;', ''), 10000) FROM generate_series(1, 200) j $$;
CREATE FUNCTION pages(upto int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(page(i), '' ORDER BY i) FROM generate_series(1, upto) i $$;
CREATE PROCEDURE grow(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first .. last LOOP
        UPDATE replaced SET v = v || page(i);
        COMMIT;
    END LOOP;
END $$;
-- run a statement with %s replaced by the toast relation, which is to pass for a table
CREATE PROCEDURE on_toast(statement text) LANGUAGE plpgsql AS $$
DECLARE toast oid := (SELECT reltoastrelid FROM pg_class WHERE oid = 'replaced'::regclass);
BEGIN
    SET LOCAL allow_system_table_mods = on;
    UPDATE pg_class SET relkind = 'r' WHERE oid = toast;
    EXECUTE format(statement, toast::regclass);
    UPDATE pg_class SET relkind = 't' WHERE oid = toast;
END $$;

CALL grow(1, 12);
CALL on_toast('CREATE TABLE earlier USING heap AS SELECT * FROM %s');
CALL grow(13, 14);
SELECT start, raw_bytes, rows FROM replaced, sliced.inspect(v);
-- the first rows of the earlier slices
CALL on_toast('INSERT INTO %s SELECT chunk_id, chunk_seq, chunk_data || ''''::bytea FROM earlier WHERE chunk_seq > 0 AND get_byte(chunk_data, 4) & 15 = 2 AND chunk_seq NOT IN (SELECT chunk_seq FROM %1$s)');
SELECT length(v), v = pages(14) FROM replaced;
SELECT bool_and(substr(v, i, 300) = substr(pages(14), i, 300) AND right(v, i) = right(pages(14), i)) FROM replaced, generate_series(9001, 139001, 10000) i;
SELECT sliced_functions.text_length(v), md5(overlay(v PLACING 'x' FROM 75000)) = md5(overlay(pages(14) PLACING 'x' FROM 75000)) FROM replaced;
-- what is not needed is found, and goes with the value
SELECT kind, byte_offset, message FROM sliced.verify('replaced') ORDER BY 2 LIMIT 2;
UPDATE replaced SET v = 'short';
SELECT kind, message FROM sliced.verify('replaced');
DROP TABLE replaced, earlier;
DROP FUNCTION page, pages;
DROP PROCEDURE grow, on_toast;
