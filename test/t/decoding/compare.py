#!/usr/bin/env python3
"""compare.py PLUGIN HEAP SLICED: replay what an output plugin says, on standard input, on two tables:
test_decoding, wal2json in its format version 2, decoderbufs in its debug mode, or Debezium.

The two tables, HEAP and SLICED, were treated the same.  After each transaction both replicas
must have the same rows, and the changes must have brought the same old rows.  The order of
rows within a transaction may differ, and a value that was written again, but is the same, may
be an unchanged one of the sliced table.  Prints how many changes there were.
"""
import json
import sys

UNCHANGED = "unchanged-toast-datum"


def parse(text):
    """The parts of a change: lists of (column, value)."""
    old, new = None, []
    at = 0
    while at < len(text):
        if text.startswith("old-key: ", at):
            old, at = [], at + len("old-key: ")
            target = old
            continue
        if text.startswith("new-tuple: ", at):
            at += len("new-tuple: ")
            target = new
            continue
        if text.startswith("(no-tuple-data)", at):
            break
        if not new and old is None:
            target = new
        colon = text.index("]:", at)
        name = text[at:text.index("[", at)]
        at = colon + 2
        if text[at] == "'":
            end = at + 1
            while True:
                end = text.index("'", end)
                if text[end + 1:end + 2] != "'":
                    break
                end += 2
            value = text[at:end + 1]
            at = end + 2
        else:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            value = text[at:end]
            at = end + 1
        target.append((name, value))
    return old, new


class Replica:
    def __init__(self, omits):
        self.omits = omits
        self.rows = {}
        self.olds = []
        self.commits = []  # rows, and old ones, that the other table has still to come to
        self.changes = 0
        self.unchanged = 0

    def apply(self, operation, old, new):
        self.changes += 1
        if operation == "TRUNCATE":
            self.rows.clear()
            return
        if old:
            self.olds.append((operation, tuple(old)))
            was = self.rows.pop(dict(old)["id"], {})
        elif operation == "UPDATE":
            was = self.rows.pop(dict(new)["id"], {})
        else:
            was = {}
        if new:
            # one plugin says that a value is unchanged, the other one says nothing
            row = {**dict.fromkeys(was, UNCHANGED), **dict(new)} if self.omits else dict(new)
            for column, value in row.items():
                if value == UNCHANGED:
                    self.unchanged += 1
                    row[column] = was.get(column, "missing")
            self.rows[row["id"]] = row


def test_decoding(names):
    """What standard input says: a table, an operation, and lists of (column, value)."""
    for line in sys.stdin:
        line = line.rstrip("\n")
        words = line.split()
        for name in names:
            prefix = f"table public.{name}: "
            if line.startswith(prefix):
                operation, _, text = line[len(prefix):].partition(": ")
                old, new = (None, None) if operation == "TRUNCATE" else parse(text)
                if operation == "DELETE":
                    old, new = new, []
                yield name, operation, old, new
        if words[:1] in (["PREPARE"], ["ROLLBACK"], ["COMMIT"]):
            yield None, " ".join(words[:2]) if len(words) > 2 else words[0], words[-1], None


def wal2json(names):
    operations = {"I": "INSERT", "U": "UPDATE", "D": "DELETE", "T": "TRUNCATE", "C": "COMMIT"}
    for line in sys.stdin:
        event = json.loads(line)
        operation = operations.get(event["action"])
        if operation == "COMMIT":
            yield None, operation, None, None
        elif event.get("table") in names:
            yield (event["table"], operation, *([(c["name"], c["value"]) for c in event.get(part, [])] for part in ("identity", "columns")))


def decoderbufs(names):
    """Unchanged values look like NULLs, of both tables."""
    operations = {"0": "INSERT", "1": "UPDATE", "2": "DELETE"}
    table = None
    old, new, part = [], [], None
    for line in [*sys.stdin, "txid[]"]:
        if line.startswith("txid["):
            if table in names:
                yield table, operations[operation], old, new
            old, new = [], []
            table = line.partition("table[public.")[2].partition("]")[0]
            operation = line.rpartition("op[")[2].partition("]")[0]
            if operation == "4":
                yield None, "COMMIT", None, None
        elif line.startswith(("OLD TUPLE", "NEW TUPLE")):
            part = old if line.startswith("OLD") else new
        elif line.startswith("column_name["):
            column, value = line[len("column_name["):].split("]", 1)[0], line.split("datum[", 1)[1].rstrip("\n")[:-1]
            if value != "!NOT SET!":
                part.append((column, value))


def debezium(names):
    """Debezium's events, one a line."""
    operations = {"r": "INSERT", "c": "INSERT", "u": "UPDATE", "d": "DELETE", "t": "TRUNCATE"}
    transaction = None
    for line in sys.stdin:
        event = json.loads(line)
        source = event["source"]
        if transaction not in (None, source["txId"]):
            yield None, "COMMIT", None, None
        transaction = source["txId"]
        if source["table"] in names:
            yield (source["table"], operations[event["op"]],
                   *([(c, UNCHANGED if v == "__debezium_unavailable_value" else v) for c, v in (event.get(part) or {}).items() if v is not None]
                     for part in ("before", "after")))
    yield None, "COMMIT", None, None


PLUGINS = {"debezium": debezium, "test_decoding": test_decoding, "wal2json": wal2json, "decoderbufs": decoderbufs}


def main():
    plugin, *names = sys.argv[1:]
    replicas = {name: Replica(plugin != "test_decoding") for name in names}
    heap, sliced = replicas.values()
    prepared = {}
    changes = []
    commits = different = 0
    for name, operation, old, new in PLUGINS[plugin](names):
        if name is not None:
            changes.append((replicas[name], operation, old, new))
        elif operation == "PREPARE TRANSACTION":
            # who decodes what was rolled back meanwhile may see any part of it
            prepared[old] = changes
            changes = []
        elif operation == "ROLLBACK PREPARED":
            del prepared[old]
        elif operation.startswith("COMMIT"):
            if operation == "COMMIT PREPARED":
                changes = prepared.pop(old)
            for replica, *change in changes:
                replica.apply(*change)
            for replica in {change[0] for change in changes}:
                replica.commits.append((dict(replica.rows), sorted(replica.olds)))
                replica.olds.clear()
            changes = []
            while heap.commits and sliced.commits:
                commits += 1
                different += is_different(heap.commits.pop(0), sliced.commits.pop(0), commits)
    different += len(heap.commits) + len(sliced.commits)
    print(f"{commits} commits, {heap.changes} and {sliced.changes} changes, "
          f"{heap.unchanged} and {sliced.unchanged} values unchanged, {different} different")


def is_different(heap, sliced, commits):
    olds = heap[1] != sliced[1]
    if olds:
        print(f"# commit {commits}: other old rows")
    heap, sliced = heap[0], sliced[0]
    for key in sorted(set(heap) | set(sliced)):
        a, b = heap.get(key), sliced.get(key)
        if a != b:
            columns = [c for c in set(a or ()) | set(b or ()) if (a or {}).get(c) != (b or {}).get(c)]
            print(f"# commit {commits}: row {key}, columns {columns}:",
                  *(f"{str((r or {}).get(columns[0]))[:60]}" for r in (a, b)))
            return True
    return olds


main()
