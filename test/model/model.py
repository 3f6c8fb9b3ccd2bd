#!/usr/bin/python3
"""Random statements on a heap table and on a sliced table: both must agree.

From a seed comes a script of transactions.  It runs in two sessions, one with
a table of heap and one with a table of sliced, through psql.  After every
statement the SQLSTATEs must agree, after every transaction the contents, and
sliced.verify() must find nothing.

usage: model.py [--seconds N] [--seed N] [--verbose]

With --seed one script runs, otherwise new ones until the time is over.
"""
import argparse
import os
import random
import subprocess
import sys
import time

PSQL = os.path.join(os.environ.get("PGS_BINDIR", ""), "psql")
END = "=end="

PRELUDE = """
CREATE EXTENSION IF NOT EXISTS pg_sliced;
DROP SCHEMA IF EXISTS {am}_model CASCADE;
CREATE SCHEMA {am}_model;
SET search_path = {am}_model;
SET default_table_access_method = {am};
SET client_min_messages = error;
SET statement_timeout = '60s';
CREATE FUNCTION noise(n int, seed int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(coalesce(string_agg(sha512(int4send(seed) || int4send(i)), ''), '') FROM 1 FOR n)
    FROM generate_series(1, (n + 63) / 64) i $$;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(translate(encode(noise((n * 3) / 4 + 3, seed), 'base64'), E'\\n', ''), n) $$;
CREATE FUNCTION plain(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(repeat('line ' || seed || ' of a log; ', n / 10 + 1), n) $$;
CREATE FUNCTION mixed(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(left(string_agg(CASE WHEN i % 2 = 0 THEN dense(3000, seed + i)
        ELSE plain(3000, seed + i) END, '' ORDER BY i), n), '')
    FROM generate_series(1, (n + 2999) / 3000) i $$;
CREATE FUNCTION contents(rel regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(md5(t::text), '','''
                   ' ORDER BY md5(t::text))), '''') FROM %s t', rel) INTO result;
    RETURN result;
END $$;
CREATE PROCEDURE adopt() LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
    IF '{am}' = 'sliced' THEN
        PERFORM sliced.adopt('t');
    END IF;
END $$;
CREATE PROCEDURE train() LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = 't'::regclass) = 'sliced' THEN
        PERFORM sliced.train('t');
    END IF;
END $$;
CREATE PROCEDURE convert() LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = 't'::regclass) = 'sliced' THEN
        CALL sliced.convert('t');
    END IF;
END $$;
CREATE PROCEDURE label(what text) LANGUAGE plpgsql AS $$
BEGIN
    IF '{am}' = 'sliced' THEN
        PERFORM sliced.alter_table('t', what);
    END IF;
END $$;
"""

# Lengths at which something changes, and up to which others are picked: most, and all.
LIMITS = [0, 1, 2, 126, 127, 128, 1990, 2000, 2010, 2030, 2040, 2700, 2960, 2990, 3000, 4030, 4064, 7950, 8000,
          8140, 8160, 16000, 65535, 65536, 65537, 131071, 131072, 131073, 200000]
MOST, ALL = 4000, 30000
if "TINY" in os.environ.get("PGS_CPPFLAGS", ""):    # src/base/limits.h
    LIMITS = [0, 1, 2, 24, 32, 40, 48, 64, 96, 126, 127, 128, 255, 256, 257, 511, 512, 513, 1024, 2000, 3000, 8160]
    MOST, ALL = 150, 2000


