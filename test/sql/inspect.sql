-- inspect() of values that the statement's snapshot does not see, or not like this
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
RESET client_min_messages;

CREATE TABLE seen (id int, v text) USING sliced;
ALTER TABLE seen ALTER v SET STORAGE external;
-- bytes of slices of v that are not in v, if it is all slices; number of objects: a root is in one of its own
\set parts '(SELECT (sum(raw_bytes) - octet_length(v), count(DISTINCT object)) FROM sliced.inspect(v))'

INSERT INTO seen VALUES (1, repeat('a', 300000)), (2, repeat('b', 30000));
UPDATE seen SET v = v || 'tail' RETURNING :parts;
UPDATE seen SET v = v || 'more' RETURNING :parts;
UPDATE seen SET v = overlay(v placing 'middle' from 20000) WHERE id = 1 RETURNING (SELECT count(DISTINCT object) FROM sliced.inspect(v));
UPDATE seen SET v = 'x' || v WHERE id = 1 RETURNING (SELECT count(DISTINCT object) FROM sliced.inspect(v));
UPDATE seen SET v = seen.v || 'grown' FROM (SELECT id, v FROM seen) old WHERE old.id = seen.id AND old.id = 2
    RETURNING (SELECT sum(raw_bytes) FROM sliced.inspect(old.v)) AS old, (SELECT sum(raw_bytes) FROM sliced.inspect(seen.v)) AS new;
DELETE FROM seen WHERE id = 1 RETURNING (SELECT count(DISTINCT object) FROM sliced.inspect(v));
SELECT :parts FROM seen;

-- before it is stored
CREATE FUNCTION pg_temp.look() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    piece record;
BEGIN
    SELECT * INTO piece FROM sliced.inspect(NEW.v);
    RAISE NOTICE '% bytes, %, in slices: %', piece.raw_bytes = octet_length(NEW.v), piece.codec, piece.object IS NOT NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER look BEFORE UPDATE ON seen FOR EACH ROW EXECUTE FUNCTION pg_temp.look();
UPDATE seen SET v = v || 'last';
DROP TRIGGER look ON seen;
UPDATE seen SET v = n.v FROM (SELECT id, v || 'below' AS v FROM seen OFFSET 0) n,
    LATERAL (SELECT sum(raw_bytes) AS bytes, count(object) AS objects FROM sliced.inspect(n.v)) i WHERE n.id = seen.id RETURNING i.bytes - octet_length(seen.v) AS bytes, i.objects;
-- of other types
SELECT raw_bytes, stored_bytes, codec FROM sliced.inspect('four'::cstring);
SELECT raw_bytes, stored_bytes, codec FROM sliced.inspect(4::int8);

-- in a block that may be rolled back, or was, RETURNING has promises
CREATE FUNCTION pg_temp.try(fail bool, OUT inside text, OUT after text) LANGUAGE plpgsql AS $$
DECLARE value text;
BEGIN
    BEGIN
        UPDATE seen SET v = v || 'try' RETURNING v INTO value;
        SELECT sum(raw_bytes) - octet_length(value) INTO inside FROM sliced.inspect(value);
        IF fail THEN PERFORM 1 / 0; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    SELECT sum(raw_bytes) - octet_length(value) INTO after FROM sliced.inspect(value);
END $$;
SELECT * FROM pg_temp.try(false);
SELECT * FROM pg_temp.try(true);

-- of a variable, after the value in the table has grown, been replaced, and rewritten
CREATE FUNCTION pg_temp.keep(change text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE value text; result bool;
BEGIN
    SELECT v INTO value FROM seen;
    EXECUTE change;
    SELECT sum(raw_bytes) >= octet_length(value) INTO result FROM sliced.inspect(value);
    RETURN result;
END $$;
SELECT pg_temp.keep($$ UPDATE seen SET v = v || repeat('+', 20000) $$);
SELECT pg_temp.keep($$ UPDATE seen SET v = repeat('other', 10000) $$);
CREATE INDEX seen_id ON seen (id);
SELECT pg_temp.keep($$ CLUSTER seen USING seen_id $$);
SELECT pg_temp.keep($$ DELETE FROM seen; CLUSTER seen $$);
SELECT * FROM sliced.verify('seen');

-- verify() in the middle of a statement that writes, and calls what writes too
CREATE TABLE other (id int);
CREATE FUNCTION busy(i int) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO other VALUES (i); RETURN repeat(i::text, 9000); END $$;
INSERT INTO seen SELECT i, repeat('v', 10000) FROM generate_series(1, 3) i;
UPDATE seen SET v = v || busy(id) RETURNING id, (SELECT count(*) FROM sliced.verify('seen') WHERE id > 0) AS problems;
UPDATE seen SET v = busy(id) RETURNING id, (SELECT count(*) FROM sliced.verify('seen') WHERE id > 0) AS problems;
DELETE FROM seen WHERE busy(id) IS NOT NULL RETURNING id, (SELECT count(*) FROM sliced.verify('seen') WHERE id > 0) AS problems;
-- a toast relation is no table of its own
DO $$ BEGIN PERFORM sliced.verify(reltoastrelid) FROM pg_class WHERE oid = 'seen'::regclass; EXCEPTION WHEN wrong_object_type THEN RAISE NOTICE '%', regexp_replace(sqlerrm, '\d+', 'N'); END $$;
-- no table is no table without damage
SELECT * FROM sliced.verify(to_regclass('not_there'));
-- how much was looked at, of a table and of partitions
CREATE TABLE whole (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE first_half PARTITION OF whole FOR VALUES FROM (0) TO (10) USING sliced;
CREATE TABLE second_half PARTITION OF whole FOR VALUES FROM (10) TO (20);
ALTER TABLE first_half ALTER v SET STORAGE EXTERNAL;
INSERT INTO whole SELECT i, CASE WHEN i % 2 = 0 THEN repeat('v', 10000) ELSE 'short' END FROM generate_series(0, 19) i;
SELECT * FROM sliced.verify('first_half', details => true);
SELECT * FROM sliced.verify('whole', true);
SELECT * FROM sliced.verify('second_half', true);
SELECT * FROM sliced.verify('whole', NULL);
SELECT rel, pages > 0 AS pages FROM sliced.toast_space('whole');
SELECT rel FROM sliced.stat_columns WHERE rel = 'first_half' AND col = 'v';
DROP TABLE seen, other, whole;
DROP FUNCTION busy;
