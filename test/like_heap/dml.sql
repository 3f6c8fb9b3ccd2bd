-- INSERT, UPDATE, DELETE, MERGE, COPY and what hangs on to them.

CREATE TABLE t (id int PRIMARY KEY, a text, b text, n int DEFAULT 0);
INSERT INTO t SELECT i, dense(i * 1500, i), mixed(i * 4000, i) FROM generate_series(0, 20) i;
INSERT INTO t VALUES (100, plain(300000, 1), NULL) RETURNING id, length(a), md5(a), b;
SELECT * FROM sum_up('t');

-- a row of every kind, touched in every way
UPDATE t SET n = n + 1 WHERE id % 2 = 0;
UPDATE t SET a = dense(5000, id) WHERE id % 3 = 0 RETURNING id, md5(a), md5(b);
UPDATE t SET a = b, b = a WHERE id % 4 = 1;
UPDATE t SET a = a || 'x', b = left(b, 10) WHERE id % 5 = 0;
UPDATE t SET b = NULL WHERE id = 7;
UPDATE t SET a = a, b = b;
UPDATE t SET a = o.b FROM t o WHERE o.id = t.id + 1 AND t.id < 5;
UPDATE t SET (a, b) = (SELECT max(b), min(a) FROM t) WHERE id = 8;
DELETE FROM t WHERE id IN (3, 13) RETURNING md5(a), md5(b);
SELECT * FROM sum_up('t');

-- several times in one transaction and in one command
BEGIN;
UPDATE t SET a = dense(9000, 1) WHERE id = 9;
UPDATE t SET a = dense(9000, 2) WHERE id = 9;
SELECT md5(a) FROM t WHERE id = 9;
DELETE FROM t WHERE id = 9;
INSERT INTO t SELECT 9, mixed(90000, 9);
UPDATE t SET b = a WHERE id = 9;
COMMIT;
WITH gone AS (DELETE FROM t WHERE id IN (10, 11) RETURNING *)
    INSERT INTO t SELECT id + 1000, a, b FROM gone RETURNING id, md5(a);
SELECT * FROM sum_up('t');

-- savepoints and aborts
BEGIN;
UPDATE t SET a = dense(20000, 3) WHERE id = 14;
SAVEPOINT one;
UPDATE t SET a = dense(30000, 4) WHERE id = 14;
DELETE FROM t WHERE id = 15;
SAVEPOINT two;
INSERT INTO t SELECT 15, dense(40000, 5);
SELECT id, md5(a) FROM t WHERE id IN (14, 15) ORDER BY id;
ROLLBACK TO two;
SELECT id, md5(a) FROM t WHERE id IN (14, 15) ORDER BY id;
ROLLBACK TO one;
SELECT id, md5(a) FROM t WHERE id IN (14, 15) ORDER BY id;
UPDATE t SET a = a || a WHERE id = 14;
RELEASE one;
COMMIT;
BEGIN;
UPDATE t SET a = upper(a), b = lower(b);
DELETE FROM t WHERE id > 10;
ROLLBACK;
SELECT * FROM sum_up('t');

-- prepared transactions
BEGIN;
UPDATE t SET a = dense(20000, 6) WHERE id = 16;
INSERT INTO t SELECT 200, dense(20000, 7);
PREPARE TRANSACTION 'like heap 1';
SELECT md5(a) FROM t WHERE id IN (16, 200) ORDER BY id;
COMMIT PREPARED 'like heap 1';
BEGIN;
UPDATE t SET a = dense(20000, 8) WHERE id = 16;
DELETE FROM t WHERE id = 200;
PREPARE TRANSACTION 'like heap 2';
ROLLBACK PREPARED 'like heap 2';
SELECT md5(a) FROM t WHERE id IN (16, 200) ORDER BY id;

-- errors after part of the work is done
INSERT INTO t SELECT i, dense(9000, i) FROM generate_series(300, 310) i UNION ALL SELECT 300, dense(9000, 1);
UPDATE t SET a = dense(10000, id), n = 1 / (n - 1);
INSERT INTO t VALUES (1, dense(9000, 1));
ALTER TABLE t ADD CHECK (length(b) < 10000000);
UPDATE t SET b = repeat('x', 10000001) WHERE id = 2;
SELECT * FROM sum_up('t');

