"""Format tables as plain text."""

from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(rows: Sequence[Sequence[str]], *, left: int | None = None) -> list[str]:
    """Return one line of text for each row, with all cells of a column padded to the same width.

    Parameters
    ----------
    rows
        The heading and the rows, all with the same number of cells.
    left
        The number of columns, from the first, that are aligned left. The others are aligned right. By default
        all columns are aligned left.

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
