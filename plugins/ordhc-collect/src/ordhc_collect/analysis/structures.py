"""Is it a tree at all: what the dashboard says, beside everything else that it shows."""

import logging
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate.structure import Structure, seconds_needed
from ordhc_collect.analysis.tree import unit_of

__all__ = ["Compared", "Comparing"]

log = logging.getLogger("ordhc_collect")
#: Structures are compared from so many answers on, and again when there are so many times as many.
_FEWEST, _GROWN = 100, 1.25
#: Comparisons that would take more processor time, in seconds, are left to the command.
_MOST_SECONDS = 60.0
_FOLDS = 5


@dataclass(frozen=True)
class Compared:
    """The conclusion of a comparison of structures, or the reason why there is none.

    Attributes
    ----------
    n_answers
        The number of answers that were compared; 0 if none were.
    headline, text
        The conclusion in a sentence, and what it rests on; or what is missing.
    caution
        What limits the conclusion; None if nothing does.
    """

    n_answers: int
    headline: str
    text: str
    caution: str | None = None


class _StoppedError(Exception):
    """The server ends."""


class Comparing:
    """Compares structures on a thread of its own, so that nobody waits for it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "ordhc-collect structure")
        self._running: Future[Compared] | None = None
        self._is_closed = False
        self._last = _missing(0)

    def look(self, data: Triplets | Quadruplets) -> Compared:
        """Return the last comparison, and begin another one if answers have grown by a quarter."""
        if self._running is not None and self._running.done():
            finished, self._running = self._running, None
            with suppress(_StoppedError):
                self._last = finished.result()
        n = len(np.unique(answers_of(data)))
        if n < _FEWEST:
            self._last = _missing(n)
        elif self._running is None and n >= _GROWN * self._last.n_answers and not self._is_closed:
            if seconds_needed(data, _FOLDS) > _MOST_SECONDS:
                return Compared(
                    0,
                    "",
                    "This takes too long beside a running study: download study.ordhc, and run "
                    "ordhc structure study.ordhc.",
                )
            self._running = self._pool.submit(_compared, data, n, self._check)
        if self._running is not None and not self._last.n_answers:
            return Compared(0, "", "Being compared …")
        return self._last

    def _check(self, _: float) -> None:
        if self._is_closed:
            raise _StoppedError

    def close(self) -> None:
        """Stop at the next step."""
        self._is_closed = True
        self._pool.shutdown(cancel_futures=True)


def _missing(n: int) -> Compared:
    return Compared(0, "", f"Appears after {_FEWEST} answers; there are {n}.")


def _compared(data: Triplets | Quadruplets, n: int, progress: Callable[[float], None]) -> Compared:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        try:
            found: Structure = ordhc.structure(data, folds=_FOLDS, unit=unit_of(data), progress=progress)
        except InputError as error:
            return Compared(n, "", f"Structures could not be compared: {error}.")
        except _StoppedError:
            raise
        except Exception:
            log.exception("structures can't be compared")
            return Compared(n, "", "Structures could not be compared.")
    verdict = found.verdict
    return Compared(n, verdict.headline, verdict.text.removeprefix(verdict.headline).strip(), found.caution)
