"""Parts of jsonb documents: read from one document and from many, and changed."""

from appends import count_updates
from bench import HEAP, HEAP_LZ4, KB, MB, SLICED_LZ4, VARIANTS, per, size_name, workload
from documents import Maker

PAIR = [SLICED_LZ4, HEAP_LZ4]

# An element of an array takes 12 bytes, an eleventh of them are in key4.
ELEMENT = 13

# What is read of one document, of any size ...
ACCESSES = {"key1": "doc->'key1'", "key2, first": "doc->'key2'->0", "key2, last": "doc->'key2'->-1",
            "key3": "doc->'key3'", "key4, first": "doc->'key4'->0", "key4, last": "doc->'key4'->-1"}

# ... and in other ways, in the largest only.
FORMS = {"->>": "doc->>'key3'", "#>": "doc #> '{{key3}}'", "#>>": "doc #>> '{{key2,-1}}'", "[]": "doc['key2'][0]",
         "?": "doc ? 'key3'", "@>": """doc @> '{{"key1": 1}}'""", "jsonpath": "jsonb_path_query_first(doc, '$.key3')"}

# What is read of many.
NUMBER = "(doc->>'key{}')::int"
ONE, FOUR = NUMBER.format(3), " + ".join(map(NUMBER.format, (1, 3, 5, 6)))
QUERIES = {"one key": f"SELECT sum({ONE}) FROM {{}}", "four keys": f"SELECT sum({FOUR}) FROM {{}}",
           "all keys": "SELECT count(e.value) FROM {}, jsonb_each(doc) e",
           "as text": "SELECT sum(length(doc::text)) FROM {}", "compared": "SELECT count(*) FROM {} WHERE doc > '0'"}


def times_to_do(b, ms):
    """How often to do something that takes this long."""
    return max(1, min(1000, int(b.scale(100, 30) / ms)))


def make_arrays(b):
    """A function that makes documents of short numbers and long arrays, of n numbers and of a tenth as many."""
    b.session.run(
        "CREATE OR REPLACE FUNCTION numbers(i int, n int) RETURNS jsonb LANGUAGE sql AS $$"
        "  SELECT jsonb_agg(hashint8(i * 100000000::int8 + j) & 8191) FROM generate_series(1, n) j $$")
    b.session.run(
        "CREATE OR REPLACE FUNCTION arrays(i int, n int) RETURNS jsonb LANGUAGE sql AS $$"
        "  SELECT jsonb_build_object('key1', i, 'key2', numbers(i, n), 'key3', i, 'key4', numbers(-i, n / 10)) $$")


def fill_documents(b, variants, table, document, rows):
    """Tables with documents 1 to 'rows'.  (They come uncompressed, or heap would take over what it finds.)"""
    b.fill([HEAP], "made", "id int, n int, doc jsonb",
           f"SELECT i, 0, {document} FROM generate_series(1, {rows}) i", external="doc")
    b.fill(variants, table, "id int, n int, doc jsonb", f"SELECT * FROM {HEAP.table('made')}")
    b.drop([HEAP], "made")


@workload
def access(b):
    """A part of one jsonb document, again and again: what one access takes"""
    make_arrays(b)
    sizes = [round(130 * 10 ** (i / 4)) for i in range(0, 21, b.scale(1, 4))]
    for size in sizes:
        fill_documents(b, VARIANTS, "access", f"arrays(i, {size // ELEMENT})", 1)
        for case, part in ACCESSES.items():
            time_access(b, case, VARIANTS if case == "key3" else PAIR, part, size, size == sizes[-1])
        if size == sizes[-1]:
            for case, part in FORMS.items():
                time_access(b, case, PAIR, part, size, True)
        b.drop(VARIANTS, "access")


def time_access(b, case, variants, part, size, in_table):
    query = f"SELECT count({part}) FROM {{}}, generate_series(1, {{}})"
    queries, times = {}, {}
    b.same(variants, "access", f"SELECT {part} FROM {{}}")
    for v in variants:
        table = v.table("access")
        times[v] = times_to_do(b, min(b.session.time(query.format(table, 5)) / 5 for trial in range(3)))
        queries[v] = query.format(table, times[v])

    def measure(v):
        costs = per(times[v], {**b.session.times(queries[v]), "buffers": b.session.buffers(queries[v])})
        if case in ACCESSES:
            b.record(case, v, size, costs)
        return costs if in_table else {}

    b.interleave(f"{size_name(size)}, {case}" if in_table else case, variants, measure, rounds=b.scale(5, 3))


