"""Changes of published tables: what they take, and what decoding them takes.

A server of its own, where pg_sliced is preloaded and a slot is there, has a heap table and
one of ours, each with a publication.  After some changes of one of them, a session gets
them from the slot as a subscriber would, by pgoutput; what comes must be as long for both
tables.  The server does not log pages as a whole, since we checkpoint often.  How much WAL a usual update writes beside a slot is to be as in "idioms", where
there is none.
"""

import os
from contextlib import contextmanager

from bench import HEAP_LZ4, KB, MB, SLICED_LZ4, Bench, size_name, workload
from idioms import IDIOMS, Table, wal_of
from session import Error, Session, shell

PAIR = [SLICED_LZ4, HEAP_LZ4]
ROUNDS = 4

# How many changes are measured at each size.
SIZES = {10 * KB: 200, 100 * KB: 100, MB: 40, 10 * MB: 12}
QUICK = {10 * KB: 20, 100 * KB: 12}
UPDATES = ["digit, jsonb_set", "string", "key", "append, jsonb_set", "jsonb_agg, digit", "jsonb sent, one edit",
           "json sent, one edit", "text, append", "text, replace", "text sent, two edits"]

ROWS, QUICK_ROWS = 4000, 400        # that one statement inserts
LENGTHS = 100, 3 * KB, 30 * KB      # of their values


@contextmanager
def server(name, *settings):
    """Another one, for a while: where its socket is."""
    shell(" ".join(["server_start", name, *settings]))
    try:
        yield f"{os.environ['PGS_TMP']}/{name}/socket"
    finally:
        shell(f'server_stop {name} immediate; rm -rf "$PGS_TMP/{name}"')


class Decoder:
    """Gets changes from the slot."""

    def __init__(self, host):
        self.session = Session(host=host)
        self.lengths = {}
        self.session.run("SELECT pg_create_logical_replication_slot('bench', 'pgoutput')")

    def read(self, variant):
        """What reading the changes of a table takes, and how long they are, which is to be the same for others."""
        session = self.session
        before = session.cpu()
        length, ms = session.run(
            "SELECT sum(length(data)), extract(epoch FROM clock_timestamp() - now())::float8 * 1000 FROM pg_logical_slot_get_binary_changes("
            f"'bench', NULL, NULL, 'proto_version', '1', 'publication_names', '{variant.method}')")[0]
        cpu = ms if before is None else session.cpu() - before
        return cpu, length

    def skip(self):
        """Go to the end of the WAL, where decoding begins from now on: a checkpoint tells which transactions run."""
        self.session.run("CHECKPOINT")
        self.session.run("SELECT pg_replication_slot_advance('bench', pg_current_wal_insert_lsn())")


def publish(b, variant, table):
    b.session.run(f"ALTER PUBLICATION {variant.method} ADD TABLE {variant.table(table)}")


def time_update(b, watch, decoder, idiom, size, items, times):
    case = f"{size_name(size)}, {idiom.name}"
    tables = {v: Table(b, watch, v, idiom, items) for v in PAIR}
    lengths = {v: [] for v in PAIR}
    for v in PAIR:
        publish(b, v, "idioms")
        tables[v].change(2)
        tables[v].wal.clear()

    def measure(v):
        n = times // ROUNDS
        decoder.skip()
        costs = tables[v].change(n)
        cpu, length = decoder.read(v)
        lengths[v].append(length / n)
        return {"cpu ms": costs["cpu ms"], "decoding cpu ms": cpu / n}

    b.interleave(case, PAIR, measure, rounds=ROUNDS)
    for v in PAIR:
        for metric, value in wal_of(tables[v].wal).items():
            b.add(case, v, metric, value)
        tables[v].check()
    ours, heaps = (sum(lengths[v]) / ROUNDS for v in PAIR)
    if abs(ours - heaps) > 200:
        raise Error(f"{case}: {ours:.0f} bytes are decoded for a change of ours, {heaps:.0f} of heap's")
    b.verify(PAIR, "idioms")
    b.drop(PAIR, "idioms")


