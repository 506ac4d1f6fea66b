"""Make HTML for notebooks, in the text colour of the page, so that it fits light and dark themes."""

from collections.abc import Iterable, Sequence
from typing import Any

_LINE = "1px solid color-mix(in srgb, currentColor 30%, transparent)"
_PADDING = "padding:.25em .8em"


def block(title: str, *parts: str) -> str:
    head = f'<div style="{_PADDING};font-weight:600">{_text(title, 400)}</div>'
    return f'<div class="ordhc" style="display:inline-block;max-width:100%">{head}{"".join(parts)}</div>'


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    left: int = 1,
    strong: int | None = None,
    notes: Iterable[str] = (),
) -> str:
    """Return an HTML table with `columns` as headings.

    The first `left` columns are aligned left, the others right. Row `strong` is bold. `notes` are lines of
    text below the rows, each across the whole table.
    """

    def cells(kind: str, row: Sequence[Any], weight: int) -> str:
        return "".join(
            f'<{kind} style="{_PADDING};border:none;background:none;font-weight:{weight};'
            f'text-align:{"left" if at < left else "right"}">{_text(cell)}</{kind}>'
            for at, cell in enumerate(row)
        )

    style = '<tr style="background:none">'
    body = [f"{style}{cells('td', row, 600 if at == strong else 400)}</tr>" for at, row in enumerate(rows)]
    for note in notes:
        across = f'colspan="{len(columns)}" style="{_PADDING};border:none;background:none;text-align:left'
        body.append(f'{style}<td {across};opacity:.75">{_text(note, 400)}</td></tr>')
    head = f"{style}{cells('th', columns, 600)}</tr>"
    return (
        f'<table style="border-collapse:collapse;border:none;border-bottom:{_LINE};margin:0">'
        f'<thead style="border-top:{_LINE};border-bottom:{_LINE}">{head}</thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def picture(svg: str) -> str:
    """Return HTML with a drawing on white, because the colours of drawings are made for white paper."""
    return (
        '<div style="background:#fff;border-radius:4px;margin:.5em 0;padding:.25em;display:inline-block">'
        f"{svg}</div>"
    )


def asked(subject: Any) -> str:
    """Return HTML that shows the share of leaves that a learner or a session has placed in its tree."""
    share = subject.status.n_placed / max(subject.n_leaves - len(getattr(subject, "retired", ())), 1)
    bar = f'<progress value="{share:.3f}" max="1" style="width:20em;max-width:60%"></progress>'
    return block(
        repr(subject)[1:-1], f'<div style="{_PADDING}">{bar} {share:.0%} of the leaves have their place</div>'
    )


def _text(value: Any, longest: int = 60) -> str:
    from html import escape

    text = str(value)
    return escape(text if len(text) <= longest else text[:longest] + "…")
