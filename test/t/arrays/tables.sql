-- A table "v" of arrays of every size, with access method "am"; "start" has the
-- same for starting anew.  All of it is in schema "on_am"; types, which types.sql makes, are not, so that the bytes can be compared.

SELECT 'on_' || :'am' AS schema \gset
CREATE SCHEMA :schema;
SET search_path = :schema, public;
SET client_min_messages = warning;

-- The bytes as they are: core's function does not know that these are no bytea.
-- Servers before 15.5 and 16.1 make the same arrays without bitmaps of nulls, so values count there.
SELECT current_setting('server_version_num')::int AS server \gset
SELECT :server >= 160001 OR :server BETWEEN 150005 AND 159999 AS bitmaps \gset
\if :bitmaps
CREATE FUNCTION raw(anyarray) RETURNS text LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'md5_bytea';
\else
CREATE FUNCTION raw(a anyarray) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT md5(a::text)';
\endif
-- Long results in short, and their bytes
CREATE FUNCTION show(a anyarray) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN RETURN concat(left(raw(a), 8), ' ', array_dims(a), ' ', left(a::text, 40)); END $$;
CREATE FUNCTION show(a anynonarray) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN RETURN concat(left(md5(a::text), 4), ' ', left(a::text, 40)); END $$;
CREATE FUNCTION volatile(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN $1; END';

-- Some numbers; some are NULL if 'nulls' is not 0
CREATE FUNCTION numbers(n int, nulls int) RETURNS int[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(CASE WHEN nulls = 0 OR x % nulls <> 1 THEN (x * 7919) % 100003 END ORDER BY x), '{}') FROM generate_series(1, n) x $$;
CREATE FUNCTION words(n int, seed int) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(substr(repeat(md5((x * seed)::text), 3 + x / 500 % 2 * 40), x * seed % 50, x * seed % 80) ORDER BY x), '{}') FROM generate_series(1, n) x $$;

CREATE TABLE start (id int PRIMARY KEY, name text, k int,
    i int[], i2 int2[], i8 int8[], f float8[], b bool[], c "char"[], u uuid[], ts timestamptz[], t text[], vc varchar(90)[] COLLATE "C", n numeric(20,3)[], p pair[],
    d natural_number[], l list, m macaddr[], tt timetz[], ix int[], tx text[], iz int[], tz text[] COMPRESSION pglz, md int[], mt text[], mz text[], j jsonb[]) USING heap;
ALTER TABLE start ALTER ix SET STORAGE EXTERNAL, ALTER tx SET STORAGE EXTERNAL;

INSERT INTO start (id, name) VALUES (1, 'none');
INSERT INTO start SELECT 2, 'empty', 2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}';
INSERT INTO start SELECT id, name, id, a, ARRAY(SELECT x % 30000 FROM unnest(a) x), a, ARRAY(SELECT sqrt(x) FROM unnest(a) x), ARRAY(SELECT x % 2 = 0 FROM unnest(a) x),
        ARRAY(SELECT chr(x % 90 + 33)::"char" FROM unnest(a) x), ARRAY(SELECT md5(x::text)::uuid FROM unnest(a) x), ARRAY(SELECT 'epoch'::timestamptz + x * interval '1 hour' FROM unnest(a) x),
        t, t, a, ARRAY(SELECT (x, t[x % 10], a[x % 5:x % 7])::pair FROM unnest(a[:n / 4]) x), a, a, ARRAY(SELECT left(md5(x::text), 12)::macaddr FROM unnest(a) x),
        ARRAY(SELECT ('00:00'::time + x * interval '1 second')::timetz FROM unnest(a) x), a, t, z, ARRAY(SELECT nullif(x, t[5]) FROM unnest(t) x),
        ARRAY(SELECT numbers(7, 0) FROM generate_series(1, n / 7 + 1)), ARRAY(SELECT ARRAY[words(2, x), words(2, x + 1)] FROM generate_series(1, n / 16 + 1) x),
        ARRAY(SELECT ARRAY[md5(x::text), NULL, NULL] FROM generate_series(1, n / 16 + 1) x), ARRAY(SELECT to_jsonb(x) FROM unnest(t) x)
    FROM (VALUES (3, 'short', 12), (4, 'small', 900), (5, 'medium', 6000), (6, 'large', 40000), (7, 'grown', 3000), (8, 'changed', 20000)) r(id, name, n),
        LATERAL (SELECT numbers(n, 0) AS a, words(n / 4, 7) AS t, numbers(n, 5) AS z OFFSET 0) arrays;
-- other lower bounds
UPDATE start SET i[-3] = 1, tx[0] = 'zero', iz[-9:-8] = '{1,NULL}', md = ('[3:' || cardinality(md) / 7 + 2 || '][-1:5]=' || md::text)::int[] WHERE name = 'medium';
CREATE TABLE v (LIKE start INCLUDING ALL) USING :am;
INSERT INTO v SELECT * FROM start;
-- states of values that are not kept otherwise
CREATE TABLE seen (LIKE start) USING heap;

-- many additions and changes, most in transactions of their own
CREATE PROCEDURE change() LANGUAGE plpgsql AS $$
BEGIN
    FOR s IN 1 .. 200 LOOP
        UPDATE v SET i = i || s, f = array_append(f, s::float8), t = t || s::text, iz = iz || CASE WHEN s % 3 <> 0 THEN s END, tz = tz || NULL::text, n = n || ARRAY[s, s / 7.0],
            tx = s::text || tx, md = md || ARRAY[1, 2, 3, 4, 5, 6, s], p = p || (s, s, NULL)::pair, b = b || ARRAY[true, s % 2 = 0] WHERE name = 'grown';
        IF s % 6 <> 0 THEN COMMIT; END IF;
        CONTINUE WHEN s > 60;
        UPDATE v SET i[s * 300] = -s, f[s * 300:s * 300 + 2] = '{1,2,3}', t[s * 80] = repeat('changed', s), iz[s * 300] = CASE WHEN s % 2 = 0 THEN s END, tz[s * 79] = NULL, u[s * 330] = md5(s::text)::uuid,
            n[s * 50] = s, ts[s * 200] = 'epoch', md[s * 40][3] = s, mt[s * 20][1][2] = 'x', ix[s * 7] = s WHERE name = 'changed';
        IF s % 7 <> 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL change();
DELETE FROM start WHERE name IN ('grown', 'changed');
INSERT INTO start SELECT * FROM v WHERE name IN ('grown', 'changed');
