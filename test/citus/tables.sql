-- Twins: the names end in their access method.  Made and filled on the coordinator.
CREATE EXTENSION pg_sliced;
SET citus.shard_count = 4;
SET citus.shard_replication_factor = 1;

CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT left(string_agg(md5(seed || '.' || i), ''), n) FROM generate_series(0, n / 32) i $$;

CREATE FUNCTION make(am text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('default_table_access_method', am, true);
    EXECUTE format('CREATE TABLE docs_%s (id int PRIMARY KEY, n int, body text, doc jsonb, list int[])', am);
    EXECUTE format('CREATE TABLE parts_%s (id int, day date, body text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)', am);
    FOR month IN 1..3 LOOP
        EXECUTE format('CREATE TABLE parts_%1$s_%2$s PARTITION OF parts_%1$s FOR VALUES FROM (%3$L) TO (%4$L)',
            am, month, make_date(2026, month, 1), make_date(2026, month + 1, 1));
    END LOOP;
    EXECUTE format('CREATE TABLE refs_%s (id int PRIMARY KEY, body text)', am);
    -- rows that are there when the table is distributed, and rows that come later
    EXECUTE format('INSERT INTO docs_%s SELECT * FROM examples(1, 100)', am);
END $$;

CREATE FUNCTION examples(first int, last int) RETURNS TABLE (id int, n int, body text, doc jsonb, list int[])
LANGUAGE sql AS $$
    SELECT i, 0, dense(i * 300, i), jsonb_build_object('id', i, 'n', 0, 'short', dense(100, i), 'long',
            (SELECT jsonb_agg(dense(4000, i + k)) FROM generate_series(1, i % 20) k)),
        (SELECT array_agg(k * i) FROM generate_series(1, i * 20) k)
    FROM generate_series(first, last) i
$$;

SELECT make('sliced'), make('heap');

-- labels that are there when the table is distributed
SELECT sliced.alter_column('docs_sliced', 'body', 'compression=lz4');
SECURITY LABEL FOR sliced ON TABLE docs_sliced IS 'compression=pglz';

SELECT create_distributed_table('docs_sliced', 'id'), create_distributed_table('parts_sliced', 'id');
SELECT create_distributed_table('docs_heap', 'id', colocate_with => 'docs_sliced'),
    create_distributed_table('parts_heap', 'id', colocate_with => 'docs_sliced');
SELECT create_reference_table('refs_sliced'), create_reference_table('refs_heap');

INSERT INTO docs_sliced SELECT * FROM examples(101, 200);
INSERT INTO docs_heap SELECT * FROM examples(101, 200);
INSERT INTO docs_sliced SELECT 1000, 0, dense(1000000, 1), jsonb_build_object('n', 1, 'long', jsonb_agg(dense(4000, k))), array_agg(k)
    FROM generate_series(1, 250) k;
INSERT INTO docs_heap SELECT 1000, 0, dense(1000000, 1), jsonb_build_object('n', 1, 'long', jsonb_agg(dense(4000, k))), array_agg(k)
    FROM generate_series(1, 250) k;
UPDATE docs_sliced SET list = (SELECT array_agg(('x' || left(md5(k::text), 8))::bit(32)::int) FROM generate_series(1, 100000) k) WHERE id = 1000;
UPDATE docs_heap SET list = (SELECT array_agg(('x' || left(md5(k::text), 8))::bit(32)::int) FROM generate_series(1, 100000) k) WHERE id = 1000;
INSERT INTO parts_sliced SELECT i, make_date(2026, 1 + i % 3, 1), dense(i * 200, i) FROM generate_series(1, 100) i;
INSERT INTO parts_heap SELECT i, make_date(2026, 1 + i % 3, 1), dense(i * 200, i) FROM generate_series(1, 100) i;
INSERT INTO refs_sliced SELECT i, dense(i * 1000, i) FROM generate_series(1, 30) i;
INSERT INTO refs_heap SELECT i, dense(i * 1000, i) FROM generate_series(1, 30) i;

CREATE FUNCTION digest(rel regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(row, '','' ORDER BY row)) FROM (SELECT md5(t::text) AS row FROM %s t) t', rel)
        INTO result;
    RETURN result;
END $$;

-- of a reference table, what each node has
CREATE FUNCTION digests(am text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['docs', 'parts', 'refs'] LOOP
        RETURN NEXT name || ' ' || digest((name || '_' || am)::regclass);
    END LOOP;
    RETURN QUERY SELECT result FROM run_command_on_placements('refs_' || am,
        'SELECT count(*) || md5(string_agg(md5(t::text), '','' ORDER BY id)) FROM %s t') ORDER BY nodename;
END $$;

-- what labels all shards have, and what the table has
CREATE FUNCTION labels() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT DISTINCT result FROM run_command_on_shards('docs_sliced',
        $q$SELECT coalesce(string_agg(objsubid || ' ' || label, '; ' ORDER BY objsubid), 'none') FROM pg_seclabel WHERE objoid = '%s'::regclass$q$)
    ORDER BY 1
$$;

CREATE FUNCTION shards() RETURNS SETOF regclass LANGUAGE sql AS $$
    SELECT c.oid FROM pg_class c JOIN pg_dist_partition p ON p.logicalrelid = c.oid
    WHERE relname ~ '_sliced' AND relkind = 'r'
$$;

CREATE FUNCTION damage() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT r || ' ' || p.result FROM shards() r, run_command_on_placements(r,
        'SELECT coalesce(string_agg(kind || message, '','' ), '''') FROM sliced.verify(''%s'')') p WHERE NOT (p.success AND p.result = '')
$$;

CREATE FUNCTION strangers() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT r || ' ' || p.result FROM shards() r, run_command_on_placements(r,
        'SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = ''%s''::regclass') p WHERE NOT (p.success AND p.result = 'sliced')
$$;
