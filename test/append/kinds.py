"""Lists in columns of five kinds: how they begin, how a number is added, how they are read.

Each begins with a filler, which is the same whenever it is made for the same row.  An entry has
the number and what follows from it.  So all of a value can be checked.  Numbers are greater
than 0, and unique.
"""
import hashlib
import json
import random
import struct
from array import array

LENGTHS = 4000, 9000, 20000, 60000                              # of the fillers
PADS = [""] * 11 + ["x" * n for n in (5, 20, 60, 100, 400)]     # some entries are longer than others


class Damaged(Exception):
    """A value that is no list."""


class Kind:
    """
    A column.  "appends" are expressions with placeholders, and what to put there for a number;
    the table is called "l".

    A read is a list of expressions, and a function of their results.  That returns where in the
    list the numbers begin, the numbers, whether they are the last ones, and the length of a text.
    """

    def __init__(self):
        self.fillers = {}

    def filler(self, row):
        if row not in self.fillers:
            self.fillers[row] = self.make_filler(random.Random(f"{self.column} {row}"), LENGTHS[row % len(LENGTHS)])
        return self.fillers[row]

    def read(self, r, row, known, length):
        """Sometimes all, and sometimes a part.  So many numbers are known to be there, and the text had this length then."""
        if known == 0 or r.random() < 0.2:
            return self.whole(row)
        return r.choice(self.parts(row, max(0, known - r.choice([0, 0, 0, 1, 10, 100])), r.randrange(known), (known, length)))

    def whole(self, row):
        return [self.as_text], lambda value: (0, self.parse(row, value), True, len(value))

    def start(self, row):
        return self.longer(row, [])

    def checked(self, numbers, good, what="an entry that is not as it was appended"):
        if not good:
            raise Damaged(f"column {self.column} has {what}")
        return array("i", numbers)


