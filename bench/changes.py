"""Values that change: a byte in the middle, and values set as a whole, as applications do that send all of it."""

from bench import HEAP, HEAP_LZ4, KB, MB, SLICED_LZ4, cast, per, size_name, workload
from documents import Maker

PAIR = [SLICED_LZ4, HEAP_LZ4]


def change_byte(column, size):
    """A statement that changes the i-th of some bytes in the middle half of a value."""
    place = f"{size // 4} + (i * 7919) % {size // 2}"
    changed = f"set_byte(body, {place}, i % 256)" if column == "bytea" else f"overlay(body PLACING 'x' FROM {place})"
    return f"UPDATE {{}} SET body = {changed}"


@workload
def edit(b):
    """One byte changed, somewhere in the middle half: set_byte() of noise, overlay() of a log as text"""
    for size in b.lengths():
        for name, column, kind in (("set_byte", "bytea", "noise"), ("overlay", "text", "log")):
            b.fill(PAIR, "edit", f"id int, body {column}",
                   f"SELECT 1, {cast(column, f'''content('{kind}', 1, {size})''')}")
            b.time_loop(f"{size_name(size)} {name}", PAIR, "edit", size, change_byte(column, size))
            b.verify(PAIR, "edit")
            b.drop(PAIR, "edit")


# Names, old and new values of texts that are set as a whole; new ones are computed from id, body, size and rows.
TEXTS = [("nothing changed", "body", "body"),
         ("10 bytes changed", "body", "overlay(body PLACING '0123456789' FROM {size} / 2)"),
         ("10 bytes added", "body", "body || '0123456789'"),
         ("all changed", "body", "log_text(id + {rows}, {size})"),
         ("was NULL", "NULL", "log_text(id + {rows}, {size})")]

# ... and of documents: {"n": a number, "parts": [{"n": a number, "text": some 200 bytes}, ...], "text": half of it}
DOCUMENTS = [("nothing changed", "body", "body"),
             ("number changed", "body", "jsonb_set(body, '{{n}}', to_jsonb(id + 7))"),
             ("part added", "body", """jsonb_insert(body, '{{parts,3}}', '{{"n": 1, "text": "new"}}')"""),
             ("word added", "body",
              "jsonb_set(body, '{{text}}', to_jsonb(overlay(body->>'text' PLACING ' word ' FROM {size} / 4 FOR 0)))"),
             ("all numbers changed", "body", "document(id, id + {rows}, {size})"),
             ("all changed", "body", "document(id + {rows}, id, {size})"),
             ("was NULL", "NULL", "document(id + {rows}, id, {size})")]


@workload
def whole(b):
    """Values set as a whole, logs as text and documents as jsonb: what one takes, computing the new value included"""
    for size in (10 * KB, MB, 10 * MB)[:b.scale(3, 2)]:
        set_all(b, size, "text", "log_text(i, {size})", TEXTS)
    make_documents(b)
    for size in (10 * KB, 30 * KB) if b.quick else (3 * KB, 10 * KB, 30 * KB, 100 * KB, MB):
        set_all(b, size, "jsonb", "document(i, i, {size})", DOCUMENTS)


# Texts in which only a few places have changed: in the middle of each of n parts some bytes make way for ten others.
PLACES = ("(SELECT string_agg(overlay(substr(body, 1 + k * ({{size}} / {n}), {{size}} / {n}) PLACING '0123456789'"
          " FROM {{size}} / {n} / 2 FOR {removed}), '' ORDER BY k) FROM generate_series(0, {n} - 1) k)")

# All letters are others, so that nothing is the same but compresses as well.
OTHER = "translate(body, 'abcdefghijklmnopqrstuvwxyz0123456789', '3456789012mnopqrstuvwxyzabcdefghijkl')"

EDITS = [("10 bytes changed", "body", PLACES.format(n=1, removed=10)),
         ("2 times 10 bytes changed", "body", PLACES.format(n=2, removed=10)),
         ("2 times 10 bytes added", "body", PLACES.format(n=2, removed=0)),
         ("20 times 10 bytes added", "body", PLACES.format(n=20, removed=0)),
         ("100 times 10 bytes changed", "body", PLACES.format(n=100, removed=10)),
         ("100 times 10 bytes added", "body", PLACES.format(n=100, removed=0)),
         ("nothing in common", "body", OTHER)]


@workload
def edits(b):
    """Texts set as a whole that have changed in some places: what one takes, computing the new value included"""
    for size in (10 * KB, 100 * KB, MB, 10 * MB):
        set_all(b, size, "text", "log_text(i, {size})", EDITS)


