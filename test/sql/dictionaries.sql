-- Dictionaries, which short slices look back at; test/specs/training.spec has more than
-- one session.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;
CREATE SCHEMA dictionaries;
SET search_path = dictionaries;
SET sliced.compression = 'zstd';
CREATE FUNCTION document(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('id', i, 'customer', jsonb_build_object('name', md5(i::text), 'city', 'Berlin', 'country', 'Germany'),
        'items', (SELECT jsonb_agg(jsonb_build_object('number', md5((i * k)::text), 'description', 'an item of the catalogue, number ' || k,
            'quantity', i * k % 7, 'warehouse', 'warehouse ' || k % 5, 'state', (ARRAY['ordered', 'packed', 'shipped'])[1 + (i + k) % 3]))
            FROM generate_series(1, 20) k)) $$;
CREATE TABLE docs (id int, doc jsonb) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off, toast.autovacuum_enabled = off);
CREATE TABLE same (id int, doc jsonb) USING heap;
CREATE FUNCTION differs() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM docs FULL JOIN same USING (id) WHERE docs.doc IS DISTINCT FROM same.doc $$;
CREATE VIEW users AS SELECT count(*) AS dictionaries, sum(slices) AS slices FROM sliced.dictionary_slices('docs');

-- without values there is nothing to train on
SELECT rel, col, dictionary, samples, bytes FROM sliced.train('docs');
INSERT INTO docs SELECT i, document(i) FROM generate_series(1, 1000) i;
INSERT INTO same TABLE docs;
SELECT col, dictionary IS NOT NULL AS made, bytes BETWEEN 8192 AND 65536 AS bytes, samples, stored_with < 0.75 * stored_without AS saves FROM sliced.train('docs');
SELECT rel, col, in_use, samples, saves BETWEEN 0.25 AND 0.6 AS saves FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
-- what is stored already stays as it is, new values use it
SELECT * FROM users;
INSERT INTO docs SELECT i, document(i) FROM generate_series(1001, 2000) i;
INSERT INTO same SELECT i, document(i) FROM generate_series(1001, 2000) i;
SELECT * FROM users;
SELECT codec, count(*) FROM docs, sliced.inspect(doc) GROUP BY codec ORDER BY codec;
SELECT sum(stored_bytes) FILTER (WHERE id > 1000) < 0.75 * sum(stored_bytes) FILTER (WHERE id <= 1000) AS shorter FROM docs, sliced.inspect(doc);
-- the dictionary takes space as well, but its entry in the directory is no value
SELECT s.heads - v.n AS more, s.raw_bytes - v.raw = d.bytes AS its_bytes, s.core_values
FROM sliced.toast_space('docs') s, sliced.dictionaries d, (SELECT count(DISTINCT object) AS n, sum(raw_bytes) AS raw FROM docs, sliced.inspect(doc) WHERE codec <> 'node' AND object IS NOT NULL) v
WHERE d.rel = 'docs';
SELECT differs();
SELECT doc->'customer'->>'city', doc #>> '{items,3,state}', jsonb_array_length(doc->'items') FROM docs WHERE id = 1500;
SELECT * FROM sliced.verify('docs');
-- another one is not worth it
SELECT dictionary FROM sliced.train('docs', 'doc');
SELECT count(*) FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);

-- values change
UPDATE docs SET doc = jsonb_set(doc, '{customer,city}', '"Paris"') WHERE id % 10 = 0;
UPDATE same SET doc = jsonb_set(doc, '{customer,city}', '"Paris"') WHERE id % 10 = 0;
DELETE FROM docs WHERE id % 7 = 0;
DELETE FROM same WHERE id % 7 = 0;
SELECT differs();
SELECT * FROM sliced.verify('docs');

