-- Values that are added to and changed in part, wherever SQL can do that to a
-- column.  All that see the new value before, while and after it is
-- stored must see the same: RETURNING, triggers, indexes, cursors, variables.

-- heap writes everything again each time: not with pglz, which takes minutes
SET default_toast_compression = :lz4;

CREATE TABLE t (id int PRIMARY KEY, a text, b text, c bytea, n int DEFAULT 0);
INSERT INTO t SELECT i, dense(i * 900, i), mixed(i * 2500, i), noise(i * 1500, i) FROM generate_series(0, 12) i;
INSERT INTO t VALUES (20, plain(140000, 20), '', NULL), (21, dense(50000, 21), repeat(U&'a\00e9\20ac\+01f600', 14000), noise(140000, 21));

-- several columns, several changes in one expression, other columns and rows in it
WITH u AS (UPDATE t SET a = a || 'x', b = b || id || ':' || n || ';', c = c || '\x00ff' RETURNING id, length(a), md5(a), length(b), md5(b), md5(c))
    SELECT * FROM u ORDER BY 1, 2;
WITH u AS (UPDATE t SET a = left(a, 100) || overlay(b PLACING 'xyz' FROM 50 FOR 10) || right(a, 1000), c = substr(c, 2) || c
    WHERE id > 4 RETURNING id, md5(a), md5(b), md5(c), get_byte(c, 4000), right(a, 5) = right(b, 5) AS same)
    SELECT * FROM u ORDER BY 1, 2;
WITH u AS (UPDATE t SET a = 'head' || b || 'tail', b = a || 'was a', n = length(a) RETURNING id, n, length(a) - length(b), md5(a), md5(b))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE t SET b = concat(b, ',', id, NULL, 1.5, true), c = set_bit(set_byte(c, 7, id), 3, 1) WHERE length(c) > 8;
UPDATE t SET a = coalesce(a || NULL, a || 'null'), b = CASE WHEN id % 2 = 0 THEN b || 'even' ELSE left(b, -4) END,
    c = CASE id WHEN 3 THEN overlay(c PLACING noise(5000, 3) FROM 1000) WHEN 4 THEN NULL WHEN 5 THEN '' ELSE c END;
UPDATE t SET (a, b) = (SELECT t.a || max(o.id), overlay(t.b PLACING 'sub' FROM 2000) FROM t o WHERE o.id <> t.id) WHERE id > 2;
UPDATE t SET (a, b, n) = ROW(a || 'row', DEFAULT, DEFAULT) WHERE id = 3;
UPDATE t SET a = t.a || left(o.a, 20), b = o.b || t.id, c = o.c || t.c FROM t o WHERE o.id = t.id + 1;
WITH u AS (UPDATE t SET a = s.a, b = s.a FROM (SELECT id, a || 'sub' AS a FROM t ORDER BY n OFFSET 0) s WHERE s.id = t.id AND t.id > 5
    RETURNING t.id, md5(t.a), t.a = t.b AS same)
    SELECT * FROM u ORDER BY 1, 2;
UPDATE t SET a = s.a FROM (SELECT right(a, -10) || 'all' AS a FROM t WHERE id = 9 UNION ALL SELECT 'other' WHERE false) s WHERE t.id IN (7, 8, 9);
WITH u AS (UPDATE t SET c = s.c FROM (SELECT id, set_byte(c, 100, 7) AS c FROM t WHERE id BETWEEN 6 AND 12
    UNION ALL SELECT id, c || c FROM t WHERE id > 12) s WHERE t.id = s.id RETURNING t.id, md5(t.c))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE t SET a = b || 'x', b = a;
UPDATE t SET a = b, b = a || a, n = n + 1;
SELECT * FROM sum_up('t');
SELECT id, length(a), octet_length(b), substr(a, 1000, 5), substr(b, 39990, 15), right(b, 3) FROM t ORDER BY id;

-- errors in the middle; what was promised before them is forgotten
UPDATE t SET a = a || 'lost', n = 1 / (id - 8);
UPDATE t SET a = a || 'lost', b = substr(b, 5, -1);
UPDATE t SET c = set_byte(c || '\x01', 1000000, 1) WHERE id = 12;
UPDATE t SET a = overlay(a || 'lost' PLACING 'x' FROM 0);
SELECT * FROM sum_up('t');

-- parts of a value, joined: in their order, with something between, once more, in another order, overlapping; of two values
CREATE TABLE j (id int, way int, v text, w bytea, o text);
INSERT INTO j SELECT i, way, CASE i WHEN 1 THEN mixed(70000, 1) WHEN 2 THEN dense(9000, 2) ELSE repeat(U&'a\00e9\20ac\+01f600', 9000) END,
    noise(i * 20000, i), plain(i * 5000, i) FROM generate_series(1, 3) i, generate_series(1, 14) way;
