"""Runs an application in a database of heap tables and in those of sliced ones, and compares.

usage: measure.py [--quick] COMMAND...

COMMAND is the application's (bench/apps/app.py has what it must know).  An hour
of its changes comes in twelve rounds.  A checkpoint begins a round, as
checkpoint_timeout of five minutes would, so the first change of a page writes
the page: "of it, pages" counts these in the WAL.  A round ends with a VACUUM of
the tables, and toast tables, that autovacuum would choose with its default
settings.  Reads are the fastest of three.
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from session import Session

ROUNDS, QUICK_ROUNDS, READS = 12, 2, 3
TICK = os.sysconf("SC_CLK_TCK")
SLICED = ["CREATE EXTENSION pg_sliced", "ALTER DATABASE {} SET default_table_access_method = 'sliced'"]
VARIANTS = {
    "heap lz4": ["ALTER DATABASE {} SET default_toast_compression = 'lz4'"],
    "sliced lz4": SLICED + ["ALTER DATABASE {} SET sliced.compression = 'lz4'"],
    "sliced zstd": SLICED + ["ALTER DATABASE {} SET sliced.compression = 'zstd'"],
}
TABLES = """FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am a ON a.oid = c.relam
    WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'sliced')"""
# autovacuum's rule, for dead rows and for inserted ones
DUE = """SELECT s.relid::regclass FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE n_dead_tup > 50 + 0.2 * greatest(reltuples, 0) OR n_ins_since_vacuum > 1000 + 0.2 * greatest(reltuples, 0)"""

POSTGRES = Session()
with open(f"{os.environ['PGDATA']}/postmaster.pid") as pidfile:
    POSTMASTER = pidfile.readline().strip()


def processes():
    """How many the server has."""
    return len(subprocess.run(["ps", "-o", "pid=", "--ppid", POSTMASTER], capture_output=True).stdout.split())


class Database:
    def __init__(self, variant, command):
        self.name = "app_" + variant.replace(" ", "_")
        self.costs, self.times = {}, {}
        POSTGRES.run(f"DROP DATABASE IF EXISTS {self.name}")
        POSTGRES.run(f"CREATE DATABASE {self.name}")
        self.session = Session(self.name)
        for statement in VARIANTS[variant]:
            self.session.run(statement.format(self.name))
        self.session.close()        # the next one has these settings
        self.session = Session(self.name)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PGDATABASE": self.name})

    def app(self, *arguments):
        before = processes()
        print(json.dumps(arguments), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{os.path.basename(self.process.args[-1])} failed in {self.name}: {arguments}")
        # The server knows what a process has cost when it has gone.
        while processes() > before:
            time.sleep(0.05)
        return json.loads(answer)

    def cpu(self):
        """Milliseconds of CPU of all sessions that have ended, and of ours."""
        with open(f"/proc/{POSTMASTER}/stat") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[13:15]
        return (int(user) + int(system)) * 1000 / TICK + (self.session.cpu() or 0)

    def count(self, kind, metric, value):
        self.costs[kind, metric] = self.costs.get((kind, metric), 0) + value

    def round(self, kind, first, last):
        self.session.run("CHECKPOINT")
        wal, cpu = self.session.wal(), self.cpu()
        done = self.app("change", kind, first, last)
        self.count(kind, "client ms", done["ms"])
        self.count(kind, "received bytes", done.get("received", 0))
        self.times.setdefault(kind, []).extend(done.get("times", []))
        self.session.run("SELECT pg_stat_clear_snapshot()")
        for table, in self.session.run(DUE):
            self.session.run(f"VACUUM ANALYZE {table}" if not table.startswith("pg_toast") else f"VACUUM {table}")
        self.count(kind, "server CPU ms", self.cpu() - cpu)
        end = self.session.wal()
        self.count(kind, "WAL bytes", end - wal)
        POSTGRES.run("SELECT pg_logical_emit_message(true, '', '')")      # a commit: the WAL is on disk up to there
        self.count(kind, "of it, pages", 0 if end == wal else POSTGRES.number(
            "SELECT sum(fpi_size) FROM pg_get_wal_stats('0/0'::pg_lsn + %s, '0/0'::pg_lsn + %s)" % (wal, end)))

    def read(self):
        cpu = self.cpu()
        answer = self.app("read")
        return {"client ms": answer["ms"], "server CPU ms": self.cpu() - cpu, "digest": answer["digest"]}

    def size(self):
        return self.session.number(f"SELECT sum(pg_total_relation_size(c.oid)) {TABLES}") / 1e6

    def wrong(self):
        """What is not as it should be in this database, apart from its data."""
        if "sliced" in self.name:
            for table, method in self.session.run(f"SELECT c.oid::regclass::text, a.amname {TABLES}"):
                if method != "sliced":
                    yield f"{table} is a table of {method}"
                    continue
                for problem in self.session.run(f"SELECT * FROM sliced.verify('{table}')"):
                    yield f"{table}: {problem}"


def report(what, metric, values):
    print(f"  {what:34}{metric:15}" + "".join(f"{v:>13,.0f}" if v >= 100 else f"{v:>13.3g}" for v in values))


def measure(quick, command):
    name = os.path.splitext(os.path.basename(command[-1]))[0]
    POSTGRES.run("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
    databases = {variant: Database(variant, command) for variant in VARIANTS}
    for database in databases.values():
        about = database.app("make")
        database.begin = database.size()
    each = about["changes"] // ROUNDS
    changes = each * (QUICK_ROUNDS if quick else ROUNDS)
    for first in range(0, changes, each):
        for kind in about["kinds"]:
            # in turn, so that what disturbs the machine disturbs all alike
            for database in databases.values():
                database.round(kind, first, first + each)

    print(f"\n{name}: {about['about']}; {changes:,} changes of each kind")
    print(f"  {'':34}{'':15}" + "".join(f"{variant:>13}" for variant in databases))
    for kind in about["kinds"]:
        for metric in ("WAL bytes", "of it, pages", "server CPU ms", "client ms"):
            report(kind, metric, [database.costs[kind, metric] / changes for database in databases.values()])
        if any(database.costs[kind, "received bytes"] for database in databases.values()):
            report(kind, "received bytes", [database.costs[kind, "received bytes"] / changes for database in databases.values()])
        if any(database.times[kind] for database in databases.values()):
            report(kind, "p99 ms", [sorted(database.times[kind])[changes * 99 // 100] for database in databases.values()])
    report("all tables, before", "MB", [database.begin for database in databases.values()])
    report("all tables, after", "MB", [database.size() for database in databases.values()])
    answers = [[database.read() for database in databases.values()] for _ in range(READS)]
    for metric in ("server CPU ms", "client ms"):
        report("reading", metric, [min(answer[metric] for answer in of_one) for of_one in zip(*answers)])
    problems = [problem for database in databases.values() for problem in database.wrong()]
    digests = [answer["digest"] for answer in answers[0]]
    if len(set(digests)) != 1:
        problems.append(f"the data differ: {dict(zip(databases, digests))}")
    for database in databases.values():
        database.process.stdin.close()
        database.process.wait()
    print(("not ok - " if problems else "ok - ") + f"{name}: the same data in all databases")
    for problem in problems[:10]:
        print(f"# {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(measure("--quick" in arguments, [a for a in arguments if a != "--quick"]))
