\set docs docs_ :am
\set parts parts_ :am
\set refs refs_ :am
-- to where the rows are, through the coordinator, and by repartitioning
INSERT INTO :docs SELECT id + 2000, n, body || 'x', doc || '{"copied": true}', list FROM :docs WHERE id < 50 ON CONFLICT DO NOTHING;
INSERT INTO :docs (id, body) SELECT 3000 + id, body FROM :refs;
INSERT INTO :docs (id, body) SELECT 4000 + id, body || 'x' FROM :parts ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO :docs (id, body) SELECT 3000 + id, 'again' FROM :refs ON CONFLICT (id) DO UPDATE SET body = :docs.body || EXCLUDED.body;
UPDATE :docs d SET body = d.body || r.body FROM :refs r WHERE d.id = r.id + 3000;
UPDATE :docs d SET body = d.body || p.body, doc = d.doc || '{"joined": true}' FROM :parts p WHERE p.id = d.id;
UPDATE :refs SET body = body || 'x';
UPDATE :parts SET body = overlay(body placing 'changed' from 100) WHERE id % 3 = 0;
MERGE INTO :docs d USING :parts p ON d.id = p.id
    WHEN MATCHED AND d.id % 2 = 0 THEN UPDATE SET doc = jsonb_set(d.doc, '{short}', '"merged"')
    WHEN MATCHED THEN DELETE;
BEGIN;
UPDATE :docs SET doc = doc - 'short';
SAVEPOINT one;
UPDATE :docs SET body = body || body;
ROLLBACK TO one;
UPDATE :docs SET body = left(body, 5000) WHERE id % 5 = 0;
COMMIT;
BEGIN;
UPDATE :docs SET body = body || 'gone';
ROLLBACK;
WITH changed AS (UPDATE :docs SET body = body || 'y' WHERE id % 7 = 0 RETURNING id, body)
    INSERT INTO :docs (id, body) SELECT 6000 + id, body FROM changed;
DELETE FROM :docs WHERE id % 11 = 0 AND id NOT BETWEEN 101 AND 200;
