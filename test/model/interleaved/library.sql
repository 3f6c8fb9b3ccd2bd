-- What the statements of sessions.py call; the same in both databases.
CREATE SCHEMA lib;
SET search_path = lib;

-- Text that does not compress, to cut values from.  Stored as it is, so that a
-- part of it can be read without the rest.
CREATE TABLE material (v text) USING heap;
ALTER TABLE material ALTER v SET STORAGE EXTERNAL;
INSERT INTO material
    SELECT translate(string_agg(encode(sha512(int4send(i)), 'base64'), '' ORDER BY i), E'\n=+', 'xyé')
    FROM generate_series(1, 800) i;

CREATE FUNCTION dense(n int, s int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN n <= 20000 THEN substr(v, 1 + s * 997 % 45000, n)
        ELSE left(repeat(substr(v, 1 + s * 997 % 45000, 20000), n / 20000 + 1), n) END FROM lib.material $$;

CREATE FUNCTION bytes(n int, s int) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT convert_to(dense(n, s), 'utf8') $$;

CREATE FUNCTION document(n int, s int) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('a', s, 'k', jsonb_build_object('x', 'word' || s, 'y', dense(n / 3, s)),
        'l', jsonb_build_array(s, dense(n / 3, s + 1), jsonb_build_object('y', 1)), 'z', dense(n / 3, s + 2)) $$;

-- A value in short, for notices and logs.
CREATE FUNCTION tell(v text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(length(v) || ':' || md5(v) || ':' || right(v, 6), 'null') $$;
CREATE FUNCTION tell(v jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT tell(v::text) $$;
CREATE FUNCTION tell(v bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(length(v) || ':' || md5(v), 'null') $$;

-- Wait until the gate is open: a session of its own opens and shuts it.
CREATE FUNCTION gate(v text DEFAULT NULL) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(1);
    PERFORM pg_advisory_unlock_shared(1);
    RETURN v;
END $$;

-- Dictionaries, for which the table is locked where there are none, too.
CREATE FUNCTION train(rel regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', rel);
    IF (SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = rel) = 'sliced' THEN
        PERFORM sliced.train(rel);
    END IF;
END $$;

-- Many large new values in one transaction: more than is kept in memory.
CREATE FUNCTION heavy(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1 .. 17 LOOP
        UPDATE t SET e = left(e, 3500) || repeat(chr(64 + n), 2000000) WHERE id = i;
    END LOOP;
    UPDATE t SET e = left(e, 6000) WHERE id = i;
    RETURN i;
END $$;

-- For triggers, of any table with the same columns.
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO log VALUES (TG_NAME || ' ' || OLD.id || ' ' || tell(OLD.b) || tell(OLD.j));
        RETURN OLD;
    ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO log VALUES (TG_NAME || ' ' || NEW.id || ' ' || tell(NEW.b) || tell(NEW.j));
    ELSE
        INSERT INTO log VALUES (TG_NAME || ' ' || NEW.id || ' ' || tell(OLD.b) || tell(NEW.b) || tell(right(NEW.e, 9)));
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION note_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO log SELECT TG_NAME || ' ' || n.id || tell(o.b) || tell(n.b) || tell(n.j -> 'a')
        FROM olds o JOIN news n USING (id);
    RETURN NULL;
END $$;
CREATE FUNCTION change_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.k % 4 = 1 THEN
        NEW.b := NEW.b || 'TRIG';
    ELSIF NEW.k % 4 = 2 THEN
        NEW.b := OLD.b;
    END IF;
    RETURN NEW;
END $$;
