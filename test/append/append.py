#!/usr/bin/python3
"""Lists in long values that sessions append to and read, while the server is disturbed: checker.py judges.

The lists are in slices, by all ways to append to a value and to read one or a part of it.  Meanwhile
VACUUM (FULL), CLUSTER, REINDEX, sliced.convert() and sliced.adopt() store them anew.  A mode is

* heap: the same on heap tables, which shows that the checker asks for no more than PostgreSQL does;
* sabotage: on heap, with damage done on purpose, which the checker must find;
* pretended: on heap, at REPEATABLE READ, but the checker is told SERIALIZABLE, and must find write skew;
* mixed: transactions of all three levels;
* serializable: of one level, so that all of serializability is checked;
* kills: the server is killed, or one of its processes, and recovers;
* promotion: the server is killed for ever, and a synchronous standby takes its place, which was read from before;
* subscriber: a subscriber follows by logical decoding, is read from, and has the same in the end.

usage: append.py MODE [--seconds N] [--seed N]
"""
import argparse
import multiprocessing
import os
import re
import signal
import sys
import time
from array import array

from checker import COMMITTED, SERIALIZABLE, Checker
from kinds import KINDS, Damaged
from server import Server
from sessions import DETOUR, MIXED, ROWS, TABLES, Follower, Keeper, Session, Shared, table_of

SESSIONS = 6
ROUND_SECONDS = 40          # longer lists take long to read
KILL_EVERY = 2.5
SHOWN = 5
COLUMNS = "id int PRIMARY KEY, n int NOT NULL DEFAULT 0, " + ", ".join(f"{kind.column} {kind.type}" for kind in KINDS.values())
SETTINGS = ["max_wal_senders=10", "hot_standby=on", "deadlock_timeout=20ms", "autovacuum_naptime=1s", "autovacuum_vacuum_cost_delay=0",
            "max_wal_size=2GB", "wal_keep_size=1GB", "restart_after_crash=on", "log_min_messages=error", "max_standby_streaming_delay=1s"]
LOGICAL = ["wal_level=logical", "shared_preload_libraries=pg_sliced"]
CRASH = re.compile("PANIC:|TRAP:|terminated by signal (?!9)")
SABOTAGE = {
    1: "UPDATE lists SET a = a[1:cardinality(a) - 1] WHERE id = 1",
    2: "UPDATE lists SET b = b || substr(b, length(b) - 15) WHERE id = 2",
    3: "UPDATE lists SET j = (j - -1 - -1) || jsonb_build_array(j -> -1, j -> -2) WHERE id = 3",
    4: "UPDATE lists SET t = t || '2147483632;' WHERE id = 4",
}


