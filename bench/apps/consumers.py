"""Consumers of changes, by pgoutput and wal2json: each keeps a copy of the table.

# needs pip: psycopg[binary]
# needs apt: postgresql-MAJOR-wal2json
# needs library: wal2json
# needs setting: wal_level=logical shared_preload_libraries=pg_sliced
"""

import json
import os
import pickle

import psycopg

from app import hot, main, maker

ROWS, CHANGES = 50, 240

# by what makes a change: the document as a whole, a key of it, a line more, or nothing that is long
STATEMENTS = (
    ("UPDATE docs SET doc = %s WHERE id = %s", lambda i, m: json.dumps({"n": i, "items": [m.json_item() for _ in range(20)]})),
    ("UPDATE docs SET doc = jsonb_set(doc, '{items,1,title}', to_jsonb(%s::text)) WHERE id = %s", lambda i, m: m.words(6)),
    ("UPDATE docs SET body = body || %s WHERE id = %s", lambda i, m: m.log_line()),
    ("UPDATE docs SET n = %s WHERE id = %s", lambda i, m: i),
)
COPIES = os.path.join(os.environ["PGS_TMP"], f"copies-{os.environ['PGDATABASE']}")


def connect():
    return psycopg.connect("", autocommit=True)


def make():
    with connect() as db:
        db.execute("CREATE TABLE docs (id integer PRIMARY KEY, n integer, doc jsonb, body text)")
        db.execute("CREATE PUBLICATION docs FOR TABLE docs")
        for plugin in CONSUMERS:
            db.execute("SELECT pg_create_logical_replication_slot(current_database() || '_' || %s, %s)", (plugin, plugin))
        for i in range(ROWS):
            m = maker("row", i)
            size = m.size(5_000, 100_000)
            doc = {"n": 0, "items": [m.json_item() for _ in range(size // 1000)]}
            db.execute("INSERT INTO docs VALUES (%s, 0, %s, %s)", (i, json.dumps(doc), m.log(size)))
    with open(COPIES, "wb") as file:
        pickle.dump({plugin: {} for plugin in CONSUMERS}, file)


def change(turns):
    with connect() as db:
        for i in turns:
            statement, parameter = STATEMENTS[i % len(STATEMENTS)]
            db.execute(statement, (parameter(i, maker("change", i)), hot(i, ROWS)))


def tuple_of(message, at):
    """Columns as text, None for null; an unchanged value that was not sent is left out."""
    columns, names = {}, ("id", "n", "doc", "body")
    count = int.from_bytes(message[at:at + 2], "big")
    at += 2
    for name in names[:count]:
        kind = message[at:at + 1]
        at += 1
        if kind == b"t":
            length = int.from_bytes(message[at:at + 4], "big")
            columns[name] = message[at + 4:at + 4 + length].decode()
            at += 4 + length
        elif kind == b"n":
            columns[name] = None
    return columns


def by_pgoutput(db):
    """Rows as they become; with the replica identity of a primary key, whose values stay, no old ones come."""
    for message, in db.execute(
            "SELECT data FROM pg_logical_slot_get_binary_changes(current_database() || '_pgoutput', NULL, NULL, "
            "'proto_version', '1', 'publication_names', 'docs')"):
        if message[:1] in (b"I", b"U"):
            yield len(message), tuple_of(message, 6)


def by_wal2json(db):
    for message, in db.execute(
            "SELECT data FROM pg_logical_slot_get_changes(current_database() || '_wal2json', NULL, NULL, "
            "'format-version', '2', 'add-tables', 'public.docs')"):
        columns = json.loads(message).get("columns")
        if columns:
            yield len(message), {c["name"]: None if c["value"] is None else str(c["value"]) for c in columns}


def consume(plugin):
    """Bring the copy that 'plugin' feeds up to date; bytes that came."""
    def run(_):
        with open(COPIES, "rb") as file:
            copies = pickle.load(file)
        received = 0
        with connect() as db:
            for length, columns in CONSUMERS[plugin](db):
                received += length
                copies[plugin].setdefault(columns["id"], {}).update(columns)
        with open(COPIES, "wb") as file:
            pickle.dump(copies, file)
        return {"received": received}
    return run


def read():
    """The table; the copies must be like it."""
    with open(COPIES, "rb") as file:
        copies = pickle.load(file)
    with connect() as db:
        rows = db.execute("SELECT id::text, n::text, doc::text, body FROM docs ORDER BY docs.id").fetchall()
    for plugin, copy in copies.items():
        if [tuple(copy[row[0]].values()) for row in rows] != rows:
            raise SystemExit(f"the copy by {plugin} differs from the table")
    yield from rows


CONSUMERS = {"pgoutput": by_pgoutput, "wal2json": by_wal2json}
main(f"consumers of changes of {ROWS} rows of jsonb and text of 5 to 100 kB", CHANGES,
     {"changes": change, **{f"consumer, {plugin}": consume(plugin) for plugin in CONSUMERS}}, make, read)
