-- A change writes what it changes, whatever the length of the value: bytes of
-- WAL, without those of commit (34).  Medians, because checkpoints and merges of
-- small slices add to some.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
CREATE TABLE costs (id int PRIMARY KEY, n int, v text, b bytea) USING sliced;
ALTER TABLE costs ALTER b SET STORAGE EXTERNAL;
INSERT INTO costs SELECT 1, 0, string_agg(md5(i::text), '' ORDER BY i), convert_to(string_agg(md5((-i)::text), '' ORDER BY i), 'UTF8')
    FROM generate_series(1, 60000) i;
INSERT INTO costs SELECT 2, 0, repeat('not so long; ', 300), convert_to(repeat(md5('b'), 100), 'UTF8');
CHECKPOINT;

-- is the median (or the average) for 'times' transactions with the statement within the limit?
CREATE PROCEDURE costs(statement text, at_most int, times int, average bool DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE plan json; measured int[]; median int;
BEGIN
    FOR i IN 1 .. times LOOP
        EXECUTE 'EXPLAIN (ANALYZE, WAL, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
        COMMIT;
        measured := measured || (plan->0->'Plan'->>'WAL Bytes')::int;
    END LOOP;
    median := CASE WHEN average THEN avg(m) ELSE percentile_disc(0.5) WITHIN GROUP (ORDER BY m) END FROM unnest(measured) m;
    RAISE NOTICE '%: %', statement, CASE WHEN median <= at_most THEN 'at most ' || at_most ELSE median || ': ' || measured[1 : 100]::text END;
END $$;

SET client_min_messages = notice;
CALL costs('UPDATE costs SET n = n + 1 WHERE id = 1', 90, 9);
CALL costs('UPDATE costs SET v = v || ''x'' WHERE id = 1', 180, 41);
CALL costs('UPDATE costs SET b = b || ''x'' WHERE id = 1', 180, 41);
CALL costs('UPDATE costs SET v = v || ''x'', b = b || ''x'' WHERE id = 1', 290, 41);
CALL costs('UPDATE costs SET v = v || ''x'' WHERE id = 2', 180, 41);
CALL costs('UPDATE costs SET b = b || ''x'' WHERE id = 2', 180, 41);
CALL costs('UPDATE costs SET v = v || repeat(md5(n::text), 3) WHERE id = 1', 350, 41);
CALL costs('UPDATE costs SET v = overlay(v PLACING ''x'' FROM 1000000) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET b = set_byte(b, 1000000, n % 7) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET v = right(v, -10) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET v = left(v, -10) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET v = left(v, 1000000) || md5(n::text) || right(v, -1000010) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET v = concat(substr(v, 1, 700000), md5(n::text), n, substr(v, 700010)) WHERE id = 1', 600, 9);
CALL costs('UPDATE costs SET b = substr(b, 1, 500000) || substr(b, 500020) WHERE id = 1', 600, 9);

-- what applications send
CREATE TABLE sent AS SELECT v, v || 'x' AS w FROM costs WHERE id = 1;
UPDATE costs SET v = sent.v FROM sent WHERE id = 1;
CALL costs('UPDATE costs SET n = n + 1, v = sent.v || '''' FROM sent WHERE id = 1', 90, 9);
CALL costs('UPDATE costs SET v = CASE WHEN length(costs.v) % 2 = 0 THEN sent.w ELSE sent.v END || '''' FROM sent WHERE id = 1', 600, 9);

-- a trigger that changes the row again
CREATE FUNCTION count_updates() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.n := old.n + 1; RETURN new; END $$;
CREATE TRIGGER count_updates BEFORE UPDATE ON costs FOR EACH ROW EXECUTE FUNCTION count_updates();
CALL costs('UPDATE costs SET b = b || ''x'' WHERE id = 1', 350, 41);
SELECT * FROM sliced.verify('costs');
DROP TABLE sent;

-- documents: 20 kB, and 5 MB
CREATE TABLE documents (id int PRIMARY KEY, n int, doc jsonb) USING sliced;
INSERT INTO documents SELECT k, 0, jsonb_build_object('n', 1, 'name', 'short', 'list', jsonb_agg(i), 'text', string_agg(md5(i::text), ''),
        'inner', jsonb_build_object('a', 1, 'list', jsonb_agg(md5(i::text)), 'z', 'last'), 'zzz', '"end"'::jsonb)
    FROM (VALUES (1, 200), (2, 60000)) s(k, upto), generate_series(1, upto) i GROUP BY k;
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{n}'', to_jsonb(length(doc->>''name''))) WHERE id = 1', 850, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{n}'', to_jsonb(random())) WHERE id = 2', 850, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{zzz}'', to_jsonb(repeat(''x'', (random() * 50)::int))) WHERE id = 2', 850, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{inner,z}'', to_jsonb(repeat(''x'', (random() * 50)::int))) WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = doc || ''{"new": true}'' WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = doc || jsonb_build_object(''new'', random()) WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = doc - ''new'' WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc[''n''] = to_jsonb(random()::text), doc[''zzz''] = ''[]'' WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = doc #- ''{inner,a}'' WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = jsonb_insert(doc, ''{list,-1}'', ''1'', true) WHERE id = 2', 1000, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{list,30000}'', ''"1"'') WHERE id = 2', 1500, 1);
CALL costs('UPDATE documents SET doc = doc WHERE id = 2', 150, 9);
-- by way of a part
INSERT INTO documents SELECT 3, 0, doc::text::jsonb FROM documents WHERE id = 2;
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{list}'', (doc->''list'') || to_jsonb(n)) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{inner,list}'', coalesce(doc #> ''{inner,list}'', ''[]'') || to_jsonb(n)) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc[''list''] = doc[''list''] || to_jsonb(n) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = doc || jsonb_build_object(''n'', n, ''list'', (doc->''list'') || to_jsonb(n)) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = doc || jsonb_build_object(''inner'', (doc->''inner'') || jsonb_build_object(''list'', (doc->''inner''->''list'') || to_jsonb(n))) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{list}'', (doc->''list'') - -1) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{inner}'', jsonb_set(doc->''inner'', ''{z}'', to_jsonb(random()))) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{inner}'', ((doc->''inner'') - ''z'') || jsonb_build_object(''z'', random())) WHERE id = 3', 1200, 9);
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{copy}'', doc->''list'') - ''copy'' WHERE id = 3', 1200, 9);
-- parts that were made elsewhere
CREATE FUNCTION longer(doc jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ DECLARE part jsonb = doc->'list'; BEGIN part := part || '1'; RETURN part; END $$;
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{list}'', longer(doc)) WHERE id = 3', 1200, 3);
CALL costs('UPDATE documents SET doc = doc || jsonb_build_object(''list'', (SELECT jsonb_agg(CASE WHEN o = 5 THEN ''7'' ELSE e END ORDER BY o) FROM jsonb_array_elements(doc->''list'') WITH ORDINALITY s(e, o))) WHERE id = 3', 1200, 3);
DELETE FROM documents WHERE id = 3;
CREATE TRIGGER count_updates BEFORE UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION count_updates();
CALL costs('UPDATE documents SET doc = jsonb_set(doc, ''{n}'', to_jsonb(random())) WHERE id = 2', 1000, 9);
-- what applications send; one change in some writes a leaf, of up to 1000 bytes, besides the root
CREATE TABLE sent AS SELECT jsonb_set(doc, '{name}', '"not so short any more"') AS doc FROM documents WHERE id = 2;
CALL costs('UPDATE documents SET doc = sent.doc FROM sent WHERE id = 2', 1900, 1);
SELECT documents.doc = sent.doc AS same FROM documents, sent WHERE id = 2;
UPDATE sent SET doc = jsonb_set(doc, '{text}', to_jsonb(overlay(doc->>'text' PLACING 'a few words' FROM 1000000)))
    || jsonb_build_object('list', (doc->'list') - 50000);
