"""What all drawings have in common."""

from xml.sax.saxutils import escape

TITLES = {"ms": "time, ms", "cpu ms": "CPU time, ms", "us": "time, µs", "cpu us": "CPU time, µs",
          "MB": "size, MB", "WAL MB": "WAL, MB", "WAL B": "WAL, bytes", "buffers": "buffers"}


def text(x, y, content, anchor="start", size=11, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{escape(content)}</text>')


def page(width, height, content):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(content) + "\n</svg>\n")
