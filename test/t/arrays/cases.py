#!/usr/bin/python3
"""Statements that read and change parts of arrays, in every way there is.

usage: cases.py SEED COUNT

Prints a script for psql: subscripts and functions with generated arguments, in
SELECT and as new values of an UPDATE, each with its SQLSTATE after it.  It needs
what tables.sql makes.
"""
import random
import sys

SEED, COUNT = int(sys.argv[1]), int(sys.argv[2])
R = random.Random(SEED)

ROWS = ["none", "empty", "short", "small", "medium", "large", "grown", "changed"]
# columns of one dimension, and what their elements are
NUMBERS = {"i": "int", "i2": "int2", "i8": "int8", "f": "float8", "n": "numeric", "d": "natural_number", "l": "int", "ix": "int", "iz": "int"}
TEXTS = {"t": "text", "vc": "varchar", "tx": "text", "tz": "text"}
OTHERS = {"b": "bool", "c": '"char"', "u": "uuid", "ts": "timestamptz", "p": "pair", "m": "macaddr", "tt": "timetz", "j": "jsonb"}
FLAT = {**NUMBERS, **TEXTS, **OTHERS}
DEEP = {"md": ("int", 2), "mt": ("text", 3), "mz": ("text", 2)}
ALL = [*FLAT, *DEEP]
EXTREMES = [-2147483648, -2147483647, 1500000000, 2147483646, 2147483647]


def pick(*choices):
    return R.choice(choices)


def kind(column):
    return FLAT[column] if column in FLAT else DEEP[column][0]


def element(column, depth=1):
    """A new element for the column."""
    if R.random() < 0.12:
        return f"NULL::{kind(column)}"
    if depth > 0 and R.random() < 0.2:
        return fetch(column, depth - 1)
    n = R.randrange(100)
    k = kind(column)
    if k in ("text", "varchar"):
        return pick(f"'word {n}'::{k}", f"repeat('long ', {R.choice([0, 1, 20, 900])})::{k}", f"({fetch(pick('t', 'tx', 'tz'), 0)} || 'x')::{k}",
                    f"left({pick('t', 'tx')}::text, {R.choice([10, 3000])})::{k}")
    return {"int": pick(f"{n}", f"{n}", "id", "k", f"1 / (id - {n % 7 + 1})", f"cardinality({column})"), "int2": f"{n}::int2", "int8": f"{n * 12345678901}::int8",
            "float8": pick(f"{n}.5::float8", "'NaN'::float8", "random() * 0"), "numeric": f"{n}{'0' * (n // 3 % 13)}.12::numeric", "natural_number": pick(f"{n}::natural_number", f"({n} - 50)::natural_number"),
            "bool": pick("true", "id > 5"), '"char"': f"chr({n + 30})::\"char\"", "uuid": f"md5('{n}')::uuid", "timestamptz": f"'epoch'::timestamptz + {n} * interval '1 day'",
            "pair": pick(f"({n}, 'p{n}', '{{1,NULL,{n}}}')::pair", f"({n}, t::text, NULL)::pair"), "macaddr": f"left(md5('{n}'), 12)::macaddr", "timetz": f"'10:00:{n % 60}'::timetz",
            "jsonb": pick(f"to_jsonb({n})", f"jsonb_build_object('a', {n})", "jsonb_build_object('i', i) -> 'i'")}[k]


def array(column, depth=1):
    """Other elements for the column, some of them."""
    k = kind(column)
    if depth > 0 and R.random() < 0.4:
        return pick(part(column, depth - 1), column, f"NULL::{k}[]", f"'{{}}'::{k}[]", f"(SELECT {column} FROM start WHERE name = '{pick(*ROWS)}')")
    return f"ARRAY[{', '.join(element(column, 0) for _ in range(R.choice([1, 1, 2, 3, 5, 8, 9, 40])))}]::{k}[]"


def subscript(column, dimension=1):
    r = R.random()
    if r < 0.35:
        return str(R.choice([1, 2, 3, 7, 8, 9, 64, 65, 100, 300, 899, 900, 901, 2500, 5999, 6000, 6001, 20000, 39999, 40000, 40001, 44000]))
    if r < 0.55:
        return f"array_upper({column}, {dimension}) {pick('+', '-')} {R.choice([0, 0, 1, 1, 2, 3, 9, 70])}"
    if r < 0.65:
        return f"array_lower({column}, {dimension}) {pick('+', '-')} {R.choice([0, 0, 1, 1, 2, 3, 9, 70])}"
    if r < 0.70:
        return f"cardinality({column}) / {R.randrange(1, 9)}"
    if r < 0.78:
        return pick("id", "k", "k", f"volatile({R.randrange(2000)})", f"1 / (id - {R.choice([1, 1, 1, 2, 4, 5, 8])})", f"1 / (id - {R.randrange(1, 9)})", f"(SELECT {R.randrange(100)} + v.id)", "(SELECT max(id) FROM start)", f"{R.randrange(9)}::int2")
    if r < 0.82:
        return pick("NULL", "NULL::int", "CASE WHEN id > 4 THEN id END")
    if r < 0.85:
        return str(R.choice(EXTREMES))
    return str(R.randrange(-5, 700))


