"""Values that are copied as they are stored: from table to table, and with a table that is rewritten.

What COPY takes, which brings them uncompressed, is workload "load".
"""

from dataclasses import dataclass

from bench import KB, MB, Variant, workload


@dataclass(frozen=True)
class Way(Variant):
    """From the one access method to the other."""
    source: str

    def table(self, name):
        return f"{name}_{self.method}_from_{self.source}"


@dataclass(frozen=True)
class Contents:
    """Documents from 'low' to 'high' bytes, compressed in the table that they come from, and where they go."""
    name: str
    kind: str
    column: str
    low: int
    high: int
    compressed: str = "lz4"
    codec: str = "lz4"
    target: int = None      # toast_tuple_target of all tables

    def ways(self):
        settings = codec_settings(self.codec)
        return [Way(f"{method} from {source}", method, self.codec, settings, source)
                for source in ("heap", "sliced") for method in ("sliced", "heap")]


CONTENTS = [Contents("logs lz4", "log", "text", 2 * KB, 50 * KB),
            Contents("logs pglz", "log", "text", 2 * KB, 50 * KB, "pglz", "pglz"),
            Contents("logs pglz to lz4", "log", "text", 2 * KB, 50 * KB, "pglz"),
            Contents("small jsonb", "json", "jsonb", KB, 10 * KB),
            Contents("long jsonb", "json", "jsonb", 100 * KB, MB),
            Contents("logs at 128", "log", "text", 2 * KB, 50 * KB, target=128),
            Contents("small logs at 128", "log", "text", 2 * KB, 4 * KB, target=128),
            Contents("small jsonb at 128", "json", "jsonb", KB, 10 * KB, target=128)]


def codec_settings(codec):
    return {"sliced.compression": codec, "default_toast_compression": codec}


@workload
def copying(b):
    """Values copied to another table, or with their table"""
    for c in CONTENTS:
        path = b.documents(c.kind, c.low, c.high, b.scale(5 * MB, 3 * MB))
        for method in "heap", "sliced":
            b.session.use(codec_settings(c.compressed))
            create(b, f"source_{method}", method, c)
            b.session.run(f"COPY source_{method} FROM '{path}'")
            b.session.run(f"VACUUM ANALYZE source_{method}")
        insert(b, c)
        rewrite(b, c)
        b.session.run("DROP TABLE source_heap, source_sliced")


def rounds(b):
    """Many, of little each.

    A statement that fills a segment of WAL has to make the next one, which takes
    as long as all else.  The median does not see it as long as few of them do.
    """
    return b.scale(25, 5)


def create(b, table, method, c):
    b.session.run(f"CREATE TABLE {table} (id int, body {c.column}) USING {method}")
    if c.target:
        b.session.run(f"ALTER TABLE {table} SET (toast_tuple_target = {c.target})")


def check(b, c, table):
    """That all have been copied."""
    b.same(c.ways(), table, "SELECT sum(hashtextextended(body::text, id)) FROM {}")
    b.verify(c.ways(), table)
    b.drop(c.ways(), table)


def insert(b, c):
    for v in c.ways():
        create(b, v.table("copied"), v.method, c)

    def measure(v):
        table = v.table("copied")
        b.session.run(f"TRUNCATE {table}")
        return {**b.session.with_wal(f"INSERT INTO {table} SELECT * FROM source_{v.source}"),
                "MB": b.size(table) / MB}

    b.interleave(f"{c.name}, INSERT", c.ways(), measure, rounds=rounds(b))
    check(b, c, "copied")


def rewrite(b, c):
    """SET ACCESS METHOD, or VACUUM FULL where it stays the same, of a new copy of the source."""
    def measure(v):
        table = v.table("rewritten")
        b.session.run(f"DROP TABLE IF EXISTS {table}")
        b.session.use(codec_settings(c.compressed))
        create(b, table, v.source, c)
        b.session.run(f"INSERT INTO {table} SELECT * FROM source_{v.source}")
        b.session.use(v.settings)
        statement = (f"VACUUM FULL {table}" if v.source == v.method else
                     f"ALTER TABLE {table} SET ACCESS METHOD {v.method}")
        return {**b.session.with_wal(statement), "MB": b.size(table) / MB}

    b.interleave(f"{c.name}, rewrite", c.ways(), measure, rounds=rounds(b))
    check(b, c, "rewritten")
