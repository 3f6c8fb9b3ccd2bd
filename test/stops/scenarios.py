"""What the server does when it is stopped: statements that come by all stop points.

A scenario runs in schema "heap" on heap tables, which is the model, and in schema
"sliced" on sliced ones.  Its steps are what is stopped.
"""
import dataclasses

# The rows that most tables begin with; other rows are made of these.
FIXTURE = """
CREATE EXTENSION pg_sliced;
CREATE EXTENSION pg_visibility;
CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(coalesce(string_agg(sha512(int4send(seed) || int4send(i)), ''), '') FROM 1 FOR n)
    FROM generate_series(1, (n + 63) / 64) i $$;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(translate(encode(noise((n * 3) / 4 + 3, seed), 'base64'), E'\\n', ''), n) $$;
CREATE TABLE fixture (id int, a text, d bytea, j jsonb, r int[], n int) USING heap;
INSERT INTO fixture SELECT i, dense(9000 + 3000 * i, i), noise(5000 * i, i + 10),
    jsonb_build_object('k', i, 'long', dense(7000, i + 20), 'many',
        (SELECT jsonb_object_agg('key' || k, md5(k::text)) FROM generate_series(1, 200) k), 'other', dense(5000, i + 30)),
    (SELECT array_agg(k * i) FROM generate_series(1, 3000) k), 0
FROM generate_series(1, 3) i;
CREATE TABLE whole AS SELECT overlay(a PLACING '***' FROM 7000) AS alike, dense(40000, 77) AS different,
    jsonb_set(j, '{many,key7}', '"another"') AS document, dense(140000, 78) AS long FROM fixture WHERE id = 2;
COPY fixture TO :'file';
CREATE FUNCTION contents() RETURNS text LANGUAGE plpgsql AS $$ DECLARE name regclass; found text; result text := ''; BEGIN
    FOR name IN SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'm') ORDER BY relname LOOP
        EXECUTE format('SELECT count(*) || coalesce(md5(string_agg(md5(x::text), '','' ORDER BY md5(x::text))), '''') FROM %s x', name) INTO found;
        result := concat(result, found, ' ');
    END LOOP;
    RETURN result; END $$;
"""

# Whole rows, and parts of values, which take other ways.
STATE = """SELECT contents(), (SELECT array_agg((id, length(a), substr(a, 8990, 40), right(a, 50), j->'k', j->'many'->>'key9',
    left(j->>'long', 20), r[2500], get_byte(d, 100))::text ORDER BY id) FROM t)"""

TABLE = """CREATE TABLE t (id int PRIMARY KEY, a text, d bytea, j jsonb, r int[], n int)
 WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)"""
ROWS = (TABLE, "INSERT INTO t SELECT * FROM fixture")

# Values that have a root, and grow behind it.
CHANGED = ROWS + (
    "UPDATE t SET a = overlay(a PLACING 'new' FROM 500), j = jsonb_set(j, '{many,key9}', '0'), r[77] = -1 WHERE id < 3",
    "UPDATE t SET a = a || repeat('tail', 5)",
    "UPDATE t SET a = a || 'more'",
)

# Values with nodes below their roots: edits of one slice that take more than a root may have.
EDIT = "UPDATE t SET d = overlay(d PLACING noise(100, {0}) FROM {0} * 150), r[{0} * 26 : {0} * 26 + 24] = r[{0} : {0} + 24]"
EDITED = CHANGED + tuple(EDIT.format(i) for i in range(1, 13))
# A table of heap's in both schemas, and how it becomes a sliced one.
HEAP_ROWS = (TABLE.replace(" WITH (", " USING heap WITH ("), ROWS[1])
ADOPT = "DO $$ BEGIN IF ':am' = 'sliced' THEN PERFORM sliced.adopt('t'); END IF; END $$"
CONVERT = "DO $$ BEGIN IF ':am' = 'sliced' THEN CALL sliced.convert('t'); END IF; END $$"

