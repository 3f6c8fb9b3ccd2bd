-- What PostgreSQL can do since 17.
\if :since_17

SET default_toast_compression = :lz4;

-- MERGE with RETURNING, and with rows that the source does not have
CREATE TABLE t (id int PRIMARY KEY, a text, d jsonb, c float8[], n int DEFAULT 0);
INSERT INTO t SELECT i, mixed(i * 3000, i), jsonb_build_object('id', i, 'text', dense(i * 1500, i), 'list', jsonb_build_array(1, 2, i)),
    array(SELECT j / 7.0 FROM generate_series(1, i * 300) j) FROM generate_series(1, 20) i;
CREATE TABLE source (id int, v text, kind text);
INSERT INTO source SELECT i, dense(i * 700, -i), CASE i % 3 WHEN 0 THEN 'delete' WHEN 1 THEN 'add' ELSE 'change' END FROM generate_series(5, 30) i;
WITH m AS (MERGE INTO t USING source s ON t.id = s.id
    WHEN MATCHED AND kind = 'delete' THEN DELETE
    WHEN MATCHED AND kind = 'add' THEN UPDATE SET a = t.a || s.v, d = jsonb_set(t.d, '{text}', to_jsonb(s.v)), c = t.c || 1.5::float8
    WHEN MATCHED THEN UPDATE SET a = overlay(t.a PLACING s.v FROM 2000), d = t.d || jsonb_build_object('new', s.v), c[100] = -1, n = length(t.a)
    WHEN NOT MATCHED BY SOURCE AND t.id > 2 THEN UPDATE SET a = t.a || 'unmatched', d = t.d - 'list', n = -1
    WHEN NOT MATCHED BY SOURCE THEN DELETE
    WHEN NOT MATCHED THEN INSERT (id, a, d) VALUES (s.id, s.v, jsonb_build_object('v', s.v))
    RETURNING merge_action(), t.id, t.n, length(t.a) AS la, md5(t.a) AS ma, md5(t.d::text) AS md, md5(t.c::text) AS mc, s.id AS sid, md5(s.v) AS mv, t.a = s.v AS same)
    SELECT * FROM m ORDER BY id, merge_action;
SELECT * FROM sum_up('t');
-- conditions that look into values, on either side
WITH m AS (MERGE INTO t USING (SELECT *, v || 'source' AS w FROM source) s ON t.id = s.id AND (t.d->>'id' IS NULL OR (t.d->>'id')::int = s.id) AND right(t.a, 2) <> left(s.v, 1)
    WHEN NOT MATCHED BY SOURCE AND t.d ? 'text' AND length(t.a) > 100 THEN UPDATE SET a = right(t.a, -1) || t.id
    WHEN MATCHED AND t.d @> '{"id": 8}' THEN UPDATE SET d['id'] = '80', a = s.w
    WHEN MATCHED AND substr(t.a, 1, 1) < 'M' THEN UPDATE SET (a, n) = (SELECT t.a || s.w, count(*) FROM source)
    WHEN MATCHED THEN DO NOTHING
    WHEN NOT MATCHED BY TARGET AND length(s.w) > 15000 THEN INSERT VALUES (s.id + 100, s.w)
    RETURNING t.*, s.w)
    SELECT id, n, md5(a), md5(d::text), md5(c::text), md5(w) FROM m ORDER BY id;
SELECT * FROM sum_up('t');
-- through a view; a row that is hit twice; an error after some rows
CREATE VIEW few AS SELECT id, a, n FROM t WHERE id < 1000 WITH CHECK OPTION;
MERGE INTO few USING source s ON few.id = s.id
    WHEN MATCHED THEN UPDATE SET a = few.a || 'view'
    WHEN NOT MATCHED THEN INSERT VALUES (s.id + 500, s.v)
    WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = n + 1, a = left(a, 5000);
MERGE INTO t USING (SELECT * FROM source UNION ALL SELECT * FROM source) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = t.a || 'twice';
MERGE INTO t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = t.a || 'lost', n = 1 / (t.id - 11);
MERGE INTO few USING source s ON few.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = few.a || 'lost', id = few.id + 1000;
SELECT * FROM sum_up('t');
-- in PL/pgSQL, with variables that outlive the statement
DO $$
DECLARE r record; first text; digest text := '';
BEGIN
    FOR i IN 1 .. 5 LOOP
        BEGIN
            FOR r IN MERGE INTO t USING source s ON t.id = s.id
                WHEN MATCHED THEN UPDATE SET a = t.a || i, d = jsonb_set(t.d, '{n}', to_jsonb(i))
                WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = i || t.a RETURNING merge_action() AS what, t.id, t.a, t.d
            LOOP
                first := coalesce(first, r.a);
                digest := md5(digest || r.id || r.what || r.a || coalesce(r.d::text, ''));
            END LOOP;
            IF i % 2 = 0 THEN
                RAISE EXCEPTION 'back';
            END IF;
        EXCEPTION WHEN raise_exception THEN
            UPDATE t SET n = n + 1 WHERE a = left(first, -1);
        END;
    END LOOP;
    INSERT INTO source VALUES (0, first, md5(digest || md5(first)));
