"""Tables of heap's that become ours: adopted, and converted while others use them."""

import glob
import os
import shutil
import statistics
import threading
import time
from dataclasses import dataclass

from bench import HEAP, KB, MB, SLICED, SLICED_LZ4, SLICED_ZSTD, Variant, size_name, workload
from session import Error, Session, run_pgbench


@dataclass(frozen=True)
class Stored:
    """Documents from 'low' to 'high' bytes, and how they are stored before they are converted."""
    name: str
    kind: str
    column: str
    low: int
    high: int
    codec: str
    method: str = "heap"

    @property
    def settings(self):
        return {"default_toast_compression": self.codec, "sliced.compression": self.codec}


SMALL = Stored("small jsonb pglz, adopted", "json", "jsonb", 2 * KB, 16 * KB, "pglz")
STORED = [Stored("logs lz4, adopted", "log", "text", 2 * KB, 50 * KB, "lz4"),
          SMALL,
          Stored("long jsonb pglz, adopted", "json", "jsonb", 100 * KB, MB, "pglz"),
          Stored("logs pglz, ours", "log", "text", 2 * KB, 50 * KB, "pglz", "sliced"),
          Stored("small jsonb pglz, ours", "json", "jsonb", 2 * KB, 16 * KB, "pglz", "sliced")]

# The codec that they get.
TO = [SLICED_LZ4, SLICED_ZSTD]


@workload
def convert(b):
    """Tables converted and adopted: what it takes, and what statements of others take meanwhile"""
    for stored in STORED:
        throughput(b, stored)
    meanwhile(b)
    adoption(b)


def make_source(b, stored, total, copies=1):
    """A table of heap's, called as the source of table "converted"."""
    path = b.documents(stored.kind, stored.low, stored.high, total)
    source = HEAP.table("converted")
    b.session.use(stored.settings)
    b.session.run(f"CREATE TABLE once (id int, body {stored.column}) USING heap")
    b.session.run(f"COPY once FROM '{path}'")
    b.session.run(f"CREATE TABLE {source} (id int, n int, body {stored.column}) USING heap")
    b.session.run(f"INSERT INTO {source} SELECT row_number() OVER (), 0, body FROM once, generate_series(1, {copies})")
    b.session.run("DROP TABLE once")
    b.session.run(f"VACUUM ANALYZE {source}")
    return source


def make_copy(b, table, source, stored, constraint=""):
    """Of the source, stored as said.  A table of heap's is adopted."""
    b.session.use(stored.settings)
    b.session.run(f"DROP TABLE IF EXISTS {table}")
    b.session.run(f"CREATE TABLE {table} (id int {constraint}, n int, body {stored.column}) USING {stored.method}")
    b.session.run(f"INSERT INTO {table} SELECT * FROM {source}")
    b.session.run(f"VACUUM ANALYZE {table}")
    if stored.method == "heap":
        b.session.run(f"SELECT sliced.adopt('{table}')")


def throughput(b, stored):
    source = make_source(b, stored, b.scale(30 * MB, 3 * MB))
    # values that fit into their row stay there
    length = "octet_length(body)" if stored.column == "text" else "pg_column_size(body || '{}')"
    raw = b.session.number(f"SELECT sum({length}) FROM {source} WHERE pg_column_size(body) > 2000") / MB

    def measure(v):
        table = v.table("converted")
        make_copy(b, table, source, stored)
        b.session.use(v.settings)
        costs = b.session.with_wal(f"CALL sliced.convert('{table}')")
        return {"cpu us a MB": costs["cpu ms"] * 1000 / raw, "MB a cpu s": raw * 1000 / costs["cpu ms"],
                "WAL a MB": costs["WAL MB"] / raw}

    b.interleave(stored.name, TO, measure, rounds=b.scale(5, 3))
    b.same([HEAP, *TO], "converted", "SELECT sum(hashtextextended(body::text, id)) FROM {}")
    b.verify(TO, "converted")
    b.drop([HEAP, *TO], "converted")


# ---------------------------------------------------------------- meanwhile

@dataclass(frozen=True)
class Beside(Variant):
    """What another session does; {} is the table."""
    command: str


def beside(name, command):
    return Beside(name, "sliced", "lz4", SLICED_LZ4.settings, command)


# Heap's copy of another table shows what anybody makes of it who writes as much as he can.
BESIDE = [beside("alone", None),
          beside("heap copied", f"INSERT INTO scratch SELECT * FROM {HEAP.table('converted')}"),
          beside("during convert", "CALL sliced.convert('{}')"),
          beside("at 20 MB/s", "CALL sliced.convert('{}', max_rate => 20)")]

# Each of one row.
STATEMENTS = {"key read": "SELECT body->>'count' FROM {} WHERE id = :id",
              "column set": "UPDATE {} SET n = n + 1 WHERE id = :id",
              "jsonb_set": "UPDATE {} SET body = jsonb_set(body, '{{count}}', to_jsonb(n)) WHERE id = :id"}


