#!/usr/bin/env python3
"""compare.py HEAP SLICED: replay test_decoding's output, from standard input, on two tables.

The two tables, HEAP and SLICED, were treated the same.  After each transaction both replicas
must have the same rows, and the changes must have brought the same old rows.  The order of
rows within a transaction may differ, and a value that was written again, but is the same, may
be an unchanged one of the sliced table.  Prints how many changes there were.
"""
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
    def __init__(self):
        self.rows = {}
        self.olds = []
        self.commits = []  # rows, and old ones, that the other table has still to come to
        self.changes = 0
        self.unchanged = 0

    def apply(self, operation, text):
        self.changes += 1
        if operation == "TRUNCATE":
            self.rows.clear()
            return
        old, new = parse(text)
        if operation == "DELETE":
            old, new = new, []
        if old:
            self.olds.append((operation, tuple(old)))
            was = self.rows.pop(dict(old)["id"], {})
        elif operation == "UPDATE":
            was = self.rows.pop(dict(new)["id"], {})
        else:
            was = {}
        if new:
            row = dict(new)
            for column, value in row.items():
                if value == UNCHANGED:
                    self.unchanged += 1
                    row[column] = was.get(column, "missing")
            self.rows[row["id"]] = row


def main():
    names = {f"table public.{name}: ": Replica() for name in sys.argv[1:]}
    heap, sliced = names.values()
    prepared = {}
    changes = []
    commits = different = 0
    for line in sys.stdin:
        line = line.rstrip("\n")
        words = line.split()
        for prefix, replica in names.items():
            if line.startswith(prefix):
                operation, _, text = line[len(prefix):].partition(": ")
                changes.append((replica, operation, text))
        if words[:2] == ["PREPARE", "TRANSACTION"]:
            # who decodes what was rolled back meanwhile may see any part of it
            prepared[words[2]] = changes
            changes = []
        elif words[:2] == ["ROLLBACK", "PREPARED"]:
            del prepared[words[2]]
        elif words[:1] == ["COMMIT"]:
            if words[1:2] == ["PREPARED"]:
                changes = prepared.pop(words[2])
            for replica, operation, text in changes:
                replica.apply(operation, text)
            for replica in {r for r, _, _ in changes}:
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
