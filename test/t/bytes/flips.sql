-- What is tried with a value after a byte has been changed.  "%s" is its table.
CREATE TABLE probes (probe int GENERATED ALWAYS AS IDENTITY, type regtype, change text, look text,
    must_succeed bool DEFAULT false,    -- whatever is damaged
    trusts bool DEFAULT false);         -- core's functions that believe every byte of their type's inside

-- reading
INSERT INTO probes (type, look, trusts) VALUES
    ('bytea', 'SELECT md5(v) FROM %s', false),
    ('bytea', 'SELECT md5(substr(v, length(v) / 2, 100)) FROM %s', false),
    ('bytea', 'SELECT substr(v, 4000, 30) FROM %s', false),
    ('bytea', 'SELECT get_byte(v, length(v) - 1) FROM %s', false),
    ('text', 'SELECT md5(v) FROM %s', false),
    ('text', 'SELECT length(v) FROM %s', false),
    ('text', 'SELECT substr(v, 1000, 100) FROM %s', false),
    ('text', 'SELECT right(v, 30) FROM %s', false),
    ('text', $$SELECT strpos(v, 'no such word') FROM %s$$, false),
    ('jsonb', 'SELECT md5(v::text) FROM %s', true),
    ('jsonb', $$SELECT v->>'name' FROM %s$$, false),
    ('jsonb', $$SELECT v->'deep'->'a'->'b'->'c'->2->>'d' FROM %s$$, false),
    ('jsonb', $$SELECT v->>'price' FROM %s$$, false),
    ('jsonb', $$SELECT v->'list'->100->>'s' FROM %s$$, false),
    ('jsonb', $$SELECT md5(v->>'long') FROM %s$$, false),
    ('jsonb', $$SELECT v ? 'flag' FROM %s$$, false),
    ('jsonb', $$SELECT jsonb_array_length(v->'list') FROM %s$$, false),
    ('jsonb', $$SELECT string_agg(k, '|') FROM %s, jsonb_object_keys(v) k$$, false),
    ('jsonb', $$SELECT v @> '{"deep": {"a": {"b": {"c": [2]}}}}' FROM %s$$, true),
    ('jsonb', $$SELECT jsonb_path_query_first(v, '$.list[50].s') FROM %s$$, true),
    ('int[]', 'SELECT md5(v::text) FROM %s', true),
    ('int[]', 'SELECT v[2000] FROM %s', false),
    ('int[]', 'SELECT v[1400:1420] FROM %s', false),
    ('int[]', 'SELECT array_length(v, 1) FROM %s', false),
    ('text[]', 'SELECT md5(v::text) FROM %s', true),
    ('text[]', 'SELECT v[800] FROM %s', false),
    ('text[]', 'SELECT v[100:110] FROM %s', false),
    ('text[]', 'SELECT cardinality(v) FROM %s', false);
INSERT INTO probes (type, look, trusts) SELECT to_regtype('hstore'), look, trusts FROM (VALUES
    ('SELECT md5(v::text) FROM %s', true),
    ($$SELECT v -> 'k50' FROM %s$$, false),
    ($$SELECT md5(v -> 'k60') FROM %s$$, false),
    ($$SELECT v ? 'none' FROM %s$$, false),
    ($$SELECT v -> ARRAY['k3', 'k120', 'k9'] FROM %s$$, false),
    ($$SELECT v @> 'k50=>x' FROM %s$$, false)) h(look, trusts) WHERE to_regtype('hstore') IS NOT NULL;