class Script:
    """Makes up statements; knows roughly what the table looks like."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.columns = {"a": "text", "b": "text", "c": "text", "d": "bytea"}
        self.new_columns = 0
        self.trains = self.number(2) == 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self, n):
        return self.random.randrange(n)

    def size(self):
        r = self.random.random()
        if r < 0.4:
            return max(0, self.random.choice(LIMITS) + self.number(7) - 3)
        if r < 0.8:
            return self.number(MOST)
        return self.number(ALL)

    def column(self):
        return self.random.choice(list(self.columns))

    def value(self, column=None):
        kind = self.columns.get(column, "text")
        r = self.number(10)
        if r == 0:
            return "NULL"
        if kind == "bytea":
            return f"noise({self.size()}, {self.number(1000)})"
        return f"{self.pick('dense', 'plain', 'mixed')}({self.size()}, {self.number(1000)})"

    def text_of(self, column):
        return column if self.columns[column] == "text" else f"encode({column}, 'hex')"

    def new_value(self, column):
        """An expression for SET column = ..."""
        other = self.column()
        r = self.number(9)
        if self.columns[column] == "bytea":
            return self.pick(self.value(column), column, f"{column} || noise(100, id)", f"substr({column}, 2)",
                             f"CASE WHEN length({column}) > 5000 THEN set_byte({column}, 4999, 1) ELSE {column} END")
        return [self.value(column), column, f"{column} || 'x'", f"left({column}, {self.size()})",
                self.text_of(other), f"{column} || {self.text_of(other)}", f"coalesce({column}, '') || {self.value()}",
                f"substr({column}, {self.size()})", f"(SELECT max(o.{column}) FROM t o WHERE o.id = t.id + 1)"][r]

    def where(self):
        return self.pick(f"id = {self.number(30)}", f"id % {2 + self.number(6)} = {self.number(3)}",
                         f"id < {self.number(30)}", f"length(a) > {self.size()}", "true",
                         f"id IN ({self.number(30)}, {self.number(30)})")

    def insert(self):
        cols = list(self.columns)
        self.random.shuffle(cols)
        cols = cols[:1 + self.number(len(cols))]
        conflict = self.pick("", "ON CONFLICT DO NOTHING", "ON CONFLICT (id) DO NOTHING",
                             f"ON CONFLICT (id) DO UPDATE SET {cols[0]} = excluded.{cols[0]}, k = t.k + 1")
        first, many = self.number(30), self.pick(1, 1, 5, 10)
        return (f"INSERT INTO t (id, {', '.join(cols)}) SELECT i, {', '.join(self.value(c) for c in cols)} "
                f"FROM generate_series({first}, {first + many - 1}) i {conflict}")

    def update(self):
        cols = list(self.columns)
        self.random.shuffle(cols)
        return (f"UPDATE t SET {', '.join(f'{c} = {self.new_value(c)}' for c in cols[:1 + self.number(3)])} "
                f"WHERE {self.where()}")

    def merge(self):
        c = self.column()
        return (f"MERGE INTO t USING (SELECT i AS id, {self.value(c)} AS v FROM generate_series({self.number(30)}, 30) i) s "
                f"ON t.id = s.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE "
                f"WHEN MATCHED THEN UPDATE SET {c} = s.v WHEN NOT MATCHED AND s.id % 2 = 0 THEN INSERT (id, {c}) VALUES (s.id, s.v)")

    def swap(self):
        one, other = self.pick(("a", "b"), ("b", "c"))
        return f"UPDATE t SET {one} = {other}, {other} = {one} WHERE {self.where()}"

    def move(self):
        # to where no other row of the same command can be: the order of rows differs
        return f"UPDATE t SET id = id + 1000 WHERE id < 1000 AND {self.where()}"

    def dml(self):
        r = self.number(100)
        if r < 30:
            return self.insert()
        if r < 62:
            return self.update()
        if r < 70:
            return f"DELETE FROM t WHERE {self.where()}"
        if r < 75:
            return self.merge()
        if r < 80:
            return self.swap()
        if r < 83:
            return self.move()
        if r < 86:
            return f"UPDATE t SET k = k + 1 WHERE {self.where()}"
        if r < 88:
            return f"UPDATE t SET k = 1 / (id - {self.number(30)}), a = a || 'y'"
        if r < 90:
            return "COPY t TO :'file'; DELETE FROM t; COPY t FROM :'file'"
        if r < 91:
            return "COPY t TO :'file' (FORMAT binary); TRUNCATE t; COPY t FROM :'file' (FORMAT binary)"
        if r < 93:
            return f"SELECT count(*), md5(string_agg({self.text_of(self.column())}, '' ORDER BY id)) FROM t WHERE {self.where()}"
        if r < 96:
            column = self.column()
            return (f"SELECT md5(string_agg(substr({column}, {self.size() + 1}, {self.size()})::text, '' ORDER BY id)) "
                    f"FROM t WHERE {self.where()}")
        if r < 97:
            return "TRUNCATE t" if self.number(3) == 0 else "SELECT contents('t')"
        if r < 98 and self.trains:
            return "CALL train()"
        if r < 98:
            return f"CREATE TABLE IF NOT EXISTS other USING heap AS SELECT * FROM t; SELECT contents('other'); DROP TABLE other"
        return f"SELECT id, md5(t::text) FROM t WHERE {self.where()} ORDER BY id FOR {self.pick('UPDATE', 'SHARE', 'KEY SHARE')}"

    def ddl(self):
        column = self.column()
        r = self.number(14 + self.trains * 2)
        if r == 14:
            return "CALL train()"
        if r == 15:
            return f"CALL label('{self.pick('dictionary=auto', 'dictionary=auto', 'dictionary=on', 'dictionary=off')}')"
        if r == 0 and len(self.columns) < 8:
            self.new_columns += 1
            name = f"n{self.new_columns}"
            self.columns[name] = "text"
            return f"ALTER TABLE t ADD {name} text DEFAULT {self.pick('NULL', self.value(), 'left(clock_timestamp()::text, 2)')}"
        if r == 1 and column not in "abc" and len(self.columns) > 4:
            del self.columns[column]
            return f"ALTER TABLE t DROP {column}"
        if r == 2:
            kind = self.columns[column]
            return f"ALTER TABLE t ALTER {column} TYPE {kind} USING {self.pick(f'{column} || left({column}::text, 1)::{kind}', column)}"
        if r == 3:
            return f"ALTER TABLE t ALTER {column} SET STORAGE {self.pick('EXTERNAL', 'EXTENDED', 'MAIN', 'EXTENDED')}"
        if r == 4:
            return f"ALTER TABLE t ALTER {column} SET COMPRESSION {self.pick('pglz', 'lz4', 'default')}"
        if r == 5:
            return self.pick(f"ALTER TABLE t SET (toast_tuple_target = {self.pick(128, 500, 2032, 2048, 4080, 8160)})",
                             "ALTER TABLE t RESET (toast_tuple_target)")
        if r == 6:
            return f"ALTER TABLE t SET ACCESS METHOD heap; SELECT contents('t'); {self.pick('ALTER TABLE t SET ACCESS METHOD :am', 'CALL adopt()', 'CALL adopt()')}"
        if r == 7:
            return "CLUSTER t USING t_pkey"
        if r == 8:
            return "SET enable_indexscan = off; CLUSTER t USING t_k; RESET enable_indexscan"
        if r == 9:
            return f"CREATE INDEX IF NOT EXISTS t_md5 ON t (md5({self.text_of(self.pick('a', 'b'))}))"
        if r == 10:
            return "DROP INDEX IF EXISTS t_md5"
        if r == 11:
            return "REINDEX TABLE t"
        if r == 12:
            return f"ALTER TABLE t SET {self.pick('LOGGED', 'UNLOGGED')}"
        return f"SET sliced.compression = {self.pick('none', 'pglz', 'lz4', 'zstd')}"

    def transaction(self):
        r = self.random.random()
        if r < 0.15:
            yield self.pick("VACUUM t", "VACUUM FULL t", "VACUUM (FREEZE, ANALYZE) t", "REINDEX TABLE CONCURRENTLY t", "ANALYZE t",
                            "SET client_min_messages = warning; CALL convert(); RESET client_min_messages")
            return
        if r < 0.3:
            before = dict(self.columns)
            yield "BEGIN"
            yield self.ddl()
            yield self.dml()
            if self.number(3) == 0:
                self.columns = before
                yield "ROLLBACK"
            else:
                yield "COMMIT"
            return
        if r < 0.5:
            yield self.dml()
            return
        yield "BEGIN" + self.pick("", "", " ISOLATION LEVEL REPEATABLE READ", " ISOLATION LEVEL SERIALIZABLE")
        points = []
        for _ in range(1 + self.number(6)):
            yield self.dml()
            r = self.number(5)
            if r == 0:
                points.append(f"s{len(points)}")
                yield f"SAVEPOINT {points[-1]}"
            elif r == 1 and points:
                points = points[:self.number(len(points)) + 1]
                yield f"ROLLBACK TO {points[-1]}"
            elif r == 2 and points:
                yield f"RELEASE {points.pop()}"
        if self.number(8) == 0:
            yield "PREPARE TRANSACTION :'am'"
            yield self.pick("COMMIT PREPARED :'am'", "ROLLBACK PREPARED :'am'")
        else:
            yield self.pick("COMMIT", "COMMIT", "COMMIT", "ROLLBACK")


class Session:
    """One psql; statements go in, results and SQLSTATEs come out."""

    def __init__(self, am):
        self.am = am
        self.psql = subprocess.Popen([PSQL, "-X", "-q", "-A", "-t", "-v", f"am={am}"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.run(PRELUDE.format(am=am))
        self.run("SELECT current_setting('data_directory') || '/model.' || :'am' AS file \\gset")
        self.run("\\set VERBOSITY sqlstate")

    def send(self, statement):
        if not statement.startswith("\\") and not statement.endswith("\\gset"):
            statement += ";"
        self.psql.stdin.write(f"{statement}\n\\echo {END}\n")
        self.psql.stdin.flush()

    def receive(self):
        lines = []
        for line in self.psql.stdout:
            if line.rstrip("\n") == END:
                return "".join(lines)
            lines.append(line)
        raise SystemExit(f"not ok - model: the {self.am} session ended:\n{''.join(lines)}")

    def run(self, statement):
        self.send(statement)
        return self.receive()

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


# Without autovacuum: heap loses values of dead rows that CLUSTER still wants to
# copy ("missing chunk number 0") if it cleans the toast relation meanwhile.
CREATE = """CREATE TABLE t (id int PRIMARY KEY, a text, b text, c text, d bytea, k int DEFAULT 0,
    g text GENERATED ALWAYS AS (left(b, 3000)) STORED)
    WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off); CREATE INDEX t_k ON t (k)"""


class Differs(Exception):
    pass


def run(seed, transactions, deadline, verbose):
    """Run the script of a seed; returns how many statements it was."""
    sessions = [Session("heap"), Session("sliced")]
    script = Script(seed)
    done = []

    def both(statement):
        if verbose:
            print(statement, flush=True)
        done.append(statement)
        for session in sessions:
            session.send(statement)
        heap, sliced = (session.receive() for session in sessions)
        if verbose:
            print(heap, end="", flush=True)
        if heap != sliced:
            raise Differs(f"heap:   {heap.strip()[:300]}\nsliced: {sliced.strip()[:300]}")

    try:
        both(CREATE)
        for _ in range(transactions):
            if deadline and time.time() > deadline:
                break
            for statement in script.transaction():
                both(statement)
            both("SELECT contents('t')")
            damage = sessions[1].run("SELECT * FROM sliced.verify('t')")
            if damage:
                raise Differs(f"verify: {damage[:500]}")
    except Differs as difference:
        print(f"not ok - model: seed {seed}, after {len(done)} statements")
        text = "\n".join(done[-12:]) + f"\n{difference}"
        print("\n".join("# " + line[:300] for line in text.splitlines()))
        return None
    finally:
        for session in sessions:
            session.close()
    return len(done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()

    if args.seed is not None:
        statements = run(args.seed, 100, None, args.verbose)
        if statements:
            print(f"ok - model: seed {args.seed}, {statements} statements")
        return statements is None

    deadline = time.time() + args.seconds
    scripts = statements = 0
    while time.time() < deadline:
        n = run(random.SystemRandom().randrange(1 << 30), 100, deadline, args.verbose)
        if n is None:
            return 1
        scripts += 1
        statements += n
    print(f"ok - model: {statements} statements in {scripts} scripts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