def subscripts(column):
    n = DEEP[column][1] if column in DEEP else 1
    if R.random() < 0.08:
        n = R.randrange(1, 7)
    return "".join(f"[{subscript(column, d + 1) if d == 0 or R.random() < 0.2 else R.randrange(0, 4)}]" for d in range(n))


def bound(column, dimension, omit=0.2):
    return "" if R.random() < omit else subscript(column, dimension) if dimension == 1 else pick("1", "2", "3", "0", "5")


def bounds(column):
    n = 1 if column in FLAT else R.randrange(1, DEEP[column][1] + 1)
    if R.random() < 0.06:
        n = R.randrange(1, 7)
    result = []
    for d in range(1, n + 1):
        r = R.random()
        if r < 0.35:            # a short one, that is not empty
            low = subscript(column, d)
            result.append(f"[{low}:{low} + {R.choice([0, 1, 2, 7, 8, 30, 300])}]")
        elif r < 0.42 and n > 1:
            result.append(f"[{bound(column, d, 0)}]")
        else:
            result.append(f"[{bound(column, d)}:{bound(column, d)}]")
    return "".join(result) if ":" in "".join(result) else "[:]"


def fetch(column, depth=0):
    return f"{container(column, depth)}{subscripts(column)}"


def container(column, depth):
    if depth == 0:
        return column
    return pick(column, column, column, f"({changed(column, depth - 1)})", f"(SELECT {column} FROM v x WHERE x.id = v.id)")


def part(column, depth=0):
    return f"({container(column, depth)}){bounds(column)}"


def changed(column, depth=0, top=False):
    """A new value for the column."""
    x = column if depth == 0 else changed(column, depth - 1)
    k = kind(column)
    if column in DEEP:
        row = f"(SELECT {column} FROM start WHERE name = '{pick('small', 'short')}'){pick('[1:1]', '[1:2]', '[2]', '[:]', '[:2][1:2]')}"
        return pick(f"{x} || {row}", f"{row} || {x}", f"array_cat({x}, {row})", f"{x} || {x}",
                    f"{x} || ARRAY[{', '.join(element(column, 0) for _ in range(pick(1, 3, 7, 7)))}]::{k}[]", f"array_append({x}, {element(column, 0)})", f"{part(column)}", f"{row}")
    return pick(
        lambda: f"{x} || {element(column)}", lambda: f"{element(column)} || {x}", lambda: f"array_append({x}, {element(column)})", lambda: f"array_prepend({element(column)}, {x})",
        lambda: f"{x} || {array(column)}", lambda: f"{array(column)} || {x}", lambda: f"array_cat({x}, {array(column)})", lambda: f"array_cat({x}, {x})",
        lambda: f"coalesce({pick('NULL', x)}, {x}, '{{}}')", lambda: f"CASE WHEN {condition(column)} THEN {x} || {element(column)} ELSE {array(column)} || {x} END",
        lambda: part(column), lambda: f"array_remove({x}, {element(column, 0)})", lambda: f"(SELECT {x})", lambda: f"trim_array({x}, {R.randrange(5)})",
        lambda: f"({x})::{k}[]", lambda: f"({x})[:{subscript(column)}] || ({x})[{subscript(column)}:]", lambda: f"nullif({x}, {array(column)})",
        lambda: f"{x} || {element(column)} || {array(column)} || {element(column)}", lambda: f"array_fill({element(column, 0)}, ARRAY[{R.choice([3, 900])}])",
    )()


def condition(column):
    return pick(f"cardinality({column}) > {R.choice([5, 1000, 10000])}", f"{fetch(column)} IS NULL", f"array_length({column}, 1) % 2 = 0")


def reading():
    column = pick(*ALL)
    d = pick("1", "1", "2", "0", "-1", "3", "id", "NULL")
    return pick(
        lambda: fetch(column, R.randrange(2)), lambda: fetch(column), lambda: f"ARRAY[{fetch(column)}, {fetch(column)}]", lambda: part(column, R.randrange(2)), lambda: part(column),
        lambda: f"array_length({column}, {d})", lambda: f"array_upper({column}, {d})", lambda: f"array_lower({column}, {d})", lambda: f"array_ndims({column})",
        lambda: f"array_dims({column})", lambda: f"cardinality({column})", lambda: f"array_dims({changed(column)})", lambda: f"cardinality({part(column)})",
        lambda: f"(SELECT count({column}[x]) FROM generate_series(-5, 1000, {R.choice([7, 50, 93])}) x)", lambda: f"({changed(column, 1)})",
        lambda: f"(p{subscripts('p')}).{pick('x', 'y', 'z')}", lambda: f"(p{subscripts('p')}).z[{R.randrange(4)}]", lambda: f"(SELECT sum(cardinality({column}[x:])) FROM generate_series(1, 9) x)",
    )()


