-- Who may see what: privileges on columns, views with security barriers and
-- row-level security hold for exchanged functions as for core's.  A function that
-- tells what it is given, and costs nothing, would be called first if it might.
-- The rows that others must not see hold what some of the expressions fail on,
-- with an error that tells it.

SET client_min_messages = error;
DROP ROLE IF EXISTS regress_sliced_eve;
DROP ROLE IF EXISTS regress_sliced_ann;
SET client_min_messages = warning;
CREATE ROLE regress_sliced_ann;
CREATE ROLE regress_sliced_eve;
GRANT ALL ON SCHEMA like_heap TO regress_sliced_ann;
GRANT USAGE ON SCHEMA like_heap TO regress_sliced_eve;

SET ROLE regress_sliced_ann;
CREATE TABLE t (id int PRIMARY KEY, who text, body text, doc jsonb, list text[], raw bytea);
INSERT INTO t SELECT i, s.who, s.who || ' ' || i || mixed(20000, i),
    jsonb_build_object('who', s.who, 'n', CASE s.who WHEN 'eve' THEN i::text ELSE 'the secret of ' || i END, 'long', dense(9000, i)),
    ARRAY[s.who, dense(5000, i), CASE s.who WHEN 'eve' THEN i::text ELSE 'the secret of ' || i END], noise(CASE s.who WHEN 'eve' THEN 9000 ELSE 3000 END, i)
    FROM generate_series(1, 6) i, LATERAL (SELECT CASE i % 2 WHEN 0 THEN 'eve' ELSE 'ann' END AS who OFFSET 0) s;
CREATE FUNCTION tell(v anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN RAISE WARNING 'told: %', left(v::text, 30); RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM t WHERE doc->>'who' = 'eve';
CREATE VIEW invoker WITH (security_barrier, security_invoker) AS SELECT * FROM t WHERE list[1] = 'eve';
GRANT SELECT, UPDATE ON barrier TO regress_sliced_eve;
GRANT SELECT ON invoker TO regress_sliced_eve;

-- what eve asks of a relation
CREATE FUNCTION ask(rel text) RETURNS TABLE (question text, answer text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH question IN ARRAY ARRAY[
        'substr(body, 1, 6)', 'length(body)', 'right(body, 5)', 'doc->>''n''', '(doc->>''n'')::int', 'doc->''long''->>0', 'doc#>>''{n}''',
        'doc @> ''{"who": "ann"}''', 'doc ? ''who''', 'jsonb_path_query_first(doc, ''$.n'')', 'jsonb_path_exists(doc, ''strict $.n.double()'')',
        'list[3]', 'list[3]::int', 'list[1:1]', 'array_length(list, 1)', 'get_byte(raw, 5000)', 'get_bit(raw, 40000)', 'overlay(raw placing ''x'' from 3)',
        'doc[''n'']', 'jsonb_object_keys(doc)', 'octet_length(raw)', 'md5(body)'] LOOP
        BEGIN
            EXECUTE format('SELECT string_agg(left(x::text, 40), '', '' ORDER BY id) FROM (SELECT id, %s AS x FROM %s WHERE tell(id)) s', question, rel) INTO answer;
        EXCEPTION WHEN OTHERS THEN answer := sqlerrm;
        END;
        RETURN NEXT;
        BEGIN
            EXECUTE format('SELECT count(*) FROM %s WHERE tell(%s)', rel, question) INTO answer;
        EXCEPTION WHEN OTHERS THEN answer := sqlerrm;
        END;
        RETURN NEXT;
    END LOOP;
END $$;

SET ROLE regress_sliced_eve;
SELECT * FROM ask('barrier');
SELECT * FROM ask('invoker');
SELECT id FROM barrier WHERE tell(doc->>'n') AND (doc->>'n')::int > 2 ORDER BY id;
UPDATE barrier SET body = body || 'x', list[3] = list[3] || '9', doc = jsonb_set(doc, '{n}', to_jsonb((doc->>'n')::int + 1)) WHERE tell(list[3]) RETURNING id, right(body, 3), list[3], doc->'n';
UPDATE barrier SET body = 'mine' WHERE id = 1 AND tell(body);

-- of a table with some columns that she may read
SET ROLE regress_sliced_ann;
GRANT SELECT (id, doc), UPDATE (body, doc) ON t TO regress_sliced_eve;
SET ROLE regress_sliced_eve;
SELECT id, doc->>'who' FROM t ORDER BY id;
SELECT * FROM ask('t') WHERE answer ~ 'denied';
SELECT length(body) FROM t;
SELECT id FROM t WHERE substr(body, 1, 1) = 'a';
UPDATE t SET body = body || 'x';
UPDATE t SET body = 'x' || left(body, 10) WHERE id = 1;
UPDATE t SET doc = doc || '{"a": 1}' WHERE id = 2 RETURNING body;
UPDATE t SET doc = doc || '{"a": 1}' WHERE id = 2 RETURNING doc->'a';
UPDATE t SET body = 'new' WHERE id = 6;
UPDATE t SET list[1] = 'x';
INSERT INTO t (id, body) VALUES (9, 'x');
COPY t (body) TO STDOUT;
SELECT (t.*)::text FROM t;

-- row-level security
SET ROLE regress_sliced_ann;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON t TO regress_sliced_eve USING (doc->>'who' = 'eve' AND list[1] = 'eve') WITH CHECK (doc->>'who' = 'eve');
GRANT SELECT, UPDATE, INSERT, DELETE ON t TO regress_sliced_eve;
SET ROLE regress_sliced_eve;
SELECT * FROM ask('t');
SELECT * FROM ask('invoker');
UPDATE t SET body = body || 'y' WHERE tell(doc->>'n') RETURNING id, right(body, 2);
UPDATE t SET doc = jsonb_set(doc, '{who}', '"ann"') WHERE id = 2;
UPDATE t SET list[3] = 'z' WHERE list[3]::int > 0 RETURNING id;
INSERT INTO t VALUES (1, 'eve', 'mine', '{"who": "eve"}') ON CONFLICT (id) DO UPDATE SET body = t.body || excluded.body RETURNING id;
INSERT INTO t VALUES (2, 'eve', 'mine', '{"who": "eve"}') ON CONFLICT (id) DO UPDATE SET body = t.body || excluded.body RETURNING id, right(body, 4);
MERGE INTO t USING (VALUES (1), (4)) AS v(id) ON t.id = v.id WHEN MATCHED THEN UPDATE SET body = body || 'merged' WHEN NOT MATCHED THEN DO NOTHING;
DELETE FROM t WHERE tell(right(body, 6)) AND id < 4 RETURNING id;
-- a plan that is kept, for one who sees everything and one who does not
PREPARE hers AS SELECT id, doc->>'n' FROM t WHERE tell(id) AND doc->>'who' > 'a' ORDER BY id;
EXECUTE hers;
SET ROLE regress_sliced_ann;
EXECUTE hers;
SET ROLE regress_sliced_eve;
EXECUTE hers;

RESET ROLE;
SELECT * FROM sum_up('t');
DROP TABLE t CASCADE;
DROP OWNED BY regress_sliced_ann, regress_sliced_eve;
DROP ROLE regress_sliced_ann, regress_sliced_eve;
