#!/usr/bin/python3
"""Transactions of one of many who write to the same rows.

usage: writer.py NUMBER COUNT

Prints a script for psql.  The tables are those of 100_writers.sh.
"""
import random
import sys

NUMBER, COUNT = int(sys.argv[1]), int(sys.argv[2])
R = random.Random(NUMBER)

# Most of what is added is short.
LENGTHS = [1, 1, 5, 5, 20, 20, 100, 300, 700, 3000]


def grow(i):
    """Add to the one row, and note what and where."""
    token = f"<{NUMBER}:{i}:" + "x" * R.choice(LENGTHS) + ">"
    value = R.choice([f"v || '{token}'", f"concat(v, '{token[:3]}', '{token[3:]}')", f"v || '{token[:2]}' || '{token[2:]}'"])
    return (f"WITH u AS (UPDATE hot SET v = {value}, b = b || '{token}' RETURNING octet_length(v)) "
            f"INSERT INTO log SELECT octet_length, '{token}' FROM u;")


def change(i):
    """Do something to some other rows, and to their twins in heap.

    In one statement, with one snapshot: a row that is deleted and inserted again
    meanwhile is there for both tables or for neither.
    """
    new = R.choice([
        f"v = v || '{i}'", f"v = v || '{i}'", f"b = b || '{i}'::bytea", f"b = set_byte(b, {i} % length(b), 7), v = v || {i}",
        f"v = overlay(v PLACING '<{i}>' FROM 1 + {i * 7919} % length(v))", f"v = overlay(v PLACING '' FROM 1 + {i * 7919} % length(v) FOR 9)",
        "v = CASE WHEN length(v) > 100000 THEN right(v, -50000) ELSE v || v END", f"v = '{i}' || left(v, -3)",
        "b = substr(b, 1, 50000) || b", "b = CASE WHEN length(b) > 100000 THEN substr(b, 60000) ELSE b END",
    ])
    which = R.choice([f"id = {i % 12 + 1}", f"id = {R.randrange(12) + 1}", f"id IN ({i % 12 + 1}, {i % 5 + 1})"])
    statement = f"UPDATE @ SET {new} WHERE {which}"
    if R.random() < 0.05:
        statement = f"DELETE FROM @ WHERE id = {i % 12 + 1}"
    elif R.random() < 0.15:
        statement = (f"INSERT INTO @ AS o VALUES ({i % 12 + 1}, repeat('{i},', 2000), 'new') "
                     f"ON CONFLICT (id) DO UPDATE SET v = o.v || 'conflict', b = o.b || excluded.b")
    return f"WITH twin AS ({statement.replace('@', 'h')}) {statement.replace('@', 't')};"


def work(i):
    return R.choice([grow, grow, change])(i)


for i in range(COUNT):
    print("BEGIN" + R.choice(["", "", "", " ISOLATION LEVEL REPEATABLE READ"]) + ";")
    print(work(i))
    for savepoint in range(R.choice([0, 0, 1, 2])):
        print(f"SAVEPOINT s{savepoint};\n{work(i)}")
        print(R.choice(["", f"ROLLBACK TO s{savepoint};", f"RELEASE s{savepoint};"]))
        if R.random() < 0.5:
            print(work(i))
    print(R.choice(["COMMIT;", "COMMIT;", "COMMIT;", "ROLLBACK;"]))
