"""Long SQL arrays: elements read from one, and changed."""

from bench import HEAP_LZ4, SLICED_LZ4, per, workload
from jsonb import times_to_do

PAIR = [SLICED_LZ4, HEAP_LZ4]

# Elements that compress, and some that do not; of one length, and of different ones.
KINDS = {"float8": ("float8[]", "g::float8"), "random float8": ("float8[]", "random()"),
         "int4": ("int4[]", "g"), "text": ("text[]", "repeat('x', g % 9) || g")}

# i counts, so these are all over the array.
PLACE = "1 + (i * 7919) % {n}"
READS = {"element read": f"a[{PLACE}]", "array_length": "array_length(a, 1)"}
CHANGES = {"element set": f"a[{PLACE}] = a[1]", "element added": "a = a || a[1]"}


@workload
def arrays(b):
    """Elements of an array of a million: one of many reads in a statement; a change, with its commit"""
    n = b.scale(1000000, 50000)
    for kind, (column, element) in KINDS.items():
        columns = f"id int PRIMARY KEY, a {column}"
        b.fill([SLICED_LZ4], "arrays", columns, f"SELECT 1, array_agg({element}) FROM generate_series(1, {n}) g")
        b.fill([HEAP_LZ4], "arrays", columns, f"SELECT * FROM {SLICED_LZ4.table('arrays')}")
        for name, part in READS.items():
            b.same(PAIR, "arrays", f"SELECT {part.format(n=n)} FROM {{}}, generate_series(1, 5) i")
            read(b, f"{kind}, {name}", part.format(n=n))
        for name, change in CHANGES.items():
            b.time_loop(f"{kind}, {name}", PAIR, "arrays", 8 * n, f"UPDATE {{}} SET {change.format(n=n)} WHERE id = 1")
        b.verify(PAIR, "arrays")
        b.drop(PAIR, "arrays")


def read(b, case, part):
    query = f"SELECT count({part}) FROM {{}}, generate_series(1, {{}}) i"
    queries, times = {}, {}
    for v in PAIR:
        table = v.table("arrays")
        times[v] = times_to_do(b, b.session.time(query.format(table, 5)) / 5)
        queries[v] = query.format(table, times[v])

    def measure(v):
        return per(times[v], {**b.session.times(queries[v]), "buffers": b.session.buffers(queries[v])})

    b.interleave(case, PAIR, measure, rounds=b.scale(5, 3))
