"""README's picture: ./dev bench overview && cp bench/output/overview.svg docs/"""

from matplotlib.figure import Figure

from bench import HEAP_LZ4, MB, SLICED_LZ4, size_name, workload
from jsonb import fill_documents, make_pages
from plot import COLORS, bytes_name, look, save

PAIR = [SLICED_LZ4, HEAP_LZ4]

# What is done, in a transaction of its own, and what is drawn of it.
APPEND, SET, READ = "append 1 byte", "set a key", "read a key"
PANELS = {APPEND: ("WAL B", "Append 1 byte to a text: WAL"), SET: ("WAL B", "Set a key of a jsonb: WAL"),
          READ: ("cpu us", "Read a key of a jsonb: CPU time")}


@workload
def overview(b):
    """One byte appended, one key set, one key read, in a value of any size"""
    item = make_pages(b)
    for size in b.lengths():
        b.fill(PAIR, "overview", "body text", f"SELECT log_text(1, {size})")
        time(b, APPEND, size, "UPDATE {} SET body = body || 'x'")
        fill_documents(b, PAIR, "overview", f"page(i, {max(1, int(size / item))})", 1)
        time(b, READ, size, "PERFORM doc->>'state' FROM {}", drop=False)
        time(b, SET, size, "UPDATE {} SET doc['views'] = to_jsonb(i)")
    b.session.run("DROP TABLE items")


def time(b, case, size, statement, drop=True):
    b.time_loop(f"{size_name(size)}, {case}", PAIR, "overview", size, statement, curve=case)
    if drop:
        b.verify(PAIR, "overview")
        b.drop(PAIR, "overview")


def time_name(us, _=None):
    return f"{us / 1e6:g} s" if us >= 1e6 else f"{us / 1e3:g} ms" if us >= 1e3 else f"{us:g} µs"


def draw(results, question, title, path):
    """Both lines of a panel are named where they end.  The ground is white, for readers whose page is dark."""
    curves = results.curves(question)
    figure = Figure(figsize=(9.6, 2.7), layout="constrained", facecolor="white")
    for ax, (case, (metric, panel)) in zip(figure.subplots(1, len(PANELS)), PANELS.items()):
        for v in PAIR:
            points = curves[case, v.name, metric]
            ax.plot(*zip(*points), marker="o", markersize=3.5, linewidth=2, color=look(v.name, COLORS))
            ax.annotate(f"{v.method}: {(time_name if metric == 'cpu us' else bytes_name)(rounded(points[-1][1]))}",
                        points[-1], (-2, 6), textcoords="offset points", ha="right", weight="bold",
                        color=look(v.name, COLORS))
        ax.set(xscale="log", yscale="log")
        ax.set_title(panel)
        ax.xaxis.set_major_formatter(bytes_name)
        ax.yaxis.set_major_formatter(time_name if metric == "cpu us" else bytes_name)
        ax.margins(y=0.15)
        ax.grid(color="#e4e4e4")
        ax.minorticks_off()
    figure.supxlabel("length of the value", fontsize=9)
    save(figure, path)


def rounded(value):
    """To two digits."""
    return float(f"{value:.2g}")


overview.draw = draw
