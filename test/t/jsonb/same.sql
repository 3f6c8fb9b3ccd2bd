-- What has become of the documents, seen in every way there is.

\pset null '~'
CREATE VIEW documents AS SELECT 'v' AS of, id, column_name, d FROM v, LATERAL (VALUES ('doc', doc), ('dz', dz), ('dp', dp), ('dx', dx), ('dd', dd)) c(column_name, d)
    UNION ALL SELECT 'w', id, column_name, d FROM w, LATERAL (VALUES ('doc', doc), ('dz', dz), ('dp', dp), ('dx', dx), ('dd', dd), ('g', g)) c(column_name, d)
    UNION ALL SELECT 'audit', id, what, c.new FROM (SELECT DISTINCT ON (id, what, raw(new)) * FROM audit) c;

-- the same bytes as if the text were read: no other order, padding or offsets
SELECT of, id, column_name, raw(d), md5(d::text), md5(jsonb_send(d)), jsonb_hash_extended(d, 7) AS hash, raw(d::text::jsonb) = raw(d) AS canonical,
    d = d::text::jsonb AS equal, left(d::text, 20) FROM documents ORDER BY of, id, column_name COLLATE "C", 4;
-- every child, one by one
SELECT of, id, column_name, (SELECT md5(string_agg(concat(k, raw(d -> k), d ->> k), ',')) FROM jsonb_object_keys(CASE WHEN jsonb_typeof(d) = 'object' AND size(d) < 30000 THEN d END) k) AS keys,
    (SELECT md5(string_agg(concat(raw(d -> i), d ->> -i), ',')) FROM generate_series(0, 100) i WHERE size(d) < 30000) AS elements
    FROM documents WHERE of <> 'audit' ORDER BY of, id, column_name COLLATE "C";
-- and all of theirs
WITH RECURSIVE t(of, id, column_name, depth, d) AS (
    SELECT of, id, column_name, 0, d FROM documents WHERE of <> 'audit' AND size(d) < 10000
    UNION ALL SELECT of, id, column_name, depth + 1, e FROM t, LATERAL (SELECT value FROM jsonb_each(CASE WHEN jsonb_typeof(d) = 'object' THEN d END)
        UNION ALL SELECT value FROM jsonb_array_elements(CASE WHEN jsonb_typeof(d) = 'array' THEN d END)) s(e))
    SELECT of, id, column_name, count(*), max(depth), sum(jsonb_hash_extended(d, depth)) FROM t GROUP BY of, id, column_name ORDER BY of, id, column_name COLLATE "C";
SELECT rank() OVER (ORDER BY d), of, id FROM documents WHERE d IS NOT NULL ORDER BY d, of, id, column_name COLLATE "C";
SELECT count(*), sum(jsonb_hash_extended(d, 1)) FROM (SELECT DISTINCT d FROM documents) s;
SELECT id, raw(old), raw(new), digest, what FROM audit ORDER BY id, what COLLATE "C", digest, 2, 3;
\copy (SELECT id, doc, dz, dp, dx, dd FROM v ORDER BY id) TO PROGRAM 'md5sum' (FORMAT binary)
CREATE TABLE rewritten USING heap AS SELECT * FROM v;
SELECT count(*) FROM v JOIN rewritten r USING (id) WHERE (raw(v.doc), raw(v.dz), raw(v.dp), raw(v.dx), raw(v.dd)) IS DISTINCT FROM (raw(r.doc), raw(r.dz), raw(r.dp), raw(r.dx), raw(r.dd));
