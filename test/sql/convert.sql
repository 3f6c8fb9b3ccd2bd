-- CALL sliced.convert(): values that are not stored as new ones would be are stored anew.
-- test/specs/converted_rows.spec has more than one session, test/t/240_convert.sh more than one server.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA conv;
SET search_path = conv, public;
CREATE FUNCTION noise(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), 'base64'), ''), n) FROM generate_series(0, n / 88) i $$;
CREATE FUNCTION words(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(seed * i || ' word ', '') FROM generate_series(1, n) i $$;
CREATE FUNCTION document(n int, seed int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_object_agg('k' || i, CASE i WHEN 3 THEN words(n * 20, seed) WHEN 5 THEN noise(n * 60, seed) ELSE md5(seed || '.' || i) END)
    FROM generate_series(1, n) i $$;

-- ---- every kind of value, index and trigger ----
CREATE TABLE docs (id int PRIMARY KEY, n int DEFAULT 0, gone text, doc jsonb, body text, file bytea, plain text,
    made text GENERATED ALWAYS AS (left(body, 10)) STORED, arr int[], at timestamptz DEFAULT '2000-01-01') USING heap;
ALTER TABLE docs ALTER file SET STORAGE external;
INSERT INTO docs (id, gone, doc, body, file, plain, arr)
    SELECT i, noise(9000, -i), document(100 + i * 30, i), words(i * 900, i), convert_to(noise(i * 7000, i), 'UTF8'), noise(5000, i),
        ARRAY(SELECT i * j FROM generate_series(1, 4000) j) FROM generate_series(1, 12) i;
INSERT INTO docs (id) VALUES (100);
ALTER TABLE docs DROP gone, ADD late text DEFAULT 'late';
CREATE UNIQUE INDEX docs_md5 ON docs (md5(body));
CREATE INDEX docs_gin ON docs USING gin (doc jsonb_path_ops);
CREATE INDEX docs_part ON docs (length(body)) WHERE id % 2 = 0;
CREATE INDEX docs_brin ON docs USING brin (id);
CREATE INDEX docs_hash ON docs USING hash (body);
ALTER TABLE docs ADD CONSTRAINT docs_later UNIQUE (n, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE docs ADD CONSTRAINT docs_ex EXCLUDE USING btree (made WITH =, id WITH =);
CREATE TABLE child (id int REFERENCES docs, note text);
INSERT INTO child SELECT id FROM docs;
CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trigger % fired', tg_name; END $$;
CREATE TABLE same USING heap AS TABLE docs;
CREATE TRIGGER before_row BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fires();
CREATE TRIGGER after_row AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fires();
CREATE TRIGGER after_statement AFTER UPDATE ON docs FOR EACH STATEMENT EXECUTE FUNCTION fires();
ALTER TABLE docs ENABLE ALWAYS TRIGGER before_row;
CREATE RULE never AS ON UPDATE TO docs DO INSTEAD NOTHING;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY few ON docs USING (id < 3);

CREATE FUNCTION differences() RETURNS TABLE (id int) LANGUAGE sql AS $$
    SELECT coalesce(d.id, s.id) FROM docs d FULL JOIN same s USING (id) WHERE d.*::text IS DISTINCT FROM s.*::text OR d IS NULL OR s IS NULL $$;
-- which values are not slices; and what is wrong with the table, or with an index
CREATE FUNCTION of_core(text) RETURNS SETOF int LANGUAGE plpgsql AS $$
    BEGIN RETURN QUERY EXECUTE format('SELECT DISTINCT d.id FROM docs d, sliced.inspect(%I) i WHERE i.rows > 0 AND i.object IS NOT NULL
        AND EXISTS (SELECT FROM %s c WHERE c.chunk_id = i.object AND c.chunk_seq = 0) ORDER BY 1', $1,
        (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'docs'::regclass)); END $$;
CREATE FUNCTION problems() RETURNS TABLE (what text) LANGUAGE plpgsql AS $$
    DECLARE expr text; a text; b text; BEGIN
        RETURN QUERY SELECT message FROM sliced.verify('docs');
        RETURN QUERY SELECT 'row ' || id FROM differences();
        FOREACH expr IN ARRAY ARRAY['SELECT count(*) FROM docs WHERE md5(body) IN (SELECT md5(body) FROM same)',
            'SELECT count(*) FROM docs WHERE body IN (SELECT body FROM same)', 'SELECT count(*) FROM docs WHERE id BETWEEN 2 AND 9',
            'SELECT sum(id) FROM docs WHERE length(body) > 20000 AND id % 2 = 0', 'SELECT sum(id) FROM docs WHERE n = 0 AND id > 2',
            'SELECT sum(id) FROM docs WHERE doc @> jsonb_build_object(''k7'', md5(''8.7''))', 'SELECT count(*) FROM docs WHERE made = ''1 word 2 w'''] LOOP
            SET LOCAL enable_seqscan = off;
            EXECUTE expr INTO a;
            SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off;
            EXECUTE expr INTO b;
            SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_indexonlyscan = on;
            IF a IS DISTINCT FROM b THEN what := expr || ': ' || a || ', not ' || b; RETURN NEXT; END IF;
        END LOOP;
    END $$;

SELECT sliced.adopt('docs');
SELECT of_core('body');
CALL sliced.convert('docs');
SELECT of_core('body') UNION SELECT of_core('doc') UNION SELECT of_core('file') UNION SELECT of_core('arr');
SELECT * FROM problems();
-- new values convert to nothing: the second call, as always
CALL sliced.convert('docs');
-- but what the toaster has cut can be read by itself: k3 is long, and has slices of its own
SELECT count(*) > 1 FROM docs, sliced.inspect(doc) WHERE id = 12;

-- ---- other settings: all codecs, each from each ----
DROP RULE never ON docs;
ALTER TABLE docs DISABLE TRIGGER ALL;
SET sliced.compression = zstd;
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SET sliced.compression = none;
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SET sliced.compression = pglz;
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SET sliced.compression = zstd;
CALL sliced.convert('docs');
RESET sliced.compression;
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SELECT DISTINCT i.codec FROM docs d, sliced.inspect(body) i WHERE d.id < 13 ORDER BY 1;
-- a column's label
SELECT sliced.alter_column('docs', 'body', 'compression=zstd');
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SELECT DISTINCT i.codec FROM docs d, sliced.inspect(body) i WHERE d.id < 13 ORDER BY 1;
SELECT sliced.alter_column('docs', 'doc', 'toaster=plain');
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SELECT sliced.alter_column('docs', 'doc', NULL);
CALL sliced.convert('docs');
CALL sliced.convert('docs');
SELECT * FROM problems();

-- ---- what changes have left ----
DO $$ BEGIN FOR i IN 1 .. 6 LOOP
    UPDATE docs SET doc = jsonb_set(doc, '{k9}', to_jsonb(repeat('x', i * 50))), file = set_byte(file, i * 500, i), body = overlay(body PLACING 'changed' FROM 900 * i), arr[i * 70] = -i WHERE id % 2 = 1;
    UPDATE same SET doc = jsonb_set(doc, '{k9}', to_jsonb(repeat('x', i * 50))), file = set_byte(file, i * 500, i), body = overlay(body PLACING 'changed' FROM 900 * i), arr[i * 70] = -i WHERE id % 2 = 1;
END LOOP; END $$;
UPDATE docs SET body = body || 'tail', plain = plain || noise(150000, 1) WHERE id IN (4, 8);
UPDATE same SET body = body || 'tail', plain = plain || noise(150000, 1) WHERE id IN (4, 8);
UPDATE docs SET body = body || 'tail', plain = plain || noise(3000, 1) WHERE id IN (4, 8);
UPDATE same SET body = body || 'tail', plain = plain || noise(3000, 1) WHERE id IN (4, 8);
SELECT count(*) > 3 FROM docs, sliced.inspect(doc) WHERE id = 1;
CALL sliced.convert('docs', max_wait => 0);
CALL sliced.convert('docs', max_wait => 0);
SELECT * FROM problems();
-- limits of each kind
UPDATE docs SET body = overlay(body PLACING 'again' FROM 700) WHERE id < 13;
UPDATE same SET body = overlay(body PLACING 'again' FROM 700) WHERE id < 13;
CALL sliced.convert('docs', max_rate => 20, max_dead => 0.99);
SELECT * FROM problems();
-- storage that says the values belong in their rows: left alone
ALTER TABLE docs ALTER plain SET STORAGE plain;
CALL sliced.convert('docs');
-- values that would stay in their row by now
CREATE TABLE small (id int, v text COMPRESSION pglz) USING heap;
ALTER TABLE small ALTER v SET STORAGE external;
INSERT INTO small SELECT i, repeat('short ' || i, 600) FROM generate_series(1, 5) i;
SELECT sliced.adopt('small');
ALTER TABLE small ALTER v SET STORAGE extended;
CALL sliced.convert('small');
CALL sliced.convert('small');
SELECT DISTINCT id, v = repeat('short ' || id, 600) AS same, rows > 0 AS outside FROM small, sliced.inspect(v) ORDER BY id;
SELECT * FROM sliced.verify('small');
-- documents whose long values compress with zstd, and not with lz4; and documents without long values
CREATE TABLE parts (id int, doc jsonb) USING sliced WITH (autovacuum_enabled = off);
SET sliced.compression = lz4;
INSERT INTO parts SELECT i, jsonb_build_object('n', i, 'a', noise(20000, i), 'b', noise(9000, i + 1)) FROM generate_series(1, 2) i;
INSERT INTO parts SELECT 3, jsonb_agg(k) FROM generate_series(1, 2000) k;
CREATE TABLE parts_same USING heap AS TABLE parts;
CALL sliced.convert('parts');
SET sliced.compression = zstd;
CALL sliced.convert('parts');
CALL sliced.convert('parts');
SELECT id, p.doc = s.doc AS same, string_agg(DISTINCT codec, ' ' ORDER BY codec) FROM parts p JOIN parts_same s USING (id), sliced.inspect(p.doc) GROUP BY 1, 2 ORDER BY 1;
-- what heap has compressed is as new, even in one slice, unless it has grown
CREATE TABLE packed (id int, v text COMPRESSION pglz) USING heap;
INSERT INTO packed SELECT i, words(4000, i) FROM generate_series(1, 2) i;
CREATE TABLE unpacked (LIKE packed INCLUDING COMPRESSION) USING sliced WITH (autovacuum_enabled = off);
INSERT INTO unpacked TABLE packed;
CALL sliced.convert('unpacked');
UPDATE unpacked SET v = v || 'and more' WHERE id = 2;
CALL sliced.convert('unpacked');
CALL sliced.convert('unpacked');
SELECT u.id, u.v = p.v || CASE u.id WHEN 2 THEN 'and more' ELSE '' END AS same FROM unpacked u JOIN packed p USING (id) ORDER BY 1;
RESET sliced.compression;
-- rows that only core can store
SELECT format('CREATE TABLE wide (%s) USING heap', string_agg('c' || i || ' text', ', ')) FROM generate_series(1, 350) i \gexec
SELECT format('INSERT INTO wide SELECT %s', string_agg('noise(300, ' || i || ')', ', ')) FROM generate_series(1, 350) i \gexec
CREATE TABLE wide_same USING heap AS TABLE wide;
SELECT sliced.adopt('wide');
CALL sliced.convert('wide');
SELECT wide::text = wide_same::text AS same FROM wide, wide_same;

-- ---- other tables ----
CREATE TABLE parted (id int, v text) PARTITION BY LIST (id);
CREATE TABLE p1 PARTITION OF parted FOR VALUES IN (1) USING heap;
CREATE TABLE p2 PARTITION OF parted FOR VALUES IN (2, 3) PARTITION BY LIST (id);
CREATE TABLE p21 PARTITION OF p2 FOR VALUES IN (2) USING heap;
CREATE TABLE p22 PARTITION OF p2 FOR VALUES IN (3) USING heap;
INSERT INTO parted SELECT 1 + i % 3, noise(9000, i) FROM generate_series(1, 9) i;
SET default_table_access_method = sliced;      -- or a notice about new partitions, before 17
SELECT sliced.adopt('parted');
RESET default_table_access_method;
ALTER TABLE p22 SET ACCESS METHOD heap;
CALL sliced.convert('parted');
CALL sliced.convert('p21');
CREATE TABLE u (v text) USING heap;
ALTER TABLE u SET UNLOGGED;
INSERT INTO u SELECT noise(9000, i) FROM generate_series(1, 3) i;
SELECT sliced.adopt('u');
CALL sliced.convert('u');
CREATE TEMP TABLE tt (v text) USING heap;
INSERT INTO tt SELECT noise(9000, i) FROM generate_series(1, 3) i;
SELECT sliced.adopt('tt');
CALL sliced.convert('tt');
CREATE MATERIALIZED VIEW mv USING heap AS SELECT v FROM parted;
SELECT sliced.adopt('mv');
CALL sliced.convert('mv');
CREATE TABLE narrow (i int) USING sliced;
CALL sliced.convert('narrow');

-- ---- where it may be called ----
DO $$ BEGIN CALL sliced.convert('docs'); CALL sliced.convert('small'); END $$;
BEGIN;
CALL sliced.convert('docs');
ROLLBACK;
CREATE FUNCTION in_function() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL sliced.convert('docs'); END $$;
SELECT in_function();
CREATE RULE and_convert AS ON INSERT TO child DO ALSO SELECT in_function();
INSERT INTO child VALUES (NULL);
DROP RULE and_convert ON child;
CREATE FUNCTION as_function(regclass, float8, float8, float8) RETURNS void LANGUAGE c AS '$libdir/pg_sliced', 'sliced_convert';
SELECT as_function('docs', NULL, NULL, NULL);
CREATE FUNCTION as_trigger() RETURNS trigger LANGUAGE c AS '$libdir/pg_sliced', 'sliced_convert';
CREATE TRIGGER as_trigger BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION as_trigger();
INSERT INTO child VALUES (NULL);
DROP TRIGGER as_trigger ON child;
DO $$ BEGIN CALL sliced.convert('docs'); EXCEPTION WHEN division_by_zero THEN NULL; END $$;
CALL sliced.convert('same');
CALL sliced.convert('docs_md5');
CALL sliced.convert('pg_class');
CREATE VIEW w AS TABLE docs;
CALL sliced.convert('w');
CALL sliced.convert(NULL);
CALL sliced.convert(0::oid::regclass);
CALL sliced.convert('docs', max_rate => -1);
CALL sliced.convert('docs', max_wait => 'NaN');
CALL sliced.convert('docs', max_dead => 2);
SET default_transaction_read_only = on;
CALL sliced.convert('docs');
RESET default_transaction_read_only;
-- every way of isolation that a session may prefer
SET default_transaction_isolation = 'repeatable read';
CALL sliced.convert('docs');
SET default_transaction_isolation = 'serializable';
CALL sliced.convert('docs');
RESET default_transaction_isolation;

-- ---- who may; and functions of his indexes run as he ----
CREATE ROLE regress_sliced_owner;
CREATE ROLE regress_sliced_other;
GRANT USAGE, CREATE ON SCHEMA conv TO regress_sliced_owner, regress_sliced_other;
SET ROLE regress_sliced_owner;
CREATE FUNCTION says_who(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    IF current_user <> 'regress_sliced_owner' THEN RAISE EXCEPTION 'this runs as somebody else'; END IF;
    RETURN left($1, 1); END $$;
CREATE TABLE owned (id int, v text) USING heap;
CREATE INDEX ON owned (says_who(v));
INSERT INTO owned SELECT i, noise(9000, i) FROM generate_series(1, 4) i;
SET ROLE regress_sliced_other;
CALL sliced.convert('owned');
RESET ROLE;
SELECT sliced.adopt('owned');
CALL sliced.convert('owned');
SELECT current_user = session_user AS myself, current_setting('search_path');
SELECT * FROM sliced.convert_progress;

-- ---- bytes behind the first slice, and slices of a document, that a new value would have in another form ----
CREATE FUNCTION hex(n int, seed text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(md5(seed || i), ''), n) FROM generate_series(0, n / 32) i $$;
SET sliced.compression = zstd;
CREATE TABLE behind (id int, v text, j jsonb) USING sliced;
INSERT INTO behind SELECT i, hex(131072, i::text) FROM generate_series(1, 2) i;
-- a tail before the last slice; one of another codec before it
UPDATE behind SET v = v || hex(50, 'a') WHERE id = 1;
UPDATE behind SET v = v || hex(3000, 'b') WHERE id = 1;
SET sliced.compression = pglz;
UPDATE behind SET v = v || repeat('abc', 6000) WHERE id = 2;
INSERT INTO behind SELECT 3, NULL, jsonb_build_object('a', hex(9000, 'a'), 'b', hex(9000, 'b'), 'n', 1);
SET sliced.compression = zstd;
UPDATE behind SET v = v || hex(20000, 'c') WHERE id = 2;
CREATE TABLE before USING heap AS TABLE behind;
CREATE VIEW others AS SELECT id, count(*) FILTER (WHERE start = 131072 AND raw_bytes = 50) AS tails, count(*) FILTER (WHERE codec = 'pglz') > 0 AS pglz,
    count(*) FILTER (WHERE codec = 'none' AND raw_bytes > 4000) > 0 AS long FROM behind, LATERAL (SELECT * FROM sliced.inspect(v) UNION ALL SELECT * FROM sliced.inspect(j)) s GROUP BY 1 ORDER BY 1;
SELECT * FROM others;
CALL sliced.convert('behind');
SELECT * FROM others;
CALL sliced.convert('behind');
SELECT count(*), bool_and((b.v, b.j) IS NOT DISTINCT FROM (o.v, o.j)) FROM behind b JOIN before o USING (id);
RESET sliced.compression;
SET client_min_messages = warning;
DROP SCHEMA conv CASCADE;
DROP ROLE regress_sliced_owner, regress_sliced_other;
