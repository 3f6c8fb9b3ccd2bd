-- Few bytes of long arrays and bytea are replaced, again and again, in every mix with
-- what moves the others: edits, which go down into the nodes of trees (tree/tree.h).
SET default_toast_compression = :lz4;
CREATE TABLE t (id int PRIMARY KEY, a int8[], c int[], b bytea, n int DEFAULT 0);
ALTER TABLE t ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL;
INSERT INTO t SELECT k, array_agg(i::int8 * i), array_agg(i), noise(k * 10000, k)
    FROM generate_series(1, 2) k, generate_series(1, k * 6000) i GROUP BY k;

-- The change number i, on whatever is there.
CREATE PROCEDURE change(kinds text[], i int) LANGUAGE plpgsql AS $$
DECLARE kind text := kinds[1 + floor(random() * cardinality(kinds))];
    k int := floor(random() * 6000);
    v int := random() * 1000000;
    few int := floor(random() * 20);
    col text := CASE WHEN random() < 0.5 THEN 'a' ELSE 'c' END;
BEGIN
    EXECUTE 'UPDATE t SET n = n + 1, ' || replace(replace(replace(replace(CASE kind
        WHEN 'set' THEN 'COL[K + 1] = V'
        WHEN 'set two' THEN 'COL[K + 1] = V, COL[K / 2 + 1] = 5, b = set_byte(b, K, V % 256)'
        WHEN 'set near' THEN 'COL[3000 + FEW] = V, b = set_byte(b, 3000 + FEW, V % 256)'
        WHEN 'set slice' THEN 'COL[K + 1 : K + 1 + FEW] = array_fill(V, ARRAY[FEW + 1])'
        WHEN 'byte' THEN 'b = set_byte(b, K, V % 256)'
        WHEN 'overlay' THEN 'b = overlay(b PLACING substr(b, 1 + FEW, FEW * 3) FROM K + 1)'
        WHEN 'longer' THEN 'b = overlay(b PLACING ''\x0102'' FROM K + 1 FOR FEW)'
        WHEN 'append' THEN 'COL = COL || V, b = b || int4send(V)'
        WHEN 'prepend' THEN 'COL = V || COL, b = int4send(V) || b'
        WHEN 'twice' THEN 'COL = COL || COL[K + 1 : K + 300], b = b || substr(b, K, 900)'
        WHEN 'shorter' THEN 'COL = COL[1 + FEW :], b = substr(b, 1 + FEW)'
        WHEN 'turned' THEN 'b = substr(b, K + 1) || substr(b, 1, K)'
        WHEN 'unset' THEN 'COL[K + 1] = NULL'
        WHEN 'whole' THEN 'COL = (SELECT array_agg(CASE WHEN o % 1500 = FEW THEN V ELSE e END ORDER BY o) FROM unnest(COL) WITH ORDINALITY u (e, o)), b = (b || '''') || '''''
        WHEN 'cut' THEN 'COL = COL[1 : 6100], b = substr(b, 1, 20100)'
        END, 'COL', col), 'FEW', few::text), 'K', k::text), 'V', v::text) || CASE WHEN random() < 0.5 THEN ' WHERE id = 2' ELSE '' END;
END $$;

-- Some bytes, as they are read for themselves.
CREATE FUNCTION bits() RETURNS text LANGUAGE sql AS $$
    SELECT md5(string_agg(concat(a[k], c[k : k + 5], get_byte(b, k), substr(b, k, 40)), ',' ORDER BY id, k))
    FROM t, generate_series(1, 6000, 97) k
$$;

