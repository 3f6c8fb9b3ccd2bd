"""Values that grow: rows that grow from nothing, and single appends to values of any size.

The appends of a case run in a loop in the server, each in a transaction of its
own, so times and WAL are those of the server, with commit.
"""

from dataclasses import dataclass

from bench import BLOCK, HEAP_LZ4, KB, MB, SLICED_LZ4, Variant, cast, per, size_name, workload

PAIR = [SLICED_LZ4, HEAP_LZ4]

# Heap writes the whole value with every append.  It does so until it has written
# this much; what the rest of a stream takes is estimated from a few appends to a
# value of the length in between, and shown under a name of its own.
HEAP_LIMIT = 500 * MB
ESTIMATE = Variant("heap estimated", "heap", "lz4", HEAP_LZ4.settings)
ESTIMATE_FROM = 100


@dataclass(frozen=True)
class Stream:
    step: int
    column: str = "bytea"
    kind: str = "log"

    @property
    def name(self):
        special = [self.column] * (self.column != "bytea") + [self.kind] * (self.kind != "log")
        return " ".join([size_name(self.step), *special])

    @property
    def is_special(self):
        return self.name != size_name(self.step)


STREAMS = [*map(Stream, (10, 100, KB, 10 * KB, 100 * KB)), Stream(100, "text"), Stream(100, "bytea", "noise")]


def make_stream(b, v, table, stream):
    """A table with a row, and a procedure that appends bytes 'first' to 'last' to it."""
    name = v.table(table)
    b.create(v, table, f"id int PRIMARY KEY, body {stream.column}")
    b.make_loop(f"{name}_grow",
                f"more := {cast(stream.column, 'substr(content, 1 + (i - first) % length(content), step)')}; "
                f"UPDATE {name} SET body = body || more WHERE id = 1",
                declare=f"content bytea; more {stream.column};",
                prepare=f"SELECT substr(block, 1 + first % {BLOCK - MB}, least(last - first, {MB})) INTO content "
                        f"FROM source WHERE kind = '{stream.kind}';")


def empty_stream(b, v, table):
    """Back to an empty value, with the procedure's plan made."""
    name = v.table(table)
    b.session.run(f"TRUNCATE {name}")
    b.session.run(f"INSERT INTO {name} VALUES (1, '')")
    b.session.run(f"CALL {name}_grow(0, 1, 1)")
    b.session.run(f"UPDATE {name} SET body = ''")


def append_bytes(b, table, first, last, step):
    """What it takes, the table's growth included."""
    before = b.size(table)
    costs = b.session.costs(f"CALL {table}_grow({first}, {last}, {step})")
    return {**costs, "MB": (b.size(table) - before) / MB}


def estimate_bytes(b, table, stream, first, last):
    """The same as append_bytes() would return, from some appends in the middle."""
    step = stream.step
    middle = (first + last) // 2 // step * step
    b.session.run(f"UPDATE {table} SET body = {cast(stream.column, f'''content('{stream.kind}', 0, {middle})''')}")
    costs = append_bytes(b, table, middle, middle + ESTIMATE_FROM * step, step)
    none = append_bytes(b, table, middle, middle, step)
    return {metric: (value - none[metric]) * (last - first) / step / ESTIMATE_FROM for metric, value in costs.items()}


def marks(step, upto):
    """Lengths at which to look: 1 kB, 2, 5, 10, ..."""
    return [n * unit for unit in (KB, 10 * KB, 100 * KB, MB) for n in (1, 2, 5) if step <= n * unit <= upto]


