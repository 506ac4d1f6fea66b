"""Progress bars for functions of plugins.

A function with the decorator `shows_progress` shows a progress bar if it is called with `progress=True`.

The functions are defined in `ordhc._progress`.
"""

from ordhc._progress import Progress, part, shows_progress

__all__ = ["Progress", "part", "shows_progress"]
__dir__ = __all__.copy
