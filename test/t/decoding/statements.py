#!/usr/bin/env python3
"""statements.py SEED N [dml]: print N random transactions on tables "%T", one a line.

With "dml" the columns stay, and so does what identifies a row.

The reader puts a heap table's name in the place of %T, then a sliced one's.  What the
statements do depends on the rows alone.
"""
import random
import sys

seed, count = int(sys.argv[1]), int(sys.argv[2])
dml = sys.argv[3:] == ["dml"]
rnd = random.Random(seed)
next_id = 1
columns = 0


def value():
    n = rnd.choice([10, 300, 1900, 2500, 5000, 9000, 20000, 60000])
    if rnd.random() < 0.2:
        return f"repeat('{rnd.randrange(100)}', {n})"
    return f"dense({n}, {rnd.randrange(1000)})"


def document():
    n = rnd.choice([1, 20, 200, 1000])
    return f"doc({n}, {rnd.randrange(1000)})"


def where():
    kind = rnd.random()
    if kind < 0.5:
        return f"id = {rnd.randrange(max(1, next_id - 40), next_id + 1)}"
    if kind < 0.9:
        return f"id % {rnd.choice([3, 5, 7, 11])} = {rnd.randrange(3)}"
    return "true"


def change():
    return rnd.choice([
        "n = n + 1", "n = n + 1",
        f"a = {value()}", f"b = {value()}", f"d = {document()}",
        f"a = a || {value()}", f"a = {value()} || a", f"a = a || 'x'", "a = a || 'more'",
        f"a = overlay(a PLACING '{rnd.randrange(1000)}' FROM {rnd.randrange(1, 3000)})",
        f"b = overlay(b PLACING 'inside' FROM {rnd.randrange(1, 1000)})",
        f"d = jsonb_set(d, '{{items,{rnd.randrange(30)},price}}', '{rnd.randrange(10000)}')",
        f"d = jsonb_set(d, '{{items}}', (d->'items') || '{{\"new\": {rnd.randrange(1000)}}}')",
        f"d = d || '{{\"k{rnd.randrange(5)}\": {rnd.randrange(100)}}}'",
        f"d = d #- '{{items,{rnd.randrange(30)}}}'",
        "a = b, b = a", "b = NULL", "a = left(a, 100)", "b = a, n = -1", "a = a, d = d",
    ])


def insert():
    global next_id
    n = rnd.choice([1, 1, 2, 5, 30])
    first, next_id = next_id, next_id + n
    return (f"INSERT INTO %T (id, a, b, d) SELECT i, {value()}, {value()}, {document()} "
            f"FROM generate_series({first}, {next_id - 1}) i")


def statement():
    kind = rnd.random()
    if kind < 0.15:
        return insert()
    if kind < 0.80:
        return f"UPDATE %T SET {change()} WHERE {where()}"
    if kind < 0.88:
        return f"DELETE FROM %T WHERE {where()} AND id % 4 = 1"
    if kind < 0.94:
        return (f"INSERT INTO %T (id, a, b, d) SELECT i, {value()}, {value()}, {document()} "
                f"FROM generate_series({max(1, next_id - 5)}, {next_id - 1}) i "
                f"ON CONFLICT (id) DO UPDATE SET {rnd.choice(['a = excluded.a', 'b = %T.b || excluded.a', 'n = %T.n + 1'])}")
    return f"UPDATE %T SET id = id + 100000 WHERE {where()} AND id < 100000 AND id % 17 = 3"


def block(depth=0):
    parts = []
    for i in range(rnd.choice([1, 1, 2, 4])):
        if depth < 3 and rnd.random() < 0.3:
            name = f"s{depth}"
            parts.append(f"SAVEPOINT {name}")
            parts += block(depth + 1)
            parts.append(rnd.choice(["ROLLBACK TO ", "RELEASE "]) + name)
        else:
            parts.append(statement())
    return parts


def ddl():
    global columns
    kind = rnd.randrange(15)
    if dml and kind in (0, 1, 3, 4, 8):
        return None
    if kind == 0:
        columns += 1
        return [f"ALTER TABLE %T ADD c{columns} text DEFAULT dense({rnd.choice([10, 3000])}, {columns})"]
    if kind == 1 and columns > 0:
        return [f"ALTER TABLE %T DROP IF EXISTS c{rnd.randrange(1, columns + 1)}"]
    if kind == 2:
        return ["TRUNCATE %T"] + block()
    if kind == 3:
        return ["ALTER TABLE %T ALTER n TYPE " + rnd.choice(["int", "bigint"])]
    if kind == 4:
        return [f"ALTER TABLE %T REPLICA IDENTITY {rnd.choice(['FULL', 'DEFAULT'])}"]
    if kind == 5:
        return ["CLUSTER %T USING %P"]
    if kind == 6:
        return ["REINDEX TABLE %T"]
    if kind == 7:
        return block() + ["TRUNCATE %T"] + block()
    if kind == 8:
        return block() + ["ALTER TABLE %T ALTER n TYPE " + rnd.choice(["int", "bigint"])] + block()
    if kind == 9:
        return ["SAVEPOINT s", "TRUNCATE %T", insert(), "ROLLBACK TO s"] + block()
    return None


print("INSERT INTO %T (id, a) VALUES (0, 'first')")
for i in range(count):
    kind = rnd.random()
    parts = ddl() if kind < 0.12 else None
    if parts is None and kind < 0.05:
        print(rnd.choice(["VACUUM %T", "VACUUM FULL %T", "VACUUM (FREEZE) %T", "REINDEX TABLE CONCURRENTLY %T", "ANALYZE %T"]))
        continue
    parts = parts or block()
    if len(parts) > 1 or rnd.random() < 0.1:
        end = rnd.choice(["COMMIT"] * 5 + ["ROLLBACK"])
        if rnd.random() < 0.1 and not any("CLUSTER" in p for p in parts):
            gid = f"%G{i}"
            print("; ".join(["BEGIN"] + parts + [f"PREPARE TRANSACTION '{gid}'"]))
            print(f"{end} PREPARED '{gid}'")
        else:
            print("; ".join(["BEGIN"] + parts + [end]))
    else:
        print(parts[0])
