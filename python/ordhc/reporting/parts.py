"""Make parts of HTML pages: paragraphs, tables, tiles, small pictures of intervals. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


class Markup(str):
    """HTML text, which is not escaped again. All other text is escaped."""

    __slots__ = ()


def text(value: Any, longest: int = 120) -> Markup:
    """Return escaped text, cut to `longest` characters; `Markup` is returned as it is."""
    if isinstance(value, Markup):
        return value
    found = str(value)
    return Markup(escape(found if len(found) <= longest else found[: longest - 1] + "…"))


def paragraph(value: str, kind: str = "") -> Markup:
    return Markup(f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{text(value, 10_000)}</p>")


def note(value: str | None) -> Markup:
    return Markup("") if value is None else paragraph(value, "note")


def section(key: str, title: str, *parts: str) -> Markup:
    """Return a section of the page; plain text in `parts` becomes a paragraph, `Markup` stays as it is."""
    body = "".join(part if isinstance(part, Markup) else paragraph(part) for part in parts)
    return Markup(f'<section id="{key}"><h2>{text(title)}</h2>{body}</section>')


def tiles(rows: Iterable[tuple[str, str]]) -> Markup:
    cells = "".join(f"<li><b>{text(number)}</b><span>{text(what)}</span></li>" for number, what in rows)
    return Markup(f'<ul class="tiles">{cells}</ul>')


def figure(svg: str, caption: str) -> Markup:
    return Markup(f"<figure><div>{svg}</div><figcaption>{text(caption, 2000)}</figcaption></figure>")


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    kinds: str,
    caption: str = "",
    best: int | None = None,
) -> Markup:
    """Return an HTML table.

    `kinds` has one letter for each column: "l" text, "s" short text, "n" number, "w" long text that wraps.
    `best` is the index of a row to highlight.
    """
    classes = {"l": "", "s": ' class="s"', "n": ' class="n"', "w": ' class="wrap"'}
    # Screen readers would announce an empty header, so a column of pictures has a plain cell instead.
    head = "".join(
        f'<th scope="col"{classes[kind]}>{text(name)}</th>' if name else "<td></td>"
        for name, kind in zip(columns, kinds, strict=False)
    )
    head = f"<thead><tr>{head}</tr></thead>" if columns else ""
    body = []
    for at, row in enumerate(rows):
        cells = []
        for place, (cell, kind) in enumerate(zip(row, kinds, strict=True)):
            tag = 'th scope="row"' if place == 0 else "td"
            cells.append(f"<{tag}{classes[kind]}>{text(cell, 400)}</{tag[:2]}>")
        mark = ' class="best"' if at == best else ""
        body.append(f"<tr{mark}>{''.join(cells)}</tr>")
    below = paragraph(caption, "quiet") if caption else ""
    return Markup(f'<div class="table"><table>{head}<tbody>{"".join(body)}</tbody></table></div>{below}')


def roomy_span(shares: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a line on which all `shares` can be drawn, for `interval`."""
    low, high = min(shares), max(shares)
    room = max(0.08 * (high - low), 0.02)
    return max(low - room, 0.0), min(high + room, 1.0)


def interval(
    value: float,
    low: float | None,
    high: float | None,
    *,
    chance: float | None = None,
    ceiling: tuple[float, float] | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    mark: bool = False,
) -> Markup:
    """Return a small picture of a value (a point) and its interval on a line.

    `span` has the values at the two ends of the line. `chance` is drawn as a dashed mark, `ceiling` (the
    bounds of the noise ceiling) as a band. With `mark`, the picture has the colour of warnings.
    """

    def x(share: float) -> str:
        return f"{2 + 140 * min(max((share - span[0]) / (span[1] - span[0]), 0.0), 1.0):.1f}"

    ink = "var(--warn)" if mark else "var(--mark)"
    parts = ['<line x1="2" x2="142" y1="9" y2="9" stroke="var(--pale)"/>']
    if ceiling is not None:
        start, end = (float(x(share)) for share in ceiling)
        parts.append(
            f'<rect x="{start:.1f}" y="2" width="{max(end - start, 1.0):.1f}" height="14" '
            'fill="var(--pale)"/>'
        )
    if chance is not None:
        parts.append(
            f'<line x1="{x(chance)}" x2="{x(chance)}" y1="1" y2="17" stroke="var(--line)" '
            'stroke-dasharray="3 2"/>'
        )
    if low is not None and high is not None:
        parts.append(f'<line x1="{x(low)}" x2="{x(high)}" y1="9" y2="9" stroke="{ink}" stroke-width="2.5"/>')
    parts.append(f'<circle cx="{x(value)}" cy="9" r="4" fill="{ink}"/>')
    return Markup(
        f'<svg class="bar" viewBox="0 0 144 18" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )
