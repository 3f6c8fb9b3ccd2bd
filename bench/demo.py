"""The tables of ./dev demo: the same data in heap and in sliced, and what queries on them cost."""

import statistics
import sys

from appends import Stream, append_bytes, empty_stream, make_stream
from bench import HEAP_LZ4, MB, SLICED_LZ4, SLICED_ZSTD, Bench
from jsonb import ELEMENT, fill_documents, make_arrays
from results import Results
from spill import make_slow_tablespace

VARIANTS = [HEAP_LZ4, SLICED_LZ4, SLICED_ZSTD]
LOG = 100 * MB


def progress(text):
    print(f"  {text} ...", flush=True)


def milliseconds(value):
    return f"{value:.2f} ms" if value < 10 else f"{value:,.0f} ms"


def megabytes(value):
    return f"{value:,.1f} MB" if value >= 0.1 else f"{value * MB:,.0f} B"


def buffers(value):
    return f"{value:,.0f}"


class Demo:
    def __init__(self):
        self.bench = Bench(Results(), quick=False)
        self.session = self.bench.session
        self.rows = []
        self.steps = []

    def row(self, title, values, form):
        """A line of the table, with what the better of the sliced variants gains."""
        gain = values[0] / min(values[1:])
        gain = f"{gain:,.0f} x" if gain >= 100 else f"{gain:,.1f} x" if gain > 1.05 else ""
        self.rows.append((title, [form(v) for v in values], gain))

    def measure(self, title, run):
        """Do something three times with each variant; run(v) returns what it took."""
        costs = {v: [] for v in VARIANTS}
        for turn in range(3):
            progress(f"{title}, {turn + 1} of 3")
            for v in VARIANTS:
                self.session.use(v.settings)
                costs[v].append(run(v))

        def medians(metric):
            return [statistics.median(cost[metric] for cost in costs[v]) for v in VARIANTS]

        self.rows.append((title, [], ""))
        self.row("  CPU time", medians("cpu ms"), milliseconds)
        self.row("  WAL", medians("WAL MB"), megabytes)
        if "buffers" in costs[HEAP_LZ4][0]:
            self.row("  buffers", medians("buffers"), buffers)

    def size_row(self, table):
        self.row("  size on disk", [self.bench.size(v.table(table)) / MB for v in VARIANTS], megabytes)

    def write(self, title, table, columns, write):
        for v in VARIANTS:
            self.bench.create(v, table, columns)

        def run(v):
            self.session.run(f"TRUNCATE {v.table(table)}")
            return self.session.with_wal(write.format(v.table(table)))

        self.measure(title, run)
        for v in VARIANTS:
            self.session.run(f"VACUUM ANALYZE {v.table(table)}")
        self.size_row(table)

    def change(self, title, table, change):
        self.measure(title, lambda v: self.session.costs(change.format(v.table(table))))

    def grow(self, title, times, step):
        """Append to a row, each time in a transaction of its own."""
        for v in VARIANTS:
            make_stream(self.bench, v, "stream", Stream(step))

        def run(v):
            empty_stream(self.bench, v, "stream")
            return append_bytes(self.bench, v.table("stream"), 0, times * step, step)

        self.measure(title, run)
        self.size_row("stream")

    def read(self, title, table, query):
        progress(title)
        queries = [query.format(v.table(table)) for v in VARIANTS]
        times = [[self.session.times(q)["cpu ms"] for q in queries] for turn in range(6)][1:]
        self.rows.append((title, [], ""))
        self.row("  CPU time", [statistics.median(column) for column in zip(*times)], milliseconds)
        self.row("  buffers", [self.session.buffers(q) for q in queries], buffers)

    def spill(self, title, query):
        """A query of heap's tables that does not fit in memory; core's temporary files, and compressed ones."""
        progress(title)
        session, settings = self.session, ["off", "auto", "zstd"]
        costs, slow, written = {s: [] for s in settings}, {}, {}
        make_slow_tablespace(session)
        for turn in range(4):
            for s in settings:
                session.use({"sliced.temp_file_compression": s})
                if turn == 0:
                    session.use({"temp_tablespaces": "slow"})
                    written[s] = session.temp_mb(query)
                    slow[s] = session.time(query)
                    session.run("RESET temp_tablespaces")
                else:
                    costs[s].append(session.times(query)["cpu ms"])
        session.run("RESET sliced.temp_file_compression")
        self.rows.append((title, [], ""))
        self.row("  temporary files, with a disk of 200 MB/s", [written[s] for s in settings], megabytes)
        self.row("  time, with that", [slow[s] for s in settings], milliseconds)
        self.row("  CPU time, files in the page cache", [statistics.median(costs[s]) for s in settings], milliseconds)

    def adopt(self, path):
        """What becomes of a table that heap has, step by step."""
        run, costs = self.session.run, self.session.costs
        self.session.use(HEAP_LZ4.settings)
        run("CREATE TABLE mine (id int PRIMARY KEY, doc jsonb) USING heap")
        run(f"COPY mine FROM '{path}'")
        run("VACUUM ANALYZE mine")
        largest = self.session.value("SELECT id FROM mine ORDER BY length(doc::text) DESC LIMIT 1")
        length = self.session.number(f"SELECT length(doc::text) / 1024 FROM mine WHERE id = {largest}")
        change = f"UPDATE mine SET doc = jsonb_set(doc, '{{id}}', '{{}}') WHERE id = {largest}"

        def step(title, value):
            self.steps.append((title, value))

        def changed(title, value):
            step(title, megabytes(costs(change.replace("{}", str(value)))["WAL MB"]) + " of WAL")

        progress("adopting, training and converting a table of heap's")
        step("2,000 JSON documents in a table of heap's", megabytes(self.bench.size("mine") / MB))
        changed(f"  a key of one of {length:.0f} kB changed", 1)
        run("VACUUM mine")
        progress("asking for advice")
        advice, size, sql = run(
            "SELECT advice, bytes_then, sql FROM sliced.advise('mine') WHERE topic = 'storage'")[0]
        step("SELECT * FROM sliced.advise('mine')", megabytes(size / MB) + " expected")
        step(f"  {advice}", "")
        step("SELECT sliced.adopt('mine')", milliseconds(costs("SELECT sliced.adopt('mine')")["ms"]))
        changed("  the key changed: the document becomes slices", 2)
        changed("  the key changed again", 3)
        # as advice says
        for line in sql.splitlines():
            if "alter_column" in line:
                step(line.removesuffix(";"), milliseconds(costs(line)["ms"]))
        before, after = run("SELECT sum(stored_without), sum(stored_with) FROM sliced.train('mine')")[0]
        step("SELECT * FROM sliced.train('mine')", f"{100 * (1 - after / before):.0f} % saved")
        step("CALL sliced.convert('mine')", milliseconds(costs("CALL sliced.convert('mine')")["ms"]))
        run("VACUUM FULL mine")
        step("  size, after VACUUM FULL has given back the room", megabytes(self.bench.size("mine") / MB))

    def print(self):
        print("\nA table that exists, step by step:\n")
        for title, value in self.steps:
            print(f"{title:80}{value:>16}".rstrip())
        print(f"\n{'':50}" + "".join(f"{v.name:>14}" for v in VARIANTS) + f"{'gain':>10}")
        for title, values, gain in self.rows:
            print((f"{title:50}" + "".join(f"{value:>14}" for value in values) + f"{gain:>10}").rstrip())
        print("\nheap uses lz4, the better of its two compression methods; gain is what the better of\n"
              "the two others gains; times are medians of the server process, with warm caches.  The join\n"
              "is of heap's tables, with sliced.temp_file_compression = off, auto, zstd.\n")


