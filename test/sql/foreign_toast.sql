-- A table and its toast relation have different access methods: tools that
-- exchange files and toast relations leave that behind. Here it is made by hand;
-- test/t/160_repack.sh runs such a tool.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA foreign_toast;
SET search_path = foreign_toast;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql AS
    $$ SELECT string_agg(md5(seed || '.' || i), '') FROM generate_series(1, n / 32) i $$;
CREATE TABLE theirs (id int PRIMARY KEY, n int, t text, u text, b bytea, j jsonb) USING heap;
CREATE TABLE ours (LIKE theirs INCLUDING ALL) USING sliced;
ALTER TABLE ours ALTER b SET STORAGE EXTERNAL;

-- run the statement for both tables
CREATE PROCEDURE twice(statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE replace(statement, '$', 'theirs');
    EXECUTE replace(statement, '$', 'ours');
END $$;
CREATE PROCEDURE fill(start int) LANGUAGE sql AS $$
    CALL twice(format('INSERT INTO $ SELECT i, i, dense(i * 500, i), repeat(''short '', i * 40), convert_to(dense(i * 300, -i), ''UTF8''),
            jsonb_build_object(''id'', i, ''long'', dense(i * 200, i), ''list'', (SELECT jsonb_agg(dense(2000, k)) FROM generate_series(1, i / 4) k), ''end'', 1)
        FROM generate_series(%s, %1$s + 39) i', start));
    CALL twice('UPDATE $ SET t = overlay(t placing ''changed'' from 50) WHERE id % 3 = 0');
    CALL twice('UPDATE $ SET t = t || ''longer'' WHERE id % 4 = 0');
    CALL twice('UPDATE $ SET j = jsonb_set(j, ''{id}'', ''"changed"'') WHERE id % 5 = 0');
$$;

-- what a tool would do to a relation that it has locked
CREATE PROCEDURE give(rel regclass, am name) LANGUAGE sql AS $$
    UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = am) WHERE oid = rel;
    -- it changes the table's own entry as well
    UPDATE pg_class SET reltuples = reltuples WHERE reltoastrelid = rel;
$$;
CREATE PROCEDURE give_toast_of(rel regclass, am name) LANGUAGE plpgsql AS $$
DECLARE toast regclass := reltoastrelid FROM pg_class WHERE oid = rel;
BEGIN
    CALL give(toast, am);
END $$;
CREATE FUNCTION heads() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE chunk_seq < 0', (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'ours'::regclass)) INTO result;
    RETURN result;
END $$;

-- both tables have the same rows; what ours is, and what verify() has to say of it
CREATE FUNCTION state() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT 'row ' || coalesce(theirs.id, ours.id) || ' differs' FROM theirs FULL JOIN ours USING (id) WHERE theirs.* IS DISTINCT FROM ours.*
    UNION ALL SELECT format('%s in %s', am.amname, toast_am.amname) || CASE WHEN depends THEN ', depends on it' ELSE '' END
        FROM pg_class c JOIN pg_class toast ON toast.oid = c.reltoastrelid JOIN pg_am am ON am.oid = c.relam JOIN pg_am toast_am ON toast_am.oid = toast.relam,
            LATERAL (SELECT count(*) = 1 AS depends FROM pg_depend WHERE objid IN (c.oid, toast.oid) AND classid = 'pg_class'::regclass AND refclassid = 'pg_am'::regclass) d
        WHERE c.oid = 'ours'::regclass
    UNION ALL SELECT format('%s %s %s: %s', kind, row_ctid, col, message) FROM sliced.verify('ours')
$$;
CALL fill(1);
SELECT state();

-- slices in a toast relation that core reads with heap's function
CALL give_toast_of('ours', 'heap');
SELECT state();
CALL sliced.convert('ours');
SELECT * FROM sliced.train('ours');
CREATE TABLE copy USING heap AS TABLE ours;
SELECT count(*) FROM copy JOIN theirs USING (id, n, t, u, b, j);
DROP TABLE copy;
SELECT sliced_functions.table_dictionaries('ours');
SELECT sliced_functions.table_dictionaries('theirs');
SET enable_seqscan = off;
SELECT sum(length(ours.t)), sum(length(substr(ours.t, 40, 20))), count(ours.j->'id'), bool_and(ours.ctid IS NOT NULL AND ours.xmin::text::int > 2) AS header
    FROM ours JOIN theirs USING (id, j) WHERE id BETWEEN 10 AND 30 AND ours.b = theirs.b;
RESET enable_seqscan;
SELECT md5(t) = (SELECT md5(t) FROM theirs WHERE id = 33) FROM ours WHERE ctid = (SELECT ctid FROM ours WHERE id = 33);
SELECT count(*), sum(length(t)) FROM ours TABLESAMPLE SYSTEM (100);
CREATE TABLE whole (LIKE theirs) USING heap;
INSERT INTO whole SELECT * FROM ours WHERE length(t) > 5000;
SELECT count(*), sum(length(t)) FROM whole JOIN theirs USING (id, n, t, u, b, j);
DROP TABLE whole;
BEGIN;
DECLARE c CURSOR FOR SELECT id, length(t) AS t, length(b) AS b FROM ours WHERE id = 25 FOR UPDATE;
FETCH c;
UPDATE ours SET n = n WHERE CURRENT OF c;
COMMIT;
ANALYZE ours;
SELECT state();

-- changes: no more slices
SELECT heads() AS slices_before \gset
CALL twice('INSERT INTO $ SELECT 100 + id, n, t, u, b, j FROM theirs WHERE id < 100');
CALL twice('INSERT INTO $ VALUES (1, 0, '''') ON CONFLICT (id) DO UPDATE SET t = $.t || ''conflict''');
CALL twice('INSERT INTO $ SELECT 301, id, t FROM theirs ON CONFLICT (id) DO NOTHING');
CALL twice('UPDATE $ SET n = n + 1 WHERE id BETWEEN 2 AND 9');
CALL twice('UPDATE $ SET t = t || ''more'' WHERE id BETWEEN 10 AND 14');
CALL twice('UPDATE $ SET t = overlay(t placing ''again'' from 3000), b = substr(b, 5) WHERE id BETWEEN 15 AND 19');
CALL twice('UPDATE $ SET j = j - ''long'', t = NULL WHERE id BETWEEN 20 AND 24');
CALL twice('UPDATE $ SET j[''new''] = to_jsonb(t), u = t || u WHERE id BETWEEN 25 AND 29');
CALL twice('DELETE FROM $ WHERE id BETWEEN 30 AND 32');
CALL twice('MERGE INTO $ m USING generate_series(33, 36) i ON m.id = i WHEN MATCHED AND i = 33 THEN DELETE WHEN MATCHED THEN UPDATE SET t = m.t || m.u');
SELECT heads() < :slices_before AS fewer_slices;
SELECT state();
CALL twice('UPDATE $ SET n = n + 1');
SELECT heads(), state();

-- ways out
VACUUM FULL ours;
SELECT state();
SELECT heads() > 0 AS slices;
CALL twice('UPDATE $ SET t = t || ''and on''');
CALL fill(401);
SELECT state();

CALL give_toast_of('ours', 'heap');
BEGIN;
CLUSTER ours USING ours_pkey;
SELECT state();
CALL twice('UPDATE $ SET t = t || ''rolled back''');
SELECT state();
ROLLBACK;
SELECT state();
CLUSTER ours USING ours_pkey;
SELECT state();

CALL give_toast_of('ours', 'heap');
CALL twice('UPDATE $ SET t = ''x'' || t WHERE id % 2 = 0');
ALTER TABLE ours SET ACCESS METHOD heap;
SELECT count(*) FROM ours JOIN theirs USING (id, n, t, u, b, j) WHERE t IS NOT NULL AND u IS NOT NULL AND b IS NOT NULL AND j IS NOT NULL;
CALL twice('UPDATE $ SET t = t || ''more'' WHERE id % 3 = 0');
ALTER TABLE ours SET ACCESS METHOD sliced;
SELECT state();

CALL give_toast_of('ours', 'heap');
CALL twice('TRUNCATE $');
CALL fill(1);
SELECT heads(), state();
VACUUM FULL ours;
SELECT state();

-- rows of ours in a table of heap's
CALL give('ours', 'heap');
DELETE FROM pg_depend WHERE objid = 'ours'::regclass AND refclassid = 'pg_am'::regclass;
SELECT state();
ALTER TABLE ours SET ACCESS METHOD sliced;
SELECT state();
SELECT * FROM sliced.verify('theirs');

-- a table without its toast relation
BEGIN;
UPDATE pg_class SET reltoastrelid = 0 WHERE oid = 'ours'::regclass;
SELECT DISTINCT kind, message FROM sliced.verify('ours');
ROLLBACK;
SELECT state();

-- such a table is not let come about where that can be foreseen
CREATE SCHEMA repack;
SELECT 'theirs'::regclass::oid AS theirs, 'ours'::regclass::oid AS ours, 'table_' || 'theirs'::regclass::oid || 'x' AS longer \gset
SET default_table_access_method = sliced;
CREATE TABLE repack.table_:theirs AS TABLE theirs WITH NO DATA;
CREATE TABLE repack.table_:ours AS TABLE ours;
CREATE TABLE repack.table_0 AS TABLE ours;
CREATE TABLE repack.:longer AS TABLE theirs WITH NO DATA;
CREATE TABLE foreign_toast.table_:theirs AS TABLE theirs;
SET default_table_access_method = heap;
CREATE TABLE repack.table_:theirs AS TABLE theirs WITH NO DATA;
RESET default_table_access_method;

-- REFRESH makes a new toast relation
CREATE MATERIALIZED VIEW m USING sliced AS TABLE theirs;
CALL give_toast_of('m', 'heap');
SELECT message FROM sliced.verify('m');
SELECT count(*) FROM m JOIN theirs USING (id, n, t, u, b, j);
CREATE UNIQUE INDEX ON m (id);
CALL twice('UPDATE $ SET t = t || ''refreshed'' WHERE id < 5');
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
SELECT message FROM sliced.verify('m');
SELECT count(*) FROM m JOIN theirs USING (id, n, t, u, b, j);
REFRESH MATERIALIZED VIEW m;
SELECT * FROM sliced.verify('m');
SELECT count(*) FROM m JOIN theirs USING (id, n, t, u, b, j);
SET client_min_messages = warning;
DROP SCHEMA repack CASCADE;
DROP SCHEMA foreign_toast CASCADE;