PREPARE split(int) AS UPDATE j SET
    v = CASE way WHEN 1 THEN left(v, $1) || 'between' || right(v, -$1) WHEN 2 THEN substr(v, 1, $1) || substr(v, $1 + 20) WHEN 3 THEN v || v
        WHEN 4 THEN right(v, -$1) || left(v, $1) WHEN 5 THEN left(v, $1 + 5) || right(v, -$1) WHEN 6 THEN v || 'x' || left(v, $1) || right(v, $1)
        WHEN 7 THEN left(v, $1) || o || right(v, -$1) WHEN 8 THEN o || left(v, $1) || (right(v, -$1) || o) WHEN 9 THEN left(v, $1) || (v || right(v, 50))
        WHEN 10 THEN concat(left(v, $1), NULL, o, 1.5, right(v, -$1), 'end') WHEN 11 THEN concat(v, v, left(v, $1), 'x', true)
        WHEN 12 THEN concat(left(v, $1), substr(v, $1 + 1, 7), substr(v, $1 + 8)) WHEN 13 THEN overlay(left(v, -3) PLACING 'put' FROM $1) || right(v, 3)
        ELSE left(left(v, -1) || 'a', -$1) || right(v || 'b', $1) END,
    w = CASE way % 3 WHEN 0 THEN substr(w, 1, $1) || '\x00ff' || substr(w, $1) WHEN 1 THEN w || substr(w, $1) ELSE substr(w, $1) || substr(w, 1, $1 - 1) END
    WHERE length(v) < 400000;
EXECUTE split(50);
EXECUTE split(4000);
SELECT * FROM sum_up('j');
EXECUTE split(8990);
EXECUTE split(0);
EXECUTE split(35000);
SELECT * FROM sum_up('j');
UPDATE j SET v = left(j.v, 3000) || right(k.v, -3000) FROM j k WHERE k.id = j.id AND k.way = j.way % 14 + 1;
SELECT * FROM sum_up('j');
DROP TABLE j;

-- the whole value is sent: the same, a little or nothing in common, shorter, longer, shifted, from text alike
CREATE TABLE w (id int, v text, k text);
ALTER TABLE w ALTER k SET STORAGE EXTERNAL;
INSERT INTO w SELECT i, mixed(i * 25000, i), dense(i * 3000, i) FROM generate_series(1, 6) i;
CREATE TABLE sent USING heap AS SELECT i AS step, id,
    CASE i WHEN 1 THEN v WHEN 2 THEN v || 'more' WHEN 3 THEN left(v, 500) || 'in' || right(v, -500) WHEN 4 THEN 'before' || v
        WHEN 5 THEN overlay(v PLACING dense(2000, id) FROM 20000) WHEN 6 THEN left(v, length(v) / 2) WHEN 7 THEN right(v, 3500)
        WHEN 8 THEN dense(20000, -id) WHEN 9 THEN v || v WHEN 10 THEN repeat('a', 200000) WHEN 11 THEN repeat('a', 199999)
        WHEN 12 THEN '' WHEN 13 THEN NULL WHEN 14 THEN plain(200, id) ELSE v END AS v
    FROM w, generate_series(1, 15) i;
CREATE PROCEDURE send(step int) LANGUAGE sql AS $$
    UPDATE w SET v = s.v, k = left(k, 3000) || left(s.v, 4000) FROM sent s WHERE s.id = w.id AND s.step = $1 $$;
CREATE TABLE outcome (step int, n bigint, digest text);
DO $$
BEGIN
    FOR i IN 1 .. 15 LOOP
        CALL send(i);
        INSERT INTO outcome SELECT i, * FROM sum_up('w');
        CALL send(i);
    END LOOP;
    FOR i IN REVERSE 15 .. 1 LOOP
        CALL send(i);
        COMMIT;
    END LOOP;
END $$;
TABLE outcome;
SELECT * FROM sum_up('w');