def make_documents(b):
    """A function that makes documents of other texts for each i, and other numbers for each n."""
    maker = Maker("whole")
    path = b.copy_file("texts", ((i, maker.words(30)) for i in range(5000)))
    b.session.run("CREATE TABLE texts (id int PRIMARY KEY, text text)")
    b.session.run(f"COPY texts FROM '{path}'")
    b.session.run(
        "CREATE FUNCTION document(i int, n int, size int) RETURNS jsonb LANGUAGE sql AS $$"
        "  SELECT jsonb_build_object('n', n, 'text', string_agg(t.text, ' '),"
        "      'parts', jsonb_agg(jsonb_build_object('n', hashint4(n + part), 'text', p.text)))"
        "  FROM generate_series(i * 7919, i * 7919 + size / 430) part"
        "  JOIN texts t ON t.id = part % 5000 JOIN texts p ON p.id = (part + 2500) % 5000 $$")


def set_all(b, size, column, made, changes):
    rows = max(1, b.scale(10 * MB, MB) // size)
    b.fill([HEAP], "old", f"id int, body {column}",
           f"SELECT i, {made.format(size=size)} FROM generate_series(1, {rows}) i", external="body")
    b.interleave(f"{size_name(size)} {column}, only computed", [HEAP], lambda v: per(rows, b.session.costs(
        f"SELECT count({sent('body', column)}) FROM {v.table('old')}")))
    for name, old, new in changes:
        b.fill([HEAP], "new", f"id int, body {column}",
               f"SELECT id, {new.format(size=size, rows=rows)} FROM {HEAP.table('old')}", external="body")
        set_whole(b, f"{size_name(size)} {column}, {name}", column, old, rows)
        b.drop([HEAP], "new")
    b.drop([HEAP], "old")


def sent(value, column):
    """What comes from a client is in memory, not in another table; and jsonb comes as text."""
    return f"{value} || ''" if column == "text" else f"{value}::text::jsonb"


def set_whole(b, case, column, old, rows):
    """Set values to what table "new" has."""
    for v in PAIR:
        b.create(v, "whole", f"id int, body {column}")

    def update(v):
        table = v.table("whole")
        b.session.run(f"TRUNCATE {table}")
        b.session.run(f"INSERT INTO {table} SELECT id, {old} FROM {HEAP.table('old')}")
        return per(rows, b.session.costs(f"UPDATE {table} t SET body = {sent('n.body', column)} "
                                         f"FROM {HEAP.table('new')} n WHERE n.id = t.id"))

    b.interleave(case, PAIR, update)
    b.verify(PAIR, "whole")
    b.same(PAIR, "whole", "SELECT sum(hashtextextended(body::text, id)) FROM {}")
    b.drop(PAIR, "whole")


# Values of 14 kB.
MADE = {"jsonb": "jsonb_object_agg('key' || k, repeat(md5(k::text), 3)) FROM generate_series(0, 139) k",
        "text": "string_agg(repeat(md5(k::text), 3), '') FROM generate_series(0, 139) k"}

SET_KEY = "jsonb_set(body, ARRAY['key' || i % 140], to_jsonb(md5(i::text)))"
APPEND = "body || repeat(md5(i::text), 3) || 'end.'"

# In one transaction, which cannot prune what it has replaced: plain statements, and each in a block of its own.
MANY = [("jsonb_set", "jsonb", SET_KEY), ("|| 100 bytes", "text", APPEND)]

# A block is a subtransaction, as a savepoint is.
IN_BLOCK = "BEGIN {}; EXCEPTION WHEN division_by_zero THEN END"


@workload
def transaction(b):
    """Many changes of one value of 14 kB in one transaction"""
    for name, column, change in MANY:
        for n in b.scale((5000, 20000), (1000, 2000)):
            for how, statement in (("", "{}"), (", in blocks", IN_BLOCK)):
                def run(v):
                    table = v.table("many")
                    b.create(v, "many", f"id int PRIMARY KEY, body {column}")
                    b.session.run(f"INSERT INTO {table} SELECT 1, {MADE[column]}")
                    update = statement.format(f"UPDATE {table} SET body = {change} WHERE id = 1")
                    costs = b.session.costs(f"DO $$ BEGIN FOR i IN 1 .. {n} LOOP {update}; END LOOP; END $$")
                    b.drop([v], "many")
                    return per(n, costs)

                b.interleave(f"{n} {name}{how}", PAIR, run)


@workload
def savepoints(b):
    """A transaction for every statement, and a savepoint in it, as some drivers set: what one takes, with commit"""
    for name, column, value, size, change in (
            ("|| 100 B, 1 MB", "text", f"log_text(1, {MB})", MB, APPEND),
            ("|| 100 B, 19 MB", "text", f"log_text(1, {19 * MB})", 19 * MB, APPEND),
            ("jsonb_set, 14 kB", "jsonb", MADE["jsonb"], 14 * KB, SET_KEY)):
        for how, statement in (("", "{}"), (", savepoint", IN_BLOCK)):
            b.fill(PAIR, "saved", f"id int PRIMARY KEY, body {column}", f"SELECT 1, {value}")
            b.time_loop(f"{name}{how}", PAIR, "saved", size,
                        statement.format(f"UPDATE {{}} SET body = {change} WHERE id = 1"))
            b.verify(PAIR, "saved")
            b.drop(PAIR, "saved")
