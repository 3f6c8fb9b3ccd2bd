"""Statements that do not fit in memory: core's temporary files, and compressed ones.

Each statement is run with temporary files in the page cache, and with such as a device of
200 MB/s would have (slow_files.c), which is what temp_tablespaces switches between.
"""

import os
from concurrent.futures import ThreadPoolExecutor

from bench import Variant, workload
from session import Error, Session

CORE, AUTO, LZ4, ZSTD = VARIANTS = [
    Variant(name, "heap", name, {"sliced.temp_file_compression": setting})
    for name, setting in (("core", "off"), ("auto", "auto"), ("lz4", "lz4"), ("zstd", "zstd"))]

# Columns besides id, k and k2, which are 1 to n in order and in another one; 1 kB that is the same over and over,
# nothing, some 40 bytes, 500 of a log, and 64 that are random.
TABLES = {"a": ("repeat(md5(i::text), 32) AS t", 400_000, 20_000),
          "b": ("1 AS one", 1_000_000, 50_000),
          "c": ("'user' || i AS t, now() - make_interval(secs => i) AS at, i % 17 AS s", 1_000_000, 50_000),
          "f": ("i * 100 AS far", 200_000, 20_000),
          "l": ("log_text(i, 500) AS t", 200_000, 20_000),
          "r": ("decode(md5(i::text) || md5((-i)::text) || md5(i || 'x') || md5(i || 'y'), 'hex') AS t", 400_000, 20_000)}

# Memory that is much less than a table has, and such as all of a statement's rows fit in.
SMALL, TINY, LARGE = "SMALL", "4MB", "128MB"


def join(table, columns):
    return f"SELECT count(*), {columns} FROM {table} x JOIN {table} y ON x.k = y.k2"


def sort(table, key, column):
    return f"SELECT count(w) FROM (SELECT lag(id) OVER () AS w FROM (SELECT id, {column} FROM {table} ORDER BY {key} OFFSET 0) s) w"


def groups(table, key):
    return f"SELECT count(*) FROM (SELECT {key}, sum(id) FROM {table} GROUP BY {key} OFFSET 0) g"


STATEMENTS = {
    "join A": (join("a", "sum(octet_length(x.t) + octet_length(y.t))"), SMALL),
    "join B": (join("b", "sum(x.id + y.id)"), SMALL),
    "join C": (join("c", "sum(x.s + y.s), max(x.t), max(y.at)"), SMALL),
    "join logs": (join("l", "sum(octet_length(x.t) + octet_length(y.t))"), SMALL),
    "join random": (join("r", "sum(octet_length(x.t) + octet_length(y.t))"), SMALL),
    "join 1 %": ("SELECT count(*), sum(octet_length(x.t)) FROM a x JOIN f y ON x.k = y.far", SMALL),
    # as many rows as there is memory for
    "join A, fits": (join("a", "sum(octet_length(x.t) + octet_length(y.t))") + " AND y.id <= 50000", LARGE),
    "join B, fits": (join("b", "sum(x.id + y.id)"), LARGE),
    "join, tiny": ("SELECT count(*) FROM generate_series(1, 20) g, LATERAL (SELECT count(*) FROM b x JOIN b y ON x.k = y.k2 "
                   "WHERE x.id < 20000 AND y.id < 20000 + g OFFSET 0) q", TINY),
    "sort A": (sort("a", "t", "t"), SMALL),
    "sort B": (sort("b", "k2", "k2"), SMALL),
    "sort logs": (sort("l", "t", "t"), SMALL),
    "sort random": (sort("r", "t", "t"), SMALL),
    "sort B, fits": (sort("b", "k2", "k2"), LARGE),
    "groups A": (groups("a", "t"), SMALL),
    "groups B": (groups("b", "k2"), SMALL),
    "groups logs": (groups("l", "t"), SMALL),
    "groups random": (groups("r", "t"), SMALL),
    "groups B, fits": (groups("b", "k2"), LARGE),
}

# As a server does it that is as installed: by two workers and the leader.
PARALLEL = ["join A", "join B", "join C"]

# As the plan's first choice, whatever the planner thinks of it.
PLANS = {"join": "enable_mergejoin enable_nestloop", "sort": "", "groups": "enable_sort"}


def set_plan(b, case):
    for name in PLANS.values():
        for setting in name.split():
            b.session.run(f"RESET {setting}")
    for setting in PLANS[case.replace(",", " ").split()[0]].split():
        b.session.run(f"SET {setting} = off")


def make_slow_tablespace(session):
    """Files below a directory of this name are slow."""
    if session.run("SELECT 1 FROM pg_tablespace WHERE spcname = 'slow'"):
        return
    path = os.path.join(session.value("SHOW data_directory"), "slow")
    session.run(f"COPY (SELECT) TO PROGRAM 'mkdir -p {path}'")
    session.run(f"CREATE TABLESPACE slow LOCATION '{path}'")


