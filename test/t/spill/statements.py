#!/usr/bin/python3
"""Random joins for a parallel plan, each with and without compressed temporary files.

usage: statements.py SEED COUNT

Prints a script for psql, whose output has for each statement: its number and "plan" if the
plan has a join that is shared by processes; then "differs" and the statement if rows differ.
The tables are those of 261_spill_parallel.sh.
"""
import random
import sys

R = random.Random(int(sys.argv[1]))
COUNT = int(sys.argv[2])
TABLES = ["a", "b", "c", "d", "p"]


def joined(tables):
    """FROM, of so many tables; the first join is of any kind."""
    kind = R.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    text = f"{R.choice(TABLES)} t0"
    for i in range(1, tables):
        key = R.choice(["k", "k", "w", "n", "id"])
        on = f"t{i - 1}.{key} = t{i}.{key}"
        if R.random() < 0.2:
            on += f" AND t{i - 1}.n = t{i}.n"
        if R.random() < 0.15 and kind != "FULL JOIN":
            on += f" AND t{i - 1}.id + t{i}.id > {R.randint(0, 12000)}"
        text += f" {kind} {R.choice(TABLES)} t{i} ON {on}"
        kind = R.choice(["JOIN", "JOIN", "LEFT JOIN"])
    return text


def where():
    return R.choice([""] * 4 + [
        f" WHERE t0.k % {R.randint(2, 50)} = 0",
        f" WHERE EXISTS (SELECT FROM {R.choice(TABLES)} e WHERE e.{R.choice(['k', 'id', 'n'])} = t0.k)",
        f" WHERE NOT EXISTS (SELECT FROM {R.choice(TABLES)} e WHERE e.{R.choice(['k', 'id', 'n'])} = t0.k)"])


def statement():
    tables = R.choice([2, 2, 2, 3, 3, 4])
    source, last = joined(tables) + where(), tables - 1
    columns = ", ".join(f"count(t{i}.id), sum(hashtext(t{i}.w)::int8), sum(t{i}.k)" for i in range(tables))
    return R.choice([f"SELECT count(*), {columns} FROM {source}"] * 6 + [
        f"SELECT t0.k % 10, count(*), sum(t{last}.id) FROM {source} GROUP BY 1",
        f"SELECT count(*) FROM (SELECT FROM {source} LIMIT {R.randint(1, 5000)}) l",
        f"SELECT count(*), sum(c) FROM (SELECT t0.id AS c FROM {source} UNION ALL SELECT t0.k FROM {joined(2)}) u",
        # the join is done for each of a few rows, by other workers
        f"SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT count(*), sum(t0.k) FROM {source}) s ON s.count > x"])


def settings():
    return {"max_parallel_workers_per_gather": R.choice([1, 2, 2, 4, 7]),
            "work_mem": R.choice(["'64kB'", "'64kB'", "'128kB'", "'512kB'"]),
            "hash_mem_multiplier": R.choice([1, 1, 2]),
            "parallel_leader_participation": R.choice(["on", "on", "off"]),
            "enable_nestloop": R.choice(["off", "off", "on"]),
            "enable_parallel_append": R.choice(["on", "off"])}


for number in range(COUNT):
    text = statement()
    for name, value in settings().items():
        print(f"SET {name} = {value};")
    for table, codec in ("expected", "off"), ("got", R.choice(["auto", "lz4", "zstd", "pglz"])):
        print(f"SET sliced.temp_file_compression = {codec};")
        # CREATE TABLE AS plans it with the joins of a parallel plan
        print(f"CREATE TABLE {table} AS SELECT q::text AS row FROM ({text}) q;")
    print(f"SELECT {number}, CASE WHEN is_shared($$SELECT q::text AS row FROM ({text}) q$$) THEN 'plan' END;")
    print("SELECT 'differs: ' || $$" + text + "$$ WHERE EXISTS (TABLE expected EXCEPT ALL TABLE got) "
          "OR EXISTS (TABLE got EXCEPT ALL TABLE expected);")
    print("DROP TABLE expected, got;")
