"""Random scripts of several sessions.

A Script says what comes first (tables, functions) and then, one at a time, which
session says what.  It is told the state of every session, so that most statements
make sense where they come; all else follows from the seed.
"""
import random

from bodies import Bodies, lines
from expressions import COLUMNS, IDS, TEXT, Expressions

TABLES = ("t", "u", "p")
ALL = f"id, {', '.join(COLUMNS)}, k, x"
# May a table be rewritten or emptied while a function waits that may have a changed
# value of it in a variable, from a block that was rolled back, and with it its lock?
# heap has that value in memory; a promise needs what it was made from, and fails.
REWRITE_UNDER_VARIABLES = False

# Rows come in the order of their ids where it matters: index scans, and joins from them.
SETTINGS = ("SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_hashjoin = off")


def render(statement):
    """A statement is text, or the body of a function."""
    return statement if isinstance(statement, str) else "\n".join(lines(statement, ""))


class Script:
    def __init__(self, seed, sessions):
        self.random = random.Random(seed)
        self.e = Expressions(self.random)
        self.sessions = sessions
        self.gate = sessions - 1
        self.shut = False
        self.may_rewrite = True
        self.gids = []
        self.made = 0
        self.savepoints = [[] for _ in range(sessions)]
        self.cursors = [[] for _ in range(sessions)]
        self.levels = [None] * sessions
        self.temporary = [None] * sessions
        self.called = IDS[0]
        self.calls = self.e.pick(4, 14, 50)
        self.points = self.e.pick(3, 9, 25)
        self.trains = self.e.pick(0, 0.5, 2)
        self.bodies = Bodies(self.e, TABLES)
        self.first = list(self.beginning())

    # ------------------------------------------------------------ beginning

    def beginning(self):
        """(session, statement) for tables, contents, functions and settings."""
        # VACUUM sleeps for seconds before it gives up to truncate a table that others use.
        adopted = self.e.chance(0.5)    # made and filled as tables of heap's
        options = "WITH (" + ", ".join(f"{kind}autovacuum_enabled = off, {kind}vacuum_truncate = off" for kind in ("", "toast.")) + ")"
        using = "USING heap" if adopted else ""
        columns = "(id int PRIMARY KEY, b text, e text, j jsonb, d bytea, k int DEFAULT 0, x text)"
        yield 0, f"CREATE TABLE t {columns} {using} {options}"
        yield 0, f"CREATE TABLE u {columns} {using} {options}"
        yield 0, f"CREATE TABLE h {columns} USING heap {options}"
        yield 0, f"CREATE TABLE p {columns} PARTITION BY RANGE (id)"
        yield 0, f"CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (3) {using} {options}"
        yield 0, f"CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (3) TO (10) {using} {options}"
        yield 0, "CREATE TABLE log (what text) USING heap"
        yield 0, "CREATE TABLE child (id int, parent int REFERENCES t) USING heap"
        for table in ("t", "u", "p1", "p2", "h"):
            yield 0, f"ALTER TABLE {table} ALTER e SET STORAGE EXTERNAL"
        if self.e.chance(0.4):
            yield 0, "CREATE INDEX ON t (k)"
        if self.e.chance(0.1):
            yield 0, "CREATE INDEX ON t (right(b, 4))"
        for table in (*TABLES, "h"):
            for row in IDS:
                values = ", ".join(self.e.whole(kind) for kind in COLUMNS.values())
                yield 0, f"INSERT INTO {table} (id, {', '.join(COLUMNS)}) VALUES ({row}, {values})"
        if adopted:
            for table in TABLES:
                yield 0, f"DO $$ BEGIN IF current_setting('default_table_access_method') = 'sliced' THEN PERFORM set_config('client_min_messages', 'warning', true), sliced.adopt('{table}'); END IF; END $$"
        if self.e.chance(0.3):
            yield 0, "DO $$ BEGIN IF current_setting('default_table_access_method') = 'sliced' THEN PERFORM sliced.alter_table('t', 'dictionary=auto'); END IF; END $$"
        yield from self.triggers()
        for _ in range(5):
            yield 0, self.bodies.function()
        for number in range(self.gate):
            for setting in SETTINGS:
                yield number, setting
            yield number, f"SET plan_cache_mode = {self.e.pick('auto', 'force_generic_plan', 'force_generic_plan')}"
            if self.e.chance(0.3):
                yield number, f"SET sliced.compression = {self.e.pick('none', 'pglz', 'lz4', 'zstd')}"
            self.e.author = number
            for name in ("q1", "q2"):
                column = self.e.column()
                self.e.in_body = False
                change = self.e.change(COLUMNS[column], column)
                if COLUMNS[column] == TEXT:
                    change += " || $2"
                yield number, (f"PREPARE {name}(int, text) AS UPDATE t SET {column} = {change}, x = $2 WHERE id = $1 "
                               f"RETURNING id, {self.e.parts()}")

    def triggers(self):
        row = "FOR EACH ROW EXECUTE FUNCTION"
        choices = [f"CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON {{}} {row} note_row()",
                   f"CREATE TRIGGER changed BEFORE UPDATE ON {{}} {row} change_row()",
                   f"CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON {{}} DEFERRABLE INITIALLY DEFERRED {row} note_row()",
                   "CREATE TRIGGER rows AFTER UPDATE ON {} REFERENCING OLD TABLE AS olds NEW TABLE AS news "
                   "FOR EACH STATEMENT EXECUTE FUNCTION note_rows()"]
        for trigger in choices:
            if self.e.chance(0.6):
                yield 0, trigger.format("u")
        if self.e.chance(0.2):
            yield 0, self.e.pick(*choices).format("t")

    # ------------------------------------------------------------ what next

    def next(self, states):
        """(session, statement), where 'states' has I, T, E or None for each session."""
        waiting = [number for number, state in enumerate(states) if state is None]
        self.may_rewrite = REWRITE_UNDER_VARIABLES or not waiting
        if self.shut and self.e.chance(0.15 if waiting else 0.03):
            self.shut = False
            return self.gate, "SELECT pg_advisory_unlock(1)"
        if not self.shut and self.e.chance(0.15):
            self.shut = True
            return self.gate, "SELECT pg_advisory_lock(1)"
        ready = [number for number in range(self.gate) if states[number]]
        if not ready:
            self.shut = False
            return self.gate, "SELECT pg_advisory_unlock(1)"
        number = self.random.choice(ready)
        self.e.author, self.e.in_body = number, False
        state = states[number]
        if state == "I":
            self.savepoints[number], self.levels[number] = [], None
            if self.temporary[number] == "DROP":
                self.temporary[number] = None
            self.cursors[number] = [name for name in self.cursors[number] if name.startswith("h")]
            return number, self.e.weighted([
                (30, lambda: self.begin(number)), (25 * bool(waiting), self.beside), (45, lambda: self.statement(number, state)),
                # while a function waits in its middle: what it has rolled back may go
                (20 if waiting else 3, lambda: self.outside(number)),
                (3 * bool(self.gids), self.finish_prepared)])
        if state == "E":
            return number, self.e.weighted([
                (8 * bool(self.savepoints[number]), lambda: self.back(number)), (4, "ROLLBACK"), (1, "COMMIT"),
                (0.3, lambda: self.statement(number, state))])
        return number, self.e.weighted([
            (55, lambda: self.statement(number, state)), (self.points, lambda: self.savepoint(number)),
            (self.points * bool(self.savepoints[number]), lambda: self.back(number)),
            (4 * bool(self.savepoints[number]), lambda: self.release(number)), (10, "COMMIT"), (4, "ROLLBACK"),
            (1.5, lambda: self.prepare(number))])

    def begin(self, number):
        self.levels[number] = self.e.weighted([(6, "READ COMMITTED"), (2, "REPEATABLE READ"), (1, "SERIALIZABLE")])
        return f"BEGIN ISOLATION LEVEL {self.levels[number]}"

    def savepoint(self, number):
        name = f"s{len(self.savepoints[number])}"
        self.savepoints[number].append(name)
        return f"SAVEPOINT {name}"

    def back(self, number):
        points = self.savepoints[number]
        del points[self.e.number(len(points)) + 1:]
        return f"ROLLBACK TO {points[-1]}"

    def release(self, number):
        points = self.savepoints[number]
        name = points[self.e.number(len(points))]
        del points[points.index(name):]
        return f"RELEASE {name}"

    def prepare(self, number):
        self.made += 1
        self.gids.append(f"{{world}}_{self.made}")
        return f"PREPARE TRANSACTION '{self.gids[-1]}'"

    def finish_prepared(self):
        gid = self.gids.pop(self.e.number(len(self.gids)))
        return f"{self.e.pick('COMMIT', 'COMMIT', 'ROLLBACK')} PREPARED '{gid}'"

    # ------------------------------------------------------------ statements

    def statement(self, number, state):
        return self.e.weighted([
            (40, lambda: self.update(number)), (14, lambda: self.select(number)), (4, lambda: self.lock(number)),
            (self.calls, self.call), (4, self.bodies.anonymous),
            (6 * (state == "T"), lambda: self.cursor(number)), (3, lambda: self.insert(number)),
            (2, lambda: f"DELETE FROM {self.table(number)} WHERE id = {self.e.row()} RETURNING id, {self.e.parts()}"),
            (2, lambda: self.merge(number)), (2, lambda: self.copy(number)),
            (7, lambda: f"EXECUTE {self.e.pick('q1', 'q2')}({self.e.row()}, {self.word()})"), (1, self.child), (1, "SELECT 1 / 0"),
            (1.5, lambda: self.temporary_table(number)), (0.7 * self.may_rewrite, self.definition), (0.05, lambda: f"SELECT heavy({self.e.row()})"),
            (0.3, lambda: f"SET {self.e.pick('LOCAL ', '')}plan_cache_mode = {self.e.pick('auto', 'force_generic_plan')}"),
            (0.3, "SET CONSTRAINTS ALL IMMEDIATE"), (self.trains, lambda: f"SELECT train('{self.e.pick('t', 't', 'u', 'p1')}')")])

    def word(self):
        return f"'{self.e.four()}'"

    def table(self, number):
        return self.e.weighted([(8, "t"), (2, "u"), (1, "p"), (0.3, "h"), (2 * bool(self.temporary[number]), "tt")])

    def rows(self):
        return self.e.weighted([(8, f"id = {self.e.row()}"), (1, f"id BETWEEN 1 AND {self.e.row()}"), (1, "id > 0")])

    def settings(self):
        """What comes after SET."""
        columns = {self.e.column() for _ in range(self.e.pick(1, 1, 1, 2))}
        for column in sorted(columns):
            kind = COLUMNS[column]
            if column == "j" and self.e.chance(0.12):
                place = self.e.pick("['a']", "['k']['x']", "['k']['n']", "['n']", "['z']", "['l'][0]")
                yield f"j{place} = {self.e.json_value('j')}"
            else:
                yield f"{column} = {self.e.change(kind, column)}"
        if self.e.chance(0.1):
            yield "k = k + 1"

    def update(self, number):
        returning = f" RETURNING id, {self.e.parts()}" if self.e.chance(0.4) else ""
        return f"UPDATE {self.table(number)} SET {', '.join(self.settings())} WHERE {self.rows()}{returning}"

    def select(self, number):
        return f"SELECT id, k, {self.e.parts()} FROM {self.table(number)} WHERE {self.rows()}"

    def lock(self, number):
        strength = self.e.pick("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
        return (f"SELECT id, {self.e.parts()} FROM {self.table(number)} WHERE {self.rows()} ORDER BY id "
                f"FOR {strength}{self.e.pick('', '', ' NOWAIT', ' SKIP LOCKED')}")

    def call(self):
        self.called = self.e.row()
        return f"SELECT f{1 + self.e.number(self.bodies.functions)}({self.called}, {self.word()})"

    def beside(self):
        """What may harm the row that a function which waits has changed and given up."""
        if self.e.chance(0.3):
            return "VACUUM t"
        column = self.e.column()
        return f"UPDATE t SET {column} = {self.e.change(COLUMNS[column], column)} WHERE id = {self.called}"

    def insert(self, number):
        column = self.e.column()
        new = self.e.change(COLUMNS[column], f"o.{column}", (f"excluded.{column}",)).replace(" k %", " o.k %")
        conflict = self.e.pick("DO NOTHING", f"(id) DO UPDATE SET {column} = {new}", f"(id) DO UPDATE SET {column} = excluded.{column}")
        return (f"INSERT INTO {self.table(number)} AS o (id, {column}) VALUES ({self.e.row()}, {self.e.whole(COLUMNS[column])}) "
                f"ON CONFLICT {conflict} RETURNING id, {self.e.parts('o.')}")

    def merge(self, number):
        column = self.e.column()
        new = self.e.change(COLUMNS[column], f"o.{column}").replace(" k %", " o.k %")
        return (f"MERGE INTO {self.table(number)} o USING (SELECT {self.e.row()} AS id, {self.e.whole(COLUMNS[column])} AS v) s "
                f"ON o.id = s.id WHEN MATCHED AND o.k % 5 = 4 THEN DELETE WHEN MATCHED THEN UPDATE SET {column} = {new} "
                f"WHEN NOT MATCHED THEN INSERT (id, {column}) VALUES (s.id, s.v)")

    def copy(self, number):
        """From a table to another."""
        source, target = self.table(number), self.e.pick("h", "t", "u", self.table(number))
        column = self.e.column()
        if self.e.chance(0.5):
            return (f"UPDATE {target} o SET {column} = (SELECT {column} FROM {source} WHERE id = {self.e.row()}) "
                    f"WHERE id = {self.e.row()} RETURNING id, {self.e.parts('o.')}")
        return (f"INSERT INTO {target} ({ALL}) SELECT {ALL} FROM {source} WHERE id = {self.e.row()} "
                f"ON CONFLICT (id) DO UPDATE SET {column} = excluded.{column}")

    def cursor(self, number):
        names = self.cursors[number]
        if not names or self.e.chance(0.3):
            hold = self.e.chance(0.3)
            self.made += 1
            names.append(f"{'h' if hold else 'c'}{self.made}")
            lock = "" if hold else self.e.weighted([(3, ""), (1, " FOR UPDATE")])
            return (f"DECLARE {names[-1]} {'' if lock else 'SCROLL '}CURSOR {'WITH HOLD ' if hold else ''}FOR "
                    f"SELECT id, {', '.join(COLUMNS)} FROM {self.table(number)} WHERE id > 0 ORDER BY id{lock}")
        name = self.random.choice(names)
        column = self.e.column()
        return self.e.weighted([
            (6, f"FETCH {self.e.pick('1', '2', 'ALL', 'FIRST', 'PRIOR')} FROM {name}"), (1, f"CLOSE {name}"),
            (1, lambda: f"UPDATE t SET {column} = {self.e.change(COLUMNS[column], column)} WHERE CURRENT OF {name}")])

    def child(self):
        return self.e.pick(f"INSERT INTO child VALUES ({self.e.row()}, {self.e.row()})", f"DELETE FROM child WHERE id = {self.e.row()}",
                           f"UPDATE t SET id = id + 3 WHERE id = {self.e.row()}", f"UPDATE t SET id = id - 3 WHERE id = {self.e.row() + 3}")

    def temporary_table(self, number):
        if self.temporary[number] and self.e.chance(0.3):
            self.temporary[number] = None
            return "DROP TABLE IF EXISTS tt"
        end = self.e.pick("PRESERVE ROWS", "PRESERVE ROWS", "DELETE ROWS", "DROP")
        self.temporary[number] = end
        return f"CREATE TEMP TABLE IF NOT EXISTS tt (LIKE t INCLUDING ALL) ON COMMIT {end}; INSERT INTO tt ({ALL}) SELECT {ALL} FROM t ON CONFLICT DO NOTHING"

    def definition(self):
        """DDL.  Most of it does not wait: it would be cancelled, or all other sessions would be."""
        table, column = self.e.pick("t", "t", "u", "p1"), self.e.column()
        statement = self.e.weighted([
            (2, lambda: f"TRUNCATE {table} CASCADE; INSERT INTO {table} ({ALL}) SELECT {ALL} FROM h"),
            (2, f"ALTER TABLE {table} ALTER {column} SET STORAGE {self.e.pick('EXTERNAL', 'EXTENDED', 'MAIN')}"),
            (2, f"ALTER TABLE {table} ALTER {column} SET COMPRESSION {self.e.pick('pglz', 'lz4')}"),
            (2, f"ALTER TABLE {table} ALTER b TYPE text USING b || 'TYPE'"), (1, f"ALTER TABLE {table} ALTER b TYPE text USING b"),
            (1, f"ALTER TABLE {table} SET (toast_tuple_target = {self.e.pick(128, 2000, 4080, 8160)})"),
            (2, f"CLUSTER {table} USING {table}_pkey"), (1, f"REINDEX TABLE {table}"),
            (1, f"ALTER TABLE {table} ADD n{self.made} text DEFAULT {self.e.pick('NULL', self.e.whole(TEXT))}" if table != "p1" else ""),
            (1, f"ALTER TABLE {table} ALTER x SET DEFAULT 'x'")])
        self.made += 1
        if self.e.chance(0.3):
            return statement
        return f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE NOWAIT; {statement}"

    def outside(self, number):
        """What cannot be in a transaction."""
        table = self.table(number)
        return self.e.weighted([
            (8, f"VACUUM {table}"), (2 * self.may_rewrite, f"VACUUM (FULL, SKIP_LOCKED) {table}"),
            (1 * self.may_rewrite, f"VACUUM FULL {table}"),
            (1, f"ANALYZE {table}"), (1, "CHECKPOINT")])
