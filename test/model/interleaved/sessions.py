#!/usr/bin/python3
"""Sessions that get in each other's way, on heap tables and on sliced ones: both must agree.

From a seed comes a script: which session says which statement, one after the
other.  It runs in two databases at once (interleaved/worlds.py says how).  After
every statement what was said must agree: rows, errors, notices, who waits for a
lock.  Now and then, and at the end, so must the contents of all tables, and
sliced.verify() must find nothing.  A script that fails is made short and shown.

Two things end a script without a verdict.  Conflicts of SERIALIZABLE transactions
are found by the page, and rows need not be on the same pages, nor write to the same
pages of indexes: an oversized value that is set to what it was makes no index entries
(HOT) in a sliced table, but does in heap.  No exception block swallows such a conflict,
or the worlds would go on, each its own way.  And heap fails with "missing chunk" when
the values of dead rows are gone that VACUUM FULL or CLUSTER wants to copy
(test/specs/dying_values.spec); sliced does not.

usage: sessions.py [--minutes N] [--seed N] [--statements N] [--sessions N] [--hosts HEAP SLICED] [--verbose]

With --seed one script runs, otherwise some fixed ones and then random ones until
the time is over.
"""
import argparse
import os
import random
import re
import sys
import time

from psycopg import pq

from shrink import shrink
from statements import TABLES, Script, render
from worlds import SERIALIZATION, Broken, World, settle

HEAP_MISSING = re.compile("missing chunk number|unexpected chunk number")
WORLDS = ("heap", "sliced")
FIXED_SEEDS = (1, 2, 3, 4)
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "library.sql")
OPTIONS = ("-csearch_path=m,lib,public -cdefault_table_access_method={name} -cclient_min_messages=notice "
           "-cdeadlock_timeout=1h -cjit=off -cmax_parallel_workers_per_gather=0 -cextra_float_digits=0 -csynchronous_commit=off")
CHECK_EVERY = 40
STALLED = 8
SHRINK_SECONDS = 240


class Difference(Exception):
    pass


class NoVerdict(Exception):
    pass


class Replay:
    """A script that has been written down."""

    def __init__(self, items):
        self.items = list(items)

    def __call__(self, states):
        return self.items.pop(0) if self.items else None


class Fresh:
    """So many statements of a new script, behind those that it begins with."""

    def __init__(self, script, statements):
        self.script = script
        self.first = list(script.first)
        self.left = statements

    def __call__(self, states):
        if self.first:
            return self.first.pop(0)
        self.left -= 1
        return self.script.next(states) if self.left >= 0 else None


def short(outcome):
    text = repr(outcome)
    return text if len(text) <= 300 else f"{text[:180]} ... {text[-100:]} ({len(text)} bytes)"


def first_difference(heap, sliced):
    """The smallest part of two outcomes that differs, to show."""
    while type(heap) is type(sliced) and isinstance(heap, (list, tuple)) and len(heap) == len(sliced):
        heap, sliced = next((pair for pair in zip(heap, sliced) if pair[0] != pair[1]))
    return f"heap:   {short(heap)}\nsliced: {short(sliced)}"


class Run:
    """Plays one script in both worlds; 'done' are the items that were said."""

    def __init__(self, worlds, sessions):
        self.worlds = worlds
        self.sessions = sessions
        self.done = []
        self.errors = self.waits = self.cancelled = 0

    def play(self, source):
        try:
            for world in self.worlds:
                world.stop()
                world.observer.run("SET client_min_messages = warning; DROP SCHEMA IF EXISTS m CASCADE; CREATE SCHEMA m")
                world.start(self.sessions, OPTIONS.format(name=world.name))
            while (item := source(self.worlds[0].states())) is not None:
                if self.worlds[0].states()[item[0]] is None:
                    continue
                self.done.append(item)
                self.say(*item)
                if len(self.done) % CHECK_EVERY == 0:
                    self.check(False)
            self.end()
        except Broken as error:
            raise Difference(str(error)) from error
        return self

    def say(self, number, statement):
        sql = render(statement)
        for world in self.worlds:
            world.send(number, sql)
        heap, sliced = settle(self.worlds)
        self.compare(heap, sliced)
        if self.worlds[1].took > self.worlds[0].took + STALLED:
            raise Difference(f"heap took {self.worlds[0].took:.1f} seconds, sliced {self.worlds[1].took:.1f}")
        self.compare(self.worlds[0].waiting(), self.worlds[1].waiting())
        self.compare(self.worlds[0].states(), self.worlds[1].states())
        self.waits += number not in heap
        for said in heap.values():
            text = said[-1] if said and isinstance(said[-1], str) else ""
            self.errors += text[:2].isdigit() or text[:1] == "P"
            self.cancelled += text.startswith("57014")

    def compare(self, heap, sliced):
        if heap == sliced:
            return
        said = [repr(heap), repr(sliced)]
        if any(SERIALIZATION in text for text in said) or HEAP_MISSING.search(said[0]):
            self.verify(False)
            raise NoVerdict(first_difference(heap, sliced).replace("\n", ", "))
        raise Difference(first_difference(heap, sliced))

    def end(self):
        """Let everybody come to an end: the gate first, then who waits for nobody."""
        gate = self.sessions - 1
        if self.worlds[0].states()[gate]:
            self.say(gate, "SELECT pg_advisory_unlock_all()")
        while True:
            states = self.worlds[0].states()
            number = next((number for number, state in enumerate(states) if state in ("T", "E")), None)
            if number is not None:
                self.say(number, "COMMIT")
                continue
            prepared = self.worlds[0].observer.run(
                "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY prepared LIMIT 1")[0]
            if not prepared:
                break
            self.say(gate, "COMMIT PREPARED '{world}_%s'" % prepared[0][0].decode().split("_")[-1])
        self.check(True)

    def check(self, last):
        """What is committed; a table that is locked is not looked at."""
        for table in (*TABLES, "h", "log", "child"):
            heap, sliced = (world.observer.run(f"SELECT * FROM {table}") for world in self.worlds)
            if heap != sliced:
                raise Difference(f"table {table}:\n{first_difference(heap, sliced)}")
        self.verify(last)

    def verify(self, last):
        for table in ("t", "u", "p1", "p2"):
            found = self.worlds[1].observer.run(f"SELECT * FROM sliced.verify('{table}')")[0]
            if found and (isinstance(found, list) or last and "does not exist" not in found):
                raise Difference(f"sliced.verify('{table}'): {short(found)}")


