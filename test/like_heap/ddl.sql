-- Everything that rewrites or re-creates a table.

CREATE TABLE t (id int PRIMARY KEY, v text, w varchar, k int);
INSERT INTO t SELECT i, mixed(i * 500, i), dense(i * 300, i), -i FROM generate_series(1, 60) i;
UPDATE t SET w = w || '+' WHERE id % 3 = 0;
DELETE FROM t WHERE id % 7 = 0;
CREATE INDEX t_k ON t (k);
CREATE INDEX t_w ON t (md5(w));
-- an error while the index is built, and the table is as before
CREATE INDEX t_bad ON t ((1 / (id - 30)));
CREATE INDEX t_bad ON t ((1 / (length(v) - length(v))));
CREATE VIEW sums AS SELECT count(*), sum(length(v)) AS v, sum(hashtext(v)::bigint) AS hv,
    sum(hashtext(w)::bigint) AS hw FROM t;

SELECT * FROM sums;
UPDATE t SET v = v || 'after' WHERE id = 31;
SELECT * FROM sums;
VACUUM t;
SELECT * FROM sums;
VACUUM FULL t;
SELECT * FROM sums;
CLUSTER t USING t_k;
SELECT * FROM sums;
SELECT id FROM t LIMIT 3;
SET enable_indexscan = off;
SET enable_seqscan = on;
UPDATE t SET w = w || '-' WHERE id % 4 = 0;
CLUSTER t USING t_pkey;
RESET enable_indexscan;
SELECT * FROM sums;
SELECT id FROM t LIMIT 3;
VACUUM (FULL, ANALYZE) t;
SELECT * FROM sums;
SET enable_seqscan = off;
SELECT id FROM t WHERE md5(w) = md5(dense(1800, 6) || '+');
RESET enable_seqscan;

ALTER TABLE t ADD c1 text DEFAULT 'constant';
ALTER TABLE t ADD c2 text DEFAULT left(md5(clock_timestamp()::text), 0) || dense(2500, 1);
ALTER TABLE t ADD c3 int DEFAULT floor(random())::int;
SELECT * FROM sums;
SELECT count(*), count(DISTINCT c1), count(DISTINCT c2), sum(length(c2)), sum(c3) FROM t;
UPDATE t SET c1 = v WHERE id < 20;
ALTER TABLE t DROP c2;
UPDATE t SET c1 = NULL WHERE id < 10;
DELETE FROM t WHERE id = 11;
SELECT * FROM sum_up('t');
VACUUM FULL t;
SELECT * FROM sum_up('t');
DROP VIEW sums;
ALTER TABLE t DROP c1, DROP c3;
ALTER TABLE t ALTER w TYPE bytea USING convert_to(w, 'UTF8');
ALTER TABLE t ALTER k TYPE text USING k || repeat('k', 3000);
SELECT id, md5(v), md5(w), length(k) FROM t WHERE id % 20 = 1 ORDER BY id;
ALTER TABLE t ALTER w TYPE varchar USING convert_from(w, 'UTF8');
SELECT * FROM sum_up('t');
ALTER TABLE t ALTER v TYPE varchar(100);
ALTER TABLE t SET UNLOGGED;
SELECT * FROM sum_up('t');
ALTER TABLE t SET LOGGED;
SELECT * FROM sum_up('t');
ALTER TABLE t SET TABLESPACE pg_default;

ALTER TABLE t SET ACCESS METHOD heap;
SELECT * FROM sum_up('t');
UPDATE t SET v = v || 'h' WHERE id % 2 = 0;
ALTER TABLE t SET ACCESS METHOD :am;
SELECT * FROM sum_up('t');
UPDATE t SET v = v || 's' WHERE id % 2 = 1;
ALTER TABLE t SET ACCESS METHOD heap;
ALTER TABLE t SET ACCESS METHOD :am;
SELECT * FROM sum_up('t');