# Documents that have enough in common for a dictionary; heap has none.
DOCUMENTS = """INSERT INTO t (id, a, j, n) SELECT i, string_agg('entry ' || k || ' of the list: ' || md5((i * k)::text) || ', state ' || i % k, '; '),
    jsonb_object_agg('the value of ' || k, md5((i * k)::text) || ' in state ' || i % k), 0
    FROM generate_series({}, {}) i, generate_series(1, 40) k GROUP BY i"""
SHORT = TABLE.replace("WITH (", "WITH (toast_tuple_target = 128, ")
ALIKE = (SHORT, "INSERT INTO t SELECT * FROM fixture", DOCUMENTS.format(11, 130))
TRAIN = "DO $$ BEGIN IF ':am' = 'sliced' THEN PERFORM sliced.train('t', 'a'); END IF; END $$"
TRAINED = (TRAIN, DOCUMENTS.format(131, 150))
MANY_ALIKE = ALIKE + (DOCUMENTS.format(151, 600),)

# A change that comes first in the transaction, of the very values that the steps change.
EARLIER = "UPDATE t SET n = n + 1, a = a || 'earlier', j = jsonb_set(j, '{k}', '11')"

ALONE, SAVEPOINT, BLOCK = "alone", "savepoint", "block"


@dataclasses.dataclass
class Scenario:
    name: str
    steps: tuple
    setup: tuple = CHANGED
    modes: tuple = (ALONE, SAVEPOINT, BLOCK)
    fresh: bool = False          # in a session that knows nothing yet
    before: tuple = ()           # in the session, each time
    sliced_only: tuple = ()      # the end of the setup, not of the model's
    warns_at: tuple = ()         # how points are called where an error may be a warning,
                                 # unless somebody wants the statement to end
    again: tuple = ()            # before the steps once more, after an error
    cleanup: tuple = ()          # what the schemas do not take with them

    def __post_init__(self):
        # steps are one transaction
        if len(self.steps) > 1 and self.steps[0] != "BEGIN":
            self.steps_alone = ("BEGIN",) + self.steps + ("COMMIT",)
        else:
            self.steps_alone = self.steps

    def may_warn(self, point, action):
        return point.startswith(self.warns_at) and action in ("full", "memory")


def change(name, what, where="id = 2", **more):
    return Scenario(name, (f"UPDATE t SET {what} WHERE {where}",), **more)


IN_ONE = {"modes": (ALONE, BLOCK)}
BY_ITSELF = {"modes": (ALONE,)}

# convert trains, where that is due, in a subtransaction of its own
BEFORE_CONVERSION = ("subtransaction.before-commit",)

# RETURNING gives promises to variables, which keep them, in a function unlike in DO.  A
# plan made for the variables' values would compute with them beforehand.
FUNCTION = """CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE v text; w text; o jsonb; p jsonb; done bool := false; BEGIN %s END $$"""

PROMISES = FUNCTION % """
    BEGIN
        UPDATE t SET a = a || 'promised', j = jsonb_set(j, '{new}', '"promised"') WHERE id = 2 RETURNING a, j INTO v, o;
        UPDATE t SET a = a || 'more' WHERE id = 2 RETURNING a INTO w;
        RAISE 'back';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    UPDATE t SET a = w, j = o WHERE id = 2;
    UPDATE t SET a = w || v WHERE id = 1;
    BEGIN
        UPDATE t SET a = 'x' || a WHERE id = 3 RETURNING a INTO v;
    END;
    UPDATE t SET a = overlay(v PLACING 'yz' FROM 9000), j = jsonb_set(o, '{new}', '"kept"') WHERE id = 3;
"""

