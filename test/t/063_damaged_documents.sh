#!/bin/bash
# Stored documents are damaged inside, where no checksum can tell: numbers among their entries
# say something else.  Whatever is then done to change them succeeds or is an error; the server
# goes on.  Core's own functions would believe such documents and crash.
#
# FULL=1 damages every word, also of what is deep in them.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

server_start documents autovacuum=off restart_after_crash=off client_min_messages=error
sql <<'SQL'
CREATE EXTENSION pg_sliced;
-- the bytes of a document, and a document of any bytes
CREATE FUNCTION bytes(jsonb, bytea DEFAULT '') RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION document(bytea, bytea DEFAULT '') RETURNS jsonb LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION size(jsonb) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'byteaoctetlen';
CREATE FUNCTION word(b bytea, at int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT get_byte(b, at) + (get_byte(b, at + 1) << 8) + (get_byte(b, at + 2) << 16) + (get_byte(b, at + 3)::bigint << 24) $$;
CREATE FUNCTION with_word(b bytea, at int, w bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT overlay(b PLACING set_byte(set_byte(set_byte(set_byte('\x00000000', 0, (w & 255)::int), 1, (w >> 8 & 255)::int),
        2, (w >> 16 & 255)::int), 3, (w >> 24 & 255)::int) FROM at + 1) $$;

CREATE TABLE good (doc jsonb) USING sliced;
INSERT INTO good SELECT jsonb_build_object('a', 1.5, 'id', 7, 'list', jsonb_agg(md5(i::text)), 'more', jsonb_agg(i), 'name', 'some name',
    'inner', jsonb_build_object('b', true, 'list', jsonb_agg(jsonb_build_object('n', i)), 'z', 'last'), 'zzzz', null) FROM generate_series(1, 100) i;
INSERT INTO good SELECT jsonb_agg(e) FROM (SELECT jsonb_array_elements(jsonb_build_array(3, doc->'list', 'text', doc->'inner', true, doc)) FROM good) s(e);

-- Each of these has a word that is something else: other lengths, counts, types, places.
CREATE TABLE damaged (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, at int, now bigint, doc jsonb) USING sliced;
CREATE FUNCTION instead_of(w bigint) RETURNS SETOF bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT DISTINCT n & 4294967295 FROM unnest(ARRAY[w + 1, w - 1, w + 4, w * 2, w # (1 << 20), w # (15 << 24), w # (3::bigint << 28), w # (5::bigint << 28), w # (8::bigint << 28), w & (15::bigint << 28), 4294967295]) n
    WHERE n & 4294967295 <> w $$;
CREATE PROCEDURE damage(step int) LANGUAGE sql AS $$
    INSERT INTO damaged (at, now, doc) SELECT at, n, document(with_word(bytes(doc), at, n))
    FROM good, LATERAL generate_series(0, octet_length(bytes(doc)) - 4, 4) at, instead_of(word(bytes(doc), at)) n
    WHERE at < 160 OR at / 4 % step = 0;
$$;

-- "doc" is the damaged document, "good" a sound one; both are in tables of ours
CREATE TABLE changes (change text);
INSERT INTO changes VALUES
    ($$doc || '{"b": 1, "name": [1, 2], "zzzzz": {"x": 1}}'$$),
    ($$'{"b": 1, "name": [1, 2], "zzzzz": {"x": 1}}' || doc$$),
    ($$doc || '[1, "two", {"x": 3}]'$$), ($$'[1, "two", {"x": 3}]' || doc$$), ($$doc || '7'$$), ($$doc || doc$$),
    ($$good || doc$$), ($$doc || good$$),
    ($$doc || jsonb_build_object('list', (doc->'list') || '[5]')$$),
    ($$doc || jsonb_build_object('inner', (doc->'inner') || '{"y": 1}', 'more', doc->'more', 'new', doc->'list')$$),
    ($$doc || (doc->'inner')$$), ($$(doc->'inner') || doc$$), ($$(doc->3) || (doc->1)$$),
    ($$doc - 'id'$$), ($$doc - ARRAY['list', 'id', 'no']$$), ($$doc - 2$$), ($$doc - -1$$),
    ($$doc #- '{inner,list,50,n}'$$), ($$doc #- '{3,list,-1}'$$), ($$doc #- '{list,0}'$$),
    ($$jsonb_set(doc, '{id}', '"x"')$$), ($$jsonb_set(doc, '{inner,list,30}', '[1, 2]')$$), ($$jsonb_set(doc, '{inner,more}', '[1, 2]')$$), ($$jsonb_set(doc, '{3,z}', '5.25')$$),
    ($$jsonb_set(doc, '{list}', (doc->'list') || '"x"')$$), ($$jsonb_set(doc, '{inner}', doc)$$), ($$jsonb_set(good, '{inner}', doc)$$), ($$jsonb_set(good, '{4}', doc)$$),
    ($$jsonb_set(doc, '{list}', (SELECT jsonb_agg(md5(i::text)) FROM generate_series(2, 101) i))$$),
    ($$jsonb_set_lax(doc, '{inner,z}', NULL, true, 'delete_key')$$),
    ($$jsonb_insert(doc, '{list,3}', '"x"')$$), ($$jsonb_insert(doc, '{inner,y}', '{}')$$), ($$jsonb_insert(doc, '{1,-1}', 'null', true)$$),
    ($$= doc['list'][5]$$), ($$= doc['inner']['z']$$), ($$= doc[3]['list'][7]$$), ($$= doc['more']['x']$$);

CREATE TABLE outcomes (id int, change text, outcome text);
-- Try everything, and undo it.
CREATE PROCEDURE try() LANGUAGE plpgsql AS $$
DECLARE
    d damaged;
    c text;
BEGIN
    FOR d IN SELECT id FROM damaged ORDER BY id LOOP
        FOR c IN SELECT change FROM changes LOOP
            BEGIN
                EXECUTE format(CASE WHEN c ~ '^= ' THEN 'UPDATE damaged SET %2$s = ''"new"'' WHERE id = %1$s'
                    ELSE 'UPDATE damaged SET doc = %2$s FROM (SELECT doc AS good FROM good WHERE jsonb_typeof(doc) = %3$L) g WHERE id = %1$s RETURNING size(damaged.doc)' END,
                    d.id, substr(c, CASE WHEN c ~ '^= ' THEN 3 ELSE 1 END), CASE WHEN c ~ '\{4\}' THEN 'array' ELSE 'object' END);
                RAISE 'fine' USING ERRCODE = 'PS001';
            EXCEPTION WHEN OTHERS THEN
                INSERT INTO outcomes VALUES (d.id, c, SQLSTATE || ' ' || SQLERRM);
            END;
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
SQL

# no server that has crashed answers
step=211
[ -z "${FULL:-}" ] || step=1
sql -c "CALL damage($step)" -c 'CALL try()' >"$PGS_TMP/out" 2>&1 || tail -n 3 "$PGS_TMP/out" | sed 's/^/# /'
is "$(sql -c 'SELECT count(*) > 0 FROM damaged' -c "SELECT count(*) = (SELECT count(*) FROM damaged, changes) FROM outcomes" 2>&1 || true)" 't
t' "damaged documents are changed, or not, and the server goes on"
# an error says that it is the structure, or what core says of paths, kinds of values and names of types
is "$(sql -c "SELECT count(*), outcome FROM (SELECT regexp_replace(outcome, '[0-9]+ does', 'N does') FROM outcomes) o(outcome)
    WHERE outcome !~ '^(PS001|XX001 value (N )?does not have the structure of its type|22)' GROUP BY 2 ORDER BY 2" 2>&1 || true)" '' "no other errors"
sql -c "SELECT '# ' || count(*) || ' ' || regexp_replace(outcome, '[0-9]+ does', 'N does') FROM outcomes GROUP BY regexp_replace(outcome, '[0-9]+ does', 'N does') ORDER BY count(*) DESC LIMIT 6"

# A numeric says how long it is.  Core takes the number of its digits from that, and crashes if they
# are fewer than none.  That of "a" has ten bytes, from byte 36 on, and then a header of two; without
# its highest bit it is one of four.
sql <<'SQL'
CREATE TABLE numbers (size int, header int, doc jsonb) USING sliced;
INSERT INTO numbers SELECT size, header, document(with_word(with_word(bytes(doc), 36, size * 4), 40, header))
    FROM (SELECT jsonb_build_object('a', 1.5, 'id', 7, 'list', jsonb_agg(md5(i::text))) AS doc FROM generate_series(1, 300) i) d,
        generate_series(0, 12) size, unnest(ARRAY[98432, 0]) header;
-- an external value, by its first byte
INSERT INTO numbers SELECT -1, header, document(set_byte(bytes(doc), 36, 1)) FROM numbers WHERE size = 10;
-- compressed by pglz, from a single byte
INSERT INTO numbers SELECT -2, header, document(set_byte(set_byte(with_word(with_word(bytes(doc), 36, 10 * 4 + 2), 40, 1), 44, 0), 45, 0))
    FROM numbers WHERE size = 10;
-- of four bytes, as its document says
INSERT INTO numbers SELECT -3, header, document(with_word(bytes(doc), 16, (1 << 28) + 5)) FROM numbers WHERE size = 10;
CREATE FUNCTION attempt(look text, size int, header int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT %s FROM numbers WHERE size = %s AND header = %s', look, size, header);
    RETURN 'fine';
EXCEPTION WHEN data_corrupted THEN
    RETURN 'corrupted';
END $$;
CREATE TABLE looks (look text);
INSERT INTO looks VALUES ($$jsonb_hash(doc->'a')$$), ($$hash_numeric((doc->'a')::numeric)$$), ($$doc->>'a'$$), ($$jsonb_hash(jsonb_build_object('b', doc->'a'))$$);
SQL
is "$(sql -c "SELECT header > 0, string_agg(DISTINCT sizes, ' or ') FROM (SELECT header, look, string_agg(size::text, ' ' ORDER BY size) AS sizes
    FROM numbers, looks WHERE attempt(look, size, header) = 'fine' GROUP BY 1, 2) l GROUP BY 1 ORDER BY 1" 2>&1 || true)" \
    'f|8 9 10
t|6 7 8 9 10' "numerics of impossible lengths"
server_stop documents