-- ON CONFLICT
INSERT INTO t SELECT 2, dense(9000, 9) ON CONFLICT DO NOTHING;
INSERT INTO t SELECT i, dense(9000, i) FROM generate_series(1, 400, 50) i
    ON CONFLICT (id) DO UPDATE SET b = excluded.a, a = t.b RETURNING id, md5(a), md5(b);
UPDATE t SET a = coalesce(a, '') || id;
CREATE UNIQUE INDEX t_a ON t (md5(a)) WHERE n < 5;
INSERT INTO t SELECT 501, a FROM t WHERE id = 5 ON CONFLICT (md5(a)) WHERE n < 5 DO NOTHING;
INSERT INTO t SELECT 501, a FROM t WHERE id = 5
    ON CONFLICT (md5(a)) WHERE n < 5 DO UPDATE SET b = excluded.a || t.a RETURNING id, md5(b);
INSERT INTO t SELECT 501, a FROM t WHERE id = 5;
INSERT INTO t SELECT 502, dense(70000, 502) ON CONFLICT (md5(a)) WHERE n < 5 DO NOTHING RETURNING id;
INSERT INTO t SELECT 503, dense(70000, 503) FROM generate_series(1, 2)
    ON CONFLICT (id) DO UPDATE SET a = '';
DROP INDEX t_a;
CREATE TABLE x (id int, r int4range, v text, EXCLUDE USING gist (r WITH &&));
INSERT INTO x SELECT i, int4range(i, i + 2), dense(9000, i) FROM generate_series(1, 9, 2) i;
INSERT INTO x SELECT 20, int4range(4, 5), dense(9000, 4) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO x SELECT 20, int4range(4, 5), dense(9000, 4);
SELECT * FROM sum_up('x');

-- MERGE
CREATE TABLE source AS SELECT i AS id, dense(i * 900, -i) AS v FROM generate_series(1, 30) i;
MERGE INTO t USING source s ON t.id = s.id
    WHEN MATCHED AND t.id % 5 = 0 THEN DELETE
    WHEN MATCHED AND t.id % 5 = 1 THEN DO NOTHING
    WHEN MATCHED THEN UPDATE SET b = s.v, a = t.b
    WHEN NOT MATCHED AND s.id > 25 THEN INSERT (id, a) VALUES (s.id, s.v);
SELECT * FROM sum_up('t');

-- COPY
SELECT current_setting('data_directory') || '/like_heap.copy' AS file \gset
COPY t TO :'file';
CREATE TABLE c (LIKE t);
COPY c FROM :'file';
SELECT * FROM sum_up('c');
COPY t TO :'file' (FORMAT binary);
TRUNCATE c;
COPY c FROM :'file' (FORMAT binary);
BEGIN;
CREATE TABLE frozen (LIKE t);
COPY frozen FROM :'file' (FORMAT binary, FREEZE);
COMMIT;
SELECT * FROM c EXCEPT ALL SELECT * FROM t;
SELECT * FROM t EXCEPT ALL SELECT * FROM frozen;
COPY (SELECT id, left(a, 30) FROM t WHERE id < 5 ORDER BY id) TO STDOUT;
COPY c FROM STDIN;
1	short	\N	1
wrong
\.
SELECT * FROM sum_up('c');

-- rows from here into other tables, which must not depend on this one
CREATE TABLE plain_heap (LIKE t) USING heap;
INSERT INTO plain_heap SELECT * FROM c;
CREATE TABLE copied AS TABLE c;
CREATE TEMP TABLE copied_temp AS SELECT ARRAY[a, b] AS both, a FROM c;
DELETE FROM c;
VACUUM c;
DROP TABLE c;
SELECT * FROM sum_up('plain_heap');
SELECT * FROM sum_up('copied');
SELECT * FROM sum_up('copied_temp');
INSERT INTO copied SELECT * FROM plain_heap;
DELETE FROM plain_heap;
VACUUM plain_heap;
SELECT * FROM sum_up('copied');
TRUNCATE t;
INSERT INTO t SELECT i, dense(i * 1000, i) FROM generate_series(1, 5) i;
SELECT * FROM sum_up('t');
