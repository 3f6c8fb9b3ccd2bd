"""What applications write: WAL of a save through Django and SQLAlchemy, to heap and to sliced tables.

usage: PGHOST=... PGUSER=... PGDATABASE=... python wal.py [KILOBYTES...]

Needs a server that has the extension (./dev demo leaves one) and, from PyPI,
django, sqlalchemy 2.0.26 and psycopg.  Makes and drops tables named saves_*.
"""

import json
import os
import sys

import django
import sqlalchemy
from django.conf import settings
from django.db import connection, models
from django.db.models import F, Value
from django.db.models.functions import Concat
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.mutable import MutableDict
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from documents import Maker

METHODS, SAVES = ("heap", "sliced"), 20
LZ4 = "-c default_toast_compression=lz4"        # heap's better one

settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ.get("PGDATABASE", "postgres"),
    "HOST": os.environ.get("PGHOST", ""), "USER": os.environ.get("PGUSER", ""), "OPTIONS": {"options": LZ4}}})
django.setup()
engine = sqlalchemy.create_engine("postgresql+psycopg://", connect_args={"options": LZ4})


class Base(DeclarativeBase):
    pass


def models_of(method):
    """The same table as a model of Django and as one of SQLAlchemy."""
    table = f"saves_{method}"
    meta = type("Meta", (), {"app_label": "saves", "db_table": table})
    of_django = type(f"Django{method}", (models.Model,), {
        "__module__": __name__, "Meta": meta, "doc": models.JSONField(), "body": models.TextField()})
    of_alchemy = type(f"Alchemy{method}", (Base,), {
        "__tablename__": table, "__table_args__": {"postgresql_using": method},
        "__annotations__": {"id": Mapped[int], "body": Mapped[str]},
        "id": mapped_column(sqlalchemy.BigInteger, primary_key=True),
        "doc": mapped_column(MutableDict.as_mutable(JSONB)), "body": mapped_column()})
    return of_django, of_alchemy


def query(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone() if cursor.description else None


def wal_of(save):
    """Bytes that one save writes, after a first one has brought pages into the log."""
    query("CHECKPOINT")
    save(0)
    before = query("SELECT pg_current_wal_insert_lsn()")[0]
    for turn in range(1, SAVES + 1):
        save(turn)
    return float(query(f"SELECT pg_current_wal_insert_lsn() - '{before}'::pg_lsn")[0]) / SAVES


def saves_of(of_django, of_alchemy):
    """Ways to change a number in the document, or to add a line to the text."""
    row, session = of_django.objects.get(), Session(engine)
    mapped = session.scalars(sqlalchemy.select(of_alchemy)).one()
    session.commit()

    def save(turn):
        row.doc["views"] = turn
        row.save()

    def concat(turn):
        of_django.objects.update(body=Concat(F("body"), Value(f"one more line, {turn}\n")))

    def mutable(turn):
        mapped.doc["views"] = turn + 1000
        session.commit()

    return {"Django save()": save, "Django Concat(F(), Value())": concat, "SQLAlchemy MutableDict": mutable}


def measure(kilobytes):
    document = {**json.loads(Maker("saves").json(kilobytes * 1000)), "views": 0}
    costs = {}
    for method in METHODS:
        of_django, of_alchemy = MODELS[method]
        Base.metadata.create_all(engine, [of_alchemy.__table__])
        of_django.objects.create(id=1, doc=document, body=Maker("saves").log(kilobytes * 1000))
        for name, save in saves_of(of_django, of_alchemy).items():
            costs.setdefault(name, {})[method] = wal_of(save)
    if query("SELECT count(*) FROM saves_heap JOIN saves_sliced USING (id, doc, body)") != (1,):
        sys.exit("the tables differ")
    Base.metadata.drop_all(engine)
    for name, cost in costs.items():
        print(f"{kilobytes:>8} kB  {name:30}{cost['heap']:>14,.0f}{cost['sliced']:>14,.0f}"
              f"{cost['heap'] / cost['sliced']:>10,.0f}")


MODELS = {method: models_of(method) for method in METHODS}
query("CREATE EXTENSION IF NOT EXISTS pg_sliced")
print(f"{'value':>11}  {'WAL of one, bytes':30}{'heap':>14}{'sliced':>14}{'1/':>10}")
for size in map(int, sys.argv[1:] or (10, 100, 1000, 10000)):
    measure(size)
