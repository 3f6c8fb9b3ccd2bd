"""Was anything lost, doubled, reordered, or seen that must not be seen?  Lists and appends tell, after Elle.

A history has the transactions of each session in their order.  They append unique numbers to lists,
and read lists.  A row has several lists and a number of its version: each append makes the version
that comes next, and says which it is.  So the committed appends of a row are a log, and a read that
says its version must return exactly what the log has up to there, and then the transaction's own
appends.  A list is a value outside its row; the version is an integer within the row.  So the order of
versions does not depend on what is tested.

What must never be, at any level:

* *lost append*, *doubled append*, *reordered appends*: of the log, in a read or at the end;
* *lost update*: two committed transactions made the same version;
* *aborted read* (G1a): a number of a transaction that was rolled back, or behind a savepoint that was;
* *intermediate read* (G1b): one append of a transaction was seen, and its next one to this row was not;
* *own append missed*: a transaction does not see what it has appended, or sees that it has undone;
* *partly committed*: the answer to COMMIT was lost, and some of the appends are there;
* *went back*: a session sees an older version than it has seen before.

The rest are cycles in the order of events.  The server has one order of snapshots and commits: a
snapshot sees a transaction if, and only if, that was committed before.  An event is a commit, or a
snapshot: of one statement at READ COMMITTED, of the transaction at REPEATABLE READ and SERIALIZABLE.
An UPDATE at READ COMMITTED may see more than its snapshot: its event is that it has locked the row.
Version v of a row says three things:

* ww: the commit of version v comes before the event that made version v + 1;
* wr: the commit of version v comes before the event that read version v;
* rw: the event that read version v comes before the commit of version v + 1.

Events of a session follow each other.  If these edges have a cycle, there is no such order:

* *dirty writes* (G0): ww edges only; *cyclic information flow* (G1c): ww and wr edges;
* *read skew* (G-single): one rw edge; also a read that does not repeat at REPEATABLE READ;
* *long fork* (G-nonadjacent): several rw edges, such as two snapshots that disagree about an order.

READ COMMITTED allows a read that does not repeat, and read skew between two statements: they
have events of their own, which need no order between them but the session's.  PostgreSQL promises
more than the standard does: each statement is consistent by itself.

REPEATABLE READ allows *write skew* (G2), a cycle with two rw edges in a row: then
each transaction's snapshot is older than the other one's commit.  In the graph of events this
is no cycle, as a snapshot and a commit are two events.  SERIALIZABLE forbids it.  So a second graph
has one node for each committed SERIALIZABLE transaction, and must have no cycle either.  If
all transactions are SERIALIZABLE that is all of serializability.  If others take part, PostgreSQL
promises order only among serializable transactions that meet: an rw edge leads to the writer of the
very next version, if that is serializable.  ww and wr edges may pass over versions of other levels,
because a commit before a snapshot is an order however it came about.

A session that reads from a standby or a subscriber ("follower") is not part of the graphs: there
transactions become visible in the order of the WAL, which need not be the order on the primary.
"""
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict, deque

READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE, FOLLOWER = "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "follower"
COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"


class Transaction:
    """
    What a session did.  "ops" are tuples:

    ("append", row, columns, number, version): the number was added to these lists, which made this version;
    ("read", row, column, version, start, numbers, to_end): what the list has from place "start" on;
    ("savepoint", depth), ("undo", depth), which rolls back to the savepoint.
    """
    __slots__ = "session", "level", "status", "ops", "live", "node"

    def __init__(self, session, level, status=ABORTED, ops=None):
        self.session, self.level, self.status = session, level, status
        self.ops = [] if ops is None else ops

    def __str__(self):
        said = [f"{op[0]} {op[1]}.{'+'.join(op[2]) if op[0] == 'append' else op[2]} {f'{op[3]} as' if op[0] == 'append' else 'at'} "
                f"version {op[4] if op[0] == 'append' else op[3]}" if len(op) > 2 else op[0] for op in self.ops]
        return f"[session {self.session}, {self.level}, {self.status}: {'; '.join(said)}]"

    def steps(self):
        """All appends and reads, each with the appends of before that are not undone."""
        own, marks = [], {}
        for op in self.ops:
            if op[0] == "savepoint":
                marks[op[1]] = len(own)
            elif op[0] == "undo":
                own = own[:marks[op[1]]]
            else:
                yield op, [o for o in own if o[1] == op[1]]
                if op[0] == "append":
                    own = own + [op]
        self.live = own


def base_of(op, mine):
    """The version of others that an append or read is based on."""
    if mine:
        return mine[0][4] - 1
    return op[4] - 1 if op[0] == "append" else op[3]


