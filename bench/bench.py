"""What workloads are made with: the variants to compare, tables, rounds of measurements."""

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

WORKLOADS = {}


def workload(function):
    WORKLOADS[function.__name__] = function
    return function


class Bench:
    def __init__(self, results, quick):
        self.results = results
        self.quick = quick
        self.question = None
        self.files = {}
        self.session = Session()
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

    def interleave(self, case, variants, measure, times=1):
        """In turn, so that what disturbs the machine disturbs all alike; 'times' as many rounds as usual."""
        for turn in range(self.rounds * times):
            # not always the same one first
            for v in variants if turn % 2 == 0 else reversed(variants):
                for metric, value in measure(v).items():
                    self.add(case, v, metric, value)

    def time_query(self, case, variants, table, query, times=1):
        """Time a query with a warm cache; {} in it stands for the table."""
        for v in variants:
            self.session.run(query.format(v.table(table)))
            self.add(case, v, "buffers", self.session.buffers(query.format(v.table(table))))
        self.interleave(case, variants, lambda v: self.session.times(query.format(v.table(table))), times)

    def same(self, variants, table, query):
        """Complain unless a query says the same of all variants."""
        answers = {v.name: self.session.run(query.format(v.table(table)))[0] for v in variants}
        if len(set(map(str, answers.values()))) != 1:
            raise Error(f"results differ: {answers}")

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

    def documents(self, kind):
        """A file of documents of 2 to 50 kB."""
        maker = Maker(kind)
        return self.copy_file(kind, ((i, getattr(maker, kind)(maker.size(2_000, 50_000)))
                                     for i in range(self.scale(2000, 200))))

    def make_functions(self):
        """SQL functions that make texts of any length, different ones for each i.

        log_text(i, size) looks like a log; in mixed_text(i, size, easy), 'easy'
        bytes can be compressed to nothing and the others not at all.
        """
        self.session.run(
            "CREATE FUNCTION mixed_text(i int, size int, easy int) RETURNS text LANGUAGE sql AS $$"
            "  SELECT left(string_agg(md5(i || '.' || j), ''), size - easy) || repeat('x', easy)"
            "  FROM generate_series(0, size / 32) j $$")
        maker, block = Maker("source"), 4_000_000
        path = self.copy_file("source", [[maker.log(block)]])
        self.session.run("CREATE TABLE source (block bytea)")
        self.session.run("ALTER TABLE source ALTER block SET STORAGE EXTERNAL")
        self.session.run("CREATE TABLE source_in (block text)")
        self.session.run(f"COPY source_in FROM '{path}'")
        self.session.run("INSERT INTO source SELECT convert_to(block, 'UTF8') FROM source_in")
        self.session.run("DROP TABLE source_in")
        # No codec looks back as far as the block is long.
        self.session.run(
            f"CREATE FUNCTION log_text(i int, size int) RETURNS text LANGUAGE sql AS $$"
            f"  SELECT CASE WHEN size < {block // 2}"
            f"    THEN convert_from(substr(block, 1 + i * 7919 % ({block} - size), size), 'UTF8')"
            f"    ELSE left(repeat(convert_from(block, 'UTF8'), 1 + size / {block}), size) END"
            f"  FROM source $$")
