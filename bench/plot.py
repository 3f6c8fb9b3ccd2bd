"""Draws one question: a panel of curves per metric, then a panel of bars per metric, a group per case."""

from matplotlib import colormaps, rcParams
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

TITLES = {"ms": "time, ms", "cpu ms": "CPU time, ms", "us": "time, µs", "cpu us": "CPU time, µs",
          "MB": "size, MB", "temp MB": "temporary files, MB", "WAL MB": "WAL, MB", "WAL B": "WAL, bytes", "buffers": "buffers"}

# What a variant looks like: its bars' color, its lines' dashes.  Curves have a color for each case.
COLORS = {"sliced": "#1b6ca8", "loaded": "#1b6ca8", "sliced zstd": "#63b0e3",
          "sliced from sliced": "#63b0e3", "heap from sliced": "#b0b0b0", "heap": "#6e6e6e",
          "heap pglz": "#b0b0b0", "not loaded": "#b0b0b0",
          "auto": "#1b6ca8", "lz4": "#63b0e3", "zstd": "#a6d3f2", "core": "#6e6e6e",
          "aged": "#1b6ca8", "fresh": "#63b0e3",
          "during": "#1b6ca8", "at": "#63b0e3", "alone": "#b0b0b0"}
DASHES = {"sliced": "-", "sliced zstd": "-.", "heap": "--", "heap pglz": ":", "heap estimated": ":"}

INCH, WIDTH = 0.17, 7.5         # the height of a bar, the width of the drawing

rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pg_sliced", "font.size": 9,
                 "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
                 "axes.spines.top": False, "axes.spines.right": False})


def look(variant, looks):
    """What one of the tables above says, of "heap lz4" what it says of heap."""
    return looks.get(variant) or looks[variant.split()[0]]


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def bytes_name(n, _=None):
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if n >= unit:
            return f"{n / unit:g} {name}"
    return f"{n:g} B"


def names(curves):
    """The cases of curves, and the variants."""
    return [*dict.fromkeys(case for case, _, _ in curves)], [*dict.fromkeys(v for _, v, _ in curves)]


def draw_curves(ax, curves, metric, x_name):
    """A line per case and variant, both axes logarithmic; what is nothing cannot be drawn."""
    cases, variants = names(curves)
    hues = {case: colormaps["tab20" if len(cases) > 10 else "tab10"](i) for i, case in enumerate(cases)}
    for (case, variant, m), points in curves.items():
        if m == metric and any(y > 0 for _, y in points):
            ax.plot(*zip(*((x, y) for x, y in points if y > 0)), look(variant, DASHES), color=hues[case])
    ax.set(xscale="log", yscale="log")
    ax.set_title(TITLES.get(metric, metric))
    ax.xaxis.set_major_formatter(x_name)
    ax.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}")
    ax.grid(color="#e4e4e4")
    ax.legend([*(Line2D([], [], color=hues[case]) for case in cases),
               *(Line2D([], [], color="black", linestyle=look(v, DASHES)) for v in variants)], cases + variants,
              loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)


def draw_bars(ax, results, question, metric):
    """A group's longest bar has full width: compare within a group only."""
    y, ticks = 0, {}
    for case in results.cases(question, metric=metric):
        variants = results.variants(question, case=case, metric=metric)
        medians = [results.median(question, case, v, metric) for v in variants]
        longest = max(medians) or 1
        ticks[case] = y + (len(variants) - 1) / 2
        for v, median in zip(variants, medians):
            width = median / longest
            spread = width * results.spread(question, case, v, metric)
            ax.barh(y, width, height=0.85, color=look(v, COLORS), xerr=spread if spread >= 0.003 else None)
            ax.text(width + spread + 0.01, y, short(median), va="center", fontsize=8)
            y += 1
        y += 0.8
    ax.set_yticks([*ticks.values()], ticks)
    ax.set(xlim=(0, 1.15), ylim=(y - 0.8, -0.8), xticks=[])
    ax.set_title(TITLES.get(metric, metric))
    ax.spines["bottom"].set_visible(False)
    shown = results.variants(question, metric=metric)
    ax.legend([Patch(color=look(v, COLORS)) for v in shown], shown, loc="lower right", bbox_to_anchor=(1, 1),
              ncol=len(shown) if len("".join(shown)) < 50 else 2, frameon=False, fontsize=8, borderpad=0)


def bars(results, question, metric):
    """How many bars high a panel is."""
    return sum(len(results.variants(question, case=case, metric=metric)) + 0.8
               for case in results.cases(question, metric=metric))


def plot(results, question, title, path, x_name=bytes_name):
    curves, metrics = results.curves(question), results.metrics(question)
    lines = [*dict.fromkeys(metric for _, _, metric in curves)]
    legend = INCH * sum(map(len, names(curves)))
    heights = [max(2.6, 0.5 + legend)] * len(lines) + [0.5 + INCH * bars(results, question, m) for m in metrics]
    figure = Figure(figsize=(WIDTH, 0.8 + sum(heights)), layout="constrained")
    panels = iter(figure.subplots(len(heights), height_ratios=heights, squeeze=False).flat)
    for metric in lines:
        draw_curves(next(panels), curves, metric, x_name)
    for metric in metrics:
        draw_bars(next(panels), results, question, metric)
    figure.suptitle(title, weight="bold", wrap=True)
    save(figure, path)


def save(figure, path):
    """The same drawing is the same file."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})
