"""Progress bars for functions of plugins: with `shows_progress`, `progress=True` shows a bar.

The functions are defined in `ordhc._progress`.
"""

from ordhc._progress import Progress, part, shows_progress

__all__ = ["Progress", "part", "shows_progress"]


def __dir__() -> list[str]:
    return sorted(__all__)
