"""Random expressions: changes of values, parts of them, new ones.

Lengths come from a small set and appended words mostly have four letters, so
that different contents of equal length are the rule.
"""

TEXT, JSON, BYTES = "text", "jsonb", "bytea"
COLUMNS = {"b": TEXT, "e": TEXT, "j": JSON, "d": BYTES}
IDS = (1, 2, 3)
PATHS = ("{a}", "{k}", "{k,x}", "{k,y}", "{l}", "{l,0}", "{l,1}", "{z}", "{n}", "{k,n}")
KEYS = ("a", "k", "l", "z", "n", "k", "n")

# Around what decides: promises, tails, slices, edits, and what a change of a whole value looks at.
SIZES = (2900, 3000, 3010, 3600, 4100, 6000, 8200, 9000, 12000, 20000)
LARGE = (70000, 131072, 140000, 300000)


class Expressions:
    """Expressions of one script; 'author' is the session that says them."""

    def __init__(self, random):
        self.random = random
        self.author = 0
        self.sizes = random.sample(SIZES, 3)
        self.in_body = False
        self.in_block = False
        # Every script has its own habits, so that what takes several steps happens in some.
        self.appends = self.pick(20, 45, 150)
        self.focus = self.pick(0.1, 0.5, 0.8)
        self.favourite_row = self.pick(*IDS)
        self.favourite_column = self.pick("b", "b", "j", "j", "e", "d")

    def number(self, n):
        return self.random.randrange(n)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def weighted(self, table):
        """One of a table of (weight, choice); a choice that is callable is called."""
        choice = self.random.choices([choice for _, choice in table], [weight for weight, _ in table])[0]
        return choice() if callable(choice) else choice

    def row(self):
        return self.favourite_row if self.chance(self.focus) else self.pick(*IDS)

    def column(self):
        if self.chance(self.focus):
            return self.favourite_column
        return self.weighted([(5, "b"), (2, "e"), (4, "j"), (2, "d")])

    def size(self):
        return self.pick(*LARGE) if self.chance(0.02) else self.pick(*self.sizes)

    def place(self):
        return self.pick(1, 5, 100, 2000, 2995, self.size() // 2, self.size() - 10)

    def seed(self):
        return self.number(40)

    def four(self):
        return chr(65 + self.author) * 2 + chr(97 + self.number(3)) * 2

    def word(self):
        """New text, not long."""
        if self.in_body and self.chance(0.35):
            return self.pick("w", "w", "CASE WHEN n % 2 = 1 THEN '' ELSE w END", "CASE WHEN n % 2 = 0 THEN '' ELSE w END",
                             "gate(w)")
        four = self.four()
        return self.weighted([
            (60, f"'{four}'"), (4, "''"), (4, f"'é{four[1:3]}'"), (8, f"repeat('{four}', 10)"), (6, f"repeat('{four}', 175)"),
            (4, f"dense(700, {self.seed()})"), (5, f"dense(3100, {self.seed()})"), (3, f"repeat('{four}', 2250)"),
            (2, f"gate('{four}')")])

    def copy(self, kind, x):
        """
        The operand; within a block with an exception handler, as a value that was made by a
        function.  What is read from a table there may be gone when the block is rolled
        back and its rows are pruned, and pruning does not come at the same time in both.
        """
        if not self.in_block:
            return x
        return f"{x} || '{{}}'::jsonb" if kind == JSON else f"{x} || ''"

    def whole(self, kind):
        """A new value."""
        call = {TEXT: "dense", JSON: "document", BYTES: "bytes"}[kind]
        size = self.pick(18000, 24000, self.size()) if kind == JSON else self.size()
        return f"{call}({size}, {self.seed()})"

    def change(self, kind, operand, others=()):
        """The operand changed, perhaps twice, perhaps with some of the others' contents."""
        make = {TEXT: self.text, JSON: self.json, BYTES: self.bytes}[kind]
        if others and self.chance(0.35):
            operand = f"coalesce({self.pick(*others)}, {operand})"
        result = make(operand, others)
        if self.chance(0.25):
            result = make(f"({result})", others)
        return result

    def alternate(self, kind, x):
        """A change that is none in some rounds of a loop over n."""
        rest = self.number(2)
        if kind == JSON:
            return self.pick(f"({x} - '{self.pick(*KEYS)}')", f"({x} #- '{self.pick(*PATHS)}')",
                             f"({x} || CASE WHEN n % 2 = {rest} THEN '{{}}'::jsonb ELSE {self.json_object()} END)")
        return self.pick(f"({x} || CASE WHEN n % 2 = {rest} THEN '' ELSE {self.word()} END)", f"({x} || {self.word()})")

    def text(self, x, others):
        other = self.pick(x, *others)
        place = self.place()
        return self.weighted([
            (self.appends, lambda: f"{x} || {self.word()}"), (5, lambda: f"{self.word()} || {x}"),
            (5, lambda: f"overlay({x} placing {self.word()} from {place})"),
            (2, lambda: f"overlay({x} placing {self.word()} from {place} for {self.pick(0, 2, 300)})"),
            (5, lambda: f"left({x}, {self.pick(-4, -4, -700, self.size())})"),
            (3, lambda: f"substr({x}, {self.pick(5, place)})"), (2, lambda: f"substr({x}, {self.pick(1, 5)}, {self.size()})"),
            (3, lambda: f"right({x}, {self.pick(-4, self.size())})"),
            (4, lambda: f"left({x}, {place}) || {self.word()} || substr({x}, {place + self.pick(1, 5, 9)})"),
            (2, f"replace({x}, 'ab', 'AB')"), (1, f"upper({x})"), (1, f"lower({x})"), (1, f"concat({x}, 'LAST')"),
            (3, f"{x} || right({other}, {self.pick(4, 40, 4000)})"), (2, f"{other} || ''"), (2, self.copy(TEXT, x)),
            (2, lambda: f"CASE WHEN k % 2 = 0 THEN {x} || {self.word()} ELSE {x} END" if not self.in_body
                else f"CASE WHEN n = 1 THEN {self.copy(TEXT, x)} ELSE {x} || {self.word()} END"),
            (6, lambda: self.whole(TEXT))])

    def json_value(self, x):
        return self.weighted([
            (6, lambda: f"to_jsonb({self.word()}::text)"), (2, f"'{self.number(9)}'"), (2, f"{x} -> 'k'"), (1, f"{x} #> '{{l,1}}'"),
            (1, "'null'"), (2, lambda: f"jsonb_build_object('y', {self.word()})"), (1, lambda: f"to_jsonb({self.whole(TEXT)})")])

    def json_object(self):
        return self.weighted([
            (8, lambda: f"jsonb_build_object('{self.pick(*KEYS)}', {self.word()})"), (3, "'{}'::jsonb"),
            (2, f"'{{\"n\": {self.number(9)}}}'::jsonb"),
            (4 * self.in_body, lambda: f"CASE WHEN n % 2 = {self.number(2)} THEN '{{}}'::jsonb ELSE "
             f"jsonb_build_object('{self.pick(*KEYS)}', w) END")])

    def json_part(self, x, other):
        """A part of a document, changed."""
        part = self.pick(f"({other} -> 'l')", f"({other} -> 'k')", f"({other} #> '{{l}}')", f"coalesce({other} -> 'l', '[]')", f"({other})['k']")
        is_list = "'l'" in part or "{l}" in part
        return self.weighted([
            (8, lambda: f"({part} || {self.json_object()})"), (2, lambda: f"(to_jsonb({self.word()}::text) || {part})" if is_list else f"({self.json_object()} || {part})"),
            (2, f"({part} - 1)" if is_list else f"({part} - 'n')"), (2, f"({part} #- '{{2}}')"),
            (3, lambda: f"jsonb_set({part}, '{{{self.pick('0', '1', '2,y') if is_list else self.pick('x', 'y')}}}', {self.json_value(x)})"),
            (2, lambda: f"jsonb_insert({part}, '{{{self.pick('0', '1', '-1') if is_list else 'new'}}}', {self.json_value(x)})"), (1, part)])

    def json(self, x, others):
        other = self.pick(x, *others)
        path, key = self.pick(*PATHS), self.pick(*KEYS)
        return self.weighted([
            (15, lambda: f"jsonb_set({x}, '{path}', {self.json_value(x)}, {self.pick('true', 'true', 'false')})"),
            (12, lambda: f"jsonb_set({x}, '{self.pick('{l}', '{k}', path)}', {self.json_part(x, other)})"),
            (3, lambda: f"{x} || jsonb_build_object('{self.pick('l', 'k', key)}', {self.json_part(x, other)})"),
            (2, lambda: self.json_part(x, other)),
            (14, lambda: f"{x} || {self.json_object()}"), (6, f"{x} - '{key}'"), (4, f"{x} #- '{path}'"),
            (6, lambda: f"({x} - '{key}') || {self.json_object()}"),
            (2, f"{x} - '{{{key},n}}'::text[]"),
            (2, lambda: f"jsonb_insert({x}, '{self.pick('{l,0}', '{l,1}', '{l,-1}')}', {self.json_value(x)})"),
            (1, f"{x} || {other}"), (2, self.copy(JSON, x)), (1, f"jsonb_strip_nulls({x})"), (4, lambda: self.whole(JSON))])

    def bytes(self, x, others):
        other = self.pick(x, *others)
        return self.weighted([
            (10, lambda: f"{x} || convert_to({self.word()}, 'utf8')"), (2, f"{x} || '\\x00ff'"),
            (2, f"set_byte({x}, {self.number(3000)}, {self.number(256)})"), (6, lambda: self.mended(x)),
            (3, lambda: f"overlay({x} placing convert_to({self.word()}, 'utf8') from {self.place()})"),
            (2, f"substr({x}, {self.pick(1, 5, 700)})"), (2, f"substr({x}, 1, {self.size()})"), (1, f"{x} || substr({other}, 1, 4)"),
            (1, self.copy(BYTES, x)), (2, lambda: self.whole(BYTES))])

    def mended(self, x):
        """A few bytes replaced by as many, here and there, and at once so many that they get nodes of their own."""
        for _ in range(self.pick(1, 2, 5, 5, 40)):
            x = f"overlay({x} placing '{self.four()}{self.four()}' from {1 + self.number(2900)})"
        return x

    def part(self, kind, x):
        """Something to read of a value, as text."""
        if kind == TEXT:
            return self.weighted([
                (4, f"right({x}, 8)"), (3, f"length({x})::text"), (3, f"md5({x})"), (2, f"tell({x})"), (1, f"octet_length({x})::text"),
                (2, f"substr({x}, {self.place()}, {self.pick(1, 10, 3000)})"), (1, f"left({x}, {self.place()})"),
                (2, f"position('{self.four()}' in {x})::text"), (1, f"({x} LIKE '%{self.four()}')::text"), (3, x)])
        if kind == JSON:
            return self.weighted([
                (3, f"tell({x})"), (3, f"{x} ->> '{self.pick(*KEYS)}'"), (3, f"{x} #>> '{self.pick(*PATHS)}'"),
                (1, f"({x} -> 'k' -> 'n')::text"), (1, f"({x} ? '{self.pick(*KEYS)}')::text"), (2, f"tell({x} -> 'l' ->> 1)"),
                (1, f"({x} @> '{{\"a\": 1}}')::text"), (1, f"jsonb_path_query_first({x}, '$.k.y')::text"), (2, f"{x}::text"),
                (1, f"(SELECT string_agg(key, ',' ORDER BY key) FROM jsonb_each({x}))")])
        return self.weighted([
            (2, f"tell({x})"), (1, f"length({x})::text"), (1, f"encode(substr({x}, {self.place()}, 9), 'hex')"), (1, f"{x}::text")])

    def parts(self, prefix="", count=3):
        columns = self.random.sample(list(COLUMNS), 1 + self.number(count))
        return ", ".join(self.part(COLUMNS[column], prefix + column) for column in columns)
