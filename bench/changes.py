"""Values that change: a byte in the middle, and values set as a whole, as applications do that send all of it."""

from bench import HEAP, HEAP_LZ4, KB, MB, SLICED_LZ4, cast, per, size_name, workload

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
CHANGES = [("nothing changed", "body", "body"),
           ("10 bytes changed", "body", "overlay(body PLACING '0123456789' FROM {size} / 2)"),
           ("10 bytes added", "body", "body || '0123456789'"),
           ("all changed", "body", "log_text(id + {rows}, {size})"),
           ("was NULL", "NULL", "log_text(id + {rows}, {size})")]


@workload
def whole(b):
    """Values set as a whole, logs as text: what one takes, computing the new value included"""
    for size in (10 * KB, MB, 10 * MB)[:b.scale(3, 2)]:
        rows = max(1, b.scale(10 * MB, MB) // size)
        b.fill([HEAP], "old", "id int, body text",
               f"SELECT i, log_text(i, {size}) FROM generate_series(1, {rows}) i", external="body")
        b.interleave(f"{size_name(size)}, only computed", [HEAP], lambda v: per(rows, b.session.costs(
            f"SELECT count(*) FROM {v.table('old')} WHERE body || '' < ''")))
        for name, old, new in CHANGES:
            b.fill([HEAP], "new", "id int, body text",
                   f"SELECT id, {new.format(size=size, rows=rows)} FROM {HEAP.table('old')}", external="body")
            set_whole(b, f"{size_name(size)}, {name}", old, rows)
            b.drop([HEAP], "new")
        b.drop([HEAP], "old")


def set_whole(b, case, old, rows):
    """Set values to what table "new" has.  ("|| ''": what comes from a client is in memory, not in another table.)"""
    for v in PAIR:
        b.create(v, "whole", "id int, body text")

    def update(v):
        table = v.table("whole")
        b.session.run(f"TRUNCATE {table}")
        b.session.run(f"INSERT INTO {table} SELECT id, {old} FROM {HEAP.table('old')}")
        return per(rows, b.session.costs(f"UPDATE {table} t SET body = n.body || '' FROM {HEAP.table('new')} n "
                                         f"WHERE n.id = t.id"))

    b.interleave(case, PAIR, update)
    b.verify(PAIR, "whole")
    b.same(PAIR, "whole", "SELECT sum(hashtextextended(body, id)) FROM {}")
    b.drop(PAIR, "whole")
