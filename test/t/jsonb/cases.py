#!/usr/bin/python3
"""Statements that read and change parts of documents, in every way SQL has.

usage: cases.py SEED COUNT DIRECTORY [FOLDER]

Writes to DIRECTORY "documents", for COPY, and "cases.sql", a script for psql that
needs what tables.sql makes.  Paths are taken from the documents, so most lead
somewhere.  With FOLDER the documents are JSON files found there.

Table "v" has all rows, "w" the smaller ones, with triggers, constraints and
indexes.  Rows of odd number start anew after some changes.  The others keep
what they become, so nothing but gentle changes is done to them, or is rolled
back.  Expressions call the row "v" whatever it is: a table, or a variable of
PL/pgSQL.
"""
import copy
import json
import os
import random
import sys
from itertools import takewhile

from documents import COLUMNS, LARGE, Maker, Num, rows, to_text

SEED, COUNT, DIRECTORY = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ROWS = rows(SEED, *sys.argv[4:])
MAJOR = int(os.environ.get("PG_MAJOR", "15"))
R = random.Random(SEED)
MAKER = Maker(SEED + 1)

LENGTHS = {(row, c): len(to_text(d)) for row, documents in ROWS.items() for c, d in documents.items()}
SMALL = list(takewhile(lambda row: all(LENGTHS[row, c] < LARGE for c in ROWS[row]), ROWS))
WEIGHTS = [10 if row in SMALL else 4 if max(LENGTHS[row, c] for c in ROWS[row]) < 500000 else 2 for row in ROWS]
# What is done to many rows is done to those before this one.
FEW = SMALL[-1] + 1
ORDINARY = ", ".join(["id", "name", "n", "k"] + COLUMNS)


def pick(*choices):
    return R.choice(choices)


def chance(p):
    return R.random() < p


# ---- literals ----

def quote(text):
    if all(c >= " " and c != "\x7f" for c in text):
        return "'" + text.replace("'", "''") + "'"
    # nothing that would break the line
    return "E'" + "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in text.replace("\\", "\\\\").replace("'", "\\'")) + "'"


def jsonb(value):
    return quote(to_text(value, chance(0.2))) + "::jsonb"


def text_array(elements):
    if chance(0.6):
        quoted = ", ".join("NULL" if e is None else quote(str(e)) for e in elements)
        return f"ARRAY[{quoted}]::text[]"
    return quote("{" + ",".join("NULL" if e is None else '"' + str(e).replace("\\", "\\\\").replace('"', '\\"') + '"' for e in elements) + "}") + \
        pick("", "", "::text[]")


# ---- where in a document ----

def step_into(doc):
    if isinstance(doc, dict):
        return pick(*doc)
    n = len(doc)
    return min(pick(0, 1, n - 1, n - 2, 31, 32, 33, 64, R.randrange(n), R.randrange(n)) % max(n, 1), n - 1)


def walk(doc, on=0.75):
    """A path that exists, and what is there."""
    path = []
    while isinstance(doc, (dict, list)) and doc and (chance(on) or not path):
        step = step_into(doc)
        path.append(step - len(doc) if isinstance(step, int) and chance(0.2) else step)
        doc = doc[step]
    return path, doc


def near(key):
    """Almost the key, where it may be in the order of keys."""
    return pick(key + "x", key[:-1], key[:-1] + chr((ord(key[-1:] or "a") + pick(1, -1)) % 0xD7FF or 1), key.upper(), "~" * len(key), "", "k", key * 2)


