-- Triggers, cursors, functions, foreign keys, isolation levels.

CREATE TABLE t (id int PRIMARY KEY, v text, w text, g text GENERATED ALWAYS AS (left(v, 3000) || 'g') STORED);
CREATE TABLE audit (op text, old_v text, new_v text, whole t);

CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_when = 'BEFORE' AND tg_op = 'UPDATE' AND new.id % 3 = 0 THEN
        new.w = new.v || old.v;
    ELSIF tg_when = 'BEFORE' AND tg_op = 'UPDATE' AND new.id % 3 = 1 THEN
        RETURN old;
    ELSIF tg_when = 'BEFORE' AND tg_op = 'DELETE' AND old.id % 3 = 2 THEN
        RETURN NULL;
    ELSIF tg_when = 'AFTER' THEN
        INSERT INTO audit SELECT tg_op, CASE WHEN tg_op <> 'INSERT' THEN old.v END,
            CASE WHEN tg_op <> 'DELETE' THEN new.v END, CASE WHEN tg_op = 'DELETE' THEN old ELSE new END;
    END IF;
    RETURN coalesce(new, old);
END $$;
CREATE TRIGGER before BEFORE INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION record();
CREATE TRIGGER after AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION record();
CREATE CONSTRAINT TRIGGER deferred AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION record();

INSERT INTO t SELECT i, dense(i * 2000, i), plain(i * 9000, i) FROM generate_series(1, 12) i;
UPDATE t SET v = dense(7000, -id) WHERE id < 9;
UPDATE t SET w = w || 'more' WHERE id > 6;
DELETE FROM t WHERE id > 9;
SELECT * FROM sum_up('t');
SELECT op, count(*), md5(string_agg(md5(audit::text), ',' ORDER BY md5(audit::text))) FROM audit GROUP BY op ORDER BY op;
SELECT (whole).id, md5((whole).v), md5((whole).w), (whole).g = left((whole).v, 3000) || 'g' AS g FROM audit
    ORDER BY op, 1, 2, 3 LIMIT 12;
DROP TRIGGER before ON t;
DROP TRIGGER after ON t;
DROP TRIGGER deferred ON t;
DELETE FROM t WHERE id = 1;
VACUUM t;
SELECT * FROM sum_up('audit');

-- transition tables
CREATE FUNCTION summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit SELECT 'transition', o.v, n.v, ROW(n.*)::t FROM old_rows o FULL JOIN new_rows n USING (id);
    RETURN NULL;
END $$;
CREATE TRIGGER summary AFTER UPDATE ON t REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION summary();
TRUNCATE audit;
UPDATE t SET v = v || w, w = dense(5000, id);
SELECT * FROM sum_up('audit');
DROP TRIGGER summary ON t;

-- cursors
BEGIN;
DECLARE plain_cursor CURSOR FOR SELECT id, md5(v) FROM t WHERE id < 5 ORDER BY id;
DECLARE scrolling SCROLL CURSOR FOR SELECT id, v FROM t;
DECLARE held CURSOR WITH HOLD FOR SELECT id, v, t FROM t ORDER BY id;
FETCH 2 plain_cursor;
MOVE FORWARD ALL scrolling;
CREATE TEMP TABLE seen (id int, v text);
DO $$
DECLARE c refcursor := 'scrolling'; r record;
BEGIN
    LOOP
        FETCH PRIOR FROM c INTO r;
        EXIT WHEN NOT FOUND;
        INSERT INTO seen VALUES (r.id, r.v);
    END LOOP;
END $$;
SELECT * FROM sum_up('seen');
DECLARE here CURSOR FOR SELECT * FROM t WHERE id IN (2, 3) ORDER BY id FOR UPDATE;
MOVE 1 here;
UPDATE t SET v = dense(11000, 1) WHERE CURRENT OF here;
MOVE 1 here;
DELETE FROM t WHERE CURRENT OF here;
DECLARE seq CURSOR FOR SELECT * FROM t WHERE id = 6;
MOVE 1 seq;
UPDATE t SET w = dense(11000, 2) WHERE CURRENT OF seq RETURNING id;
FETCH 2 plain_cursor;
COMMIT;
DELETE FROM t WHERE id = 4;
VACUUM t;
DO $$
DECLARE c refcursor := 'held'; r record;
BEGIN
    DELETE FROM seen;
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        INSERT INTO seen VALUES (r.id, r.v || r.t::text);
    END LOOP;
END $$;
CLOSE held;
SELECT * FROM sum_up('seen');
SELECT * FROM sum_up('t');

-- row locks
BEGIN;
SELECT id, md5(v) FROM t WHERE id < 4 ORDER BY id FOR UPDATE;
SELECT id, md5(w) FROM t ORDER BY id FOR NO KEY UPDATE SKIP LOCKED;
SAVEPOINT s;
SELECT id, md5(v) FROM t WHERE id = 5 FOR SHARE;
UPDATE t SET v = v || 'locked' WHERE id = 5;
ROLLBACK TO s;
UPDATE t SET w = w || 'locked' WHERE id = 5;
COMMIT;
SELECT * FROM sum_up('t');

-- variables hold values beyond the row's life
DO $$
DECLARE r t; one text; all_v text[];
BEGIN
    SELECT * INTO r FROM t WHERE id = 6;
    SELECT v INTO one FROM t WHERE id = 7;
    SELECT array_agg(v ORDER BY id) INTO all_v FROM t;
    UPDATE t SET v = 'gone', w = 'gone' WHERE id IN (6, 7);
    BEGIN
        UPDATE t SET v = dense(8000, 1), w = v WHERE id IN (6, 7);
        RAISE EXCEPTION 'back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    INSERT INTO t VALUES (60, r.v, r.w), (70, one, array_to_string(all_v, ''));
    DELETE FROM t WHERE id IN (6, 7);
END $$;
CREATE PROCEDURE batch() LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    FOR r IN SELECT * FROM t ORDER BY id LOOP
        UPDATE t SET w = r.v WHERE id = r.id;
        IF r.id % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF;
    END LOOP;
END $$;
CALL batch();
SELECT * FROM sum_up('t');
CREATE FUNCTION generic(i int, x text) RETURNS text LANGUAGE sql AS
    $$ UPDATE t SET v = v || x WHERE id = i RETURNING v $$;
SET plan_cache_mode = force_generic_plan;
SELECT md5(generic(i % 4 + 5, dense(3000, i))) FROM generate_series(1, 8) i;
RESET plan_cache_mode;

-- foreign keys
CREATE TABLE parent (k text PRIMARY KEY, v text);
CREATE TABLE child (k text REFERENCES parent ON UPDATE CASCADE ON DELETE SET NULL, v text, id int);
INSERT INTO parent SELECT plain(100, i) || i, dense(9000, i) FROM generate_series(1, 5) i;
INSERT INTO child SELECT plain(100, i % 5 + 1) || (i % 5 + 1), dense(9000, i), i FROM generate_series(1, 15) i;
INSERT INTO child VALUES ('nobody', dense(9000, 1));
UPDATE parent SET v = v || 'x';
UPDATE parent SET k = k || dense(500, 1) WHERE k LIKE '%1';
DELETE FROM parent WHERE k LIKE '%2';
SELECT * FROM sum_up('parent');
SELECT * FROM sum_up('child');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM child WHERE v LIKE 'A%';
UPDATE parent SET v = v || 'y', k = k || 'y';
DELETE FROM child WHERE id < 5;
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE child SET v = dense(12000, id);
UPDATE child SET v = left(v, 4000);
COMMIT;
SELECT * FROM sum_up('parent');
SELECT * FROM sum_up('child');
