-- Options of columns: what labels may say, what follows from them, and what does not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;
CREATE SCHEMA labels;
SET search_path = labels, public;
SET default_table_access_method = sliced;

-- two long values under keys, in a document that its toaster cuts into regions; no two have much in common
CREATE FUNCTION document(n int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('n', n, 'a', string_agg(repeat(md5(i || ' + ' || n), 3), ''), 'b', string_agg(repeat(md5(i || ' * ' || n), 4), ''))
    FROM generate_series(1, 300) i $$;
-- how the column's values are stored: by which codecs, and cut (they have a root) or whole
CREATE FUNCTION stored(rel regclass, col name, OUT codecs text, OUT cut bool) LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('SELECT string_agg(DISTINCT i.codec, '' '' ORDER BY i.codec) FILTER (WHERE i.raw_bytes > 5000), bool_or(i.codec = ''node'')
        FROM %s, sliced.inspect(%I) i', rel, col) INTO codecs, cut;
END $$;
CREATE FUNCTION size(rel regclass, col name) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
    EXECUTE format('SELECT sum(stored_bytes) FROM %s, sliced.inspect(%I)', rel, col) INTO result;
    RETURN result;
END $$;

-- what may be said: the session has not used anything of ours yet
\c
SET search_path = labels, public;
SET default_table_access_method = sliced;
\set VERBOSITY default
CREATE TABLE docs (id int, doc jsonb, body text, short varchar(10), n numeric, ext text);
ALTER TABLE docs ALTER ext SET STORAGE EXTERNAL;
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'toaster=text';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'toaster=JSONB';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'compression=brotli, level=5';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'compression=zstd, level=23';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'compression=lz4, level=5';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=0';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=9x';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=high';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=99999999999999999999';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=9, level=9';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'toaster, level=9';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=9, Toaster=jsonb';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=9,, toaster=jsonb';
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS '';
SECURITY LABEL FOR sliced ON COLUMN docs.id IS 'level=9';
SECURITY LABEL FOR sliced ON COLUMN docs.ctid IS 'level=9';
SECURITY LABEL FOR sliced ON COLUMN docs.missing IS 'level=9';
SECURITY LABEL FOR sliced ON TABLE docs IS 'toaster=missing';

-- where
CREATE VIEW a_view AS SELECT * FROM docs;
CREATE TABLE in_heap (doc jsonb) USING heap;
CREATE MATERIALIZED VIEW m AS SELECT document(1) AS doc;
SECURITY LABEL FOR sliced ON VIEW a_view IS 'level=9';
SECURITY LABEL FOR sliced ON COLUMN a_view.doc IS 'level=9';
DROP VIEW a_view;
SECURITY LABEL FOR sliced ON SCHEMA labels IS 'level=9';
SECURITY LABEL FOR sliced ON FUNCTION document IS 'level=9';
SECURITY LABEL FOR sliced ON COLUMN in_heap.doc IS 'compression=zstd';
SECURITY LABEL FOR sliced ON MATERIALIZED VIEW m IS 'compression=zstd';
SELECT sliced.alter_column('m', 'doc', 'toaster=plain');
REFRESH MATERIALIZED VIEW m;
SELECT * FROM stored('m', 'doc');
SELECT sliced.alter_table('m', 'compression=pglz');
SELECT objtype, label FROM pg_seclabels WHERE objoid = 'm'::regclass ORDER BY objsubid;
DROP MATERIALIZED VIEW m;

-- by whom
CREATE ROLE regress_labels;
SECURITY LABEL FOR sliced ON ROLE regress_labels IS 'level=9';
GRANT USAGE, CREATE ON SCHEMA labels TO regress_labels;
SET ROLE regress_labels;
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS 'level=9';
SELECT sliced.alter_column('docs', 'doc', 'level=9');
SELECT sliced.alter_table('docs', NULL);
CREATE TABLE mine (a text);
SELECT sliced.alter_table('mine', 'compression=none');
SELECT col, compression, compression_from FROM sliced.columns WHERE rel = 'mine';
DROP TABLE mine;
RESET ROLE;

-- the functions
SELECT sliced.alter_column('docs', 'missing', 'level=9');
SELECT sliced.alter_column('docs', 'doc', 'level=99');
SELECT sliced.alter_column(NULL, 'doc', 'level=9');
SELECT sliced.alter_column('docs', NULL, 'level=9');
SELECT sliced.alter_table(NULL, 'level=9');
SELECT sliced.alter_table(0, 'level=9');
CREATE TABLE "O'Hara\" ("do'c" text);
SELECT sliced.alter_column('"O''Hara\"', 'do''c', 'compression=pglz');
SELECT rel, col, compression FROM sliced.columns WHERE rel = '"O''Hara\"';
DROP TABLE "O'Hara\";

-- a column's label, its own COMPRESSION and STORAGE, the table's label, settings
SECURITY LABEL FOR sliced ON COLUMN docs.doc IS ' toaster = plain ,level=19';
SECURITY LABEL FOR sliced ON TABLE docs IS 'compression=zstd, toaster=jsonb';
ALTER TABLE docs ALTER short SET COMPRESSION pglz;
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'docs';
SELECT sliced.alter_column('docs', 'short', 'compression=none');
SELECT sliced.alter_column('docs', 'ext', 'compression=pglz');
SET sliced.zstd_level = 5;
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'docs';
SELECT sliced.alter_table('docs', NULL);
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'docs';
SELECT sliced.alter_column('docs', col, NULL) FROM (VALUES ('doc'), ('short'), ('ext'), ('n')) c(col);
SELECT * FROM pg_seclabels WHERE provider = 'sliced' AND objoid = 'docs'::regclass;

-- all of that when values are written, changed and grow; the table's entry is remembered meanwhile
INSERT INTO docs (id, doc, body) SELECT 1, document(1), document(1)->>'b';
SELECT 'doc', * FROM stored('docs', 'doc') UNION ALL SELECT 'body', * FROM stored('docs', 'body');
SELECT sliced.alter_column('docs', 'doc', 'toaster=plain');
UPDATE docs SET doc = document(2);
SELECT * FROM stored('docs', 'doc');
SELECT sliced.alter_column('docs', 'doc', 'compression=zstd, level=1'), sliced.alter_table('docs', 'compression=none');
UPDATE docs SET doc = document(3), body = document(4)->>'b';
SELECT 'doc', * FROM stored('docs', 'doc') UNION ALL SELECT 'body', * FROM stored('docs', 'body');
SELECT size('docs', 'doc') AS before \gset
SELECT sliced.alter_column('docs', 'doc', 'compression=zstd, level=19');
VACUUM FULL docs;
SELECT codecs, size('docs', 'doc') < :before AS smaller FROM stored('docs', 'doc');
SELECT sliced.alter_column('docs', 'body', 'compression=zstd');
UPDATE docs SET body = body || (document(5)->>'b');
SELECT * FROM stored('docs', 'body');
-- rows go into another table, which takes the place of this one
ALTER TABLE docs ALTER id TYPE bigint;
SELECT 'doc', * FROM stored('docs', 'doc') UNION ALL SELECT 'body', * FROM stored('docs', 'body');
SELECT doc = document(3), body = (document(4)->>'b') || (document(5)->>'b') FROM docs;

-- undone
BEGIN;
SELECT sliced.alter_column('docs', 'doc', 'compression=none');
SAVEPOINT s;
SELECT sliced.alter_column('docs', 'doc', 'compression=pglz');
SELECT compression FROM sliced.columns WHERE rel = 'docs' AND col = 'doc';
ROLLBACK TO s;
SELECT compression FROM sliced.columns WHERE rel = 'docs' AND col = 'doc';
ROLLBACK;
SELECT compression FROM sliced.columns WHERE rel = 'docs' AND col = 'doc';

-- names are not what counts, and labels go with what they are for
ALTER TABLE docs RENAME doc TO document;
ALTER TABLE docs RENAME TO papers;
SELECT compression, compression_from FROM sliced.columns WHERE rel = 'papers' AND col = 'document';
CREATE TABLE copy (LIKE papers INCLUDING ALL);
SELECT count(*) FROM pg_seclabels WHERE provider = 'sliced' AND objoid = 'copy'::regclass;
ALTER TABLE papers DROP document;
SELECT objname, label FROM pg_seclabels WHERE provider = 'sliced' AND objoid = 'papers'::regclass ORDER BY objsubid;
DROP TABLE papers, copy;
SELECT objname, label FROM pg_seclabels WHERE provider = 'sliced';
DROP TABLE in_heap;

-- partitions: the nearest decides; columns go by their names
CREATE TABLE root (id int, doc jsonb, body text) PARTITION BY RANGE (id);
CREATE TABLE middle (gone int, body text, id int, doc jsonb) PARTITION BY RANGE (id);
ALTER TABLE middle DROP gone;
CREATE TABLE leaf (doc jsonb, id int, body text);
ALTER TABLE middle ATTACH PARTITION leaf FOR VALUES FROM (0) TO (10);
SELECT sliced.alter_column('root', 'doc', 'toaster=plain'), sliced.alter_table('root', 'compression=zstd, level=7');
INSERT INTO leaf SELECT document(1), 1, document(1)->>'b';
SELECT 'doc', * FROM stored('leaf', 'doc') UNION ALL SELECT 'body', * FROM stored('leaf', 'body');
ALTER TABLE root ATTACH PARTITION middle FOR VALUES FROM (0) TO (10);
UPDATE root SET doc = document(2), body = document(2)->>'b';
SELECT 'doc', * FROM stored('leaf', 'doc') UNION ALL SELECT 'body', * FROM stored('leaf', 'body');
SELECT sliced.alter_table('middle', 'compression=pglz');
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel::text ~ '^(root|middle|leaf)$' ORDER BY 1, 2;
UPDATE root SET doc = document(3), body = document(3)->>'b';
SELECT 'doc', * FROM stored('leaf', 'doc') UNION ALL SELECT 'body', * FROM stored('leaf', 'body');
ALTER TABLE leaf ALTER body SET COMPRESSION pglz;
SELECT sliced.alter_table('leaf', 'compression=none');
SELECT col, compression, compression_from FROM sliced.columns WHERE rel = 'leaf';
-- ... and than a label of a column of the partitioned table
BEGIN;
SELECT sliced.alter_table('leaf', NULL), sliced.alter_column('middle', 'body', 'compression=zstd'), sliced.alter_column('middle', 'doc', 'compression=zstd');
SELECT col, compression, compression_from FROM sliced.columns WHERE rel = 'leaf';
SELECT sliced.alter_column('leaf', 'body', 'compression=zstd');
SELECT col, compression, compression_from FROM sliced.columns WHERE rel = 'leaf';
ROLLBACK;
-- a toaster for columns of any type, of one type, and of one that is the same inside
BEGIN;
CREATE TABLE types (t text, v varchar, j jsonb) USING sliced;
SELECT sliced.alter_table('types', 'toaster=jsonb');
SELECT sliced.alter_column('types', 't', 'toaster=plain'), sliced.alter_column('types', 'v', 'toaster=text');
SELECT col, toaster, toaster_from FROM sliced.columns WHERE rel = 'types';
SELECT sliced.alter_column('types', 't', 'toaster=jsonb');
ROLLBACK;
-- each option by itself; the column's own COMPRESSION is nearer than a label of the root's column
SELECT sliced.alter_column('root', 'body', 'compression=zstd, level=3, dictionary=on'), sliced.alter_column('leaf', 'doc', 'level=2, dictionary=off'),
    sliced.alter_table('leaf', 'compression=zstd, level=5, dictionary=auto');
SELECT col, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'leaf';
ALTER TABLE root DETACH PARTITION middle;
SELECT sliced.alter_table('leaf', NULL), sliced.alter_table('middle', NULL);
SELECT col, toaster, toaster_from, compression, compression_from FROM sliced.columns WHERE rel = 'leaf';
DROP TABLE root, middle;

-- toasters that come and go; functions are exchanged as the label has it
CREATE TABLE t (id int, doc jsonb, other jsonb);
CREATE TABLE whole (id int, doc jsonb);
SELECT sliced.alter_column('t', 'doc', 'toaster=other');
CREATE FUNCTION other_toaster(jsonb) RETURNS sliced.toaster_handler AS '$libdir/pg_sliced', 'sliced_jsonb_toaster' LANGUAGE C;
SELECT name, type, is_default FROM sliced.toasters WHERE type = 'jsonb'::regtype ORDER BY 1;
-- of several, none is the default unless it has the name of the type
CREATE FUNCTION one_toaster(json) RETURNS sliced.toaster_handler AS '$libdir/pg_sliced', 'sliced_jsonb_toaster' LANGUAGE C;
CREATE FUNCTION two_toaster(json) RETURNS sliced.toaster_handler AS '$libdir/pg_sliced', 'sliced_jsonb_toaster' LANGUAGE C;
SELECT name, type, is_default FROM sliced.toasters WHERE type = 'json'::regtype ORDER BY 1;
DROP FUNCTION one_toaster, two_toaster;
SELECT sliced.alter_table('t', 'toaster=text');
SELECT sliced.alter_column('t', 'doc', 'toaster=other'), sliced.alter_table('whole', 'toaster=plain');
SELECT rel, col, toaster, toaster_from FROM sliced.columns WHERE rel IN ('t', 'whole') ORDER BY rel, col;
INSERT INTO t SELECT i, document(i), document(i) FROM generate_series(1, 3) i;
INSERT INTO whole SELECT id, doc FROM t;
SELECT 'doc', * FROM stored('t', 'doc') UNION ALL SELECT 'other', * FROM stored('t', 'other') UNION ALL SELECT 'whole', * FROM stored('whole', 'doc');
\c
SET search_path = labels, public;
EXPLAIN (VERBOSE, COSTS off) SELECT jsonb_array_length(doc) FROM whole;
EXPLAIN (VERBOSE, COSTS off) SELECT jsonb_array_length(doc) FROM t;
DROP FUNCTION other_toaster;
SELECT doc->>'n', doc = document(id) FROM t ORDER BY id;
UPDATE t SET doc = jsonb_set(doc, '{a}', '"new"') WHERE id = 1;
UPDATE t SET doc = document(5) WHERE id = 2;
DELETE FROM t WHERE id = 3;
SELECT id, doc->>'n', doc->>'a' = 'new', doc - 'a' = document(1) - 'a', doc = document(5) FROM t ORDER BY id;
SELECT col, toaster, toaster_from FROM sliced.columns WHERE rel = 't';
-- that WARNING came once; a dump is restored all the same
SET check_function_bodies = off;
SELECT sliced.alter_column('t', 'doc', 'toaster=other');
RESET check_function_bodies;
VACUUM FULL t;
SELECT * FROM sliced.verify('t');
ALTER TABLE t SET ACCESS METHOD heap;
SELECT id, doc->>'a' = 'new', doc - 'a' = document(1) - 'a', doc = document(5), other = document(id) FROM t ORDER BY id;
ALTER TABLE t SET ACCESS METHOD sliced;
ALTER TABLE t ALTER doc TYPE text;
SELECT col, toaster, toaster_from FROM sliced.columns WHERE rel = 't';
ALTER TABLE t ALTER doc TYPE int USING 1;
SELECT col, toaster, toaster_from FROM sliced.columns WHERE rel = 't';

-- where the type decides on STORAGE; there are columns of tables only
CREATE TABLE by_type (v oidvector) USING sliced;
SELECT col, compression, compression_from FROM sliced.columns WHERE rel = 'by_type';
CREATE INDEX by_type_v ON by_type (v);
SELECT sliced_functions.column_options('by_type_v');
SELECT sliced_functions.column_options(0);

-- a table without columns
CREATE TABLE empty () USING sliced;
SELECT sliced.alter_table('empty', 'compression=zstd');
SELECT count(*) FROM empty;
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns WHERE rel = 'empty';

-- labels that we would not have allowed
CREATE TABLE odd (v text) USING sliced;
INSERT INTO pg_seclabel VALUES ('odd'::regclass, 'pg_class'::regclass, 1, 'sliced', ',=,level=99999999999,compression=brotli,x,toaster='),
    ('odd'::regclass, 'pg_class'::regclass, 1, 'another', 'compression=none'),
    ('odd'::regclass, 'pg_class'::regclass, 0, 'sliced', 'compression=zstd, later=release, level=1000');
INSERT INTO odd SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i;
SELECT codecs FROM stored('odd', 'v');

-- what loads the library before labels are set is for an event trigger only
CREATE FUNCTION before_row() RETURNS trigger LANGUAGE c AS '$libdir/pg_sliced', 'sliced_before_label';
CREATE TRIGGER before_row BEFORE INSERT ON odd FOR EACH ROW EXECUTE FUNCTION before_row();
INSERT INTO odd VALUES ('');

-- labels of kept files beside ours are not ours, and a file may be gone
INSERT INTO pg_seclabel SELECT am.oid, 'pg_am'::regclass, number, provider, format(label, d.oid) FROM pg_am am, pg_database d,
    (VALUES (1, 'others', 'theirs'), (2, 'sliced_kept_files', 'no file'), (3, 'sliced_kept_files', '0/%s/1 3')) v (number, provider, label)
    WHERE amname = 'sliced' AND datname = current_database();
SELECT file, bytes FROM sliced.kept_files();
SELECT sliced.remove_kept_files();
SELECT objsubid, provider, label FROM pg_seclabel WHERE classoid = 'pg_am'::regclass ORDER BY 1;
DELETE FROM pg_seclabel WHERE classoid = 'pg_am'::regclass;

SET client_min_messages = warning;
DROP SCHEMA labels CASCADE;
DROP ROLE regress_labels;
SELECT * FROM pg_seclabels WHERE provider = 'sliced';
