"""Studies on web pages: ask people which items are similar, and watch the tree grow on a dashboard.

The command is `ordhc collect`.
"""

from collections.abc import Iterable
from typing import Any

from ordhc.hooks import hookimpl
from ordhc.specs import CommandSpec

__all__ = ["ordhc_commands"]
__version__ = "0.1.0"


def _collect() -> Any:
    from ordhc_collect.command import collect

    return collect


@hookimpl
def ordhc_commands() -> Iterable[CommandSpec]:
    """Return the command `ordhc collect`."""
    return [
        CommandSpec(
            name="collect", summary="ask people on a web page, and watch the tree grow", make=_collect
        )
    ]
