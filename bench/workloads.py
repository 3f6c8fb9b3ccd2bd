"""What is measured.  A workload is a function that gets the bench and adds to its results.

A query that "reads" a value says body < '': comparing texts fetches and
decompresses all of both, but compares no more bytes than the shorter has.
"""

import glob
import os

from bench import HEAP, KB, MB, SLICED, VARIANTS, Variant, size_name, workload
from changes import change_byte
from documents import Maker
from session import Session, pgbench, pgbench_tables

@workload
def load(b):
    """Bulk load (COPY) of documents"""
    for name, column, path in (("json", "text", b.documents("json")),
                               ("jsonb", "jsonb", b.documents("json")),
                               ("log", "text", b.documents("log")),
                               ("html", "text", b.documents("html"))):
        for v in VARIANTS:
            b.create(v, "load", f"id int, body {column}")

        def copy(v):
            table = v.table("load")
            b.session.run(f"TRUNCATE {table}")
            return {**b.session.with_wal(f"COPY {table} FROM '{path}'"), "MB": b.size(table) / MB}

        b.interleave(name, VARIANTS, copy)
        b.same(VARIANTS, "load", "SELECT sum(hashtextextended(body::text, id)) FROM {}")
        b.drop(VARIANTS, "load")


@workload
def read(b):
    """Full read of values"""
    values = [3 * KB, 10 * KB, 100 * KB, MB, 10 * MB, 100 * MB]
    for size in values[:5] if b.quick else values:
        rows = max(1, min(5000, b.scale(30 * MB, 3 * MB) // size))
        b.fill(VARIANTS, "read", "id int, body text",
               f"SELECT i, log_text(i, {size}) FROM generate_series(1, {rows}) i")
        b.same(VARIANTS, "read", "SELECT sum(hashtextextended(body, id)) FROM {}")
        b.time_query(size_name(size), VARIANTS, "read", "SELECT count(*) FROM {} WHERE body < ''")
        b.drop(VARIANTS, "read")


@workload
def slices(b):
    """100 bytes in the middle of a compressed value, also after 100 changes"""
    size = b.scale(100 * MB, 10 * MB)
    for column, value in (("bytea", f"content('log', 1, {size})"), ("text", f"log_text(1, {size})")):
        query = f"SELECT substr(body, {size // 2}, 100) FROM {{}}"
        b.fill(VARIANTS, "slice", f"body {column}", f"SELECT {value}")
        b.same(VARIANTS, "slice", query)
        b.time_query(f"{size_name(size)} {column}", VARIANTS, "slice", query)
        ours = [v for v in VARIANTS if v.method == "sliced"]
        for v in ours:
            b.make_loop("change_slice", change_byte(column, size).format(v.table("slice")))
            b.session.run("CALL change_slice(0, 100, 1)")
        b.time_query(f"{size_name(size)} {column} changed", ours, "slice", query)
        b.drop(VARIANTS, "slice")


@workload
def sizes(b):
    """Size on disk of documents"""
    sets = {"json": b.documents("json"), "log": b.documents("log"), "html": b.documents("html"),
            "a large log": b.copy_file("large", [(1, Maker("large").log(b.scale(20 * MB, 2 * MB)))])}
    if "PGS_BENCH_JSON" in os.environ:
        files = sorted(glob.glob(os.path.join(os.environ["PGS_BENCH_JSON"], "*.json")))
        sets[f"{os.path.basename(os.environ['PGS_BENCH_JSON'].rstrip('/'))}/*.json"] = b.copy_file(
            "files", ((i, open(f, encoding="utf-8").read()) for i, f in enumerate(files)))
    for name, path in sets.items():
        for column in ("text", "jsonb") if "json" in name else ("text",):
            for v in VARIANTS:
                b.create(v, "sizes", f"id int, body {column}")
                b.session.run(f"COPY {v.table('sizes')} FROM '{path}'")
                b.add(f"{name} as {column}", v, "MB", b.size(v.table("sizes")) / MB)
            b.drop(VARIANTS, "sizes")


def digests(size):
    """About 'size' bytes of hexadecimal digits, as an array's text."""
    return f"(SELECT array_agg(md5(g::text))::text FROM generate_series(1, {size} / 33) g)"


# The values with which pgsql-hackers tested the idea.
PAYS = {"1": digests(7925), "2": digests(16505), "3": digests(31685),
        "4a": f"repeat('b', 250) || {digests(3885)}", "4b": f"repeat({digests(1980)}, 2)"}


@workload
def pays(b):
    """Compress only if it pays: digits that lz4 brings to little less than they are"""
    variants = [v for v in VARIANTS if v.codec == "lz4"]
    for name, value in PAYS.items():
        b.fill([HEAP], "made", "body text", f"SELECT {value}", external="body")
        b.fill(variants, "pays", "id int, b text",
               f"SELECT i, body FROM {HEAP.table('made')}, generate_series(1, {b.scale(10000, 1000)}) i")
        b.drop([HEAP], "made")
        for v in variants:
            b.add(name, v, "MB", b.size(v.table("pays")) / MB)
        b.same(variants, "pays", "SELECT sum(hashtextextended(b, id)) FROM {}")
        b.time_query(name, variants, "pays", "SELECT count(*) FROM {} WHERE b < ''")
        b.drop(variants, "pays")


@workload
def cliff(b):
    """A key of 10,000 jsonb documents of about 2 kB"""
    rows = b.scale(10000, 1000)
    variants = [v for v in VARIANTS if v.codec == "lz4"]
    for name, hard, easy in (("below", 1930, 0), ("past", 2070, 0),
                             ("compressed below", 1880, 2000), ("compressed past", 2070, 2000)):
        b.fill(variants, "cliff", "id int, doc jsonb",
               f"SELECT i, jsonb_build_object('id', i, 'pad', mixed_text(i, {hard + easy}, {easy})) "
               f"FROM generate_series(1, {rows}) i", external=None if easy else "doc")
        b.same(variants, "cliff", "SELECT sum(hashtextextended(doc::text, id)) FROM {}")
        b.time_query(name, variants, "cliff", "SELECT count(doc->'id') FROM {}")
        if name == "past":
            b.time_query("past, count(*)", variants, "cliff", "SELECT count(*) FROM {}")
            b.time_query("past, sum(id)", variants, "cliff", "SELECT sum(id) FROM {}")
        b.drop(variants, "cliff")


@workload
def narrow(b):
    """Scans that need no oversized value"""
    pair = [SLICED, HEAP]
    for name, columns, body, rows in (
            ("oversized", "id int, body text", "mixed_text(i, 4500, 0)", b.scale(40000, 2000)),
            ("short rows", "id int, body text", "md5(i::text)", b.scale(1000000, 100000))):
        b.fill(pair, "narrow", columns, f"SELECT i, {body} FROM generate_series(1, {rows}) i")
        for what, query in (("count(*)", "SELECT count(*) FROM {}"), ("sum(id)", "SELECT sum(id) FROM {}"),
                            ("filter, id", "SELECT id FROM {} WHERE id % 1000 = 0"),
                            ("filter, all", "SELECT * FROM {} WHERE id % 1000 = 0"),
                            ("group", "SELECT id % 10, count(*) FROM {} GROUP BY 1"),
                            ("join", "SELECT count(*) FROM {} JOIN generate_series(1, 100) id USING (id)")):
            b.time_query(f"{name}, {what}", pair, "narrow", query, rounds=3 * b.rounds)
        b.drop(pair, "narrow")


@workload
def short(b):
    """Rows without oversized values"""
    pair = [SLICED, HEAP]
    rows = b.scale(300000, 30000)
    path = b.copy_file("short", ((i, i * 7919 % 1000, f"row number {i}", 1.5 * i) for i in range(rows)))
    for v in pair:
        b.create(v, "short", "id int, a int, b text, c float8")

    def copy(v):
        b.session.run(f"TRUNCATE {v.table('short')}")
        return b.session.times(f"COPY {v.table('short')} FROM '{path}'")

    def update(v):
        copy(v)
        b.session.run(f"VACUUM {v.table('short')}")
        return b.session.times(f"UPDATE {v.table('short')} SET a = a + 1")

    def delete(v):
        copy(v)
        b.session.run(f"VACUUM {v.table('short')}")
        return b.session.times(f"DELETE FROM {v.table('short')}")

    b.interleave("COPY", pair, copy)
    b.interleave("UPDATE", pair, update)
    b.same(pair, "short", "SELECT sum(id), sum(a), sum(hashtext(b)), sum(c) FROM {}")
    b.interleave("DELETE", pair, delete)
    b.drop(pair, "short")


@workload
def oltp(b):
    """pgbench, whose rows are short"""
    pair = [SLICED, HEAP]
    for v in pair:
        b.session.run(f"CREATE DATABASE oltp_{v.method}")
        session = Session(f"oltp_{v.method}")
        session.run("CREATE EXTENSION pg_sliced")
        session.close()
        pgbench_tables(f"oltp_{v.method}", {"default_table_access_method": v.method}, b.scale(10, 1))
    for name, script, n in (("select only", "select-only", b.scale(40000, 5000)),
                            ("TPC-B-like", "tpcb-like", b.scale(8000, 1000))):
        b.interleave(name, pair, lambda v: {"us": 1e6 / pgbench(
            f"oltp_{v.method}", {}, "-b", script, "-t", n, "-M", "prepared", "--random-seed=1")})
    for v in pair:
        b.session.run(f"DROP DATABASE oltp_{v.method}")


@workload
def point(b):
    """One document of 10 kB among many"""
    rows = b.scale(2000, 200)
    # The new values come uncompressed: heap would take over what another heap table has compressed.
    b.fill([HEAP], "point", "id int PRIMARY KEY, body text",
           f"SELECT i, log_text(i, 10000) FROM generate_series(1, {rows}) i", external="body")
    b.fill(VARIANTS, "point", "id int PRIMARY KEY, n int, body text",
           f"SELECT i, 0, log_text(i, 10000) FROM generate_series(1, {rows}) i")
    for name, sql in (("select", "SELECT body FROM {} WHERE id = :id;"),
                      ("update another column", "UPDATE {} SET n = n + 1 WHERE id = :id;"),
                      ("update it", f"UPDATE {{}} t SET body = s.body FROM {HEAP.table('point')} s "
                                    f"WHERE t.id = :id AND s.id = {rows} - :id;")):
        def measure(v):
            script = b.file("point.sql", f"\\set id random(1, {rows})\n{sql.format(v.table('point'))}\n")
            return {"us": 1e6 / pgbench("postgres", v.settings, "-f", script, "-t", b.scale(4000, 300),
                                        "-M", "prepared", "--random-seed=1")}

        b.interleave(name, VARIANTS, measure)
    b.drop([*VARIANTS, HEAP], "point")


@workload
def planning(b):
    """Planning of queries that touch no table of ours"""
    loaded, absent = Variant("loaded", "", "", {}), Variant("not loaded", "", "", {})
    b.session.run("CREATE TABLE planning_a AS SELECT i AS id, i % 10 AS x FROM generate_series(1, 1000) i")
    b.session.run("CREATE TABLE planning_b AS SELECT i AS id, i % 10 AS y FROM generate_series(1, 1000) i")
    b.session.run("ALTER TABLE planning_a ADD PRIMARY KEY (id)")
    b.session.run("ANALYZE planning_a, planning_b")
    query = ("SELECT x, count(*) FROM planning_a JOIN planning_b USING (id) "
             "WHERE y < 5 AND id BETWEEN 10 AND 50 GROUP BY x")
    times = b.scale(3000, 300)

    def plan(v):
        session = Session()
        if v is loaded:
            session.run("LOAD 'pg_sliced'")
        loop = f"DO $$ BEGIN FOR i IN 1..{{}} LOOP EXECUTE 'EXPLAIN {query}'; END LOOP; END $$"
        session.run(loop.format(100))
        result = session.times(loop.format(times))
        session.close()
        return {metric.replace("ms", "us"): value * 1000 / times for metric, value in result.items()}

    b.interleave("a join", [loaded, absent], plan)
    b.session.run("DROP TABLE planning_a, planning_b")
