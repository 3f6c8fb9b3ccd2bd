"""A Django model with a JSONField and a TextField: views that read, change and save it.

# needs pip: django psycopg[binary]
"""

import os

import django
from django.conf import settings
from django.db import connection, models
from django.db.models import F, Func, IntegerField, JSONField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Concat

from app import hot, main, maker

ROWS, CHANGES = 100, 600

settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
    "HOST": os.environ["PGHOST"], "USER": os.environ["PGUSER"]}})
django.setup()


class Document(models.Model):
    title = models.CharField(max_length=200)
    doc = models.JSONField()
    body = models.TextField()

    class Meta:
        app_label = "shop"


class JSONSet(Func):
    function = "jsonb_set"
    output_field = JSONField()


def make():
    with connection.schema_editor() as editor:
        editor.create_model(Document)
    for i in range(1, ROWS + 1):
        m = maker("row", i)
        size = m.size(2_000, 100_000)
        lines = [m.json_item() for _ in range(size // 1000)]
        Document.objects.create(title=m.words(5), body=m.log(size), doc={"views": 0, "lines": lines})
    connection.close()


def save(turns):
    """Read, modify and save: all columns are sent."""
    for i in turns:
        row = Document.objects.get(pk=1 + hot(i, ROWS))
        row.doc["views"] += 1
        row.doc["lines"][i % len(row.doc["lines"])]["state"] = f"seen {i}"
        row.save()


def save_field(turns):
    for i in turns:
        row = Document.objects.get(pk=1 + hot(i, ROWS))
        row.doc["lines"].append(maker("line", i).json_item())
        row.save(update_fields=["doc"])


def concat(turns):
    for i in turns:
        Document.objects.filter(pk=1 + hot(i, ROWS)).update(body=Concat(F("body"), Value(maker("log", i).log_line())))


def key_transform(turns):
    for i in turns:
        views = Cast(KT("doc__views"), IntegerField()) + 1
        Document.objects.filter(pk=1 + hot(i, ROWS)).update(
            doc=JSONSet(F("doc"), Value("{views}"), Func(views, function="to_jsonb")))


def read():
    for row in Document.objects.order_by("pk"):
        yield [row.pk, row.title, row.doc, row.body]
    yield list(Document.objects.filter(doc__views__gt=3).order_by("pk").values_list("pk", "doc__lines__0__title"))
    connection.close()


def closing(function):
    """The same, as a request that closes its connection in the end."""
    def run(turns):
        function(turns)
        connection.close()
    return run


main(f"a Django {django.__version__} model with a JSONField and a TextField, {ROWS} rows, each of 2 to 100 kB", CHANGES,
     {"save()": closing(save), "save(update_fields)": closing(save_field), "Concat(F())": closing(concat),
      "jsonb_set(KT)": closing(key_transform)},
     make, read)
