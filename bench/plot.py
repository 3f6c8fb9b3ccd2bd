"""Draws one question as SVG: a panel per metric, a group of bars per case, a bar per variant."""

from xml.sax.saxutils import escape

COLORS = {"sliced lz4": "#1b6ca8", "sliced zstd": "#63b0e3", "sliced": "#1b6ca8", "loaded": "#1b6ca8"}
OTHERS = ["#9a9a9a", "#cfcfcf"]         # heap

TITLES = {"ms": "time, ms", "cpu ms": "CPU time, ms", "us": "time, µs", "cpu us": "CPU time, µs",
          "MB": "size, MB", "WAL MB": "WAL, MB", "buffers": "buffers"}

BAR, GAP, LABELS, WIDTH, VALUES = 14, 12, 170, 330, 90


def text(x, y, content, anchor="start", size=11, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{escape(content)}</text>')


def short(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def panel(results, question, metric, top, colors):
    """One metric.  A group's longest bar has full width: compare within a group only."""
    out, y = [text(10, top, TITLES.get(metric, metric), size=12, weight="bold")], top + 12
    for case in results.cases(question, metric=metric):
        variants = results.variants(question, case=case, metric=metric)
        medians = [results.median(question, case, v, metric) for v in variants]
        longest = max(medians) or 1
        out.append(text(LABELS - 8, y + BAR * len(variants) / 2 + 4, case, "end"))
        for v, median in zip(variants, medians):
            width = WIDTH * median / longest
            spread = WIDTH * median * results.spread(question, case, v, metric) / longest
            out.append(f'<rect x="{LABELS}" y="{y}" width="{width:.1f}" height="{BAR - 2}" '
                       f'fill="{colors[v]}"/>')
            if spread >= 1:
                middle = y + (BAR - 2) / 2
                out.append(f'<path d="M{max(width - spread, 0) + LABELS:.1f} {middle}h'
                           f'{min(spread, width) + spread:.1f}" stroke="#222"/>')
            out.append(text(LABELS + width + spread + 5, y + BAR - 4, short(median), size=10))
            y += BAR
        y += GAP
    return out, y + GAP


def plot(results, question, title, path):
    variants = results.variants(question)
    others = iter(OTHERS)
    colors = {v: COLORS.get(v) or next(others) for v in variants}
    out, x = [text(10, 22, title, size=15, weight="bold")], 10
    for v in variants:
        out += [f'<rect x="{x}" y="34" width="12" height="12" fill="{colors[v]}"/>', text(x + 17, 44, v)]
        x += 110
    y = 74
    for metric in results.metrics(question):
        lines, y = panel(results, question, metric, y, colors)
        out += lines
    width = LABELS + WIDTH + VALUES
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
                f'viewBox="0 0 {width} {y}" font-family="sans-serif">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n")
