-- Reports over orders and their lines, with memory for none of their steps: what comes out is what core says.
LOAD 'sliced_spill';
CREATE SCHEMA spill_reports;
SET search_path = spill_reports, public;
SET max_parallel_workers_per_gather = 0;
SET hash_mem_multiplier = 1;

CREATE TABLE nations AS SELECT i AS nation, 'nation ' || i AS name, i % 5 AS region FROM generate_series(0, 24) i;
CREATE TABLE suppliers AS SELECT i AS supplier, 'supplier ' || i AS name, i % 25 AS nation, (i * 37 % 1000)::numeric(10, 2) AS balance FROM generate_series(1, 200) i;
CREATE TABLE customers AS SELECT i AS customer, 'customer ' || i AS name, i % 25 AS nation, (ARRAY['building', 'cars', 'machines', 'household', 'furniture'])[i % 5 + 1] AS segment,
    lpad((i % 40)::text, 2, '0') || '-' || md5(i::text) AS phone, (i * 91 % 11000 - 1000)::numeric(10, 2) AS balance FROM generate_series(1, 2200) i;
CREATE TABLE parts AS SELECT i AS part, (ARRAY['green', 'blue', 'red', 'old'])[i % 4 + 1] || ' part ' || i AS name, 'brand ' || i % 25 AS brand, i % 50 AS size, 'type ' || i % 150 AS type
    FROM generate_series(1, 4000) i;
CREATE TABLE supplies AS SELECT p AS part, (p * 7 + s * 50) % 200 + 1 AS supplier, (p * s % 9999) AS available, ((p * 13 + s * 17) % 1000)::numeric(10, 2) AS cost
    FROM generate_series(1, 4000) p, generate_series(0, 3) s;
CREATE TABLE orders AS SELECT i AS id, (i * 7919::int8 % 2000)::int + 1 AS customer, date '1995-01-01' + i % 1500 AS ordered, (i % 5 + 1) || '-priority' AS priority, (i % 4000)::numeric(12, 2) * 10 AS total,
    repeat(md5(i::text), 2) AS remark FROM generate_series(1, 6000) i;
CREATE TABLE lines AS SELECT o AS id, n, (o * 31::int8 + n * 97) % 4000 + 1 AS part, ((o * 31::int8 + n * 97) % 4000 + 1) * 7 % 200 + 1 AS supplier, (o + n) % 50 + 1 AS quantity, ((o * n) % 10000)::numeric(12, 2) AS price,
    (o % 11)::numeric / 100 AS discount, (n % 9)::numeric / 100 AS tax, (ARRAY['A', 'N', 'R'])[(o + n) % 3 + 1] AS returned, date '1995-01-03' + o % 1500 + n AS shipped, date '1995-01-06' + o % 1500 + (o * n) % 7 AS promised,
    date '1995-01-05' + o % 1500 + n * 3 AS received, (ARRAY['air', 'ship', 'rail', 'truck', 'mail'])[(o * n) % 5 + 1] AS mode FROM generate_series(1, 6000) o, generate_series(1, 4) n WHERE (o + n) % 7 > 0;
ANALYZE;

