"""Servers for tests in Python: test/lib.sh starts and stops them."""
import os
import subprocess
import time

import psycopg

CRASH = "PANIC:", "TRAP:", "terminated by"       # in the log of a server whose processes are not killed


class Server:
    """One that test/lib.sh starts and stops, under this name."""

    def __init__(self, name):
        self.name = name
        self.host = f"{os.environ['PGS_TMP']}/{name}/socket"

    def shell(self, command):
        subprocess.run(["bash", "-c", f'set -euo pipefail; . "$PGS_ROOT/test/lib.sh"; {command}'], check=True, stdout=subprocess.DEVNULL)

    def start(self, *settings):
        self.shell(" ".join(["server_start", self.name, *settings]))

    def standby(self, name):
        """Make a standby of this server."""
        standby = Server(name)
        self.shell(f"""d=$PGS_TMP/{name}; mkdir -m 700 $d $d/socket
            "$PGS_BINDIR/pg_basebackup" -h {self.host} -U postgres -D $d/data -R -c fast
            server_start {name} unix_socket_directories=$d/socket""")
        return standby

    def set(self, setting, value):
        with self.connect() as conn:
            conn.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
            conn.execute("SELECT pg_reload_conf()")

    def kill(self):
        """With all its processes."""
        self.shell(f"server_use {self.name}; server_kill")

    def promote(self):
        self.shell(f'"$PGS_BINDIR/pg_ctl" -s -w -D "$PGS_TMP/{self.name}/data" promote')

    def remove(self):
        self.shell(f"server_stop {self.name}")
        self.remove_files()

    def remove_files(self):
        self.shell(f'rm -rf "$PGS_TMP/{self.name}"')

    def connect(self):
        """For what is not disturbed."""
        return psycopg.connect(host=self.host, port=5432, user="postgres", dbname="postgres", autocommit=True, prepare_threshold=None)

    def wait_until_up(self):
        """While it recovers."""
        end = time.time() + 120
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                if time.time() > end:
                    raise
                time.sleep(0.05)

    def log(self):
        with open(f"{os.environ['PGS_TMP']}/{self.name}/log", encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()

    def crashed(self):
        return any(word in line for line in self.log() for word in CRASH)

    def one(self, sql):
        with self.connect() as conn:
            return conn.execute(sql).fetchone()

    def wait_until(self, sql, what, *others):
        """Wait for the first column of a row, while the second says that something happens."""
        begin = changed = time.time()
        progress = None
        while True:
            done, now = self.one(sql)
            if done:
                return time.time() - begin
            if now != progress:
                progress, changed = now, time.time()
            if time.time() > changed + 120:
                break
            time.sleep(0.1)
        for server in (self, *others):
            server.show_state()
        raise SystemExit(f"not ok - nothing of {what} has come for two minutes")

    def show_state(self):
        """What replication waits for, and the end of the log."""
        with self.connect() as conn:
            for sql in ("SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn() WHERE NOT pg_is_in_recovery()",
                        "SELECT * FROM pg_replication_slots", "SELECT * FROM pg_stat_replication", "SELECT * FROM pg_stat_subscription",
                        "SELECT pid, backend_type, state, wait_event, left(query, 80) FROM pg_stat_activity WHERE state IS DISTINCT FROM 'idle'"):
                for row in conn.execute(sql).fetchall():
                    print(f"# {self.name}: {[str(value) for value in row if value is not None]}")
        for line in self.log()[-15:]:
            print(f"# {self.name}: {line[:300]}", flush=True)
