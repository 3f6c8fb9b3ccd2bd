"""Statements that fail for want of memory, each time at another call of malloc().

Each changes a sliced and a heap table in one transaction, so the two never differ.
"""
import re
import sys

import psycopg

from server import Server

name, orders = sys.argv[1:]
server = Server(name)

TABLES = """
    CREATE EXTENSION pg_sliced;
    CREATE EXTENSION sliced_spill;
    CREATE TABLE s (id int PRIMARY KEY, doc jsonb, body text, list text[]) USING sliced;
    CREATE TABLE h (id int PRIMARY KEY, doc jsonb, body text, list text[]) USING heap;
    CREATE FUNCTION filled(first int, n int) RETURNS SETOF h LANGUAGE sql AS $$
        SELECT i, (SELECT jsonb_object_agg('k' || j, md5((i * j)::text)) FROM generate_series(1, 600) j),
            (SELECT string_agg(sha512((i + j)::text::bytea)::text, '') FROM generate_series(1, 300) j),
            (SELECT array_agg(md5((i - j)::text)) FROM generate_series(1, 500) j)
        FROM generate_series(first, first + n - 1) i $$;
    INSERT INTO s SELECT * FROM filled(1, 6);
    SELECT * FROM sliced.train('s');
    INSERT INTO h SELECT * FROM s;
    CREATE TABLE a AS SELECT i AS id, i % 500 AS k, repeat(md5(i::text), 4) AS w FROM generate_series(1, 3000) i;
    ANALYZE"""

# of both tables; $T is one of them
CHANGES = [
    "DELETE FROM $T WHERE id >= 1000; INSERT INTO $T SELECT * FROM filled(1000, 2)",
    "UPDATE $T SET doc = jsonb_set(doc, '{k7}', to_jsonb(md5(doc::text)))",
    "UPDATE $T SET doc = doc || jsonb_build_object('n' || id, repeat(md5(body), 400)), body = body || md5(body)",
    "UPDATE $T SET body = overlay(body PLACING md5(body) FROM 5000), list = list || md5(body)",
    "UPDATE $T SET body = reverse(body), doc = (doc::text || ' ')::jsonb, list[70] = 'x' WHERE id % 3 = 0",
]
ALONE = ["CLUSTER s USING s_pkey", "VACUUM FULL s"]
# each gives one row
READS = [
    "SELECT sum(length(doc->>'k5')), sum(length(substr(body, 20000, 50))), md5(string_agg(list[40], ',' ORDER BY id)) FROM s",
    "SELECT count(*) FROM s WHERE doc @? '$.k3 ? (@ starts with \"a\")' OR doc ? 'k9' OR body LIKE '%abcdef%'",
    "SELECT count(*) FROM sliced.verify('s')",
    "SELECT count(*), sum(stored_bytes) > 0 FROM s, sliced.inspect(doc)",
    "SELECT count(*) > 0 FROM sliced.advise('s')",
    "SELECT count(*), sum(x.id::bigint * y.id) FROM a x JOIN a y ON x.k = y.k AND x.w <> y.w",
    "SELECT count(*), sum(n) FROM (SELECT k, w, count(*) AS n FROM a GROUP BY k, w) q",
    "SELECT count(*), sum(id * n) FROM (SELECT id, row_number() OVER (ORDER BY w, id) AS n FROM a) q",
]
# How core ends sessions and servers: that it cannot begin a subtransaction is FATAL since 17, and CLUSTER of 19,
# of a heap table as well, opens files that are to go when it has committed.
IN_CORE = "FATAL:  out of memory|PANIC:  cannot abort transaction [0-9]+, it was already committed|terminated by signal 6:"
ENDS = "FATAL:  out of memory|PANIC:|TRAP:|terminated by"
SETTINGS = "SET work_mem = '64kB'; SET sliced.temp_file_compression = zstd; SET enable_mergejoin = off"
DIFFERENT = "SELECT count(*) FROM (TABLE s EXCEPT TABLE h) d UNION ALL SELECT count(*) FROM (TABLE h EXCEPT TABLE s) d"


def order(text=""):
    with open(orders, "r+b") as f:
        f.write(text.encode().ljust(64) + bytes(64))


def failed():
    with open(orders, "rb") as f:
        return int.from_bytes(f.read(72)[68:], "little")


class Run:
    def __init__(self):
        self.failures = 0
        self.wrong = []
        self.log_lines = 0      # when a connection was lost last
        self.connect()

    def connect(self):
        self.conn = server.connect()
        self.pid = self.conn.execute("SELECT pg_backend_pid()").fetchone()[0]
        self.conn.execute(SETTINGS)

    def check(self, right, what):
        if not right:
            print(f"# {what}"[:300])
            self.wrong.append(what)

    def attempt(self, nth, statement):
        """Returns whether a call failed, and the result."""
        result = None
        order(f"memory once {nth} {self.pid}")
        try:
            cursor = self.conn.execute(statement)
            has_failed = failed() > 0
            result = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            has_failed = failed() > 0
            # or the cryptographic library has none, for core's functions, or core's hash tables
            self.check(error.sqlstate == "53200" or re.search(" hash: | SHA|failed to initialize hash table", str(error)),
                       f"{nth}: {statement}: {error}")
        order()
        if self.conn.closed:
            server.wait_until_up()
            log = server.log()
            why = [line for line in log[self.log_lines:] if re.search(ENDS, line)]
            self.log_lines = len(log)
            self.check(why and all(re.search(IN_CORE, line) for line in why), f"{nth}: {statement}: connection lost: {why}")
            self.connect()
        elif self.conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self.conn.execute("ROLLBACK")
        return has_failed, result

    def all_calls(self, statement, expected, check):
        """Fresh sessions and used ones: each caches less or more."""
        for fresh in True, False:
            nth = 1
            while True:
                if fresh:
                    self.conn.close()
                    self.connect()
                has_failed, result = self.attempt(nth, statement)
                self.check(result is None or expected is None or result == expected, f"{nth}: {statement}: {result}")
                if not has_failed:
                    break
                self.failures += 1
                check(f"{nth}: {statement}")
                nth += 1 + nth // 12

    def same(self, what, conn=None):
        conn = conn or self.conn
        self.check(conn.execute(DIFFERENT).fetchall() == [(0,), (0,)], f"{what}: contents")
        self.check(conn.execute("SELECT * FROM sliced.verify('s')").fetchall() == [], f"{what}: verify")

    def same_to_others(self, what):
        """Core's VACUUM FULL leaves its own session with the wrong file, of a heap table as well."""
        with server.connect() as conn:
            self.same(what, conn)
        self.conn.close()
        self.connect()

    def tell(self, least, what):
        ok = not self.wrong and self.failures >= least
        print(f"{'ok' if ok else 'not ok'} - {what}, after {self.failures} failures")
        self.failures, self.wrong = 0, []


with server.connect() as conn:
    conn.execute(TABLES)
run = Run()
for change in CHANGES:
    both = "; ".join(change.replace("$T", table) for table in "sh")
    run.all_calls(f"BEGIN; {both}; COMMIT", None, run.same)
run.tell(300, "changes")
for statement in ALONE:
    run.all_calls(statement, None, run.same_to_others)
run.tell(50, "rewrites")
for read in READS:
    run.all_calls(read, run.conn.execute(read).fetchall(), lambda what: None)
run.tell(200, "reads")