def assignments(column):
    """What follows SET."""
    r = R.random()
    if r < 0.35:
        return f"{column} = {changed(column, pick(0, 0, 1, 2))}"
    if r < 0.40 and column == "p":
        return pick(f"p{subscripts('p')}.x = {R.randrange(9)}", f"p{subscripts('p')}.z[2] = 5", f"p{subscripts('p')}.y = 'set', p{subscripts('p')}.x = NULL")
    if r < 0.70:
        return ", ".join(f"{column}{subscripts(column)} = {element(column)}" for _ in range(pick(1, 1, 1, 2, 3)))
    if r < 0.93:
        return f"{column}{bounds(column)} = {array(column)}"
    return f"{column}{bounds(column)} = {array(column)}, {column}{subscripts(column)} = {element(column)}"


def gentle(column):
    """A change that leaves most of the value as it is."""
    if column in DEEP:
        column = "i"
    n = R.randrange(1, 3000)
    return pick(f"{column}[{n}] = {element(column)}", f"{column} = {column} || {element(column)}", f"{column}[{n}:{n + 1}] = {column}[{n + 5}:{n + 6}]",
                f"{column} = {column}[:{n}] || {element(column, 0)} || {column}[{n}:]")


def update(row, column, sets):
    where = f"WHERE name = '{row}'"
    shown = f"show({column})"
    return pick(
        f"UPDATE v SET {sets} {where} RETURNING {shown}", f"UPDATE v SET {sets} {where} RETURNING {shown}", f"UPDATE v SET {sets} {where} RETURNING {shown}, {fetch(column)}",
        f"UPDATE v SET {sets} FROM (SELECT '{row}' AS one) o WHERE name = one RETURNING {shown}",
        f"WITH u AS (UPDATE v SET {sets} {where} RETURNING *) SELECT {shown}, {reading()} FROM u v")


def in_function(row, column):
    """The same in PL/pgSQL, where variables are expanded arrays."""
    k, n = kind(column), R.randrange(1, 3000)
    return f"""DO $$ DECLARE a {k}[]; e {k}; r v; BEGIN
    SELECT {column} INTO a FROM v WHERE name = '{row}';
    a[{R.randrange(-3, 2000)}] := {element(column, 0).replace('id', '5').replace('k', '5') if k == 'int' else 'a[' + str(n) + ']'};
    UPDATE v SET {column} = {pick('a', f'a || {column}', f'{column} || a', f'a || a[{n}]', f'a[{n}:] || {column}')}, k = coalesce(cardinality(a), 0) % 100 WHERE name = '{row}';
    UPDATE v SET {column}[{n}] = a[{n} + 1] WHERE name = '{row}' RETURNING {column} INTO a;
    {pick('a := a || a[3];', f'SELECT * INTO r FROM v WHERE name = ' + chr(39) + row + chr(39) + '; a := r.' + column + ';', 'e := a[2]; a := a || e;')}
    RAISE NOTICE '% % %', cardinality(a), a[{n}], md5(a::text);
    UPDATE v SET {column} = a WHERE name = '{row}' AND cardinality(a) < 90000;
END $$"""


def main():
    print(f"\\set VERBOSITY terse\n-- seed {SEED}")
    changes = dict.fromkeys(ROWS, 0)
    for _ in range(COUNT):
        row = R.choice(ROWS)
        where = f"WHERE name = '{row}'"
        if R.random() < 0.3:
            print(f"SELECT show({reading()}) FROM v {where};\n\\echo :SQLSTATE")
            continue
        column = R.choice(ALL)
        used = row in ("grown", "changed")
        keep = used and R.random() < 0.4
        if used and not keep:
            print("BEGIN;")
        if R.random() < 0.1 and column in FLAT and column not in ("d", "c", "l"):
            print(f"{in_function(row, column)};")
        elif R.random() < 0.05:
            print(f"MERGE INTO v USING (SELECT {ROWS.index(row) + 1} AS one) s ON v.id = s.one WHEN MATCHED THEN UPDATE SET {assignments(column)};")
        elif R.random() < 0.05:
            print(f"INSERT INTO v (id) VALUES ({ROWS.index(row) + 1}) ON CONFLICT (id) DO UPDATE SET {column}[{R.randrange(900)}] = excluded.{column}[1], k = cardinality(v.{column}) % 50;")
        else:
            print(f"{update(row, column, gentle(column) if keep else assignments(column))};")
        print(f"\\echo :SQLSTATE\nSELECT show({column}), show({fetch(column)}) FROM v {where};")
        # what went through many changes would not come back; the others start anew before all are short
        changes[row] += 1
        if used and not keep:
            print("ROLLBACK;")
        elif not used and changes[row] >= 6:
            changes[row] = 0
            if row != "large":
                print(f"INSERT INTO seen SELECT * FROM v {where};")
            print(f"DELETE FROM v {where};\nINSERT INTO v SELECT * FROM start {where};")
    print("\\pset null '~'")
    for column in ALL:
        print(f"SELECT name, show({column}), array_dims({column}), md5({column}::text), raw({column}) = raw({column}::text::{kind(column)}[]) FROM v ORDER BY id;")


main()
