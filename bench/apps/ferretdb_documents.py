"""FerretDB 1.24 on its PostgreSQL backend, by a client of MongoDB: $set, $inc, $push, $pop.

# needs go: github.com/FerretDB/FerretDB@v1.24.2
# needs pip: pymongo
"""

import os
import subprocess
import tempfile
import time
from urllib.parse import quote

import pymongo

from app import hot, main, maker

DOCUMENTS, CHANGES = 100, 300


class FerretDB:
    """The documents, while FerretDB runs."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        socket = f"{self.directory.name}/.sock"
        url = f"postgres:///{os.environ['PGDATABASE']}?host={quote(os.environ['PGHOST'])}&user={os.environ['PGUSER']}"
        self.process = subprocess.Popen([os.environ["PGS_APP"], socket, url], stdout=subprocess.DEVNULL)
        while not os.path.exists(socket):
            if self.process.poll() is not None:
                raise SystemExit("FerretDB did not start")
            time.sleep(0.05)
        self.client = pymongo.MongoClient(f"mongodb://{quote(socket, safe='')}")
        return self.client["shop"]["documents"]

    def __exit__(self, *_):
        self.client.close()
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()


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