CREATE PROCEDURE changes(kinds text[], times int) LANGUAGE plpgsql AS $$
DECLARE kept int8[]; undone int8[]; before text;
BEGIN
    PERFORM setseed(0.25);
    FOR i IN 1 .. times LOOP
        CALL change(kinds, i);
        IF i % 7 = 0 THEN COMMIT; END IF;
        IF i % 20 = 0 THEN
            -- what is rolled back has been seen, and goes
            SELECT a, md5(t::text) INTO kept, before FROM t WHERE id = 2;
            BEGIN
                FOR j IN 1 .. 30 LOOP
                    CALL change(kinds, j);
                END LOOP;
                UPDATE t SET a[5000] = i WHERE id = 2 RETURNING a INTO undone;
                RAISE EXCEPTION 'back';
            EXCEPTION WHEN raise_exception THEN NULL;
            END;
            RAISE NOTICE '% % % % %', i, md5(kept::text), undone[5000] = i AS undone,
                (SELECT before = md5(t::text) FROM t WHERE id = 2), bits();
        END IF;
        IF i % 60 = 0 THEN RAISE NOTICE '%', sum_up('t'); END IF;
    END LOOP;
END $$;

SET client_min_messages = notice;
CALL changes('{set,byte}', 400);
-- have the trees two levels at least?
SELECT id, :'am' = 'heap' OR EXISTS (SELECT FROM sliced.inspect(a) WHERE codec = 'node' AND start < -1) AS a,
    :'am' = 'heap' OR EXISTS (SELECT FROM sliced.inspect(c) WHERE codec = 'node' AND start < -1) AS c,
    :'am' = 'heap' OR EXISTS (SELECT FROM sliced.inspect(b) WHERE codec = 'node' AND start < -1) AS b FROM t ORDER BY id;
CALL changes('{set,set,set near,set two,byte,overlay,append}', 200);
VACUUM t;
SELECT * FROM sum_up('t');
CALL changes('{set,set,set,set two,set near,set near,set slice,byte,overlay,overlay,longer,append,prepend,twice,shorter,turned,unset,whole,cut}', 600);
VACUUM FULL t;
SELECT * FROM sum_up('t'), bits();
CALL changes('{set,byte,set,set two,overlay,append,cut}', 200);

-- newer edits take the place of older ones, in nodes that several changes have written
DO $$ BEGIN
    FOR i IN 1 .. 1200 LOOP
        UPDATE t SET a[1 + i * 7 % 5000] = i, b = set_byte(set_byte(b, i * 17 % 10000, i % 256), i * 16 % 10000, 77) WHERE id = 2;
    END LOOP;
    FOR i IN 1 .. 300 LOOP
        UPDATE t SET a[1 + i * 7 % 5000] = -i, b = overlay(b PLACING int8send(-i) FROM 1 + i * 17 % 10000) WHERE id = 2;
    END LOOP;
END $$;
SELECT id = 1 OR :'am' = 'heap' OR count(DISTINCT object) FILTER (WHERE codec = 'node') > 2 AS of_several_changes
    FROM t, sliced.inspect(a) GROUP BY id ORDER BY id;
SELECT * FROM sum_up('t'), bits();

-- bytes that the value has twice, before and behind a change of them
UPDATE t SET b = set_byte(b, 100, 1) || b;
UPDATE t SET b = b || set_byte(b, 100, 2);
UPDATE t SET b = set_byte(b, 200, 3), a = a || a;
SELECT * FROM sum_up('t'), bits();
UPDATE t SET b = substr(set_byte(b, 200, 4), 150, 100) || b || substr(set_byte(b, 200, 5), 190), a[300] = 3;
SELECT * FROM sum_up('t'), bits();

-- the same in a whole new array, which is made of the old one's elements twice
UPDATE t SET a = (SELECT array_agg(CASE WHEN k = 1 AND o % 4000 = 100 THEN -1 ELSE e END ORDER BY k, o)
    FROM generate_series(1, 2) k, unnest(t.a[1 : 6000]) WITH ORDINALITY u (e, o));
SELECT * FROM sum_up('t'), bits();
UPDATE t SET a[200] = 1, a[6200] = 2, a[110] = 3;
SELECT * FROM sum_up('t'), bits();

