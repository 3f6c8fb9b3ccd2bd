"""Values as the application that writes them knows them: what it sends, and what must be stored in the end."""

import json

from bench import MB
from documents import Maker

ITEM, LINE = 200, 190       # average bytes


class Written:
    """A value that consists of items.

    Two that were made of the same items make the same changes, because each has
    random numbers of its own from the same seed.
    """

    def __init__(self, items):
        self.items = items[:]
        self.maker = Maker("changes")
        self.rng = self.maker.rng

    def place(self, part=0, of=1):
        """The number of a random item, in one of some parts of the value."""
        return (part * len(self.items) + self.rng.randrange(len(self.items))) // of

    def hundreds(self):
        """A random one of each hundred items."""
        for first in range(0, len(self.items) - 99, 100):
            yield first + self.rng.randrange(100)


class Document(Written):
    """{"meta": {...}, "state": a word, "items": [an object of some 200 bytes in each line]}, as jsonb or json."""

    def __init__(self, items):
        super().__init__(items)
        self.views, self.state, self.made = 1000, "open", MB

    @staticmethod
    def item(maker, number, note=None):
        rng = maker.rng
        return json.dumps({"sku": f"{rng.choice('ABCDEFGH')}{number * 7919 % 10_000_019:08}", "qty": rng.randrange(1, 10),
                           "price": round(rng.expovariate(0.02), 2),
                           "note": maker.words(rng.randrange(8, 24)) if note is None else note,
                           "tags": maker.words(rng.randrange(1, 4)).split()})

    @classmethod
    def make(cls, size):
        maker = Maker("items")
        return [cls.item(maker, number) for number in range(size // ITEM)]

    def new(self, length=ITEM):
        """An item of about this length; its sku says which it is."""
        self.made += 1
        return self.item(self.maker, self.made, self.text(length - 90))

    def text(self, length):
        return self.maker.words(length // 4 + 1)[:length].strip()

    def set(self, place, **fields):
        self.items[place] = json.dumps({**json.loads(self.items[place]), **fields})

    def get(self, place, field):
        return json.loads(self.items[place])[field]

    def digit(self, place):
        """Another quantity of an item."""
        qty = self.get(place, "qty") % 9 + 1
        self.set(place, qty=qty)
        return str(qty)

    def sent(self):
        lines = ",\n".join(self.items)
        return f'{{"meta": {{"views": {self.views}, "version": 2}}, "state": "{self.state}", "items": [\n{lines}\n]}}'


class Chat(Document):
    """Messages of 950 bytes."""

    def message(self):
        message = {"role": self.rng.choice(["user", "assistant"]), "id": self.maker.uuid(), "at": self.maker.timestamp()}
        message["content"] = self.text(945 - len(json.dumps({**message, "content": ""})))
        self.items.append(json.dumps(message))
        return f"[{self.items[-1]}]"

    def sent(self):
        return f"[{','.join(self.items)}]"


class Log(Written):
    """Lines of text."""

    @staticmethod
    def make(size):
        maker = Maker("lines")
        return [maker.log_line() for _ in range(size // LINE)]

    def new(self, length=LINE):
        return self.maker.log_line()

    def word(self, place):
        """The only word of a line that no other has."""
        return self.items[place].split("request_id=")[1].split()[0]

    def renumber(self, place):
        """Another word in its place; both."""
        old, new = self.word(place), f"{self.rng.getrandbits(32):08x}"
        self.items[place] = self.items[place].replace(old, new)
        return old, new

    def overlay(self, new):
        """These bytes within a line, and where they are."""
        place = self.place()
        line, at = self.items[place], self.rng.randrange(100)
        self.items[place] = line[:at] + new + line[at + len(new):]
        return new, sum(map(len, self.items[:place])) + at + 1

    def put_between(self):
        """A new line between others: how many characters are before it, the line, and how many characters there were."""
        place = self.place()
        before, new, total = sum(map(len, self.items[:place])), self.new(), sum(map(len, self.items))
        self.items.insert(place, new)
        return before, new, total - before

    def sent(self):
        return "".join(self.items)


class Array(Written):
    """Elements of an SQL array."""

    def set(self, new):
        place = self.place()
        self.items[place] = new
        return place + 1, new

    def add(self, new):
        self.items.append(new)
        return (new,)

    def put_between(self):
        """A new element between others, with how many are before it and which is behind it."""
        place, new = self.place(), self.rng.choice(self.items)
        self.items.insert(place, new)
        return place, new, place + 1

    def drop(self):
        """An element less: which are before and behind it."""
        place = self.place()
        self.items.pop(place)
        return place, place + 2

    def remove(self):
        old = self.items[self.place()]
        self.items = [item for item in self.items if item != old]
        return (old,)

    def replace(self):
        old, new = self.items[self.place()], self.rng.randrange(MB)
        self.items = [new if item == old else item for item in self.items]
        return old, new

    def sent(self):
        return f"{{{','.join(map(str, self.items))}}}"


class Floats(Array):
    @staticmethod
    def make(size):
        rng = Maker("floats").rng
        return [rng.random() for _ in range(size // 8)]

    def new(self):
        return self.rng.random()


class Codes(Array):
    """Integers that are there five times on average."""

    @staticmethod
    def make(size):
        rng = Maker("codes").rng
        return [rng.randrange(size // 40) for _ in range(size // 8)]


class Words(Array):
    @staticmethod
    def make(size):
        maker = Maker("words")
        return maker.rng.choices(maker.vocabulary, k=size // 14)

    def new(self):
        return self.rng.choice(self.maker.vocabulary)


class Noise(Written):
    """Bytes that do not compress."""

    @staticmethod
    def make(size):
        return bytearray(Maker("noise").rng.randbytes(size))

    def set(self):
        place, new = self.place(), self.rng.randrange(256)
        self.items[place] = new
        return place, new

    def sent(self):
        return bytes(self.items)
