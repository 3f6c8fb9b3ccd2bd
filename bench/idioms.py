"""Updates as people write them.

Each idiom is one statement, sent by a client with its parameters, with its commit,
at random places of a value.  A case begins with a fresh value; the first tenth of
the changes is not measured.  A second session asks where the WAL ends before and
after each change.  We checkpoint once, before the tables are made, and complain if
another checkpoint follows: so no page is logged as a whole.  In the end the stored
value must equal what the client has made of its own copy.

Ours writes a value anew when it has been changed often enough.  A value of 20 MB that
is sent as a whole is not changed that often here, so in the long run it takes more.

How much a change may write is in goals.py, by what it asks for:
    short   some 10 new bytes, or none
    long    100 to 250 new bytes, or two places far apart
    lines   one line in 100 replaced
    fixed   elements, bytes and characters of one length; appended text; counters and keys
"""

import math
from dataclasses import dataclass
from typing import Callable

from matplotlib.figure import Figure

from bench import HEAP_LZ4, KB, MB, SLICED_LZ4, size_name, workload
from plot import COLORS, bytes_name, look, save
from session import Error, Session
from written import Chat, Codes, Document, Floats, Log, Noise, Words, Written

PAIR = [SLICED_LZ4, HEAP_LZ4]
ROUNDS = 4

# How many changes are measured at each size: of ours in a part of the value, of ours where the whole value is
# sent or computed, and of heap's, which always writes all of it.
SIZES = {20 * KB: (200, 100, 100), 200 * KB: (400, 100, 60), 2 * MB: (400, 100, 20), 20 * MB: (400, 60, 8)}
QUICK = {20 * KB: (20, 20, 8), 200 * KB: (20, 20, 8)}

# What may be written for lines: so much, and for each line so much and its own bytes.
CHANGE, EDIT = 1500, 30


@dataclass(frozen=True)
class Idiom:
    name: str
    asks: str
    column: str
    written: type
    set: str                # what follows SET; d is the column
    change: Callable        # makes a change to what is written, and returns the parameters

    @property
    def is_whole(self):
        """True if the client sends all of the value, or the server computes all of it."""
        return any(word in self.name for word in ("sent", "agg", "replace", "array_", "joined"))


def digit(w):
    place = w.place()
    return str(place), w.digit(place)


def note(w):
    """Longer or shorter than it was, by up to 100 bytes."""
    place = w.place()
    length = max(0, len(w.get(place, "note")) + w.rng.randrange(-100, 101))
    w.set(place, note=w.text(length))
    return str(place), f'"{w.get(place, "note")}"'


def remove(w):
    place = w.place()
    w.items.pop(place)
    return (str(place),)


def insert(w):
    place = w.place()
    w.items.insert(place, w.new(236))
    return str(place), w.items[place]


def append(w):
    w.items.append(w.new())
    return (w.items[-1],)


def append_list(w):
    """A list of one item."""
    return (f"[{append(w)[0]}]",)


def view(w):
    w.views += 1
    return ()


def state(w):
    w.state = w.maker.word()
    return (f'{{"state": "{w.state}"}}',)


def remove_sku(w):
    place = w.place()
    sku = w.get(place, "sku")
    w.items.pop(place)
    return (sku,)


def digit_of_sku(w):
    place = w.place()
    return w.get(place, "sku"), w.digit(place)


def send(edit, places):
    """Send all of the value after an edit at each of some places."""
    def change(w):
        w.added = 0
        for place in places(w):
            edit(w, place)
            w.added += EDIT + len(w.items[place])
        return (w.sent(),)
    return change


def one(w):
    return [w.place()]


def two(w):
    """In the first half and in the second."""
    return [w.place(0, 2), w.place(1, 2)]


def line(w, place):
    w.items[place] = w.new()


def new_line(w):
    place = w.place()
    word, new = w.word(place), w.new()
    w.items[place] = new
    return f"(?n)^.*request_id={word} .*$", new.rstrip("\n")


LIST = "jsonb_array_elements(d->'items') e"