CALL costs('UPDATE documents SET doc = sent.doc FROM sent WHERE id = 2', 1900, 1);
UPDATE sent SET doc = jsonb_set(doc, '{text}', to_jsonb(overlay(doc->>'text' PLACING 'a few words' FROM 500000 FOR 0)));
CALL costs('UPDATE documents SET doc = sent.doc FROM sent WHERE id = 2', 1900, 1);
SELECT documents.doc = sent.doc AS same FROM documents, sent WHERE id = 2;
SELECT * FROM sliced.verify('documents');

DROP TABLE sent;
-- elements all over an array of a million: what a few changes cost, and what they come to in the long run
CREATE TABLE elements (id int PRIMARY KEY, n int, a int8[], f float8[], b bytea) USING sliced;
INSERT INTO elements SELECT 1, 0, array_agg(i), array_agg(random()), convert_to(repeat(md5('b'), 250000), 'UTF8') FROM generate_series(1, 1000000) i;
CREATE TABLE sent AS SELECT a FROM elements;
CALL costs('UPDATE elements SET n = n + 1, a[1 + n * 7919::int8 % 1000000] = n WHERE id = 1', 600, 9);
CALL costs('UPDATE elements SET n = n + 1, f[1 + n * 7919::int8 % 1000000] = n WHERE id = 1', 600, 9);
CALL costs('UPDATE elements SET n = n + 1, f[1 + n * 7919::int8 % 1000000] = n WHERE id = 1', 900, 3000, true);
CALL costs('UPDATE elements SET n = n + 1, a[1 + n * 7919::int8 % 1000000] = n WHERE id = 1', 900, 3000, true);
CALL costs('UPDATE elements SET n = n + 1, b = set_byte(b, (n * 7919::int8 % 8000000)::int, n % 256) WHERE id = 1', 900, 1000, true);
CALL costs('UPDATE elements SET a = a || n::int8 WHERE id = 1', 1400, 41);
-- a whole array with a thousand elements changed
UPDATE elements SET a = (SELECT array_agg(CASE WHEN o % 1000 = 7 THEN -1 ELSE e END ORDER BY o) FROM sent, unnest(sent.a) WITH ORDINALITY u (e, o));
UPDATE sent SET a = (SELECT array_agg(CASE WHEN o % 1000 = 77 THEN -1 ELSE e END ORDER BY o) FROM elements, unnest(elements.a) WITH ORDINALITY u (e, o));
CALL costs('UPDATE elements SET a = sent.a FROM sent WHERE id = 1', 85000, 1);
SELECT elements.a = sent.a AS same, elements.a[1077], elements.a[1007] FROM elements, sent;
SELECT * FROM sliced.verify('elements');
DROP TABLE elements, sent;

