"""What workloads are made with: the variants to compare, tables, rounds of measurements."""

import math
import os
from dataclasses import dataclass, field

from documents import Maker, copy_line
from session import Error, Session


@dataclass(frozen=True)
class Variant:
    name: str
    method: str
    codec: str
    settings: dict = field(hash=False)

    def table(self, name):
        return f"{name}_{self.method}_{self.codec}"


SLICED_LZ4 = Variant("sliced lz4", "sliced", "lz4", {"sliced.compression": "lz4"})
SLICED_ZSTD = Variant("sliced zstd", "sliced", "zstd", {"sliced.compression": "zstd"})
HEAP_LZ4 = Variant("heap lz4", "heap", "lz4", {"default_toast_compression": "lz4"})
HEAP_PGLZ = Variant("heap pglz", "heap", "pglz", {"default_toast_compression": "pglz"})

VARIANTS = [SLICED_LZ4, SLICED_ZSTD, HEAP_LZ4, HEAP_PGLZ]

# Where there is nothing to compress.
SLICED = Variant("sliced", "sliced", "any", {})
HEAP = Variant("heap", "heap", "any", {})

KB, MB = 1000, 1000 * 1000

# Contents are cut from blocks of this length.
BLOCK = 4 * MB

WORKLOADS = {}


def workload(function):
    WORKLOADS[function.__name__] = function
    return function


def cast(column, value):
    """A bytea expression as the type of a column."""
    return f"convert_from({value}, 'UTF8')" if column == "text" else value


def per(n, costs):
    """What one of n took, in small units."""
    units = {"ms": ("us", 1000), "cpu ms": ("cpu us", 1000), "WAL MB": ("WAL B", MB), "buffers": ("buffers", 1)}
    return {units[metric][0]: value * units[metric][1] / n for metric, value in costs.items() if metric in units}


