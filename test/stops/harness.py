"""Sessions of the tests of stop points, and what is checked after each stop."""
import collections
import os
import re
import sys
import time

import psycopg

from scenarios import ALONE, BLOCK, EARLIER, FIXTURE, SAVEPOINT, SCENARIOS, STATE

FULL = "FULL" in os.environ
FILE = os.path.join(os.environ["PGS_TMP"], "fixture")

# What an error looks like to a client.
ERRORS = {"full": "53100", "memory": "53200", "cancel": "57014", "timeout": "57014", "terminate": "57P01"}

OF_EACH_STATEMENT = ("transaction.before-commit", "transaction.committed")

# Points that no scenario reaches, with the reason.
UNREACHABLE = {}


def points():
    """All stop points in the sources: may an error be raised there?"""
    result = {}
    root = os.path.join(os.environ["PGS_ROOT"], "src")
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".c"):
                with open(os.path.join(folder, name)) as file:
                    for dead, point in re.findall(r'\bSLICED_STOP(_DEAD)?\("([^"]+)"\)', file.read()):
                        if point in result:
                            print(f"not ok - two stop points are called {point}")
                        result[point] = not dead
    return result


class Results:
    """Counts, and says what failed, by scenario."""

    def __init__(self):
        self.cases = 0
        self.failures = []
        self.failed = 0

    def check(self, got, expected, what):
        if got == expected:
            return True
        self.failures.append(f"{what}\n  expected {expected!r:.400}\n  got      {got!r:.400}")
        return False

    def end_of(self, name, cases):
        self.cases += cases
        self.failed += len(self.failures)
        print(f"{'not ok' if self.failures else 'ok'} - {name} ({cases} cases)", flush=True)
        for failure in self.failures[:3]:
            print("\n".join("# " + line for line in failure.splitlines()), flush=True)
        if len(self.failures) > 3:
            print(f"# and {len(self.failures) - 3} more")
        self.failures = []