def grow(b, v, stream, upto):
    """Grow a row to 'upto' bytes; what was used in all by then and at each mark, and whether it is an estimate."""
    table = v.table("stream")
    empty_stream(b, v, "stream")
    used, done, name = {"MB": b.size(table) / MB}, 0, v.name
    for length in marks(stream.step, upto):
        if v is HEAP_LZ4 and length * length / 2 / stream.step > b.scale(HEAP_LIMIT, HEAP_LIMIT // 100):
            if name != ESTIMATE.name:
                name = ESTIMATE.name
                add_points(b, stream, name, done, used)
            costs = estimate_bytes(b, table, stream, done, length)
        else:
            costs = append_bytes(b, table, done, length, stream.step)
        used = {metric: used.get(metric, 0) + value for metric, value in costs.items()}
        add_points(b, stream, name, length, used)
        done = length
    return used, name == ESTIMATE.name


def add_points(b, stream, variant, length, used):
    if not stream.is_special and length > 0:
        for metric in ("cpu ms", "WAL MB", "buffers", "MB"):
            b.results.add_point(b.question, stream.name, variant, metric, length, used[metric])


def stored(b, v, table):
    """Bytes of the value as stored, without the rows and pages around them."""
    query = ("SELECT sum(stored_bytes) FROM {}, sliced.inspect(body)" if v.method == "sliced" else
             "SELECT pg_column_size(body) FROM {}")
    return b.session.number(query.format(table))


def sizes_of(b, v, table):
    """What the table takes in the end, and what one would take that was given the value at once."""
    name, once = v.table(table), v.table(f"{table}_once")
    b.session.run(f"CREATE TABLE {once} (LIKE {name} INCLUDING ALL) USING {v.method}")
    b.session.run(f"INSERT INTO {once} SELECT id, body || '' FROM {name}")
    sizes = {"stored MB": stored(b, v, name) / MB, "stored at once": stored(b, v, once) / MB,
             "MB at once": b.size(once) / MB}
    b.session.run(f"DROP TABLE {once}")
    for metric, command in (("vacuumed MB", "VACUUM"), ("rewritten MB", "VACUUM FULL")):
        b.session.run(f"{command} {name}")
        sizes[metric] = b.size(name) / MB
    return sizes


@workload
def stream(b):
    """A row that grows to 1 MB by appends"""
    upto = b.scale(MB, 50 * KB)
    for s in STREAMS[1:] if b.quick else STREAMS:
        if s.step > upto:
            continue
        for v in PAIR:
            make_stream(b, v, "stream", s)
        measured = set()

        def measure(v):
            used, is_estimate = grow(b, v, s, upto)
            if is_estimate:
                for metric, value in used.items():
                    b.add(s.name, ESTIMATE, metric, value)
                return {}
            measured.add(v)
            return {**used, "MB/s": upto / MB / used["ms"] * 1000, **sizes_of(b, v, "stream")}

        b.interleave(s.name, PAIR, measure, rounds=b.scale(5, 1))
        b.verify(PAIR, "stream")
        b.same(measured, "stream", "SELECT length(body), md5(body) FROM {}")
        b.drop(PAIR, "stream")


@workload
def stream_long(b):
    """A row that grows to 100 MB by appends"""
    upto = b.scale(100 * MB, MB)
    tenth = upto // 10
    for s in Stream(10 * KB), Stream(100 * KB), Stream(100 * KB, "bytea", "noise"):
        make_stream(b, SLICED_LZ4, "stream", s)

        def measure(v):
            empty_stream(b, v, "stream")
            used = {}
            for first in range(0, upto, tenth):
                costs = append_bytes(b, v.table("stream"), first, first + tenth, s.step)
                used = {metric: used.get(metric, 0) + value for metric, value in costs.items()}
                add_points(b, s, v.name, first + tenth, used)
                for name, at in (("first", 0), ("last", upto - tenth)):
                    if first == at:
                        for metric, value in per(tenth // s.step, costs).items():
                            b.add(f"{s.name}, {name} tenth", v, metric, value)
            return {**used, "MB/s": upto / MB / used["ms"] * 1000, **sizes_of(b, v, "stream")}

        b.interleave(s.name, [SLICED_LZ4], measure, rounds=b.scale(5, 1))
        b.verify([SLICED_LZ4], "stream")
        b.drop([SLICED_LZ4], "stream")


@workload
def append(b):
    """One byte appended to a value: noise as bytea, a log as text"""
    for size in b.lengths():
        for column, kind, trigger in (("bytea", "noise", ""), ("text", "log", ""), ("bytea", "noise", " trigger")):
            b.fill(PAIR, "append", f"id int, n int, body {column}",
                   f"SELECT 1, 0, {cast(column, f'''content('{kind}', 1, {size})''')}")
            for v in PAIR:
                if trigger:
                    count_updates(b, v.table("append"))
            b.time_loop(f"{size_name(size)} {column}{trigger}", PAIR, "append", size,
                        "UPDATE {} SET body = body || 'x'")
            b.verify(PAIR, "append")
            b.drop(PAIR, "append")


def count_updates(b, table):
    """A trigger that sets another column."""
    b.session.run("CREATE OR REPLACE FUNCTION count_updates() RETURNS trigger LANGUAGE plpgsql AS $$ "
                  "BEGIN NEW.n := OLD.n + 1; RETURN NEW; END $$")
    b.session.run(f"CREATE TRIGGER count_updates BEFORE UPDATE ON {table} "
                  f"FOR EACH ROW EXECUTE FUNCTION count_updates()")
