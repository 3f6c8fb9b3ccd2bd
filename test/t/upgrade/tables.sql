-- Tables for test/t/220_pg_upgrade.sh: twins in sliced and heap, with values in every form.
CREATE EXTENSION pg_sliced;
CREATE EXTENSION hstore;
CREATE EXTENSION sliced_hstore;

CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql AS
    $$ SELECT left(string_agg(md5(seed || '.' || i), ''), n) FROM generate_series(0, n / 32) i $$;

-- run the statement for both twins, whose names end in what stands for $
CREATE PROCEDURE twice(statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE replace(replace(statement, '$AM', 'heap'), '$', '_heap');
    EXECUTE replace(replace(statement, '$AM', 'sliced'), '$', '_sliced');
END $$;

CALL twice('CREATE TABLE plain$ (id int PRIMARY KEY, n int, t text, gone text, u text, b bytea, j jsonb, a int[], c text[], h hstore) USING $AM');
CALL twice('ALTER TABLE plain$ ALTER b SET STORAGE EXTERNAL, ALTER u SET COMPRESSION pglz');
CALL twice('CREATE INDEX ON plain$ (right(t, 20))');
CALL twice('CREATE TABLE parts$ (id int, day date, t text, j jsonb) PARTITION BY RANGE (day)');
CALL twice('CREATE TABLE parts1$ PARTITION OF parts$ FOR VALUES FROM (''2026-01-01'') TO (''2026-02-01'') USING $AM');
CALL twice('CREATE TABLE parts2$ PARTITION OF parts$ FOR VALUES FROM (''2026-02-01'') TO (''2026-03-01'') USING $AM');
CALL twice('CREATE TABLE inherits$ (extra text) INHERITS (plain$) USING $AM');
CALL twice('CREATE UNLOGGED TABLE unlogged$ (id int, t text) USING $AM');
CALL twice('CREATE TABLE nothing$ (id int, t text) USING $AM');
CALL twice('CREATE TABLE narrow$ (id int, n int) USING $AM');
CALL twice('CREATE TABLE edited$ (id int, a int[], b bytea) USING $AM');
CALL twice('CREATE TABLE shortened$ (id int, t text, b bytea) USING $AM WITH (toast_tuple_target = 300)');

SECURITY LABEL FOR sliced ON COLUMN plain_sliced.j IS 'compression=zstd, level=5';
SECURITY LABEL FOR sliced ON TABLE parts_sliced IS 'compression=zstd';
SECURITY LABEL FOR sliced ON COLUMN parts2_sliced.j IS 'toaster=plain';

-- each of the codecs; short values, compressed ones, of one slice, of several
CREATE PROCEDURE fill(first int, last int) LANGUAGE sql AS $$
    CALL twice(format('INSERT INTO plain$ (id, n, t, u, b, j, a, c, h) SELECT id, 0, dense(i * 400, i), repeat(''compressible '' || i, i * 30), decode(dense(i * 200, -i), ''hex''),
            jsonb_build_object(''id'', i, ''short'', ''x'', ''list'', (SELECT jsonb_agg(dense(5000, k)) FROM generate_series(1, i %% 9) k), ''end'', dense(3000, i)),
            (SELECT array_agg(k * i) FROM generate_series(1, i * 30) k), (SELECT array_agg(dense(k, i)) FROM generate_series(1, i) k),
            hstore(ARRAY[''k'', ''long''], ARRAY[i::text, dense(i * 100, i)])
        FROM generate_series(%s, %s) id, LATERAL (SELECT id %% 1000) sizes (i)', first, last));
$$;
CALL twice('INSERT INTO plain$ (id, n, gone, t) SELECT i, 0, dense(i * 10, i), dense(3000, i) FROM generate_series(1200, 1210) i');
CALL twice('ALTER TABLE plain$ DROP gone');
CALL twice('ALTER TABLE plain$ ADD d text DEFAULT repeat(''not in any row '', 500)');
SET sliced.compression = none;
CALL fill(1, 20);
SET sliced.compression = pglz;
CALL fill(21, 40);
SET sliced.compression = zstd;
CALL fill(41, 60);
SET sliced.compression = lz4;
CALL fill(61, 100);
CALL twice('INSERT INTO plain$ (id, n, t, u, b) SELECT 101, 0, dense(700000, 7), repeat(''0123456789'', 100000), convert_to(dense(300000, 8), ''UTF8'')');
CALL twice('INSERT INTO plain$ (id, n, t) SELECT 110 + i, 0, repeat(''äöü€'', i * i * i) FROM generate_series(1, 40) i');
CALL twice('INSERT INTO inherits$ SELECT id, n, t, u, b, j, a, c, h, d, dense(id * 50, id) FROM ONLY plain$ WHERE id < 50');
CALL twice('INSERT INTO parts$ SELECT id, date ''2026-01-01'' + id % 59, t, j FROM ONLY plain$');
CALL twice('INSERT INTO unlogged$ SELECT id, t FROM ONLY plain$');
CALL twice('INSERT INTO nothing$ SELECT id, t FROM ONLY plain$');
CALL twice('DELETE FROM nothing$');
CALL twice('INSERT INTO narrow$ SELECT i, i FROM generate_series(1, 1000) i');

-- grown, and changed: trees of slices of older objects; each in a transaction of its own
CREATE PROCEDURE change(first boolean) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..7 LOOP
        CALL twice('UPDATE plain$ SET n = n + 1, t = t || dense(100, n) WHERE id % 4 = 0 OR id = 101');
        COMMIT;
    END LOOP;
    CALL twice('UPDATE plain$ SET t = overlay(t placing ''changed'' from 1000), b = set_byte(b, 50, 7) WHERE id % 4 = 1 AND id BETWEEN 30 AND 101');
    COMMIT;
    CALL twice('UPDATE plain$ SET t = overlay(t placing dense(5000, n) from 7000), b = overlay(b placing decode(dense(9000, n), ''hex'') from 3000) WHERE id % 4 = 3 AND id > 60');
    COMMIT;
    CALL twice('UPDATE plain$ SET j = jsonb_set(j, ''{short}'', to_jsonb(dense(60, id))), a[5] = 77, c = c || ''new''::text, h = h || ''k=>new'' WHERE id % 3 = 0');
    COMMIT;
    -- an object becomes a string, so only once
    IF first THEN
        CALL twice('UPDATE plain$ SET j[''list''][0] = ''"short"'', a[400:410] = ''{1,2,3,4,5,6,7,8,9,10,11}'' WHERE id % 6 = 0 AND id % 9 > 0 AND id > 50');
    END IF;
    COMMIT;
    CALL twice('UPDATE plain$ SET t = substr(t, 500) WHERE id % 5 = 0');
    COMMIT;
    CALL twice('UPDATE parts$ SET j = j - ''short'', t = t || ''tail'' WHERE id % 2 = 0');
    COMMIT;
    -- rolled back, and deleted: dead rows and slices
    BEGIN
        CALL twice('UPDATE plain$ SET t = t || ''gone''');
        RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    CALL twice('DELETE FROM plain$ WHERE id % 17 = 0');
END $$;
CALL change(true);

-- bytes of long values: a few, which are in the root; more, which go to nodes below it; so many that slices are written anew
CREATE FUNCTION places(n int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('a[%s] = %s', (n * 1009 + k * 677) % 15000 + 1, n + k), ', ') FROM generate_series(1, 16) k
$$;
CREATE PROCEDURE edit(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first..last LOOP
        CALL twice(format('UPDATE edited$ SET %s, b = set_byte(b, %s, 1) WHERE id > %s', places(i), i * 300, i / 20));
        COMMIT;
    END LOOP;
END $$;
CALL twice('INSERT INTO edited$ SELECT i, array_agg(k), decode(dense(150000, i), ''hex'') FROM generate_series(1, 5) i, generate_series(1, 15000) k GROUP BY i');
CALL edit(1, 99);
CALL twice('INSERT INTO edited$ SELECT 0, array_agg(k) FROM generate_series(1, 15000) k');
CALL twice('UPDATE edited$ SET a[7000] = 1 WHERE id = 0');
CALL twice('INSERT INTO shortened$ SELECT i, dense(i * 20, i), decode(dense(i * 50, i), ''hex'') FROM generate_series(1, 100) i');

-- values that look back at a dictionary, with each codec that can
CALL twice('CREATE TABLE alike$ (id int, t text, u text) USING $AM WITH (toast_tuple_target = 128)');
SECURITY LABEL FOR sliced ON COLUMN alike_sliced.u IS 'compression=zstd';
CREATE PROCEDURE fill_alike(first int, last int) LANGUAGE sql AS $$
    CALL twice(format('INSERT INTO alike$ SELECT i, t, reverse(t) FROM (SELECT i, string_agg(format(''entry %%s of the list: %%s, state %%s; '', k, md5((i * k)::text), i %% k), '''') AS t
        FROM generate_series(%s, %s) i, generate_series(1, 50) k GROUP BY i) s', first, last));
$$;
CALL fill_alike(1, 400);
SELECT sliced.train('alike_sliced');
CALL fill_alike(401, 420);

-- in core's format, as rows are stored while somebody decodes
SET sliced.logical_decoding = on;
CALL twice('INSERT INTO plain$ (id, n, t, j) SELECT 300 + id, 0, t, j FROM ONLY plain$ WHERE id < 40');
RESET sliced.logical_decoding;

-- rewritten, and made of another table
CALL twice('CREATE TABLE rewritten$ USING $AM AS SELECT id, n, t, u, b, j, a, c, h FROM ONLY plain$');
VACUUM FULL rewritten_sliced;
CALL twice('CREATE MATERIALIZED VIEW m$ USING $AM AS SELECT id, t, j FROM ONLY plain$');
CALL twice('CREATE TABLE was$ USING heap AS SELECT id, t, j FROM ONLY plain$');
ALTER TABLE was_sliced SET ACCESS METHOD sliced;
VACUUM parts1_sliced;

-- rows that one twin has and the other has not; tables that only one has
CREATE FUNCTION different() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    ours regclass;
    theirs regclass;
    rows bigint;
BEGIN
    FOR ours IN SELECT oid FROM pg_class WHERE relname ~ '_sliced$' AND relkind IN ('r', 'm') ORDER BY relname LOOP
        theirs := replace(ours::text, '_sliced', '_heap');
        EXECUTE format('SELECT count(*) FROM (SELECT md5(t::text), count(*) FROM ONLY %s t GROUP BY 1) ours
            FULL JOIN (SELECT md5(t::text), count(*) FROM ONLY %s t GROUP BY 1) theirs USING (md5, count) WHERE ours IS NULL OR theirs IS NULL', ours, theirs) INTO rows;
        IF rows > 0 THEN
            RETURN NEXT format('%s: %s rows differ', ours, rows);
        END IF;
    END LOOP;
END $$;

-- parts of values, which are read without the rest, that differ
CREATE FUNCTION parts_different() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    part text;
    rows bigint;
BEGIN
    FOREACH part IN ARRAY ARRAY[$p$length(t)$p$, $p$substr(t, 1000, 50)$p$, $p$right(t, 20)$p$, $p$octet_length(b)$p$, $p$substr(b, 3000, 20)$p$,
        $p$j->>'short'$p$, $p$j#>>'{list,1}'$p$, $p$j->'list'->>-1$p$, $p$j ? 'end'$p$, $p$jsonb_typeof(j->'list')$p$,
        $p$a[400]$p$, $p$a[5:9]$p$, $p$array_length(c, 1)$p$, $p$c[7]$p$, $p$h->'k'$p$, $p$h->'long'$p$] LOOP
        EXECUTE format('SELECT count(*) FROM (SELECT id, (%s)::text AS part FROM ONLY plain_sliced) ours
            FULL JOIN (SELECT id, (%1$s)::text AS part FROM ONLY plain_heap) theirs USING (id) WHERE ours.part IS DISTINCT FROM theirs.part', part) INTO rows;
        IF rows > 0 THEN
            RETURN NEXT format('%s: %s rows differ', part, rows);
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION damage() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s: %s %s %s', c.oid::regclass, v.kind, v.row_ctid, v.message) FROM pg_class c, sliced.verify(c.oid::regclass) v
    WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'sliced') AND relkind IN ('r', 'm')
$$;

-- What a column's values consist of: as inspect() tells, in one line; slices of how many objects, and nodes; whether it is
-- core's chunks.
CREATE FUNCTION slices(rel regclass) RETURNS TABLE (id int, col name, form text, objects bigint, nodes bigint, chunks bool) LANGUAGE plpgsql AS $$
BEGIN
    FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = rel AND attnum > 0 AND attlen = -1 AND NOT attisdropped LOOP
        RETURN QUERY EXECUTE format($q$
            SELECT id, %L::name, s.* FROM ONLY %s, LATERAL (
                SELECT string_agg(concat_ws(' ', coalesce(piece::text, '-'), coalesce(object::text, '-'), start, raw_bytes, stored_bytes, codec, rows), ';'
                        ORDER BY start, piece, object),
                    count(DISTINCT object) FILTER (WHERE codec <> 'node'), count(*) FILTER (WHERE codec = 'node'),
                    count(*) = 1 AND min(codec) = 'none' AND min(rows) > 1 AND min(rows) = ceil(min(raw_bytes) / 1996.0)
                FROM sliced.inspect(%1$I)) s
            $q$, col, rel);
    END LOOP;
END $$;

-- forms of values that are missing from what this script has made
CREATE FUNCTION forms() RETURNS SETOF text LANGUAGE sql AS $$
    WITH slices AS MATERIALIZED (SELECT * FROM slices('plain_sliced') UNION ALL SELECT * FROM slices('edited_sliced') UNION ALL SELECT * FROM slices('alike_sliced'))
    SELECT name FROM (VALUES
        ('within the row', '^1 - 0 '), ('one slice', '^1 [0-9]+ 0 [^;]*$'), ('several slices', ';.*;'),
        ('none', ' none '), ('pglz', ' pglz '), ('lz4', ' lz4 '), ('zstd', ' zstd '), ('lz4 with a dictionary', ' lz4, dictionary '), ('zstd with a dictionary', ' zstd, dictionary '),
        ('a root', '- [0-9]+ -1 [0-9]+ node'), ('a node below it', '- [0-9]+ -[2-9] [0-9]+ node')) v (name, pattern)
    WHERE NOT EXISTS (SELECT FROM slices WHERE form ~ pattern)
    UNION ALL SELECT 'slices of several objects' WHERE NOT EXISTS (SELECT FROM slices WHERE objects > 1)
    UNION ALL SELECT 'a root alone' WHERE NOT EXISTS (SELECT FROM slices WHERE nodes = 1)
    UNION ALL SELECT 'many nodes' WHERE NOT EXISTS (SELECT FROM slices WHERE nodes > 9)
    UNION ALL SELECT 'chunks of core in ' || name FROM unnest(ARRAY['t', 'j']) name
        WHERE NOT EXISTS (SELECT FROM slices WHERE chunks AND id BETWEEN 300 AND 340 AND col = name)
    UNION ALL SELECT 'compressed within the row by ' || method FROM unnest(ARRAY['pglz', 'lz4']) method
        WHERE NOT EXISTS (SELECT FROM ONLY plain_sliced WHERE method IN (pg_column_compression(t), pg_column_compression(u)))
    UNION ALL SELECT 'a value that is in no row' WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'plain_sliced'::regclass AND atthasmissing)
    UNION ALL SELECT 'a dropped column' WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'plain_sliced'::regclass AND attisdropped)
$$;

-- labels that rows 1001 to 1050, which changes.sql makes, do not heed; what does not get shorter is not compressed
CREATE FUNCTION ignored() RETURNS SETOF text LANGUAGE sql AS $$
    WITH used (col, codec) AS (
        SELECT 'plain_sliced.j', codec FROM ONLY plain_sliced, sliced.inspect(j) WHERE id BETWEEN 1001 AND 1050
        UNION ALL SELECT 'plain_sliced.u', pg_column_compression(u) FROM ONLY plain_sliced WHERE id BETWEEN 1001 AND 1050
        UNION ALL SELECT 'parts_sliced.t', codec FROM parts_sliced, sliced.inspect(t) WHERE id BETWEEN 1001 AND 1050),
    codecs AS (SELECT col, string_agg(DISTINCT codec, ' ') AS codecs FROM used WHERE codec NOT IN ('none', 'node') GROUP BY col)
    SELECT concat_ws(': ', col, codecs) FROM (VALUES ('plain_sliced.j', 'zstd'), ('plain_sliced.u', 'lz4'), ('parts_sliced.t', 'zstd')) labels (col, wanted)
    LEFT JOIN codecs USING (col) WHERE codecs IS DISTINCT FROM wanted
$$;
