"""Who works on the lists: sessions that append and read, one that only reads, one that keeps the tables in order.

Each is a process of its own, and returns what it has done when the time is over.
"""
import ctypes
import multiprocessing
import random
import time

import psycopg

from checker import ABORTED, COMMITTED, FOLLOWER, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE, UNKNOWN, Transaction
from kinds import KINDS, Damaged

TABLES = "lists", "adopted"
ROWS, ADOPTED_ROWS = range(1, 41), range(29, 41)
HOT_ROWS = range(27, 31)        # of both tables
MIXED = READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE
EXPECTED = {
    "40001": "another transaction was first",
    "40P01": "a deadlock",
    "55P03": "the table was locked for longer than we wait",
    "22012": "an error on purpose",
    "57P01": "the server is shut down",
    "57P02": "a process was killed, the server restarts",
    "57P03": "the server is not ready yet",
}
# Psycopg has no number for these: the connection was lost, or refused.
LOST = ("server closed the connection", "connection failed", "terminating connection", "the connection is closed", "the connection is lost",
        "could not receive data", "could not send data", "consuming input failed", "connection timeout", "connection is bad")

# A variable keeps the value of a statement that was undone, and must not become that of the next one.
DETOUR = """CREATE OR REPLACE FUNCTION detour(place int, undone text, entry text, OUT version int, OUT kept text) LANGUAGE plpgsql AS $$
    BEGIN
        BEGIN
            UPDATE lists l SET t = l.t || undone, n = l.n + 1 WHERE id = place RETURNING l.t INTO kept;
            RAISE division_by_zero;
        EXCEPTION WHEN division_by_zero THEN NULL;
        END;
        UPDATE lists l SET t = l.t || entry, n = l.n + 1 WHERE id = place RETURNING l.n INTO version;
        kept := right(kept, length(undone));
    END $$"""


def table_of(row):
    return TABLES[row in ADOPTED_ROWS]


class Shared:
    """What the sessions learn while they work."""

    def __init__(self):
        self.end = multiprocessing.Value(ctypes.c_double, 0)
        self.socket = multiprocessing.Array(ctypes.c_char, 200)

    def over(self):
        return time.time() > self.end.value

    def use(self, server):
        self.socket.value = server.host.encode()

    def host(self):
        return self.socket.value.decode()


class Worker:
    def __init__(self, shared, name, seed):
        self.shared, self.name, self.r = shared, name, random.Random(f"{seed} {name}")
        self.conn, self.errors = None, {}
        self.problems = []

    def run(self):
        """Work until the time is over; returns self, without what only a process has."""
        while not self.shared.over() and not self.problems:
            try:
                if self.conn is None or self.conn.closed or self.conn.broken:
                    self.conn = self.connect()
                self.work()
            except psycopg.Error as e:
                self.take(e)
            except Exception as e:  # pylint: disable=broad-except
                self.problems.append(("error", f"{self.name}: {e!r}"))
        if self.conn is not None:
            self.conn.close()
        self.conn = self.shared = None
        return self

    def connect(self):
        conn = psycopg.connect(host=self.host(), port=5432, user="postgres", dbname="postgres", autocommit=True, application_name=self.name)
        conn.prepare_threshold = self.r.choice([None, 3])
        conn.execute("SET enable_seqscan = off")        # it would lock the whole table for SERIALIZABLE
        conn.execute("SET lock_timeout = '5s'")
        return conn

    def host(self):
        return self.shared.host()

    def take(self, error):
        """What may happen is counted, anything else is a problem."""
        key = error.sqlstate or "lost"
        if not self.expects(error):
            self.problems.append(("error", f"{self.name}: {key} {error}"))
        self.errors[key] = self.errors.get(key, 0) + 1
        try:
            if self.conn is not None and not self.conn.closed and not self.conn.broken:
                self.conn.execute("ROLLBACK")
            elif key in ("lost", "57P03"):
                time.sleep(0.05)
        except psycopg.Error:
            pass

    def expects(self, error):
        if error.sqlstate is None:
            return isinstance(error, psycopg.OperationalError) and any(text in str(error) for text in LOST)
        return error.sqlstate in EXPECTED


