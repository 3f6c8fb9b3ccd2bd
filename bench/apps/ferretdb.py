"""FerretDB 1.24 on its PostgreSQL backend, for the scripts that change documents in it."""

import os
import subprocess
import tempfile
import time
from urllib.parse import quote

import pymongo


class FerretDB:
    """A collection, while FerretDB runs."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        socket = f"{self.directory.name}/.sock"
        url = f"postgres:///{os.environ['PGDATABASE']}?host={quote(os.environ['PGHOST'])}&user={os.environ['PGUSER']}"
        # A change takes a second connection while it holds one: if all are held, none of them ends.
        url += "&pool_max_conns=150"
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