class Server:
    """Makes the two worlds, and makes them again if the server went down."""

    def __init__(self, hosts):
        self.hosts = dict(zip(WORLDS, hosts or 2 * [os.environ["PGHOST"]]))
        self.worlds = []

    def make(self):
        self.drop()
        for _ in range(60):
            try:
                self.worlds = [self.world(name) for name in WORLDS]
                return self.worlds
            except Broken as error:
                problem = error
                time.sleep(1)
        raise SystemExit(f"not ok - sessions: {problem}")

    def connect(self, name, database):
        conn = pq.PGconn.connect(f"host={self.hosts[name]} dbname={database}".encode())
        if conn.status != pq.ConnStatus.OK:
            raise Broken(conn.error_message.decode())
        return conn

    def execute(self, name, database, *statements):
        conn = self.connect(name, database)
        for statement in statements:
            result = conn.exec_(statement.encode())
            if result.status == pq.ExecStatus.FATAL_ERROR:
                raise Broken(f"{statement[:60]}: {result.error_message.decode()}")
        conn.finish()

    def world(self, name):
        database = f"sessions_{name}_{os.getpid()}"
        self.execute(name, "postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)",
                     f"CREATE DATABASE {database}")
        with open(LIBRARY, encoding="utf-8") as library:
            self.execute(name, database, *(["CREATE EXTENSION pg_sliced"] if name == "sliced" else []), library.read())
        return World(name, self.hosts[name], database)

    def drop(self):
        for world in self.worlds:
            try:
                world.close()
                self.execute(world.name, "postgres", f"DROP DATABASE {world.database} WITH (FORCE)")
            except Exception as error:
                print(f"# {error}")
        self.worlds = []


def show(items, difference):
    for number, statement in items:
        text = render(statement).splitlines()
        print(f"# {number}: {text[0]};" if len(text) == 1 else f"# {number}: {text[0]}")
        for line in text[1:]:
            print(f"#    {line}")
    for line in str(difference).splitlines():
        print(f"# {line}")


def run(server, seed, args):
    """Run the script of a seed; true if nothing was wrong."""
    play = Run(server.worlds, args.sessions + 1)
    try:
        play.play(Fresh(Script(seed, args.sessions + 1), args.statements))
    except NoVerdict as reason:
        print(f"# sessions: seed {seed}, no verdict after {len(play.done)} statements: {reason}")
    except Difference as difference:
        print(f"not ok - sessions: seed {seed}, --sessions {args.sessions} --statements {args.statements}, "
              f"after {len(play.done)} statements")
        show(play.done[-3:], difference)
        sys.stdout.flush()
        show_short(server, play.done, args)
        return 0
    if args.verbose:
        print(f"# {play.errors} errors, {play.waits} waits, {play.cancelled} cancelled")
    print(f"ok - sessions: seed {seed}, {len(play.done)} statements", flush=True)
    return len(play.done)


def show_short(server, items, args):
    last = [None]

    def fails(shorter):
        try:
            Run(server.worlds, args.sessions + 1).play(Replay(shorter))
        except NoVerdict:
            return False
        except Difference as difference:
            last[0] = difference
            if isinstance(difference.__cause__, Broken):
                server.make()
            return True
        return False

    server.make()
    if not fails(items):
        print("# the same statements agree when they are said again")
        return
    items = shrink(items, fails, SHRINK_SECONDS)
    fails(items)
    print(f"# in short, {len(items)} statements, each behind the number of its session:")
    show(items, last[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--statements", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--hosts", nargs=2, metavar=("HEAP", "SLICED"), help="servers, instead of $PGHOST for both")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)

    server = Server(args.hosts)
    server.make()
    try:
        if args.seed is not None:
            return not run(server, args.seed, args)
        deadline = time.monotonic() + args.minutes * 60
        seeds = list(FIXED_SEEDS)
        while time.monotonic() < deadline:
            seed = seeds.pop(0) if seeds else random.SystemRandom().randrange(1 << 30)
            if not run(server, seed, args):
                return 1
        return 0
    finally:
        server.drop()


if __name__ == "__main__":
    sys.exit(main())