class Session(Worker):
    """Appends and reads."""

    def __init__(self, shared, number, seed, levels, pretends=False):
        super().__init__(shared, f"session {number}", seed)
        self.number, self.levels, self.pretends = number, levels, pretends
        # for write skew, transactions read what others change meanwhile, and change little themselves
        self.hot, self.pause, self.many = (0.5, 0.05, 0.02) if levels == [SERIALIZABLE] else (0.15, 0.01, 0.1)
        self.appended = 0
        self.history = []
        self.known = {}     # (row, column) -> how many numbers were there, and how long was the text
        self.own = set()    # rows that the transaction has changed

    def work(self):
        t = Transaction(self.number, self.r.choice(self.levels))
        self.history.append(t)
        self.own.clear()
        self.conn.execute(f"BEGIN ISOLATION LEVEL {REPEATABLE_READ if self.pretends else t.level}")
        for _ in range(self.r.randint(1, 6)):
            if self.r.random() < 0.15:
                self.savepoint(t, 0)
            else:
                self.operation(t)
        if self.r.random() < 0.06:
            self.conn.execute("ROLLBACK")
            return
        t.status = UNKNOWN
        try:
            done = self.conn.execute("COMMIT").statusmessage
        except psycopg.errors.OperationalError as e:
            if e.sqlstate in ("40001", "40P01"):
                t.status = ABORTED
            raise
        t.status = COMMITTED
        if done != "COMMIT":
            self.problems.append(("error", f"{self.name}: the answer to COMMIT was {done}"))

    def savepoint(self, t, depth):
        undo = self.r.random() < 0.6
        self.conn.execute(f"SAVEPOINT s{depth}")
        t.ops.append(("savepoint", depth))
        try:
            for _ in range(self.r.choice([1, 1, 2])):
                if depth < 2 and self.r.random() < 0.2:
                    self.savepoint(t, depth + 1)
                else:
                    self.operation(t)
            if undo and self.r.random() < 0.3:
                self.conn.execute("SELECT 1 / 0")
        except psycopg.Error as e:
            if e.sqlstate not in ("22012", "40001", "55P03") or not self.expects(e) or self.conn.broken:
                raise
            self.errors[e.sqlstate] = self.errors.get(e.sqlstate, 0) + 1
            undo = True
        if undo:
            self.conn.execute(f"ROLLBACK TO s{depth}")
            t.ops.append(("undo", depth))
        self.conn.execute(f"RELEASE s{depth}")

    def operation(self, t):
        if self.r.random() < self.pause:
            time.sleep(self.r.random() * 0.2)
        row, column = self.r.choice(HOT_ROWS if self.r.random() < self.hot else ROWS), self.r.choice(list(KINDS))
        kind = self.r.random()
        if kind < 0.42:
            self.append(t, row, [column])
        elif kind < 0.42 + self.many:
            self.append_to_many(t, row)
        elif kind < 0.57:
            self.append(t, row, self.r.sample(list(KINDS), 2))
        elif kind < 0.6:
            self.replace(t, row, column)
        elif kind < 0.63 and row not in ADOPTED_ROWS:
            self.append_after_undone(t, row)
        else:
            self.read(t, row, column)

    def next_number(self):
        self.appended += 1
        return self.appended * 16 + self.number

    def appending(self, columns):
        """A number, what SET says to append it, and the arguments of that."""
        number, sets, arguments = self.next_number(), [], []
        for column in columns:
            expression, values = self.r.choice(KINDS[column].appends(number))
            sets.append(f"{column} = {expression}")
            arguments += values
        return number, ", ".join(sets) + ", n = l.n + 1", arguments

    def append_to_many(self, t, row):
        """All lists of several rows."""
        number, sets, arguments = self.appending(KINDS)
        sql = f"UPDATE {table_of(row)} l SET {sets} WHERE id BETWEEN {row} AND {row + self.r.randint(1, 9)} RETURNING id, n"
        for changed, version in self.conn.execute(sql, arguments).fetchall():
            self.own.add(changed)
            t.ops.append(("append", changed, tuple(KINDS), number, version))

    def append_after_undone(self, t, row):
        number = self.next_number()
        entry = KINDS["t"].entry(number)
        undone = "u" * len(entry)
        version, kept = self.one("SELECT * FROM detour(%s, %s, %s)", [row, undone, entry])
        self.own.add(row)
        t.ops.append(("append", row, ("t",), number, version))
        if kept != undone:
            self.problems.append(("undone append", f"{self.name}, version {version} of {row}.t: a variable had {undone}, and now has {kept}"))

    def append(self, t, row, columns):
        number, sets, arguments = self.appending(columns)
        table, form = table_of(row), self.r.random()
        expressions, parse = ([], None) if self.r.random() < 0.7 else self.reading(row, columns[0])
        returning = ", ".join(["n", *expressions])
        if form < 0.85:
            sql = f"UPDATE {table} l SET {sets} WHERE id = {row} RETURNING {returning}"
        elif form < 0.93:
            sql = f"INSERT INTO {table} AS l (id) VALUES ({row}) ON CONFLICT (id) DO UPDATE SET {sets} RETURNING {returning}"
        else:
            self.conn.execute(f"MERGE INTO {table} l USING (VALUES ({row})) s(x) ON id = x WHEN MATCHED THEN UPDATE SET {sets}", arguments)
            sql, arguments = f"SELECT {returning} FROM {table} WHERE id = {row}", []
        version, *values = self.one(sql, arguments)
        self.own.add(row)
        t.ops.append(("append", row, tuple(columns), number, version))
        if parse is not None:
            self.see(t, row, columns[0], version, parse, values)

    def one(self, sql, arguments=None):
        rows = self.conn.execute(sql, arguments).fetchall()
        if len(rows) != 1:
            raise Damaged(f"{len(rows)} rows for one: {sql}")
        return rows[0]

    def reading(self, row, column):
        return KINDS[column].read(self.r, row, *self.known.get((row, column), (0, 0)))

    def read(self, t, row, column):
        expressions, parse = self.reading(row, column)
        lock = " FOR UPDATE" if t.level != FOLLOWER and self.r.random() < 0.05 else ""
        version, *values = self.one(f"SELECT n, {', '.join(expressions)} FROM {table_of(row)} WHERE id = {row}{lock}")
        self.see(t, row, column, version, parse, values)

    def see(self, t, row, column, version, parse, values):
        try:
            start, numbers, to_end, length = parse(*values)
        except (Damaged, TypeError, ValueError) as e:
            self.problems.append(("damaged value", f"{self.name}, version {version} of {row}.{column}: {e!r}"))
            return
        t.ops.append(("read", row, column, version, start, numbers, to_end))
        # what the transaction has not changed was committed, and stays
        if to_end and row not in self.own:
            self.known[row, column] = start + len(numbers), length

    def replace(self, t, row, column):
        """As clients do: read all of it, and send all of it, if it is still the same."""
        kind, number, table = KINDS[column], self.next_number(), table_of(row)
        expressions, parse = kind.whole(row)
        version, *values = self.one(f"SELECT n, {', '.join(expressions)} FROM {table} WHERE id = {row}")
        self.see(t, row, column, version, parse, values)
        if self.problems:
            return
        value = kind.longer(row, [*t.ops[-1][5], number])
        changed = self.conn.execute(f"UPDATE {table} SET {column} = %s::{kind.type}, n = n + 1 WHERE id = {row} AND n = {version} RETURNING n", [value]).fetchall()
        if changed:
            self.own.add(row)
            t.ops.append(("append", row, (column,), number, changed[0][0]))


