-- What PostgreSQL can do since 19.
\if :since_19

SET default_toast_compression = lz4;

-- partitions are merged and split
CREATE TABLE parent (id int, v text, d jsonb) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parent FOR VALUES FROM (10) TO (20);
CREATE TABLE part3 PARTITION OF parent FOR VALUES FROM (20) TO (30) USING heap;
CREATE TABLE other PARTITION OF parent DEFAULT;
INSERT INTO parent SELECT i, mixed(i * 1500, i), jsonb_build_object('id', i, 'v', dense(i * 500, i)) FROM generate_series(0, 39) i;
UPDATE parent SET v = v || 'grown' WHERE id % 2 = 0;
UPDATE parent SET d = jsonb_set(d, '{id}', '"changed"') WHERE id % 3 = 0;
SELECT * FROM sum_up('parent');
ALTER TABLE parent MERGE PARTITIONS (part1, part2) INTO part12;
SELECT * FROM sum_up('parent');
SELECT * FROM sum_up('part12');
UPDATE parent SET v = v || 'merged', d = d - 'v' WHERE id % 4 = 0;
ALTER TABLE parent MERGE PARTITIONS (part12, part3) INTO part123;
SELECT * FROM sum_up('part123');
ALTER TABLE parent SPLIT PARTITION part123 INTO (PARTITION part1 FOR VALUES FROM (0) TO (7), PARTITION part2 FOR VALUES FROM (7) TO (30));
ALTER TABLE parent SPLIT PARTITION other INTO (PARTITION part4 FOR VALUES FROM (30) TO (35), PARTITION other DEFAULT);
UPDATE parent SET v = overlay(v PLACING 'split' FROM 10), id = (id + 5) % 40;
SELECT * FROM sum_up('part1');
SELECT * FROM sum_up('part2');
SELECT * FROM sum_up('part4');
SELECT * FROM sum_up('other');
SELECT * FROM sum_up('parent');

-- REPACK, with and without an index
CREATE TABLE t (id int PRIMARY KEY, v text, d jsonb, c int[], gone text);
INSERT INTO t SELECT i, mixed(i * 2000, i), jsonb_build_object('id', i, 'v', dense(i * 1000, i)), array(SELECT generate_series(1, i * 500)), dense(3000, i) FROM generate_series(1, 20) i;
UPDATE t SET v = v || 'grown', d = jsonb_set(d, '{id}', '0'), c[7] = 0 WHERE id % 2 = 0;
ALTER TABLE t DROP gone;
CREATE INDEX t_v ON t (right(v, 20));
DELETE FROM t WHERE id % 5 = 0;
REPACK t;
SELECT * FROM sum_up('t');
REPACK t USING INDEX t_v;
SELECT id FROM t LIMIT 5;
SELECT * FROM sum_up('t');
UPDATE t SET v = v || 'repacked';
REPACK (ANALYZE, VERBOSE false) t USING INDEX t_pkey;
SELECT id FROM t LIMIT 5;
REPACK (CONCURRENTLY) t;
SELECT * FROM sum_up('t');
UPDATE t SET v = v || 'again', d = d || '{"more": 1}', c = c || 1;
SELECT * FROM sum_up('t');
REPACK parent;
SELECT * FROM sum_up('parent');

-- a portion of a row's time is changed: what is left over gets copies of the values
CREATE TABLE p (id int, k int4range, at int4range, v text, d jsonb, c int[], n int DEFAULT 0, g text GENERATED ALWAYS AS (left(v, 3000)) STORED, CONSTRAINT p_key PRIMARY KEY (k, at WITHOUT OVERLAPS));
INSERT INTO p SELECT i, int4range(i, i + 1), int4range(0, 100), mixed(i * 2000, i), jsonb_build_object('id', i, 'v', dense(i * 900, i)), array(SELECT generate_series(1, i * 500)) FROM generate_series(1, 12) i;
UPDATE p FOR PORTION OF at FROM 10 TO 20 SET v = v || 'portion', d = jsonb_set(d, '{id}', '"portion"'), c = c || id;
SELECT * FROM sum_up('p');
UPDATE p FOR PORTION OF at FROM 15 TO 60 SET v = overlay(v PLACING 'over' FROM 100), n = n + 1 WHERE id % 2 = 0;
WITH u AS (UPDATE p FOR PORTION OF at FROM 50 TO 55 SET v = left(v, 2500) || id, d = d || '{"x": 1}' WHERE id % 3 = 0 RETURNING id, old.at AS oat, new.at AS nat, old.v AS ov, new.v AS nv, new.d AS nd)
    SELECT id, oat, nat, md5(ov), md5(nv), md5(nd::text) FROM u ORDER BY id, oat;
