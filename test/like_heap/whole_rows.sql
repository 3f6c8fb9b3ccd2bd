-- Rows that leave a query whole, on every way we can think of, and end in a table
-- of heap: when the table that they come from is gone, they must be complete.

CREATE TABLE base (id int, k int, v text, b bytea) USING heap;
INSERT INTO base SELECT i, i % 3, dense(2500 + i * 10, i), noise(i % 4 * 900, i) FROM generate_series(1, 12) i;
CREATE TABLE h (LIKE base) USING heap;

-- t and s hold the same; p has partitions of either kind, and q children.  Only
-- what the statement names is made.
CREATE FUNCTION make_sources(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS h, t, s, p, q CASCADE;
    CREATE TABLE h (LIKE base) USING heap;
    IF statement ~ '\mt\M' THEN
        CREATE TABLE t (LIKE base);
        INSERT INTO t SELECT * FROM base;
        CREATE INDEX ON t (id);
        CREATE INDEX ON t (k);
    END IF;
    IF statement ~ '\ms\M' THEN
        CREATE TABLE s (LIKE base);
        INSERT INTO s SELECT * FROM base;
        CREATE INDEX ON s (id);
    END IF;
    IF statement ~ '\mp[12]?\M' THEN
        CREATE TABLE p (LIKE base) PARTITION BY RANGE (id);
        CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5);
        CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5) TO (9) USING heap;
        CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (9) TO (99);
        INSERT INTO p SELECT * FROM base;
        CREATE INDEX ON p (id);
    END IF;
    IF statement ~ '\mq\M' THEN
        CREATE TABLE q (LIKE base) USING heap;
        CREATE TABLE q1 () INHERITS (q);
        INSERT INTO q1 SELECT * FROM base;
        CREATE INDEX ON q1 (id);
    END IF;
END $$;

CREATE FUNCTION rows_of(query text) RETURNS SETOF base LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE query; END $$;
SET check_function_bodies = off;
CREATE FUNCTION sql_rows() RETURNS SETOF base LANGUAGE sql VOLATILE AS 'SELECT * FROM t WHERE k < 2';
CREATE FUNCTION inlined_rows() RETURNS SETOF base LANGUAGE sql STABLE AS 'SELECT * FROM t';
CREATE FUNCTION sql_row(n int) RETURNS base LANGUAGE sql AS 'SELECT * FROM t WHERE id >= n ORDER BY id';
RESET check_function_bodies;
CREATE FUNCTION same_row(r record) RETURNS record LANGUAGE plpgsql AS $$ BEGIN RETURN r; END $$;