-- who rolls back takes the dictionary along, and the slices that name it
BEGIN;
TRUNCATE docs;
INSERT INTO docs SELECT i, document(i) FROM generate_series(1, 1000) i;
SELECT * FROM users;
SAVEPOINT before_training;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('docs');
INSERT INTO docs SELECT i, document(i) FROM generate_series(1001, 1100) i;
SELECT * FROM users;
ROLLBACK TO before_training;
SELECT count(*) FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
INSERT INTO docs SELECT i, document(i) FROM generate_series(1001, 1100) i;
SELECT * FROM users;
SELECT * FROM sliced.verify('docs');
ROLLBACK;
INSERT INTO docs VALUES (0, document(0));
INSERT INTO same VALUES (0, document(0));
SELECT codec FROM docs, sliced.inspect(doc) WHERE id = 0;
SELECT differs();
-- a variable has a value whose dictionary was rolled back
DO $$ DECLARE got jsonb; BEGIN
    TRUNCATE docs;
    INSERT INTO docs SELECT i, document(i) FROM generate_series(1, 1000) i;
    BEGIN
        PERFORM sliced.train('docs');
        INSERT INTO docs VALUES (-1, document(-1)) RETURNING doc INTO got;
        RAISE EXCEPTION 'rolled back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    RAISE NOTICE '%', got->'customer'->>'city';
    RAISE EXCEPTION 'all of it';
EXCEPTION WHEN raise_exception THEN RAISE NOTICE '%', sqlerrm;
END $$;
SELECT differs();

-- a table that is written anew gets a dictionary made of its own rows
VACUUM FULL docs;
SELECT count(*), bool_and(in_use) FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
SELECT dictionaries, slices >= (SELECT count(*) FROM docs) AS all_values FROM users;
SELECT differs();
SELECT * FROM sliced.verify('docs');
-- once enough rows have arrived, where rows are inserted
ALTER TABLE docs ADD n int DEFAULT random();
SELECT count(*), bool_and(in_use) FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
SELECT dictionaries, slices BETWEEN 0.4 * (SELECT count(*) FROM docs) AND 0.9 * (SELECT count(*) FROM docs) AS most_values FROM users;
CREATE INDEX docs_id ON docs (id);
CLUSTER docs USING docs_id;
SELECT dictionaries, slices >= (SELECT count(*) FROM docs) AS all_values FROM users;
SELECT differs();
SELECT * FROM sliced.verify('docs');
ALTER TABLE docs SET ACCESS METHOD heap;
SELECT rel, col, dictionary, in_use, bytes, samples, trained_at, saves FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
SELECT differs();
ALTER TABLE docs SET ACCESS METHOD sliced;
SELECT * FROM users;
ALTER TABLE docs DROP n;

-- by itself
SELECT sliced.alter_column('docs', 'doc', 'compression=lz4, dictionary=auto');
SELECT col, compression, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'docs';
ANALYZE docs (id);
SELECT rel, col, in_use FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
INSERT INTO docs SELECT id + 10000, doc FROM same;
INSERT INTO same SELECT id + 10000, doc FROM same;
SELECT codec, count(*) > 1500 AS many FROM docs, sliced.inspect(doc) WHERE id >= 10000 GROUP BY codec ORDER BY codec;
-- not again, as long as there are not many more
ANALYZE docs;
SELECT count(*) FROM sliced.dictionaries WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dictionaries'::regnamespace);
SELECT differs();
SELECT * FROM sliced.verify('docs');

-- off: new values do without, old ones are read
SELECT sliced.alter_column('docs', 'doc', 'dictionary=off');
INSERT INTO docs VALUES (-2, document(-2));
INSERT INTO same VALUES (-2, document(-2));
SELECT codec FROM docs, sliced.inspect(doc) WHERE id = -2;
SELECT differs();
SELECT sliced.train('docs', 'doc');
SELECT sliced.alter_column('docs', 'doc', NULL);
SET sliced.dictionary = off;
SELECT sliced.train('docs', 'doc');
SELECT * FROM sliced.train('docs');
RESET sliced.dictionary;
SET sliced.compression = 'pglz';
SELECT sliced.train('docs', 'doc');
SET sliced.compression = 'zstd';
-- what is stored already, while others work
CREATE TABLE later (id int, doc jsonb) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off, toast.autovacuum_enabled = off);
INSERT INTO later SELECT i, document(i) FROM generate_series(1, 800) i;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('later');
SET client_min_messages = warning;
CALL sliced.convert('later');
SELECT codec, count(*) FROM later, sliced.inspect(doc) GROUP BY codec;
SELECT max(ctid) AS last FROM later \gset
CALL sliced.convert('later');
SELECT max(ctid) = :'last' AS nothing_left FROM later;
-- another dictionary takes the place of the first, and documents too long for any stay as they are
DELETE FROM later WHERE id > 20;
INSERT INTO later SELECT i, jsonb_build_object('id', i, 'lines', (SELECT jsonb_agg(jsonb_build_object('when', i * k, 'level', 'warning: of another kind', 'from', 'server ' || k % 9,
    'message', reverse('nothing like that has been here before ' || k % 13))) FROM generate_series(1, 25) k)) FROM generate_series(1001, 2500) i;