CREATE TABLE reports (n int, query text);
INSERT INTO reports VALUES
(1, 'SELECT returned, mode, sum(quantity), sum(price), sum(price * (1 - discount)), sum(price * (1 - discount) * (1 + tax)), avg(quantity)::numeric(20, 4), count(*) FROM lines WHERE shipped <= ''1998-12-01'' GROUP BY 1, 2 ORDER BY 1, 2'),
(2, 'SELECT s.balance, s.name, n.name AS nation, p.part FROM parts p JOIN supplies u USING (part) JOIN suppliers s USING (supplier) JOIN nations n USING (nation) WHERE p.size < 3 AND u.cost = (SELECT min(cost) FROM supplies v JOIN suppliers t USING (supplier) JOIN nations m USING (nation) WHERE v.part = p.part AND m.region = 3) ORDER BY 1 DESC, 3, 2, 4'),
(3, 'SELECT l.id, sum(price * (1 - discount)) AS revenue, ordered FROM customers c JOIN orders o USING (customer) JOIN lines l USING (id) WHERE segment = ''building'' AND ordered < ''1997-03-15'' GROUP BY l.id, ordered ORDER BY 2 DESC, 3, 1'),
(4, 'SELECT priority, count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM lines l WHERE l.id = o.id AND promised < received) GROUP BY 1 ORDER BY 1'),
(5, 'SELECT n.name, sum(price * (1 - discount)) FROM customers c JOIN orders o USING (customer) JOIN lines l USING (id) JOIN suppliers s USING (supplier) JOIN nations n ON n.nation = s.nation AND c.nation = n.nation GROUP BY 1 ORDER BY 2 DESC'),
(7, 'SELECT a.name, b.name AS other, extract(year FROM shipped) AS y, sum(price * (1 - discount)) FROM suppliers s JOIN lines l USING (supplier) JOIN orders o USING (id) JOIN customers c USING (customer) JOIN nations a ON a.nation = s.nation JOIN nations b ON b.nation = c.nation WHERE a.nation <> b.nation GROUP BY 1, 2, 3 ORDER BY 1, 2, 3'),
(9, 'SELECT n.name, extract(year FROM ordered) AS y, sum(price * (1 - discount) - cost * quantity) FROM parts p JOIN lines l USING (part) JOIN suppliers s USING (supplier) LEFT JOIN supplies u ON u.part = l.part AND u.supplier = l.supplier JOIN orders o USING (id) JOIN nations n USING (nation) WHERE p.name LIKE ''%green%'' GROUP BY 1, 2 ORDER BY 1, 2 DESC'),
(10, 'SELECT customer, c.name, sum(price * (1 - discount)) AS r, c.balance, n.name AS nation, phone FROM customers c JOIN orders o USING (customer) JOIN lines l USING (id) JOIN nations n USING (nation) WHERE returned = ''R'' GROUP BY 1, 2, 4, 5, 6 ORDER BY 3 DESC, 1'),
(11, 'SELECT part, sum(cost * available) AS v FROM supplies JOIN suppliers USING (supplier) GROUP BY 1 HAVING sum(cost * available) > (SELECT sum(cost * available) * 0.0001 FROM supplies) ORDER BY 2 DESC, 1'),
(12, 'SELECT mode, count(*) FILTER (WHERE priority < ''3''), count(*) FILTER (WHERE priority >= ''3'') FROM orders JOIN lines USING (id) WHERE promised < received GROUP BY 1 ORDER BY 1'),
(13, 'SELECT c, count(*) FROM (SELECT customer, count(o.id) AS c FROM customers LEFT JOIN orders o USING (customer) GROUP BY 1) q GROUP BY 1 ORDER BY 2 DESC, 1 DESC'),
(15, 'WITH revenue AS (SELECT supplier, sum(price * (1 - discount)) AS total FROM lines GROUP BY 1) SELECT supplier, name, total FROM suppliers JOIN revenue USING (supplier) WHERE total >= (SELECT max(total) / 2 FROM revenue) ORDER BY 1'),
(16, 'SELECT brand, type, size, count(DISTINCT supplier) FROM supplies JOIN parts USING (part) WHERE supplier NOT IN (SELECT supplier FROM suppliers WHERE balance < 100) GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3'),
(17, 'SELECT sum(price) / 7 FROM lines l JOIN parts p USING (part) WHERE quantity < (SELECT avg(quantity) FROM lines m WHERE m.part = p.part) AND p.part < 30'),
(18, 'SELECT c.name, customer, id, ordered, total, sum(quantity) FROM customers c JOIN orders USING (customer) JOIN lines USING (id) WHERE id IN (SELECT id FROM lines GROUP BY 1 HAVING sum(quantity) > 150) GROUP BY 1, 2, 3, 4, 5 ORDER BY 5 DESC, 4, 3'),
(20, 'SELECT name FROM suppliers WHERE supplier IN (SELECT supplier FROM supplies u WHERE part IN (SELECT part FROM parts WHERE name LIKE ''red%'' AND part < 500) AND available > (SELECT coalesce(sum(quantity) / 2, 0) FROM lines l WHERE l.part = u.part AND l.supplier = u.supplier AND u.part < 50)) ORDER BY 1'),
(21, 'SELECT s.name, count(*) FROM suppliers s JOIN lines l USING (supplier) JOIN orders o USING (id) WHERE l.received > l.promised AND EXISTS (SELECT 1 FROM lines m WHERE m.id = l.id AND m.supplier <> l.supplier) AND NOT EXISTS (SELECT 1 FROM lines m WHERE m.id = l.id AND m.supplier <> l.supplier AND m.received > m.promised + 6) GROUP BY 1 ORDER BY 2 DESC, 1'),
(22, 'SELECT left(phone, 2), count(*), sum(balance) FROM customers c WHERE balance > (SELECT avg(balance) FROM customers WHERE balance > 0) AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.customer) GROUP BY 1 ORDER BY 1'),
(23, 'SELECT o.id, remark, l.n, row_number() OVER (PARTITION BY o.customer ORDER BY ordered, o.id, l.id, n) AS r, sum(price) OVER (PARTITION BY mode ORDER BY o.id, l.id, n) FROM orders o FULL JOIN lines l ON l.id = o.id AND l.n > 1 ORDER BY remark, l.id, n');

-- each with memory for nothing, and for some of it
CREATE FUNCTION answer(query text, setting text, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('sliced.temp_file_compression', setting, true);
    PERFORM set_config('work_mem', memory, true);
    EXECUTE format('SELECT count(*) || md5(string_agg(r, chr(10) ORDER BY n)) FROM (SELECT q::text AS r, row_number() OVER () AS n FROM (%s) q) p', query) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION spills(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    SET LOCAL sliced.temp_file_compression = lz4;
    SET LOCAL work_mem = '64kB';
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off, COSTS off) ' || query LOOP
        IF line ~ 'Spilled Rows: [1-9]' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
SELECT n, answer(query, 'off', '64kB') = answer(query, 'auto', '64kB') AS same, answer(query, 'off', '1MB') = answer(query, 'zstd', '1MB') AS same_with_more, spills(query) FROM reports ORDER BY n;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
SELECT n, answer(query, 'off', '64kB') = answer(query, 'lz4', '64kB') AS same, spills(query) FROM reports WHERE n NOT IN (2, 17, 20) ORDER BY n;
RESET enable_sort;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SET enable_mergejoin = on;
SELECT n, answer(query, 'off', '64kB') = answer(query, 'lz4', '64kB') AS same, spills(query) FROM reports WHERE n NOT IN (2, 17, 20) ORDER BY n;

SET client_min_messages = warning;
DROP SCHEMA spill_reports CASCADE;
