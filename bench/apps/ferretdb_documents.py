"""FerretDB 1.24 on its PostgreSQL backend, by a client of MongoDB: $set, $inc, $push, $pop.

# needs go: ferretdb.go github.com/FerretDB/FerretDB@v1.24.2
# needs pip: pymongo
"""

from app import hot, main, maker
from ferretdb import FerretDB

DOCUMENTS, CHANGES = 100, 300


def make():
    with FerretDB() as documents:
        for i in range(DOCUMENTS):
            m = maker("document", i)
            size = m.size(5_000, 100_000)
            documents.insert_one({"_id": i, "state": "new", "views": 0, "name": m.words(4),
                                  "items": [m.json_item() for _ in range(size // 1000)]})


def update(change):
    """Change a document by what 'change' makes of a number."""
    def run(turns):
        with FerretDB() as documents:
            for i in turns:
                documents.update_one({"_id": hot(i, DOCUMENTS)}, change(i))
    return run


def read():
    with FerretDB() as documents:
        yield from documents.find().sort("_id")


main(f"FerretDB 1.24 on its PostgreSQL backend, {DOCUMENTS} documents of 5 to 100 kB", CHANGES, {
    "$set": update(lambda i: {"$set": {"state": f"seen {i}", "items.2.title": maker("set", i).words(6)}}),
    "$inc": update(lambda i: {"$inc": {"views": 1}}),
    "$push": update(lambda i: {"$push": {"items": maker("push", i).json_item()}}),
    "$pop": update(lambda i: {"$pop": {"items": -1}}),
}, make, read)