-- slices that have edits go, and others take their place
DO $$ BEGIN
    FOR i IN 1 .. 4 LOOP
        UPDATE t SET b = b || noise(60000, i);
        FOR j IN 1 .. 60 LOOP
            UPDATE t SET b = set_byte(set_byte(b, j * 97, j), length(b) - j * 900, i * j % 256);
        END LOOP;
        RAISE NOTICE '%', sum_up('t');
        UPDATE t SET b = substr(b, 1, length(b) - 60000);
        RAISE NOTICE '%', sum_up('t');
    END LOOP;
END $$;

-- old versions are read while new ones have taken over their slices and nodes
BEGIN;
DECLARE old CURSOR FOR SELECT id, md5(a::text), md5(c::text), md5(b), a[17], c[4000 : 4010] FROM t ORDER BY id;
CREATE FUNCTION more() RETURNS void LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. 120 LOOP CALL change('{set,set two,byte,overlay}', i); END LOOP; END $$;
SELECT more();
SELECT * FROM sum_up('t'), bits();
SAVEPOINT s;
SELECT more();
SELECT * FROM sum_up('t'), bits();
ROLLBACK TO s;
SELECT * FROM sum_up('t'), bits();
FETCH ALL old;
COMMIT;
-- another pass over the same row in one statement, and rows that are copied with what they have
UPDATE t SET a[1] = 7, c[2] = 8 WHERE a[5] IS NOT NULL;
INSERT INTO t SELECT id + 10, a, c, b FROM t;
UPDATE t SET a[100] = id, c[100] = id, b = set_byte(b, 100, id);
SELECT * FROM sum_up('t'), bits();
DELETE FROM t WHERE id = 2;
UPDATE t SET a = NULL, b = '' WHERE id = 1;
UPDATE t SET c = t.c FROM t o WHERE o.id = 12 AND t.id = 11;
SELECT * FROM sum_up('t');
DELETE FROM t;
SELECT * FROM sum_up('t');

-- what grows behind a change: slices that the root names are not merged
CREATE TABLE grown (id int PRIMARY KEY, t text);
ALTER TABLE grown ALTER t SET STORAGE EXTERNAL;
INSERT INTO grown SELECT i, dense(60000, i) FROM generate_series(1, 2) i;
UPDATE grown SET t = overlay(t PLACING dense(960, 3) FROM 40000);
UPDATE grown SET t = overlay(t PLACING dense(960, 4) FROM 5000);
DO $$ BEGIN FOR i IN 1 .. 9 LOOP UPDATE grown SET t = t || dense(id * id * id * id * 1100, i); COMMIT; END LOOP; END $$;
SELECT * FROM sum_up('grown');
UPDATE grown SET t = overlay(t PLACING '' FROM 4990 FOR 975);
SELECT * FROM sum_up('grown');

-- no subscript where there must be one: that is said before the new value is looked at
CREATE TABLE nowhere (n int, i int[], j jsonb);
INSERT INTO nowhere SELECT 0, array_agg(k), jsonb_agg(k) FROM generate_series(1, 9000) k;
UPDATE nowhere SET i[NULL] = 1 / n;
UPDATE nowhere SET i[NULL:2] = ARRAY[1 / n];
UPDATE nowhere SET i[2:NULL] = ARRAY[1 / n];
UPDATE nowhere SET i[:2] = ARRAY[1 / n];
UPDATE nowhere SET i[8999:] = ARRAY[n + 1, n + 2];
UPDATE nowhere SET i[:2] = ARRAY[n + 3, n + 4] RETURNING i[:3], i[8998:], i[NULL], i[NULL:3];
UPDATE nowhere SET j[NULL] = to_jsonb(1 / n);
UPDATE nowhere SET j[0] = to_jsonb(n + 5) RETURNING j[0], j[NULL];
SELECT * FROM sum_up('nowhere');