class Session:
    """A connection that uses one of two schemas: heap_stops, sliced_stops."""

    def __init__(self, am, server=None):
        self.am = am
        self.schema = am + "_stops"
        socket = os.environ["PGHOST"] if server is None else os.path.join(os.environ["PGS_TMP"], server, "socket")
        self.settings = {"host": socket, "autocommit": True, "prepare_threshold": None}
        self.notices = []
        self.connect()

    def connect(self):
        self.connection = psycopg.connect(**self.settings)
        self.connection.add_notice_handler(lambda notice: self.notices.append(notice.message_primary))
        self.choose_schema()

    def choose_schema(self):
        self.run("RESET ALL", f"SET search_path = {self.schema}, public", "SET default_table_access_method = :am")

    def reconnect(self):
        """Connect again, even if the server has to recover first."""
        self.connection.close()
        for _ in range(1200):
            try:
                return self.connect()
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise SystemExit("not ok - the server does not come back")

    def checkpointer(self):
        """Who that is; None if the server ends meanwhile."""
        try:
            return self.run("SELECT max(pid) FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone()[0]
        except psycopg.OperationalError:
            return self.reconnect()

    def wait_for_recovery(self, checkpointer):
        """Connect again, once the server has another checkpointer than before it died."""
        while self.checkpointer() in (None, checkpointer):
            time.sleep(0.05)

    def run(self, *statements):
        cursor = None
        for statement in statements:
            text = statement.replace(":am", self.am).replace(":'file'", f"'{FILE}'")
            cursor = self.connection.execute(text.encode())
        return cursor

    def fails(self, *statements):
        """The SQLSTATE of the error, if there is one; and the step."""
        for i, statement in enumerate(statements):
            try:
                self.run(statement)
            except psycopg.Error as error:
                return error.sqlstate, i
        return None, len(statements)

    def stops(self):
        """What "any:trace" has told."""
        return [notice.split() for notice in self.notices if notice.startswith("stop ")]

    def state(self):
        return self.run(STATE).fetchone()

    def prepare(self, scenario):
        """The tables as they are before the steps."""
        self.clean_up(scenario)
        self.choose_schema()
        self.run(f"CREATE SCHEMA {self.schema}")
        self.run(*scenario.setup)
        if self.am == "sliced":
            self.run(*scenario.sliced_only)
        if scenario.fresh:
            self.reconnect()
        self.run(*scenario.before)

    def clean_up(self, scenario):
        self.run(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE", *scenario.cleanup)

    def left_by_vacuum(self, toast):
        """Pages of a toast relation that have dead rows even after VACUUM, which passes over a page in use."""
        # rows of a commit that is not flushed, as those of convert(), are not all-visible yet
        self.run("SELECT pg_logical_emit_message(true, 'flush', '')")
        for _ in range(20):
            # for slots of the scenario nothing is to be kept
            decoding = self.run("SHOW sliced.logical_decoding").fetchone()[0]
            self.run("SET sliced.logical_decoding = on", f"VACUUM (INDEX_CLEANUP on) {toast}", f"SET sliced.logical_decoding = {decoding}")
            pages = self.run(f"""SELECT pg_relation_size('{toast}') / current_setting('block_size')::int - all_visible
                FROM pg_visibility_map_summary('{toast}')""").fetchone()[0]
            if pages == 0:
                return None
            time.sleep(0.05)
        return f"dead rows on {pages} pages of {toast}"

    def verify(self):
        return self.run("""SELECT array_agg(format('%s: %s', c.oid::regclass, v)) FROM pg_class c, sliced.verify(c.oid) v
            WHERE c.relnamespace = 'sliced_stops'::regnamespace AND c.relkind IN ('r', 'm')
            AND (SELECT amname FROM pg_am WHERE oid = c.relam) = 'sliced' AND v.kind <> 'foreign toast relation'""").fetchone()[0]

    def damage(self):
        """What verify finds, and what is left over."""
        found = self.verify()
        if found is None:
            for row in self.run("""SELECT reltoastrelid::regclass::text FROM pg_class
                    WHERE relnamespace = 'sliced_stops'::regnamespace AND reltoastrelid <> 0""").fetchall():
                found = found or self.left_by_vacuum(row[0])
        return found


def block(steps):
    """The steps until they succeed, in one function."""
    body = " ".join(f"EXECUTE $step${step}$step$;" for step in steps)
    return f"""DO $block$ BEGIN LOOP
        BEGIN {body} EXIT;
        EXCEPTION WHEN data_corrupted THEN RAISE;
        WHEN OTHERS OR query_canceled THEN NULL;
        END;
    END LOOP; END $block$"""


Model = collections.namedtuple("Model", "before after earlier later")


def model(session, scenario):
    """The states of a heap table: before and after the steps, alone and with a change before them."""
    session.prepare(scenario)
    before = session.state()
    session.run(*scenario.steps_alone)
    after = session.state()
    if SAVEPOINT not in scenario.modes:
        return Model(before, after, None, None)
    session.prepare(scenario)
    session.run("BEGIN", EARLIER)
    earlier = session.state()
    session.run(*scenario.steps)
    later = session.state()
    session.run("COMMIT")
    return Model(before, after, earlier, later)


def trace(session, scenario, mode):
    """The points that the steps reach, each with a late time that they do."""
    session.prepare(scenario)
    begin = ("BEGIN", EARLIER, "SAVEPOINT s") if mode == SAVEPOINT else ()
    session.run(*begin, "SET sliced.stop_at = 'any:trace:1'")
    session.notices.clear()
    if mode == BLOCK:
        session.run(block(scenario.steps))
    elif mode == SAVEPOINT:
        session.run(*scenario.steps)
    else:
        session.run(*scenario.steps_alone)
    session.run("RESET sliced.stop_at", *(("COMMIT",) if mode == SAVEPOINT else ()))
    reached = {point: int(times) - own_ends(scenario, point) for _, point, times, _ in session.stops()}
    if mode == BLOCK:
        reached.pop("transaction.before-commit", None)  # behind the block
    return reached


def stop(scenario, point, action, nth):
    """The order, as a statement by itself."""
    return f"SET sliced.stop_at = '{point}:{action}:{nth + own_ends(scenario, point)}'"


def own_ends(scenario, point):
    """The order's own transaction is one more to end, which counts if the library is loaded."""
    return int(point in OF_EACH_STATEMENT and not scenario.fresh)
