-- A table "v" of values of every size, with access method "am"; "start" has the
-- same for starting anew, and "pool" strings to add.  All of it is in
-- schema "on_am".

SELECT 'on_' || :'am' AS schema \gset
CREATE SCHEMA :schema;
SET search_path = :schema;
SET client_min_messages = warning;

-- n characters of 'letters', which is set to what the database can store
CREATE FUNCTION say(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(substr(current_setting('test.letters'), (i * 7 + seed) % 40 + 1, 2 + (i + seed) % 13) ||
                           i % 100, '' ORDER BY i), n) FROM generate_series(1, n / 5 + 1) i $$;
CREATE FUNCTION noise(n int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(string_agg(sha512(int4send(n + i)), ''), 1, n) FROM generate_series(1, n / 64 + 1) i $$;
CREATE DOMAIN filed AS text CHECK (length(VALUE) < 310000 AND right(VALUE, 1) IS DISTINCT FROM ';');

CREATE TABLE start (id int, name text, t text, tx text, tp text COMPRESSION pglz COLLATE "POSIX", tc text COLLATE "C", vc varchar(300100), dom filed,
    b bytea, bx bytea) USING heap;
ALTER TABLE start ALTER tx SET STORAGE EXTERNAL, ALTER bx SET STORAGE EXTERNAL;
CREATE TABLE v (LIKE start INCLUDING ALL) USING :am;
CREATE TABLE pool AS SELECT n, say(len, 77) AS s FROM (VALUES (0, 30), (1, 700), (2, 5000), (3, 40000)) p(n, len);

-- ASCII in some columns: it is counted in other ways
INSERT INTO v SELECT id, name, say(n, 1), say(n, 2), say(n, 3), left(repeat('ascii ' || id || ', ', n / 9 + 9), n), say(n, 4), say(n, 5) || 'x', noise(n), noise(n + 1)
    FROM (VALUES (3, 'short', 90), (4, 'small', 3000), (5, 'medium', 30000), (6, 'large', 300000),
                 (7, 'grown', 5000), (8, 'changed', 130000)) r(id, name, n);
UPDATE v SET t = repeat('ascii, ', 30000 / 7) WHERE name = 'medium';
INSERT INTO v VALUES (1, 'none');
INSERT INTO v VALUES (2, 'empty', '', '', '', '', '', '', '', '');

-- many additions and changes, most in transactions of their own
CREATE PROCEDURE change() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 240 LOOP
        UPDATE v SET t = t || say(i % 30, i), tx = tx || say(i % 200, i), tp = concat(tp, i, say(i % 90, i)), tc = tc || i,
            vc = vc || say(i % 50, i), dom = dom || say(i % 9, i) || 'x', b = b || noise(i % 40), bx = bx || noise(i % 400) WHERE name = 'grown';
        IF i % 6 <> 0 THEN COMMIT; END IF;
        CONTINUE WHEN i > 60;
        UPDATE v SET t = overlay(t PLACING say(i * 9, i) FROM i * 1990), tx = overlay(tx PLACING say(3, i) FROM i * 2000 FOR i % 5),
            tp = left(tp, i * 1777) || say(i, i) || substr(tp, i * 1777 + i), tc = overlay(tc PLACING 'changed' FROM i * 2048),
            vc = overlay(vc PLACING say(2, i) FROM i * 2100), dom = overlay(dom PLACING say(300, i) FROM i * 100 FOR i),
            b = set_byte(b, i * 2100, i), bx = overlay(bx PLACING noise(i * 20) FROM i * 1900) WHERE name = 'changed';
        IF i % 7 <> 0 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL change();
INSERT INTO start SELECT * FROM v;
