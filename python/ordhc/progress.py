"""Progress for functions of plugins: `progress=True` shows a bar there as well.

It is defined in `ordhc._progress`.
"""

from ordhc._progress import Progress, part, shows_progress

__all__ = ["Progress", "part", "shows_progress"]


def __dir__() -> list[str]:
    return sorted(__all__)
