"""Format tables as plain text."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], *, left: int | None = None) -> list[str]:
    """Return one line of text for each row, with all cells of a column padded to the same width.

    The first `left` columns are aligned left, the others right. By default all columns are aligned left.

    Examples
    --------
    >>> aligned([("method", "score"), ("a", "0.5")])
    ['method  score', 'a       0.5']
    >>> aligned([("method", "score"), ("a", "0.5")], left=1)
    ['method  score', 'a         0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if left is None or at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