class Follower(Session):
    """Reads on a standby or a subscriber."""

    def __init__(self, shared, number, seed, server, is_standby):
        super().__init__(shared, number, seed, [FOLLOWER])
        self.socket, self.is_standby = server.host, is_standby

    def host(self):
        return self.socket

    def work(self):
        t = Transaction(self.number, FOLLOWER, COMMITTED)
        self.read(t, self.r.choice(ROWS), self.r.choice(list(KINDS)))
        self.history.append(t)
        time.sleep(0.01)

    def expects(self, error):
        # REINDEX leaves out what is dead for the primary, so an older snapshot of a standby misses values: of heap too
        return super().expects(error) or (self.is_standby and error.sqlstate == "XX001" and "missing" in str(error))


class Keeper(Worker):
    """VACUUM and the like.  The second table begins as one of heap, and becomes a sliced one in the middle."""

    COMMANDS = """VACUUM {t}|VACUUM (FREEZE) {t}|VACUUM FULL {t}|VACUUM FULL {t}|CLUSTER {t} USING {t}_pkey|REINDEX TABLE {t}|ANALYZE {t}
        |CHECKPOINT|CALL sliced.convert('{t}', max_wait => 1)|CALL sliced.convert('{t}', max_wait => 1)""".split("|")

    def __init__(self, shared, seed, sliced, seconds, converts):
        """With "converts", rows get new versions most of the time, which must not hide a conflict of serializable transactions."""
        super().__init__(shared, "keeper", seed)
        self.sliced = sliced
        self.commands = {}
        self.rest = 0.05 if converts else 0.4
        self.choices = self.COMMANDS + self.COMMANDS[-1:] * (30 if converts else 0)
        self.adopt_at = time.time() + seconds / 3 if sliced else None

    def work(self):
        time.sleep(self.r.random() * self.rest)
        if self.adopt_at is not None and time.time() > self.adopt_at:
            self.conn.execute("SELECT sliced.adopt('adopted')")
            self.adopt_at = None
            self.commands["ADOPT"] = 1
            return
        table = self.r.choice(TABLES)
        command = self.r.choice(self.choices).strip().format(t=table)
        heap = not self.sliced or (table == "adopted" and self.adopt_at is not None)
        if heap and "sliced." in command:
            return
        try:
            self.conn.execute(command)
        except psycopg.errors.DataCorrupted as e:
            # heap's own, of dead rows: test/specs/dying_values.spec
            if "chunk number" not in str(e) or not heap:
                raise
        self.commands[command.split()[0]] = self.commands.get(command.split()[0], 0) + 1
