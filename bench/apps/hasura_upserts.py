"""The statements that Hasura writes for mutations of a jsonb column.

# needs pip: psycopg[binary]
"""

import json

import psycopg

from app import hot, main, maker

ROWS, CHANGES = 100, 600

# docs(where: ...) with the operators of jsonb, and insert_docs(on_conflict: ...)
APPEND = """UPDATE "public"."docs" SET "doc" = (COALESCE("doc", '{}') || (%s)::jsonb) WHERE ("public"."docs"."id") = ((%s)::integer) RETURNING *"""
DELETE_KEY = """UPDATE "public"."docs" SET "doc" = ("doc" - (%s)::text) WHERE ("public"."docs"."id") = ((%s)::integer) RETURNING "id" """
DELETE_AT_PATH = """UPDATE "public"."docs" SET "doc" = ("doc" #- (%s)::text[]) WHERE ("public"."docs"."id") = ((%s)::integer) RETURNING "id" """
UPSERT = """INSERT INTO "public"."docs" ("id", "doc") VALUES (%s, %s::jsonb)
    ON CONFLICT ON CONSTRAINT "docs_pkey" DO UPDATE SET "doc" = EXCLUDED."doc" RETURNING "id" """
MERGE = """INSERT INTO "public"."docs" ("id", "doc") VALUES (%s, %s::jsonb)
    ON CONFLICT ON CONSTRAINT "docs_pkey" DO UPDATE SET "doc" = "docs"."doc" || EXCLUDED."doc" RETURNING "id" """


def connect():
    return psycopg.connect("", autocommit=True)


def document(i):
    m = maker("document", i)
    size = m.size(5_000, 100_000)
    return {"state": "new", "views": 0, "items": [m.json_item() for _ in range(size // 1000)]}


def make():
    with connect() as db:
        db.execute("CREATE TABLE docs (id integer PRIMARY KEY, doc jsonb NOT NULL)")
        for i in range(ROWS):
            db.execute("INSERT INTO docs VALUES (%s, %s)", (i, json.dumps(document(i))))


def statements(sql, parameters):
    """Run a statement with what 'parameters' makes of a number and a row's id."""
    def run(turns):
        with connect() as db:
            for i in turns:
                db.execute(sql, parameters(i, hot(i, ROWS)))
    return run


def upsert(turns):
    """The client has the document, changes it, and sends all of it."""
    with connect() as db:
        for i in turns:
            row = hot(i, ROWS)
            doc, = db.execute('SELECT "doc" FROM "public"."docs" WHERE "id" = %s', (row,)).fetchone()
            doc["items"][i % len(doc["items"])]["title"] = f"title {i}"
            db.execute(UPSERT, (row, json.dumps(doc)))


def read():
    with connect() as db:
        yield from db.execute("SELECT id, doc FROM docs ORDER BY id")
        yield db.execute("SELECT doc->>'views', doc->'items'->1->>'title' FROM docs ORDER BY id").fetchall()


main(f"statements as Hasura writes them, {ROWS} documents of 5 to 100 kB", CHANGES, {
    "upsert, the whole document": upsert,
    "upsert, doc || excluded.doc": statements(MERGE, lambda i, row: (row, json.dumps({"views": i}))),
    "_append": statements(APPEND, lambda i, row: (json.dumps({f"key {i % 5}": maker("key", i).words(8)}), row)),
    "_delete_key": statements(DELETE_KEY, lambda i, row: (f"key {i % 5}", row)),
    "_delete_at_path": statements(DELETE_AT_PATH, lambda i, row: (["items", "0", "labels"], row)),
}, make, read)