INSERT INTO later SELECT 5000, jsonb_agg(document(i)) FROM generate_series(1, 60) i;
CREATE TABLE later_same USING heap AS TABLE later;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('later');
CALL sliced.convert('later');
SELECT count(*) FILTER (WHERE slices > 0) AS in_use FROM sliced.dictionary_slices('later');
SELECT in_use FROM sliced_functions.table_dictionaries('later') ORDER BY trained_at;
SELECT max(ctid) AS last FROM later \gset
CALL sliced.convert('later');
SELECT max(ctid) = :'last' AS nothing_left FROM later;
SELECT count(*) FROM later FULL JOIN later_same s USING (id) WHERE later.doc IS DISTINCT FROM s.doc;
-- a document with slices that look back cannot be copied as it is, to where there is no dictionary
CREATE TABLE elsewhere (LIKE later) USING sliced;
INSERT INTO later SELECT 6000 + n, jsonb_agg(document(i)) || jsonb_build_array(repeat(document(n)::text, 2)) FROM generate_series(1, 8) i, generate_series(1, 2) n GROUP BY n;
INSERT INTO elsewhere TABLE later;
SELECT count(*) FROM elsewhere e FULL JOIN later USING (id) WHERE later.doc IS DISTINCT FROM e.doc;
SELECT * FROM sliced.verify('elsewhere');
DROP TABLE later_same, elsewhere;
SELECT sliced.alter_table('later', 'dictionary=off');
CALL sliced.convert('later');
SELECT codec, count(*) FROM later, sliced.inspect(doc) GROUP BY codec;
SELECT sliced.alter_table('later', 'dictionary=auto, compression=lz4');
TRUNCATE later;
INSERT INTO later SELECT i, document(i) FROM generate_series(1, 800) i;
CALL sliced.convert('later');
SELECT codec, count(*) FROM later, sliced.inspect(doc) GROUP BY codec;
RESET client_min_messages;
SELECT count(*) FROM later WHERE doc <> document(id);
SELECT * FROM sliced.verify('later');
DROP TABLE later;

-- rows shorter than core's limit have values outside only where there is a dictionary
CREATE TABLE short (gone text, id int, doc text) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
ALTER TABLE short DROP gone;
INSERT INTO short SELECT i, left(document(i)::text, 1500) FROM generate_series(1, 2000) i;
SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'short'::regclass;
SELECT dictionary IS NOT NULL AS made, stored_with < 0.75 * stored_without AS saves FROM sliced.train('short');
CREATE TABLE before AS SELECT pg_table_size('short') AS bytes;
VACUUM FULL short;
SELECT pg_table_size('short') < 0.5 * bytes AS smaller FROM before;
SELECT count(*) FROM short WHERE doc <> left(document(id)::text, 1500);
SELECT * FROM sliced.verify('short');

