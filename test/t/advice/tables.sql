-- Tables of heap's that want different advice.
CREATE EXTENSION pg_sliced;
SET client_min_messages = warning;
-- 19 has another default, and what heap has compressed with our codec we take as it is
SET default_toast_compression = pglz;

-- "i"-th document of about "n" events: keys and words that all have, numbers that none has
CREATE FUNCTION document(i int, n int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', i, 'name', md5(i::text), 'status', (ARRAY['active', 'suspended', 'deleted'])[1 + i % 3],
        'address', jsonb_build_object('street', 'Street number ' || i % 977, 'city', (ARRAY['Berlin', 'Hamburg', 'Munich', 'Cologne'])[1 + i % 4]),
        'history', (SELECT jsonb_agg(jsonb_build_object('at', j + i, 'event', (ARRAY['login', 'logout', 'purchase', 'refund'])[1 + (i * j) % 4],
                'reference', left(md5((i * 1000 + j)::text), 10), 'amount', (i::bigint * j * 7919) % 10007)) FROM generate_series(1, n) j))
$$;
CREATE FUNCTION log(i int, n int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(md5((i * 100000 + j)::text) || ' connection received: host=10.0.0.' || (i * j) % 250, E'\n') FROM generate_series(1, n) j
$$;
CREATE FUNCTION noise(i int, n int) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(string_agg(sha256((i * 100000 + j)::text::bytea), ''), 1, n) FROM generate_series(1, n / 32 + 1) j
$$;

-- values are of very different lengths, as they are everywhere
CREATE TABLE documents (id int PRIMARY KEY, doc jsonb);
INSERT INTO documents SELECT i, document(i, 40 + (i * 7919) % 200) FROM generate_series(1, 800) i;
CREATE TABLE short (id int, doc jsonb);
INSERT INTO short SELECT i, document(i, i % 15) FROM generate_series(1, 6000) i;
CREATE TABLE various AS SELECT * FROM documents WHERE id <= 450 UNION ALL SELECT id + 1000, doc FROM short WHERE id <= 2500;
CREATE TABLE logs (id int, body text, level text);
INSERT INTO logs SELECT i, log(i, 5 + (i * 7919) % 3000), 'info' FROM generate_series(1, 200) i;
CREATE TABLE long (id int, body text);
INSERT INTO long SELECT i, log(i, 80000 + i * 20000) FROM generate_series(1, 3) i;
CREATE TABLE mixed (id int, a text, doc jsonb, raw bytea, b text);
ALTER TABLE mixed ALTER raw SET STORAGE EXTERNAL;
INSERT INTO mixed SELECT i, CASE WHEN i % 3 > 0 THEN log(i, i % 100) END, document(i, i % 70), noise(i, i % 5000), repeat('b', i % 500)
    FROM generate_series(1, 1500) i;
CREATE TABLE external (id int, body text, "Raw" bytea);
ALTER TABLE external ALTER body SET STORAGE EXTERNAL, ALTER "Raw" SET STORAGE EXTERNAL;
INSERT INTO external SELECT i, log(i, 100 + i), noise(i, i * 10) FROM generate_series(1, 300) i;
CREATE MATERIALIZED VIEW kept AS SELECT id, body FROM external WITH NO DATA;
ALTER MATERIALIZED VIEW kept ALTER body SET STORAGE EXTERNAL;
REFRESH MATERIALIZED VIEW kept;
CREATE MATERIALIZED VIEW seen AS SELECT id, body FROM logs WHERE id % 2 = 0;
CREATE TABLE parts (id int, doc jsonb) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (400);
CREATE TABLE parts2 (doc jsonb, id int);
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (400) TO (900);
INSERT INTO parts SELECT * FROM documents WHERE id < 800;

-- and for which there is none
CREATE TABLE random (id int, raw bytea);
INSERT INTO random SELECT i, noise(i, 3000 + i * 10) FROM generate_series(1, 400) i;
CREATE TABLE numbers (id int, n numeric, t text);
INSERT INTO numbers SELECT i, i, 't' FROM generate_series(1, 30000) i;
CREATE TABLE nothing (doc jsonb, body text);
CREATE TABLE no_values (id int);
INSERT INTO no_values SELECT generate_series(1, 100);

-- ours, with much that is empty, and in heap's format
CREATE TABLE bloated (id int, raw bytea);
INSERT INTO bloated SELECT i, noise(i, 500 + i * 5) FROM generate_series(1, 1600) i;
DELETE FROM bloated WHERE id % 2 = 0;
CREATE TABLE holes (id int, body text) USING sliced;
INSERT INTO holes SELECT i, log(i, 500) FROM generate_series(1, 400) i;
DELETE FROM holes WHERE id % 4 > 0;
CREATE TABLE adopted AS TABLE logs;
SELECT sliced.adopt('adopted');
VACUUM ANALYZE;

-- what the files take that estimates are about
CREATE FUNCTION takes(rel regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_relation_size(c.oid) + pg_relation_size(t.oid) + pg_indexes_size(t.oid)
    FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid WHERE c.oid = rel
$$;
