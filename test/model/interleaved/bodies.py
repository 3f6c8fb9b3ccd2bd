"""Random PL/pgSQL: exception blocks, and variables that outlive them.

A body is a list of nodes.  A node is a line, or a list of lines with bodies
between them: ["BEGIN", [...], HANDLER, [...], "END;"].  So a
failure can be shrunk within its functions.
"""
from expressions import BYTES, COLUMNS, JSON, TEXT
from worlds import SERIALIZATION

DECLARE = "DECLARE v text; s text; r jsonb; o jsonb; y bytea; n int := 1; rec record;"
RESULT = "concat_ws(' ', tell(v), tell(s), tell(r), tell(o), tell(y))"
# No block is to swallow what is wrong, nor what ends a script without a verdict.
HANDLER = ("EXCEPTION WHEN data_corrupted THEN RAISE; WHEN OTHERS THEN "
           f"IF SQLERRM LIKE '%{SERIALIZATION}%' THEN RAISE; END IF;")
VARIABLES = {TEXT: ("v", "s"), JSON: ("r", "o"), BYTES: ("y",)}


def lines(body, indent="    "):
    for node in body:
        if isinstance(node, str):
            yield indent + node
        else:
            for part in node:
                if isinstance(part, str):
                    yield indent + part
                else:
                    yield from lines(part, indent + "    ")