def spoil(path):
    """The path or something that is wrong with it."""
    if chance(0.75):
        return path
    path = list(path)
    kind = pick("end", "end", "beyond", "inside", "cut", "none")
    odd = pick(0, -1, 5, 32, -33, "a", "id", "", "1x", " 1", "+1", "01", "2147483648", "-2147483649", "99999999999", "1.0", MAKER.key(), None)
    if kind == "end" and path:
        path[-1] = near(path[-1]) if isinstance(path[-1], str) else pick(path[-1] + R.randrange(-3, 4), path[-1] * 3, 1000000, -1000000, 2147483647, -2147483648, odd)
    elif kind == "beyond":
        path.append(odd)
    elif kind == "inside":
        path[R.randrange(len(path) + 1):] = [odd] + path[len(path) // 2:]
    elif kind == "cut":
        path = path[:-1]
    elif chance(0.3):
        path = []
    return path


def array_path(where, doc, on=0.75):
    """Path as text[]."""
    if chance(0.04):
        return f"way({where}, {R.randrange(1000)})"
    path = spoil(walk(doc, on)[0])
    if path and chance(0.05):
        return pick(f"({text_array(path[:-1])}::text[] || v.k)", f"string_to_array({quote('.'.join(map(str, path)))}, '.')", f"ARRAY[v.k, {R.randrange(3)}::text]",
                    "NULL::text[]", f"ARRAY[{', '.join(f'volatile({quote(str(e))})' for e in path)}]")
    return text_array(path)


def one_by_one(path):
    return ", ".join("NULL" if s is None else quote(str(s)) for s in path) or "VARIADIC '{}'"


def step(operator, key):
    if key is None:
        return f" {operator} NULL::{pick('text', 'int')}"
    if isinstance(key, int) and -2147483648 <= key <= 2147483647:
        return f" {operator} {pick(f'{key}', f'{key}', f'{key}', quote(str(key)), f'volatile({key})') if key >= 0 else f'({key})'}"
    return f" {operator} {pick(quote(str(key)), quote(str(key)), quote(str(key)), quote(str(key)), quote(str(key)) + '::text', f'volatile({quote(str(key))})')}"


def arrows(where, path, last="->"):
    """Also in parts: (v.doc -> 'a') #> '{b,c}'."""
    cut = R.randrange(len(path)) if len(path) > 2 and chance(0.15) else 0
    if cut:
        where = f"({where} #> {text_array(path[:cut])})"
    path = path[cut:] or ["nothing"]
    return f"({where}" + "".join(step("->", s) for s in path[:-1]) + step(last, path[-1]) + ")"


def subscripts(path):
    return "".join("[NULL]" if s is None else f"[{s}]" if isinstance(s, int) else f"[{quote(s)}]" for s in path)


# ---- jsonpath ----

def accessors(path):
    made = ""
    for s in path:
        if isinstance(s, int):
            made += pick(f"[{s}]", f"[{s}]", f"[{max(s, 0)}]", "[*]", f"[last{f' - {abs(s)}' if s else ''}]", f"[{max(s, 0)} to {max(s, 0) + R.randrange(3)}]", f"[{max(s, 0)}, last, 1]", ".*")
        elif s is not None:
            made += pick(*["." + json.dumps(s, ensure_ascii=chance(0.2))] * 8, ".*", ".**{1 to 2}")
    return made


METHODS = [".boolean()", ".string()", ".integer()", ".bigint()", ".number()", ".decimal(6, 2)", ".date()", ".timestamp(3)", ".string().type()"] if MAJOR >= 17 else []
METHODS += [".lower()", ".upper()", '.replace("a", "bb")', '.split_part("e", 2)', ".btrim()", '.ltrim("a")', ".initcap()"] if MAJOR >= 19 else []


def jsonpath(doc):
    path, end = walk(doc)
    where, other = "$" + accessors(spoil(path)), "$" + accessors(walk(doc)[0])
    literal = to_text(end) if not isinstance(end, (dict, list)) and not isinstance(end, str) else json.dumps(end[:20], ensure_ascii=False) if isinstance(end, str) else "1"
    made = pick(*[where] * 8, where + pick(".size()", ".type()", ".double()", ".floor()", ".abs()", ".keyvalue()", ".keyvalue().id", ".ceiling()", ".datetime()", *METHODS),
                where + f" ? (@ {pick('==', '!=', '<', '>', '<=')} {literal})", where + f"[*] ? (@ > {R.randrange(1000)})", where + " ? (exists(@.a) || @.id > 3)",
                where + ' ? (@ starts with "a")', where + ' ? (@ like_regex "^[a-k]" flag "i")', where + " == $x", where + f" > {R.randrange(1000)}", where + " + 1", f"-{where}",
                f"exists({where})", f"({where} == {literal}) is unknown", where + " ? (@ == $x)", f"{where} == {other}", f"{where} + {other}", f"{where} ? (@ != {other})", f"$ ? (exists({where}) && {other} > 0)",
                f'{where} like_regex "a" || !({other} starts with "b")', f"{where}[{other}]", f"$[0 to last] ? ({other} == {literal})", f"{where}.** ? (@ == {literal})", f"$.**{{{R.randrange(4)} to last}}",
                "$.tags[*]", "$.id", "$.*.size()", "$[last]", "$.items[*].n ? (@ > 3)", "$.items[*] ? (@.n == 2).name", "$[*] ? (@.type() == \"number\")", "$.tags[$.tags.size() - 1]")
    return quote(pick("", "", "lax ", "strict ") + made) + "::jsonpath"


# ---- expressions that read ----

def shown(expr):
    return f"show({expr})"


def part_of(doc):
    """A document that it may contain."""
    if isinstance(doc, dict) and doc:
        return {k: part_of(doc[k]) for k in R.sample(list(doc), min(len(doc), pick(0, 1, 1, 2)))}
    if isinstance(doc, list) and doc:
        return [part_of(doc[step_into(doc)]) for _ in range(pick(0, 1, 1, 2))]
    if isinstance(doc, (str, Num)) and len(doc) > 300 or chance(0.1):
        return MAKER.scalar()
    return doc


def at(where, doc):
    """The document or a part of it."""
    if chance(0.4):
        return where, doc
    if chance(0.05):
        return pick(f"coalesce({where}, '1')", f"(ARRAY[{where}, v.doc])[1]", f"(SELECT {where})", f"CASE WHEN v.n >= 0 THEN {where} ELSE v.doc END"), doc
    path, end = walk(doc)
    return pick(arrows(where, path), arrows(where, path), f"({where} #> {text_array(path)})", f"({where}){subscripts(path)}"), end


def keys_of(doc):
    words = [near("key")] if not isinstance(doc, dict) else list(doc)[:50] or ["none"]
    if isinstance(doc, list):
        words += [s for s in doc[:40] if isinstance(s, str)]
    return [s for s in (R.choice(words) if chance(0.7) else near(R.choice(words)) for _ in range(R.randrange(5))) if s not in ("", None)] or ["id"]


def quiet(where, doc):
    """An expression that raises no error, of a type to group by."""
    path = walk(doc)[0]
    there, inner = at(where, doc)
    key = keys_of(inner)
    return pick(
        lambda: shown(arrows(where, path)), lambda: shown(arrows(where, path, "->>")), lambda: shown(arrows(where, path)), lambda: shown(arrows(where, path, "->>")),
        lambda: shown(f"{where} #> {array_path(where, doc)}"), lambda: shown(f"{where} #>> {array_path(where, doc)}"),
        lambda: shown(f"({where}){subscripts(path)}"), lambda: shown(f"{where} ->> v.k"), lambda: shown(f"{where} -> v.n"),
        lambda: shown(f"jsonb_extract_path({where}, {one_by_one(path)})"),
        lambda: shown(f"jsonb_extract_path_text({where}, VARIADIC {text_array(path)})"),
        lambda: f"({there} ? {quote(key[0])})", lambda: f"({there} ?| {text_array(key + [None])})", lambda: f"({there} ?& {text_array(key)})",
        lambda: f"jsonb_exists({there}, {quote(key[0])})",
        lambda: f"jsonb_typeof({there})", lambda: f"({there} @> {jsonb(part_of(inner))})", lambda: f"({jsonb(part_of(inner))} <@ {there})",
        lambda: f"jsonb_contains({there}, {arrows(where, path)})",
        lambda: f"({there} @? {quote('$' + accessors(path))})", lambda: f"jsonb_path_exists({there}, {jsonpath(inner)}, silent => true)",
        lambda: f"({there} @@ {jsonpath(inner)})", lambda: f"({there} = {arrows(where, path)})", lambda: f"({there} < {jsonb(part_of(inner))})",
        lambda: shown(f"jsonb_path_query_first({there}, {jsonpath(inner)}, '{{\"x\": 1}}', true)"),
        lambda: shown(f"jsonb_strip_nulls({there})"), lambda: f"md5(jsonb_pretty({there}))", lambda: f"jsonb_hash({there})",
        lambda: f"CASE WHEN {where} ? {quote(key[0])} THEN {shown(arrows(where, path))} ELSE {shown(f'{where} -> 0')} END",
        lambda: f"CASE jsonb_typeof({there}) WHEN 'object' THEN (SELECT count(*) FROM jsonb_object_keys({there})) WHEN 'array' THEN jsonb_array_length({there}) END",
        lambda: f"coalesce({shown(arrows(where, path + ['none']))}, {shown(arrows(where, path))})", lambda: f"({arrows(where, path, '->>')} IS NULL)",
    )()


def sql_json(where, doc):
    """What SQL has for itself: any of it may end in an error."""
    there, inner = at(where, doc)
    if MAJOR < 17 or chance(0.1):
        return f"({there} IS {pick('', 'NOT ')}JSON {pick('VALUE', 'OBJECT', 'ARRAY', 'SCALAR', 'OBJECT WITH UNIQUE KEYS')})"
    path = pick(jsonpath(inner), quote("$" + accessors(walk(inner)[0])), quote("$" + accessors(walk(inner)[0])))
    passing = pick("", "", " PASSING 1 AS x", f" PASSING {where} AS x, v.k AS k", f" PASSING {arrows(where, walk(doc)[0])} AS x")
    type_ = pick("", "", " RETURNING text", " RETURNING int", " RETURNING numeric", " RETURNING jsonb", " RETURNING varchar(5)", " RETURNING json", " RETURNING bool")
    empty, error = (pick("", "", f" {kind} ON {when}", f" DEFAULT {default} ON {when}") for kind, when, default in
                    (("ERROR", "EMPTY", "'7'"), ("ERROR", "ERROR", quote(str(R.randrange(3))))))
    wrapper = pick("", "", " WITH WRAPPER", " WITH CONDITIONAL WRAPPER", " OMIT QUOTES", " KEEP QUOTES")
    column = f"x {pick('text', 'int', 'jsonb')} PATH {quote('$' + accessors(walk(inner)[0])[:60])}"
    below = quote(pick("$.*", "$[*]", "$.tags[*]", "$"))
    return pick(
        *[lambda: shown(f"JSON_VALUE({there}, {path}{passing}{type_}{empty}{error})::text")] * 3, *[lambda: shown(f"JSON_QUERY({there}, {path}{passing}{type_}{wrapper}{empty}{error})::text")] * 2,
        lambda: f"JSON_EXISTS({there}, {path}{passing}{pick('', ' ERROR ON ERROR', ' UNKNOWN ON ERROR')})",
        lambda: f"(SELECT count(*) || md5(string_agg(r::text, ',' ORDER BY n)) FROM JSON_TABLE({there}, {quote('$' + accessors(walk(inner)[0]))}{passing} COLUMNS (n FOR ORDINALITY, a jsonb PATH '$.a', NESTED {below} COLUMNS (y text PATH '$', e bool EXISTS PATH '$.id')){pick('', ' ERROR ON ERROR')}) r)",
        lambda: f"(SELECT count(*) || md5(string_agg(r::text, ',')) FROM JSON_TABLE({there}, {below}{passing} COLUMNS ({column}, z text PATH '$.name' DEFAULT 'none' ON EMPTY)) r)",
        lambda: f"(SELECT string_agg(JSON_VALUE({where}, '$.id') || {shown('r.y')}, ',') FROM JSON_TABLE({there}, {below} COLUMNS (y jsonb PATH '$')) r)",
    )()


def reading(where, doc):
    """Any expression, though it may end in an error."""
    there, inner = at(where, doc)
    path = spoil(walk(doc)[0])
    arguments = pick("", "", ", '{\"x\": 1}'", ", vars => '{\"x\": \"a\"}', silent => true", ", '[]'")
    tz = pick("", "", "_tz")
    each = pick("jsonb_each", "jsonb_each_text")
    elements = pick("jsonb_array_elements", "jsonb_array_elements_text")
    return pick(
        *[lambda: quiet(where, doc)] * 7, *[lambda: sql_json(where, doc)] * (6 if MAJOR >= 17 else MAJOR - 15),
        lambda: shown(arrows(where, path)), lambda: shown(arrows(where, path, "->>")), lambda: shown(f"({where}){subscripts(path)}"),
        lambda: f"{arrows(where, path, '->>')}::numeric + 1", lambda: f"{arrows(where, path)}::{pick('int', 'bool', 'numeric', 'float8', 'bigint')}",
        lambda: shown(f"jsonb_extract_path{pick('', '_text')}({where}, {one_by_one(path)})"),
        lambda: f"jsonb_array_length({there})", lambda: shown(f"jsonb_object_keys({there})"),
        lambda: f"(SELECT count(*) || md5(string_agg(k, ',')) FROM jsonb_object_keys({there}) k)",
        lambda: f"(SELECT count(*) || md5(string_agg(e::text, ',')) FROM {elements}({there}) e)",
        lambda: f"(SELECT {shown('e')} FROM {elements}({there}) WITH ORDINALITY s(e, i) WHERE i = {pick(1, 2, 32, 33, 65)})",
        lambda: f"(SELECT count(*) || md5(string_agg(concat(key, value), ',')) FROM {each}({there}) s(key, value))",
        lambda: f"(SELECT {shown('value')} FROM {each}({there}) s(key, value) WHERE key = {quote(keys_of(inner)[0])})",
        lambda: shown(f"jsonb_path_query{tz}({where}, {quote('$' + accessors(path))}{arguments})"),
        lambda: f"jsonb_path_exists{tz}({there}, {jsonpath(inner)}{arguments})", lambda: f"jsonb_path_match{tz}({there}, {jsonpath(inner)}{arguments})",
        lambda: shown(f"jsonb_path_query{tz}({there}, {jsonpath(inner)}{arguments})"), lambda: shown(f"jsonb_path_query_array{tz}({there}, {jsonpath(inner)}{arguments})"),
        lambda: shown(f"jsonb_path_query_first{tz}({there}, {jsonpath(inner)}{arguments})"),
        lambda: shown(f"to_jsonb({there})"), lambda: f"(SELECT {shown('r.a')} || r.id FROM jsonb_to_record({there}) r(id text, a jsonb, note text))",
        lambda: f"(SELECT count(r.n) || md5(string_agg(r::text, ',')) FROM jsonb_to_recordset({there}) r(n int, name text, tags jsonb))",
        lambda: shown(f"jsonb_populate_record(NULL::parts, {there})::text"),
    )()


# ---- expressions that change ----

def value(row, depth=1):
    column = pick(*ROWS[row])
    doc = ROWS[row][column]
    size = pick(0, 0, 5, 40, 300, 2100, 9000)
    return pick(
        *[lambda: jsonb(MAKER.scalar())] * 4, *[lambda: jsonb(MAKER.small())] * 3, lambda: jsonb(MAKER.string(size)), lambda: jsonb(MAKER.tree(pick(100, 500, 3000))),
        lambda: f"to_jsonb(repeat({quote(MAKER.key())}, {R.randrange(3000)}))", lambda: "to_jsonb(v.n)", lambda: "to_jsonb(v.k)", lambda: "NULL::jsonb", lambda: "'null'::jsonb",
        lambda: f"jsonb_build_object('name', v.name, 'n', v.n, {quote(MAKER.key())}, {jsonb(MAKER.small())})", lambda: f"(SELECT j FROM pool WHERE n = {R.randrange(7)})",
        lambda: arrows(f"v.{column}", walk(doc)[0]), lambda: f"v.{column}", lambda: f"jsonb_build_array(v.k, {arrows(f'v.{column}', walk(doc)[0])})",
    )()


def container(doc):
    """A path to an object or an array in the document, not always a long one."""
    path, end = walk(doc, pick(0.2, 0.6, 0.9))
    while path and not isinstance(end, (dict, list)):
        path = path[:-1]
        end = doc
        for s in path:
            end = end[s]
    if chance(0.5):
        for s in doc if isinstance(doc, dict) else range(len(doc)) if isinstance(doc, list) else []:
            if isinstance(doc[s], (dict, list)) and len(to_text(doc[s])) > max(len(to_text(end)) if path else 0, 200):
                path, end = [s], doc[s]
    return path, end


def part(where, path, end):
    """The part of the document there, in one of the ways to write that."""
    empty = "'{}'" if isinstance(end, dict) else "'[]'"
    made = pick(arrows(where, path), arrows(where, path), f"({where} #> {text_array(path)})", f"({where}){subscripts(path)}",
                f"jsonb_extract_path({where}, {one_by_one(path)})") if path else where
    return pick(made, made, made, f"coalesce({made}, {empty})", f"coalesce({made}, {empty})", f"CASE WHEN v.n >= 0 THEN {made} ELSE {empty} END",
                f"CASE jsonb_typeof({made}) WHEN 'array' THEN {made} WHEN 'object' THEN {made} END")


def part_edit(where, doc, new, depth=0):
    """A change of a part of the document: (the part's path, expression)."""
    path, end = container(doc)
    x = part(where, path, end)
    for _ in range(pick(1, 1, 1, 2)):
        inner = walk(end)[0] if isinstance(end, (dict, list)) and end else ["a"]
        if depth < 2 and path and isinstance(end, (dict, list)) and end and chance(0.35):
            inner, y = part_edit(x, end, new, depth + 1)
        else:
            y = new()
        other, there = container(doc)
        last = pick(*end) if isinstance(end, dict) and end else "a"
        index = pick(0, 1, -1, 31, 32, 33, R.randrange(100))
        x = pick(*[f"({x} || {y})"] * 5, f"({y} || {x})", f"({y} || {x})", f"({x} || jsonb_build_array({y}))", f"({x} || jsonb_build_object({quote(last)}, {y}))",
                 f"({x} || jsonb_build_object({quote(MAKER.key())}, {y}, {quote(last)}, {part(where, other, there)}))", f"({x} || {part(where, other, there)})",
                 f"({part(where, other, there)} || {x})", f"({x} - {quote(last)})" if isinstance(end, dict) else f"({x} - {index})", f"({x} #- {text_array(inner or ['a'])})",
                 f"({x} - {text_array([last, 'id'])}::text[])", f"jsonb_set({x}, {text_array(inner or ['a'])}, {y}{pick('', ', false')})",
                 f"jsonb_set({x}, {text_array((inner or ['a'])[:-1] + [pick('new', 0, -1, 1000)])}, {y})",
                 f"jsonb_insert({x}, {text_array((inner or ['a'])[:-1] + [pick('new', 0, -1, 1000, index)])}, {y}{pick('', ', true')})",
                 f"jsonb_set({x}, {text_array(inner or ['a'])}, {part(where, other, there)})", f"jsonb_set_lax({x}, {text_array(inner or ['a'])}, {pick(y, 'NULL')})", x)
    return path, x


def edit_by_part(x, where, doc, new):
    """A part of the document is changed and put into x, mostly where it was."""
    path, y = part_edit(where, doc, new)
    if not path:
        return y
    other = container(doc)[0] or path
    built = y
    for s in reversed(path):
        built = f"jsonb_build_object({quote(str(s))}, {built})" if isinstance(s, str) else f"jsonb_build_array({built})"
    return pick(*[f"jsonb_set({x}, {text_array(path)}, {y}{pick('', '', ', true', ', false')})"] * 4, f"jsonb_set({x}, {text_array(path)}, coalesce({y}, '[]'))",
                f"jsonb_set({x}, {text_array(other)}, {y})", f"jsonb_insert({x}, {text_array(other[:-1] + [pick('new', 'new1', 0, -1)])}, {y})", f"({x} || {built})", f"({x} || {built})",
                f"({x} || jsonb_build_object({quote(str(path[-1]))}, {y}, 'also', v.n, {quote(str(other[-1]))}, {y}))",
                f"jsonb_build_object({quote(MAKER.key())}, v.k, {quote(str(path[-1]))}, {y}, 'all', {x})", y, f"(jsonb_set({x}, {text_array(path)}, {y}) #- {text_array(other)})")


def edit(row, column, depth):
    """The column after 'depth' changes or so."""
    doc, where = ROWS[row][column], f"v.{column}"
    if depth == 0:
        return where
    x = edit(row, column, depth - 1)
    y = value(row)
    path = array_path(where, doc)
    last = MAKER.key() if not isinstance(doc, dict) else pick(*doc, near("key")) if doc else "a"
    longer = text_array(spoil(walk(doc)[0] + [pick("new", "new", 0, -1, 3, 1000, -1000)]))
    flag = pick("", "", ", true", ", false", ", NULL")
    return pick(
        *[lambda: edit_by_part(x, where, doc, lambda: value(row))] * 8,
        *[lambda: f"jsonb_set({x}, {path}, {y}{flag})"] * 4, *[lambda: f"jsonb_set({x}, {longer}, {y}{flag})"] * 2,
        lambda: f"jsonb_set_lax({x}, {path}, {pick(y, 'NULL')}, true, {quote(pick('use_json_null', 'delete_key', 'return_target', 'raise_exception', 'other'))})",
        *[lambda: f"jsonb_insert({x}, {pick(path, longer)}, {y}{flag})"] * 3,
        *[lambda: f"({x} || {y})"] * 2, lambda: f"({y} || {x})", lambda: f"({x} || {jsonb({MAKER.key(): MAKER.small() for _ in range(R.randrange(4))})})",
        lambda: f"({x} || {x})", lambda: f"({x} - {quote(last)})", lambda: f"({x} - {quote(last)})", lambda: f"({x} - {pick(0, 1, -1, 31, 32, -2, 1000)})", lambda: f"({x} - volatile({quote(last)}))",
        lambda: f"({x} - {text_array([last, MAKER.key(), None, 'id'])}::text[])", *[lambda: f"({x} #- {path})"] * 3,
        lambda: f"jsonb_set({x}, {path}, ({arrows(where, walk(doc)[0])}) || {y})", lambda: f"jsonb_set({x}, {path}, jsonb_set({arrows(where, walk(doc)[0])}, '{{a}}', {y}))",
        lambda: f"coalesce({pick('NULL', x)}, {x}, {y})", lambda: f"CASE WHEN {quiet(where, doc)} IS NULL THEN {x} ELSE {edit(row, column, depth - 1)} END",
        lambda: f"CASE v.n % 2 WHEN 0 THEN {x} ELSE {y} END", lambda: f"nullif({x}, {y})", lambda: f"jsonb_strip_nulls({x})", lambda: f"(SELECT {x})",
        lambda: f"({x} || {jsonb([MAKER.small()])})", lambda: f"{x} #> {path}", lambda: f"jsonb_concat({x}, {y})",
        lambda: f"jsonb_delete_path({x}, {path})", lambda: f"jsonb_path_query_array({x}, '$.*')", lambda: f"({x})::text::jsonb",
    )()


def gentle(row, column):
    """A new value that leaves most of the old one as it is: (subscripts of the target, expression)."""
    doc, where = ROWS[row][column], f"v.{column}"
    small = pick(jsonb(MAKER.small()), jsonb(MAKER.small()), jsonb(MAKER.string(pick(10, 100, 1000))), "to_jsonb(v.n)")
    new = pick("new1", "new2", "zz", "", f"n{R.randrange(40)}")
    path, end = walk(doc, 0.95)
    where_new = text_array(path[:-1] + [pick(new, new, 0, -1)])
    if not isinstance(doc, (dict, list)):
        return "", pick(f"({where} || {small})", where)
    if isinstance(end, (dict, list)):
        path.append(pick("new", 0, -1))
    if chance(0.3):
        # as applications do it
        there, end = container(doc)
        x = f"({part(where, there, end)} || {jsonb([MAKER.small()] if isinstance(end, list) else {new: MAKER.small()})})"
        if there:
            return pick(("", f"jsonb_set({where}, {text_array(there)}, {x})"), ("", f"jsonb_set({where}, {text_array(there)}, {x})"), (subscripts(there), x),
                        ("", f"({where} || jsonb_build_object({quote(str(there[0]))}, {x}))") if len(there) == 1 and isinstance(doc, dict) else ("", where))
    # nested containers would be lost
    kinds = [lambda: ("", f"jsonb_set({where}, {text_array(path)}, {small})"), lambda: ("", f"jsonb_set({where}, {text_array(path)}, {small})"), lambda: (subscripts(path), small),
             lambda: ("", f"jsonb_insert({where}, {where_new}, {small}{pick('', ', true')})"), lambda: ("", f"jsonb_set({where}, {where_new}, {jsonb(MAKER.scalar())})"),
             lambda: ("", f"jsonb_set({where}, way({where}, {R.randrange(1000)}) || '{{new}}', {small})"), lambda: ("", f"jsonb_set({where}, way({where}, {R.randrange(1000)}), {small}, false)"),
             lambda: ("", f"jsonb_set(jsonb_set({where}, {text_array(path)}, {small}), {where_new}, to_jsonb(v.k))"),
             lambda: ("", f"({where} #- {text_array(path[:-1] + [new])})"), lambda: ("", f"({where}::text::jsonb)"), lambda: ("", f"jsonb_set({where}, '{{id}}', to_jsonb(jsonb_typeof({where})), false)")]
    if isinstance(doc, dict):
        kinds += [lambda: ("", f"({where} || {jsonb({new: MAKER.small()})})"), lambda: ("", f"({where} - {quote(new)})"), lambda: (f"[{quote(new)}]", small),
                  lambda: ("", f"(({where} || jsonb_build_object({quote(new)}, {small})) - {text_array(['new1', 'n3'])}::text[])")]
    else:
        kinds += [lambda: ("", f"({where} || {jsonb([MAKER.scalar()])})"), lambda: ("", f"({where} - {R.randrange(-1, 40)})"), lambda: (f"[{R.randrange(40)}]", small)]
    return pick(*kinds)()


def change(row, columns, keep):
    """The SET clause of an UPDATE."""
    sets = []
    for c in columns:
        if keep:
            target, expr = gentle(row, c)
            sets.append(f"{c}{target} = {expr}")
        elif chance(0.05):
            path, y = part_edit(f"v.{c}", ROWS[row][c], lambda: value(row))
            sets.append(f"{c}{subscripts(path)} = {y}")
        elif chance(0.2):
            sets += [f"{c}{subscripts(spoil(walk(ROWS[row][c])[0]) or [0])} = {value(row)}" for _ in range(R.choice([1, 1, 2, 3]))]
        else:
            sets.append(f"{c} = {edit(row, c, R.choice([1, 1, 1, 2, 3]))}")
    if chance(0.2):
        sets.append(pick("n = v.n + 1", "k = left(coalesce(v.k, '') || 'k', 3)"))
    return ", ".join(sets)


def resent(row, column):
    """A document that was changed by who sends it."""
    doc = copy.deepcopy(ROWS[row][column])
    for _ in range(R.randrange(3)):
        inner = doc
        for s in walk(doc)[0][:-1]:
            inner = inner[s]
        if isinstance(inner, (dict, list)) and inner:
            inner[step_into(inner)] = MAKER.small()
    return f"{column} = {jsonb(doc)}"


# ---- statements ----

OUT = []


def say(*lines):
    OUT.extend(lines)


def statement(sql):
    say(sql + ";", "\\echo :SQLSTATE")


def digests(columns, alias="v"):
    return ", ".join(f"raw({alias}.{c})" for c in columns)


def returning(row, columns):
    return pick("", "", f" RETURNING {digests(columns)}", f" RETURNING {quiet(f'v.{columns[0]}', ROWS[row][columns[0]])}")


def update(table, row, columns, keep):
    """An UPDATE in one of many forms; each may be part of a transaction."""
    sets, where, back = change(row, columns, keep), f"v.id = {row}", returning(row, columns)
    plain = f"UPDATE {table} v SET {sets} WHERE {where}"
    other = pick(*SMALL)
    column = columns[0]
    doc = ROWS[row][column]
    p = R.randrange(10 ** 9)
    prepared = [f"PREPARE p{p}(text[], jsonb, int) AS UPDATE {table} v SET {column} = jsonb_set(v.{column}, $1, $2, false) WHERE v.id = $3{back};"] + \
        [f"EXECUTE p{p}({text_array(walk(doc, 0.95)[0] + ['none'] * keep)}, {jsonb(MAKER.small())}, {row});\n\\echo :SQLSTATE" for _ in range(3)] + [f"DEALLOCATE p{p}"]
    forms = [
        *[lambda: f"{plain}{back}"] * 8,
        lambda: f"WITH u AS ({plain} RETURNING v.*) SELECT {reading(f'v.{column}', doc)}, {digests(columns)} FROM u v",
        lambda: f"UPDATE {table} v SET {sets} FROM {table} o WHERE {where} AND o.id = {other} AND jsonb_typeof(o.doc) IS NOT NULL{back}",
        lambda: f"UPDATE {table} v SET {column} = jsonb_set(v.{column}, {array_path(f'v.{column}', doc)}, o.d) FROM (SELECT {arrows('v.doc', walk(ROWS[other]['doc'])[0])} AS d FROM v WHERE id = {other}) o WHERE {where}{back}"
        if "doc" in ROWS[other] and not keep else plain,
        lambda: f"INSERT INTO {table} AS v (id, {columns[0]}) VALUES ({row}, '{{\"excluded\": [1, 2]}}') ON CONFLICT (id) DO UPDATE SET {sets} WHERE v.n IS NOT NULL{back}",
        lambda: f"INSERT INTO {table} AS v (id, {columns[0]}) VALUES ({row}, '{{\"excluded\": [1, 2]}}') ON CONFLICT (id) DO UPDATE SET {column} = v.{column} || excluded.{column}{back}"
        if not keep or isinstance(doc, dict) else plain,
        lambda: f"MERGE INTO {table} v USING (VALUES ({row})) s(r) ON v.id = s.r WHEN MATCHED AND v.n < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET {sets}",
        lambda: f"UPDATE {table}_view v SET {sets} WHERE {where}{back}",
        lambda: "\n".join(["SET plan_cache_mode = force_generic_plan;"] + prepared + [";RESET plan_cache_mode"]).replace(f"p{p}\n;", f"p{p};\n"),
        lambda: f"DO $$ BEGIN {plain}; UPDATE {table} v SET {change(row, columns, True)} WHERE {where}; RAISE NOTICE '%', (SELECT raw(v.{column}) FROM {table} v WHERE {where}); END $$",
        # what is kept in a variable, and what was rolled back
        lambda: f"DO $$ DECLARE d jsonb; e jsonb; BEGIN UPDATE {table} v SET {change(row, columns, True)} WHERE {where} RETURNING v.{column} INTO d; "
                f"BEGIN {plain} RETURNING v.{column} INTO e; RAISE EXCEPTION 'back'; EXCEPTION WHEN raise_exception THEN NULL; END; "
                f"UPDATE {table} v SET {column} = {pick('d', 'd', f'''jsonb_set(d, '{{a}}', to_jsonb(raw(e)))''')} WHERE {where}; RAISE NOTICE '% %', raw(d), raw(e); END $$",
        lambda: f"DO $$ DECLARE d jsonb; BEGIN SELECT v.{column} INTO d FROM {table} v WHERE {where}; d{subscripts(walk(doc, 0.95)[0] or [0])} = {jsonb(MAKER.scalar())}; "
                f"d = jsonb_set(d, {text_array(walk(doc, 0.95)[0])}, {jsonb(MAKER.scalar())}); UPDATE {table} v SET {column} = d WHERE {where}; END $$" if isinstance(doc, (dict, list)) and doc else plain,
        lambda: f"DO $$ DECLARE a text[]; BEGIN FOR i IN 1 .. {R.randrange(2, 9)} LOOP SELECT way(v.{column}, i * {R.randrange(100)}) INTO a FROM {table} v WHERE {where}; "
                f"UPDATE {table} v SET {column} = jsonb_set(v.{column}, a || {pick('NULL', quote('{new}'))}::text[], to_jsonb(i)) WHERE {where}; END LOOP; END $$" if keep else plain,
        lambda: f"SELECT raw(edit_by_function({table}_row({row}), {jsonb(MAKER.small())}))" if table == "v" else plain,
        lambda: f"UPDATE {table} v SET {resent(row, column)} WHERE {where}{back}" if LENGTHS[row, column] < 30000 else
                f"UPDATE {table} v SET {column} = replace(v.{column}::text, {quote(pick('key', 'a', 'side', '1'))}, {quote(pick('kee', 'b', '22'))})::jsonb WHERE {where}{back}",
        lambda: f"UPDATE {table} v SET {columns[0]} = v.{columns[-1]}, {columns[-1]} = v.{columns[0]} WHERE {where}{back}" if len(columns) > 1 and not keep else plain,
    ]
    return pick(*forms)()


CHANGES = dict.fromkeys([(t, row) for t in "vw" for row in ROWS], 0)


def changes():
    """Changes of one row, and what it is then."""
    row = R.choices(list(ROWS), WEIGHTS)[0]
    table = pick("v", "v", "w") if row in SMALL else "v"
    columns = R.sample(list(ROWS[row]), min(len(ROWS[row]), R.choice([1, 1, 1, 2])))
    lasting = row % 2 == 0
    keep = lasting and chance(0.6)
    # most changes are transactions of their own, some follow others in one
    times = R.choice([1, 1, 1, 2, 4]) if row in SMALL else 1
    if lasting and not keep:
        say("BEGIN;")
        for _ in range(times):
            say("SAVEPOINT s;")
            statement(update(table, row, columns, chance(0.5)))
            say("\\if :ERROR", "ROLLBACK TO s;", "\\endif", "ROLLBACK TO s;" if chance(0.3) else "RELEASE s;")
        say(f"SELECT {digests(columns)} FROM {table} v WHERE v.id = {row};", "ROLLBACK;")
    elif keep and chance(0.3):
        # one after another, with nobody reading in between
        for _ in range(R.randrange(3, 20) if row in SMALL else 3):
            statement(f"UPDATE {table} v SET {change(row, columns, True)} WHERE v.id = {row}")
        say(f"SELECT {reading(f'v.{columns[0]}', ROWS[row][columns[0]])} FROM {table} v WHERE v.id = {row};")
    elif chance(0.1):
        say("BEGIN;", f"DECLARE c CURSOR FOR SELECT * FROM {table} v WHERE v.id = {row} FOR UPDATE;", "MOVE 1 c;")
        statement(f"UPDATE {table} v SET {change(row, columns, keep)} WHERE CURRENT OF c")
        say(pick("COMMIT;", "COMMIT;", "ROLLBACK;") if not keep else "COMMIT;")
    elif chance(0.15):
        say("BEGIN;")
        for _ in range(times + 1):
            statement(update(table, row, columns, keep))
        say("COMMIT;")
    else:
        statement(update(table, row, columns, keep))
    say(f"SELECT {digests(columns)}, {quiet(f'v.{columns[0]}', ROWS[row][columns[0]])} FROM {table} v WHERE v.id = {row};")
    if not lasting:
        CHANGES[table, row] += times * len(columns)
        if CHANGES[table, row] >= 4:
            CHANGES[table, row] = 0
            statement(f"DELETE FROM {table} WHERE id = {row};\nINSERT INTO {table} ({ORDINARY}) SELECT {ORDINARY} FROM start WHERE id = {row}")


def readings():
    """One row, and several of its parts in one query."""
    row = R.choices(list(ROWS), WEIGHTS)[0]
    table = pick("v", "v", "w") if row in SMALL else "v"
    column = pick(*ROWS[row])
    doc, where = ROWS[row][column], f"v.{column}"
    exprs = [reading(where, doc) for _ in range(R.choice([1, 1, 1, 2, 3]))]
    if len(ROWS[row]) > 1 and chance(0.2):
        column2 = pick(*ROWS[row])
        exprs.append(quiet(f"v.{column2}", ROWS[row][column2]))
    condition = f" AND {quiet(where, doc)} IS NOT NULL" if chance(0.2) else ""
    if chance(0.07):
        statement(f"DO $$ DECLARE v record; BEGIN FOR v IN SELECT * FROM {table} WHERE id = {row} LOOP RAISE NOTICE '%', {quiet(where, doc)}; "
                  f"RAISE NOTICE '%', {quiet(where, doc)}; END LOOP; END $$")
    else:
        statement(f"SELECT {', '.join(exprs)} FROM {table} v WHERE v.id = {row}{condition}")


def queries():
    """All rows; nothing may depend on where rows are, which differs: what comes first, what is taken of equals, errors."""
    table, few = pick("v", "w"), f"v.id < {FEW}"
    row = pick(*SMALL)
    column = pick(*ROWS[row])
    where, doc = f"v.{column}", ROWS[row][column]
    a, b = quiet(where, doc), quiet(where, doc)
    common = pick("v.doc", "v.dx", "v.dz")
    statement(pick(
        lambda: f"SELECT v.id, {a}, {b} FROM {table} v WHERE {few} ORDER BY 1",
        lambda: f"SELECT {a} AS x, count(*), min({shown(f'{common} -> 0')}), max({shown(f'''{common} ->> 'note' ''')}) FROM {table} v WHERE {few} GROUP BY 1 ORDER BY 1",
        lambda: f"SELECT v.id FROM {table} v WHERE {few} AND {a} IS NOT NULL ORDER BY {b}, v.id",
        lambda: f"SELECT jsonb_typeof(x), jsonb_hash(x), count(*), min({shown('x')}) FROM (SELECT {common} -> 'tags' -> {R.randrange(3)} AS x FROM {table} v WHERE {few}) s GROUP BY x ORDER BY x",
        lambda: f"SELECT DISTINCT {common} -> 'tags' -> 0 AS x FROM {table} v WHERE {few} AND jsonb_typeof({common} #> '{{tags,0}}') = 'string' ORDER BY x",
        lambda: f"SELECT v.id, e.key, {shown('e.value')} FROM {table} v, LATERAL jsonb_each(CASE WHEN jsonb_typeof({where}) = 'object' THEN {where} END) e WHERE {few} AND v.id % 5 = {R.randrange(5)} ORDER BY v.id, e.key COLLATE \"C\" LIMIT 40",
        lambda: f"SELECT v.id, i, {shown('e')} FROM {table} v, LATERAL jsonb_array_elements({common} -> 'tags') WITH ORDINALITY s(e, i) WHERE {few} AND jsonb_typeof({common} -> 'tags') = 'array' ORDER BY 1, 2",
        lambda: f"SELECT v.id, o.id FROM {table} v JOIN {table} o ON {common} -> 'id' = o.doc -> 'id' WHERE {few} AND o.id < {FEW} ORDER BY 1, 2",
        lambda: f"SELECT raw(jsonb_agg({common} -> 'note' ORDER BY v.id)), raw(jsonb_object_agg(v.id, {common} #> '{{tags,0}}')) FROM {table} v WHERE {few}",
        lambda: f"SELECT v.id, {shown(f'{common} || o.doc')} FROM {table} v JOIN {table} o ON o.id = v.id + 1 WHERE {few} ORDER BY 1",
        lambda: f"SELECT v.id, (SELECT {a} FROM {table} o WHERE o.id = v.id) FROM {table} v WHERE {few} AND EXISTS (SELECT FROM {table} o WHERE o.doc @> ({common} #> '{{tags}}')) ORDER BY 1",
        lambda: f"SELECT v.id, row_number() OVER (PARTITION BY {common} #>> '{{tags,0}}' ORDER BY {common} -> 'id', v.id) FROM {table} v WHERE {few} ORDER BY 1",
        lambda: f"SELECT id FROM {table} v WHERE {few} ORDER BY {where}, id",
        lambda: f"SELECT id, {shown(where)} FROM {table} v WHERE {few} AND {a} IN (SELECT {a} FROM {table} v WHERE v.id = {row}) ORDER BY 1",
        lambda: f"UPDATE {table} v SET {column} = jsonb_set({where}, '{{new1}}', to_jsonb(v.id)) WHERE {few} AND jsonb_typeof({where}) = 'object' AND v.id % 4 = {R.randrange(0, 4, 2)}",
        lambda: f"UPDATE {table} v SET {column}['new2'] = o.doc -> 'tags' FROM {table} o WHERE {few} AND jsonb_typeof({where}) = 'object' AND v.id % 4 = {R.randrange(0, 4, 2)} AND o.id = v.id - 1 AND o.doc -> 'tags' IS NOT NULL",
    )())


def indexed():
    """The same with and without the index."""
    row = pick(*SMALL)
    documents = ROWS[row]
    tag = pick("red", "green", "blue", "none")
    condition = pick(
        lambda: f"left(v.doc ->> 'id', 40) {pick('=', '>', '<')} '{R.randrange(20)}'", lambda: f"v.doc @> {jsonb(part_of(documents.get('doc')))}", lambda: f"v.doc ? {quote(keys_of(documents.get('doc'))[0])}",
        lambda: f"v.doc ?| {text_array(keys_of(documents.get('doc')) + ['new1'])}", lambda: f"v.doc ?& {text_array(keys_of(documents.get('doc')))}", lambda: f"v.dx @> {jsonb(part_of(documents.get('dx')))}",
        lambda: f"v.dx @? {quote('$' + accessors(walk(documents.get('dx'))[0]))}", lambda: f"v.dx @@ '$.id == {R.randrange(20)}'", lambda: f"(v.dz -> 'tags') ? '{tag}'",
        lambda: f"(v.dz -> 'tags') @> '\"{tag}\"'", lambda: f"v.doc ->> 'note' LIKE '%{pick('a', 'e', 't')}%' AND v.doc ? 'tags'")()
    for on, off in (("indexscan = on", "seqscan = off"), ("seqscan = on", "indexscan = off")):
        say(f"SET enable_{on};", f"SET enable_{off};", "SET enable_bitmapscan = " + ("on" if "seqscan" in off else "off") + ";")
        statement(f"SELECT v.id, {quiet('v.doc', documents.get('doc'))} FROM w v WHERE {condition} ORDER BY v.id")
    say("RESET enable_seqscan;", "RESET enable_indexscan;", "RESET enable_bitmapscan;")


PARALLEL = ["parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 2"]


def upkeep():
    """What else happens to tables."""
    table = pick("v", "w")
    column = pick(*COLUMNS)
    if chance(0.1):
        # rows that go the core way
        say("SET sliced.logical_decoding = on;")
        for _ in range(6):
            changes()
        say("RESET sliced.logical_decoding;")
    say(pick(
        lambda: f"VACUUM {table};", lambda: f"VACUUM FULL {table};", lambda: f"VACUUM FREEZE {table};", lambda: f"CLUSTER {table} USING {table}_pkey;",
        lambda: f"ALTER TABLE {table} ALTER {column} SET STORAGE {pick('EXTENDED', 'EXTERNAL', 'MAIN', 'EXTENDED')};",
        lambda: f"ALTER TABLE {table} ALTER {column} SET COMPRESSION {pick('lz4', 'pglz', 'default')};", lambda: f"ALTER TABLE {table} SET (toast_tuple_target = {pick(128, 2048, 4000)});",
        lambda: f"ALTER TABLE {table} ADD also jsonb DEFAULT {jsonb(MAKER.tree(300))};\nSELECT id, {shown('also -> 0')}, {shown(arrows('also', ['key1']))} FROM {table} ORDER BY id LIMIT 3;\nALTER TABLE {table} DROP also;",
        lambda: f"SET sliced.compression = {pick('lz4', 'zstd', 'zstd', 'none', 'pglz')};",
    )())


def main():
    with open(f"{DIRECTORY}/documents", "w", encoding="utf-8") as file:
        for row, documents in ROWS.items():
            fields = [str(row), f"row {row}", str(row * 37 % 100), pick("id", "note", "tags", "a", "key1")]
            for c in COLUMNS:
                fields.append(to_text(documents[c], chance(0.2)).replace("\\", "\\\\") if c in documents else "\\N")
            file.write("\t".join(fields) + "\n")
    say(f"-- seed {SEED}", "\\pset null '~'", "SET sliced.compression = zstd;")
    say(f"INSERT INTO w ({ORDINARY}) SELECT {ORDINARY} FROM start WHERE id < {FEW};")
    for i in range(COUNT):
        R.choices([readings, changes, queries, indexed, upkeep], [45, 55, 5, 2, 0.5])[0]()
        if i % 60 == 0:
            say(*(f"SET {s};" for s in PARALLEL))
            queries()
            say(*(f"RESET {s.split()[0]};" for s in PARALLEL))
    with open(f"{DIRECTORY}/cases.sql", "w", encoding="utf-8") as file:
        file.write("\n".join(OUT) + "\n")


main()