-- changing
INSERT INTO probes (type, change, look) SELECT type, 'UPDATE %s SET v = ' || new, '' FROM (VALUES
    ('bytea'::regtype, $$overlay(v PLACING 'other bytes' FROM 5000)$$),
    ('bytea', $$v || 'one more'::bytea$$),
    ('bytea', $$substr(v, 4001)$$),
    ('text', $$overlay(v PLACING 'ö' FROM 3000)$$),
    ('text', $$v || 'ein Wort'$$),
    ('text', $$left(v, 4500)$$),
    ('jsonb', $$jsonb_set(v, '{deep,a,b}', '1')$$),
    ('jsonb', $$v || '{"new": 1}'$$),
    ('jsonb', $$v - 'long'$$),
    ('jsonb', $$jsonb_set(v, '{list,3,s}', '"z"')$$),
    ('int[]', $$v[1:9] || 5 || v[11:]$$),
    ('int[]', $$v || 5$$),
    ('text[]', $$array_append(v, 'one more')$$),
    ('text[]', $$array_prepend('one more', v)$$),
    ('text[]', $$v[1:9] || repeat('x', 300) || v[11:]$$),
    (to_regtype('hstore'), $$v || 'k33=>other'$$),
    (to_regtype('hstore'), $$v - 'k60'::text$$)) c(type, new) WHERE type IS NOT NULL;
-- an edit, and so many that they go down to a node
INSERT INTO probes (type, change, look) SELECT type, 'UPDATE %s SET v = ' || new, '' FROM (VALUES
    ('bytea'::regtype, $$set_byte(v, 5100, 0)$$),
    ('bytea', $$overlay(overlay(overlay(v PLACING repeat('x', 100)::bytea FROM 700) PLACING repeat('y', 100)::bytea FROM 2300)
        PLACING repeat('z', 100)::bytea FROM 6100)$$)) c(type, new);
INSERT INTO probes (type, change, look) VALUES
    ('int[]', 'UPDATE %s SET v[1100] = 8', ''),
    ('int[]', $$UPDATE %s SET v[301:330] = array_fill(4, ARRAY[30]), v[1301:1330] = array_fill(5, ARRAY[30]), v[2001:2030] = array_fill(6, ARRAY[30])$$, '');
UPDATE probes SET trusts = true WHERE change ~ 'v\[11:\]' OR type IN ('jsonb'::regtype, to_regtype('hstore')) AND change IS NOT NULL;

-- what an application sends replaces whatever is there; so does its deletion
INSERT INTO probes (type, change, look, must_succeed) SELECT type, 'UPDATE %s SET v = ' || new, '', true FROM (VALUES
    ('bytea'::regtype, $$overlay((SELECT v FROM sound.%s) PLACING 'x' FROM 3)$$),
    ('text', $$overlay((SELECT v FROM sound.%s) PLACING 'x' FROM 2900)$$),
    ('jsonb', $$jsonb_set((SELECT v FROM sound.%s), '{list,70,s}', '"z"')$$),
    ('int[]', $$(SELECT v || 3 FROM sound.%s)$$),
    ('text[]', $$(SELECT array_prepend('x', v) FROM sound.%s)$$),
    (to_regtype('hstore'), $$(SELECT v || 'k33=>z' FROM sound.%s)$$)) c(type, new) WHERE type IS NOT NULL;
INSERT INTO probes (type, change, look, must_succeed)
SELECT type, change, look, true FROM (SELECT DISTINCT type FROM forms) t, (VALUES
    ('UPDATE %s SET v = NULL', 'SELECT count(v) FROM %s'),
    ('DELETE FROM %s', 'SELECT count(*) FROM %s')) c(change, look);

-- the table as a whole; 'all' stands for a comparison of the whole value
INSERT INTO probes (type, change, look) SELECT type, change, look FROM (SELECT DISTINCT type FROM forms) t, (VALUES
    (NULL, ''),
    ('CLUSTER %s USING %s_pkey', ''),
    ('SELECT count(*) FROM %s, sliced.inspect(v)', 'SELECT 1'),
    (NULL, $$SELECT count(*) > 0 FROM sliced.verify('%s')$$)) c(change, look);

-- The table's value without looking inside: a copy has the same bytes.
UPDATE probes SET look = $$WITH copy AS (INSERT INTO copies.%s SELECT 1, v FROM %s RETURNING *)
    SELECT md5(string_agg(record_send(copy), '')) FROM copy$$ WHERE look = '';
