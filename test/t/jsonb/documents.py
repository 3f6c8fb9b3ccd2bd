"""Documents of many shapes and sizes, as Python values whose every key is known.

Objects are dicts, arrays lists, strings str, numbers Num: what they are written
like counts, as 0.10 is not 0.1.
"""
import json
import os
import random

COLUMNS = ["doc", "dz", "dp", "dx", "dd"]

# Rows by the size of their documents; the last ones are too large for most of what is done to all rows.
SIZES = [60] * 3 + [400] * 3 + [1900] * 3 + [2300] * 6 + [3100] * 4 + [10000] * 6 + [40000] * 6 + [70000] * 2 + [200000] * 2 + [1200000]
LARGE = 150000

LETTERS = "etaoinshrdlucmfwyp    ETAOIN0123456789.,-_"
ODD = "äß€漢🚀é\"\\/\n\t\x01\x7f'{}[]:"
NUMBERS = ["0", "-0", "0.0", "-0.000", "1", "-1", "0.1", "0.10", "1.50", "1e-100", "-1E+50", "1e5", "12345678901234567890", "9999", "10000", "10000.0001",
           "3.14159265358979323846264338327950288419716939937510", "-2147483648", "4294967296", "0.00000000000000000000000000001", "1" + "0" * 60]


class Num(str):
    """A number as written."""


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def letters(self, n):
        """n characters that lz4 makes shorter, or cannot, or that are more than n bytes."""
        kind = self.r.random()
        if kind < 0.4:
            phrase = "".join(self.r.choices(LETTERS, k=self.r.randrange(3, 40)))
            return (phrase * (n // len(phrase) + 1))[:n]
        return "".join(self.r.choices(LETTERS + ODD * (kind > 0.85), k=n))

    def string(self, about=None):
        """Lengths leave all remainders: what follows may need padding."""
        n = self.r.choice([0, 1, 4, 9, 20, 60]) if about is None else about
        return self.letters(n + self.r.randrange(4))

    def number(self):
        kind = self.r.random()
        if kind < 0.5:
            return Num(self.r.randrange(-1000, 100000))
        if kind < 0.9:
            return Num(self.r.choice(NUMBERS))
        return Num(f"{self.r.choice(['', '-'])}{self.r.randrange(1, 10 ** self.r.randrange(1, 90))}.{self.r.randrange(10 ** self.r.randrange(1, 40))}")

    def scalar(self):
        return self.r.choice([self.number, self.number, self.string, self.string, lambda: True, lambda: False, lambda: None])()

    def small(self):
        """Anything that is a few bytes long."""
        return self.r.choice([self.scalar, self.scalar, self.scalar, lambda: {}, lambda: [], lambda: {self.key(): self.scalar()},
                              lambda: [self.scalar() for _ in range(self.r.randrange(5))], lambda: {"a": [self.scalar(), {"b": self.scalar()}], "c": self.number()}])()

    def key(self):
        kind = self.r.random()
        if kind < 0.5:
            return "".join(self.r.choices("abcdefgh", k=self.r.randrange(1, 9)))
        if kind < 0.8:
            return f"key{self.r.randrange(1000)}"
        return self.r.choice(["", "0", "1", "-1", "07", "key one", "ä", "漢字🚀", "a\"b", "back\\slash", "new\nline", "it's", "{x}", "NULL", "last", "$"])

    def filled(self, size, child):
        """Children until they are some 'size' bytes."""
        while size > 0:
            made = child()
            size -= len(to_text(made)) + 8
            yield made

    def wide(self, size):
        """Around multiples of 32 children; every 32nd has an offset."""
        n = min(self.r.choice([1, 31, 32, 33, 63, 64, 65, 96, 500, 1000, 3000]), size // 12 + 1)
        made = {(self.key() if self.r.random() < 0.3 else f"k{i}"): self.small() for i in range(n - 1)}
        return {**made, "long": self.string(max(0, size - len(to_text(made))))}

    def same_length(self, size):
        return {f"{i * 7919 % 100000:05d}": self.scalar() for i in range(size // 14 + 1)}

    def long_keys(self, size):
        n = self.r.choice([3, 10])
        return {self.letters(size // n + i % 5 * (i % 2)): self.small() for i in range(n)}

    def middle(self, size):
        """Something long between short values."""
        long = self.r.choice([lambda: list(self.filled(size, self.number)), lambda: self.string(size), lambda: list(self.filled(size, self.small)),
                              lambda: self.same_length(size)])
        return {"key1": self.number(), "key2": long(), "key3": self.small(), "key4": [self.number(), self.string(), {"in": self.number()}], "z": self.string()}

    def strings(self, size):
        n = self.r.choice([2, 5, 12])
        return {self.key() + str(i): self.r.choice([self.string(size // n), [self.string(size // n // 2), self.number(), self.string(size // n // 2)]]) for i in range(n)}

    def records(self, size):
        number = iter(range(10 ** 9))
        return {"items": list(self.filled(size, lambda: {"n": Num(next(number)), "name": self.string(), "price": self.number(), "tags": [self.scalar()], "in": {"deep": self.small()}})),
                "count": self.number()}

    def deep(self, size):
        made = self.small()
        for i in range(50):
            side = self.string(size // 50)
            made = [side, made, self.number()] if i % 3 == 0 else {"d": made, "side": side, "n": self.number()} if i % 3 == 1 else {"down": made}
        return made

    def tree(self, size):
        if size < 60:
            return self.small()
        n = self.r.choice([2, 3, 5, 33])
        parts = [self.tree(size // n) for _ in range(n)]
        return parts if self.r.random() < 0.4 else {self.key() + (str(i) if self.r.random() < 0.7 else ""): part for i, part in enumerate(parts)}

    def array(self, size):
        return self.r.choice([lambda: list(self.filled(size, self.scalar)), lambda: list(self.filled(size, lambda: self.tree(300))), lambda: list(self.filled(size, self.number)),
                              lambda: [[Num(i), [Num(i)]] for i in range(size // 14)], lambda: [self.string(size // 3), self.small(), self.string(size // 3), self.number(), self.string(size // 3)]])()

    def alone(self, size):
        """A scalar, or nothing, at the root."""
        return self.r.choice([lambda: self.string(size), lambda: self.string(size), self.scalar, lambda: {}, lambda: [], lambda: None, lambda: Num("7" * (size // 3 + 1))])()

    def document(self, size):
        shape = self.r.choices([self.wide, self.same_length, self.long_keys, self.middle, self.strings, self.records, self.deep, self.tree, self.array, self.alone],
                               [4, 1, 1, 4, 2, 3, 1, 3, 2, 1])[0]
        made = shape(size)
        if isinstance(made, dict) and shape != self.deep:
            made.update(id=Num(self.r.randrange(20)), tags=[self.r.choice(["red", "green", "blue"]), self.number(), "x"], note=self.string())
        return made


def string_text(string, ascii_only=False):
    return json.dumps(string, ensure_ascii=ascii_only)


def to_text(value, ascii_only=False):
    if isinstance(value, Num):
        return value
    if isinstance(value, str):
        return string_text(value, ascii_only)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{string_text(k, ascii_only)}: {to_text(v, ascii_only)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_text(v, ascii_only) for v in value) + "]"
    return {True: "true", False: "false", None: "null"}[value]


def from_folder(folder, r):
    """JSON files from somewhere else, of all sizes."""
    paths = sorted((os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")), key=os.path.getsize)
    paths = [path for path in paths if os.path.getsize(path) < 1500000]
    chosen = sorted(r.sample(range(len(paths)), min(len(paths), len(SIZES) * 3)))
    for i in chosen:
        with open(paths[i], encoding="utf-8") as file:
            # what jsonb cannot hold
            yield json.loads(file.read().replace("\\u0000", ""), parse_int=Num, parse_float=Num)


def rows(seed, folder=None):
    """{id: {column: document}}; large rows have fewer documents and greater ids."""
    maker = Maker(seed)
    made = {}
    if folder:
        documents = list(from_folder(folder, maker.r))
        for i in range(0, len(documents), 3):
            made[len(made) + 1] = dict(zip(maker.r.sample(COLUMNS, 3), documents[i:i + 3]))
        return made
    for i, size in enumerate(SIZES, 1):
        columns = COLUMNS if size < 50000 else COLUMNS[:2] if size < 1000000 else COLUMNS[:1]
        made[i] = {c: maker.document(max(20, round(size * maker.r.uniform(0.9, 1.3)))) for c in columns}
    return made
