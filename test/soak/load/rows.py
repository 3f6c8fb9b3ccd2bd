"""Rows as the model knows them, and changes that Python and SQL make alike.

Every row says what its values are (sums), so every reader can check it.
"""
import copy
import hashlib
import json

COLUMNS = "id, n, v, b, j, a, x, sums"
SUMS = "md5(v) || md5(b) || md5(array_to_string(a, ',')) || md5(array_to_string(x, ','))"
CREATE = """CREATE TABLE {table} (id int PRIMARY KEY, n int NOT NULL, v text NOT NULL, b bytea NOT NULL, j jsonb NOT NULL, a int[] NOT NULL,
    x text[] NOT NULL, sums text NOT NULL) USING sliced"""
LONGEST = 250000


def words(r, length):
    """Text of about that many characters, sometimes hard to compress, sometimes not ASCII."""
    kind = r.random()
    if kind < 0.3:
        return (f"line {r.randrange(1000)} of a log; " * (length // 20 + 1))[:length]
    if kind < 0.4:
        return ("größer 漢字 " * (length // 10 + 1))[:length]
    return "".join(hashlib.md5(r.randbytes(8)).hexdigest() for _ in range(length // 32 + 1))[:length]


def short(r):
    return words(r, r.choice([1, 5, 20, 20, 100, 300, 700, 3000, 9000]))


def bytes_of(r, length):
    return r.choice([r.randbytes(length), bytes([r.randrange(256)]) * length])


def quoted(value):
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, dict):
        return f"'{json.dumps(value)}'::jsonb"
    return "'{" + ",".join(f'"{e}"' if isinstance(e, str) else str(e) for e in value) + "}'"


def member(r):
    return {"s": short(r), "n": r.randrange(1000), "l": [r.randrange(100) for _ in range(r.choice([1, 5, 300]))]}


class Row:
    def __init__(self, r, id):
        self.id, self.n = id, 0
        self.v = words(r, r.choice([10, 3000, 20000, LONGEST // 2]))
        self.b = bytes_of(r, r.choice([10, 3000, 60000]))
        self.j = {f"k{i}": member(r) for i in range(r.randrange(1, 9))}
        self.a = [r.randrange(10 ** 6) for _ in range(r.choice([1, 50, 5000]))]
        self.x = [short(r) for _ in range(r.choice([1, 30]))]

    def copy(self):
        return copy.deepcopy(self)

    def sums(self):
        parts = self.v.encode(), self.b, ",".join(map(str, self.a)).encode(), ",".join(self.x).encode()
        return "".join(hashlib.md5(part).hexdigest() for part in parts)

    def values(self):
        return ", ".join([str(self.id), str(self.n), *(quoted(c) for c in (self.v, self.b, self.j, self.a, self.x)), f"'{self.sums()}'"])

    def difference(self, stored):
        """How does the row (as COLUMNS) differ from what it should be?  None if it does not."""
        for name, want, got in zip(COLUMNS.split(", "), (self.id, self.n, self.v, self.b, self.j, self.a, self.x, self.sums()), stored):
            got = bytes(got) if name == "b" else got
            if want != got:
                want, got = (e if isinstance(e, (str, bytes, list)) else str(e) for e in (want, got))
                at = next((i for i, (w, g) in enumerate(zip(want, got)) if w != g), min(len(want), len(got)))
                return f"row {self.id}, {name}: {len(got)} long for {len(want)}, from {at}: {got[at:at + 60]!r} for {want[at:at + 60]!r}"
        return None

    def change(self, r):
        """Change some columns; returns the assignments that do the same."""
        self.n += 1
        columns = r.sample([self.change_v, self.change_b, self.change_j, self.change_a, self.change_x], r.choice([1, 1, 2]))
        return ", ".join([*(change(r) for change in columns), "n = n + 1", f"sums = '{self.sums()}'"])

    def change_v(self, r):
        new, at = short(r), r.randrange(len(self.v) + 1)
        if len(self.v) > LONGEST:
            self.v = self.v[-LONGEST // 4:]
            return f"v = right(v, {LONGEST // 4})"
        kind = r.randrange(12)
        if kind < 5:
            self.v += new
            return f"v = v || {quoted(new)}"
        if kind < 8:
            length = r.choice([0, len(new), len(new), 100])
            self.v = self.v[:at] + new + self.v[at + length:]
            return f"v = overlay(v PLACING {quoted(new)} FROM {at + 1} FOR {length})"
        if kind == 8:
            self.v = new + self.v
            return f"v = {quoted(new)} || v"
        if kind == 9:
            self.v = self.v[:at] + self.v[at + 50:]
            return f"v = left(v, {at}) || substr(v, {at + 51})"
        # the whole value, mostly what it was
        self.v = self.v[:at] + new + self.v[at:] if kind == 10 else words(r, r.choice([100, 5000, 40000]))
        return f"v = {quoted(self.v)}"

    def change_b(self, r):
        new = bytes_of(r, r.choice([1, 30, 2000]))
        if len(self.b) > LONGEST:
            self.b = self.b[:9999]
            return "b = substr(b, 1, 9999)"
        kind, at = r.randrange(4), r.randrange(len(self.b))
        if kind < 2:
            self.b += new
            return f"b = b || {quoted(new)}"
        if kind == 2:
            self.b = self.b[:at] + b"\x07" + self.b[at + 1:]
            return f"b = set_byte(b, {at}, 7)"
        self.b = self.b[:at] + new + self.b[at + len(new):]
        return f"b = overlay(b PLACING {quoted(new)} FROM {at + 1})"

    def change_j(self, r):
        key, kind = f"k{r.randrange(9)}", r.randrange(6)
        if key not in self.j or kind == 0:
            new = member(r)
            self.j[key] = new
            return f"j = j || {quoted({key: new})}"
        if kind == 1:
            del self.j[key]
            return f"j = j - '{key}'"
        if kind == 2:
            self.j[key]["n"] += 1
            return f"j['{key}']['n'] = '{self.j[key]['n']}'"
        if kind == 3:
            self.j[key]["l"].append(5)
            return f"j = jsonb_insert(j, '{{{key},l,-1}}', '5', true)"
        self.j[key]["s"] = short(r)
        return f"j = jsonb_set(j, '{{{key},s}}', {quoted(json.dumps(self.j[key]['s']))})"

    def change_a(self, r):
        kind, at, new = r.randrange(4), r.randrange(len(self.a)), [r.randrange(1000) for _ in range(3)]
        if len(self.a) > 9000:
            self.a = self.a[:4000]
            return "a = a[1:4000]"
        if kind == 0:
            self.a.append(new[0])
            return f"a = a || {new[0]}"
        if kind == 1:
            self.a += new
            return f"a = array_cat(a, {quoted(new)})"
        if kind == 2:
            self.a[at] = new[0]
            return f"a[{at + 1}] = {new[0]}"
        self.a = self.a[:at] + self.a[at + 9:] or [1]
        return f"a = {quoted(self.a)}"

    def change_x(self, r):
        new, at = short(r), r.randrange(len(self.x))
        if len(self.x) > 60 or r.random() < 0.1:
            self.x = [new]
            return f"x = ARRAY[{quoted(new)}]"
        if r.random() < 0.5:
            self.x.append(new)
            return f"x = x || {quoted(new)}::text"
        self.x[at] = new
        return f"x[{at + 1}] = {quoted(new)}"
