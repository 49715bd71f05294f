"""A program as a picture: its equations as nodes, each below what it is computed from."""

from __future__ import annotations

import html

_MARGIN, _LAYER, _HEIGHT = 24, 72, 40
#: Graphs of more nodes are no picture any more.
_MOST = 400

_COLOURS = {"input": ("#dcfce7", "#16a34a"), "equation": ("#dbeafe", "#2563eb"), "output": ("#fef3c7", "#d97706")}

Node = tuple[str, list[str], list[int]]


def draw(nodes: list[Node]) -> str:
    """The nodes (kind, lines, nodes it is computed from) as SVG."""
    if len(nodes) > _MOST:
        return f"<p>{len(nodes)} nodes: too many for a picture</p>"
    layers = _layers(nodes)
    widths = [8 * max(map(len, lines), default=0) + 20 for _, lines, _ in nodes]
    place: dict[int, float] = {}
    for layer in layers:
        # In the order of the middles of what they are computed from.
        middle = {node: _mean([place[above] for above in nodes[node][2]]) for node in layer}
        layer.sort(key=lambda node: middle[node])
        total = sum(widths[node] + _MARGIN for node in layer)
        at = -total / 2
        for node in layer:
            place[node] = at + (widths[node] + _MARGIN) / 2
            at += widths[node] + _MARGIN
    left = min((place[k] - widths[k] / 2 for k in place), default=0) - _MARGIN
    right = max((place[k] + widths[k] / 2 for k in place), default=0) + _MARGIN
    top = {node: _MARGIN + _LAYER * row for row, layer in enumerate(layers) for node in layer}
    width, height = right - left, _LAYER * len(layers) - (_LAYER - _HEIGHT) + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px;background:#fff">'
    ]
    for node, (_, _, above) in enumerate(nodes):
        for other in dict.fromkeys(above):
            x0, y0 = place[other] - left, top[other] + _HEIGHT
            x1, y1 = place[node] - left, top[node]
            bend = (y1 - y0) / 2
            parts.append(
                f'<path fill="none" stroke="#7b8794" d="M{x0:.1f} {y0}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1}"/>'
            )
    for node, (kind, lines, _) in enumerate(nodes):
        x, y = place[node] - left, top[node]
        fill, stroke = _COLOURS[kind]
        parts.append(
            f'<rect x="{x - widths[node] / 2:.1f}" y="{y}" width="{widths[node]}" height="{_HEIGHT}" rx="6" fill="{fill}" stroke="{stroke}"/>'
        )
        for row, line in enumerate(lines):
            base = y + (25 if len(lines) == 1 else 17 + 15 * row)
            parts.append(
                f'<text x="{x:.1f}" y="{base}" text-anchor="middle" font-family="monospace" font-size="{13 - 2 * row}">{html.escape(line)}</text>'
            )
    return "".join(parts) + "</svg>"


def _layers(nodes: list[Node]) -> list[list[int]]:
    """Each node in the layer below the lowest that it is computed from; results in the last."""
    depth: list[int] = []
    for kind, _, above in nodes:
        depth.append(1 + max((depth[other] for other in above), default=-1) if kind != "input" else 0)
    last = max(depth, default=0)
    layers: list[list[int]] = [[] for _ in range(last + 1)]
    for node, (kind, _, _) in enumerate(nodes):
        layers[last if kind == "output" else depth[node]].append(node)
    return layers


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