-- in one transaction, and undone
BEGIN;
UPDATE t SET v = dense(4000, id) WHERE id < 30;
ALTER TABLE t ADD z text DEFAULT clock_timestamp()::text || dense(4000, 2);
DELETE FROM t WHERE id > 40;
ALTER TABLE t DROP z;
SAVEPOINT s;
ALTER TABLE t ALTER w TYPE bytea USING convert_to(w, 'UTF8');
TRUNCATE t;
INSERT INTO t VALUES (1, dense(9000, 1));
ROLLBACK TO s;
CLUSTER t USING t_pkey;
SELECT * FROM sum_up('t');
ROLLBACK;
SELECT * FROM sum_up('t');
BEGIN;
UPDATE t SET v = dense(4000, id) WHERE id < 30;
UPDATE t SET v = v || dense(4000, id) WHERE id < 20;
CLUSTER t USING t_pkey;
UPDATE t SET v = v || dense(3000, id) WHERE id < 10;
COMMIT;
SELECT * FROM sum_up('t');
VACUUM FULL t;
SELECT * FROM sum_up('t');

-- copies
CREATE TABLE copy1 AS SELECT * FROM t;
CREATE TABLE copy2 (LIKE t INCLUDING ALL);
INSERT INTO copy2 TABLE t;
SELECT * INTO copy3 FROM t;
CREATE MATERIALIZED VIEW m AS SELECT id, v, w FROM t;
CREATE UNIQUE INDEX ON m (id);
UPDATE t SET v = dense(6000, id) WHERE id < 8;
DELETE FROM t WHERE id BETWEEN 10 AND 15;
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
SELECT * FROM sum_up('m');
UPDATE t SET w = v WHERE id < 12;
REFRESH MATERIALIZED VIEW m;
SELECT * FROM sum_up('m');
DROP TABLE t CASCADE;
SELECT * FROM sum_up('copy1');
SELECT * FROM sum_up('copy2');
SELECT * FROM sum_up('copy3');

-- temporary and unlogged tables
CREATE TEMP TABLE tmp (id int, v text) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO tmp SELECT i, dense(i * 3000, i) FROM generate_series(1, 10) i;
UPDATE tmp SET v = v || v WHERE id < 5;
SELECT * FROM sum_up('tmp');
COMMIT;
SELECT * FROM sum_up('tmp');
CREATE UNLOGGED TABLE unlogged AS TABLE copy1;
UPDATE unlogged SET v = left(w, 3000) || v;
SELECT * FROM sum_up('unlogged');

-- partitions, of heap and of the method under test
CREATE TABLE p (id int, v text, g text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) USING heap;
CREATE TABLE p3 (g text, junk text, v text, id int);
ALTER TABLE p3 DROP junk;
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (20) TO (30);
INSERT INTO p SELECT i, mixed(i * 1000, i), dense(i * 200, i) FROM generate_series(0, 29) i;
UPDATE p SET id = (id + 10) % 30 WHERE id % 2 = 0;
SELECT tableoid::regclass, count(*), sum(hashtext(v)::bigint), sum(hashtext(g)::bigint) FROM p GROUP BY 1 ORDER BY 1;
UPDATE p SET id = (id + 10) % 30, v = v || g WHERE id % 3 = 0 RETURNING id, md5(v);
UPDATE p SET v = upper(v) WHERE id % 5 = 0;
DELETE FROM p WHERE id % 4 = 0;
SELECT tableoid::regclass, count(*), sum(hashtext(v)::bigint), sum(hashtext(g)::bigint) FROM p GROUP BY 1 ORDER BY 1;
ALTER TABLE p DETACH PARTITION p2;
ALTER TABLE p2 SET ACCESS METHOD :am;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20);
VACUUM p;
SELECT * FROM sum_up('p');
CREATE TABLE i1 (id int, v text);
CREATE TABLE i2 (extra text) INHERITS (i1);
INSERT INTO i2 SELECT i, dense(i * 2000, i), mixed(9000, i) FROM generate_series(1, 5) i;
UPDATE i1 SET v = v || 'i';
ALTER TABLE i1 ADD late text DEFAULT repeat('late', 600);
SELECT * FROM sum_up('i1');
SELECT * FROM sum_up('i2');