-- a digit of a random object in a long document, as a part, or in a json that is sent as a whole
CREATE TABLE items (id int PRIMARY KEY, n int, doc jsonb, sent json) USING sliced;
INSERT INTO items SELECT 1, 0, d, d FROM (SELECT jsonb_build_object('items', jsonb_agg(jsonb_build_object('sku', md5(i::text), 'qty', i % 9 + 1, 'note', md5((i * 3)::text)))) d
    FROM generate_series(1, 3000) i) s;
CALL costs('UPDATE items SET n = n + 1, doc = jsonb_set(doc, ARRAY[''items'', (n * 7919 % 3000)::text, ''qty''], to_jsonb(n % 9 + 1))', 1200, 150, true);
CALL costs('UPDATE items SET n = n + 1, sent = jsonb_set(sent::jsonb, ARRAY[''items'', (n * 7919 % 3000)::text, ''qty''], to_jsonb(n % 9 + 1))::json', 1200, 100, true);
SELECT * FROM sliced.verify('items');
DROP TABLE items;

-- reading all of a document takes one descent and its rows, whatever the order in which it is stored
CREATE TABLE regions (doc jsonb) USING sliced;
INSERT INTO regions SELECT jsonb_object_agg(k, v) FROM (
    SELECT 'long' || k, string_agg(md5((i * k)::text), '') FROM generate_series(1, 4) k, generate_series(1, 300) i GROUP BY k
    UNION ALL SELECT repeat('k', k) || 'short' || k, 'short ' || k FROM generate_series(1, 60) k) s(k, v);
CREATE FUNCTION buffers(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    FOR i IN 1 .. 2 LOOP        -- the first looks into catalogs too
        EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    END LOOP;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
SELECT count(*) > 6 AS several_slices FROM regions, sliced.inspect(doc);
-- a page of the table, one of the index, the head, and at most one page for each row
SELECT buffers('SELECT count(*) FROM regions WHERE doc > ''0''') <= 3 + sum(rows) AS each_row_once
    FROM (SELECT DISTINCT object, start, rows FROM regions, sliced.inspect(doc)) s;
-- nodes and short slices are where their parents say: each takes a page, and no descent
CREATE TABLE nodes (n int, b bytea) USING sliced;
ALTER TABLE nodes ALTER b SET STORAGE EXTERNAL;
INSERT INTO nodes SELECT 0, string_agg(decode(md5(i::text), 'hex'), '') FROM generate_series(1, 4000) i;
DO $$ BEGIN FOR i IN 1 .. 150 LOOP UPDATE nodes SET n = i, b = overlay(b PLACING decode(md5(i::text), 'hex') FROM i * 7919 % 63000 + 1); END LOOP; END $$;
VACUUM nodes;
SELECT count(*) > 6 AS several_nodes FROM nodes, sliced.inspect(b) WHERE codec = 'node';
SELECT buffers('SELECT count(*) FROM nodes WHERE b > ''0''') <= 12 + sum(rows) AS each_row_once FROM nodes, sliced.inspect(b);
DO $$ BEGIN FOR i IN 1 .. 40 LOOP UPDATE nodes SET n = i, b = overlay(b PLACING (SELECT string_agg(decode(md5((i * 50 + j)::text), 'hex'), '') FROM generate_series(1, 20) j) FROM i % 20 * 3000 + 1 FOR i % 2); END LOOP; END $$;
VACUUM nodes;
SELECT count(*) > 9 AS several_slices FROM nodes, sliced.inspect(b) WHERE raw_bytes < 1000;
SELECT buffers('SELECT count(*) FROM nodes WHERE b > ''0''') <= 12 + sum(rows) AS each_row_once FROM nodes, sliced.inspect(b);
DROP TABLE costs, documents, regions, nodes;
DROP PROCEDURE costs;
DROP FUNCTION count_updates, buffers, longer(jsonb);
