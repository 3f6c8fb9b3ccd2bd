#!/usr/bin/python3
"""A soak: everything that a server has to bear, at once, against a model.

Writers, readers with old snapshots, VACUUM (FULL), CLUSTER, indexes, DDL; sessions
are cancelled, terminated, and killed, so that the server recovers; a standby follows
it, is read from meanwhile, and is promoted after each round, which the next round
goes on with; in every second round there is a subscriber, and the standby tells the
primary what it still reads.  At the end of a round everything that was
committed must be there, on each of the servers.

Nothing may grow without bounds: what a session has in memory, the files, the WAL of
one change of a value that has been changed all the time.

usage: soak.py [--minutes N] [--seed N]
"""
import argparse
import re
import sys
import time

from rows import COLUMNS, CREATE, SUMS
from server import CRASH, Server
from workers import HOT_ROWS, TABLES, Disturber, Keeper, Reader, StandbyReader, Watcher, Writer, verify

WRITERS, READERS, STANDBY_READERS, KEEPERS = 4, 2, 1, 2
ROUND_SECONDS = 36, 240         # at least, at most
KILL_EVERY = 12, 60
STANDBY_DELAY = "1500ms"        # replay waits so long for readers: for some that read twice, not for all
MEMORY_KB = 24000               # that a session may gain once it has warmed up
FILES = 10, 4000000             # times the bytes of the values; and what is written before VACUUM removes it (FILES_HELD times)
FILES_HELD = 2
FILES_FULL = 1.5, 500000        # the same after VACUUM FULL
WAL_TIMES = 2                   # as much WAL for a change at the end as at the beginning
CHANGES = ["v = v || repeat('x', 100)", "v = overlay(v PLACING 'here' FROM 500000)", "j = jsonb_set(j, '{k500,n}', to_jsonb(n))"]

SETUP = f"""CREATE EXTENSION pg_sliced;
{''.join(CREATE.format(table=table) + ';' for table in TABLES)}
SELECT sliced.alter_table('published', 'dictionary=auto');
CREATE TABLE hot (id int PRIMARY KEY, n int, v text) USING sliced;
INSERT INTO hot SELECT i, 0, '' FROM generate_series(1, {HOT_ROWS}) i;
CREATE TABLE progress (writer int PRIMARY KEY, seq int) USING heap;
INSERT INTO progress SELECT i, 0 FROM generate_series(0, {WRITERS - 1}) i;
CREATE TABLE probe (id int PRIMARY KEY, n int, v text, j jsonb) USING sliced;
INSERT INTO probe SELECT 1, 0, string_agg(md5(i::text), ''), jsonb_object_agg('k' || i, jsonb_build_object('n', 0, 's', md5(i::text) || md5((i * i)::text)))
    FROM generate_series(1, 32000) i;
CREATE TABLE parent (id int, n int, v text);
ALTER TABLE published INHERIT parent;
ALTER TABLE hot INHERIT parent;
CREATE PUBLICATION soak FOR TABLE published, hot;"""


