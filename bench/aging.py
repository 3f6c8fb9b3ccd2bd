"""Reads of values that were changed many times, beside fresh ones.

A value of ours is a tree of edits once it has been changed: a reader reads its nodes as
well.  A client changes it at random places: a digit, a string that gets longer
or shorter, an item that is inserted, another that is removed.  The fresh value is what
the client then sends, written at once.  Many documents of 60 kB come last, beside heap's,
all of them changed in turn.
"""

from bench import HEAP_LZ4, KB, MB, SLICED_LZ4, Variant, size_name, workload
from idioms import digit, insert, note, remove
from session import Error
from written import ITEM, Document

FRESH = Variant("fresh", "sliced", "fresh", SLICED_LZ4.settings)
AGED = Variant("aged", "sliced", "aged", SLICED_LZ4.settings)
PAIR = [FRESH, AGED]

SIZES, QUICK_SIZES = (60 * KB, 2 * MB, 20 * MB), (60 * KB, 2 * MB)
CHANGES, QUICK_CHANGES = (0, 100, 1000, 10000), (0, 100, 1000)
DOCUMENTS, QUICK_DOCUMENTS = (1500, 200), (100, 40)        # so many, and changes of each

KINDS = [("jsonb_set(d, ARRAY['items', %s, 'qty'], %s)", digit), ("jsonb_set(d, ARRAY['items', %s, 'note'], %s)", note),
         ("jsonb_insert(d, ARRAY['items', %s], %s)", insert), ("d #- ARRAY['items', %s]", remove)]

READS = {"all": "SELECT sum(length(d::text)) FROM {}", "a key": "SELECT d->'items'->{item}->>'note' FROM {}"}


class Aging:
    """A value that a client changes, and one like it that is written at once."""

    def __init__(self, b, items):
        self.b, self.written, self.done = b, Document(items), 0
        for v in PAIR:
            b.create(v, "aging", "id int PRIMARY KEY, d jsonb")
            b.session.run(f"INSERT INTO {v.table('aging')} VALUES (1, %s)", (self.written.sent(),))

    def change(self, upto):
        """Returns what a change took."""
        session, table = self.b.session, AGED.table("aging")
        cpu, ms, times = session.cpu(), 0, upto - self.done
        while self.done < upto:
            new, change = KINDS[self.done % len(KINDS)]
            ms += session.time(f"UPDATE {table} SET d = {new} WHERE id = 1", change(self.written))
            self.done += 1
        cpu = ms if cpu is None else session.cpu() - cpu
        return cpu / max(1, times)

    def write_fresh(self):
        table = FRESH.table("aging")
        self.b.session.run(f"TRUNCATE {table}")
        self.b.session.run(f"INSERT INTO {table} VALUES (1, %s)", (self.written.sent(),))
        self.b.session.run(f"VACUUM ANALYZE {table}")

    def read(self, case, size):
        b = self.b
        b.same(PAIR, "aging", "SELECT md5(d::text) FROM {}")
        for what, query in READS.items():
            loops = max(1, 4 * MB // size) if what == "all" else 200

            def times(v, query=query, loops=loops):
                total = {}
                for _ in range(loops):
                    place = self.written.place()
                    costs = b.session.times(query.replace("{item}", str(place)).format(v.table("aging")))
                    for metric, value in costs.items():
                        total[metric] = total.get(metric, 0) + value / loops
                return total

            b.interleave(f"{case}, {what}", PAIR, times, rounds=5)
            place = len(self.written.items) // 2
            for v in PAIR:
                b.add(f"{case}, {what}", v, "buffers",
                      b.session.buffers(query.replace("{item}", str(place)).format(v.table("aging"))))

    def sizes(self, case):
        for v in PAIR:
            live = self.b.session.number(f"SELECT live_bytes FROM sliced.toast_space('{v.table('aging')}')")
            self.b.add(f"{case}, size", v, "live MB", float(live) / MB)
            self.b.add(f"{case}, size", v, "MB", self.b.size(v.table("aging")) / MB)


def time_one(b, size):
    aging = Aging(b, Document.make(size))
    for upto in b.scale(CHANGES, QUICK_CHANGES):
        for vacuumed in (False, True):
            case = f"{size_name(size)}, {upto:,} changes{', vacuumed' if vacuumed else ''}"
            if vacuumed:
                b.session.run(f"VACUUM ANALYZE {AGED.table('aging')}")
            else:
                b.add(f"{case}, a change", AGED, "cpu ms", aging.change(upto))
                aging.write_fresh()
            aging.read(case, size)
            if vacuumed:
                aging.sizes(case)
    for v in PAIR:
        if b.session.run(f"SELECT * FROM sliced.verify('{v.table('aging')}')"):
            raise Error("sliced.verify() found something")
    b.drop(PAIR, "aging")


def time_many(b):
    """Documents of 60 kB, all of them changed again and again, ours and heap's."""
    (rows, changes), both = b.scale(DOCUMENTS, QUICK_DOCUMENTS), [SLICED_LZ4, HEAP_LZ4]
    items = Document.make(60 * KB)
    for v in both:
        table, written = v.table("aged"), Document(items)
        b.create(v, "aged", "id int PRIMARY KEY, d jsonb")
        b.session.run(f"INSERT INTO {table} SELECT i, %s::jsonb FROM generate_series(1, {rows}) i", (written.sent(),))
        for turn in range(changes):
            new, change = KINDS[turn % len(KINDS)]
            # a place of each document's own: the client need not know what they are
            parameters = [f"'{p}'" for p in change(written)]
            parameters[0] = f"(hashint4(id + {turn * 7919}) & 32767) % {60 * KB // ITEM - 60}"
            new = new.replace("%s", f"({parameters[0]})::text", 1)
            for parameter in parameters[1:]:
                new = new.replace("%s", f"{parameter}::jsonb", 1)
            b.session.run(f"UPDATE {table} SET d = {new}")
            if v.method == "heap" and turn % 10 == 9:
                b.session.run(f"VACUUM {table}")
        b.session.run(f"VACUUM ANALYZE {table}")
    b.same(both, "aged", "SELECT md5(string_agg(md5(d::text), '' ORDER BY id)) FROM {}")
    for what, query in {"all": READS["all"], "a key": f"SELECT count(d->'items'->77->>'note') FROM {{}}"}.items():
        case = f"{rows:,} documents, {what}"
        b.interleave(case, both, lambda v, query=query: b.session.times(query.format(v.table("aged"))))
        for v in both:
            b.add(case, v, "buffers", b.session.buffers(query.format(v.table("aged"))) / rows)
    b.verify(both, "aged")
    b.drop(both, "aged")


@workload
def aging(b):
    """Values after many changes at random places, and many such documents: what reading them takes"""
    for size in b.scale(SIZES, QUICK_SIZES):
        time_one(b, size)
    time_many(b)