class Run:
    def __init__(self, mode, seconds, seed):
        self.mode, self.seconds, self.seed = mode, seconds, seed
        self.sliced = mode not in ("heap", "sabotage", "pretended")
        self.context = multiprocessing.get_context("fork")
        self.shared = Shared()
        self.server, self.standby, self.subscriber = Server(f"{mode}0"), None, None
        self.rounds = 0
        self.problems = []
        self.count = dict.fromkeys(("transactions", "committed", "unknown", "appends", "reads compared", "numbers in the end", "in one list",
                                    "values grew", "values changed", "kills", "promotions"), 0)
        self.errors, self.commands = {}, {}

    def run(self):
        logical = self.mode == "subscriber" or (self.mode == "kills" and self.seed % 2)
        self.server.start(*SETTINGS, *(LOGICAL if logical else ["wal_level=replica"]))
        if self.mode == "subscriber":
            self.subscriber = Server("subscriber")
            self.subscriber.start(*LOGICAL)
        for server in (self.server, self.subscriber):
            if server is not None:
                with server.connect() as conn:
                    conn.execute("CREATE EXTENSION pg_sliced")
        end = time.time() + self.seconds
        # a slow machine may need several rounds for write skew
        while not self.problems and (self.rounds == 0 or time.time() < end - 2 or (self.mode == "pretended" and self.rounds < 10)):
            self.rounds += 1
            self.round(max(2, min(ROUND_SECONDS, end - time.time())))
        return self.report()

    def create_tables(self, server, sliced, rows):
        with server.connect() as conn:
            conn.execute("DROP PUBLICATION IF EXISTS lists")
            conn.execute("DROP TABLE IF EXISTS lists, adopted")
            conn.execute(f"CREATE TABLE lists ({COLUMNS}) USING {'sliced' if sliced else 'heap'}")
            conn.execute(f"CREATE TABLE adopted ({COLUMNS}) USING {'sliced' if sliced and not rows else 'heap'}")
            conn.execute(DETOUR)
            conn.execute("CREATE PUBLICATION lists FOR TABLE lists, adopted")
            for row in rows:
                conn.execute(f"INSERT INTO {table_of(row)} (id, {', '.join(KINDS)}) VALUES (%s, {', '.join(f'%s::{kind.type}' for kind in KINDS.values())})",
                             [row, *(kind.start(row) for kind in KINDS.values())])

    def round(self, seconds):
        self.create_tables(self.server, self.sliced, ROWS)
        seed = f"{self.seed} {self.mode} {self.rounds}"
        levels = [SERIALIZABLE] if self.mode in ("serializable", "pretended") else MIXED
        workers = [Session(self.shared, number, seed, levels, self.mode == "pretended") for number in range(SESSIONS)]
        workers.append(Keeper(self.shared, seed, self.sliced, seconds, self.mode == "serializable"))
        if self.mode == "promotion":
            self.make_standby()
        if self.mode == "subscriber":
            self.subscribe()
        if self.follower() is not None:
            workers.append(Follower(self.shared, SESSIONS, seed, self.follower(), self.standby is not None))
        self.shared.use(self.server)
        self.shared.end.value = time.time() + seconds
        running = [self.start(worker) for worker in workers]
        {"sabotage": self.sabotage, "kills": self.kill, "promotion": self.promote}.get(self.mode, self.sleep)(seconds)
        workers = [self.finish(process, receiver) for process, receiver in running]
        self.problems += [problem for worker in workers for problem in worker.problems]
        self.judge(workers)

    def follower(self):
        return self.standby or self.subscriber

    def start(self, worker):
        receiver, sender = self.context.Pipe(False)
        process = self.context.Process(target=lambda: sender.send(worker.run()))
        process.start()
        sender.close()
        return process, receiver

    def finish(self, process, receiver):
        worker = receiver.recv()
        process.join()
        return worker

    def sleep(self, seconds):
        time.sleep(max(0, min(seconds, self.shared.end.value - time.time())))

    # ---- what happens beside the sessions, by mode

    def sabotage(self, seconds):
        self.sleep(seconds / 2)
        with self.server.connect() as conn:
            for statement in SABOTAGE.values():
                conn.execute(statement)
        self.sleep(seconds)

    def kill(self, seconds):
        while True:
            self.sleep(min(KILL_EVERY, seconds / 5))
            if self.shared.over():
                return
            if self.count["kills"] % 3 == 2:
                self.server.wait_until_up()
                pid, = self.server.one("SELECT max(pid) FROM pg_stat_activity WHERE application_name LIKE 'session%'")
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
            else:
                self.server.kill()
                self.server.start()
            self.count["kills"] += 1

    def promote(self, seconds):
        self.sleep(seconds / 2)
        self.server.kill()
        self.standby.promote()
        self.shared.use(self.standby)
        self.server.remove_files()
        self.server, self.standby = self.standby, None
        self.count["promotions"] += 1
        self.sleep(seconds)

    def make_standby(self):
        self.standby = self.server.standby(f"{self.mode}{self.rounds}")
        self.server.wait_until("SELECT count(*) = 1, 0 FROM pg_stat_replication WHERE state = 'streaming'", "the standby")
        self.server.set("synchronous_standby_names", "*")
        self.server.wait_until("SELECT count(*) = 1, 0 FROM pg_stat_replication WHERE sync_state = 'sync'", "the synchronous standby")

    def subscribe(self):
        self.create_tables(self.subscriber, True, [])
        with self.subscriber.connect() as conn:
            conn.execute(f"CREATE SUBSCRIPTION lists CONNECTION 'host={self.server.host} port=5432 user=postgres dbname=postgres' PUBLICATION lists")
        self.subscriber.wait_until("SELECT coalesce(bool_and(srsubstate = 'r'), false), count(*) FROM pg_subscription_rel", "the subscriber's copy")

    # ---- what there is in the end

    def judge(self, workers):
        final = self.lists(self.server)
        sessions = [worker.history for worker in workers if hasattr(worker, "history")]
        self.add_up(workers, sessions, final)
        checker = Checker(sessions, final)
        self.problems += checker.check()
        self.count["reads compared"] += checker.compared
        self.count["committed"] += sum(t.status == COMMITTED for session in sessions[:SESSIONS] for t in session)
        if self.subscriber is not None:
            lsn, = self.server.one("SELECT pg_current_wal_flush_lsn()")
            self.server.wait_until(f"SELECT coalesce(max(confirmed_flush_lsn) >= '{lsn}', false), max(confirmed_flush_lsn) FROM pg_replication_slots WHERE slot_name = 'lists'",
                                   "the subscriber's changes", self.subscriber)
            self.check_same(final, self.lists(self.subscriber))
            with self.subscriber.connect() as conn:
                conn.execute("DROP SUBSCRIPTION lists")
        if self.sliced:
            self.count_changes()
            self.verify()
        self.problems += [("crash", line) for server in (self.server, self.follower()) if server is not None
                          for line in server.log() if CRASH.search(line)]

    def add_up(self, workers, sessions, final):
        for worker in workers:
            for total, part in ((self.errors, worker.errors), (self.commands, getattr(worker, "commands", {}))):
                for key, count in part.items():
                    total[key] = total.get(key, 0) + count
        transactions = [t for session in sessions[:SESSIONS] for t in session]
        self.count["transactions"] += len(transactions)
        self.count["unknown"] += sum(t.status == "unknown" for t in transactions)
        self.count["appends"] += sum(len(op[2]) for t in transactions for op in t.ops if op[0] == "append")
        self.count["numbers in the end"] += sum(len(numbers) for _, columns in final.values() for numbers in columns.values())
        self.count["in one list"] = max(self.count["in one list"], *(len(numbers) for _, columns in final.values() for numbers in columns.values()))

    def lists(self, server):
        server.wait_until_up()
        result = {}
        with server.connect() as conn:
            for row in ROWS:
                n, *values = conn.execute(f"SELECT n, {', '.join(kind.as_text for kind in KINDS.values())} FROM {table_of(row)} WHERE id = {row}").fetchone()
                result[row] = n, {}
                for kind, value in zip(KINDS.values(), values):
                    try:
                        result[row][1][kind.column] = kind.parse(row, value)
                    except (Damaged, ValueError) as e:
                        self.problems.append(("damaged value", f"in the end {row}.{kind.column}: {e}"))
                        result[row][1][kind.column] = array("i")
        return result

    def check_same(self, final, there):
        for row, (version, columns) in final.items():
            for column, numbers in columns.items():
                if there[row][0] != version or there[row][1][column] != numbers:
                    self.problems.append(("subscriber", f"row {row} is at version {there[row][0]} for {version}, {column} has {len(there[row][1][column])} numbers for {len(numbers)}"))

    def count_changes(self):
        """How many appends wrote only what was new?  A crash of the server forgets the numbers."""
        grew, changed = self.server.one("SELECT coalesce(sum(appended), 0)::int, coalesce(sum(changed), 0)::int FROM sliced.stat_columns WHERE rel IN ('lists', 'adopted')")
        self.count["values grew"] += grew
        self.count["values changed"] += changed
        if (grew == 0 or changed == 0) and self.mode in ("mixed", "serializable", "subscriber"):
            self.problems.append(("nothing tested", f"{grew} values grew, {changed} changed"))

    def verify(self):
        with self.server.connect() as conn:
            # what disturbs the server may have been in the way
            if conn.execute("SELECT relam = (SELECT oid FROM pg_am WHERE amname = 'heap') FROM pg_class WHERE oid = 'adopted'::regclass").fetchone()[0]:
                conn.execute("SELECT sliced.adopt('adopted')")
            # heap's VACUUM FULL leaves values of dying rows behind, which the next one drops
            conn.execute("VACUUM FULL adopted")
            for table in TABLES:
                for found in conn.execute(f"SELECT kind, message FROM sliced.verify('{table}')").fetchall()[:3]:
                    self.problems.append(("verify", f"{table}: {found}"))

    def report(self):
        counts = ", ".join(f"{count} {name}" for name, count in self.count.items() if count)
        if self.mode == "sabotage":
            found = {row for row in SABOTAGE if any(re.search(rf"(^in the end|version \d+ of) {row}\.", text.partition("[")[0]) for _, text in self.problems)}
            good = len(found) == len(SABOTAGE)
        elif self.mode == "pretended":
            good = [anomaly for anomaly, _ in self.problems] == ["write skew"]
        else:
            good = not self.problems
        what = {"sabotage": "all damage is found", "pretended": "write skew is found"}.get(self.mode, "no anomaly in lists that sessions append to")
        print(f"{'ok' if good else 'not ok'} - {self.mode}: {what}", flush=True)
        for anomaly, text in [] if good else self.problems[:SHOWN]:
            print("\n".join("# " + line[:600] for line in f"{anomaly}: {text}".splitlines()[:12]))
        if len(self.problems) > SHOWN and not good:
            print(f"# and {len(self.problems) - SHOWN} more; seed {self.seed}")
        print(f"# {self.mode}: {counts}\n# {self.mode}: seed {self.seed}, {self.rounds} rounds, errors {self.errors}, {self.commands}", flush=True)
        return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    sys.exit(not Run(arguments.mode, arguments.seconds, arguments.seed).run())
