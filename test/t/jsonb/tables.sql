-- Tables of documents, with access method "am", from file "documents": "v" has
-- nothing but a primary key, "w" triggers, constraints, generated columns and
-- indexes, and "start" is for starting anew.  All of it is in schema "on_am".

SELECT 'on_' || :'am' AS schema \gset
CREATE SCHEMA :schema;
SET search_path = :schema;
SET client_min_messages = warning;
-- also for columns without a codec of their own
SET sliced.compression = zstd;

-- The bytes as they are: core's function does not know that these are no bytea.
CREATE FUNCTION raw(jsonb) RETURNS text LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'md5_bytea';
CREATE FUNCTION size(jsonb) RETURNS int LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteaoctetlen';
-- Long results in short, and their bytes
CREATE FUNCTION show(j jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN RETURN left(raw(j), 8) || ' ' || left(j::text, 40); END $$;
CREATE FUNCTION show(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN RETURN CASE WHEN octet_length(t) < 50 THEN t ELSE left(md5(t), 8) || ' ' || left(t, 40) || ' ' || length(t) END; END $$;
CREATE FUNCTION volatile(text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION volatile(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN $1; END';
-- A path that exists, whatever the document has become.
CREATE FUNCTION way(doc jsonb, seed int) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE path text[] = '{}'; n int; step text;
BEGIN
    FOR depth IN 1 .. 1 + seed % 4 LOOP
        step := NULL;
        IF jsonb_typeof(doc) = 'object' THEN
            SELECT count(*) INTO n FROM jsonb_object_keys(doc);
            SELECT k INTO step FROM jsonb_object_keys(doc) k OFFSET seed * 7 % greatest(n, 1) LIMIT 1;
        ELSIF jsonb_typeof(doc) = 'array' AND jsonb_array_length(doc) > 0 THEN
            step := seed * 7 % jsonb_array_length(doc);
        END IF;
        EXIT WHEN step IS NULL;
        path := path || step;
        doc := doc #> ARRAY[step];
        seed := seed / 3 + depth;
    END LOOP;
    RETURN path;
END $$;

CREATE DOMAIN filed AS jsonb CHECK (jsonb_typeof(VALUE) IS DISTINCT FROM 'boolean');
CREATE TYPE parts AS (id text, tags jsonb, note text, key1 jsonb, a jsonb);

SELECT CASE WHEN 'lz4' = ANY (enumvals) THEN 'lz4' ELSE 'pglz' END AS lz4 FROM pg_settings WHERE name = 'default_toast_compression' \gset
CREATE TABLE start (id int PRIMARY KEY, name text, n int DEFAULT 0, k text,
    doc jsonb COMPRESSION :lz4, dz jsonb, dp jsonb COMPRESSION pglz, dx jsonb, dd filed) USING heap;
ALTER TABLE start ALTER dx SET STORAGE EXTERNAL;
\copy start FROM PROGRAM 'cat "$DOCUMENTS"'
CREATE TABLE v (LIKE start INCLUDING ALL) USING :am;
\copy v FROM PROGRAM 'cat "$DOCUMENTS"'
CREATE TABLE pool USING :am AS SELECT n, jsonb_build_object('pool', n, 'long', repeat('pool ' || n, n * n * 100), 'list', (SELECT jsonb_agg(i * n) FROM generate_series(1, n * 70) i)) AS j
    FROM generate_series(0, 6) n;

CREATE TABLE w (LIKE start INCLUDING ALL, g jsonb GENERATED ALWAYS AS (doc -> 'tags') STORED, h text GENERATED ALWAYS AS (left(dx #>> '{note}', 50)) STORED,
    CONSTRAINT size CHECK (doc IS NULL OR NOT doc ? 'forbidden'), CONSTRAINT long CHECK (coalesce(length(doc ->> 'note'), 0) < 2000)) USING :am;
CREATE INDEX ON w (left(doc ->> 'id', 40));
CREATE INDEX ON w ((jsonb_typeof(dp -> 'id')), left(dd #>> '{tags,0}', 40)) WHERE dp ? 'note';
CREATE INDEX ON w USING gin (doc);
CREATE INDEX ON w USING gin (dx jsonb_path_ops);
CREATE INDEX ON w USING gin ((dz -> 'tags'));
CREATE VIEW v_view AS SELECT * FROM v WHERE n >= 0;
CREATE VIEW w_view AS SELECT id, name, n, k, doc, dz, dp, dx, dd, doc -> 'tags' AS tags FROM w WHERE doc IS NOT NULL WITH CHECK OPTION;
CREATE FUNCTION v_row(i int) RETURNS v LANGUAGE sql AS 'SELECT v FROM v WHERE id = i';
CREATE FUNCTION edit_by_function(r v, y jsonb) RETURNS jsonb LANGUAGE sql AS $$
    UPDATE v SET dp = v.dp || jsonb_build_object('by', y), doc = jsonb_set(jsonb_set(r.doc, '{id}', y), '{tags,0}', r.doc -> 'id') WHERE id = r.id AND jsonb_typeof(dp) = 'object' RETURNING doc || dp $$;

-- Before rows are stored somebody changes them, or looks at both versions.
CREATE TABLE audit (id int, what text, digest text, old jsonb, new jsonb) USING :am;
CREATE FUNCTION before_w() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CASE new.id % 8
        WHEN 0 THEN new.k = left(new.doc ->> 'note', 3);
        WHEN 1 THEN new.doc = jsonb_set(new.doc, '{trigger}', to_jsonb(coalesce((new.doc ->> 'trigger')::int, 0) + 1));
        WHEN 2 THEN new.doc['trigger'] = to_jsonb(raw(old.doc));
        WHEN 3 THEN INSERT INTO audit VALUES (new.id, 'before', concat(raw(old.doc), raw(new.doc), raw(old.dx), raw(new.dx)));
        WHEN 4 THEN IF raw(new.doc) < '1' THEN RETURN old; ELSIF raw(new.doc) < '2' THEN RETURN NULL; END IF;
        WHEN 5 THEN new.dx = jsonb_strip_nulls(new.doc) - 'dx';
        WHEN 6 THEN new.dp = old.dp;
        ELSE NULL;
    END CASE;
    RETURN new;
EXCEPTION WHEN others THEN
    INSERT INTO audit VALUES (new.id, sqlerrm);
    RETURN new;
END $$;
CREATE FUNCTION after_w() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit VALUES (new.id, 'after', concat(raw(new.doc), raw(old.doc), raw(new.dd)), CASE WHEN new.id % 3 = 0 THEN old.doc END, new.dz);
    RETURN NULL;
END $$;
CREATE TRIGGER before BEFORE UPDATE ON w FOR EACH ROW EXECUTE FUNCTION before_w();
CREATE TRIGGER after AFTER UPDATE ON w FOR EACH ROW WHEN (new.doc IS DISTINCT FROM old.doc) EXECUTE FUNCTION after_w();
ANALYZE;
