"""Draws one question as SVG: its curves, then a panel of bars per metric, a group per case, a bar per variant."""

import curves
from drawing import TITLES, page, text

COLORS = {"sliced lz4": "#1b6ca8", "sliced zstd": "#63b0e3", "sliced": "#1b6ca8", "loaded": "#1b6ca8"}
OTHERS = ["#9a9a9a", "#cfcfcf"]         # heap

BAR, GAP, LABELS, WIDTH, VALUES = 14, 12, 170, 330, 90


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
        x += 30 + 7 * len(v)
    width, y, lines = LABELS + WIDTH + VALUES, 74, results.curves(question)
    if lines:
        drawn, curves_width, y = curves.draw(lines, y)
        out += drawn
        width = max(width, curves_width)
    for metric in results.metrics(question):
        lines, y = panel(results, question, metric, y, colors)
        out += lines
    with open(path, "w", encoding="utf-8") as f:
        f.write(page(width, y, out))