@workload
def spill(b):
    """Joins, sorts and groups that do not fit in memory (as slow: with a disk of 200 MB/s)"""
    b.session.run("LOAD 'sliced_spill'")
    b.session.use({"hash_mem_multiplier": "1", "max_parallel_workers_per_gather": "0"})
    make_slow_tablespace(b.session)
    for name, (columns, full, quick) in TABLES.items():
        n = b.scale(full, quick)
        b.session.run(f"CREATE TABLE {name} AS SELECT i AS id, i AS k, (i * 7919::int8 % {n})::int + 1 AS k2, {columns} "
                      f"FROM generate_series(1, {n}) i")
        b.session.run(f"VACUUM ANALYZE {name}")
    for case, (statement, memory) in STATEMENTS.items():
        b.session.use({"work_mem": b.scale("4MB", "256kB") if memory == SMALL else memory})
        set_plan(b, case)
        compare(b, case, statement, memory)
        if memory == SMALL:
            slowly(b, f"{case}, slow", statement)
        if case in PARALLEL:
            compare_parallel(b, f"{case}, parallel", statement)
    b.session.run("DROP TABLE " + ", ".join(TABLES))


def compare_files(b, case, statement):
    answers = set()
    for v in VARIANTS:
        b.session.use(v.settings)
        answers.add(str(b.session.run(statement)))
        b.add(case, v, "temp MB", b.session.temp_mb(statement))
    if len(answers) != 1:
        raise Error(f"results differ: {answers}")


def compare(b, case, statement, memory):
    compare_files(b, case, statement)
    if (b.results.median("spill", case, CORE.name, "temp MB") > 0) != (memory == SMALL):
        raise Error(f"{case}: temporary files are not as expected")
    b.interleave(case, VARIANTS, lambda v: b.session.times(statement), rounds=b.scale(7, 3))


def compare_parallel(b, case, statement):
    # the tables are small in a quick run
    b.session.use({"max_parallel_workers_per_gather": "2", "min_parallel_table_scan_size": "0"})
    compare_files(b, case, statement)
    # the CPU time of workers is not the session's
    b.interleave(case, VARIANTS, lambda v: {"ms": b.session.time(statement)}, rounds=b.scale(7, 3))
    slowly(b, f"{case}, slow", statement)
    b.session.use({"max_parallel_workers_per_gather": "0"})
    b.session.run("RESET min_parallel_table_scan_size")


SESSIONS = 8
MEMORIES = ["1MB", "4MB", "16MB", "64MB"]


@workload
def spill_sessions(b):
    """Joins of eight sessions at once, of rows whose keys come 1,000 times (as slow: with a disk of 200 MB/s)"""
    make_slow_tablespace(b.session)
    n = b.scale(8_000, 4_000)
    pool, sessions = ThreadPoolExecutor(SESSIONS), [Session() for _ in range(SESSIONS)]
    for session in sessions:
        session.run("LOAD 'sliced_spill'")
        session.use({"hash_mem_multiplier": "1", "max_parallel_workers_per_gather": "0"})
        for setting in PLANS["join"].split():
            session.run(f"SET {setting} = off")

    def times(variant, settings, statement):
        def run(session):
            session.use({**variant.settings, **settings})
            return session.times(statement)

        took = list(pool.map(run, sessions))
        return {"ms": max(t["ms"] for t in took), "cpu ms": sum(t["cpu ms"] for t in took)}

    for name, columns, total in (("wide", "repeat(md5(i::text), 32) AS t", "sum(octet_length(x.t) + octet_length(y.t))"),
                                 ("narrow", "1 AS one", "sum(x.one + y.one)")):
        b.session.run(f"CREATE TABLE {name} AS SELECT i % {n // 1000} AS k, i * 7919::int8 % {n // 1000} AS k2, {columns} "
                      f"FROM generate_series(1, {n}) i")
        b.session.run(f"VACUUM ANALYZE {name}")
        for memory in b.scale(MEMORIES, MEMORIES[:1]):
            statement = join(name, total)
            b.interleave(f"{name}, {memory}", (CORE, AUTO),
                         lambda v: times(v, {"work_mem": memory, "temp_tablespaces": ""}, statement), b.scale(3, 1))
            if memory == MEMORIES[0]:
                b.interleave(f"{name}, {memory}, slow", (CORE, AUTO),
                             lambda v: times(v, {"work_mem": memory, "temp_tablespaces": "slow"}, statement), b.scale(3, 1))
        b.session.run(f"DROP TABLE {name}")
    for session in sessions:
        session.close()


def slowly(b, case, statement):
    b.session.use({"temp_tablespaces": "slow"})
    b.interleave(case, VARIANTS, lambda v: {"ms": b.session.time(statement)}, rounds=b.scale(3, 1))
    b.session.run("RESET temp_tablespaces")