-- nothing of deleted rows goes into a new file
CREATE TABLE secrets (id int, doc jsonb) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
INSERT INTO secrets SELECT i, document(i) FROM generate_series(1, 800) i;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('secrets');
CREATE MATERIALIZED VIEW shown USING sliced WITH (toast_tuple_target = 128) AS TABLE secrets;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('shown');
DELETE FROM secrets WHERE id > 2;
VACUUM FULL secrets;
REFRESH MATERIALIZED VIEW shown;
SELECT count(*) FROM sliced_functions.table_dictionaries('secrets');
SELECT count(*) FROM sliced_functions.table_dictionaries('shown');
SELECT count(*) FROM secrets FULL JOIN shown USING (id, doc) WHERE doc = document(id);
INSERT INTO secrets SELECT i, document(i) FROM generate_series(3, 2000) i;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('secrets');
REFRESH MATERIALIZED VIEW shown;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('shown');
REFRESH MATERIALIZED VIEW shown;
SELECT count(*) FROM sliced_functions.table_dictionaries('shown');
-- in a parallel plan
CREATE UNIQUE INDEX ON shown (id);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
REFRESH MATERIALIZED VIEW shown;
SELECT count(*) FROM sliced_functions.table_dictionaries('shown');
REFRESH MATERIALIZED VIEW CONCURRENTLY shown;
BEGIN;
REFRESH MATERIALIZED VIEW shown;
ROLLBACK;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT count(*) FROM secrets FULL JOIN shown USING (id, doc) WHERE doc <> document(id);
SELECT * FROM sliced.verify('shown');
DROP MATERIALIZED VIEW shown;
SELECT count(*) FROM sliced_functions.table_dictionaries('secrets');
ALTER TABLE secrets ALTER doc TYPE jsonb USING to_jsonb(id);
SELECT count(*) FROM sliced_functions.table_dictionaries('secrets');
-- one is made for a file, though another table is written anew meanwhile
CREATE TABLE turns (id int, doc jsonb) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
CREATE TABLE other_turns (LIKE turns) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
INSERT INTO turns SELECT i, document(i) FROM generate_series(1, 2000) i;
INSERT INTO other_turns TABLE turns;
SELECT count(dictionary) FROM (VALUES ('turns'::regclass), ('other_turns')) t(rel), sliced.train(rel);
CREATE FUNCTION other_turn(id int) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF id % 600 = 0 THEN
        ALTER TABLE other_turns ALTER doc TYPE jsonb USING document(id);
    END IF;
    RETURN document(id);
END $$;
ALTER TABLE turns ALTER doc TYPE jsonb USING other_turn(id);
SELECT count(*) FROM sliced_functions.table_dictionaries('turns');
SELECT count(*) FROM sliced_functions.table_dictionaries('other_turns');
DROP TABLE turns, other_turns;
-- none is worth it for a table that arrives in a file: that is noted, so ANALYZE does not try again
CREATE TABLE useless (id int, doc text) USING sliced WITH (autovacuum_enabled = off);
SELECT sliced.alter_column('useless', 'doc', 'dictionary=auto');
INSERT INTO useless SELECT i, (SELECT string_agg(encode(sha512((i || '.' || k)::bytea), 'hex'), '') FROM generate_series(1, 40) k) FROM generate_series(1, 500) i;
ALTER TABLE useless ADD n int DEFAULT random();
SELECT count(*), count(dictionary) AS dictionaries FROM sliced_functions.table_dictionaries('useless');
ANALYZE useless;
SELECT count(*), count(dictionary) AS dictionaries FROM sliced_functions.table_dictionaries('useless');
-- values that a dictionary makes hardly shorter, and more of them than are looked at
CREATE TABLE noises (id int, doc text COLLATE "C") USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
INSERT INTO noises SELECT i, (SELECT string_agg(translate(encode(sha512((i || '.' || k)::bytea), 'base64'), E'\n', ''), '') FROM generate_series(1, 30) k) || left('what all of them have at their end, more or less', i % 48) FROM generate_series(1, 400) i;
SELECT dictionary FROM sliced.train('noises');
TRUNCATE noises;
INSERT INTO noises SELECT i, repeat(md5(i::text), 1900) FROM generate_series(1, 150) i;
SELECT samples < 150 AS some FROM sliced.train('noises');
DROP TABLE noises;
-- nor does a table that is written anew when its column has been told to do without
SELECT sliced.alter_column('useless', 'doc', NULL);
VACUUM FULL useless;
SELECT count(*) FROM sliced_functions.table_dictionaries('useless');
DROP TABLE useless;
-- without a dictionary from now on, and none in the file
INSERT INTO secrets SELECT i, document(i) FROM generate_series(1, 2000) i;
SELECT dictionary IS NOT NULL AS made FROM sliced.train('secrets');
SELECT sliced.alter_column('secrets', 'doc', 'dictionary=off');
VACUUM FULL secrets;
SELECT count(*) FROM sliced_functions.table_dictionaries('secrets');
SELECT * FROM sliced.verify('secrets');
DROP TABLE secrets;

