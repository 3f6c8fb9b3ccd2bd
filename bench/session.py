"""What measures: a connection that knows what a command takes, and pgbench."""

import json
import os
import re
import subprocess
import time

import psycopg
from psycopg.types.json import set_json_loads

# A jsonb stays the text that the server sends: that is what is compared.
set_json_loads(bytes.decode)


class Error(Exception):
    pass


class Session:
    def __init__(self, database="postgres", host=None):
        # Prepared behind our back, a query would change its plan while it is measured.
        self.connection = psycopg.connect(dbname=database, host=host, autocommit=True, prepare_threshold=None)
        self.pid = self.connection.info.backend_pid

    def run(self, sql, parameters=None):
        """Run one command; its rows."""
        try:
            cursor = self.connection.execute(sql, parameters)
        except psycopg.Error as e:
            raise Error(f"{e}\n{sql[:500]}") from e
        return cursor.fetchall() if cursor.description else []

    def time(self, sql, parameters=None):
        """Milliseconds until the answer is here."""
        begin = time.perf_counter()
        self.run(sql, parameters)
        return (time.perf_counter() - begin) * 1000

    def value(self, sql):
        """The only column of the only row."""
        return self.run(sql)[0][0]

    def number(self, sql):
        return float(self.value(sql))

    def use(self, settings):
        for name, value in settings.items():
            self.run(f"SET {name} = '{value}'")

    def plan(self, sql):
        """What EXPLAIN says of the execution of a query, without its planning."""
        return json.loads(self.value(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}"))[0]["Plan"]

    def buffers(self, sql):
        """Buffers that a query touches."""
        plan = self.plan(sql)
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def temp_mb(self, sql):
        """Megabytes that a query writes to temporary files: more than they are long where their room is used again."""
        return self.plan(sql)["Temp Written Blocks"] * 8192 / 1e6

    def cpu(self):
        """Milliseconds the server process has had a CPU, where the system tells (Linux)."""
        try:
            with open(f"/proc/{self.pid}/schedstat") as f:
                return int(f.read().split()[0]) / 1e6
        except OSError:
            return None

    def times(self, sql):
        """Milliseconds of a command: on the clock, and of CPU, which neighbours disturb less."""
        before = self.cpu()
        ms = self.time(sql)
        return {"ms": ms, "cpu ms": ms if before is None else self.cpu() - before}

    def wal(self):
        """Where the WAL ends: only differences mean something."""
        return int(self.value("SELECT pg_current_wal_insert_lsn() - '0/0'"))

    def redo(self):
        """Where the WAL of the last checkpoint begins."""
        return self.value("SELECT redo_lsn FROM pg_control_checkpoint()")

    def with_wal(self, sql):
        """The same and megabytes of WAL."""
        before = self.value("SELECT pg_current_wal_insert_lsn()")
        times = self.times(sql)
        wal = self.number(f"SELECT pg_current_wal_insert_lsn() - '{before}'::pg_lsn")
        return {**times, "WAL MB": wal / 1e6}

    def blocks(self):
        """Buffers that sessions of this database have touched."""
        self.run("SELECT pg_stat_force_next_flush()")
        return self.number("SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()")

    def costs(self, sql):
        """Times, WAL, and buffers that a command of any number of transactions touches."""
        before = self.blocks()
        return {**self.with_wal(sql), "buffers": self.blocks() - before}

    def close(self):
        self.connection.close()


def shell(command):
    """A command with the functions of test/lib.sh."""
    done = subprocess.run(["bash", "-c", f'set -euo pipefail; . "$PGS_ROOT/test/lib.sh"; {command}'], stdout=subprocess.DEVNULL)
    if done.returncode:
        raise Error(f"failed: {command}")


def run_pgbench(database, settings, *arguments):
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    done = subprocess.run([f"{os.environ['PGS_BINDIR']}/pgbench", "-n", *map(str, arguments), database],
                          capture_output=True, text=True, env={**os.environ, "PGOPTIONS": options})
    if done.returncode:
        raise Error(done.stderr)
    return done.stdout


def pgbench_tables(database, settings, scale):
    run_pgbench(database, settings, "-i", "-q", "-s", scale)


def pgbench(database, settings, *arguments):
    """Transactions per second."""
    return float(re.search(r"tps = ([0-9.]+) \(without", run_pgbench(database, settings, *arguments))[1])