class Checker:
    """Takes the transactions of each session, and what is there at the end: {row: (version, {column: numbers})}."""

    def __init__(self, sessions, final):
        self.transactions = [t for session in sessions for t in session]
        self.final = final
        self.problems = []
        self.compared = 0
        self.log = {row: {} for row in final}       # row -> version -> the transaction that made it
        self.lists = {}                             # (row, column) -> versions, numbers
        self.writers = {}                           # number -> transaction

    def problem(self, anomaly, text):
        self.problems.append((anomaly, text))

    def check(self):
        """Returns the anomalies, as (name, text)."""
        for t in self.transactions:
            for op, _ in t.steps():
                if op[0] == "append":
                    self.writers[op[3]] = t
        self.settle_unknown()
        self.make_log()
        for row, (version, columns) in self.final.items():
            if version != len(self.log[row]):
                self.problem("lost append", f"row {row} is at version {version} in the end, {len(self.log[row])} were committed")
            for column, numbers in columns.items():
                self.compare(f"in the end {row}.{column}", numbers, self.expected(row, column, version))
        self.check_transactions()
        if not self.problems:
            self.check_events()
            self.check_serializable()
        return self.problems

    def settle_unknown(self):
        """If the answer to COMMIT was lost, the end tells whether the transaction was committed."""
        there = {(row, column): set(numbers) for row, (_, columns) in self.final.items() for column, numbers in columns.items()}
        for t in self.transactions:
            if t.status == UNKNOWN:
                found = [op[3] in there[op[1], column] for op in t.live for column in op[2]]
                t.status = COMMITTED if any(found) else ABORTED
                if any(found) and not all(found):
                    self.problem("partly committed", f"{sum(found)} of {len(found)} appends are there: {t}")

    def make_log(self):
        numbers = defaultdict(list)
        for t in self.transactions:
            for op in t.live if t.status == COMMITTED else ():
                _, row, columns, number, version = op
                if version in self.log[row]:
                    self.problem("lost update", f"two transactions made version {version} of row {row}: {self.log[row][version]}, {t}")
                self.log[row][version] = t
                for column in columns:
                    numbers[row, column].append((version, number))
        for row, log in self.log.items():
            missing = sorted(set(range(1, len(log) + 1)) - set(log))
            if missing:
                self.problem("lost update", f"nothing that was committed made version {missing[0]} of row {row}")
        for key in [(row, column) for row, (_, columns) in self.final.items() for column in columns]:
            entries = sorted(numbers[key])
            self.lists[key] = [version for version, _ in entries], array("i", [number for _, number in entries])

    def expected(self, row, column, version, start=0):
        versions, numbers = self.lists[row, column]
        return numbers[start:bisect_right(versions, version)]

    def compare(self, what, got, want, reader=None):
        """Compare two lists of numbers, and find a name for the difference."""
        self.compared += 1
        if got == want:
            return
        twice = [number for number, count in Counter(got).items() if count > 1]
        strange = [number for number in got if number not in set(want)]
        missing = [number for number in want if number not in set(got)]
        if twice:
            self.problem("doubled append", f"{what} has {twice[:5]} twice")
        elif strange:
            writer = self.writers.get(strange[0])
            if writer is None:
                self.problem("unknown number", f"{what} has {strange[:5]}, which no transaction appended")
            elif writer is reader:
                self.problem("own append missed", f"{what} has {strange[:5]}, which the transaction had undone")
            elif writer.status != COMMITTED or all(op[3] != strange[0] for op in writer.live):
                self.problem("aborted read", f"{what} has {strange[:5]} of {writer}")
            else:
                self.problem("reordered appends", f"{what} has {strange[:5]} of another version or list, of {writer}")
        elif missing:
            own = reader is not None and self.writers.get(missing[0]) is reader
            self.problem("own append missed" if own else "lost append", f"{what} lacks {missing[:5]}, has {len(got)} for {len(want)}")
        else:
            at = next(i for i, (g, w) in enumerate(zip(got, want)) if g != w)
            self.problem("reordered appends", f"{what} has {list(got[at:at + 5])} for {list(want[at:at + 5])}")

    def check_transactions(self):
        """Each read against the log, and what a transaction and a session see one after the other."""
        seen = defaultdict(dict)
        for t in self.transactions:
            snapshot = {}
            for op, mine in t.steps():
                row, base = op[1], base_of(op, mine)
                version = op[4] - 1 if op[0] == "append" else op[3]
                if mine and version != mine[-1][4]:
                    self.problem("own append missed", f"row {row} is at version {version} behind the own {mine[-1][4]}: {t}")
                elif op[0] == "read":
                    self.check_read(t, op, mine, base)
                if t.level in (REPEATABLE_READ, SERIALIZABLE) and snapshot.setdefault(row, base) != base:
                    self.problem("read skew", f"row {row} was at version {snapshot[row]}, and then at {base}: {t}")
                before = seen[t.session].get(row, 0)
                if base < before:
                    self.problem("went back", f"the session had seen version {before} of row {row}, and now sees {base}: {t}")
                seen[t.session][row] = max(base, before)
            for op in t.live if t.status == COMMITTED else ():
                seen[t.session][op[1]] = op[4]

    def check_read(self, t, op, mine, base):
        _, row, column, version, start, numbers, to_end = op
        log = self.log[row]
        what = f"version {version} of {row}.{column}"
        want = self.expected(row, column, base, start)
        own = array("i", [o[3] for o in mine if column in o[2]])
        if own:
            skipped = max(0, start - len(self.expected(row, column, base)))
            want = want + own[skipped:]
        self.compare(f"{what}, from {start} on, as {t} read it,", numbers, want if to_end else want[:len(numbers)], t)
        if base > len(log):
            self.problem("aborted read", f"{what} was never committed: {t}")
        elif 0 < base < len(log) and log.get(base) is log.get(base + 1) is not t:
            self.problem("intermediate read", f"{what} was not the last of {log[base]}: {t}")

    def check_events(self):
        """Snapshots and commits must have an order."""
        graph = Graph()
        members = [t for t in self.transactions if t.level != FOLLOWER]
        for t in members:
            t.node = graph.node(t) if t.status == COMMITTED else None
        last = {}
        for t in members:
            event, before = None, last.get(t.session)
            for op, mine in t.steps():
                if event is None or t.level == READ_COMMITTED:
                    event = graph.node(t)
                    if before is not None:
                        graph.edge(before, event, "then")
                    before = event
                row, base = op[1], base_of(op, mine)
                if base > 0:
                    graph.edge(self.log[row][base].node, event, "ww" if op[0] == "append" else "wr", row, base)
                after = self.log[row].get(base + 1)
                if after is not None and after is not t:
                    graph.edge(event, after.node, "rw", row, base)
            if t.node is not None and before is not None:
                graph.edge(before, t.node, "then")
                before = t.node
            last[t.session] = before
        cycle = graph.cycle()
        kinds = [kind for _, kind, _, _ in cycle]
        if cycle:
            reads = kinds.count("rw")
            name = ("read skew" if reads == 1 else "long fork") if reads else "cyclic information flow" if "wr" in kinds else "dirty writes"
            self.problem(name, graph.describe(cycle))

    def check_serializable(self):
        """Committed serializable transactions must have an order."""
        graph = Graph()
        members = [t for t in self.transactions if t.level == SERIALIZABLE and t.status == COMMITTED]
        for t in members:
            t.node = graph.node(t)
        serializable = {row: [v for v in sorted(log) if log[v].level == SERIALIZABLE] for row, log in self.log.items()}
        last = {}
        for t in members:
            if t.session in last:
                graph.edge(last[t.session].node, t.node, "then")
            last[t.session] = t
            for op, mine in t.steps():
                row, base = op[1], base_of(op, mine)
                at = bisect_right(serializable[row], base)
                if at > 0:
                    before = serializable[row][at - 1]
                    graph.edge(self.log[row][before].node, t.node, "ww" if op[0] == "append" else "wr", row, before)
                after = self.log[row].get(base + 1)
                if after is not None and after is not t and after.level == SERIALIZABLE:
                    graph.edge(t.node, after.node, "rw", row, base)
        cycle = graph.cycle()
        if cycle:
            self.problem("write skew", graph.describe(cycle))