-- the first ANALYZE of an inheritance tree
CREATE TABLE parent (id int, doc jsonb) USING sliced WITH (toast_tuple_target = 128);
CREATE TABLE child () INHERITS (parent) USING sliced WITH (toast_tuple_target = 128);
INSERT INTO child SELECT i, document(i) FROM generate_series(1, 2000) i;
SELECT sliced.alter_column('child', 'doc', 'dictionary=auto');
BEGIN READ ONLY;
ANALYZE parent;
SELECT count(*) FROM sliced_functions.table_dictionaries('child');
SELECT sliced.train('child');
ROLLBACK;
ANALYZE parent;
SELECT count(*) FROM sliced_functions.table_dictionaries('child');
DROP TABLE parent CASCADE;

-- partitions have dictionaries of their own
CREATE TABLE parts (id int, doc jsonb) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000) USING sliced WITH (toast_tuple_target = 128);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000) USING sliced WITH (toast_tuple_target = 128);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (2000) TO (3000) USING heap;
INSERT INTO parts SELECT i, document(i) FROM generate_series(1, 2500) i;
SELECT rel, dictionary IS NOT NULL AS made FROM sliced.train('parts') ORDER BY 1;
UPDATE parts SET id = id + 1000 WHERE id < 2000;
SELECT count(*) FROM parts WHERE doc <> document(id) AND doc <> document(id - 1000);
SELECT * FROM sliced.verify('parts');

-- what cannot be
SELECT sliced.alter_column('docs', 'doc', 'dictionary=yes');
SELECT sliced.train(NULL);
SELECT sliced.train(0);
SELECT sliced.train('same');
SELECT sliced.train('users');
SELECT sliced.train('docs', 'nothing');
SELECT sliced.train('docs', 'ctid');
SELECT sliced.train('docs', 'id');
CREATE TABLE narrow (id int, code varchar(10)) USING sliced;
SELECT * FROM sliced.train('narrow');
SELECT sliced.train('narrow', 'id');
SELECT sliced.train('narrow', 'code');
-- the end of a value may be shorter than the name of a dictionary
CREATE TABLE ends (id int, v text) USING sliced WITH (toast_tuple_target = 128, autovacuum_enabled = off);
INSERT INTO ends SELECT i, document(i)::text FROM generate_series(1, 400) i;
SELECT col, dictionary IS NOT NULL AS made FROM sliced.train('ends', 'v');
INSERT INTO ends SELECT 1000 + i, left(repeat(document(7)::text, 40), 131072 + i) FROM generate_series(1, 12) i;
SELECT count(*), bool_and(v = left(repeat(document(7)::text, 40), 131072 + id - 1000)) FROM ends WHERE id > 1000;

CREATE ROLE sliced_stranger;
GRANT USAGE ON SCHEMA dictionaries TO sliced_stranger;
CREATE TABLE theirs (id int, doc jsonb) PARTITION BY RANGE (id);
ALTER TABLE theirs OWNER TO sliced_stranger;
CREATE TABLE mine PARTITION OF theirs FOR VALUES FROM (0) TO (9) USING sliced;
SET ROLE sliced_stranger;
SELECT sliced.train('docs');
SELECT sliced.train('theirs');
SELECT * FROM sliced.dictionary_slices('docs');
RESET ROLE;
DROP TABLE theirs CASCADE;
REVOKE USAGE ON SCHEMA dictionaries FROM sliced_stranger;
DROP ROLE sliced_stranger;
SET client_min_messages = warning;
DROP SCHEMA dictionaries CASCADE;
