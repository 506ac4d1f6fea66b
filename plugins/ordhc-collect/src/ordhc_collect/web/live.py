"""The contents of the dashboard, updated as answers arrive and shared by all viewers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ordhc import Session
from ordhc_collect.analysis.comparing import GROUPS, STRUCTURE, Compared, Comparing
from ordhc_collect.analysis.summary import Summary, summarise
from ordhc_collect.people.study_state import StudyState
from ordhc_collect.people.tables import copy_session
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.model import Study

T = TypeVar("T")

log = logging.getLogger("ordhc_collect")
#: The minimum time between two snapshots is _PAUSE + _SHARE * t seconds, if the last one took t seconds.
_PAUSE, _SHARE = 1.5, 4
#: Maximum number of points of the curve of accuracy over time.
_MOST_POINTS = 400

Point = tuple[float, float, float, float]


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of the study: its answers, its people, and the held-out accuracy so far.

    Attributes
    ----------
    version
        The number of the snapshot, from 0.
    here, joined
        The number of people who take part now, and of all people who joined.
    cost
        The cost of the people who are done, with the platform's fee.
    history
        The held-out accuracy over time, see `StudyState.history`.
    asked
        The number of questions that each sampler has chosen.
    structure
        The result of the test whether a tree describes the answers.
    groups
        The result of the test whether people agree on one tree.
    """

    version: int
    summary: Summary
    here: int
    joined: int
    outcomes: dict[str, int]
    cost: float
    history: tuple[Point, ...]
    asked: dict[str, int]
    structure: Compared
    groups: Compared


class Live:
    """Makes the snapshots for the dashboard, but only while a browser shows the dashboard."""

    def __init__(self, study: Study, state: StudyState, writer: Writer) -> None:
        self._study, self._state, self._writer = study, state, writer
        self.path = state.path
        self._pool = ThreadPoolExecutor(1, "ordhc-collect dashboard")
        self._lock = asyncio.Lock()
        self._snapshot: Snapshot | None = None
        self._comparing = Comparing(STRUCTURE, GROUPS)
        self._session: Session | None = None
        self._made = 0.0
        self._took = 0.0

    def close(self) -> None:
        self._comparing.close()
        self._pool.shutdown(cancel_futures=True)
        if self._session is not None:
            self._session.close()

    async def now(self) -> Snapshot:
        """Return the current snapshot; make a new snapshot if the last one is too old."""
        async with self._lock:
            age = self._state.clock.now() - self._made
            if self._snapshot is None or age > _PAUSE + _SHARE * self._took:
                loop = asyncio.get_running_loop()
                start = loop.time()
                history, asked = await self._writer.do(lambda state: (state.history(), state.asked()))
                summary = await loop.run_in_executor(self._pool, self._summary)
                self._snapshot = await self._snapshot_of(summary, history, asked)
                self._took = loop.time() - start
                self._made = self._state.clock.now()
            return self._snapshot

    def _summary(self) -> Summary:
        return summarise(self._study, self.session(), self._state.clock.now())

    def session(self) -> Session:
        """Return the dashboard's session, for reading; call this only on the dashboard's own thread."""
        if self._session is None:
            self._session = Session(self.path)
        return self._session

    async def work(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def copy_file(self, target: Path) -> None:
        copy_session(self.path, target)

    async def _snapshot_of(self, summary: Summary, history: list[Point], asked: dict[str, int]) -> Snapshot:
        if summary.heldout is not None:
            _, share, low, high = summary.heldout
            point = (float(summary.n_answers), share, low, high)
            if not history or summary.n_answers >= history[-1][0] + max(10, 0.01 * history[-1][0]):
                history = [*history, point]
                if len(history) > _MOST_POINTS:
                    history = history[::2]
                kept = history
                await self._writer.do(lambda state: state.keep_history(kept))
            elif summary.n_answers != history[-1][0]:
                history = [*history, point]
        people, now = list(self._state.people.copy().values()), self._state.clock.now()
        outcomes: dict[str, int] = {}
        for person in people:
            if person.outcome is not None:
                outcomes[person.outcome] = outcomes.get(person.outcome, 0) + 1
        pay = self._study.pay
        version = 0 if self._snapshot is None else self._snapshot.version + 1
        return Snapshot(
            version,
            summary,
            sum(self._state.is_here(person.id, now) for person in people),
            len(people),
            outcomes,
            outcomes.get("done", 0) * pay.per_person * (1 + pay.fee),
            tuple(history),
            asked,
            *self._comparing.results(summary.comparisons),
        )

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        last = -1
        while True:
            try:
                snapshot = await self.now()
            except OSError as error:
                log.error("the dashboard cannot read the session: %s", error)
            else:
                if snapshot.version != last:
                    last = snapshot.version
                    yield snapshot
            await asyncio.sleep(1)