-- Carry the rows to a table of heap, drop where they come from, and look.
CREATE FUNCTION carry(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; whole base; c refcursor; n bigint; digest text;
BEGIN
    PERFORM make_sources(query);
    CASE way
        WHEN 'create' THEN
            DROP TABLE h;
            EXECUTE 'CREATE TABLE h USING heap AS ' || query;
        WHEN 'refresh' THEN
            EXECUTE 'CREATE MATERIALIZED VIEW m USING heap AS ' || query || ' WITH NO DATA';
            REFRESH MATERIALIZED VIEW m;
            INSERT INTO h SELECT * FROM m;
            DROP MATERIALIZED VIEW m;
        WHEN 'insert' THEN EXECUTE 'INSERT INTO h ' || query;
        WHEN 'loop' THEN
            FOR r IN EXECUTE query LOOP
                whole := r;
                INSERT INTO h VALUES (whole.*);
            END LOOP;
        WHEN 'fetch' THEN
            OPEN c SCROLL FOR EXECUTE query;
            LOOP
                FETCH c INTO whole;
                EXIT WHEN NOT FOUND;
                INSERT INTO h SELECT whole.*;
            END LOOP;
            -- the last row, whichever that is, is one that we have
            FETCH LAST FROM c INTO whole;
            DELETE FROM h WHERE ctid = (SELECT min(ctid) FROM h WHERE h::text = whole::text);
            INSERT INTO h SELECT whole.*;
            CLOSE c;
        WHEN 'function' THEN INSERT INTO h SELECT * FROM rows_of(query);
    END CASE;
    DROP TABLE IF EXISTS t, s, p, q CASCADE;
    SELECT * INTO n, digest FROM sum_up('h');
    RETURN n || ' ' || digest;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlerrm;
END $$;

-- What rows come through, with nothing in the plan that computes columns if it can be had.
CREATE TABLE queries (n serial, query text) USING heap;
INSERT INTO queries (query) VALUES
    ('SELECT * FROM t'), ('SELECT * FROM t WHERE id > 3'), ('SELECT * FROM t WHERE id < 9 AND k = 1'),
    ('SELECT * FROM t WHERE ctid = (SELECT min(ctid) FROM t)'), ('SELECT * FROM t WHERE ctid < ''(9,0)'''),
    ('SELECT * FROM t TABLESAMPLE system (100)'), ('SELECT * FROM t TABLESAMPLE system (100) WHERE k > 0'), ('SELECT * FROM t WHERE ctid < ''(9,0)'' AND k > 0'), ('SELECT * FROM t ORDER BY id LIMIT 7 OFFSET 1'),
    ('SELECT * FROM t ORDER BY k, v'), ('SELECT * FROM t ORDER BY id DESC FETCH FIRST 3 ROWS WITH TIES'),
    ('SELECT DISTINCT ON (k) * FROM t ORDER BY k, id'), ('SELECT DISTINCT * FROM t'),
    ('SELECT * FROM (SELECT * FROM t OFFSET 0) x'), ('SELECT * FROM (SELECT * FROM t ORDER BY id OFFSET 0) x WHERE k < 2'),
    ('WITH x AS MATERIALIZED (SELECT * FROM t) SELECT * FROM x'),
    ('WITH x AS MATERIALIZED (SELECT * FROM t) SELECT * FROM x UNION ALL SELECT * FROM x WHERE k = 2'),
    ('WITH RECURSIVE x AS (SELECT * FROM t WHERE id = 1 UNION ALL SELECT t.* FROM t, x WHERE t.id = x.id + 1) SELECT * FROM x'),
    ('SELECT * FROM t UNION ALL SELECT * FROM s'), ('SELECT * FROM t UNION SELECT * FROM s WHERE k = 1'),
    ('SELECT * FROM t INTERSECT SELECT * FROM s'), ('SELECT * FROM t EXCEPT ALL SELECT * FROM s WHERE k = 1'),
    ('SELECT * FROM p'), ('SELECT * FROM p WHERE id > 4 ORDER BY id'), ('SELECT * FROM q'), ('SELECT * FROM q ORDER BY id'),
    ('SELECT * FROM p1 UNION ALL SELECT * FROM p2'), ('SELECT * FROM p WHERE id < (SELECT 11)'),
    ('SELECT t.* FROM t JOIN s USING (id)'), ('SELECT t.* FROM t WHERE id IN (SELECT id FROM s WHERE k = 1)'),
    ('SELECT s.* FROM t LEFT JOIN s ON s.id = t.id + 1'), ('SELECT t.* FROM t WHERE NOT EXISTS (SELECT FROM s WHERE s.id = t.k)'),
    ('SELECT s.* FROM t FULL JOIN s ON s.id = t.id AND s.v = t.v'), ('SELECT x.* FROM t, LATERAL (SELECT * FROM s WHERE s.id = t.k + 1 OFFSET 0) x'),
    ('SELECT (t).* FROM t'), ('SELECT (x).* FROM (SELECT t AS x FROM t OFFSET 0) y'), ('SELECT (y.x).* FROM (SELECT s AS x FROM t JOIN s USING (v)) y'),
    ('SELECT (unnest(array_agg(t ORDER BY id))).* FROM t'), ('SELECT (coalesce(x, x)).* FROM (SELECT t AS x FROM t WHERE id < 4 OFFSET 0) y'),
    ('SELECT (first_value(t) OVER (PARTITION BY k ORDER BY id)).* FROM t'),
    ('SELECT id, k, v, b FROM (SELECT *, row_number() OVER (ORDER BY v) AS n FROM t) x WHERE n > 2'),
    ('SELECT id, first_value(k) OVER w, lag(v) OVER w, last_value(b) OVER w FROM t WINDOW w AS (ORDER BY id)'),
    ('SELECT max(id) AS id, k, max(v) AS v, (array_agg(b ORDER BY id))[2] AS b FROM (SELECT * FROM t) x GROUP BY k'), ('SELECT id, k, v, b FROM t GROUP BY id, k, v, b'),
    ('SELECT k, id, v, (SELECT b FROM s WHERE s.id = t.id) FROM t'), ('SELECT id, k, (ARRAY(SELECT v FROM s ORDER BY id))[t.id], b FROM t'),
    ('SELECT (SELECT s FROM s WHERE s.id = t.id).* FROM t'), ('SELECT x.* FROM t, unnest(ARRAY(SELECT s FROM s WHERE s.id = t.id)) x'),
    ('SELECT x.* FROM t, same_row(t) AS x(id int, k int, v text, b bytea)'), ('SELECT x.* FROM t, LATERAL (VALUES (t.id, t.k, t.v, t.b)) x'),
    ('SELECT x.* FROM t, jsonb_populate_record(t, ''{"k": 5}'') x'), ('SELECT id, k, CASE WHEN t IS NOT NULL THEN v END, b FROM t'),
    ('SELECT * FROM sql_rows() /* t */'), ('SELECT (sql_rows()).* /* t */'), ('SELECT * FROM inlined_rows() WHERE k < 2 /* t */'),
    ('SELECT x.* FROM generate_series(1, 9, 4) i, sql_row(i) x /* t */'), ('SELECT (sql_row(5)).* /* t */'),
    ('SELECT id, generate_series(1, 2), v, b FROM t'), ('SELECT * FROM rows_of(''SELECT * FROM t ORDER BY k, id'')');

CREATE FUNCTION carry_all(way text, pattern text DEFAULT '') RETURNS TABLE (query text, result text) LANGUAGE sql AS $$
    SELECT query, carry(query, way) FROM (SELECT * FROM queries WHERE query ~ pattern ORDER BY n OFFSET 0) x
$$;

SELECT * FROM carry_all('create');
SELECT * FROM carry_all('insert');
SELECT * FROM carry_all('loop');
SELECT * FROM carry_all('fetch');
SELECT * FROM carry_all('function');
SELECT * FROM carry_all('refresh', '^SELECT . FROM [tpq]');

-- locked rows
INSERT INTO queries (query) SELECT query || ' FOR ' || lock FROM queries, unnest('{UPDATE,KEY SHARE OF t}'::text[]) lock
    WHERE query ~ '^SELECT (t\.)?\* FROM t ?(WHERE|JOIN|ORDER|$)' AND query !~ 'TIES|GROUP' ORDER BY n, lock;
SELECT * FROM carry_all('insert', ' FOR (UPDATE|KEY)');
SELECT * FROM carry_all('loop', ' FOR (UPDATE|KEY)');

-- other ways to read
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM carry_all('insert', '[tspq]\.?(id|k)? (WHERE|ORDER)');
RESET enable_bitmapscan;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT * FROM carry_all('insert', '[tspq]\.?(id|k)? WHERE');
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_seqscan;

-- other ways to join, sort and group
\set joins '''( JOIN |, |ORDER|GROUP|IN |EXISTS|UNION|DISTINCT|INTERSECT|EXCEPT)'''
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_hashagg = off;
SET work_mem = '64kB';
SELECT * FROM carry_all('create', :joins);
RESET enable_nestloop;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT * FROM carry_all('insert', :joins);
RESET enable_hashjoin;
RESET enable_material;
SET enable_nestloop = off;
SELECT * FROM carry_all('insert', :joins);
RESET ALL;
SET search_path = like_heap;

-- in parallel workers, and from them
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT * FROM carry_all('create');
SET parallel_leader_participation = off;
SET force_parallel_mode = on;
SELECT * FROM carry_all('function');
RESET ALL;
SET search_path = like_heap;

-- all of it compiled
SET jit = on;
SET jit_above_cost = 0;
SELECT * FROM carry_all('insert', '^SELECT . FROM t');
SET jit = off;

-- statements that change something
CREATE FUNCTION change_all(statements text[]) RETURNS TABLE (statement text, result text) LANGUAGE plpgsql AS $$
DECLARE n bigint; digest text;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        PERFORM make_sources(statement);
        CREATE UNIQUE INDEX ON h (id);
        INSERT INTO h SELECT id, k, 'old', 'old' FROM base WHERE id % 2 = 0;
        BEGIN
            EXECUTE statement;
            DROP TABLE IF EXISTS t, s, p, q CASCADE;
            SELECT * INTO n, digest FROM sum_up('h');
            result := n || ' ' || digest;
        EXCEPTION WHEN OTHERS THEN
            result := sqlerrm;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION keep_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO h SELECT old.*; RETURN new; END $$;
CREATE FUNCTION keep_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO h SELECT * FROM gone; RETURN NULL; END $$;
-- an index expression only pretends to be immutable; n has had no index before, which planning would look for
CREATE FUNCTION copy_rows() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN INSERT INTO h SELECT * FROM n; END $$;
CREATE FUNCTION update_row(i int) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN UPDATE n SET v = v || i WHERE id = 12 AND i = 1; END $$;
CREATE FUNCTION copying(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN PERFORM copy_rows(); RETURN i; END $$;
CREATE FUNCTION updating(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN PERFORM update_row(i); RETURN i; END $$;
SELECT * FROM change_all(ARRAY[
    'CREATE TABLE n (LIKE base); INSERT INTO n SELECT * FROM base; DROP INDEX h_id_idx; CREATE INDEX ON n (copying(id)); DROP TABLE n',
    'CREATE TABLE n (LIKE base); INSERT INTO n SELECT * FROM base; DROP INDEX h_id_idx; CREATE INDEX ON n (updating(id)); INSERT INTO h SELECT * FROM n; DROP TABLE n',
    'INSERT INTO h SELECT * FROM t ON CONFLICT DO NOTHING',
    'INSERT INTO h SELECT * FROM t ON CONFLICT (id) DO UPDATE SET v = excluded.v, b = excluded.b',
    'INSERT INTO h AS x SELECT * FROM t ORDER BY id ON CONFLICT (id) DO UPDATE SET (v, b) = (SELECT s.v, s.b FROM s WHERE s.id = x.id) WHERE x IS DISTINCT FROM excluded',
    'UPDATE h SET v = t.v, b = t.b FROM t WHERE t.id = h.id',
    'UPDATE h SET (k, v, b) = (SELECT k, v, b FROM t WHERE t.id = h.id)',
    'UPDATE h SET v = (x.r).v, b = (x.r).b FROM (SELECT t AS r FROM t) x WHERE (x.r).id = h.id',
    'MERGE INTO h USING t ON t.id = h.id WHEN MATCHED THEN UPDATE SET v = t.v WHEN NOT MATCHED THEN INSERT VALUES (t.id, t.k, t.v, t.b)',
    'MERGE INTO h USING (SELECT * FROM t OFFSET 0) x ON x.id = h.id WHEN MATCHED AND x.k = 1 THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (x.*)',
    'DELETE FROM h USING t WHERE t.id = h.id AND t.v > ''A'' AND t.k = 1',
    'WITH x AS (DELETE FROM t RETURNING *) INSERT INTO h SELECT * FROM x ON CONFLICT DO NOTHING',
    'WITH x AS (DELETE FROM t RETURNING t) INSERT INTO h SELECT (t).* FROM x ON CONFLICT DO NOTHING',
    'WITH x AS (UPDATE t SET k = t.k + 1 FROM s WHERE s.id = t.id RETURNING s.*) INSERT INTO h SELECT * FROM x ON CONFLICT DO NOTHING',
    'WITH x AS (UPDATE t SET v = v || ''x'' RETURNING *) INSERT INTO h SELECT * FROM x ON CONFLICT DO NOTHING',
    'WITH x AS (UPDATE t SET k = 9 FROM s WHERE s.id = t.id RETURNING t, s) INSERT INTO h SELECT (s).* FROM x WHERE (t).k = 9 ON CONFLICT DO NOTHING',
    'WITH x AS (INSERT INTO s SELECT id + 20, k, v, b FROM t RETURNING *) INSERT INTO h SELECT * FROM x',
    'WITH x AS (INSERT INTO s SELECT * FROM t RETURNING s.*) INSERT INTO h SELECT id + 20, k, v, b FROM x',
    'INSERT INTO h TABLE t ON CONFLICT DO NOTHING; UPDATE h SET k = 5',
    'UPDATE p SET id = 6 WHERE id IN (2, 11); DROP INDEX h_id_idx; INSERT INTO h SELECT * FROM p2',
    'ALTER TABLE t SET ACCESS METHOD heap; DROP INDEX h_id_idx; INSERT INTO h SELECT * FROM t',
    'DROP INDEX h_id_idx; ALTER TABLE h ADD CHECK (h IS NOT NULL); INSERT INTO h SELECT * FROM t',
    'DROP INDEX h_id_idx; CREATE TRIGGER x AFTER UPDATE ON t FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION keep_old(); UPDATE t SET k = 9 WHERE id < 9',
    'DROP INDEX h_id_idx; CREATE TRIGGER x BEFORE UPDATE ON t FOR EACH ROW WHEN (old.v IS NOT NULL) EXECUTE FUNCTION keep_old(); UPDATE t SET v = s.v || t.v FROM s WHERE s.id = t.id',
    'DROP INDEX h_id_idx; CREATE TRIGGER x AFTER UPDATE ON t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gone(); UPDATE t SET k = 9',
    'DROP INDEX h_id_idx; CREATE TRIGGER x AFTER DELETE ON t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gone(); DELETE FROM t',
    'DROP INDEX h_id_idx; CREATE TRIGGER x AFTER INSERT ON s REFERENCING NEW TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_gone(); INSERT INTO s SELECT * FROM t',
    'CREATE VIEW w AS SELECT * FROM t; CREATE RULE r AS ON DELETE TO w DO INSTEAD INSERT INTO h SELECT old.* ON CONFLICT DO NOTHING; DELETE FROM w',
    'CREATE TABLE b2 (r base) USING heap; INSERT INTO b2 SELECT ROW(t.*)::base FROM t; DROP INDEX h_id_idx; INSERT INTO h SELECT (r).* FROM b2; DROP TABLE b2',
    'CREATE TABLE b2 (r base[]) USING heap; INSERT INTO b2 SELECT array_agg(ROW(t.*)::base) FROM t; DROP INDEX h_id_idx; INSERT INTO h SELECT x.* FROM b2, unnest(r) x; DROP TABLE b2']);

-- cursors that outlive their table
SELECT make_sources('t');
BEGIN;
DECLARE whole SCROLL CURSOR WITH HOLD FOR SELECT * FROM t;
DECLARE sorted CURSOR WITH HOLD FOR SELECT * FROM t ORDER BY k, id;
DECLARE one_row CURSOR WITH HOLD FOR SELECT (x).* FROM (SELECT t AS x FROM t WHERE id = 5 OFFSET 0) y;
COMMIT;
DROP TABLE t;
FETCH ALL FROM sorted;
FETCH LAST FROM whole;
FETCH FIRST FROM whole;
FETCH ALL FROM one_row;
CLOSE ALL;

-- a cursor's row, and its system columns
SELECT make_sources('t');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t WHERE k = 1;
MOVE 2 IN c;
UPDATE t SET v = v || 'current' WHERE CURRENT OF c RETURNING id, md5(v);
DECLARE d CURSOR FOR SELECT id FROM t WHERE k = 2;
MOVE 1 IN d;
DELETE FROM t WHERE CURRENT OF d RETURNING id, md5(v);
COMMIT;
SELECT count(DISTINCT xmin), bool_and(cmin = cmax), bool_and(tableoid = 't'::regclass), bool_and(ctid IS NOT NULL) FROM t;
COPY (SELECT * FROM t ORDER BY id) TO STDOUT;
COPY (SELECT id, t FROM t WHERE id < 3) TO STDOUT;
COPY (DELETE FROM t WHERE id = 3 RETURNING *) TO STDOUT;
SELECT * FROM sum_up('t');
DROP TABLE h;
