"""Documents that look like real ones, made from a seed.

What a compressor finds in real documents is here in like amounts: field names
and tags that repeat, words by Zipf's law, URLs that share a prefix, timestamps
that share one with their neighbours, and identifiers that repeat nothing.
"""

import bisect
import itertools
import json
import random

SYLLABLES = ("ba be bo ca ce co da de di do fa fe fi ga ge go ha he hi in is la le li lo ma me mi mo "
             "na ne ni no on or pa pe po ra re ri ro sa se si so ta te ti to un us va ve vi").split()
HOSTS = ["api.example.com", "www.example.org", "cdn.example.net"]
LEVELS = ["INFO"] * 12 + ["DEBUG"] * 5 + ["WARN"] * 2 + ["ERROR"]
KINDS = ["order", "invoice", "comment", "session", "payment", "message"]
METHODS = ["GET"] * 6 + ["POST"] * 2 + ["PUT", "DELETE"]


class Maker:
    """Makes documents; the same seed makes the same ones."""

    def __init__(self, seed=1):
        self.rng = random.Random(seed)
        vocabulary = []
        for syllables, n in ((1, 40), (2, 1000), (3, 3000)):      # frequent words are short
            vocabulary += self.rng.sample(list(map("".join, itertools.product(SYLLABLES, repeat=syllables))), n)
        self.vocabulary = vocabulary
        self.weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(vocabulary))))
        self.messages = [self.words(self.rng.randrange(4, 14)) for _ in range(60)]
        self.clock = 1_700_000_000_000

    def words(self, n):
        top, rng = self.weights[-1], self.rng.random
        return " ".join([self.vocabulary[bisect.bisect(self.weights, rng() * top)] for _ in range(n)])

    def word(self):
        return self.words(1)

    def timestamp(self):
        self.clock += self.rng.randrange(1, 60_000)
        seconds, ms = divmod(self.clock, 1000)
        day, seconds = divmod(seconds, 86400)
        return (f"20{20 + day // 365 % 10}-{1 + day // 30 % 12:02}-{1 + day % 28:02}T"
                f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}Z")

    def uuid(self):
        h = f"{self.rng.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def url(self):
        return (f"https://{self.rng.choice(HOSTS)}/v2/{self.rng.choice(KINDS)}s/"
                f"{self.rng.randrange(100000)}/{self.word()}")

    def size(self, low, high):
        """Small documents are common, large ones are not."""
        return int(low * (high / low) ** self.rng.random())

    def json_item(self):
        rng = self.rng
        number, kind, user = rng.randrange(1_000_000), rng.choice(KINDS), rng.randrange(1000)
        url = f"https://{HOSTS[0]}/v2/{kind}s/{number}"
        created = self.timestamp()
        return {
            "id": number, "node_id": self.uuid(), "type": kind, "url": url,
            "html_url": f"https://{HOSTS[1]}/{kind}s/{number}",
            "comments_url": f"{url}/comments", "events_url": f"{url}/events{{/name}}",
            "state": rng.choice(["open", "open", "closed", "draft"]),
            "locked": False, "assignee": None, "milestone": None,
            "created_at": created, "updated_at": created if rng.random() < 0.5 else self.timestamp(),
            "author": {"id": user, "login": f"{self.vocabulary[user]}{user}", "type": "User",
                       "url": f"https://{HOSTS[0]}/v2/users/{user}",
                       "avatar_url": f"https://{HOSTS[2]}/avatars/{user}.png", "site_admin": False},
            "amount": {"value": round(rng.expovariate(0.01), 2), "currency": rng.choice(["EUR", "USD"])},
            "labels": self.words(rng.randrange(0, 4)).split(),
            "title": self.words(rng.randrange(3, 9)),
            "body": self.words(rng.randrange(0, 40)),
        }

    def json(self, size):
        """About 'size' bytes: a page of results, as web APIs return them."""
        items, length = [], 0
        while length < size - 150:
            items.append(json.dumps(self.json_item()))
            length += len(items[-1]) + 2
        return (f'{{"request_id": "{self.uuid()}", "generated_at": "{self.timestamp()}", '
                f'"count": {len(items)}, "items": [{", ".join(items)}]}}')

    def log_line(self):
        rng = self.rng
        return (f"{self.timestamp()} {rng.choice(LEVELS):5} [worker-{rng.randrange(16)}] "
                f"com.example.shop.{rng.choice(KINDS)}.{rng.choice(KINDS).title()}Handler - "
                f"{rng.choice(METHODS)} /v2/{rng.choice(KINDS)}s/{rng.randrange(100000)} "
                f"status={rng.choice([200, 200, 200, 201, 304, 404, 500])} "
                f"duration_ms={int(rng.expovariate(0.02))} user_id={rng.randrange(5000)} "
                f"request_id={rng.getrandbits(32):08x} {rng.choice(self.messages)}\n")

    def log(self, size):
        lines, length = [], 0
        while length < size:
            lines.append(self.log_line())
            length += len(lines[-1])
        return "".join(lines)[:size]

    def html(self, size):
        parts = [f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                 f'<title>{self.words(5).title()}</title>\n<link rel="stylesheet" href="{self.url()}.css">\n'
                 f'</head>\n<body>\n<main class="content">\n']
        length = len(parts[0])
        while length < size - 30:
            kind = self.rng.random()
            if kind < 0.2:
                part = f'<h2 id="{self.word()}" class="heading">{self.words(4).title()}</h2>\n'
            elif kind < 0.4:
                part = "<ul class=\"list\">\n" + "".join(
                    f'  <li class="list-item"><a class="link" href="{self.url()}">{self.words(3)}</a></li>\n'
                    for _ in range(self.rng.randrange(2, 7))) + "</ul>\n"
            elif kind < 0.5:
                part = (f'<div class="figure"><img class="figure-image" src="{self.url()}.jpg" '
                        f'alt="{self.words(4)}" width="640" height="480"></div>\n')
            else:
                part = f'<p class="paragraph">{self.words(self.rng.randrange(20, 80)).capitalize()}.</p>\n'
            parts.append(part)
            length += len(part)
        return "".join(parts) + "</main>\n</body>\n</html>\n"


def copy_line(*columns):
    """A row in the text format of COPY."""
    return "\t".join(str(c).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
                     for c in columns) + "\n"
