"""Draw the dashboard's pictures as SVG: the tree, and the held-out accuracy over time."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from ordhc import Dendrogram
from ordhc_collect.study.items import Item
from ordhc_collect.study.media import MEDIA

_ROW, _WIDTH, _LABELS = 34, 640, 190
#: Maximum size in bytes of a picture that is embedded in a drawing. With 40 pictures of this size, encoded as
#: base64, a file has about 11 MB.
_LARGEST = 200_000
_INK, _SOFT, _LINE, _SURE, _UNSURE = "#25232b", "#5b5866", "#8b8898", "#23684a", "#a1481f"


def tree_svg(tree: Dendrogram, items: Sequence[Item], *, is_apart: bool = False) -> str:
    """Return the SVG of a dendrogram with pictures of its items; a larger dot means more support.

    If `is_apart` is True, the drawing is used without the server: pictures of up to `_LARGEST` bytes are
    embedded. Otherwise pictures are links to the server.
    """
    n = tree.n_leaves
    height = n * _ROW + 16
    root = tree.root
    places: dict[int, tuple[float, float]] = {}
    span = _WIDTH - _LABELS - 20
    depth = _depths(tree)
    deepest = max(depth.values(), default=1) or 1
    lines, dots, labels = [], [], []
    row = 0
    for node in tree.nodes("preorder"):
        if node.is_leaf:
            places[node.label] = (10 + span, 8 + _ROW * (row + 0.5))
            labels.append(_label(items[node.label], node.label, *places[node.label], is_apart))
            row += 1
    for node in tree.nodes("postorder"):
        if node.is_leaf:
            continue
        children = node.children
        ys = [places[child.label][1] for child in children]
        x = 10 + span * (1 - depth[node.label] / deepest)
        places[node.label] = (x, (min(ys) + max(ys)) / 2)
        lines.append(f"M{x:.1f} {min(ys):.1f}V{max(ys):.1f}")
        lines.extend(
            f"M{x:.1f} {places[child.label][1]:.1f}H{places[child.label][0]:.1f}" for child in children
        )
        if node != root and node.support is not None:
            dots.append(_dot(*places[node.label], node.support))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Tree of {n} items" class="tree" '
        f'xmlns="http://www.w3.org/2000/svg">'
        f'<path d="{"".join(lines)}" fill="none" stroke="{_LINE}" stroke-width="1.6" stroke-linecap="round"/>'
        f"{''.join(dots)}{''.join(labels)}</svg>"
    )


def trees_html(tree: Dendrogram, items: Sequence[Item]) -> str:
    """Return two drawings: one of the clusters with a support of at least 0.5, and one of all clusters.

    A switch on the page selects which drawing is shown.
    """
    whole = tree_svg(tree, items)
    known = whole if tree.support is None else tree_svg(tree.contract(0.5), items)
    return f'<div class="known">{known}</div><div class="whole">{whole}</div>'


def _depths(tree: Dendrogram) -> dict[int, int]:
    found: dict[int, int] = {}
    for node in tree.nodes("postorder"):
        found[node.label] = 0 if node.is_leaf else 1 + max(found[child.label] for child in node.children)
    return found


def _text(x: float, y: float, text: str, size: int, colour: str, anchor: str = "end") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'


def _label(item: Item, leaf: int, x: float, y: float, is_apart: bool) -> str:
    name = item.name if len(item.name) <= 20 else f"{item.name[:19]}…"
    address = _address(item, leaf, is_apart)
    has_picture = address is not None
    text = _text(x + (42 if has_picture else 10), y + 5, name, 15, _INK, "start")
    picture = ""
    if has_picture:
        place = f'x="{x + 6:.1f}" y="{y - 15:.1f}" width="30" height="30"'
        picture = f'<image href="{address}" {place}/>'
    return f"<g><title>{escape(item.name)}</title>{picture}{text}</g>"


def _address(item: Item, leaf: int, is_apart: bool) -> str | None:
    path = item.files.get("picture")
    if path is None or not is_apart:
        return None if path is None else f"media/{leaf}/picture?w=320"
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return None
    return f"data:{MEDIA['picture'][path.suffix.lower()]};base64,{b64encode(path.read_bytes()).decode()}"


def _dot(x: float, y: float, support: float) -> str:
    colour = _SURE if support >= 0.5 else _UNSURE
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{3 + 5 * support:.1f}"'
    dot = f'<circle {place} fill="{colour}" stroke="#fff" stroke-width="1.5"/>'
    text = _text(x - 9, y - 6, f"{support:.0%}", 11, colour)
    return f"<g><title>support {support:.0%}</title>{dot}{text}</g>"


def line_svg(
    points: Sequence[tuple[float, float, float, float]],
    chance: float,
    words: tuple[str, str] = ("chance", "answers"),
) -> str:
    """Return the SVG of a curve of shares, such as the held-out accuracy, with their intervals.

    A point has the number of answers, the share, and the lower and upper ends of the interval. A dashed line
    shows `chance`, the share that random answers reach. `words` are the translations of "chance" and
    "answers".
    """
    width, height, left, bottom = 460, 200, 44, 28
    last = max((point[0] for point in points), default=1) or 1

    def x(value: float) -> float:
        return left + (width - left - 12) * value / last

    def y(value: float) -> float:
        return 10 + (height - bottom - 10) * (1 - value)

    right = width - 12
    grid = "".join(
        f'<path d="M{left} {y(share):.1f}H{right}" stroke="#e6e3dc"/>'
        + _text(left - 8, y(share) + 4, f"{share:.0%}", 12, _SOFT)
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    grid += f'<path d="M{left} {y(chance):.1f}H{right}" stroke="{_UNSURE}" stroke-dasharray="3 4"/>'
    grid += _text(right - 2, y(chance) - 5, words[0], 11, _UNSURE)
    grid += _text(right, height - 6, f"{last:,.0f} {words[1]}", 12, _SOFT)
    drawn = ""
    if points:
        upper = " ".join(f"{x(at):.1f},{y(high):.1f}" for at, _, _, high in points)
        lower = " ".join(f"{x(at):.1f},{y(low):.1f}" for at, _, low, _ in reversed(points))
        middle = " ".join(f"{x(at):.1f},{y(share):.1f}" for at, share, _, _ in points)
        at, share, low, high = points[-1]
        drawn = (
            f'<polygon points="{upper} {lower}" fill="#3c4a9e" fill-opacity="0.13"/>'
            f'<polyline points="{middle}" fill="none" stroke="#3c4a9e" stroke-width="2.2"/>'
            f'<path d="M{x(at):.1f} {y(low):.1f}V{y(high):.1f}" stroke="#3c4a9e"/>'
            f'<circle cx="{x(at):.1f}" cy="{y(share):.1f}" r="4" fill="#3c4a9e"/>'
        )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Held-out accuracy over answers" '
        f'xmlns="http://www.w3.org/2000/svg">{grid}{drawn}</svg>'
    )