class Bodies:
    def __init__(self, expressions, tables):
        self.e = expressions
        self.tables = tables
        self.functions = 0
        self.heavy = expressions.pick(0, 0, 0.5)

    def function(self):
        """Statement that makes another function, as a body to be rendered."""
        self.functions += 1
        return [f"CREATE FUNCTION f{self.functions}(i int, w text) RETURNS text LANGUAGE plpgsql AS $$ {DECLARE} BEGIN",
                self.body(), f"RETURN {RESULT}; END $$"]

    def anonymous(self):
        return [f"DO $$ {DECLARE} i int := {self.e.row()}; w text := '{self.e.four()}'; BEGIN",
                self.body(), f"RAISE NOTICE '%', {RESULT}; END $$"]

    def body(self):
        self.e.in_body = True
        try:
            return self.nodes(2, 2 + self.e.number(3))
        finally:
            self.e.in_body = False

    def nodes(self, depth, count):
        result = []
        for _ in range(count):
            node = self.e.weighted([
                (10, self.update), (4, self.read), (3, self.assign), (3, self.use), (1, self.store),
                (9 * (depth > 0), lambda: self.within_block(lambda: self.block(depth - 1))), (6 * (depth > 0), lambda: self.loop(depth - 1)),
                (6 * (depth > 0), lambda: self.within_block(self.undone)), (1, "PERFORM gate();"), (1, lambda: self.for_rows(depth - 1) if depth > 0 else self.use()),
                (1, lambda: f"PERFORM f{1 + self.e.number(self.functions - 1)}(i, w);" if self.functions > 1 else self.use()),
                (0.3, f"DELETE FROM {self.table()} WHERE id = i;")])
            result.append(node)
            if isinstance(node, list):
                if self.e.chance(0.3):
                    result.append("PERFORM gate();")
                if self.e.chance(0.7):
                    result.append(self.e.weighted([(2, self.use), (1, self.store), (1, self.assign)]))
        return result

    def table(self):
        return self.e.weighted([(4, "t"), (1, self.e.pick(*self.tables))])

    def row(self):
        return self.e.weighted([(6, "i"), (1, str(self.e.row()))])

    def variable(self, kind):
        return self.e.pick(*VARIABLES[kind])

    def update(self):
        column = self.e.column()
        kind = COLUMNS[column]
        value = self.e.change(kind, column, VARIABLES[kind])
        more = f" RETURNING {column} INTO {self.variable(kind)}" if self.e.chance(0.7) else ""
        return f"UPDATE {self.table()} SET {column} = {value} WHERE id = {self.row()}{more};"

    def read(self):
        column = self.e.column()
        lock = self.e.weighted([(4, ""), (1, " FOR UPDATE"), (1, " FOR KEY SHARE")])
        value = self.e.copy(COLUMNS[column], column)
        return f"SELECT {value} INTO {self.variable(COLUMNS[column])} FROM {self.table()} WHERE id = {self.row()}{lock};"

    def assign(self):
        kind = COLUMNS[self.e.column()]
        one, other = self.variable(kind), self.variable(kind)
        if one != other and self.e.chance(0.6):
            return f"{one} := {other};"
        return f"{one} := {self.e.change(kind, other, VARIABLES[kind])};"

    def use(self):
        kind = COLUMNS[self.e.column()]
        return f"RAISE NOTICE '%', {self.e.part(kind, self.variable(kind))};"

    def store(self):
        """The variable's value goes into a table."""
        column = self.e.column()
        variable = self.variable(COLUMNS[column])
        return self.e.weighted([
            (3, f"UPDATE {self.table()} SET {column} = {variable} WHERE id = {self.row()};"),
            (1, f"INSERT INTO {self.table()} (id, {column}) VALUES ({self.row()}, {variable}) "
                f"ON CONFLICT (id) DO UPDATE SET {column} = excluded.{column};"),
            (1, f"INSERT INTO log VALUES (tell({variable}));")])

    def stop(self):
        return self.e.weighted([(5, "RAISE EXCEPTION 'stop';"), (2, "IF n % 2 = 1 THEN RAISE EXCEPTION 'odd'; END IF;"),
                                (1, "n := 1 / 0;"), (1, "NULL;")])

    def large(self):
        """Now and then large new values; a variable has the last.  Rarely more than is kept in memory."""
        if not self.e.chance(self.heavy):
            return []
        return [f"FOR m IN 1 .. {self.e.weighted([(20, 1), (1, 34)])} LOOP",
                "UPDATE t SET e = left(e, 3500) || repeat(chr(64 + m), 2000000) WHERE id = i RETURNING e INTO s;", "END LOOP;"]

    def undone(self):
        """What a block leaves in a variable, and another session's work before that is read."""
        column = self.e.column()
        kind = COLUMNS[column]
        variable = self.variable(kind)
        values = self.e.pick([self.e.change(kind, column)], [self.e.change(kind, column), self.e.copy(kind, column)])
        made = [f"UPDATE t SET {column} = {value} WHERE id = i RETURNING {column} INTO {variable};" for value in values]
        block = ["BEGIN", self.large() + made + ["RAISE EXCEPTION 'back';"], HANDLER, ["NULL;"], "END;"]
        return ["BEGIN", [block, "PERFORM gate();", f"RAISE NOTICE '%', {self.e.part(kind, variable)};"], "END;"]

    def within_block(self, make):
        outer, self.e.in_block = self.e.in_block, True
        try:
            return make()
        finally:
            self.e.in_block = outer

    def block(self, depth):
        first = self.large()
        return ["BEGIN", first + self.nodes(depth, 1 + self.e.number(2)) + [self.stop()], HANDLER,
                ["NULL;"] + (self.nodes(depth, 1) if self.e.chance(0.4) else []), "END;"]

    def loop(self, depth):
        """Expressions planned once, evaluated more often."""
        if self.e.chance(0.5):
            return [f"FOR n IN 1 .. {2 + self.e.number(2)} LOOP",
                    [self.again(), self.e.pick("PERFORM gate();", "NULL;"), self.use()], "END LOOP;"]
        return [f"FOR n IN 1 .. {2 + self.e.number(2)} LOOP", self.nodes(depth, 1 + self.e.number(2)), "END LOOP;"]

    def again(self):
        """A change of what the last round has made, whether or not that was rolled back."""
        column = self.e.weighted([(3, "b"), (1, "e"), (4, "j")])
        kind = COLUMNS[column]
        one, other = VARIABLES[kind]
        change = self.e.alternate if self.e.chance(0.8) else self.e.change
        value = change(kind, change(kind, f"coalesce({one}, {column})"))
        stop = self.e.pick("IF n % 2 = 1 THEN RAISE EXCEPTION 'odd'; END IF;", self.stop())
        return ["BEGIN", [f"UPDATE {self.table()} SET {column} = {value} WHERE id = {self.row()} RETURNING {column} INTO {other};", stop],
                HANDLER, [f"{one} := {other};"], "END;"]

    def for_rows(self, depth):
        column = self.e.column()
        variable = self.variable(COLUMNS[column])
        return [f"FOR rec IN SELECT id, {self.e.copy(COLUMNS[column], column)} AS x FROM {self.table()} WHERE id > 0 ORDER BY id LOOP",
                [f"{variable} := rec.x;"] + self.nodes(depth, 1), "END LOOP;"]
