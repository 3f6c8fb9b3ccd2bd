-- One transaction of test/citus/run's writers: the same for both twins, on one shard.
\set id random(101, 200)
\set kind random(1, 5)
\set place random(1, 3000)
BEGIN;
\if :kind = 1
UPDATE docs_sliced SET n = n + 1, body = body || md5(n::text) WHERE id = :id;
UPDATE docs_heap SET n = n + 1, body = body || md5(n::text) WHERE id = :id;
\elif :kind = 2
UPDATE docs_sliced SET n = n + 1, body = overlay(body placing 'changed' from :place) WHERE id = :id;
UPDATE docs_heap SET n = n + 1, body = overlay(body placing 'changed' from :place) WHERE id = :id;
\elif :kind = 3
UPDATE docs_sliced SET n = n + 1, doc = jsonb_set(doc, '{short}', ('"' || md5(n::text) || '"')::jsonb) WHERE id = :id;
UPDATE docs_heap SET n = n + 1, doc = jsonb_set(doc, '{short}', ('"' || md5(n::text) || '"')::jsonb) WHERE id = :id;
\elif :kind = 4
UPDATE docs_sliced SET n = n + 1, list = array_append(list, :place) WHERE id = :id;
UPDATE docs_heap SET n = n + 1, list = array_append(list, :place) WHERE id = :id;
\else
UPDATE docs_sliced SET n = n + 1 WHERE id = :id;
UPDATE docs_heap SET n = n + 1 WHERE id = :id;
\endif
COMMIT;
