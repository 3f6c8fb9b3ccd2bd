-- Whole new values that differ from the old ones in many places.

-- of each 'n'th part of a value 'cut' characters, from the fifth on, make way for others
CREATE FUNCTION edited(v text, n int, cut int, put text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(overlay(substr(v, 1 + k * (length(v) / n), CASE WHEN k < n - 1 THEN length(v) / n ELSE length(v) END)
                                       PLACING put FROM 5 FOR cut), '' ORDER BY k), '')
    FROM generate_series(0, n - 1) k
$$;
-- a log of characters of one to four bytes
CREATE FUNCTION lines(n int, seed int) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(left(string_agg(format(E'2026-03-%s INFO Zugriff %s von Müller für 0,%s € → 😀 %s\n', i % 28 + 1, i + seed, i * 7919 % 100,
                                           substr(md5((i + seed)::text), 1, i % 30)), '' ORDER BY i), n), '')
    FROM generate_series(1, n / 45 + 1) i
$$;
CREATE FUNCTION one_in_ten(v text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(CASE WHEN n % 10 = 7 THEN replace(line, 'Müller', 'Möller und Söhne') ELSE line END, E'\n' ORDER BY n), '')
    FROM string_to_table(v, E'\n') WITH ORDINALITY l (line, n)
$$;

CREATE TABLE first (id int, v text) USING heap;
INSERT INTO first VALUES (0, ''), (1, 'short'), (2, lines(2300, 2)), (3, lines(14000, 3)), (4, dense(20000, 4)), (5, lines(50000, 5)),
    (6, dense(140000, 6)), (7, repeat('ä', 10000)), (8, repeat('a', 30000));

CREATE FUNCTION step(n int, v text, id int) RETURNS text LANGUAGE sql AS $$
    SELECT CASE n
        WHEN 1 THEN edited(v, 2, 1, '#') WHEN 2 THEN edited(v, 2, 0, 'ä') WHEN 3 THEN edited(v, 3, 17, '')
        WHEN 4 THEN edited(v, 100, 3, '#+-') WHEN 5 THEN edited(v, 90, 0, '€') WHEN 6 THEN edited(v, 110, 2, '')
        WHEN 7 THEN one_in_ten(v) WHEN 8 THEN translate(v, 'äöü', 'öüä') WHEN 9 THEN replace(v, '€', '₭')
        WHEN 10 THEN left(v, length(v) / 5) || 'x' || right(v, length(v) / 3) || lines(3000, id)
        WHEN 11 THEN dense(500, id) || edited(v, 2, 30, 'ß') || lines(20000, -id) || 'ß' || v
        WHEN 12 THEN edited(left(v, length(v) / 2), 2, 5, '😀') || edited(right(v, -length(v) / 2), 3, 0, '😃')
        WHEN 13 THEN reverse(v) WHEN 14 THEN edited(v, length(v) / 65 + 1, 1, '*') WHEN 15 THEN edited(v, length(v) / 200 + 1, 0, 'y')
        WHEN 16 THEN lines(70000, id * 1000) WHEN 17 THEN edited(lines(60000, id * 1000), 4, 1000, dense(1500, id))
        WHEN 18 THEN '' WHEN 19 THEN v WHEN 20 THEN NULL WHEN 21 THEN dense(length(v), -id) WHEN 22 THEN v
        WHEN 23 THEN right(edited(v, 20, 1, '🙂'), -7) ELSE v END
$$;

-- all types that are compared by bytes, and such as have long strings in them
CREATE TABLE t (id int, v text, x text, c varchar, j json, b bytea, d jsonb, a text[]);
ALTER TABLE t ALTER x SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL;
CREATE FUNCTION all_types(id int, v text) RETURNS t LANGUAGE sql AS $$
    SELECT id, v, v, v::varchar, to_json(v), convert_to(v, 'UTF8'), jsonb_build_object('a', left(v, 50), 'text', v, 'z', id), ARRAY['a', v, right(v, 20)]
$$;
INSERT INTO t SELECT (all_types(id, v)).* FROM first;
SELECT * FROM sum_up('t');

CREATE TABLE sent (id int, step int, v text) USING heap;
INSERT INTO sent SELECT id, n, step(n, v, id) FROM first, generate_series(1, 24) n;
CREATE PROCEDURE send(i int, whom int) LANGUAGE sql AS $$
    UPDATE t SET (v, x, c, j, b, d, a) = (SELECT n.v, n.x, n.c, n.j, n.b, n.d, n.a FROM all_types(s.id, s.v) n)
    FROM sent s WHERE s.step = i AND s.id = t.id AND (whom IS NULL OR s.id % 3 = whom)
$$;
CREATE TABLE outcome (step int, n bigint, digest text, chars bigint, part text) USING heap;
DO $$
BEGIN
    -- to each, and back to what was there first
    FOR i IN 1 .. 24 LOOP
        CALL send(i, NULL);
        COMMIT;
        INSERT INTO outcome SELECT i, s.*, sum(length(v) + length(c) + length(d->>'text')), md5(string_agg(substr(v, 1999, 7) || right(x, 300) || left(a[2], 9), ',' ORDER BY id))
            FROM t, sum_up('t') s GROUP BY s.n, s.digest;
        CALL send(24, NULL);
        COMMIT;
    END LOOP;
    -- from each to another one
    FOR i IN 1 .. 20 LOOP
        CALL send(i * 7 % 24 + 1, i % 3);
        IF i % 10 = 0 THEN
            COMMIT;
            INSERT INTO outcome SELECT 100 + i, * FROM sum_up('t');
        END IF;
    END LOOP;
END $$;
TABLE outcome;
-- what was compared remains what it is, whatever happens to its rows
VACUUM FULL t;
SELECT * FROM sum_up('t');