JSONB = [
    ("digit, jsonb_set", "short", "d = jsonb_set(d, ARRAY['items', %s, 'qty'], %s)", digit),
    ("digit, []", "short", "d['items'][%s::int]['qty'] = %s", digit),
    ("string", "long", "d = jsonb_set(d, ARRAY['items', %s, 'note'], %s)", note),
    ("item removed", "short", "d = d #- ARRAY['items', %s]", remove),
    ("item inserted", "long", "d = jsonb_insert(d, ARRAY['items', %s], %s)", insert),
    ("counter", "fixed", "d = jsonb_set(d, '{meta,views}', to_jsonb((d->'meta'->>'views')::int + 1))", view),
    ("key", "fixed", "d = d || %s", state),
    ("append, jsonb_set", "long", "d = jsonb_set(d, '{items}', (d->'items') || %s)", append_list),
    ("append, ||", "long", "d = d || jsonb_build_object('items', (d->'items') || %s)", append_list),
    ("append, jsonb_insert", "long", "d = jsonb_insert(d, '{items,-1}', %s, true)", append),
    ("jsonb_agg, removed", "short",
     f"d = jsonb_set(d, '{{items}}', (SELECT jsonb_agg(e) FROM {LIST} WHERE e->>'sku' <> %s))", remove_sku),
    ("jsonb_agg, digit", "short",
     "d = jsonb_set(d, '{items}', (SELECT jsonb_agg(CASE WHEN e->>'sku' = %s "
     f"THEN jsonb_set(e, '{{qty}}', %s) ELSE e END) FROM {LIST}))", digit_of_sku)]

SENT = [(column, *rest) for column, written, edit in
        (("jsonb", Document, Document.digit), ("json", Document, Document.digit), ("text", Log, Log.renumber))
        for rest in ((f"{column} sent, one edit", "short", written, send(edit, one)),
                     (f"{column} sent, two edits", "long", written, send(edit, two)),
                     (f"{column} sent, 1 in 100", "lines", written, send(line, Written.hundreds)))]

OTHERS = [
    ("text, replace", "short", "text", Log, "d = replace(d, %s, %s)", lambda w: w.renumber(w.place())),
    ("text, regexp_replace", "long", "text", Log, "d = regexp_replace(d, %s, %s)", new_line),
    ("text, append", "fixed", "text", Log, "d = d || %s", append),
    ("text, overlay", "fixed", "text", Log, "d = overlay(d PLACING %s FROM %s)", lambda w: w.overlay(f"{w.place():010}")),
    ("text, left || right joined", "long", "text", Log, "d = left(d, %s) || %s || right(d, %s)", Log.put_between),
    ("float8[], set", "fixed", "float8[]", Floats, "d[%s] = %s", lambda w: w.set(w.new())),
    ("float8[], append", "fixed", "float8[]", Floats, "d = d || %s", append),
    ("text[], set", "short", "text[]", Words, "d[%s] = %s", lambda w: w.set(w.new())),
    ("text[], append", "short", "text[]", Words, "d = d || %s::text", append),
    ("int8[], [1:n] joined, inserted", "short", "int8[]", Codes, "d = d[1:%s] || %s::int8 || d[%s:]", Codes.put_between),
    ("text[], [1:n] joined, removed", "short", "text[]", Words, "d = d[1:%s] || d[%s:]", Words.drop),
    ("array_remove", "long", "int8[]", Codes, "d = array_remove(d, %s)", Codes.remove),
    ("array_replace", "long", "int8[]", Codes, "d = array_replace(d, %s, %s)", Codes.replace),
    ("bytea, set_byte", "fixed", "bytea", Noise, "d = set_byte(d, %s, %s)", Noise.set)]

IDIOMS = [*(Idiom(name, asks, "jsonb", Document, statement, change) for name, asks, statement, change in JSONB),
          *(Idiom(name, asks, column, written, "d = %s", change) for column, name, asks, written, change in SENT),
          *(Idiom(*other) for other in OTHERS)]


def asks(*what):
    """A test for cases: do they ask for one of these?"""
    names = [idiom.name for idiom in IDIOMS if idiom.asks in what]
    return lambda case: case.split(", ", 1)[1] in names


class Table:
    """A table with a value, of heap's or ours, and the client that changes it."""

    def __init__(self, b, watch, variant, idiom, items):
        self.b, self.watch, self.variant, self.idiom = b, watch, variant, idiom
        self.name, self.written = variant.table("idioms"), idiom.written(items)
        self.statement = f"UPDATE {self.name} SET {idiom.set} WHERE id = 1"
        self.wal, self.added = [], []
        b.create(variant, "idioms", f"id int PRIMARY KEY, d {idiom.column}")
        b.session.run(f"INSERT INTO {self.name} VALUES (1, %s)", (self.written.sent(),))
        b.session.run(f"VACUUM ANALYZE {self.name}")

    def change(self, times):
        """Make some changes; what one took on average, and the WAL of each for later."""
        session = self.b.session
        session.use(self.variant.settings)
        blocks, cpu, ms = session.blocks(), session.cpu(), 0
        for _ in range(times):
            parameters = self.idiom.change(self.written)
            before = self.watch.wal()
            ms += session.time(self.statement, parameters)
            self.wal.append(self.watch.wal() - before)
            self.added.append(getattr(self.written, "added", 0))
        cpu = ms if cpu is None else session.cpu() - cpu
        costs = {"cpu ms": cpu / times, "buffers": (session.blocks() - blocks) / times}
        session.run(f"VACUUM {self.name}")      # or heap fills the disk
        return costs

    def check(self):
        """Complain unless the value is what the client has made of it."""
        kind = "text" if self.idiom.column == "json" else self.idiom.column     # which has no equality
        if not self.b.session.run(f"SELECT d::{kind} = %s::{kind} FROM {self.name}", (self.written.sent(),))[0][0]:
            raise Error(f"{self.name} is not as {self.idiom.name} should leave it")


