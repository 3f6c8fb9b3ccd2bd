#!/usr/bin/python3
"""Statements that call the functions which plans for sliced tables exchange.

usage: cases.py SEED COUNT LETTERS

Prints a script for psql: calls with generated arguments, alone and in one
another, in SELECT and as the new values of an UPDATE, each with its SQLSTATE
after it.  It needs what tables.sql makes.  LETTERS are what strings are made of.
"""
import random
import sys

SEED, COUNT, LETTERS = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
R = random.Random(SEED)

ROWS = ["none", "empty", "short", "small", "medium", "large", "grown", "changed"]
TEXTS = ["t", "tx", "tp", "tc", "vc", "dom"]
BYTEAS = ["b", "bx"]

# Around what counts: the ends, row and slice sizes, what int4 can hold.
EDGES = [0, 1, 2, 3, 100, 1976, 2000, 2980, 3000, 8000, 8192, 32767, 32768, 32769, 65536, 131071, 131072, 131073, 300000]
EXTREMES = [-2147483648, -2147483647, 2147483646, 2147483647]


def pick(*choices):
    return R.choice(choices)


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def word():
    return quote("".join(R.choice(LETTERS + "abc;") for _ in range(R.choice([0, 1, 1, 2, 5, 20, 90, 700]))))


def number(value):
    """Where in the value, or how much of it."""
    r = R.random()
    if r < 0.40:
        return pick("", "", "", "-") + str(max(0, R.choice(EDGES) + R.randrange(-2, 3)))
    if r < 0.65:
        return f"{pick('length', 'length', 'octet_length')}({value}) {pick('+', '-')} {R.randrange(4)}"
    if r < 0.75:
        return f"-length({value}) {pick('+', '-')} {R.randrange(3)}"
    if r < 0.85:
        return f"length({value}) / {R.randrange(2, 9)}"
    if r < 0.90:
        return str(R.choice(EXTREMES))
    if r < 0.93:
        return "NULL"
    return str(R.randrange(-50, 3000))


def short_text(depth):
    return pick(word(), word(), word(), word(), "NULL::text", "id::text", f"left({pick(*TEXTS)}, {R.randrange(4000)})",
                f"(SELECT s FROM pool WHERE n = {R.randrange(4)})", text(depth) if depth > 0 else "''")


def as_text(expr, column=None):
    return f"{expr}::text" if column in ("vc", "dom") else expr


def text(depth, column=None):
    """An expression of text about a column."""
    if column is None:
        column = pick(*TEXTS)
    if depth == 0:
        return as_text(column, column)
    x = text(depth - 1 if R.random() < 0.5 else 0, column)
    y = short_text(depth - 1)
    n, m = number(column), number(column)
    return pick(
        lambda: f"({x} || {y})", lambda: f"({y} || {x})", lambda: f"({x} || {R.randrange(1000)})", lambda: f"({x} || {x})",
        lambda: f"concat({x}, {y})", lambda: f"concat({x}, {R.randrange(99)}, NULL, true, {y}, ARRAY[1.5, 2], id)",
        lambda: f"concat(id, {x})", lambda: f"concat({x})", lambda: f"concat(VARIADIC ARRAY[{x}, {y}, 'array'])",
        lambda: f"concat({column}, {column})",
        lambda: f"overlay({x} PLACING {y} FROM {n})", lambda: f"overlay({x} PLACING {y} FROM {n} FOR {m})",
        lambda: f"overlay({x} PLACING {y} FROM {n} FOR {R.randrange(9)})",
        lambda: f"substr({x}, {n})", lambda: f"substr({x}, {n}, {m})", lambda: f"substring({x} FROM {n} FOR {m})",
        lambda: f"substring({x} FROM {n})", lambda: f"left({x}, {n})", lambda: f"right({x}, {n})",
        lambda: f"coalesce({pick('NULL::text', x)}, {x}, {y})",
        lambda: f"CASE WHEN {condition(column)} THEN {x} WHEN id > {R.randrange(9)} THEN {text(depth - 1, column)} ELSE {y} END",
        lambda: f"CASE id WHEN {R.randrange(9)} THEN {x} ELSE {text(depth - 1, column)} END",
        lambda: f"({x})::varchar({pick(1, 3, 1000, 2990, 3000, 3001, 30000, 29999, 400000)})::text",
        lambda: f"({x})::varchar::text", lambda: f"({x})::filed::text", lambda: f"({x} COLLATE \"C\")",
        lambda: f"nullif({x}, {y})", lambda: f"upper({x})", lambda: f"(SELECT {x})",
        lambda: f"overlay(left({x}, {n}) || {y} PLACING {y} FROM {m})", lambda: f"left({x}, {n}) || substr({x}, {m})",
    )()