# What variables have, they have after an error as well, and it can be stored then.
VARIABLES = FUNCTION % """
    WHILE NOT done LOOP
        BEGIN
            UPDATE t SET a = coalesce(v, a) || 'y', j = jsonb_set(coalesce(o, j), '{new}', '"promised"') WHERE id = 2
                RETURNING left(a, -1), a, j INTO v, w, o;
            UPDATE t SET a = 'twice' || a, j = jsonb_set(o, '{twice}', '1') WHERE id = 2 RETURNING a, j INTO w, p;
            UPDATE t SET a = w || v, j = p, r = r || 5 WHERE id = 1;
            done := true;
        EXCEPTION WHEN OTHERS OR query_canceled THEN
            IF v <> (SELECT a FROM t WHERE id = 2) OR w NOT IN (v || 'y', 'twice' || v || 'y')
                OR o <> (SELECT j || '{"new": "promised"}' FROM t WHERE id = 2) OR p <> o || '{"twice": 1}' THEN
                RAISE data_corrupted;
            END IF;
            IF w IS NOT NULL THEN
                UPDATE t SET a = w, j = o WHERE id = 2;
                UPDATE t SET a = v, j = j - 'new' WHERE id = 2;
            END IF;
        END;
    END LOOP;
"""

# A unique index that finds a conflict only when the row is there already.
LATE_CONFLICT = CHANGED + (
    "CREATE SEQUENCE calls",
    """CREATE FUNCTION late(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$ BEGIN
        IF i = 1000 AND nextval('calls') % 4 = 2 THEN
            INSERT INTO t SELECT 1000, a, d FROM fixture WHERE id = 1;
        END IF;
        RETURN i; END $$""",
    "ALTER TABLE t DROP CONSTRAINT t_pkey",
    "CREATE UNIQUE INDEX ON t (late(id))",
    "ALTER FUNCTION late VOLATILE",
)

PARTITIONS = (
    "CREATE TABLE t (id int, a text, d bytea, j jsonb, r int[], n int) PARTITION BY LIST (n)",
    "CREATE TABLE t0 PARTITION OF t FOR VALUES IN (0)",
    "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1)",
    "INSERT INTO t SELECT * FROM fixture",
)

TRIGGER = CHANGED + (
    """CREATE FUNCTION add() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        NEW.a := NEW.a || 'by trigger'; NEW.r[5] := 55; RETURN NEW; END $$""",
    "CREATE TRIGGER add BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION add()",
)

FOREIGN = ("UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'heap') WHERE oid = "
           "(SELECT reltoastrelid FROM pg_class WHERE oid = 't'::regclass)",)

# Decoded, and the whole old row is the identity.
IDENTITY = CHANGED + ("ALTER TABLE t REPLICA IDENTITY FULL",)
DECODED = ("SET sliced.logical_decoding = on",)
SLOT = ("SELECT pg_create_logical_replication_slot('stops', 'test_decoding')",)
ANNOUNCED = ("SET sliced.logical_decoding = slices",)
REMOVE_FILES = ("SELECT sliced.remove_kept_files()",)
DROP_SLOT = ("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'stops'",)

