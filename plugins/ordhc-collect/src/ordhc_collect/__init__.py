"""Ask people on a web page which things are alike, and watch the hierarchy grow.

`ordhc collect` is the command; `read_study` reads a study file.
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
    """The command `ordhc collect`."""
    return [
        CommandSpec(
            name="collect", summary="ask people on a web page, and watch the tree grow", make=_collect
        )
    ]
