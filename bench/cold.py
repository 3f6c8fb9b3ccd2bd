"""Single values read at random from tables that are in no cache: from the disk.

A server that has just started, whose tables' files the system has forgotten, reads
some hundred of them.  No value is read twice, but pages of rows and indexes are, and so
is what the system reads ahead, as its setting for the disk says.
"""

import os
import random

from bench import HEAP_LZ4, KB, MB, SLICED_LZ4, SLICED_ZSTD, per, size_name, workload
from documents import Maker
from session import Session, shell

VARIANTS = [SLICED_LZ4, SLICED_ZSTD, HEAP_LZ4]

SIZES = 4 * KB, 20 * KB, 200 * KB, 2 * MB
READS = {"doc->'count'": "a key at the top", "doc #>> '{items,-1,title}'": "a key of the last item",
         "doc->'items'->0": "an item", "doc::text": "all of it"}


def restart(b):
    b.session.close()
    shell("server_stop bench; server_start bench")
    b.session = Session()


def forget(b):
    """Let the system forget what it has of the database's files."""
    base = os.path.join(os.environ["PGS_TMP"], "bench/data/base")
    for folder, _, names in os.walk(base):
        for name in names:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def disk_bytes(b):
    """What the session's process has had from the disk."""
    with open(f"/proc/{b.session.pid}/io") as f:
        return int(dict(line.split(": ") for line in f)["read_bytes"])


def time_cold(b, case, table, read, rows):
    n = b.scale(200, 10)
    ids = random.Random(case).sample(range(2, rows + 1), n)

    def measure(v):
        restart(b)
        query = f"SELECT {read} FROM {v.table(table)} WHERE id = %s"
        b.session.run(query, (1,))          # what any statement reads first
        forget(b)
        disk = disk_bytes(b)
        ms = sum(b.session.time(query, (i,)) for i in ids)
        return {"disk kB": (disk_bytes(b) - disk) / KB / n, **per(n, {"ms": ms})}

    b.interleave(case, VARIANTS, measure, rounds=b.scale(5, 1))


@workload
def cold(b):
    """Single values read at random from the disk"""
    for size in b.scale(SIZES, SIZES[1:2]):
        maker, rows = Maker(), max(b.scale(220, 12), b.scale(100 * MB, MB) // size)
        documents = [maker.json(size) for _ in range(min(rows, 300))]
        for v in VARIANTS:
            b.create(v, "cold", "id int PRIMARY KEY, doc jsonb")
            for i in range(rows):
                b.session.run(f"INSERT INTO {v.table('cold')} VALUES (%s, %s)", (i + 1, documents[i % len(documents)]))
            b.session.run(f"VACUUM ANALYZE {v.table('cold')}")
            b.add(size_name(size), v, "MB", b.size(v.table("cold")) / MB)
        for read, name in list(READS.items())[:b.scale(None, 1)]:
            time_cold(b, f"{size_name(size)}, {name}", "cold", read, rows)
        b.drop(VARIANTS, "cold")
    log, rows = 2 * MB, b.scale(220, 12)
    b.fill(VARIANTS, "cold", "id int PRIMARY KEY, doc text", f"SELECT i, log_text(i, {log}) FROM generate_series(1, {rows}) i")
    time_cold(b, f"log of {size_name(log)}, 100 bytes of it", "cold", f"substr(doc, 1 + id * 7919 %% {log}, 100)", rows)
    b.drop(VARIANTS, "cold")
