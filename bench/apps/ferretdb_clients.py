"""FerretDB 1.24 on its PostgreSQL backend, and 64 clients of MongoDB that change documents at once.

Each changes documents of its own, in an order of its own, so the data do not depend on who is first.

# needs go: ferretdb.go github.com/FerretDB/FerretDB@v1.24.2
# needs pip: pymongo
# needs setting: max_connections=200
"""

import time
from concurrent.futures import ThreadPoolExecutor

from app import main, maker
from ferretdb import FerretDB

CLIENTS, DOCUMENTS, CHANGES = 64, 640, 6000


def make():
    with FerretDB() as documents:
        for i in range(DOCUMENTS):
            m = maker("document", i)
            documents.insert_one({"_id": i, "state": "new", "views": 0, "name": m.words(4),
                                  "items": [m.json_item() for _ in range(m.size(4_000, 20_000) // 1000)]})


def change(i):
    """Change 'i' of all: a number, a string of an item, an item more or less."""
    m = maker("change", i)
    document = m.rng.randrange(DOCUMENTS)
    what = [{"$inc": {"views": 1}}, {"$set": {"items.1.amount.value": i}}, {"$set": {"items.1.title": m.words(6)}},
            {"$push": {"items": m.json_item()}}, {"$pop": {"items": -1}}]
    return document, what[m.rng.randrange(len(what))]


def update(turns):
    todo = [[] for _ in range(CLIENTS)]
    for document, what in map(change, turns):
        todo[document % CLIENTS].append((document, what))

    def run(mine):
        times = []
        for document, what in mine:
            begin = time.perf_counter()
            documents.update_one({"_id": document}, what)
            times.append((time.perf_counter() - begin) * 1000)
        return times

    with FerretDB() as documents, ThreadPoolExecutor(CLIENTS) as clients:
        return {"times": [each for times in clients.map(run, todo) for each in times]}


def read():
    with FerretDB() as documents:
        yield from documents.find().sort("_id")


main(f"FerretDB 1.24 on its PostgreSQL backend, {CLIENTS} clients, {DOCUMENTS} documents of 4 to 20 kB", CHANGES, {
    "$set, $inc, $push, $pop": update,
}, make, read)
