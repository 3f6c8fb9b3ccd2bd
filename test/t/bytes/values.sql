-- Values of every form that is stored, each in a table of its own: "form_" and the id that
-- table "forms" has.
CREATE FUNCTION words(seed text, n int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(md5(seed || i), ' ') FROM generate_series(1, n) i $$;
CREATE FUNCTION lines(seed text, n int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s GET /%s/index.html 200 %s', i, seed, i % 7), E'\n') FROM generate_series(1, n) i $$;
CREATE FUNCTION document(n int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', n, 'name', 'some name', 'long', words('l', 200), 'price', 12.50, 'flag', true, 'none', NULL,
        'list', (SELECT jsonb_agg(jsonb_build_object('n', i, 's', md5(i::text))) FROM generate_series(1, 80 * n) i),
        'lines', lines('doc', 150), 'deep', jsonb '{"a": {"b": {"c": [1, 2, {"d": "bottom"}]}}}') $$;
CREATE FUNCTION numbers(n int) RETURNS int[] LANGUAGE sql AS $$
    SELECT array_agg(i * 7919 % 100003) FROM generate_series(1, n) i $$;
CREATE FUNCTION strings(n int) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(CASE WHEN i % 9 > 0 THEN left(md5(i::text), 1 + i % 31) END) FROM generate_series(1, n) i $$;

CREATE TABLE forms (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text, type regtype, codec text, value text, changes text[] DEFAULT '{}',
    others text);    -- values i from 2 on, for a dictionary

INSERT INTO forms (codec, name, type, value)
SELECT codec, codec || ', ' || v.name, v.type, v.value
FROM unnest(ARRAY['none', 'pglz', 'lz4', 'zstd']) codec, LATERAL (VALUES
    -- many rows of a slice; many slices; not only characters of one byte; parts apart from the rest
    ('bytes', 'bytea'::regtype, $$convert_to(words('b', 260), 'UTF8')$$),
    ('text', 'text', CASE codec WHEN 'none' THEN $$words('t', 2300)$$ WHEN 'pglz' THEN $$lines('t', 3000)$$ ELSE $$lines('t', 8000)$$ END),
    ('characters', 'text', $$words('t', 50) || replace(words('t', 150), 'a', 'ä€𝄞')$$),
    ('document', 'jsonb', 'document(3)'),
    ('numbers', 'int[]', 'numbers(2500)'),
    ('strings', 'text[]', 'strings(900)')) v(name, type, value);

-- What has been changed: a root with runs of the old value, bytes of edits, new slices between.
INSERT INTO forms (codec, name, type, value, changes)
SELECT codec, 'changed ' || name, type, value, c.changes FROM forms JOIN (VALUES
    ('bytes', ARRAY[$$overlay(v PLACING 'bytes of the head' FROM 4000)$$]),
    ('text', ARRAY[$$overlay(v PLACING 'ä word' FROM 2000 FOR 6)$$, $$overlay(v PLACING words('new', 100) FROM 70 FOR 3)$$]),
    ('characters', ARRAY[$$overlay(v PLACING 'ä word' FROM 5000 FOR 6)$$]),
    ('document', ARRAY[$$jsonb_set(v, '{deep,a,b,c,1}', '"more"')$$, $$jsonb_set(v, '{list,7,s}', '"less"')$$, $$v - 'lines'$$]),
    ('numbers', ARRAY[$$v[1:1499] || NULL::int || v[1501:2500]$$, $$v || 5$$]),
    ('strings', ARRAY[$$v[1:99] || repeat('long ', 200) || v[101:900]$$])) c(of, changes) ON name IN ('none, ' || of, 'lz4, ' || of);

-- What has grown: small slices, and a tail, behind the rest.
INSERT INTO forms (codec, name, type, value, changes)
SELECT codec, 'grown ' || name, type, value, changes || array_fill(c.small, ARRAY[5]) || c.large || array_fill(c.small, ARRAY[2])
FROM forms JOIN (VALUES
    ('bytea'::regtype, $$v || 'more'::bytea$$, $$v || convert_to(words('x', 30), 'UTF8')$$),
    ('text', $$v || ' und zwar größer'$$, $$v || words('x', 30)$$)) c(type, small, large) USING (type)
WHERE name ~ '^((changed )?none|zstd)';

-- What has a few bytes changed here and there: in the root, in nodes below it, in leaves that borrow a slice, and in trees of
-- three levels and more.  What begins with "large" is for golden files only.
CREATE FUNCTION edits(type regtype, first int, last int, step int, len int, size int) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(format(CASE type
        WHEN 'bytea'::regtype THEN 'overlay(v PLACING convert_to(left(words(''%s'', 3), %s), ''UTF8'') FROM %s)'
        WHEN 'text'::regtype THEN 'overlay(v PLACING left(words(''%s'', 3), %s) FROM %s)'
        WHEN 'jsonb'::regtype THEN 'jsonb_set(v, ''{list,%3$s}'', to_jsonb(left(words(''%1$s'', 3), %2$s)))'
        ELSE 'v[%3$s : %3$s + %2$s - 1] = (SELECT array_agg(i * %1$s) FROM generate_series(1, %2$s) i)' END,
        i, len, (i * step::bigint) % size + 1) ORDER BY i % 7, i)
    FROM generate_series(first, last) i $$;
CREATE FUNCTION list(n int, long int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('list', jsonb_agg(repeat('abcdefg ', long)), 'deep', jsonb '{"a": {"b": 1}}') FROM generate_series(1, n) $$;
CREATE FUNCTION short(n int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('list', jsonb_agg(left(md5(i::text), i % 11)), 'deep', jsonb '{"a": {"b": 1}}') FROM generate_series(1, n) i $$;
INSERT INTO forms (codec, name, type, value, changes)
SELECT codec, name, type, value, edits(type, first, last, step, len, size) || more
FROM (VALUES
    ('none', 'tree none, bytes in the root', 'bytea'::regtype, $$convert_to(words('p', 260), 'UTF8')$$, 11, 12, 149, 90, 8000, '{}'::text[]),
    ('lz4', 'tree lz4, numbers in the root', 'int[]', 'numbers(2500)', 1, 1, 149, 23, 2400, ARRAY['v[2000] = -1']),
    ('zstd', 'tree zstd, a node', 'bytea', $$convert_to(words('p', 260), 'UTF8')$$, 1, 4, 1490, 70, 8000, ARRAY[$$v || 'more'::bytea$$]),
    ('pglz', 'tree pglz, bytes', 'bytea', $$convert_to(lines('p', 300), 'UTF8')$$, 11, 20, 149, 90, 9000, '{}'),
    ('zstd', 'tree zstd, borrowed', 'bytea', $$convert_to(words('p', 900), 'UTF8')$$, 1, 40, 149, 90, 29000,
        ARRAY[$$v || 'more'::bytea$$, $$set_byte(v, 700, 1)$$, $$v || convert_to(words('x', 30), 'UTF8')$$, $$v || 'more'::bytea$$]),
    ('none', 'tree none, three levels', 'bytea', $$convert_to(words('p', 900), 'UTF8')$$, 1, 300, 4999, 8, 29000, '{}'),
    ('lz4', 'tree lz4, numbers', 'int[]', 'numbers(4000)', 1, 85, 149, 9, 3900, ARRAY['v || 5']),
    ('zstd', 'tree zstd, document', 'jsonb', 'document(3)', 1, 60, 37, 60, 200, '{}'),
    ('lz4', 'tree lz4, characters', 'text', $$words('t', 150) || replace(words('t', 450), 'a', 'ä€𝄞')$$, 1, 60, 1499, 30, 17000, ARRAY[$$v || ' und zwar größer'$$]),
    ('lz4', 'tree lz4, a list that has moved', 'jsonb', 'short(1500)', 1, 6, 137, 20, 700, ARRAY[$$v #- '{list,100}'$$, $$jsonb_insert(v, '{list,50}', '[1]')$$]),
    ('lz4', 'tree lz4, short slices', 'bytea', $$convert_to(words('p', 900), 'UTF8')$$, 1, 8, 3499, 4, 29000,
        ARRAY[$$overlay(v PLACING convert_to(words('y', 12), 'UTF8') FROM 5000 FOR 0)$$, $$overlay(v PLACING convert_to(words('z', 15), 'UTF8') FROM 9000 FOR 0)$$, $$set_byte(v, 4000, 1)$$]),
    ('zstd', 'large text', 'text', $$repeat('abcdefg ', 500000)$$, 1, 320, 149993, 8, 3999000, ARRAY[$$v || ' und zwar größer'$$]),
    ('lz4', 'large document', 'jsonb', 'list(2000, 125)', 1, 300, 747, 20, 1999, '{}')) v(codec, name, type, value, first, last, step, len, size, more);

-- What an extension's toaster has ordered, if that is there.
INSERT INTO forms (codec, name, type, value, changes)
SELECT codec, name || codec || ', pairs', to_regtype('hstore'), $$(SELECT hstore(array_agg('k' || i), array_agg(CASE WHEN i % 60 = 0 THEN words('h', i)
    WHEN i % 9 > 0 THEN md5(i::text) END)) FROM generate_series(1, 150) i)$$, changes
FROM (VALUES ('none', '', '{}'::text[]), ('zstd', '', '{}'), ('lz4', 'changed ', ARRAY[$$v || 'k7=>changed'$$, $$v - 'k80'::text$$])) c(codec, name, changes)
WHERE to_regtype('hstore') IS NOT NULL;

-- What heap has compressed, taken as it is: characters that were not counted, and pglz's
-- slice that is longer than ours.
CREATE TABLE packed (lz4 text COMPRESSION lz4, pglz text COMPRESSION pglz) USING heap;
INSERT INTO packed SELECT words('t', 50) || replace(words('t', 150), 'a', 'ä€𝄞') || lines('t', 20), lines('ä', 1200);
INSERT INTO forms (codec, name, type, value, changes) VALUES
    ('lz4', 'taken lz4', 'text', '(SELECT lz4 FROM packed)', '{}'),
    ('pglz', 'taken pglz', 'text', '(SELECT pglz FROM packed)', '{}'),
    ('lz4', 'taken lz4, changed and grown', 'text', '(SELECT lz4 FROM packed)', ARRAY[$$overlay(v PLACING 'ä word' FROM 5000 FOR 6)$$, $$v || ' und zwar größer'$$]);

-- What has a dictionary: a slice, a short one after a long one that needs none, regions, and what changes have left of them.
CREATE FUNCTION order_of(i int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', i, 'customer', jsonb_build_object('name', md5(i::text), 'city', 'Berlin', 'country', 'Germany'),
        'items', (SELECT jsonb_agg(jsonb_build_object('number', md5((i * k)::text), 'description', 'an item of the catalogue, number ' || k,
            'quantity', i * k % 7, 'state', (ARRAY['ordered', 'packed', 'shipped'])[1 + (i + k) % 3])) FROM generate_series(1, 25) k)) $$;
INSERT INTO forms (codec, name, type, value, changes, others) VALUES
    ('lz4', 'dictionary lz4, document', 'jsonb', 'order_of(1)', '{}', 'order_of(i)'),
    ('zstd', 'dictionary zstd, text', 'text', $$lines('ä', 4200) || order_of(1)::text || order_of(9)$$, '{}', 'order_of(i)::text'),
    ('lz4', 'dictionary lz4, bytes, changed', 'bytea', $$convert_to(order_of(1)::text || order_of(7), 'UTF8')$$, ARRAY[$$set_byte(v, 700, 1)$$], $$convert_to(order_of(i)::text, 'UTF8')$$),
    ('zstd', 'dictionary zstd, document, changed', 'jsonb', $$(SELECT jsonb_build_object('list', jsonb_agg(order_of(i)), 'deep', order_of(1), 'long', lines('d', 300)) FROM generate_series(1, 9) i)$$,
        ARRAY[$$jsonb_set(v, '{list,3,items,4,state}', '"lost"')$$, $$jsonb_set(v, '{deep,a}', '{"b": "new"}')$$], 'order_of(i)');

-- Few of them, and no long ones, if psql's variable "few" is set: for golden files.
\if :{?few}
DELETE FROM forms WHERE name !~ '^(tree|large|taken|dictionary)' AND name NOT IN ('none, characters', 'pglz, text', 'pglz, characters', 'pglz, document', 'lz4, characters',
    'lz4, document', 'zstd, bytes', 'zstd, text', 'zstd, characters', 'zstd, document', 'zstd, numbers', 'zstd, strings',
    'changed lz4, bytes', 'changed lz4, characters', 'changed lz4, document', 'changed lz4, numbers', 'changed lz4, strings',
    'grown zstd, text', 'grown zstd, characters', 'grown changed none, bytes', 'grown changed none, characters');
\else
DELETE FROM forms WHERE name ~ '^large';
\endif

CREATE PROCEDURE make_forms() LANGUAGE plpgsql AS $$
DECLARE
    f forms;
    change text;
BEGIN
    FOR f IN SELECT * FROM forms ORDER BY id LOOP
        EXECUTE format('CREATE TABLE form_%s (id int PRIMARY KEY, v %s) USING sliced', f.id, f.type);
        PERFORM set_config('sliced.compression', f.codec, true);
        IF f.others IS NOT NULL THEN
            EXECUTE format('ALTER TABLE form_%s SET (toast_tuple_target = 128)', f.id);
            EXECUTE format('INSERT INTO form_%s SELECT i, %s FROM generate_series(2, 100) i', f.id, f.others);
            PERFORM sliced.train(('form_' || f.id)::regclass);
            EXECUTE format('DELETE FROM form_%s', f.id);
        END IF;
        EXECUTE format('INSERT INTO form_%s SELECT 1, %s', f.id, f.value);
        COMMIT;
        FOREACH change IN ARRAY f.changes LOOP
            EXECUTE format('UPDATE form_%s SET %s', f.id, CASE WHEN change ~ '^v\[[^]]*\] = ' THEN change ELSE 'v = ' || change END);
            COMMIT;
        END LOOP;
    END LOOP;
END $$;
CALL make_forms();

CREATE FUNCTION toast_of(form int) RETURNS regclass LANGUAGE sql AS $$
    SELECT reltoastrelid::regclass FROM pg_class WHERE oid = ('form_' || form)::regclass $$;

-- Rows of the toast relations: nobody may look at those, so they are made tables for a moment.
CREATE TABLE chunks (form int, place tid, chunk_id oid, chunk_seq int, chunk_data bytea);
CREATE PROCEDURE get_chunks() LANGUAGE plpgsql AS $$
DECLARE
    form int;
BEGIN
    SET LOCAL allow_system_table_mods = on;
    TRUNCATE chunks;
    FOR form IN SELECT id FROM forms LOOP
        UPDATE pg_class SET relkind = 'r' WHERE oid = toast_of(form);
        EXECUTE format('INSERT INTO chunks SELECT %s, ctid, * FROM %s', form, toast_of(form));
        UPDATE pg_class SET relkind = 't' WHERE oid = toast_of(form);
    END LOOP;
END $$;