SCENARIOS = (
    Scenario("insert", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM fixture",)),
    Scenario("insert one long value", ("INSERT INTO t (id, a) SELECT 20, long || long FROM whole",)),
    Scenario("insert compressed values", ("INSERT INTO t (id, a) SELECT i, repeat(md5(i::text), 10000) FROM generate_series(11, 13) i",),
             before=("SET sliced.compression = zstd",)),
    Scenario("insert from itself", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM t",)),
    Scenario("copy", ("DELETE FROM t", "COPY t FROM :'file'")),
    Scenario("first insert of a session", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM fixture",), fresh=True, **BY_ITSELF),
    Scenario("create table as", ("CREATE TABLE u AS SELECT * FROM t",), modes=(ALONE, SAVEPOINT)),
    Scenario("materialized view", ("REFRESH MATERIALIZED VIEW m",),
             setup=CHANGED + ("CREATE MATERIALIZED VIEW m AS SELECT id, a, j FROM t", "UPDATE t SET a = a || 'x'")),
    change("append to a value without tail", "a = a || 'x'", setup=ROWS),
    change("append to a tail", "a = a || 'x'"),
    change("append beyond a tail", "a = a || repeat('y', 400)"),
    change("append, merging", "a = a || (SELECT dense(9000, 40))"),
    change("append, sealing", "a = a || (SELECT long FROM whole)"),
    change("append to all", "a = a || 'x', d = d || '\\x00'", "true"),
    change("prepend", "a = 'first' || a", "true"),
    change("overlay", "a = overlay(a PLACING 'changed' FROM 9000), d = set_byte(d, 4444, 0)"),
    change("cut", "a = substr(a, 100, 9000)"),
    change("cut most of it", "a = substr(a, 100, 3200)"),
    change("the same", "a = a, j = j, r = r"),
    change("jsonb, short", "j = jsonb_set(j, '{many,key100}', '1')", "true"),
    change("jsonb, long", "j = j || jsonb_build_object('long', (SELECT left(different, 12000) FROM whole))"),
    change("jsonb, remove", "j = j - 'other' #- '{many,key50}'"),
    change("jsonb, of its parts", "j = jsonb_set(j, '{copy}', j->'many'->'key3'), n = (j->>'k')::int",
           setup=CHANGED + ("UPDATE t SET j = jsonb_set(j, '{k}', '8')",)),
    change("array element", "r[2500] = 17", "true"),
    change("array appended", "r = r || 5"),
    change("edits, in a node below the root", EDIT.format(13).removeprefix("UPDATE t SET "), setup=EDITED),
    change("edits, of a slice to be written anew", "d = overlay(d PLACING noise(5000, 3) FROM 50), r = array_fill(3, ARRAY[400]) || r[401:]", setup=EDITED),
    change("edits, many at once", "d = " + "".join(["overlay("] * 9) + "d" +
           "".join(f" PLACING noise(100, {i}) FROM {i} * 700)" for i in range(1, 10)), "id = 3", setup=EDITED),
    change("a whole value, similar", "a = (SELECT alike FROM whole), j = (SELECT document FROM whole)"),
    change("a whole value, different", "a = (SELECT different FROM whole)"),
    change("null", "a = NULL, j = NULL"),
    change("key", "id = id + 100", "true"),
    change("update with a trigger", "a = left(a, 5000) || a", setup=TRIGGER),
    change("to another partition", "n = 1, a = a || 'moved'", "id < 3", setup=PARTITIONS),
    Scenario("changes in savepoints", ("BEGIN", "SAVEPOINT a", "UPDATE t SET a = a || 'x', j = jsonb_set(j, '{k}', '1')", "SAVEPOINT b",
             "UPDATE t SET a = 'y' || a, r[9] = 9", "ROLLBACK TO b", "UPDATE t SET a = a || 'z', r[8] = 8", "RELEASE a",
             "UPDATE t SET a = a || 'end'", "COMMIT"), **BY_ITSELF),
    Scenario("rolled back", ("BEGIN", "UPDATE t SET a = a || 'x', j = jsonb_set(j, '{k}', '1')", "ROLLBACK"), **BY_ITSELF),
    Scenario("based on what the subtransaction has inserted", ("INSERT INTO t SELECT 10, a, d, j, r, n FROM fixture WHERE id = 2",
        "UPDATE t SET a = (SELECT a FROM t WHERE id = 10) || 'x' WHERE id = 1"), modes=(SAVEPOINT, BLOCK)),
    Scenario("promises in variables", ("SELECT change()",), setup=CHANGED + (PROMISES,)),
    Scenario("variables that outlive an error", ("SELECT change()",), setup=CHANGED + (VARIABLES,), modes=(BLOCK,)),
    Scenario("prepared", ("BEGIN", "UPDATE t SET a = a || 'x', d = noise(9000, id), r[3] = 3", "DELETE FROM t WHERE id = 1",
                          "PREPARE TRANSACTION 'stops'", "COMMIT PREPARED 'stops'"), **BY_ITSELF),
    Scenario("delete", ("DELETE FROM t WHERE id > 1",)),
    Scenario("truncate", ("TRUNCATE t", "INSERT INTO t SELECT * FROM fixture WHERE id = 3")),
    Scenario("on conflict update", ("INSERT INTO t SELECT id + 1, a, d, j, r, n FROM fixture "
                                    "ON CONFLICT (id) DO UPDATE SET a = t.a || excluded.id, j = excluded.j",)),
    Scenario("on conflict nothing", ("INSERT INTO t SELECT id + 1, a, d, j, r, n FROM fixture ON CONFLICT DO NOTHING",)),
    Scenario("a late conflict", ("INSERT INTO t (id, a) SELECT 1000, different FROM whole ON CONFLICT DO NOTHING",),
             setup=LATE_CONFLICT, before=("SELECT setval('calls', 4)",), again=("SELECT setval('calls', 4)",), **BY_ITSELF),
    Scenario("merge", ("""MERGE INTO t USING (SELECT id + 1 AS id, a FROM fixture) s ON t.id = s.id
        WHEN MATCHED AND s.id = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET a = t.a || 'merged'
        WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)""",)),
    Scenario("vacuum", ("VACUUM t",), setup=CHANGED + ("UPDATE t SET d = NULL, a = left(a, 9000)",), **BY_ITSELF),
    Scenario("vacuum full", ("VACUUM FULL t",), **BY_ITSELF),
    Scenario("cluster", ("DELETE FROM t WHERE id = 1", "UPDATE t SET a = a || 'dying', d = NULL WHERE id = 2",
                         "SET LOCAL enable_indexscan = off", "CLUSTER t USING t_pkey"), modes=(ALONE, SAVEPOINT)),
    Scenario("cluster by index", ("CLUSTER t USING t_pkey",), before=("SET enable_sort = off; SET enable_seqscan = off",), modes=(ALONE, SAVEPOINT)),
    Scenario("to heap", ("ALTER TABLE t SET ACCESS METHOD heap",), modes=(ALONE, SAVEPOINT)),
    Scenario("from heap", ("ALTER TABLE t SET ACCESS METHOD :am",), setup=("SET default_table_access_method = heap",) + ROWS +
             ("SET default_table_access_method = :am",), modes=(ALONE, SAVEPOINT)),
    Scenario("another type", ("ALTER TABLE t ALTER a TYPE varchar USING a || 'x', ALTER n SET DEFAULT 5",), modes=(ALONE, SAVEPOINT)),
    Scenario("create index", ("CREATE INDEX ON t (md5(a), (j->>'k'))",)),
    Scenario("create index where rows are dying", ("UPDATE t SET id = id + 10, a = a || 'x' WHERE id < 3", "DELETE FROM t WHERE id = 3",
             "CREATE INDEX ON t (md5(a), (j->>'k'))"), modes=(ALONE, SAVEPOINT)),
    Scenario("create index concurrently", ("CREATE INDEX CONCURRENTLY i ON t (md5(a))",), again=("DROP INDEX IF EXISTS i",), **BY_ITSELF),
    Scenario("reindex", ("REINDEX TABLE t",), setup=CHANGED + ("CREATE INDEX ON t (md5(a))",), **BY_ITSELF),
    Scenario("label", ("SELECT sliced.alter_column('t', 'a', 'compression=zstd')", "UPDATE t SET a = repeat(a, 3)",
                       "SELECT sliced.alter_table('t', 'compression=pglz')"), modes=(ALONE, SAVEPOINT)),
    Scenario("read documents", ("SELECT j->'many'->>'key5', j->'long' FROM t WHERE j @> '{\"k\": 3}' OR j->'many'->>'key5' > ''",)),
    Scenario("index expressions", ("UPDATE t SET a = a || 'x', n = 7",), setup=CHANGED + ("CREATE UNIQUE INDEX ON t (md5(a), (j->>'k'))",)),
    Scenario("foreign toast, insert", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM t",), sliced_only=FOREIGN, fresh=True),
    Scenario("foreign toast, update", ("UPDATE t SET a = a || 'x', d = NULL",), sliced_only=FOREIGN, fresh=True),
    Scenario("foreign toast, vacuum full", ("VACUUM FULL t",), sliced_only=FOREIGN, fresh=True, **BY_ITSELF),
    Scenario("adopt", (ADOPT,), setup=HEAP_ROWS, fresh=True),
    Scenario("adopt, and change", (ADOPT, "UPDATE t SET a = a || 'x', d = NULL"), setup=HEAP_ROWS),
    Scenario("adopted, update", ("UPDATE t SET a = a || 'x', d = NULL WHERE id < 3",), setup=HEAP_ROWS, sliced_only=(ADOPT,)),
    Scenario("adopted, delete", ("UPDATE t SET j = jsonb_set(j, '{k}', '11')", "DELETE FROM t WHERE id > 1"), setup=HEAP_ROWS, sliced_only=(ADOPT,)),
    Scenario("convert rows of core's", (CONVERT,), setup=HEAP_ROWS, sliced_only=(ADOPT,), fresh=True, warns_at=BEFORE_CONVERSION, **BY_ITSELF),
    Scenario("convert fragments", (CONVERT,), setup=EDITED + ("CREATE INDEX ON t (md5(a))",), warns_at=BEFORE_CONVERSION, **BY_ITSELF),
    Scenario("train", (TRAIN,), setup=ALIKE),
    Scenario("train, and insert", (TRAIN, DOCUMENTS.format(151, 155)), setup=ALIKE),
    Scenario("trained, insert", (DOCUMENTS.format(151, 155),), setup=ALIKE, sliced_only=TRAINED[:1], fresh=True),
    Scenario("trained, update", ("UPDATE t SET a = a || 'x', j = jsonb_set(j, '{k}', '1') WHERE id > 125 AND id % 2 = 0",
                                 "UPDATE t SET a = left(a, 500) || substr(a, 520) WHERE id > 120"), setup=ALIKE + TRAINED, fresh=True),
    Scenario("trained, vacuum full", ("VACUUM FULL t",), setup=ALIKE + TRAINED, **BY_ITSELF),
    Scenario("trained, another type", ("ALTER TABLE t ALTER a TYPE varchar USING a || 'x'",), setup=ALIKE + TRAINED, fresh=True, modes=(ALONE, SAVEPOINT)),
    Scenario("trained, to heap and back", ("ALTER TABLE t SET ACCESS METHOD heap", "ALTER TABLE t SET ACCESS METHOD :am", TRAIN),
             setup=ALIKE + TRAINED, modes=(ALONE, SAVEPOINT)),
    Scenario("analyze makes dictionaries", ("ANALYZE t",), setup=MANY_ALIKE, before=("SET sliced.dictionary = auto",), warns_at=("",)),
    Scenario("decoded update", ("UPDATE t SET a = a || 'x', n = n + 1", "UPDATE t SET n = n + 1"), setup=IDENTITY, before=DECODED),
    Scenario("decoded update, a key is the identity", ("UPDATE t SET a = a || 'x', n = n + 1",), before=DECODED),
    Scenario("decoded delete", ("DELETE FROM t WHERE id > 1",), setup=IDENTITY, before=DECODED),
    Scenario("decoded insert", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM t",), before=DECODED),
    Scenario("logical slot", ("UPDATE t SET a = a || 'x', n = n + 1", "UPDATE t SET n = n + 1", "DELETE FROM t WHERE id = 1"),
             setup=IDENTITY + SLOT, cleanup=DROP_SLOT, fresh=True, modes=(ALONE, SAVEPOINT)),
    Scenario("announced insert", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM t",), before=ANNOUNCED),
    Scenario("announced update", ("UPDATE t SET a = a || 'x', n = n + 1, j = jsonb_set(j, '{k}', '7')",), setup=IDENTITY, before=ANNOUNCED),
    # since 16 a tail has room only if rows are announced
    change("announced, append to a tail", "a = a || 'x'", setup=ANNOUNCED + CHANGED, before=ANNOUNCED),
    Scenario("announced delete", ("DELETE FROM t WHERE id > 1",), setup=IDENTITY, before=ANNOUNCED),
    Scenario("files are kept", ("TRUNCATE t",), setup=CHANGED + SLOT, before=ANNOUNCED, cleanup=DROP_SLOT + REMOVE_FILES, **BY_ITSELF),
    Scenario("kept files go", REMOVE_FILES, setup=CHANGED + SLOT + ANNOUNCED + ("TRUNCATE t",) + DROP_SLOT,
             cleanup=REMOVE_FILES, **BY_ITSELF),
    Scenario("slices hidden from decoding", ("INSERT INTO t SELECT id + 10, a, d, j, r, n FROM t",), before=("SET sliced.logical_decoding = off",)),
)
