#!/usr/bin/python3
"""Statements that read and change hstores in every way that sliced_hstore exchanges.

usage: cases.py SEED COUNT

Prints a script for psql that needs what tables.sql makes: expressions alone and in
one another, in SELECT and as new values of an UPDATE, each with its SQLSTATE after it.
"""
import random
import sys

SEED, COUNT = int(sys.argv[1]), int(sys.argv[2])
R = random.Random(SEED)
ROWS = ["none", "empty", "short", "few", "medium", "many", "large", "changed"]


def pick(*choices):
    made = R.choice(choices)
    return made() if callable(made) else made


def quote(text):
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def name():
    """A key, mostly one that some rows have."""
    n = R.choice([R.randrange(1, 12), R.randrange(1, 310), R.randrange(1, 910), R.randrange(1, 20010)])
    return R.choice(["k" * (n % 5) + str(n)] * 12 + ["long", "b", "longest", "zz", "x5", "new7", "", "none", "k" * 60, "ü", "0", "kkkkkkk", None])


def key():
    return pick(quote(name()), quote(name()), quote(name()), quote(name()) + "::text", "name", "'k' || id", "(SELECT 'k' || min(n) FROM pool)", "NULL::text")


def word():
    return "".join(R.choice("abc xyzü=>\"\\,") for _ in range(R.choice([0, 1, 5, 7, 7, 30, 400, 3000])))


def value():
    return pick(quote(word()), quote(word()), quote(word()), "NULL", "name", "repeat('long', id * 1000)", f"h -> {key()}")


def keys():
    n = R.choice([0, 1, 1, 2, 3, 9, 60])
    if n and R.random() < 0.05:
        return f"ARRAY[ARRAY[{key()}], ARRAY[{key()}]]"
    if R.random() < 0.04:
        return pick("NULL::text[]", "akeys(h)", "'[5:6]={k1,b}'::text[]")
    return f"ARRAY[{', '.join(key() for _ in range(n))}]::text[]"


def other():
    """An hstore to compare with or to add."""
    n = R.choice([0, 1, 1, 2, 5, 40])
    literal = ", ".join(f'"{k}"=>' + R.choice(["NULL", '"' + word().replace("\\", "\\\\").replace('"', '\\"') + '"']) for k in (name() or "" for _ in range(n)))
    return pick(quote(literal) + "::hstore", quote(literal) + "::hstore", f"hstore({key()}, {value()})", f"hstore({key()}, h -> {key()})", f"slice(h, {keys()})", f"slice(d, {keys()})",
                f"(SELECT p FROM pool WHERE n = {R.randrange(4)})", "h", "d", "NULL::hstore", f"hstore({keys()}, NULL)")


def expression(depth, column):
    """The column after so many changes."""
    if depth == 0:
        return column
    x = expression(depth - 1 if R.random() < 0.7 else 0, column)
    return pick(
        lambda: f"({x} || {other()})", lambda: f"({x} || {other()})", lambda: f"({other()} || {x})", lambda: f"hs_concat({x}, {other()})",
        lambda: f"({x} - {key()}::text)", lambda: f"delete({x}, {key()}::text)", lambda: f"({x} - {keys()})", lambda: f"delete({x}, {keys()})",
        lambda: f"({x} - {other()})", lambda: f"delete({x}, {other()})", lambda: f"coalesce({x}, {other()})", lambda: f"slice({x}, {keys()})",
        lambda: f"CASE WHEN {column} ? {key()} THEN {x} ELSE {expression(depth - 1, column)} END", lambda: f"(SELECT {x})", lambda: f"{x}::tagged::hstore",
        lambda: f"{x}::text::hstore")


def reading():
    where = R.choice(["h", "h", "h", "d", "d"])
    where = expression(1, where) if R.random() < 0.2 else where
    return pick(
        lambda: f"{where} -> {key()}", lambda: f"{where} -> {key()}", lambda: f"fetchval({where}, {key()})", lambda: f"({where})[{key()}]", lambda: f"{where} -> {keys()}",
        lambda: f"slice_array({where}, {keys()})", lambda: f"slice({where}, {keys()})", lambda: f"{where} ? {key()}", lambda: f"exist({where}, {key()})",
        lambda: f"isexists({where}, {key()})", lambda: f"defined({where}, {key()})", lambda: f"isdefined({where}, {key()})", lambda: f"{where} ?| {keys()}", lambda: f"{where} ?& {keys()}",
        lambda: f"{where} @> {other()}", lambda: f"{other()} <@ {where}", lambda: f"{other()} @> {where}", lambda: f"{where} <@ {other()}", lambda: f"{where} -> ({where} -> {key()})",
        lambda: f"(SELECT count(*) FROM each({where}) WHERE key = {key()})", lambda: f"array_length(akeys({where}), 1)", lambda: f"{where} = {other()}")


def assignments(column):
    return ", ".join(f"{column}[{key()}] = {value()}" for _ in range(R.choice([1, 1, 2, 3])))


def whole(column):
    """A new value that the planner cannot see to be computed from the old one."""
    return f"{column} = (SELECT hstore(array_agg(key), array_agg({pick('value', 'value', quote(word()), 'value || 1')})) FROM each({expression(1, column)}) WHERE key <> {key()})"


def main():
    print(f"\\set VERBOSITY terse\n-- seed {SEED}")
    for _ in range(COUNT):
        where = f"WHERE name = '{R.choice(ROWS)}'" if R.random() < 0.9 else "WHERE id < 6"
        if R.random() < 0.45:
            print(f"SELECT id, show(({reading()})::text) FROM v {where} ORDER BY id;\n\\echo :SQLSTATE")
            continue
        depth = R.choice([1, 1, 1, 2, 3])
        column = R.choice(["h", "h", "d"])
        sets = pick(lambda: f"{column} = {expression(depth, column)}", lambda: f"{column} = {expression(depth, column)}", lambda: assignments(column),
                    lambda: f"h = {expression(1, 'h')}, d = {expression(1, 'd')}", lambda: whole(column))
        back = R.random() < 0.4
        # rows come back in any order
        returning = f"RETURNING id, show(h::text), {reading()} IS NULL" if "name" in where else ""
        print(("BEGIN;\n" if back else "") + f"UPDATE v SET {sets} {where} {returning};\n\\echo :SQLSTATE\n"
              f"SELECT id, md5(hstore_send(h)), hstore_hash_extended(h, 0), hstore_hash(d) FROM v {where} ORDER BY id;" + ("\nROLLBACK;" if back else ""))
        if R.random() < 0.05:
            print("DELETE FROM v;\nINSERT INTO v TABLE start;")


main()
