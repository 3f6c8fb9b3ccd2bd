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
        if kind != "text":
            long_run(b, f"{kind}, thousands of elements set", CHANGES["element set"].format(n=n), b.scale(5000, 500))
        b.verify(PAIR, "arrays")
        b.drop(PAIR, "arrays")


def long_run(b, case, change, times):
    """What single changes come to in the long run: now and then one writes what many before it have left."""
    table = SLICED_LZ4.table("arrays")
    b.session.run("CREATE TEMP TABLE long_run (wal numeric)")
    b.make_loop("long_run", f"before := pg_current_wal_insert_lsn(); UPDATE {table} SET {change} WHERE id = 1; COMMIT; "
                "INSERT INTO long_run VALUES (pg_current_wal_insert_lsn() - before)", "before pg_lsn;")
    b.session.run(f"CALL long_run(1000, {1000 + times}, 1)")
    measured = b.session.run("SELECT avg(wal), percentile_disc(0.5) WITHIN GROUP (ORDER BY wal), max(wal) FROM long_run")[0]
    for metric, wal in zip(("average WAL B", "median WAL B", "largest WAL B"), measured):
        b.add(case, SLICED_LZ4, metric, float(wal))
    b.session.run("DROP TABLE long_run")


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