def pin(pid, core):
    """To the first or second core, or (None) to any."""
    if hasattr(os, "sched_setaffinity") and len(CORES) > 1:
        os.sched_setaffinity(pid, CORES if core is None else {CORES[core]})


CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class OneCore:
    """Here, pgbench and its server processes share a core, and leave the others to what goes on beside it.

    They wait for each other.  Whether both are on one core or on two makes a factor of
    three, and the kernel decides that anew all the time.
    """

    def __init__(self):
        with open(os.path.join(os.environ["PGDATA"], "postmaster.pid")) as f:
            self.pids = 0, int(f.readline())

    def __enter__(self):
        for pid in self.pids:
            pin(pid, 0)

    def __exit__(self, *_):
        for pid in self.pids:
            pin(pid, None)


class Background:
    """A command in a session of its own, until it ends or is cancelled."""

    def __init__(self, b, settings, command):
        self.b, self.command, self.ended = b, command, None
        self.session = Session()
        pin(self.session.pid, 1)
        self.session.use(settings)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        time.sleep(0.05)

    def run(self):
        try:
            self.session.run(self.command)
        except Error as e:
            if "canceling statement" not in str(e):
                print(f"# {e}")
        self.ended = time.time()

    def stop(self):
        self.b.session.run(f"SELECT pg_cancel_backend({self.session.pid})")
        self.thread.join()
        self.session.close()
        return self.ended


def latencies(scripts, seconds, stopped):
    """Microseconds of each transaction, by script: those that ended before 'stopped' says, or else the first."""
    prefix = os.path.join(os.environ["PGS_TMP"], "latencies")
    arguments = [argument for script in scripts for argument in ("-f", script)]
    run_pgbench("postgres", {}, *arguments, "-T", seconds, "-M", "prepared", "-l", f"--log-prefix={prefix}")
    until = stopped()
    found = {}
    for path in glob.glob(f"{prefix}.*"):
        with open(path) as f:
            for _, _, us, script, s, rest in (line.split() for line in f):
                if until is None or int(s) + int(rest) / 1e6 <= until or int(script) not in found:
                    found.setdefault(int(script), []).append(int(us))
        os.remove(path)
    return found


def meanwhile(b):
    """Each window begins with a table that is not converted at all."""
    source = make_source(b, SMALL, b.scale(10 * MB, 3 * MB), copies=b.scale(40, 30))
    rows = int(b.session.number(f"SELECT count(*) FROM {source}"))
    table = "converted"
    scripts = [b.file(f"statement{i}.sql", f"\\set id random(1, {rows})\n{sql.format(table)};\n")
               for i, sql in enumerate(STATEMENTS.values())]

    def measure(v):
        make_copy(b, table, source, SMALL, "PRIMARY KEY")
        b.session.run(f"DROP TABLE IF EXISTS scratch; CREATE TABLE scratch (LIKE {source}) USING heap")
        background = Background(b, v.settings, v.command.format(table)) if v.command else None
        with OneCore():
            found = latencies(scripts, b.scale(2, 1), background.stop if background else lambda: None)
        for i, name in enumerate(STATEMENTS):
            b.add(f"others: {name}", v, "us", statistics.median(found[i]))
        return {}

    b.interleave("meanwhile", BESIDE, measure)
    b.session.run(f"DROP TABLE {table}, {source}, scratch")


# ----------------------------------------------------------------- adoption

def adoption(b):
    """Of a table of any size.  It is unlogged: adoption does not look, and the disk need not hold its WAL."""
    for size in b.scale([10 * MB, 300 * MB, 3000 * MB, 10000 * MB], [10 * MB, 100 * MB]):
        name = f"adopted, {size_name(size)}"
        if shutil.disk_usage(os.environ["PGS_TMP"]).free < size * 1.5 + 1000 * MB:
            print(f"# skipped: {name}, for which the disk has no room")
            continue
        b.session.run("CREATE UNLOGGED TABLE adopted (id int, body bytea) USING heap")
        b.session.run("ALTER TABLE adopted ALTER body SET STORAGE EXTERNAL")
        b.session.run(f"INSERT INTO adopted SELECT i, content('noise', i, {MB}) FROM generate_series(1, {size // MB}) i")
        b.add(name, SLICED, "MB", b.size("adopted") / MB)
        for _ in range(b.scale(9, 5)):
            b.session.run("BEGIN")
            adopt(b, name)
            b.session.run("ROLLBACK")
        adopt(b, f"{name}, commit")
        b.session.run("DROP TABLE adopted")


def adopt(b, case):
    for metric, ms in b.session.times("SELECT sliced.adopt('adopted')").items():
        b.add(case, SLICED, metric.replace("ms", "us"), ms * 1000)