END $$;
SELECT md5(v) FROM source WHERE id = 0;
SELECT count(*), count(DISTINCT kind) FROM source;
SELECT * FROM sum_up('t');

-- SQL/JSON looks into large documents
CREATE TABLE docs (id int PRIMARY KEY, d jsonb, j json, k text);
INSERT INTO docs SELECT i, jsonb_build_object('id', i, 'name', 'doc ' || i, 'long', dense(i * 2000, i), 'when', '2024-02-0' || i, 'none', NULL,
    'items', (SELECT jsonb_agg(jsonb_build_object('n', j, 'price', j * 1.25, 'name', 'item ' || j, 'tags', jsonb_build_array('a' || j, 'b'), 'note', dense(200 + j, j)) ORDER BY j) FROM generate_series(1, i * 20) j),
    'deep', jsonb_build_object('er', jsonb_build_object('est', dense(3000, i), 'n', i))), NULL, 'k' || i FROM generate_series(1, 8) i;
INSERT INTO docs VALUES (20, to_jsonb(dense(90000, 20))), (21, '[]'), (22, NULL), (23, '5'), (24, (SELECT jsonb_agg(dense(500, i) ORDER BY i) FROM generate_series(1, 90) i));
UPDATE docs SET d = jsonb_set(d, '{deep,er,n}', '77') WHERE id = 3;
UPDATE docs SET j = d::json, d = d || '{"added": [1, 2]}' WHERE id < 5;
SELECT id, JSON_VALUE(d, '$.name'), JSON_VALUE(d, '$.deep.er.n' RETURNING int), md5(JSON_VALUE(d, '$.deep.er.est')), JSON_VALUE(d, '$.none'), JSON_VALUE(d, '$.nothing' DEFAULT 'no' ON EMPTY),
    JSON_VALUE(d, '$.items' DEFAULT 'several' ON ERROR), JSON_VALUE(d, '$.items[3].price' RETURNING numeric(6, 1)), md5(JSON_VALUE(d, '$')), md5(JSON_VALUE(d, '$.long')) FROM docs ORDER BY id;
SELECT id, JSON_QUERY(d, '$.deep.er.n'), JSON_QUERY(d, '$.items[*].n' WITH WRAPPER), JSON_QUERY(d, '$.name' OMIT QUOTES), JSON_QUERY(d, '$.name' KEEP QUOTES), JSON_QUERY(d, '$.items[1].tags' WITH CONDITIONAL WRAPPER),
    md5(JSON_QUERY(d, '$')::text), md5(JSON_QUERY(d, '$.items[5]' RETURNING text)), JSON_QUERY(d, '$.items[*].n' EMPTY ARRAY ON ERROR), length(JSON_QUERY(d, '$.long' RETURNING varchar(10) OMIT QUOTES NULL ON ERROR)) FROM docs ORDER BY id;
SELECT id, JSON_EXISTS(d, '$.deep.er'), JSON_EXISTS(d, '$.nothing'), JSON_EXISTS(d, 'strict $.nothing' ERROR ON ERROR) FROM docs WHERE id = 1;
SELECT id, JSON_EXISTS(d, '$.items[*] ? (@.n == $n)' PASSING id * 20 AS n), JSON_VALUE(d, '$.items[$i].name' PASSING id AS i), JSON_VALUE(d, '$[$i]' PASSING id AS i), JSON_EXISTS(d, '$ ? (@.name == $d.name)' PASSING d AS d) FROM docs ORDER BY id;
SELECT JSON_VALUE(d, 'strict $.nothing' ERROR ON ERROR) FROM docs ORDER BY id;
SELECT JSON_VALUE(d, '$.long' RETURNING int ERROR ON ERROR) FROM docs WHERE id = 2;
SELECT JSON_QUERY(d, '$.items[*]' ERROR ON ERROR) FROM docs WHERE id = 2;
SELECT id, d IS JSON, d IS JSON OBJECT, d IS JSON ARRAY, d IS JSON SCALAR, d IS NOT JSON OBJECT WITH UNIQUE KEYS, j IS JSON OBJECT FROM docs ORDER BY id;
SELECT id, r.n, r.price, r.name, r.tag, r.nth, md5(r.note), r.has FROM docs, JSON_TABLE(d, '$.items[*]' COLUMNS (nth FOR ORDINALITY, n int, price numeric, name text, note text, has bool EXISTS PATH '$.tags',
    NESTED PATH '$.tags[*]' COLUMNS (tag text PATH '$'))) r WHERE r.n % 50 = 3 ORDER BY id, n, tag;
