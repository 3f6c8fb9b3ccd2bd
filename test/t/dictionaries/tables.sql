-- Documents that have much in common, on a sliced table and on its twin in heap.
CREATE EXTENSION pg_sliced;
CREATE FUNCTION document(i int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('id', i, 'customer', jsonb_build_object('name', md5(i::text), 'city', 'Berlin', 'country', 'Germany'),
        'items', (SELECT jsonb_agg(jsonb_build_object('number', md5((i * k)::text), 'description', 'an item of the catalogue, number ' || k,
            'quantity', i * k % 7, 'warehouse', 'warehouse ' || k % 5, 'state', (ARRAY['ordered', 'packed', 'shipped'])[1 + (i + k) % 3]))
            FROM generate_series(1, 20) k)) $$;
CREATE TABLE docs (id int PRIMARY KEY, doc jsonb, t text) USING sliced
    WITH (toast_tuple_target = 128, autovacuum_enabled = off, toast.autovacuum_enabled = off);
CREATE PROCEDURE fill(first int, last int) LANGUAGE sql AS $$
    INSERT INTO docs SELECT i, document(i), reverse(document(i)::text) FROM generate_series(first, last) i $$;
-- rows whose values are not what they were written as
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM docs WHERE doc <> document(id) OR t <> reverse(document(id)::text)
        OR doc #>> '{items,3,number}' <> md5((id * 4)::text) OR right(t, 20) <> reverse(left(document(id)::text, 20)) $$;
CREATE FUNCTION trained() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(col || CASE WHEN dictionary IS NULL THEN ' -' ELSE ' made' END, ', ' ORDER BY col) FROM sliced.train('docs') $$;
-- rows, wrong ones, dictionaries in use, whether slices name dictionaries, problems
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', count(*), wrong(), (SELECT count(*) FROM sliced.dictionaries WHERE in_use AND rel = 'docs'),
        (SELECT count(*) FROM sliced.dictionary_slices('docs')), (SELECT count(*) FROM sliced.verify('docs'))) FROM docs $$;
CALL fill(1, 400);