def size_name(size):
    for unit, name in ((MB, "MB"), (KB, "kB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


class Bench:
    def __init__(self, results, quick, host=None):
        self.results = results
        self.quick = quick
        self.question = None
        self.files = {}
        self.session = Session(host=host)
        self.session.run("CREATE EXTENSION IF NOT EXISTS pg_sliced")
        self.make_functions()

    def scale(self, full, quick):
        return quick if self.quick else full

    @property
    def rounds(self):
        return self.scale(9, 3)

    # ------------------------------------------------------------ measuring

    def add(self, case, variant, metric, value):
        self.results.add(self.question, case, variant.name, metric, value)

    def interleave(self, case, variants, measure, rounds=None):
        """In turn, so that what disturbs the machine disturbs all alike."""
        for turn in range(rounds or self.rounds):
            # not always the same one first
            for v in variants if turn % 2 == 0 else reversed(variants):
                self.session.use(v.settings)
                for metric, value in measure(v).items():
                    self.add(case, v, metric, value)

    def record(self, case, variant, size, costs):
        """As points of curves."""
        for metric, value in costs.items():
            self.results.add_point(self.question, case, variant.name, metric, size, value)

    def time_query(self, case, variants, table, query, rounds=None):
        """Time a query with a warm cache; {} in it stands for the table."""
        for v in variants:
            self.session.run(query.format(v.table(table)))
            self.add(case, v, "buffers", self.session.buffers(query.format(v.table(table))))
        self.interleave(case, variants, lambda v: self.session.times(query.format(v.table(table))), rounds)

    def same(self, variants, table, query):
        """Complain unless a query says the same of all variants."""
        answers = {v.name: self.session.run(query.format(v.table(table))) for v in variants}
        if len(set(map(str, answers.values()))) != 1:
            raise Error(f"results differ: {answers}")

    def verify(self, variants, table):
        """Complain if anything is wrong with the values of sliced tables."""
        for v in variants:
            if v.method == "sliced":
                wrong = self.session.run(f"SELECT * FROM sliced.verify('{v.table(table)}')")
                if wrong:
                    raise Error(f"sliced.verify() of {v.table(table)}: {wrong[:3]}")

    # --------------------------------------------------------------- tables

    def create(self, variant, table, columns):
        self.session.run(f"CREATE TABLE {variant.table(table)} ({columns}) USING {variant.method}")
        self.session.use(variant.settings)

    def fill(self, variants, table, columns, query, external=None):
        """Tables with the rows of a query; column 'external' is never compressed."""
        for v in variants:
            self.create(v, table, columns)
            if external:
                self.session.run(f"ALTER TABLE {v.table(table)} ALTER {external} SET STORAGE EXTERNAL")
            self.session.run(f"INSERT INTO {v.table(table)} {query}")
            self.session.run(f"VACUUM ANALYZE {v.table(table)}")

    def drop(self, variants, table):
        for v in variants:
            self.session.run(f"DROP TABLE {v.table(table)}")

    def size(self, table):
        return self.session.number(f"SELECT pg_table_size('{table}')")

    def lengths(self):
        """Of values that are changed."""
        return [10 * KB, 100 * KB, MB, 10 * MB, 100 * MB][:self.scale(5, 3)]

    def time_loop(self, case, variants, table, size, statement, curve=None):
        """Time a statement on a value of this size; {} in it stands for the table, i counts."""
        for v in variants:
            name = v.table(table)
            self.make_loop(f"{name}_loop", statement.format(name))
            self.session.run(f"CALL {name}_loop(0, 1, 1)")
        turns = {v: 1 for v in variants}

        def measure(v):
            # heap writes all of the value every time
            n = self.scale(100, 20) if v.method == "sliced" else max(1, min(100, self.scale(20 * MB, MB) // size))
            costs = self.session.costs(f"CALL {v.table(table)}_loop({turns[v]}, {turns[v] + n}, 1)")
            turns[v] += n
            if v.method == "heap":
                self.session.run(f"VACUUM {v.table(table)}")    # or it fills the disk
            costs = per(n, costs)
            if curve:
                self.record(curve, v, size, costs)
            return costs

        self.interleave(case, variants, measure)

    def make_loop(self, name, statement, declare="", prepare=""):
        """A procedure name(first, last, step): for i from first to below last, a transaction with a statement."""
        self.session.run(
            f"CREATE OR REPLACE PROCEDURE {name}(first int, last int, step int) LANGUAGE plpgsql AS $$ "
            f"DECLARE {declare} BEGIN {prepare} "
            f"FOR i IN first .. last - 1 BY step LOOP {statement}; COMMIT; END LOOP; END $$")

    # ----------------------------------------------------------------- data

    def file(self, name, lines):
        path = os.path.join(os.environ["PGS_TMP"], name)
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(lines)
        os.chmod(path, 0o644)
        return path

    def copy_file(self, name, rows):
        """A file that COPY can read, made once."""
        if name not in self.files:
            self.files[name] = self.file(f"{name}.copy", (copy_line(*row) for row in rows))
        return self.files[name]

    def documents(self, kind, low=2 * KB, high=50 * KB, total=None):
        """A file of documents from 'low' to 'high' bytes: so many bytes in all, or 30 MB."""
        maker = Maker(kind)
        average = (high - low) / math.log(high / low)
        rows = int(total / average) if total else self.scale(2000, 200)
        return self.copy_file(f"{kind}_{low}_{high}_{rows}",
                              ((i, getattr(maker, kind)(maker.size(low, high))) for i in range(rows)))

    def make_functions(self):
        """SQL functions that make contents of any length, different ones for each i.

        log_text(i, size) looks like a log, and so does content('log', i, size),
        as bytea; content('noise', i, size) cannot be compressed.  In
        mixed_text(i, size, easy), 'easy' bytes can be compressed to nothing and
        the others not at all.
        """
        self.session.run(
            "CREATE FUNCTION mixed_text(i int, size int, easy int) RETURNS text LANGUAGE sql AS $$"
            "  SELECT left(string_agg(md5(i || '.' || j), ''), size - easy) || repeat('x', easy)"
            "  FROM generate_series(0, size / 32) j $$")
        path = self.copy_file("source", [[Maker("source").log(BLOCK)]])
        self.session.run("CREATE TABLE source (kind text, block bytea)")
        self.session.run("ALTER TABLE source ALTER block SET STORAGE EXTERNAL")
        self.session.run("CREATE TABLE source_in (block text)")
        self.session.run(f"COPY source_in FROM '{path}'")
        self.session.run("INSERT INTO source SELECT 'log', convert_to(block, 'UTF8') FROM source_in")
        self.session.run(f"INSERT INTO source SELECT 'noise', decode(mixed_text(1, {2 * BLOCK}, 0), 'hex')")
        self.session.run("DROP TABLE source_in")
        # The block is longer than any codec looks back.  Neighbours have nothing in common: from contents
        # that repeat, the processor learns where a codec branches.
        self.session.run(
            f"CREATE FUNCTION content(kind text, i int, size int) RETURNS bytea LANGUAGE sql AS $$"
            f"  SELECT CASE WHEN size < {BLOCK // 2}"
            f"    THEN (SELECT substr(s.block, 1 + (i * 2472131::int8 % ({BLOCK} - size))::int, size) FROM source s WHERE s.kind = $1)"
            f"    ELSE (SELECT substr(string_agg(s.block, ''), 1 + (i * 2472131::int8 % {BLOCK})::int, size)"
            f"          FROM source s, generate_series(0, 1 + size / {BLOCK}) WHERE s.kind = $1) END $$")
        self.session.run(
            "CREATE FUNCTION log_text(i int, size int) RETURNS text LANGUAGE sql AS $$"
            "  SELECT convert_from(content('log', i, size), 'UTF8') $$")
