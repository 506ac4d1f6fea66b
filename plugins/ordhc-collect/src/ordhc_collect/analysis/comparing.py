"""Test whether a tree describes the answers, and whether people agree on one tree, for the dashboard.

The tests run on their own thread.
"""

import logging
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate import mixture, structure
from ordhc_collect.analysis.tree import unit_of

log = logging.getLogger("ordhc_collect")
_FEWEST = 100
#: A test is repeated when the number of answers has grown by this factor.
_GROWN = 1.25
#: A test whose estimated processor time in seconds exceeds this limit is not run.
_MOST_SECONDS = 60.0
_FOLDS = 5
#: Maximum number of people whom the dashboard names for each group.
_NAMED = 8

Data = Triplets | Quadruplets
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Members:
    """The names of some people of a group, and the number of people in the group."""

    named: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class Compared:
    """The conclusion of a test, or the reason why there is no conclusion.

    `n_answers` is the number of answers that the test used; 0 if no test was run. Without a conclusion,
    `text` has the reason. `caution` is a limitation of the conclusion.
    """

    n_answers: int
    headline: str
    text: str
    caution: str | None = None
    groups: tuple[Members, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A test that compares models of the same answers.

    `seconds` returns the estimated processor time of the test in seconds. The command `command` runs the
    same test. `failed` is the message if the test fails.
    """

    compare: Callable[[Data, Progress], Compared]
    seconds: Callable[[Data], float]
    command: str
    failed: str


def _structure(data: Data, progress: Progress) -> Compared:
    found = ordhc.structure(data, folds=_FOLDS, unit=unit_of(data), progress=progress)
    return _concluded(found.verdict, found.caution)


def _groups(data: Data, progress: Progress) -> Compared:
    found = ordhc.people_groups(data, folds=_FOLDS, progress=progress)
    groups = found.groups if found.n_trees > 1 else ()
    members = [
        Members(tuple(str(who) for who in group.people[:_NAMED]), len(group.people)) for group in groups
    ]
    return replace(_concluded(found.verdict, found.caution), groups=tuple(members))


def _concluded(verdict: structure.Verdict, caution: str | None) -> Compared:
    more = verdict.text.removeprefix(verdict.headline).strip()
    return Compared(0, verdict.headline, more, caution)


STRUCTURE = Comparison(
    _structure,
    lambda data: structure.seconds_needed(data, _FOLDS),
    "ordhc structure",
    "Structures could not be compared",
)
GROUPS = Comparison(
    _groups,
    lambda data: mixture.seconds_needed(data, folds=_FOLDS),
    "ordhc people-groups",
    "The search for groups of people failed",
)


class _StoppedError(Exception):
    """Ends a running test when the server stops."""


class Comparing:
    """Runs tests one after the other on their own thread, so that no request waits for a test."""

    def __init__(self, *comparisons: Comparison) -> None:
        self._pool = ThreadPoolExecutor(1, "ordhc-collect comparing")
        self._comparisons = comparisons
        self._running: dict[Comparison, Future[Compared]] = {}
        self._last = dict.fromkeys(comparisons, _missing(0))
        self._is_closed = False

    def results(self, data: Data) -> tuple[Compared, ...]:
        """Return the last result of each test; run a test again after 25% more answers."""
        n = len(np.unique(answers_of(data)))
        return tuple(self._result(comparison, data, n) for comparison in self._comparisons)

    def _result(self, comparison: Comparison, data: Data, n: int) -> Compared:
        running = self._running.get(comparison)
        if running is not None and running.done():
            del self._running[comparison]
            with suppress(_StoppedError):
                self._last[comparison] = running.result()
        last, is_running = self._last[comparison], comparison in self._running
        if n < _FEWEST:
            last = self._last[comparison] = _missing(n)
        elif not is_running and n >= _GROWN * last.n_answers and not self._is_closed:
            if comparison.seconds(data) > _MOST_SECONDS:
                return Compared(
                    0,
                    "",
                    "This takes too long while the study runs: download study.ordhc, and run "
                    f"{comparison.command} study.ordhc.",
                )
            self._running[comparison] = self._pool.submit(_compared, comparison, data, n, self._check)
            is_running = True
        return Compared(0, "", "Being compared …") if is_running and not last.n_answers else last

    def _check(self, _: float) -> None:
        if self._is_closed:
            raise _StoppedError

    def close(self) -> None:
        """Cancel the statistical tests that wait; stop the running one at its next progress report."""
        self._is_closed = True
        self._pool.shutdown(cancel_futures=True)


def _missing(n: int) -> Compared:
    return Compared(0, "", f"Appears after {_FEWEST} answers; there are {n}.")


def _compared(comparison: Comparison, data: Data, n: int, progress: Progress) -> Compared:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        try:
            return replace(comparison.compare(data, progress), n_answers=n)
        except InputError as error:
            return Compared(n, "", f"{comparison.failed}: {error}.")
        except _StoppedError:
            raise
        except Exception:
            log.exception(comparison.failed)
            return Compared(n, "", f"{comparison.failed}.")