class Text(Kind):
    column, type, as_text = "t", "text", "t"

    def make_filler(self, r, length):
        return "".join(hashlib.md5(r.randbytes(8)).hexdigest() for _ in range(length // 32))

    def entry(self, number):
        return f"{number}{PADS[number % len(PADS)]};"

    def longer(self, row, numbers):
        return self.filler(row) + "".join(map(self.entry, numbers))

    def appends(self, number):
        entry = self.entry(number)
        return [("l.t || %s", [entry]), ("concat(l.t, %s::text)", [entry]), ("l.t || %s || %s", [entry[:2], entry[2:]]),
                ("overlay(l.t placing %s from length(l.t) + 1 for 0)", [entry])]

    def entries(self, text):
        numbers = [int(entry.rstrip("x") or 0) for entry in text.split(";")[:-1]]
        return self.checked(numbers, "".join(map(self.entry, numbers)) == text)

    def parse(self, row, value):
        begin = self.filler(row)
        self.checked([], value.startswith(begin), "another beginning")
        return self.entries(value[len(begin):])

    def parts(self, row, start, one, known):
        # entries have different lengths: only one place is known
        known, length = known

        def tail(value, now):
            self.checked([], now == length + len(value), f"{len(value)} characters behind {length} of {now}")
            return known, self.entries(value), True, now

        return [([f"substr(t, {length + 1})", "length(t)"], tail), ([f"right(t, length(t) - {length})", "length(t)"], tail)]


class Bytes(Kind):
    column, type, as_text = "b", "bytea", "b"
    SIZE = 16

    def make_filler(self, r, length):
        return r.randbytes(length)

    def entry(self, number):
        return struct.pack("=4i", *[number] * 4)

    def longer(self, row, numbers):
        return self.filler(row) + b"".join(map(self.entry, numbers))

    def appends(self, number):
        entry = self.entry(number)
        return [("l.b || %s", [entry]), ("l.b || %s || %s", [entry[:5], entry[5:]]), ("overlay(l.b placing %s from length(l.b) + 1)", [entry])]

    def entries(self, value):
        self.checked([], len(value) % self.SIZE == 0, "half an entry")
        words = array("i", value)
        return self.checked(words[::4], all(words[::4] == words[i::4] for i in (1, 2, 3)))

    def parse(self, row, value):
        begin = self.filler(row)
        self.checked([], value.startswith(begin), "another beginning")
        return self.entries(value[len(begin):])

    def parts(self, row, start, one, known):
        begin = len(self.filler(row))

        def tail(value, length):
            self.checked([], length == begin + start * self.SIZE + len(value), f"{len(value)} bytes behind {start} entries of {length}")
            return start, self.entries(value), True, None

        return [([f"substr(b, {begin + start * self.SIZE + 1})", "length(b)"], tail),
                ([f"substr(b, {begin + one * self.SIZE + 1}, {self.SIZE})"], lambda value: (one, self.entries(value) or array("i", [0]), False, None))]


class Jsonb(Kind):
    """An array that is the whole document."""
    column, type, as_text = "j", "jsonb", "j::text"
    log, path = "j", "$"

    def make_filler(self, r, length):
        return [hashlib.md5(r.randbytes(8)).hexdigest() for _ in range(length // 36)]

    def entry(self, number):
        pad = PADS[number % len(PADS)]
        return [number, pad] if pad else number

    def begin(self, row):
        """The elements before the numbers."""
        return self.filler(row)

    def document(self, log, row):
        return log

    def longer(self, row, numbers):
        return json.dumps(self.document(self.begin(row) + list(map(self.entry, numbers)), row))

    def appends(self, number):
        one, many = json.dumps(self.entry(number)), json.dumps([self.entry(number)])
        return [("l.j || %s::jsonb", [many]), ("jsonb_insert(l.j, '{-1}', %s::jsonb, true)", [one]), ("jsonb_set(l.j, '{9999999}', %s::jsonb)", [one]),
                ("l.j || jsonb_build_array(%s::jsonb)", [one])]

    def entries(self, found):
        numbers = [entry[0] if isinstance(entry, list) else entry for entry in found]
        return self.checked(numbers, list(map(self.entry, numbers)) == found)

    def log_entries(self, row, log):
        begin = self.begin(row)
        self.checked([], log[:len(begin)] == begin, "another beginning")
        return self.entries(log[len(begin):])

    def parse(self, row, value):
        return self.log_entries(row, json.loads(value))

    def parts(self, row, start, one, known):
        begin, log = len(self.begin(row)), self.log

        def tail(value, length):
            numbers = self.entries(json.loads(value))
            self.checked([], length == begin + start + len(numbers), f"{len(numbers)} elements behind {start} of {length - begin}")
            return start, numbers, True, None

        def last(value, length):
            # without numbers, it is one of the filler
            numbers = self.entries([json.loads(value)] if length > begin else [])
            return length - begin - len(numbers), numbers, True, None

        def single(value):
            return one, array("i", [0]) if value is None else self.entries([json.loads(value)]), False, None

        length = f"jsonb_array_length({log})"
        return [([f"jsonb_path_query_array({self.column}, '{self.path}[{begin + start} to last]')::text", length], tail),
                ([f"({log} -> -1)::text", length], last),
                ([f"({log} -> {begin + one})::text"], single),
                ([f"jsonb_path_query_first({self.column}, '{self.path}[{begin + one}]')::text"], single)]


class Nested(Jsonb):
    """An array in a document that has more before and behind it."""
    column, as_text = "d", "d::text"
    log, path = "(d -> 'log')", "$.log"

    def begin(self, row):
        return self.filler(row)[:9]

    def document(self, log, row):
        return {"a": self.filler(row), "log": log, "zzzz": {"much": self.filler(row)[::2]}}

    def appends(self, number):
        one, many = json.dumps(self.entry(number)), json.dumps([self.entry(number)])
        return [("jsonb_insert(l.d, '{log,-1}', %s::jsonb, true)", [one]), ("jsonb_set(l.d, '{log}', (l.d -> 'log') || %s::jsonb)", [many]),
                ("l.d || jsonb_build_object('log', (l.d -> 'log') || %s::jsonb)", [many]), ("jsonb_set(l.d, '{log,9999999}', %s::jsonb)", [one])]

    def parse(self, row, value):
        found = json.loads(value)
        self.checked([], found == self.document(found.get("log"), row), "something else around the list")
        return self.log_entries(row, found["log"])

    def parts(self, row, start, one, known):
        return [([f"{self.log}::text"], lambda value: (0, self.log_entries(row, json.loads(value)), True, None)),
                ([f"(d #> '{{log,{len(self.begin(row)) + one}}}')::text"], lambda value: (one, self.entries([json.loads(value or "0")]), False, None)),
                *super().parts(row, start, one, known)]


class Integers(Kind):
    column, type, as_text = "a", "int[]", "a::text"

    def make_filler(self, r, length):
        return [-r.randrange(1, 2 ** 31) for _ in range(length // 8)]

    def longer(self, row, numbers):
        return "{" + ",".join(map(str, [*self.filler(row), *numbers])) + "}"

    def appends(self, number):
        return [("l.a || %s::int", [number]), ("array_append(l.a, %s::int)", [number]), ("array_cat(l.a, ARRAY[%s::int])", [number])]

    def entries(self, text):
        return array("i", [int(number) for number in text[1:-1].split(",") if number])

    def parse(self, row, value):
        numbers, begin = self.entries(value), self.filler(row)
        self.checked([], numbers[:len(begin)] == array("i", begin), "another beginning")
        return numbers[len(begin):]

    def parts(self, row, start, one, known):
        begin = len(self.filler(row))

        def tail(value, length):
            numbers = self.entries(value)
            self.checked([], length == begin + start + len(numbers), f"{len(numbers)} elements behind {start} of {length - begin}")
            return start, numbers, True, None

        def last(value, length):
            numbers = array("i", [value] if length > begin else [])
            return length - begin - len(numbers), numbers, True, None

        return [([f"a[{begin + start + 1}:]::text", "cardinality(a)"], tail), (["a[array_length(a, 1)]", "cardinality(a)"], last),
                ([f"a[{begin + one + 1}]"], lambda value: (one, array("i", [value or 0]), False, None))]


KINDS = {kind.column: kind for kind in (Text(), Bytes(), Jsonb(), Nested(), Integers())}
