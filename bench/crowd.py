"""Documents that many clients change for long, with autovacuum as a server has it.

Three in four changes name what they change; the fourth takes an item from one end of the
document's array and puts one on the other.  Heap and sliced tables take turns of some
seconds, again and again, so that what disturbs the machine disturbs all alike.
"""

import functools
import glob
import os

from bench import HEAP_LZ4, KB, MB, SLICED_LZ4, SLICED_ZSTD, per, size_name, workload
from documents import Maker
from plot import plot
from session import run_pgbench

VARIANTS = [HEAP_LZ4, SLICED_LZ4, SLICED_ZSTD]
SIZES = (4 * KB, 20 * KB)

SCRIPT = r"""\set id random(1, {rows})
\set item random(0, {items})
\set kind random(1, 4)
\set number random(1, 1000000)
\if :kind = 1
UPDATE {table} SET doc = jsonb_set(doc, ARRAY['items', (:item)::text, 'amount', 'value'], to_jsonb(:number)) WHERE id = :id;
\elif :kind = 2
UPDATE {table} SET doc = jsonb_set(doc, ARRAY['items', (:item)::text, 'title'], to_jsonb(md5((:number)::text))) WHERE id = :id;
\elif :kind = 3
UPDATE {table} SET doc = doc || jsonb_build_object('count', :number) WHERE id = :id;
\else
UPDATE {table} SET doc = jsonb_insert(doc #- '{{items,0}}', '{{items,-1}}', doc->'items'->0, true) WHERE id = :id;
\endif
"""


def turn(v, script, clients, seconds):
    """Changes a second, and milliseconds within which 99 of 100 of them end."""
    prefix = os.path.join(os.environ["PGS_TMP"], "crowd")
    run_pgbench("postgres", v.settings, "-f", script, "-T", seconds, "-c", clients, "-j", 2, "-l", f"--log-prefix={prefix}")
    found = []
    for path in glob.glob(f"{prefix}.*"):
        with open(path) as f:
            found += [int(line.split()[2]) for line in f]
        os.remove(path)
    return len(found), sorted(found)[len(found) * 99 // 100] / 1000


@workload
def crowd(b):
    """Documents that 64 clients change for long, with autovacuum"""
    clients, seconds, turns = b.scale(64, 8), b.scale(15, 2), b.scale(10, 2)
    for size in SIZES:
        maker, rows = Maker(), b.scale(100 * MB, 2 * MB) // size
        documents = [maker.json(size) for _ in range(min(rows, 500))]
        items = min(document.count('"node_id"') for document in documents) - 1
        scripts = {}
        for v in VARIANTS:
            table = v.table(f"crowd{size}")
            b.create(v, f"crowd{size}", "id int PRIMARY KEY, doc jsonb")
            for i in range(rows):
                b.session.run(f"INSERT INTO {table} VALUES (%s, %s)", (i + 1, documents[i % len(documents)]))
            b.session.run(f"VACUUM ANALYZE {table}")
            scripts[v] = b.file(f"{table}.sql", SCRIPT.format(table=table, rows=rows, items=items))
            b.add(f"{size_name(size)}, fresh", v, "MB", b.size(table) / MB)
        case, done = size_name(size), dict.fromkeys(VARIANTS, 0)
        b.session.run("ALTER SYSTEM SET autovacuum = on")
        b.session.run("ALTER SYSTEM SET autovacuum_naptime = 5")
        b.session.run("SELECT pg_reload_conf()")

        def measure(v, size=size, case=case, scripts=scripts, done=done):
            before = b.session.wal()
            n, p99 = turn(v, scripts[v], clients, seconds)
            wal = (b.session.wal() - before) / MB
            done[v] += seconds
            costs = {"us": 1e6 * seconds / n, "p99 ms": p99, **per(n, {"WAL MB": wal}),
                     "MB": b.size(v.table(f"crowd{size}")) / MB}
            b.record(case, v, done[v], {"changes/s": n / seconds, "MB": costs["MB"], "p99 ms": p99})
            return costs

        b.interleave(case, VARIANTS, measure, rounds=turns)
        b.session.run("ALTER SYSTEM RESET ALL")
        b.session.run("SELECT pg_reload_conf()")
        b.verify(VARIANTS, f"crowd{size}")
        b.drop(VARIANTS, f"crowd{size}")


crowd.draw = functools.partial(plot, x_name=lambda seconds, _: f"{seconds:g} s")