-- many small ones, one transaction each and all in one; every now and then something else
CREATE TABLE g (id int, v text, b bytea);
INSERT INTO g VALUES (1, '', ''), (2, plain(5000, 2), noise(5000, 2)), (3, dense(130900, 3), noise(131000, 3));
CREATE PROCEDURE grow(per_transaction int, rounds int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. rounds LOOP
        UPDATE g SET v = v || format('line %s;', i), b = b || int4send(i) WHERE id < 3 OR i < 40;
        IF i % 50 = 0 THEN
            UPDATE g SET v = overlay(v PLACING '#' FROM i * 3), b = set_byte(b, 4 * i - 1, 0) WHERE length(b) > 4 * i AND id < 3;
        ELSIF i % 70 = 0 THEN
            UPDATE g SET v = v || dense(i * 30, i), b = substr(b, 3) WHERE id < 3;
        END IF;
        IF i % per_transaction = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL grow(1, 500);
SELECT id, length(v), md5(v), length(b), md5(b) FROM g ORDER BY id;
CALL grow(17, 500);
SELECT id, length(v), md5(v), length(b), md5(b) FROM g ORDER BY id;
CALL grow(500, 500);
VACUUM g;
CALL grow(1, 60);
SELECT id, length(v), md5(v), length(b), md5(b) FROM g ORDER BY id;
SELECT * FROM sum_up('g');

-- ON CONFLICT and MERGE
INSERT INTO t AS t SELECT i, dense(3000, i), plain(i * 1000, i) FROM generate_series(10, 23) i
    ON CONFLICT (id) DO UPDATE SET a = t.a || excluded.a, b = coalesce(excluded.b || t.b, 'none'), c = substr(t.c, 1, 4000) || t.c
    WHERE length(t.a) > 100 RETURNING id, length(a), md5(a), md5(b), md5(c);
INSERT INTO t SELECT 11, 'once' FROM generate_series(1, 2) ON CONFLICT (id) DO UPDATE SET a = t.a || 'twice';
MERGE INTO t USING (SELECT i AS id, dense(i * 500, i) AS v FROM generate_series(5, 30) i) s ON t.id = s.id
    WHEN MATCHED AND length(t.a) % 3 = 0 THEN DELETE
    WHEN MATCHED AND length(t.a) % 3 = 1 THEN UPDATE SET a = t.a || s.v, b = overlay(t.b PLACING s.v FROM 3000 FOR 1)
    WHEN MATCHED THEN UPDATE SET a = s.v || t.a, b = t.a || 'other', c = t.c || t.c
    WHEN NOT MATCHED AND s.id > 25 THEN INSERT (id, a) VALUES (s.id, s.v || 'new');
SELECT * FROM sum_up('t');

-- prepared statements
SET plan_cache_mode = force_generic_plan;
PREPARE append(int, text) AS UPDATE t SET a = a || $2, b = concat(b, $2, $1) WHERE id = $1 RETURNING length(a), md5(a), md5(b);
PREPARE splice(int, text, int, int) AS UPDATE t SET a = overlay(a PLACING $2 FROM $3 FOR $4), b = left(b, $3) WHERE id = $1 RETURNING length(a), md5(a), md5(b);
PREPARE look(int) AS SELECT length(a), md5(substr(a, 3000, 100)), right(a, 7) FROM t WHERE id = $1;
EXECUTE append(7, 'one');
EXECUTE append(7, dense(9000, 1));
EXECUTE append(7, NULL);
EXECUTE append(5, 'two');
EXECUTE splice(5, 'long enough', 2000, 3);
EXECUTE splice(5, '', 1, 2500);
EXECUTE splice(5, 'x', -1, 1);
EXECUTE look(5);
BEGIN;
EXECUTE append(5, 'three');
ALTER TABLE t ALTER a SET STORAGE EXTERNAL;
EXECUTE append(5, 'four');
ALTER TABLE t ADD extra text DEFAULT 'extra';
EXECUTE look(5);
EXECUTE append(5, 'five');
COMMIT;
EXECUTE look(5);
RESET plan_cache_mode;
DEALLOCATE ALL;

-- PL/pgSQL: what a variable got it keeps, whatever becomes of the row
CREATE TABLE kept (what text, v text) USING heap;
CREATE FUNCTION hold(i int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one text; two text; three text; r t; all_a text[] = '{}';
BEGIN
    UPDATE t SET a = a || 'one' WHERE id = i RETURNING a INTO one;
    UPDATE t SET a = t.a || 'two' WHERE id = i RETURNING a INTO two;
    BEGIN
        UPDATE t SET a = overlay(a PLACING 'three' FROM 2000) WHERE id = i RETURNING a INTO three;
        UPDATE t SET a = a || 'rolled back', b = b || a WHERE id = i RETURNING * INTO r;
        INSERT INTO kept VALUES ('lost', r.a);
        RAISE EXCEPTION 'back';
    EXCEPTION WHEN raise_exception THEN
        INSERT INTO kept VALUES ('caught', r.a), ('caught b', r.b);
    END;
    UPDATE t SET a = a || 'otherwise' WHERE id = i;
    FOR k IN 1 .. 30 LOOP
        BEGIN
            UPDATE t SET a = a || k WHERE id = i RETURNING all_a || a INTO all_a;
            IF k % 3 = 0 THEN RAISE EXCEPTION 'back'; END IF;
        EXCEPTION WHEN raise_exception THEN
            UPDATE t SET b = b || left(all_a[k], 10) || md5(r.a) WHERE id = i;
        END;
    END LOOP;
    UPDATE t SET a = r.a, b = one || two WHERE id = i;
    UPDATE t SET a = left(r.a, 1000), b = right(b, 5) WHERE id = i;
    INSERT INTO kept SELECT 'array', unnest(all_a);
    INSERT INTO kept VALUES ('one', one), ('two', two), ('three', three), ('r.a', r.a), ('r.b', r.b);
    -- a parallel worker would not know what a promise is
    PERFORM set_config('force_parallel_mode', 'on', true), set_config('parallel_setup_cost', '0', true);
    UPDATE t SET a = r.a || 'parallel' WHERE id = i RETURNING a INTO three;
    PERFORM must_gather('SELECT max(v) FROM kept WHERE v < ''x''');
    INSERT INTO kept SELECT 'parallel', count(*) || md5(three) FROM kept WHERE v < three;
    one := (SELECT max(v || three) FROM kept WHERE left(v, 500) <> left(three || v, 500));
    INSERT INTO kept VALUES ('max', one);
END $$;
SELECT hold(21);
BEGIN;
SELECT hold(6);
SELECT hold(12);
COMMIT;
SELECT what, count(*), sum(length(v)), md5(string_agg(md5(v), '' ORDER BY length(v), v)) FROM kept GROUP BY what ORDER BY what;
SELECT * FROM sum_up('t');
CREATE PROCEDURE across() LANGUAGE plpgsql AS $$
DECLARE ids int[] = ARRAY(SELECT id FROM t ORDER BY id); i int; v text; r record; w t;
BEGIN
    FOREACH i IN ARRAY ids LOOP
        UPDATE t SET a = a || 'one', c = c || '\x01' WHERE id = i RETURNING id, a, t AS whole INTO r;
        UPDATE t SET a = a || 'two', b = b || md5(r.a) WHERE id = i RETURNING a INTO v;
        IF i % 3 = 2 THEN COMMIT; END IF;
        UPDATE t SET a = overlay(a PLACING 'three' FROM 100) WHERE id = i RETURNING * INTO w;
        IF i % 3 = 0 THEN COMMIT; ELSIF i % 3 = 1 THEN ROLLBACK; END IF;
        UPDATE t SET b = concat(b, md5(v), md5((r.whole).a), md5(w.a)), a = r.a || right(v, 4) WHERE id = i;
    END LOOP;
    FOR r IN UPDATE t SET a = a || 'loop' RETURNING id, a, t AS whole LOOP
        UPDATE t SET a = t.a || 'in' WHERE id = r.id RETURNING a INTO v;
        UPDATE t SET b = concat(b, md5((r.whole).a), md5(v)), a = overlay(r.a PLACING 'loop' FROM 3) WHERE id = r.id;
    END LOOP;
END $$;
CALL across();
SELECT * FROM sum_up('t');
CREATE FUNCTION add(i int, x text) RETURNS text LANGUAGE sql AS $$ UPDATE t SET a = a || x WHERE id = i RETURNING a $$;
CREATE FUNCTION add_to_all(x text) RETURNS SETOF t LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY UPDATE t SET a = a || x, c = c || convert_to(x, 'UTF8') RETURNING *;
    UPDATE t SET a = overlay(a PLACING upper(x) FROM 1);
    RETURN QUERY UPDATE t SET b = x || b WHERE id > 7 RETURNING *;
END $$;
SELECT md5(add(i % 4 + 5, 'x' || i)) FROM generate_series(1, 8) i;
SELECT id, md5(x::text), md5(t::text) FROM add_to_all('added') x JOIN t USING (id) ORDER BY id, x.b;
CREATE TABLE taken AS SELECT * FROM add_to_all('taken');
SELECT * FROM sum_up('taken');

-- cursors, open across changes of what they are going to return
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
DECLARE ordinary CURSOR FOR SELECT id, length(a), md5(a) FROM t ORDER BY id;
DECLARE unread CURSOR FOR SELECT id, a FROM t WHERE id < 9;
DECLARE held CURSOR WITH HOLD FOR SELECT id, a, add(id, 'held') AS b FROM t ORDER BY id;
FETCH 3 ordinary;
MOVE 4 held;
WITH u AS (UPDATE t SET a = a || 'after' RETURNING id, md5(a))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE t SET a = overlay(a PLACING 'again' FROM 3) WHERE id > 6;
UPDATE t SET a = substr(a, 2000) WHERE id = 8;
FETCH 3 ordinary;
MOVE FORWARD ALL unread;
DECLARE here CURSOR FOR SELECT * FROM t WHERE id IN (5, 7) ORDER BY id FOR UPDATE;
MOVE 1 here;
UPDATE t SET a = a || 'here' WHERE CURRENT OF here RETURNING id, md5(a);
FETCH ALL ordinary;
COMMIT;
UPDATE t SET a = a || 'committed';
VACUUM t;
DO $$
DECLARE c refcursor := 'held'; r record;
BEGIN
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        INSERT INTO taken (id, a, b) VALUES (r.id + 100, r.a, r.b);
    END LOOP;
END $$;
CLOSE held;
SELECT * FROM sum_up('taken');
SELECT * FROM sum_up('t');

-- savepoints
BEGIN;
UPDATE t SET a = a || 'kept' WHERE id > 5;
SAVEPOINT one;
WITH u AS (UPDATE t SET a = a || 'lost', b = 'lost' || b WHERE id > 5 RETURNING id, length(a), md5(a))
    SELECT * FROM u ORDER BY 1, 2;
ROLLBACK TO one;
SELECT id, length(a), md5(a), md5(b) FROM t WHERE id > 5 ORDER BY id;
WITH u AS (UPDATE t SET a = a || 'again' WHERE id > 5 RETURNING id, length(a), md5(a))
    SELECT * FROM u ORDER BY 1, 2;
SAVEPOINT two;
UPDATE t SET a = overlay(a PLACING 'more' FROM 2500), c = set_byte(c, 9, 9) WHERE id > 7;
UPDATE t SET a = a || 'and more', c = c || c WHERE id > 5;
RELEASE two;
SAVEPOINT three;
DELETE FROM t WHERE id = 7;
UPDATE t SET a = left(a, -3), b = b || a WHERE id > 5;
ROLLBACK TO three;
UPDATE t SET a = a || repeat('long', 5000), b = b || 'b' WHERE id > 5;
ROLLBACK TO one;
UPDATE t SET a = a || 'at last' WHERE id > 5;
COMMIT;
SELECT * FROM sum_up('t');
BEGIN;
UPDATE t SET a = a || 'never', b = left(b, 4000), c = c || c;
ROLLBACK;
UPDATE t SET a = a || 'after a rollback', c = c || '\xaa' WHERE id > 4;
SELECT * FROM sum_up('t');

-- prepared transactions
BEGIN;
UPDATE t SET a = a || 'prepared', b = overlay(b PLACING 'prepared' FROM 100);
UPDATE t SET a = a || 'twice' WHERE id = 6;
PREPARE TRANSACTION 'like heap appends 1';
SELECT length(a), md5(a) FROM t WHERE id = 6;
COMMIT PREPARED 'like heap appends 1';
BEGIN;
UPDATE t SET a = a || 'not' , b = b || 'not', c = c || 'not';
PREPARE TRANSACTION 'like heap appends 2';
ROLLBACK PREPARED 'like heap appends 2';
UPDATE t SET a = a || 'but this', c = c || 'but this' WHERE id = 6 RETURNING length(a), md5(a), md5(c);
SELECT * FROM sum_up('t');

-- views and rules
CREATE VIEW seen AS SELECT id, a || '' AS computed, a AS body, b FROM t WHERE length(a) < 1000000 WITH CHECK OPTION;
WITH u AS (UPDATE seen SET body = body || 'view' WHERE id < 8 RETURNING id, length(body), md5(computed))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE seen SET body = body || repeat('x', 1000000 - length(body)) WHERE id = 6;
CREATE VIEW joined AS SELECT t.id, t.a, o.a AS other FROM t JOIN t o ON o.id = t.id + 1;
CREATE RULE append AS ON UPDATE TO joined DO INSTEAD UPDATE t SET a = new.a || old.other, b = b || new.id WHERE id = old.id;
UPDATE joined SET a = left(a, 3500) || 'rule' WHERE id < 9;
CREATE TABLE log (id int, old_a text, new_a text);
CREATE RULE log AS ON UPDATE TO t DO ALSO INSERT INTO log VALUES (old.id, old.a, new.a);
UPDATE t SET a = a || 'logged' WHERE id IN (5, 6, 7);
DROP RULE log ON t;
CREATE FUNCTION change_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE t SET a = new.a || 'instead' || length(old.a) WHERE id = old.id;
    RETURN new;
END $$;
CREATE TRIGGER instead INSTEAD OF UPDATE ON joined FOR EACH ROW EXECUTE FUNCTION change_seen();
DROP RULE append ON joined;
WITH u AS (UPDATE joined SET a = a || 'trigger' WHERE id IN (5, 6) RETURNING id, md5(a), md5(other))
    SELECT * FROM u ORDER BY 1, 2;
SELECT * FROM sum_up('log');
SELECT * FROM sum_up('t');

-- row triggers: OLD and NEW are read, stored elsewhere, changed, handed back
CREATE TABLE history (op text, old_a text, new_a text, whole t);
CREATE FUNCTION interfere() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_when = 'AFTER' THEN
        INSERT INTO history VALUES (tg_name, old.a, new.a, new);
        RETURN NULL;
    END IF;
    CASE new.id % 5
        WHEN 0 THEN new.b = md5(new.a) || right(old.a, 3);
        WHEN 1 THEN new.a = new.a || 'by trigger';
        WHEN 2 THEN new.b = new.a; new.a = old.a;
        WHEN 3 THEN INSERT INTO history VALUES ('before', old.a, new.a, old); new.c = substr(new.c, 10);
        ELSE new = old; new.n = length(old.a);
    END CASE;
    RETURN new;
END $$;
CREATE TRIGGER before BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION interfere();
CREATE TRIGGER changed AFTER UPDATE ON t FOR EACH ROW WHEN (old.a IS DISTINCT FROM new.a) EXECUTE FUNCTION interfere();
CREATE CONSTRAINT TRIGGER deferred AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION interfere();
WITH u AS (UPDATE t SET a = a || 'first', c = c || '\x42' RETURNING id, length(a), md5(a), md5(b), md5(c))
    SELECT * FROM u ORDER BY 1, 2;
BEGIN;
UPDATE t SET a = overlay(a PLACING 'second' FROM 1500), b = b || 'b';
SAVEPOINT s;
UPDATE t SET a = a || 'undone';
ROLLBACK TO s;
UPDATE t SET a = a || 'third' WHERE id <> 7;
COMMIT;
INSERT INTO t SELECT id FROM t ORDER BY id ON CONFLICT (id) DO UPDATE SET a = t.a || 'conflict' RETURNING id, md5(a);
MERGE INTO t USING t o ON t.id = o.id WHEN MATCHED AND t.id > 5 THEN UPDATE SET a = t.a || right(o.a, 50);
DROP TRIGGER before ON t;
DROP TRIGGER changed ON t;
DROP TRIGGER deferred ON t;
SELECT op, count(*), md5(string_agg(md5(h::text), '' ORDER BY md5(h::text))) FROM history h GROUP BY op ORDER BY op;
SELECT * FROM sum_up('t');
-- a trigger that updates the very row is heard of by the update that fired it
CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE t SET a = a || 'overtaken' WHERE id = new.id AND n >= 0;
    RETURN new;
END $$;
CREATE TRIGGER overtake BEFORE UPDATE ON t FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION overtake();
UPDATE t SET a = a || 'late' WHERE id = 7;
DROP TRIGGER overtake ON t;
CREATE TRIGGER overtake AFTER UPDATE ON t FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION overtake();
WITH u AS (UPDATE t SET a = a || 'early' WHERE id < 8 RETURNING id, md5(a))
    SELECT * FROM u ORDER BY 1, 2;
DROP TRIGGER overtake ON t;
SELECT * FROM sum_up('t');
-- parallel workers would not know what is promised (query parameters of a generic plan are not fetched)
CREATE TABLE numbers AS SELECT md5(i::text) AS v FROM generate_series(1, 1000) i;
CREATE FUNCTION less_than(x text) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT count(*) FROM numbers WHERE v < x;
END $$;
CREATE FUNCTION count_less() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.n = (SELECT l FROM less_than(new.a) l);
    RETURN new;
END $$;
CREATE TRIGGER count_less BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION count_less();
CREATE FUNCTION count_kept() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE grown text;
BEGIN
    BEGIN
        UPDATE t SET a = a || 'kept' WHERE id = 8 RETURNING a INTO grown;
        RETURN (SELECT l FROM less_than(grown) l);
    EXCEPTION WHEN no_data_found THEN NULL;
    END;
END $$;
SET plan_cache_mode = force_generic_plan;
SET force_parallel_mode = on;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT must_gather('SELECT count(*) FROM numbers WHERE v < ''x''');
UPDATE t SET a = a || 'parallel' WHERE id > 7;
DROP TRIGGER count_less ON t;
SELECT count_kept();
RESET plan_cache_mode;
RESET force_parallel_mode;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT id, n FROM t WHERE id > 7 ORDER BY id;

-- transition tables, read after further changes
CREATE FUNCTION summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE t SET a = left(a, 2500) WHERE id = 6;
    INSERT INTO history SELECT 'transition', o.a, n.a, ROW(n.*)::t FROM old_rows o JOIN new_rows n USING (id);
    UPDATE t SET b = n.a || o.b FROM old_rows o JOIN new_rows n USING (id) WHERE n.id = t.id;
    RETURN NULL;
END $$;
CREATE TRIGGER summary AFTER UPDATE ON t REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION summary();
TRUNCATE history;
UPDATE t SET a = a || 'transition', b = left(b, 5000) || 'b';
INSERT INTO t VALUES (6, 'more') ON CONFLICT (id) DO UPDATE SET a = t.a || excluded.a;
DROP TRIGGER summary ON t;
SELECT * FROM sum_up('history');
SELECT * FROM sum_up('t');

-- constraints, generated columns, indexes: all of them look at the new value before it is stored, or just after
CREATE TABLE strict (id int PRIMARY KEY, v text NOT NULL CHECK (length(v) < 60000 AND right(v, 1) <> '!'), w varchar(20010),
    g text GENERATED ALWAYS AS (left(v, 50) || right(v, 3000)) STORED, h int GENERATED ALWAYS AS (length(v)) STORED);
INSERT INTO strict SELECT i, dense(i * 5000, i), plain(20000, i) FROM generate_series(1, 6) i;
CREATE UNIQUE INDEX ON strict (md5(v));
CREATE INDEX by_start ON strict (left(v, 40), h);
CREATE INDEX by_end ON strict (right(v, 10)) WHERE length(w) > 20000;
CREATE INDEX by_hash ON strict USING hash (substr(v, 100, 20));
WITH u AS (UPDATE strict SET v = v || 'x', w = w || 'ten chars.' RETURNING id, h, md5(g), md5(v), length(w))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE strict SET w = w || 'eleven' WHERE id = 2;
UPDATE strict SET w = (w || 'cut off')::varchar(20010);
UPDATE strict SET v = v || '!' WHERE id = 3;
UPDATE strict SET v = v || v || v WHERE id = 5;
UPDATE strict SET v = v || NULL WHERE id = 1;
WITH u AS (UPDATE strict SET v = overlay(v PLACING 'aaaaaaaaaaaaaaaaaaaa' FROM 100 FOR 20) RETURNING id, h, md5(g))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE strict SET v = (SELECT o.v FROM strict o WHERE o.id = 2) || '' WHERE id = 3;
INSERT INTO strict SELECT 7, v FROM strict WHERE id = 4
    ON CONFLICT (md5(v)) DO UPDATE SET v = strict.v || 'conflict', w = left(strict.w, 100) RETURNING id, md5(v), md5(g), w = left(w, 100);
SET enable_seqscan = off;
SELECT o.id, count(s.id) FROM strict o LEFT JOIN strict s ON md5(s.v) = md5(o.v) GROUP BY o.id ORDER BY o.id;
SELECT id FROM strict WHERE left(v, 40) = (SELECT left(v, 40) FROM strict WHERE id = 4) AND h > 10;
SELECT id FROM strict WHERE right(v, 10) = (SELECT right(v, 10) FROM strict WHERE id = 6) AND length(w) > 20000;
SELECT count(*) FROM strict WHERE substr(v, 100, 20) = 'aaaaaaaaaaaaaaaaaaaa';
RESET enable_seqscan;
SELECT * FROM sum_up('strict');
CREATE DOMAIN ended AS text CHECK (length(VALUE) < 10050 AND right(VALUE, 1) = ';');
CREATE TABLE lines (id int, v ended, tags text[], x t);
INSERT INTO lines SELECT i, plain(9990, i) || ';', ARRAY[dense(3000, i)], ROW(i, dense(4000, i), NULL, noise(3000, i), 0, '')::t FROM generate_series(1, 4) i;
WITH u AS (UPDATE lines SET v = v || 'next;', tags = tags || dense(3000, 9), x.a = (x).a || 'x' RETURNING id, length(v), md5(tags::text), md5(x::text))
    SELECT * FROM u ORDER BY 1, 2;
UPDATE lines SET v = left(v, -1);
UPDATE lines SET v = v || repeat(';', 60);
UPDATE lines SET tags[1] = tags[1] || v, v = overlay(v PLACING ';' FROM 9000);
SELECT * FROM sum_up('lines');

-- partitions
CREATE TABLE p (k int, id int, v text, w bytea DEFAULT '') PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 (w bytea DEFAULT '', dropped int, v text, id int, k int);
ALTER TABLE p2 DROP dropped;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20) TO (30) USING heap;
CREATE UNIQUE INDEX ON p (k, id);
INSERT INTO p SELECT i * 5, i, dense(9000 * i, i), noise(5000, i) FROM generate_series(0, 5) i;
WITH u AS (UPDATE p SET v = v || 'grown', w = w || '\x01' RETURNING tableoid::regclass, id, md5(v), md5(w))
    SELECT * FROM u ORDER BY 1, 2;
WITH u AS (UPDATE p SET k = (k + 10) % 30, v = v || 'moved', w = set_byte(w, 100, id) RETURNING tableoid::regclass, id, md5(v), md5(w))
    SELECT * FROM u ORDER BY 1, 2;
WITH u AS (UPDATE p SET k = (k + 10) % 30, v = overlay(v PLACING 'moved' FROM 1000) FROM (VALUES (1), (2), (4)) o(i) WHERE i = id RETURNING id, md5(v))
    SELECT * FROM u ORDER BY 1, 2;
INSERT INTO p SELECT k, id, 'more' FROM p ORDER BY id ON CONFLICT (k, id) DO UPDATE SET v = p.v || excluded.v, w = p.w || p.w RETURNING id, md5(v), md5(w);
MERGE INTO p USING (SELECT i FROM generate_series(0, 9) i) s ON p.id = s.i
    WHEN MATCHED AND i < 3 THEN UPDATE SET v = p.v || 'merged', k = (k + 10) % 30
    WHEN MATCHED THEN UPDATE SET v = left(p.v, 4000) || p.v
    WHEN NOT MATCHED THEN INSERT VALUES (i * 3, i, dense(3000, i));
CREATE TRIGGER summary AFTER UPDATE ON p REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION summary();
CREATE OR REPLACE FUNCTION summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history (op, old_a, new_a) SELECT 'partition', o.v, n.v FROM old_rows o JOIN new_rows n USING (id);
    RETURN NULL;
END $$;
UPDATE p SET v = v || 'seen', k = (k + 10) % 30 WHERE id <> 4;
SELECT p.tableoid::regclass, count(*), md5(string_agg(md5(p::text), '' ORDER BY id)) FROM p GROUP BY 1 ORDER BY 1;
SELECT * FROM sum_up('p');
SELECT * FROM sum_up('history');

-- data-modifying WITH, and rows from here into other tables, which must not depend on this one
WITH u AS (UPDATE t SET a = a || 'with', b = overlay(b PLACING 'with' FROM 10) RETURNING *),
    moved AS (DELETE FROM w WHERE id > 4 RETURNING id, v || 'moved' AS v, k),
    v AS (UPDATE w SET v = w.v || 'v', k = left(u.a, 4000) || w.k FROM u WHERE u.id = w.id + 4 AND w.id <= 4 RETURNING w.*),
    l AS (INSERT INTO log SELECT u.id, u.b, u.a FROM u RETURNING *)
    INSERT INTO w SELECT id + 10, v, k FROM moved UNION ALL SELECT id + 20, v, k FROM v UNION ALL SELECT id + 30, new_a, old_a FROM l;
CREATE TABLE copied USING heap AS SELECT id, a, b || 'b' AS b, c FROM t;
CREATE TABLE both_ways AS SELECT id, ARRAY[a, b] AS ab, t AS whole FROM t;
UPDATE copied SET a = t.a || 'copied', b = overlay(t.b PLACING copied.b FROM 5), c = t.c || t.c FROM t WHERE t.id = copied.id;
UPDATE t SET a = copied.a || 'back', b = t.b || copied.b FROM copied WHERE t.id = copied.id;
DELETE FROM t WHERE id % 2 = 0;
VACUUM t;
VACUUM log;
SELECT * FROM sum_up('w');
SELECT * FROM sum_up('log');
SELECT * FROM sum_up('copied');
SELECT * FROM sum_up('both_ways');
SELECT * FROM sum_up('t');
VACUUM FULL t;
UPDATE t SET a = a || 'after', b = b || 'after', c = c || 'after';
DROP TABLE history, both_ways, lines;    -- columns of the table's row type forbid what follows
ALTER TABLE t SET ACCESS METHOD heap;
UPDATE t SET a = a || 'in heap';
ALTER TABLE t SET ACCESS METHOD :am;
UPDATE t SET a = a || 'here again', b = left(b, 4000);
SELECT * FROM sum_up('t');

-- what is to stay in its row stays there, or does not fit
CREATE TABLE stays (id int, v text, w text);
INSERT INTO stays SELECT i, dense(i * 3000, i), dense(3000, -i) FROM generate_series(1, 4) i;
ALTER TABLE stays ALTER v SET STORAGE PLAIN;
UPDATE stays SET v = v || 'x' WHERE id < 3;
UPDATE stays SET v = v || 'x' WHERE id = 3;
UPDATE stays SET v = overlay(v PLACING 'x' FROM 3000), w = w || 'x' WHERE id = 4;
UPDATE stays SET v = left(v, 4000), w = w || 'x' WHERE id = 4;
ALTER TABLE stays ALTER v SET STORAGE MAIN, ALTER w SET STORAGE PLAIN;
UPDATE stays SET v = v || 'x', w = left(w, 2500) || 'x';
SELECT * FROM sum_up('stays');

-- new bytes only, and as many as there were
CREATE TABLE replaced (id int, v text, b bytea);
INSERT INTO replaced SELECT i, dense(i * 5000, i), noise(i * 5000, i) FROM generate_series(1, 4) i;
WITH u AS (UPDATE replaced SET v = overlay(v PLACING repeat('b', length(v)) FROM 1), b = overlay(b PLACING noise(length(b), 9) FROM 1) RETURNING id, md5(v), md5(b))
    SELECT * FROM u ORDER BY 1;
SELECT * FROM sum_up('replaced');
UPDATE replaced SET v = right(v || repeat('c', length(v)), length(v)), b = substr(b || noise(length(b), 8), length(b) + 1);
SELECT * FROM sum_up('replaced');
UPDATE replaced SET v = overlay(v PLACING v FROM 1), b = substr(b || b, length(b) + 1);
UPDATE replaced SET v = left(v, 2000) || left(v, length(v) - 2000), b = right(v, 100)::bytea || substr(b, 101);
SELECT * FROM sum_up('replaced');
-- parts of texts whose ends cut characters
CREATE TABLE cut (id int, v text);
INSERT INTO cut VALUES (1, repeat(U&'a\+01f600\20ac\00e9', 5000)), (2, repeat(U&'\00e9\+01f600', 5000)), (3, repeat(U&'\20acx', 5000) || U&'\+01f600');
SELECT id, i, j, substr(v, i, j), substring(v FROM 5000 + i FOR j), right(left(v, i + 70), j), substr(v, length(v) - j, i)
    FROM cut, generate_series(1, 5) i, generate_series(0, 4) j ORDER BY 1, 2, 3;

-- concat() of one argument, of an array of them, and of what is stored last
UPDATE t SET a = concat(a), b = concat(VARIADIC ARRAY[b, 'array']) WHERE id % 2 = 0;
UPDATE t SET a = concat('first', a), b = concat(NULL::text, b) WHERE id % 3 = 0;
SELECT * FROM sum_up('t');

-- a variable has the new value, which is stored more than once, and changed again
CREATE TABLE again (a text, b text);
INSERT INTO again SELECT dense(20000, 1), dense(9000, 2);
CREATE FUNCTION store_again() RETURNS text LANGUAGE plpgsql AS $$
DECLARE x text;
BEGIN
    SELECT a || 'kept' INTO x FROM again;
    UPDATE again SET a = x;
    UPDATE again SET a = x;
    UPDATE again SET b = x;
    UPDATE again SET a = x || '?';
    RETURN md5(x) || right(x, 6);
END $$;
SELECT store_again();
SELECT right(a, 7), right(b, 7) FROM again;
SELECT * FROM sum_up('again');
