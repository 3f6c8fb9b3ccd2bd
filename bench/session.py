"""A psql that stays connected, and pgbench: the clients that measure."""

import json
import os
import re
import subprocess

BINDIR = os.environ["PGS_BINDIR"]
END = "--end-of-results--"


class Error(Exception):
    pass


class Session:
    def __init__(self, database="postgres", settings=None):
        self.psql = subprocess.Popen(
            [f"{BINDIR}/psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=terse", "-d", database],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PGOPTIONS": options(settings or {})})
        self.run("\\timing on")
        self.pid = self.value("SELECT pg_backend_pid()")

    def run(self, sql):
        """Run one command; its rows as a list of lines, and milliseconds as psql saw them."""
        end = "" if sql.startswith("\\") else "\n;"
        try:
            self.psql.stdin.write(f"{sql}{end}\n\\echo {END}\n")
            self.psql.stdin.flush()
        except BrokenPipeError:
            raise Error("psql has ended") from None
        lines, ms = [], 0.0
        for line in self.psql.stdout:
            line = line.rstrip("\n")
            if line == END:
                break
            timing = re.match(r"Time: ([0-9.]+) ms", line)
            if timing:
                ms += float(timing[1])
            elif re.match(r"(psql:.*)?(ERROR|FATAL|PANIC):", line):
                raise Error(f"{line}\n{sql[:500]}")
            else:
                lines.append(line)
        else:
            raise Error(f"psql ended\n{sql[:500]}")
        return lines, ms

    def time(self, sql):
        return self.run(sql)[1]

    def value(self, sql):
        """The only column of the only row."""
        return self.run(sql)[0][0]

    def number(self, sql):
        return float(self.value(sql))

    def use(self, settings):
        for name, value in settings.items():
            self.run(f"SET {name} = '{value}'")

    def buffers(self, sql):
        """Buffers that execution of a query touches, not counting its planning."""
        plan = json.loads("\n".join(self.run(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}")[0]))
        plan = plan[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

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
        self.psql.stdin.close()
        self.psql.wait()


def options(settings):
    return " ".join(f"-c {name}={value}" for name, value in settings.items())


def run_pgbench(database, settings, *arguments):
    done = subprocess.run([f"{BINDIR}/pgbench", "-n", *map(str, arguments), database],
                          capture_output=True, text=True,
                          env={**os.environ, "PGOPTIONS": options(settings)})
    if done.returncode:
        raise Error(done.stderr)
    return done.stdout


def pgbench_tables(database, settings, scale):
    run_pgbench(database, settings, "-i", "-q", "-s", scale)


def pgbench(database, settings, *arguments):
    """Transactions per second."""
    return float(re.search(r"tps = ([0-9.]+) \(without", run_pgbench(database, settings, *arguments))[1])