def wal_of(changes):
    return {"WAL B": sum(changes) / len(changes), "p95 WAL B": sorted(changes)[math.ceil(0.95 * len(changes)) - 1]}


def time_idiom(b, watch, idiom, size, items, times):
    tables = {v: Table(b, watch, v, idiom, items) for v in PAIR}
    case = f"{size_name(size)}, {idiom.name}"
    for v in PAIR:
        tables[v].change(max(1, times[v] // 10))
        tables[v].wal.clear()
        tables[v].added.clear()
        if len(tables[v].written.items) != len(items):
            times[v] = min(times[v], len(items) // 2)       # or nothing is left to remove
    b.interleave(case, PAIR, lambda v: tables[v].change(times[v] // ROUNDS), rounds=ROUNDS)
    for v in PAIR:
        costs = wal_of(tables[v].wal)
        b.record(idiom.name, v, size, costs)
        if idiom.asks == "lines":
            costs["WAL / lines"] = sum(tables[v].wal) / sum(CHANGE + added for added in tables[v].added)
        for metric, value in costs.items():
            b.add(case, v, metric, value)
        tables[v].check()
    b.verify(PAIR, "idioms")
    b.drop(PAIR, "idioms")


def time_chat(b, watch, messages):
    """A chat that grows from nothing."""
    idiom = Idiom("chat", "chat", "jsonb", Chat, "d = d || %s", lambda w: (w.message(),))
    case, tenth = f"{messages:,} messages, chat", messages // 10
    for v in PAIR:
        table = Table(b, watch, v, idiom, [])
        for part in range(10):
            for metric, value in table.change(tenth).items():
                b.add(case, v, metric, value)
            b.record(idiom.name, v, tenth * (part + 1) * 950, wal_of(table.wal[-tenth:]))
        for metric, value in {"WAL MB": sum(table.wal) / MB, **wal_of(table.wal),
                              "last WAL B": sum(table.wal[-tenth:]) / tenth}.items():
            b.add(case, v, metric, value)
        table.check()
    b.verify(PAIR, "idioms")
    b.drop(PAIR, "idioms")


@workload
def idioms(b):
    """Updates as people write them, at random places: what one takes, with its commit, the WAL of 19 in 20 as well"""
    watch = Session()
    b.session.run("CHECKPOINT")
    checkpoint = watch.redo()
    for size, (in_part, whole, heaps) in b.scale(SIZES, QUICK).items():
        made = {}
        for idiom in IDIOMS:
            if idiom.written not in made:
                made[idiom.written] = idiom.written.make(size)
            times = {SLICED_LZ4: whole if idiom.is_whole else in_part, HEAP_LZ4: heaps}
            time_idiom(b, watch, idiom, size, made[idiom.written], times)
    time_chat(b, watch, b.scale(2000, 300))
    if watch.redo() != checkpoint:
        raise Error("a checkpoint came in between: there are images of pages in the WAL")
    watch.close()


def draw(results, question, title, path):
    """A panel for each idiom: heap's WAL and ours over the length, on average and, dotted, of 19 in 20."""
    curves, columns = results.curves(question), 4
    names = [*dict.fromkeys(case for case, _, _ in curves)]
    rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(3 * columns, 0.6 + 2.1 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flat
    for name, ax in zip(names, panels):
        for v in PAIR:
            for metric, line in (("WAL B", "-"), ("p95 WAL B", ":")):
                ax.plot(*zip(*curves[name, v.name, metric]), line, color=look(v.name, COLORS))
        ax.set(xscale="log", yscale="log")
        ax.set_title(name)
        ax.xaxis.set_major_formatter(bytes_name)
        ax.yaxis.set_major_formatter(bytes_name)
        ax.grid(color="#e4e4e4")
        ax.minorticks_off()
    for ax in panels:       # the rest
        ax.set_axis_off()
    figure.suptitle(title, weight="bold", wrap=True)
    figure.supxlabel("length of the value; blue: sliced, grey: heap, dotted: WAL of 19 in 20", fontsize=9)
    save(figure, path)


idioms.draw = draw
