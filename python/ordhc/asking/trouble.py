"""Errors of SQLite as those of ordhc."""

import sqlite3
from collections.abc import Callable

from ordhc.errors import InputError

__all__ = ["Errors"]


class Errors:
    """A context that hands errors of a file and of what stands in it to what explains them."""

    def __init__(self, explain: Callable[[BaseException], None]) -> None:
        self._explain = explain

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        reading = (sqlite3.Error, ValueError, TypeError, KeyError, OverflowError, RecursionError)
        if isinstance(error, reading) and not isinstance(error, InputError):
            self._explain(error)