class Soak:
    def __init__(self, minutes, seed):
        self.seed, self.end = seed, time.time() + minutes * 60
        self.round_end = self.reindexed = 0
        self.failures, self.kills, self.errors, self.commands = [], 0, {}, {}
        self.transactions = self.snapshots = self.standby_snapshots = 0
        self.standby_errors = {}
        self.vacuums = {}       # by file of values: how many there were, and since then the next xid, the oldest seen, the WAL's end
        self.memory = self.memory_most = self.held = self.subscriber_seconds = 0
        self.server, self.standby = Server("soak0"), None
        self.host = self.server.host
        self.writers = [Writer(self, f"writer{i}", seed, i) for i in range(WRITERS)]

    def over(self):
        return self.failures or time.time() > self.round_end

    def fail(self, message):
        self.failures.append(message)
        print(f"not ok - soak: seed {self.seed}: {message}".replace("\n", "\n# "), flush=True)

    def saw_memory(self, growth, now):
        self.memory, self.memory_most = max(self.memory, growth), max(self.memory_most, now)

    def check(self, good, what):
        if good:
            print(f"ok - {what}", flush=True)
        else:
            self.fail(what)

    def drop_invalid_indexes(self):
        """Of indexes built concurrently, which somebody stopped; VACUUM FULL leaves those of toast relations as they are."""
        with self.server.connect() as conn:
            for index, in conn.execute("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid").fetchall():
                conn.execute(f"DROP INDEX {index}")

    def round(self, seconds, kill_every):
        """Let everybody work."""
        self.drop_invalid_indexes()
        self.round_end = time.time() + seconds
        self.writers = [writer.successor(f"{self.seed} {seconds} {self.kills}") for writer in self.writers]
        readers = [Reader(self, f"reader{i}", self.seed + self.kills) for i in range(READERS)]
        standby_readers = [StandbyReader(self, f"standby reader{i}", self.seed + self.kills) for i in range(STANDBY_READERS)]
        workers = [*self.writers, *readers, *standby_readers,
                   *(Keeper(self, f"keeper{i}", self.seed + self.kills) for i in range(KEEPERS)), Watcher(self, "watcher", 0), Disturber(self, "disturber", self.seed + self.kills, kill_every)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(seconds + 180)
            if worker.is_alive():
                self.fail(f"{worker.name} has not come to an end")
            errors = self.standby_errors if worker in standby_readers else self.errors
            for key, count in worker.errors.items():
                errors[key] = errors.get(key, 0) + count
        self.transactions += sum(worker.done for worker in self.writers)
        self.snapshots += sum(worker.done for worker in readers)
        self.standby_snapshots += sum(worker.done for worker in standby_readers)

    def differences(self, server, tables=TABLES):
        """What a server has that it should not, or lacks."""
        with server.connect() as conn:
            for table in tables:
                stored = {row[0]: row for row in conn.execute(f"SELECT {COLUMNS} FROM {table}")}
                for writer in self.writers:
                    if writer.table != table:
                        continue
                    for id, row in writer.rows.items():
                        yield row.difference(stored.pop(id)) if id in stored else f"row {id} of {table} is lost"
                yield f"rows of {table} that no worker wrote: {list(stored)}" if stored else None
                wrong = conn.execute(f"SELECT id FROM {table} WHERE sums <> {SUMS}").fetchall()
                yield f"rows of {table} that do not add up: {wrong}" if wrong else None
            for id, v in conn.execute("SELECT id, v FROM hot").fetchall():
                for writer in self.writers:
                    tokens = re.findall(f"<{writer.number}:[0-9]+:x*>", v)
                    if tokens != writer.tokens[id]:
                        at = next((i for i, (t, w) in enumerate(zip(tokens, writer.tokens[id])) if t != w), min(len(tokens), len(writer.tokens[id])))
                        yield (f"hot row {id}: {len(tokens)} tokens of writer {writer.number}, {len(writer.tokens[id])} were committed; "
                               f"the first that differs: {tokens[at:at + 1]} for {writer.tokens[id][at:at + 1]}")
                if len(v) != sum(len(token) for writer in self.writers for token in writer.tokens[id]):
                    yield f"hot row {id} has more in it than tokens"
            for table in (*tables, "hot", "probe"):
                if conn.execute(f"SELECT to_regclass('{table}')::oid IN (SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'sliced')").fetchone()[0]:
                    found = verify(conn, table)
                    yield f"verify of {table}: {found[:3]}" if found else None

    def check_server(self, server, name, tables=TABLES):
        differences = [d for d in self.differences(server, tables) if d is not None]
        for difference in differences[1:4]:
            print(f"# {name}: {difference}")
        rows = sum(len(writer.rows) for writer in self.writers if writer.table in tables)
        self.check(not differences, f"{name}: {differences[0] if differences else f'{rows} rows and {self.transactions} transactions'}")

    def probe(self):
        """WAL of one change of each kind, in bytes, for an old value."""
        result = []
        with self.server.connect() as conn:
            conn.execute("SET sliced.logical_decoding = off")
            for change in CHANGES:
                update = f"UPDATE probe SET {change}, n = n + 1"
                conn.execute("CHECKPOINT")
                for _ in range(20):     # pages get their images in the WAL
                    conn.execute(update)
                start = conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]
                for _ in range(100):
                    conn.execute(update)
                result.append(int(conn.execute("SELECT pg_current_wal_insert_lsn() - %s", [start]).fetchone()[0]) // 100)
        return result

    def use_probe(self):
        """Change it as often as it would be changed in a long time."""
        with self.server.connect() as conn:
            conn.execute("SET sliced.logical_decoding = off")
            for i in range(300):
                conn.execute(f"UPDATE probe SET {CHANGES[i % len(CHANGES)].replace('500', str(i + 100))}, n = n + 1")

    def check_growth(self, before):
        after = self.probe()
        self.check(all(a < WAL_TIMES * b + 500 for a, b in zip(after, before)), f"WAL of a change: {before} bytes at first, {after} at the end")
        self.check(self.memory < MEMORY_KB, f"sessions of writers gain {self.memory} kB, and have {self.memory_most} at most")
        self.drop_invalid_indexes()
        with self.server.connect() as conn:
            for table in (*TABLES, "hot"):
                live = "length(v)" if table == "hot" else "octet_length(v) + length(b) + octet_length(j::text) + pg_column_size(a) + octet_length(x::text)"
                bytes_, = conn.execute(f"SELECT coalesce(sum({live}), 0) FROM {table}").fetchone()
                for command, (times, more) in ((f"VACUUM {table}", (FILES[0], FILES[1] + FILES_HELD * self.held)), (f"VACUUM FULL {table}", FILES_FULL)):
                    conn.execute(command)
                    size, = conn.execute(f"SELECT pg_table_size('{table}')").fetchone()
                    self.check(size < times * bytes_ + more, f"{size} bytes on disk after {command}, {bytes_} of values, {self.held} of WAL before VACUUM")

    def subscribe(self, subscriber):
        with subscriber.connect() as conn:
            conn.execute("TRUNCATE published, hot")
            conn.execute(f"CREATE SUBSCRIPTION soak CONNECTION 'host={self.host} port=5432 user=postgres dbname=postgres' PUBLICATION soak")

    def check_subscriber(self, subscriber):
        subscriber.wait_until("SELECT bool_and(srsubstate = 'r'), sum(pg_relation_size(srrelid)) FROM pg_subscription_rel", "the subscriber's copy")
        lsn, = self.server.one("SELECT pg_current_wal_flush_lsn()")
        seconds = self.server.wait_until(f"SELECT coalesce(max(confirmed_flush_lsn) >= '{lsn}', false), max(confirmed_flush_lsn) FROM pg_replication_slots WHERE slot_name = 'soak'",
                                         "the subscriber's changes", subscriber)
        self.subscriber_seconds = max(self.subscriber_seconds, seconds)
        self.check_server(subscriber, "the subscriber", TABLES[:1])
        with subscriber.connect() as conn:
            conn.execute("DROP SUBSCRIPTION soak")

    def show_logs(self):
        """What the server says of the first errors that ended the soak, with statement and backtrace."""
        log = self.server.log()
        for failure in self.failures[:2]:
            text = failure.splitlines()[0].split(": ", 2)[-1]
            at = next((i for i, line in enumerate(log) if "ERROR:  " + text in line), None)
            for line in log[at:at + 25] if at is not None else []:
                print(f"# {line[:300]}")
        serious = [line for line in self.standby.log() if any(word in line for word in ("FATAL:", "CONTEXT:  WAL redo", *CRASH))]
        for line in serious[-15:]:
            print(f"# {self.standby.name}: {line[:300]}")

    def run(self):
        self.server.start("wal_level=logical", "max_wal_senders=10", "hot_standby=on", "autovacuum_naptime=3s", "autovacuum_vacuum_cost_delay=0", "wal_keep_size=4GB",
                          "max_wal_size=2GB", "restart_after_crash=on", "log_min_messages=error",
                          "backtrace_functions=getBaseTypeAndTypmod,get_type_io_data,getTypeOutputInfo,get_typlenbyvalalign,get_attstatsslot,lookup_type_cache",
                          "deadlock_timeout=200ms",
                          # the subscriber gets slices, or core's format
                          f"shared_preload_libraries={'pg_sliced' if self.seed % 3 else ''}")
        with self.server.connect() as conn:
            conn.execute(SETUP)
        subscriber = Server("subscriber")
        subscriber.start("wal_level=logical")
        with subscriber.connect() as conn:
            conn.execute(SETUP)
        before = self.probe()
        number = 0
        while not self.failures and (number < 2 or time.time() < self.end):
            number += 1
            standby = self.standby = self.server.standby(f"soak{number}")
            standby.set("hot_standby_feedback", "off" if number % 2 else "on")
            standby.set("max_standby_streaming_delay", STANDBY_DELAY)
            if number % 2 == 0:
                self.subscribe(subscriber)
            left = self.end - time.time()
            seconds = max(ROUND_SECONDS[0], min(ROUND_SECONDS[1], left / 2 if number == 1 else left))
            self.round(seconds, max(KILL_EVERY[0], min(KILL_EVERY[1], seconds / 3)))
            if self.failures:
                break
            standby.set("max_standby_streaming_delay", "-1")    # the check reads all of it
            self.use_probe()
            self.check_server(self.server, f"round {number}")
            if number % 2 == 0:
                self.check_subscriber(subscriber)
            lsn, = self.server.one("SELECT pg_current_wal_flush_lsn()")
            standby.wait_until(f"SELECT pg_last_wal_replay_lsn() >= '{lsn}', pg_last_wal_replay_lsn()", "the standby's WAL")
            self.check_server(standby, "the standby")
            standby.promote()
            self.server.remove()
            self.server, self.host = standby, standby.host
            self.check_server(self.server, "the standby, promoted")
        if not self.failures:
            self.check(self.standby_snapshots > 0, f"{self.standby_snapshots} snapshots on standbys, errors {self.standby_errors}")
            self.check_growth(before)
        else:
            self.show_logs()
        print(f"# seed {self.seed}: {number} rounds, {self.transactions} transactions, {self.snapshots} snapshots, {self.kills} kills, the subscriber {self.subscriber_seconds:.0f} s behind, errors {self.errors}, {self.commands}")
        return not self.failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    sys.exit(not Soak(arguments.minutes, arguments.seed).run())
