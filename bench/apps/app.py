"""What an application's script does when measure.py runs it.

It reads lines from standard input, and answers each with a line of JSON:

    ["make"]                        tables and their first rows
    ["change", KIND, FIRST, LAST]   changes FIRST up to but without LAST of those of an hour
    ["read"]                        reads what there is, through the application

Each line ends with no connection open, as the CPU time of a server's process
counts when it ends.  PGHOST, PGUSER and PGDATABASE say where.
"""

import hashlib
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from documents import Maker

MAKER = Maker("apps")


def maker(*seed):
    """A maker of documents that depend on nothing but the seed."""
    MAKER.rng.seed(repr(seed))
    MAKER.clock = 1_700_000_000_000
    return MAKER


def hot(i, rows):
    """Which of so many rows change 'i' is for: some are changed far more often than others."""
    return int(rows * maker("hot", i).rng.random() ** 3)


def main(about, changes, kinds, make, read):
    """'changes' of each of 'kinds', which take a range of numbers below that.

    They may return what they measured: {"received": BYTES of changes} or {"times": [MILLISECONDS of
    each change]}.  read() yields what JSON can say.
    """
    for line in sys.stdin:
        phase, *arguments = json.loads(line)
        measured, digest, begin = None, hashlib.sha256(), time.perf_counter()
        if phase == "make":
            make()
        elif phase == "change":
            kind, first, last = arguments
            measured = kinds[kind](range(first, last))
        else:
            for item in read():
                digest.update(json.dumps(item, sort_keys=True).encode())
        print(json.dumps({"about": about, "changes": changes, "kinds": list(kinds), **(measured or {}),
                          "ms": (time.perf_counter() - begin) * 1000, "digest": digest.hexdigest()}), flush=True)