SELECT id, r.*, o.* FROM docs, JSON_TABLE(d, '$' AS root PASSING docs.id AS x COLUMNS (name text, over text PATH '$.items[$x].name', NESTED '$.items[0 to 1]' COLUMNS (n int), NESTED '$.deep' COLUMNS (e int PATH '$.er.n'))) r,
    JSON_TABLE(docs.d, '$.added[*]' COLUMNS (v int PATH '$')) o ORDER BY id, r.n, r.e, o.v;
SELECT id, JSON_VALUE(j, '$.name'), JSON_QUERY(j, '$.deep.er.n') FROM docs WHERE j IS NOT NULL ORDER BY id;
SELECT JSON_VALUE(d -> 'deep', '$.er.n'), JSON_VALUE(d #> '{items,2}', '$.name'), JSON_VALUE(coalesce(NULL, d), '$.id'), JSON_VALUE((SELECT d FROM docs o WHERE o.id = docs.id), '$.name') FROM docs WHERE id < 4 ORDER BY id;
-- parameters; documents that are not stored yet; a scan that outlives a rollback
PREPARE value(jsonpath) AS SELECT id, left(JSON_VALUE(d, $1), 20) FROM docs ORDER BY id;
EXECUTE value('$.name'); EXECUTE value('$.id');
SET plan_cache_mode = force_generic_plan;
EXECUTE value('$.deep.er.n'); EXECUTE value('$.items[1].name');
RESET plan_cache_mode;
UPDATE docs SET d = jsonb_set(d, '{items,0,n}', '1000') WHERE id < 9
    RETURNING id, JSON_VALUE(d, '$.items[0].n'), JSON_VALUE(d, '$.items[1].n'), (SELECT sum(n) FROM JSON_TABLE(d, '$.items[*]' COLUMNS (n int))), d IS JSON OBJECT;
UPDATE docs SET d = jsonb_set(d, '{copy}', JSON_QUERY(d, '$.deep')), k = JSON_VALUE(d, '$.long') WHERE JSON_EXISTS(d, '$.items[*] ? (@.n == 130)');
CREATE FUNCTION through(which int, OUT digest text) LANGUAGE plpgsql AS $$
DECLARE r record; doc jsonb;
BEGIN
    digest := '';
    UPDATE docs SET d = jsonb_set(d, '{deep,new}', '"x"') WHERE id = which RETURNING d INTO doc;
    FOR r IN SELECT * FROM JSON_TABLE(doc, '$.items[*]' COLUMNS (n int, note text)) LOOP
        BEGIN
            UPDATE docs SET d = jsonb_set(d, '{long}', to_jsonb(r.note)) WHERE id = which;
            digest := md5(digest || r.n || r.note || JSON_VALUE(doc, '$.deep.er.est') || (SELECT JSON_VALUE(d, '$.long') FROM docs WHERE id = which));
            IF r.n % 3 > 0 THEN
                RAISE EXCEPTION 'back';
            END IF;
        EXCEPTION WHEN raise_exception THEN
            digest := md5(digest || JSON_VALUE(doc, '$.deep.new'));
        END;
    END LOOP;
END $$;
SELECT through(4);
BEGIN;
DECLARE c CURSOR FOR SELECT id, n, md5(note) FROM docs, JSON_TABLE(d, '$.items[*]' COLUMNS (n int, note text)) WHERE n % 40 < 2;
FETCH 3 FROM c;
SAVEPOINT s;
DELETE FROM docs WHERE id < 7;
ROLLBACK TO s;
FETCH 3 FROM c;
MOVE 100 IN c;
COMMIT;
CREATE INDEX docs_name ON docs (JSON_VALUE(d, '$.name'), (JSON_VALUE(d, '$.deep.er.n' RETURNING int)));
CREATE STATISTICS docs_stat ON (JSON_VALUE(d, '$.name')), (d IS JSON OBJECT) FROM docs;
ANALYZE docs;
SET enable_seqscan = off;
SELECT id FROM docs WHERE JSON_VALUE(d, '$.name') = 'doc 7';
RESET enable_seqscan;
SELECT * FROM sum_up('docs');
-- methods of jsonpath
SELECT id, jsonb_path_query_array(d, '$.items[*].n.string()'), jsonb_path_query_first(d, '$.items[2].price.decimal(5, 1)'), jsonb_path_query_first(d, '$.id.bigint()'), jsonb_path_query_first(d, '$.when.date()'),
    jsonb_path_query_first(d, '$.id.boolean()'), jsonb_path_query_first(d, '$.items.size()'), jsonb_path_query_first(d, '$.type()'), jsonb_path_exists(d, '$ ? (@.id.number() > $.deep.er.n.integer())') FROM docs WHERE id < 6 ORDER BY id;
SELECT d @? '$.deep.size() ? (@ == 1)', jsonb_path_query(d, '$.items.type()'), jsonb_path_query(d, '$.size()'), jsonb_path_query(d, '$.long.type()') FROM docs ORDER BY id;
SELECT jsonb_path_query(d, '$.long.date()') FROM docs WHERE id = 1;

-- partitions take their parent's access method
CREATE TABLE parent (id int, v text, k text) PARTITION BY RANGE (id) USING :am;
CREATE TABLE part1 PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parent FOR VALUES FROM (10) TO (20) USING heap;
INSERT INTO parent SELECT i, mixed(i * 3000, i), 'k' FROM generate_series(0, 19) i;
UPDATE parent SET v = v || 'more', id = (id + 7) % 20;
ALTER TABLE ONLY parent SET ACCESS METHOD heap;
CREATE TABLE part3 PARTITION OF parent FOR VALUES FROM (20) TO (30);
ALTER TABLE parent SET ACCESS METHOD :am;
CREATE TABLE part4 PARTITION OF parent FOR VALUES FROM (30) TO (40);
ALTER TABLE parent SET ACCESS METHOD DEFAULT;
CREATE TABLE part5 PARTITION OF parent FOR VALUES FROM (40) TO (50) PARTITION BY LIST (k);
CREATE TABLE part5a PARTITION OF part5 FOR VALUES IN ('k');
INSERT INTO parent SELECT id + 10, v, k FROM parent;
INSERT INTO parent SELECT i, dense(5000, i), 'k' FROM generate_series(30, 49) i;
UPDATE parent SET v = 'x' || v, id = id + 5 WHERE id % 5 = 0 AND id < 45;
SELECT relname, amname = :'am' AS as_parent FROM pg_class c LEFT JOIN pg_am am ON am.oid = relam WHERE relname ~ '^par' AND relname NOT IN ('part2', 'part3') AND relnamespace = 'like_heap'::regnamespace ORDER BY 1;
SELECT * FROM sum_up('parent');
SELECT * FROM sum_up('part1');
SELECT * FROM sum_up('part4');
SELECT * FROM sum_up('part5a');
ALTER TABLE part2 SET ACCESS METHOD :am;
ALTER TABLE part1 SET ACCESS METHOD DEFAULT;
SELECT * FROM sum_up('parent');

-- a generated column is computed anew; COPY passes over rows with errors; privileges
ALTER TABLE source ADD g text GENERATED ALWAYS AS (left(v, 5) || kind) STORED, ADD big text GENERATED ALWAYS AS (v || v) STORED;
SELECT * FROM sum_up('source');
ALTER TABLE source ALTER g SET EXPRESSION AS (right(v, 3000)), ALTER big SET EXPRESSION AS (v || 'other');
SELECT * FROM sum_up('source');
SELECT current_setting('data_directory') || '/like_heap.copy' AS file \gset
COPY (SELECT CASE WHEN id % 4 = 0 THEN 'wrong ' || id ELSE id::text END, v, kind FROM source) TO :'file';
CREATE TABLE copied (id int PRIMARY KEY, v text, kind text);
COPY copied FROM :'file' (ON_ERROR ignore, LOG_VERBOSITY verbose);
SELECT * FROM sum_up('copied');
COPY copied (id, v) FROM STDIN (ON_ERROR ignore, FORMAT csv);
100,short
x,wrong
101,"longer"
\.
SELECT * FROM sum_up('copied');
CREATE ROLE like_heap_maintainer;
GRANT USAGE ON SCHEMA like_heap TO like_heap_maintainer;
GRANT MAINTAIN ON t, docs TO like_heap_maintainer;
SET ROLE like_heap_maintainer;
VACUUM (FULL, ANALYZE) t;
VACUUM (SKIP_LOCKED, BUFFER_USAGE_LIMIT '1MB', PROCESS_MAIN false) docs;
CLUSTER t USING t_pkey;
REINDEX TABLE docs;
VACUUM FULL copied;
SELECT count(*) FROM t;
RESET ROLE;
DROP OWNED BY like_heap_maintainer;
DROP ROLE like_heap_maintainer;
SELECT * FROM sum_up('t');
-- how much is sent does not depend on how it is stored
CREATE FUNCTION serialized(query text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, SERIALIZE TEXT, COSTS OFF, TIMING OFF, BUFFERS OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Serialization' THEN RETURN NEXT; END IF;
    END LOOP;
END $$;
SELECT * FROM serialized('SELECT * FROM t');
SELECT * FROM serialized('UPDATE t SET a = a || $$x$$ RETURNING *');
SELECT * FROM sum_up('t');
\endif