class Graph:
    def __init__(self):
        self.things, self.out = [], []

    def node(self, thing):
        self.things.append(thing)
        self.out.append([])
        return len(self.out) - 1

    def edge(self, a, b, kind, row=None, version=None):
        self.out[a].append((b, kind, row, version))

    def describe(self, cycle):
        return "\n".join(f"{self.things[node]} {kind}{'' if row is None else f' (row {row}, version {version})'} ->" for node, kind, row, version in cycle)

    def left(self, out):
        """The nodes that remain when those without predecessors are removed again and again."""
        waits = [0] * len(out)
        for edges in out:
            for edge in edges:
                waits[edge[0]] += 1
        free = [node for node, count in enumerate(waits) if count == 0]
        for node in free:
            for edge in out[node]:
                waits[edge[0]] -= 1
                if waits[edge[0]] == 0:
                    free.append(edge[0])
        return set(range(len(out))) - set(free)

    def cycle(self):
        """A short cycle, as (node, kind of the edge from there, row, version); empty if there is none."""
        left = self.left(self.out)
        if not left:
            return []
        back = [[] for _ in self.out]
        for node in left:
            for edge in self.out[node]:
                back[edge[0]].append((node,))
        left &= self.left(back)     # without what only follows cycles
        cycles = [self.way(node, left) for node in sorted(left)[:200]]
        return min((cycle for cycle in cycles if cycle), key=len)

    def way(self, start, left):
        """The shortest way from a node back to itself."""
        came, queue = {}, deque([start])
        while queue:
            node = queue.popleft()
            for target, *edge in self.out[node]:
                if target in left and target not in came:
                    came[target] = node, edge
                    queue.append(target)
                if target == start:
                    steps = []
                    while not steps or target != start:
                        target, edge = came[target]
                        steps.append((target, *edge))
                    return steps[::-1]
        return []