UPDATE probes SET look = replace(look, 'record_send(copy)', CASE type WHEN 'bytea'::regtype THEN 'v' WHEN 'text'::regtype THEN $$convert_to(v, 'UTF8')$$
    WHEN 'jsonb'::regtype THEN 'jsonb_send(v)' WHEN to_regtype('hstore') THEN 'hstore_send(v)' ELSE 'array_send(v)' END);

CREATE SCHEMA sound;
CREATE SCHEMA copies;
CREATE TABLE queries AS SELECT id AS form, probe, replace(change, '%s', 'form_' || id) AS change, replace(look, '%s', 'form_' || id) AS look,
    -- bytes that are forged are only copied, as core reads whole documents and arrays without doubt
    regexp_replace(replace(look, '%s', 'form_' || id), 'md5\(string_agg\((jsonb|array|hstore)_send\(v\), ''''\)\)', 'count(v)') AS forged_look,
    must_succeed, trusts, change ~ '^CLUSTER' OR look ~ 'verify' AS slow, look ~ 'verify' AS verify, NULL::text AS answer
FROM forms JOIN probes USING (type);
CREATE INDEX ON queries (form);

-- Do something, look at what came of it, and take it back: what the look has shown, or the error.
CREATE FUNCTION attempt(change text, look text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    IF change IS NOT NULL THEN
        EXECUTE change;
    END IF;
    EXECUTE look INTO found;
    RAISE EXCEPTION USING ERRCODE = 'ZZ001', MESSAGE = coalesce(found, 'NULL');
EXCEPTION WHEN OTHERS THEN
    RETURN CASE SQLSTATE WHEN 'ZZ001' THEN '' ELSE SQLSTATE || ' ' END || SQLERRM;
END $$;

DO $$
DECLARE
    f forms;
BEGIN
    FOR f IN SELECT * FROM forms LOOP
        EXECUTE format('CREATE TABLE sound.form_%s AS SELECT * FROM form_%1$s', f.id);
        EXECUTE format('CREATE TABLE copies.form_%s AS SELECT * FROM form_%1$s LIMIT 0', f.id);
    END LOOP;
    UPDATE queries SET answer = attempt(change, look);
END $$;
CREATE TABLE counts (mode text, flips bigint, statements bigint, errors bigint);
CREATE TABLE wrong (form int, mode text, flip text, query text, got text, answer text);

-- Try all of a form's queries; 'mode' is what was changed: "damaged", "forged" or "pointer".
CREATE PROCEDURE try(which int, mode text, slowly bool, flip text) LANGUAGE plpgsql AS $$
DECLARE
    q queries;
    got text;
    fine bool;
    broken bool := false;
    statements int := 0;
    errors int := 0;
BEGIN
    -- if this is the last thing that the server says ...
    RAISE LOG 'form % %: %', which, mode, flip;
    FOR q IN SELECT * FROM queries WHERE form = which AND (slowly OR NOT slow) AND NOT (trusts AND mode <> 'damaged') ORDER BY probe LOOP
        got := attempt(q.change, CASE mode WHEN 'damaged' THEN q.look ELSE q.forged_look END);
        statements := statements + 1;
        errors := errors + (got ~ '^[0-9A-Z]{5} ')::int;
        IF q.verify AND mode = 'damaged' THEN
            -- what could not be read must be known to verify
            fine := CASE WHEN broken THEN got = 'true' ELSE got IN ('true', 'false') END;
        ELSIF mode = 'damaged' THEN
            fine := got = q.answer OR (got ~ '^XX001 (value \d+ of table|(missing|unexpected) chunk .* for toast value \d+)' AND NOT q.must_succeed);
        ELSE
            -- a pointer leads anywhere, as it does in heap; what is inside of a type is for core to complain about
            fine := got !~ CASE mode WHEN 'pointer' THEN '^(57|58)[0-9A-Z]{3} ' ELSE '^((53|57|58)[0-9A-Z]{3}|XX000(?! (unknown|invalid) (type of )?jsonb)) ' END;
        END IF;
        broken := broken OR (got ~ '^XX001' AND NOT q.must_succeed AND q.change IS NULL);
        IF NOT coalesce(fine, false) THEN
            INSERT INTO wrong VALUES (which, mode, flip, coalesce(q.change || '; ', '') || q.look, left(got, 150), left(q.answer, 100));
        END IF;
    END LOOP;
    INSERT INTO counts VALUES (mode, 1, statements, errors);
END $$;

-- A byte with some bits changed.
CREATE FUNCTION flipped(bytes bytea, at int, n int) RETURNS bytea LANGUAGE sql AS $$
    SELECT set_byte(bytes, at, CASE n % 4 WHEN 0 THEN old # 1 << n / 4 % 8 WHEN 1 THEN CASE old WHEN 0 THEN 255 ELSE 0 END
        WHEN 2 THEN CASE old WHEN 255 THEN 1 ELSE 255 END ELSE old # 128 END) FROM get_byte(bytes, at) old $$;

-- The numbers of a row, of four bytes each, and what they should not be.
CREATE FUNCTION renumbered(bytes bytea, at int, n int) RETURNS bytea LANGUAGE sql AS $$
    SELECT overlay(bytes PLACING (ARRAY['\x00000000', '\xffffffff', '\xffffff7f', '\x01000000', '\x00001000', '\xfeffffff']::bytea[])[1 + n % 6] FROM at + 1) $$;

-- One in 'thin' bytes of what is in front of compressed bytes, one in 'step' of those; 'slowly' is for one in 'slow'.  Roots and
-- other nodes are all in front.
CREATE PROCEDURE flip_chunks(which int, mode text, thin int, step int, slow int) LANGUAGE plpgsql AS $$
DECLARE
    c chunks;
    good bytea;
    start int;      -- where chunk_data begins
    headers int;    -- where what is compressed begins
    bad bytea;
    n int := which;
BEGIN
    -- one form's nodes are few enough for all of their bytes
    IF (SELECT name FROM forms WHERE id = which) = 'tree zstd, a node' THEN
        thin := 1;
    END IF;
    FOR c IN SELECT * FROM chunks WHERE form = which LOOP
        good := row_bytes(toast_of(which), c.place);
        start := length(good) - length(c.chunk_data);
        headers := start + CASE get_byte(c.chunk_data, 4) & 15 WHEN 1 THEN 32 + get_byte(c.chunk_data, 22) + 256 * get_byte(c.chunk_data, 23)
            WHEN 4 THEN 8 WHEN 5 THEN length(c.chunk_data) ELSE 20 END;
        -- from chunk_id on where damage is meant, or else what the checksum is over
        FOR at IN get_byte(good, 22) .. length(good) - 1 LOOP
            CONTINUE WHEN mode = 'forged' AND at < start + 4;
            CONTINUE WHEN (at + 7 * which) % CASE WHEN at < headers + 64 OR at >= length(good) - 6 THEN thin ELSE step END <> 0;
            n := n + 1;
            -- numbers of four bytes get others, too
            FOR twice IN 0 .. (at < least(headers, length(good) - 3) AND (at - start) % 4 = 0)::int LOOP
                IF mode = 'forged' THEN
                    bad := CASE twice WHEN 0 THEN flipped(c.chunk_data, at - start, n) ELSE renumbered(c.chunk_data, at - start, n) END;
                    bad := overlay(good PLACING forge(bad, c.chunk_id, c.chunk_seq) FROM start + 1);
                ELSE
                    bad := CASE twice WHEN 0 THEN flipped(good, at, n) ELSE renumbered(good, at, n) END;
                END IF;
                PERFORM row_poke(toast_of(which), c.place, 0, bad);
                CALL try(which, mode, n % slow = 0, format('id %s seq %s byte %s n %s', c.chunk_id, c.chunk_seq, at - start, n));
                PERFORM row_poke(toast_of(which), c.place, 0, good);
            END LOOP;
        END LOOP;
    END LOOP;
END $$;

-- Every byte of the pointer but the two that say that it is one, and the bits that say whose it is.
CREATE PROCEDURE flip_pointer(which int, times int) LANGUAGE plpgsql AS $$
DECLARE
    rel regclass := 'form_' || which;
    place tid;
    good bytea;
    n int := which;
BEGIN
    EXECUTE format('SELECT ctid FROM %s', rel) INTO place;
    good := row_bytes(rel, place);
    FOR at IN length(good) - 16 .. length(good) - 1 LOOP
        FOR time IN 1 .. times LOOP
            n := n + 1;
            PERFORM row_poke(rel, place, 0, flipped(good, at, n));
            CALL try(which, 'pointer', n % 10 = 0, format('byte %s n %s', at - length(good), n));
            PERFORM row_poke(rel, place, 0, good);
            CONTINUE WHEN at % 4 <> length(good) % 4;
            -- Heap, too, has core's lz4_decompress_datum_slice() write anywhere if a compressed value is shorter than its header.
            CONTINUE WHEN at = length(good) - 12 AND n % 3 = 0;
            PERFORM row_poke(rel, place, 0, renumbered(good, at, n));
            CALL try(which, 'pointer', n % 10 = 0, format('number at %s n %s', at - length(good), n));
            PERFORM row_poke(rel, place, 0, good);
        END LOOP;
    END LOOP;
    -- the marker, HEAP_HASEXTERNAL
    PERFORM row_poke(rel, place, 0, set_byte(good, 19, get_byte(good, 19) # 8));
    CALL try(which, 'pointer', true, 'marker');
    PERFORM row_poke(rel, place, 0, set_byte(good, 20, get_byte(good, 20) # 4));
    CALL try(which, 'pointer', true, 'flag');
    PERFORM row_poke(rel, place, 0, good);
END $$;

-- Values grow in transactions of their own, not in parts of them.  So these are statements for psql:
-- each line of their output should be "t" or an error.
CREATE FUNCTION growth_script(which int, mode text, thin int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    f forms;
    c chunks;
    bad bytea;
    more text;
    sum text;
    at int;
    n int := which;
BEGIN
    SELECT * INTO f FROM forms WHERE id = which;
    more := CASE f.type WHEN 'bytea'::regtype THEN $q$v || 'grows'::bytea$q$ ELSE $q$v || 'wächst'$q$ END;
    EXECUTE format('SELECT md5((%s)::text) FROM form_%s', more, which) INTO sum;
    FOR c IN SELECT * FROM chunks WHERE form = which AND get_byte(chunk_data, 4) & 15 <> 3 LOOP
        FOR k IN 0 .. least(length(c.chunk_data) - 1, 80) LOOP
            CONTINUE WHEN mode = 'forged' AND k < 4 OR (k + which) % thin <> 0;
            -- a tail's checksum, and what is behind it, are near its end
            at := CASE WHEN k > 40 THEN length(c.chunk_data) - 81 + k ELSE k END;
            CONTINUE WHEN at < 0;
            n := n + 1;
            bad := flipped(c.chunk_data, at, n);
            IF mode = 'forged' THEN
                bad := forge(bad, c.chunk_id, c.chunk_seq);
            END IF;
            RETURN NEXT format($q$SELECT row_poke(toast_of(%s), %L, length(row) - %s, %L) FROM row_bytes(toast_of(%1$s), %2$L) row \g /dev/null$q$,
                which, c.place, length(c.chunk_data), bad);
            RETURN NEXT format('BEGIN; UPDATE form_%s SET v = %s;', which, more);
            RETURN NEXT format('SELECT md5(v::text) = %L FROM form_%s; ROLLBACK;', sum, which);
            RETURN NEXT format($q$SELECT row_poke(toast_of(%s), %L, length(row) - %s, %L) FROM row_bytes(toast_of(%1$s), %2$L) row \g /dev/null$q$,
                which, c.place, length(c.chunk_data), c.chunk_data);
        END LOOP;
    END LOOP;
END $$;
