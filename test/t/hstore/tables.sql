-- A table "v" of hstores of every size, with access method "am"; "start" has the
-- same for starting anew, "pool" some to add.  All of it is in schema "on_am".

SELECT 'on_' || :'am' AS schema \gset
CREATE SCHEMA :schema;
SET search_path = :schema, public;

-- n pairs: keys of several lengths, short values and NULLs
CREATE FUNCTION pairs(n int) RETURNS hstore LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(hstore(array_agg(repeat('k', i % 5) || i), array_agg(CASE WHEN i % 7 > 0 THEN repeat('value ' || i, i % 4) END)), '') FROM generate_series(1, n) i $$;
CREATE FUNCTION noise(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(md5(seed || '.' || i), ''), n) FROM generate_series(1, n / 32 + 1) i $$;
CREATE DOMAIN tagged AS hstore CHECK (NOT VALUE ? 'forbidden');

CREATE TABLE start (id int, name text, h hstore, d tagged) USING heap;
INSERT INTO start SELECT id, name, pairs(n) || CASE WHEN long > 0 THEN hstore(ARRAY['long', 'b', 'longest', 'zz'],
        ARRAY[noise(long, 1), noise(long / 2, 2), noise(long * 2, 3), repeat('zz', long)]) ELSE '' END, pairs(n / 2)
    FROM (VALUES (1, 'none', 0, 0), (2, 'empty', 0, 0), (3, 'short', 9, 0), (4, 'few', 5, 3000), (5, 'medium', 300, 0), (6, 'many', 20000, 0), (7, 'large', 300, 100000),
                 (8, 'changed', 900, 9000)) r(id, name, n, long);
UPDATE start SET h = NULL, d = NULL WHERE name = 'none';
CREATE TABLE v (LIKE start INCLUDING ALL) USING :am;
ALTER TABLE v ALTER d SET STORAGE EXTERNAL;
INSERT INTO v TABLE start;
CREATE TABLE pool AS SELECT n, pairs(len) || hstore('long', noise(len * 9, 4)) AS p FROM (VALUES (0, 3), (1, 40), (2, 3000)) p(n, len);

-- many changes, most in transactions of their own
CREATE PROCEDURE change() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 90 LOOP
        UPDATE v SET h['k' || i * 10 % 900] = noise(i % 50, i), d = d || hstore('new' || i % 20, noise(i * 9, i)) - ('k' || i)
            WHERE name = 'changed';
        UPDATE v SET h = h || hstore(ARRAY['k' || i, 'x' || i], ARRAY[NULL, noise(i, i)]) - ARRAY['kk' || i * 3, 'b'] WHERE name = 'changed';
        IF i % 6 <> 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL change();
UPDATE start SET h = v.h, d = v.d FROM v WHERE v.id = start.id;
