"""Who works on the tables at the same time.

Each writer has rows of its own, which it knows exactly, and adds tokens to rows
that all of them add to.  A transaction counts itself in table progress.  So when
the answer to a COMMIT was lost, the writer finds out what has become of it: it
locks its row there, which waits for the end of the session that it has lost.
"""
import os
import random
import signal
import threading
import time

import psycopg

from rows import COLUMNS, SUMS, Row, quoted

TABLES = ("published", "private")
HOT_ROWS = 3

EXPECTED = {
    "57014": "canceled by the disturber",
    "57P01": "terminated by the disturber",
    "57P02": "somebody was killed, the server restarts",
    "57P03": "the server is still restarting",
    "40001": "another transaction was first",
    "40P01": "a lock on the table met a lock on a row",
    "55P03": "the table was locked for longer than we wait",
}
# Psycopg has no number for these: the connection was lost, or refused.
LOST = ("server closed the connection", "connection failed", "terminating connection", "the connection is closed", "the connection is lost",
        "could not receive data", "SSL SYSCALL", "could not send data", "consuming input failed")
# REINDEX leaves out what is dead for the primary.  A standby's older snapshot then misses values, of heap too, once this has been replayed.
REPLAY = 10
SNAPSHOTS = "BEGIN ISOLATION LEVEL REPEATABLE READ"


class Wrong(Exception):
    """What must not happen."""


def expected(error):
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError) and any(text in str(error) for text in LOST)
    return error.sqlstate in EXPECTED


def verify(conn, table):
    """What is wrong with a table.  Heap's VACUUM FULL leaves values of dying rows behind, which stay when it is adopted: chunks of core's begin at 0."""
    found = conn.execute(f"SELECT kind, row_id, value_id, message FROM sliced.verify('{table}') v(rel, kind, row_id, c, value_id, o, message)").fetchall()
    if table == "private" and any(f[0] == "orphaned value" for f in found):
        toast, = conn.execute(f"SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = '{table}'").fetchone()
        chunks = {id for id, in conn.execute(f"SELECT chunk_id FROM {toast} WHERE chunk_seq = 0")}
        found = [f for f in found if f[0] != "orphaned value" or f[2] not in chunks]
    return found


class Worker(threading.Thread):
    """Does its work again and again, until the time is over."""

    def __init__(self, soak, name, seed):
        super().__init__(name=name, daemon=True)
        self.soak, self.r = soak, random.Random(f"{seed} {name}")
        self.conn = None
        self.errors = {}
        self.done = 0

    def run(self):
        try:
            while not self.soak.over():
                self.attempt(self.work)
            self.attempt(self.finish)
        except Exception as e:  # pylint: disable=broad-except
            self.soak.fail(f"{self.name}: {type(e).__name__}: {str(e)[:900]}")
        if self.conn is not None:
            self.conn.close()
            self.conn = None

    def attempt(self, work):
        try:
            if self.conn is None or self.conn.closed or self.conn.broken:
                self.conn = self.connect()
            work()
            self.done += 1
        except psycopg.Error as e:
            if not self.expects(e):
                raise
            key = e.sqlstate or "lost"
            self.errors[key] = self.errors.get(key, 0) + 1
            self.after_error()
            time.sleep(0.05)

    def connect(self):
        conn = psycopg.connect(host=self.host(), port=5432, user="postgres", dbname="postgres", autocommit=True, prepare_threshold=None,
                               application_name=f"soak {self.name}")
        self.set_up(conn)
        return conn

    def host(self):
        return self.soak.host

    def expects(self, error):
        return expected(error)

    def set_up(self, conn):
        pass

    def after_error(self):
        try:
            if not self.conn.closed and not self.conn.broken:
                self.conn.execute("ROLLBACK")
        except psycopg.Error:       # it can be cancelled, too
            self.conn.close()

    def finish(self):
        pass

    def sleep(self, seconds):
        end = time.time() + seconds
        while time.time() < end and not self.soak.over():
            time.sleep(0.05)