@workload
def keys(b):
    """Parts of many jsonb documents, and all of them"""
    make_arrays(b)
    sizes = [n * unit for unit in (KB, 10 * KB, 100 * KB, MB) for n in (1, 3)]
    for size in sizes[1:6:2] if b.quick else sizes:
        rows = min(5000, b.scale(100 * MB, 3 * MB) // size)
        fill_documents(b, VARIANTS, "keys",
                       f"arrays(i, {size // ELEMENT}) || jsonb_build_object('key5', i, 'key6', i)", rows)
        for name, query in QUERIES.items():
            b.same(VARIANTS, "keys", query)
            b.time_query(f"{size_name(size)}, {name}", VARIANTS, "keys", query, rounds=b.scale(5, 3))
        b.drop(VARIANTS, "keys")


# ---------------------------------------------------------------- changes

def make_pages(b):
    """A function that makes documents of n items, as Maker.json() does, and the number of items of a size."""
    maker = Maker("items")
    path = b.copy_file("items", ((i, maker.json(600)) for i in range(4000)))
    b.session.run("CREATE TABLE items (id int, item jsonb)")
    b.session.run(f"COPY items FROM '{path}'")
    b.session.run(
        "CREATE OR REPLACE FUNCTION page(i int, n int) RETURNS jsonb LANGUAGE sql AS $$"
        "  SELECT jsonb_build_object('id', i, 'items', jsonb_agg(item ORDER BY turn, id), 'views', 0, 'state', 'open')"
        "  FROM (SELECT turn, id, item->'items'->0 AS item FROM items, generate_series(0, n / 4000) turn"
        "        ORDER BY turn, id LIMIT n) one $$")
    return b.session.number("SELECT avg(pg_column_size((item->'items'->0)::text::jsonb)) FROM items")


def changes_of(items):
    """What is SET, by name, in a page of so many items; i counts.  What is new in a page goes again."""
    changes = {}
    for name, place in (("first", 0), ("middle", items // 2), ("last", -1)):
        changes[f"{name}, same length"] = \
            f"doc = jsonb_set(doc, '{{items,{place},amount,value}}', to_jsonb(1000 + i % 9000))"
        changes[f"{name}, other length"] = \
            f"doc = jsonb_set(doc, '{{items,{place},title}}', to_jsonb(repeat('x', i * 17 % 50)))"
    new = f"'{{items,{items // 2}}}'::text[] || ('new' || i)"
    return {**changes,
            "[]": "doc['views'] = to_jsonb(i % 9000)",
            "||": "doc = doc || jsonb_build_object('new' || i, i)",
            "-": "doc = doc - ('new' || i)",
            "jsonb_set, new key": f"doc = jsonb_set(doc, {new}, to_jsonb(i))",
            "#-": f"doc = doc #- ({new})"}


@workload
def parts(b):
    """Parts of a jsonb document changed, a transaction each"""
    item = make_pages(b)
    lengths = [10 * KB, 100 * KB, MB, 10 * MB, 100 * MB][:b.scale(5, 4)]
    for size in lengths:
        items = max(1, int(size / item))
        fill_documents(b, PAIR, "parts", f"page(i, {items})", 1)
        changes = changes_of(items)
        time_changes(b, size, changes, size == lengths[-1])
        for v in PAIR:
            count_updates(b, v.table("parts"))
        time_changes(b, size, {"trigger": changes["middle, same length"]}, size == lengths[-1])
        for v in PAIR:
            b.session.run(f"DROP TRIGGER count_updates ON {v.table('parts')}")
        b.session.run("CREATE TABLE sent (turn int, body text)")
        b.session.run("ALTER TABLE sent ALTER body SET STORAGE EXTERNAL")
        b.session.run(
            f"INSERT INTO sent SELECT i, jsonb_set(doc, '{{views}}', new)::text "
            f"FROM {HEAP_LZ4.table('parts')}, (VALUES (0, '1000'::jsonb), (1, '1001'), (2, '\"none\"')) made (i, new)")
        for name, first in (("same", 0), ("other", 1)):
            change = f"doc = sent.body::jsonb FROM sent WHERE turn = {first} + i % 2"
            time_changes(b, size, {f"all sent, {name} length": change}, size == lengths[-1])
        b.session.run("DROP TABLE sent")
        b.drop(PAIR, "parts")
    b.session.run("DROP TABLE items")


def time_changes(b, size, changes, in_table):
    """Time changes, all in turn."""
    for v in PAIR:
        table = v.table("parts")
        for number, change in enumerate(changes.values()):
            b.make_loop(f"{table}_{number}", f"UPDATE {table} SET {change}")

    def run(v, first, last):
        costs = {}
        for number, case in enumerate(changes):
            costs[case] = b.session.costs(f"CALL {v.table('parts')}_{number}({first}, {last}, 1)")
            b.session.run(f"VACUUM {v.table('parts')}")     # or heap fills the disk
        return costs

    done, times = {}, {}
    for v in PAIR:
        run(v, 0, 1)        # plans what the others have only to plan again
        slowest = max(costs["ms"] for costs in run(v, 1, 2).values())
        done[v], times[v] = 2, min(100, times_to_do(b, slowest))

    def measure(v):
        first, done[v] = done[v], done[v] + times[v]
        for case, costs in run(v, first, done[v]).items():
            costs = per(times[v], costs)
            b.record(case, v, size, costs)
            if in_table:
                for metric, value in costs.items():
                    b.add(f"{size_name(size)}, {case}", v, metric, value)
        return {}

    b.interleave("", PAIR, measure, rounds=b.scale(5, 3 if size < 10 * MB else 1))
    for v in PAIR:
        run(v, 0, 1)        # about the same number of changes to all
    b.verify(PAIR, "parts")
    b.same(PAIR, "parts", "SELECT md5(doc::text) FROM {}")