def time_rows(b, decoder, how, length):
    """Many rows of one statement."""
    case, rows = f"{how} of {size_name(length)}", b.scale(ROWS, QUICK_ROWS) // (10 if length > 10 * KB else 1)
    path = b.file(f"rows{length}", (f"{i}\t{value}\n" for i, (value,) in enumerate(
        b.session.run(f"SELECT replace(replace(log_text(i, {length}), '\\', ' '), E'\\n', ' ') FROM generate_series(1, {rows}) i"))))
    statement = {"COPY": f"COPY {{}} FROM '{path}'", "INSERT": "INSERT INTO {} SELECT * FROM made",
                 "UPDATE": "UPDATE {} SET d = d || '.'"}[how]
    b.session.run("CREATE UNLOGGED TABLE made (id int, d text)")
    b.session.run(f"COPY made FROM '{path}'")
    for v in PAIR:
        b.create(v, "rows", "id int PRIMARY KEY, d text")
        publish(b, v, "rows")
    lengths = set()

    def measure(v):
        table = v.table("rows")
        b.session.run(f"TRUNCATE {table}")
        if how == "UPDATE":
            b.session.run(f"COPY {table} FROM '{path}'")
        decoder.skip()
        costs = b.session.with_wal(statement.format(table))
        cpu, decoded = decoder.read(v)
        lengths.add(decoded - len(table) - 1)
        return {"cpu us": costs["cpu ms"] * 1000 / rows, "WAL B": costs["WAL MB"] * MB / rows, "decoding cpu us": cpu * 1000 / rows}

    b.interleave(case, PAIR, measure, rounds=b.scale(5, 3))
    if max(lengths) - min(lengths) > 200:
        raise Error(f"{case}: bytes decoded: {sorted(lengths)}")
    b.same(PAIR, "rows", "SELECT sum(hashtextextended(d, id)) FROM {}")
    b.drop(PAIR, "rows")
    b.session.run("DROP TABLE made")


def time_reads(b):
    """The toast relation is looked at as a catalog is, on such a server."""
    for length, rows in ((3 * KB, 2000), (100 * KB, 200), (MB, 20)):
        b.fill(PAIR, "read", "id int PRIMARY KEY, d text", f"SELECT i, log_text(i, {length}) FROM generate_series(1, {rows}) i")
        b.time_query(f"read of {size_name(length)}", PAIR, "read", "SELECT count(*) FROM {} WHERE d < ''")
        b.time_query(f"a part of {size_name(length)}", PAIR, "read", f"SELECT sum(length(substr(d, {length // 2}, 100))) FROM {{}}")
        b.drop(PAIR, "read")


@workload
def decoding(outer):
    """Published tables on a server that has slots: changes, what decoding them takes, and reads"""
    with server("decoding", "wal_level=logical", "shared_preload_libraries=pg_sliced", "shared_buffers=512MB", "max_wal_size=16GB",
                "full_page_writes=off", "checkpoint_timeout=1d", "autovacuum=off", "jit=off", "max_parallel_workers_per_gather=0", "logical_decoding_work_mem=256MB") as host:
        b = Bench(outer.results, outer.quick, host)
        b.question = outer.question
        for v in PAIR:
            b.session.run(f"CREATE PUBLICATION {v.method}")
        decoder, watch = Decoder(host), Session(host=host)
        for size, times in b.scale(SIZES, QUICK).items():
            for idiom in IDIOMS:
                if idiom.name in UPDATES:
                    time_update(b, watch, decoder, idiom, size, idiom.written.make(size), times)
        for how in ("COPY", "INSERT", "UPDATE"):
            for length in LENGTHS:
                time_rows(b, decoder, how, length)
        time_reads(b)
        for session in (b.session, watch, decoder.session):
            session.close()