class Writer(Worker):
    def __init__(self, soak, name, seed, number):
        super().__init__(soak, name, seed)
        self.number = number
        self.table = TABLES[number % len(TABLES)]
        self.rows = {}
        self.tokens = {i: [] for i in range(1, HOT_ROWS + 1)}
        self.seq = 0                # of the last transaction that is known to be committed
        self.doubt = None           # rows and tokens of a transaction that may be committed or not
        self.memory = []

    def successor(self, seed):
        """The same for the next round: a thread runs only once."""
        writer = Writer(self.soak, self.name, seed, self.number)
        writer.rows, writer.tokens, writer.seq = self.rows, self.tokens, self.seq
        return writer

    def set_up(self, conn):
        self.memory = []
        # who has lost a session may wait for what it has prepared
        conn.execute("SET lock_timeout = '5s'")
        if self.table == "private":
            conn.execute("SET sliced.logical_decoding = off")

    def ids(self):
        return range(self.number * 1000, self.number * 1000 + 8)

    def finish(self):
        while self.doubt is not None:
            self.attempt(self.find_out)

    def work(self):
        if self.doubt is not None:
            self.find_out()
        self.measure_memory()
        rows, tokens = dict(self.rows), []
        # a snapshot from before ALTER TABLE has rewritten the table finds no rows in it
        self.conn.execute("BEGIN" if self.table == "private" or self.r.random() < 0.7 else SNAPSHOTS)
        rows, tokens = self.statements(rows, tokens)
        self.conn.execute(f"UPDATE progress SET seq = {self.seq + 1} WHERE writer = {self.number}")
        end = self.r.random()
        if end < 0.1:
            self.conn.execute("ROLLBACK")
            return
        self.doubt = rows, tokens
        if end < 0.2:
            self.conn.execute(f"PREPARE TRANSACTION '{self.gid()}'")
            self.conn.execute(f"COMMIT PREPARED '{self.gid()}'")
        else:
            self.conn.execute("COMMIT")
        self.committed()

    def gid(self):
        return f"soak {self.number}"

    def committed(self):
        self.rows, tokens = self.doubt
        for row, token in tokens:
            self.tokens[row].append(token)
        self.seq += 1
        self.doubt = None

    def find_out(self):
        """Has the last transaction been committed?"""
        if self.conn.execute("SELECT FROM pg_prepared_xacts WHERE gid = %s", [self.gid()]).rowcount:
            self.conn.execute(f"COMMIT PREPARED '{self.gid()}'")
        stored, = self.conn.execute(f"SELECT seq FROM progress WHERE writer = {self.number} FOR UPDATE").fetchone()
        if self.conn.execute("SELECT FROM pg_prepared_xacts WHERE gid = %s", [self.gid()]).rowcount:
            return
        if stored == self.seq + 1:
            self.committed()
        elif stored == self.seq:
            self.doubt = None
        else:
            raise Wrong(f"transaction {self.seq} of writer {self.number} was committed, the database knows of {stored}")

    def statements(self, rows, tokens):
        for _ in range(self.r.choice([1, 1, 2, 4])):
            if self.r.random() < 0.25:
                undone = self.r.random() < 0.5
                before = dict(rows), list(tokens)
                self.conn.execute("SAVEPOINT s")
                self.statement(rows, tokens)
                if undone and self.r.random() < 0.3:
                    self.fail_on_purpose()
                self.conn.execute("ROLLBACK TO s" if undone else "RELEASE s")
                if undone:
                    rows, tokens = before
            self.statement(rows, tokens)
        if self.r.random() < 0.3 and not tokens:
            self.grow(tokens)
        return rows, tokens

    def fail_on_purpose(self):
        try:
            self.conn.execute("SELECT 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass

    def statement(self, rows, tokens):
        id = self.r.choice(self.ids())
        kind = self.r.random()
        if id not in rows:
            row = rows[id] = Row(self.r, id)
            self.one(f"INSERT INTO {self.table} ({COLUMNS}) VALUES ({row.values()})")
        elif kind < 0.04:
            del rows[id]
            self.one(f"DELETE FROM {self.table} WHERE id = {id}")
        elif kind < 0.1:
            row = rows[id] = rows[id].copy()
            row.v += "conflict"
            row.n += 1
            self.one(f"INSERT INTO {self.table} AS o ({COLUMNS}) VALUES ({Row(self.r, id).values()}) "
                     f"ON CONFLICT (id) DO UPDATE SET v = o.v || 'conflict', n = o.n + 1, sums = '{row.sums()}'")
        else:
            row = rows[id] = rows[id].copy()
            self.one(f"UPDATE {self.table} SET {row.change(self.r)} WHERE id = {id}")

    def one(self, sql):
        count = self.conn.execute(sql).rowcount
        if count != 1:
            raise Wrong(f"{count} rows for one: {sql[:200]}")

    def grow(self, tokens):
        if self.table == "private":     # the hot rows are published
            self.conn.execute("SET LOCAL sliced.logical_decoding = auto")
        row, token = self.r.randrange(HOT_ROWS) + 1, f"<{self.number}:{self.seq + 1}:{'x' * self.r.choice([1, 20, 400])}>"
        self.one(f"UPDATE hot SET v = v || {quoted(token)}, n = n + 1 WHERE id = {row}")
        tokens.append((row, token))

    def measure_memory(self):
        """What the session has for itself, once what it keeps for ever is there."""
        if self.done % 20 == 0:
            try:
                with open(f"/proc/{self.conn.info.backend_pid}/status", encoding="ascii") as file:
                    self.memory.append(next(int(line.split()[1]) for line in file if line.startswith("RssAnon")))
            except (OSError, StopIteration):    # it is gone
                return
            if len(self.memory) > 5:
                self.soak.saw_memory(self.memory[-1] - max(self.memory[1:4]), self.memory[-1])


class Reader(Worker):
    """Sees the same twice, and every row what it says of itself."""

    def work(self):
        self.began = time.time()
        self.conn.execute(SNAPSHOTS)
        self.conn.execute("SELECT count(*) FROM progress")
        if self.r.random() < 0.3:       # the tables may be rewritten while only the snapshot is there
            self.sleep(self.r.random() * 2)
        first = self.look()
        self.sleep(self.r.random() * 4)
        second = self.look()
        self.conn.execute("COMMIT")
        if first != second:
            raise Wrong(f"one snapshot saw different rows: {sorted(set(first) ^ set(second))[:4]}")

    def look(self):
        seen = self.conn.execute("SELECT 'hot', id, md5(v) FROM hot").fetchall()
        for table in TABLES:
            for id, whole, sums in self.conn.execute(f"SELECT id, md5(({COLUMNS})::text), sums = {SUMS} FROM {table}"):
                if not sums:
                    raise Wrong(f"row {id} of {table} does not add up")
                seen.append((table, id, whole))
        return seen


class StandbyReader(Reader):
    """The same on the standby, beside replay, which cancels a query that is in its way for too long."""

    def host(self):
        return self.soak.standby.host

    def expects(self, error):
        """Nobody is disturbed there but by replay, which ends the session if it waits for its client; that may be gone before it hears why."""
        if error.sqlstate is None:
            return expected(error) and not self.soak.standby.crashed()
        return error.sqlstate in ("40001", "40P01") or (error.sqlstate == "XX001" and "missing" in str(error) and self.soak.reindexed > self.began - REPLAY)


class Keeper(Worker):
    """VACUUM, other indexes, other storage.  There are two, who meet on one table."""

    COMMANDS = """VACUUM {t}|VACUUM {t}|VACUUM (FREEZE) {t}|VACUUM FULL {t}|CLUSTER {t} USING {t}_pkey|ANALYZE {t}|CHECKPOINT
        |DROP INDEX IF EXISTS i_{t}|CREATE INDEX CONCURRENTLY IF NOT EXISTS i_{t} ON {t} (md5(v), left(j -> 'k1' ->> 's', 300)) WHERE length(v) < 9000
        |DROP INDEX IF EXISTS i_{t}|CREATE INDEX IF NOT EXISTS i_{t} ON {t} (md5(v), left(x[1], 20))|DROP INDEX IF EXISTS c_{t}
        |CREATE INDEX CONCURRENTLY IF NOT EXISTS c_{t} ON {t} (right(v, 30), n)|REINDEX TABLE {t}|REINDEX TABLE CONCURRENTLY {t}
        |ALTER TABLE {t} ALTER v SET COMPRESSION pglz|ALTER TABLE {t} ALTER v SET COMPRESSION lz4|ALTER TABLE {t} ALTER b SET STORAGE external
        |ALTER TABLE {t} ALTER b SET STORAGE extended|ALTER TABLE {t} SET (toast_tuple_target = 256)|ALTER TABLE {t} RESET (toast_tuple_target)
        |VACUUM FULL hot|VACUUM hot|VERIFY {t}|VERIFY {t}|VERIFY hot|TRAIN {t}|TRAIN {t}|TRAIN hot|CONVERT {t}|CONVERT {t}|CONVERT hot
        |ANALYZE parent|ANALYZE parent|EMPTY {t}|LABEL {t} compression=zstd|LABEL {t} compression=pglz|LABEL {t} dictionary=auto""".split("|")
    PRIVATE = """ALTER TABLE private ADD more text DEFAULT repeat('x', 3000)|ALTER TABLE private DROP IF EXISTS more
        |ALTER TABLE private ALTER n TYPE bigint|ALTER TABLE private ALTER n TYPE int|ALTER TABLE private SET ACCESS METHOD heap
        |ALTER TABLE private SET ACCESS METHOD sliced|ADOPT private|ADOPT private""".split("|")

    def set_up(self, conn):
        conn.execute("SET lock_timeout = '3s'")

    def work(self):
        self.sleep(self.r.random() * 0.4)
        command = self.r.choice(self.COMMANDS + self.PRIVATE).strip().format(t=self.r.choice(TABLES))
        self.soak.commands[command.split()[0]] = self.soak.commands.get(command.split()[0], 0) + 1
        if command.startswith("ADOPT"):
            command = f"SELECT sliced.adopt('{command.split()[1]}')"
        if command.startswith("TRAIN"):
            command = f"SELECT sliced.train('{command.split()[1]}')"
        if command.startswith("CONVERT"):
            command = f"CALL sliced.convert('{command.split()[1]}', max_wait => 1)"
        if command.startswith("LABEL"):
            command = "SELECT sliced.alter_table('{}', '{}')".format(*command.split()[1:])
        if command.startswith("EMPTY"):
            command = f"BEGIN; TRUNCATE {command.split()[1]}; ROLLBACK"
        if command.startswith("VERIFY"):
            self.verify(command.split()[1])
            return
        try:
            self.conn.execute(command)
            if command.startswith("REINDEX TABLE "):
                self.soak.reindexed = time.time()
        except psycopg.errors.DuplicateColumn:
            pass
        except psycopg.errors.DeadlockDetected as e:
            # these ask for no lock that a statement of the user would not, one table at a time; but who builds an index concurrently waits for all snapshots
            if any(word in command for word in ("sliced.convert", "sliced.train", "ANALYZE")) and "virtual transaction" not in str(e):
                raise Wrong(f"{command}: {e}") from e
            raise
        except psycopg.errors.ObjectInUse as e:
            # the other keeper is: one conversion of a table at a time
            if "sliced.convert" not in command or "another session is converting" not in str(e):
                raise Wrong(f"{command}: {e}") from e
        except psycopg.errors.InternalError_ as e:
            # core's, of catalogs that we do not write: TRUNCATE has met it once in 30 soaks
            if "sliced." in command or "tuple concurrently updated" not in str(e):
                raise
        except psycopg.errors.WrongObjectType:
            if "sliced." not in command or not self.is_heaps(command):
                raise
        except psycopg.errors.DataCorrupted as e:
            # heap's own, of dead rows: dying_values.spec
            if "chunk number" not in str(e) or not self.is_heaps(command):
                raise Wrong(f"{command}: {e}") from e

    def is_heaps(self, command):
        return "private" in command and self.conn.execute("SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname = 'private'").fetchone()[0] == "heap"

    def verify(self, table):
        try:
            found = verify(self.conn, table)
        except psycopg.errors.WrongObjectType:      # it is heap's at the moment
            return
        if found:
            raise Wrong(f"verify of {table}: {found[:3]}")


class Watcher(Worker):
    """How much WAL is written, at most, before a VACUUM removes what nobody's snapshot sees any more?"""

    def work(self):
        next_, oldest, end = self.conn.execute("""SELECT next, next - coalesce(max(age(x)), 0), pg_current_wal_insert_lsn() - '0/0'
            FROM (SELECT backend_xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid()
                  UNION ALL SELECT backend_xmin FROM pg_stat_replication UNION ALL SELECT xmin FROM pg_replication_slots) x(x),
                 CAST(pg_snapshot_xmax(pg_current_snapshot())::text AS bigint) next GROUP BY next""").fetchone()
        files = self.conn.execute("""SELECT pg_relation_filenode(reltoastrelid), pg_stat_get_vacuum_count(reltoastrelid) + pg_stat_get_autovacuum_count(reltoastrelid)
            FROM pg_class WHERE relname = ANY (%s) AND relkind = 'r'""", [[*TABLES, "hot"]]).fetchall()
        for file, vacuums in files:
            before, seen = self.soak.vacuums.get(file, (0, []))
            # one has ended: what the last look before it found seen by nobody is gone
            while vacuums > before and len(seen) > 1 and seen[1][0] <= seen[-1][1]:
                seen.pop(0)
            seen.append((next_, oldest, end))
            self.soak.vacuums[file] = vacuums, seen
            self.soak.held = max(self.soak.held, int(end - seen[0][2]))
        self.sleep(0.1)


class Disturber(Worker):
    """Cancels, terminates, and now and then kills the others."""

    def __init__(self, soak, name, seed, every):
        super().__init__(soak, name, seed)
        self.every = every
        self.next_kill = time.time() + every

    def work(self):
        self.sleep(0.2 + self.r.random())
        victims = self.conn.execute("SELECT pid FROM pg_stat_activity WHERE application_name ~ '^soak' AND pid <> pg_backend_pid() ORDER BY pid").fetchall()
        if not victims or self.soak.over():
            return
        victim, = self.r.choice(victims)
        if time.time() > self.next_kill:
            self.next_kill = time.time() + self.every
            self.soak.kills += 1
            os.kill(victim, signal.SIGKILL)
            return
        what = self.r.choice(["cancel", "cancel", "terminate"])
        self.conn.execute(f"SELECT pg_{what}_backend({victim})")