def data(depth, column=None):
    """The same for bytea."""
    if column is None:
        column = pick(*BYTEAS)
    if depth == 0:
        return column
    x = data(depth - 1 if R.random() < 0.5 else 0, column)
    y = pick(r"'\x00ff10'::bytea", r"'\x'::bytea", r"'\xaa'::bytea", "NULL::bytea", f"substr({pick(*BYTEAS)}, {R.randrange(4000)}, {R.randrange(3000)})",
             f"convert_to({word()}, 'UTF8')", "(SELECT s::bytea FROM pool WHERE n = 1)")
    n, m = number(column), number(column)
    return pick(
        lambda: f"({x} || {y})", lambda: f"({y} || {x})", lambda: f"({x} || {x})",
        lambda: f"overlay({x} PLACING {y} FROM {n})", lambda: f"overlay({x} PLACING {y} FROM {n} FOR {m})",
        lambda: f"overlay({x} PLACING {y} FROM {n} FOR {R.randrange(9)})",
        lambda: f"set_byte({x}, {n}, {pick(0, 1, 255, 256, -1)})", lambda: f"set_bit({x}, {n}, {pick(0, 1, 1, 2)})",
        lambda: f"set_byte({x}, {R.randrange(3000)}, {n})", lambda: f"set_bit({x}, {n}::bigint * 8 + {R.randrange(8)}, 1)",
        lambda: f"substr({x}, {n})", lambda: f"substr({x}, {n}, {m})", lambda: f"substring({x} FROM {n} FOR {m})",
        lambda: f"coalesce({pick('NULL::bytea', x)}, {x}, {y})",
        lambda: f"CASE WHEN get_byte({column}, 0) > 127 THEN {x} ELSE {data(depth - 1, column)} END",
        lambda: f"nullif({x}, {y})", lambda: f"(SELECT {x})",
    )()


def condition(column):
    return pick(f"length({column}) > {R.choice(EDGES)}", f"right({column}, 1) = {word()}", f"substr({column}, 2, 3) < {word()}",
                f"char_length({column}) % 2 = 0")


def reading():
    """An expression that looks at a value without changing it."""
    if R.random() < 0.35:
        column = pick(*BYTEAS)
        n = number(column)
        return pick(f"get_byte({column}, {n})", f"get_bit({column}, {n})", f"get_bit({column}, {n}::bigint * 8)", f"length({data(1, column)})",
                    f"md5(substr({column}, {n}, {number(column)}))", f"get_byte({data(1, column)}, {n})")
    column = pick(*TEXTS)
    n, m = number(column), number(column)
    return pick(f"length({column})", f"char_length({text(1, column)})", f"character_length({column})", f"md5(substr({column}, {n}, {m}))",
                f"md5(substring({column} FROM {n}))", f"md5(right({column}, {n}))", f"substr({column}, {n}, 5)", f"right({column}, 7)",
                f"md5({text(2, column)})", f"md5(left({column}, {n}) || right({text(1, column)}, {m}))")


def gentle(column):
    """A new value that leaves most of the old one as it is."""
    n, new = R.randrange(1, 100000), word()
    if column in BYTEAS:
        return pick(f"{column} || convert_to({new}, 'UTF8')", f"set_byte({column}, {n} % length({column}), {n % 256})",
                    f"overlay({column} PLACING convert_to({new}, 'UTF8') FROM {n} % length({column}) + 1)")
    x = as_text(column, column)
    return pick(f"{x} || {new}", f"overlay({x} PLACING {new} FROM {n} % length({column}) + 1 FOR {R.randrange(20)})", f"concat({x}, {new})")


def main():
    print(f"\\set VERBOSITY terse\n-- seed {SEED}")
    changes = dict.fromkeys(ROWS, 0)
    for _ in range(COUNT):
        row = R.choice(ROWS)
        where = f"WHERE name = '{row}'"
        if R.random() < 0.3:
            print(f"SELECT {reading()} FROM v {where};\n\\echo :SQLSTATE")
            continue
        columns = R.sample(TEXTS + BYTEAS, R.choice([1, 1, 1, 2]))
        depth = R.choice([1, 1, 1, 2, 3])
        used = row in ("grown", "changed")
        keep = used and R.random() < 0.3
        sets = ", ".join(f"{c} = {gentle(c) if keep else data(depth, c) if c in BYTEAS else text(depth, c)}" for c in columns)
        digests = ", ".join(f"octet_length({c}), md5({c})" for c in columns)
        if used and not keep:
            print("BEGIN;")
        print(f"UPDATE v SET {sets} {where} RETURNING {digests};\n\\echo :SQLSTATE\nSELECT {digests} FROM v {where};")
        # what went through many changes would not come back; the others start anew before all get short
        changes[row] += len(columns)
        if used and not keep:
            print("ROLLBACK;")
        elif not used and changes[row] >= 3:
            changes[row] = 0
            print(f"DELETE FROM v {where};\nINSERT INTO v SELECT * FROM start {where};")
    for row in ROWS:
        print(f"SELECT md5(v::text) FROM v WHERE name = '{row}';")


main()
