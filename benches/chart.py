"""Charts as SVG: small panels with logarithmic axes, one line for each series."""

import html
import math

# Told apart also by those who see few colours, and each series has its own dash.
COLOURS = ("#0072b2", "#d55e00", "#999999", "#009e73", "#cc79a7", "#e69f00")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "10 4")
WIDTH, HEIGHT, COLUMNS = 300, 210, 4
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 26, 30


def ticks(low, high):
    """Powers of ten from below `low` to above `high`."""
    return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def short(value):
    """A number in few characters, as `10k`."""
    for unit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{suffix}"
    return f"{value:g}"


def panel(title, series, names, marks, x, y):
    """One panel: `series` has for each name a list of points (size, value)."""
    points = [point for line in series.values() for point in line]
    if not points:
        return []
    (x0, x1) = min(p[0] for p in points), max(p[0] for p in points)
    y_ticks = ticks(min(p[1] for p in points), max(p[1] for p in points))
    if len(y_ticks) == 1:
        y_ticks.append(y_ticks[0] * 10)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    place_x = lambda v: x + LEFT + width * (math.log(v / x0) / math.log(x1 / x0) if x1 > x0 else 0.5)
    place_y = lambda v: y + TOP + height * (1 - math.log(v / y_ticks[0]) / math.log(y_ticks[-1] / y_ticks[0]))
    out = [f'<text x="{x + LEFT}" y="{y + 16}" class="title">{html.escape(title)}</text>']
    for tick in y_ticks:
        at = place_y(tick)
        out.append(f'<line x1="{x + LEFT}" x2="{x + LEFT + width}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        out.append(f'<text x="{x + LEFT - 5}" y="{at + 3:.1f}" class="end">{short(tick)}</text>')
    for tick in [t for t in (1, 4, 16, 64, 256, 1000) if x0 <= t <= x1]:
        out.append(f'<text x="{place_x(tick):.1f}" y="{y + TOP + height + 14}" class="middle">{tick}</text>')
    for index, name in enumerate(names):
        line = sorted(series.get(name, []))
        if line:
            path = " ".join(f"{place_x(a):.1f},{place_y(b):.1f}" for a, b in line)
            style = f'stroke="{COLOURS[index]}" stroke-dasharray="{DASHES[index]}"'
            out.append(f'<polyline points="{path}" fill="none" {style} stroke-width="1.8"/>')
    for a, b in marks:
        out.append(f'<circle cx="{place_x(a):.1f}" cy="{place_y(b):.1f}" r="4" fill="none" stroke="#c00000" stroke-width="1.5"/>')
    return out


def svg(heading, note, panels, names):
    """The whole picture; `panels` are (title, series, marks), and `names` says the order of the series."""
    columns = min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    wide, high = columns * WIDTH, 64 + rows * HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="10">',
        "<style>.title{font-size:12px;font-weight:bold}.grid{stroke:#dddddd}.end{text-anchor:end;fill:#555}.middle{text-anchor:middle;fill:#555}</style>",
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        f'<text x="12" y="20" font-size="14" font-weight="bold">{html.escape(heading)}</text>',
        f'<text x="12" y="36" fill="#555">{html.escape(note)}</text>',
    ]
    at = 12
    for index, name in enumerate(names):
        style = f'stroke="{COLOURS[index]}" stroke-dasharray="{DASHES[index]}"'
        out.append(f'<line x1="{at}" x2="{at + 26}" y1="50" y2="50" {style} stroke-width="2"/><text x="{at + 31}" y="54">{html.escape(name)}</text>')
        at += 60 + 6 * len(name)
    for index, (title, series, marks) in enumerate(panels):
        out += panel(title, series, names, marks, index % columns * WIDTH, 60 + index // columns * HEIGHT)
    return "\n".join([*out, "</svg>", ""])
