"""Draws curves: a panel per metric, both axes logarithmic, a line per case and variant."""

import math

from drawing import TITLES, text

LEFT, PANEL, HEIGHT, RIGHT = 60, 400, 230, 150

# From the first case to the last, and how the line is drawn.
STYLES = {"sliced": ((27, 108, 168), (140, 200, 240), ""), "heap": ((70, 70, 70), (190, 190, 190), ""),
          "heap estimated": ((70, 70, 70), (190, 190, 190), ' stroke-dasharray="3 3"'),
          "sliced zstd": ((27, 108, 168), (140, 200, 240), ' stroke-dasharray="8 3"'),
          "heap pglz": ((70, 70, 70), (190, 190, 190), ' stroke-dasharray="8 3"')}


def style(variant):
    return STYLES.get(variant) or STYLES[variant.split()[0]]


def color(variant, place):
    first, last, _ = style(variant)
    return "#" + "".join(f"{round(a + (b - a) * place):02x}" for a, b in zip(first, last))


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


class Axis:
    """Maps values to places between two ends."""

    def __init__(self, values, begin, end):
        self.low, self.high = decades(values)
        self.high = max(self.high, self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (self.end - self.begin) * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self):
        return [10.0 ** n for n in range(self.low, self.high + 1)]


def bytes_name(n):
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if n >= unit:
            return f"{n / unit:g} {name}"
    return f"{n:g} B"


def grid(x, y):
    out = []
    for value in x.ticks():
        out += [f'<path d="M{x.at(value):.1f} {y.begin}V{y.end}" stroke="#e4e4e4"/>',
                text(x.at(value), y.begin + 14, bytes_name(value), "middle", size=10)]
    for value in y.ticks():
        out += [f'<path d="M{x.begin} {y.at(value):.1f}H{x.end}" stroke="#e4e4e4"/>',
                text(x.begin - 6, y.at(value) + 3, f"{value:,g}", "end", size=10)]
    return out


def spread_out(places, distance):
    """Move labels down until none covers another."""
    moved, last = {}, -math.inf
    for key, place in sorted(places.items(), key=lambda item: item[1]):
        last = moved[key] = max(place, last + distance)
    return moved


def panel(curves, metric, top):
    lines = {(case, variant): [(x, y) for x, y in points if y > 0]
             for (case, variant, m), points in curves.items() if m == metric}
    lines = {key: points for key, points in lines.items() if points}
    cases = [*dict.fromkeys(case for case, _ in lines)]
    bottom = top + 14 + HEIGHT
    x = Axis([x for points in lines.values() for x, _ in points], LEFT, LEFT + PANEL)
    y = Axis([y for points in lines.values() for _, y in points], bottom, top + 14)
    out = [text(10, top, TITLES.get(metric, metric), size=12, weight="bold"), *grid(x, y)]
    for (case, variant), points in lines.items():
        stroke = color(variant, cases.index(case) / max(1, len(cases) - 1))
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="1.8"'
                   f'{style(variant)[2]}/>')
    ends = {key: y.at(points[-1][1]) for key, points in lines.items() if not continues(lines, *key)}
    for (case, variant), place in spread_out(ends, 10).items():
        out.append(text(x.end + 6, place + 3, f"{case}, {variant.removesuffix(' lz4')}", size=9))
    return out, max(bottom, top + 14 + 10 * len(ends)) + 44


def continues(lines, case, variant):
    """Does an estimate go on where this line ends?"""
    return (case, f"{variant.split()[0]} estimated") in lines and not variant.endswith("estimated")


def draw(curves, top):
    """All metrics; the drawing, its width and where it ends."""
    out, y = [], top
    for metric in dict.fromkeys(metric for _, _, metric in curves):
        lines, y = panel(curves, metric, y)
        out += lines
    return out, LEFT + PANEL + RIGHT, y
