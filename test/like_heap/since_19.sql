-- What PostgreSQL can do since 19.
\if :since_19

SET default_toast_compression = :lz4;

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
UPDATE t SET v = v || 'again', d = d || '{"more": 1}', c = c || 1;
SELECT * FROM sum_up('t');
REPACK parent;
SELECT * FROM sum_up('parent');

-- a row in conflict is returned, and locked
INSERT INTO t (id, v) SELECT i, dense(9000, -i) FROM generate_series(18, 23) i ON CONFLICT (id) DO SELECT RETURNING id, md5(v), md5(d::text);
INSERT INTO t (id, v) SELECT i, dense(9000, -i) FROM generate_series(18, 26) i ON CONFLICT (id) DO SELECT FOR UPDATE WHERE right(t.v, 1) <> 'x' RETURNING id, md5(v), md5(old.v), md5(new.v), d->>'id';
UPDATE t SET d = jsonb_build_object('name', '  Some Name ', 'v', dense(4000, id)) WHERE id < 5;
SELECT id, jsonb_path_query(d, '$.name.lower()'), jsonb_path_query(d, '$.name.btrim().replace("Some", "Any")'), jsonb_path_query(d, '$.name.split_part(" ", 3)'), JSON_VALUE(d, '$.name.upper()') FROM t WHERE id < 5 ORDER BY id;
SELECT * FROM sum_up('t');
\endif