DELETE FROM p FOR PORTION OF at FROM 30 TO 40 WHERE id < 5;
DELETE FROM p FOR PORTION OF at FROM 90 TO NULL WHERE id > 9;
SELECT id, at, n, length(v), md5(v), md5(d::text), md5(c::text), md5(g) FROM p ORDER BY id, at;
BEGIN;
UPDATE p FOR PORTION OF at FROM 1 TO 2 SET v = v || 'lost';
SAVEPOINT s;
DELETE FROM p FOR PORTION OF at FROM 3 TO 5;
ROLLBACK TO s;
UPDATE p FOR PORTION OF at FROM 1 TO 3 SET v = v || 'twice' WHERE id = 7;
COMMIT;
CREATE FUNCTION tg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF tg_op = 'INSERT' THEN new.v := new.v || 'left over'; ELSE new.d := new.d || '{"trigger": true}'; END IF; RETURN new; END $$;
CREATE TRIGGER tg BEFORE INSERT OR UPDATE ON p FOR EACH ROW EXECUTE FUNCTION tg();
UPDATE p FOR PORTION OF at FROM 70 TO 75 SET v = v || 'seen', n = 1 WHERE id < 8;
UPDATE p FOR PORTION OF at FROM 71 TO 72 SET n = 1 / (id - 3);
DROP TRIGGER tg ON p;
DELETE FROM p WHERE id = 4;
VACUUM p;
SELECT id, at, n, length(v), md5(v), md5(d::text) FROM p ORDER BY id, at;
SELECT * FROM sum_up('p');
-- the same in partitions, which rows leave
CREATE TABLE pp (id int, at int4range, v text) PARTITION BY LIST (id);
CREATE TABLE pp1 PARTITION OF pp FOR VALUES IN (1, 2, 3);
CREATE TABLE pp2 PARTITION OF pp FOR VALUES IN (4, 5, 6);
INSERT INTO pp SELECT i, int4range(0, 100), mixed(i * 4000, i) FROM generate_series(1, 6) i;
UPDATE pp FOR PORTION OF at FROM 40 TO 50 SET v = v || 'portion', id = 7 - id;
DELETE FROM pp FOR PORTION OF at FROM 45 TO 60;
SELECT id, at, length(v), md5(v) FROM pp ORDER BY id, at, length(v);
SELECT * FROM sum_up('pp1');

-- a row in conflict is returned, and locked
INSERT INTO t (id, v) SELECT i, dense(9000, -i) FROM generate_series(18, 23) i ON CONFLICT (id) DO SELECT RETURNING id, md5(v), md5(d::text);
INSERT INTO t (id, v) SELECT i, dense(9000, -i) FROM generate_series(18, 26) i ON CONFLICT (id) DO SELECT FOR UPDATE WHERE right(t.v, 1) <> 'x' RETURNING id, md5(v), md5(old.v), md5(new.v), d->>'id';
UPDATE t SET d = jsonb_build_object('name', '  Some Name ', 'v', dense(4000, id)) WHERE id < 5;
SELECT id, jsonb_path_query(d, '$.name.lower()'), jsonb_path_query(d, '$.name.btrim().replace("Some", "Any")'), jsonb_path_query(d, '$.name.split_part(" ", 3)'), JSON_VALUE(d, '$.name.upper()') FROM t WHERE id < 5 ORDER BY id;
SELECT * FROM sum_up('t');
\endif