def main():
    demo = Demo()
    progress("making JSON documents")
    path = demo.bench.documents("json")
    demo.write("COPY of 2,000 JSON documents of 2 to 50 kB", "docs", "id int, doc jsonb",
               f"COPY {{}} FROM '{path}'")
    demo.read("Read all of them", "docs", "SELECT count(*) FROM {} WHERE doc > '0'")
    demo.adopt(path)
    progress("making a log of 100 MB")
    # not compressed: heap would take over what is compressed in another heap table
    demo.session.run("CREATE TABLE log (body bytea)")
    demo.session.run("ALTER TABLE log ALTER body SET STORAGE EXTERNAL")
    demo.session.run(f"INSERT INTO log SELECT content('log', 1, {LOG})")
    demo.write("INSERT of a log of 100 MB as one value", "log", "body bytea",
               "INSERT INTO {} SELECT body FROM log")
    demo.session.run("DROP TABLE log")
    demo.read("substr(): 100 bytes in the middle of the log", "log",
              f"SELECT substr(body, {LOG // 2}, 100) FROM {{}}")
    demo.read("Read all of the log", "log", "SELECT count(*) FROM {} WHERE body < ''")
    demo.change("Append 1 byte to the log", "log", "UPDATE {} SET body = body || 'x'")
    demo.grow("1,000 appends of 100 bytes, a transaction each", 1000, 100)

    rows = "SELECT i, jsonb_build_object('id', i, 'text', mixed_text(i, 2100, 0)) FROM generate_series(1, 10000) i"
    demo.write("INSERT of 10,000 jsonb documents of 2.1 kB", "small", "id int, doc jsonb", f"INSERT INTO {{}} {rows}")
    demo.read("doc->'id' of all of them", "small", "SELECT count(doc->'id') FROM {}")

    progress("making a jsonb document of 10 MB")
    make_arrays(demo.bench)
    fill_documents(demo.bench, VARIANTS, "large", f"arrays(i, {10 * MB // ELEMENT})", 1)
    demo.read("doc->'key3', behind a long array, of 10 MB", "large", "SELECT doc->'key3' FROM {}")
    demo.change("jsonb_set() of that key", "large",
                "UPDATE {} SET doc = jsonb_set(doc, '{{key3}}', to_jsonb(n)), n = n + 1")

    progress("making two tables of 200,000 lines of a log")
    for table in "lines", "more_lines":
        demo.session.run(f"CREATE TABLE {table} USING heap AS SELECT i AS id, (i * 7919::int8 % 200000)::int AS other, "
                         f"log_text(i, 500) AS line FROM generate_series(1, 200000) i")
        demo.session.run(f"VACUUM ANALYZE {table}")
    demo.session.run("LOAD 'sliced_spill'")
    demo.spill("Join of two tables of heap's, of 100 MB each", "SELECT count(*), max(a.line), max(b.line) "
               "FROM lines a JOIN more_lines b ON a.id = b.other")
    demo.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
