"""The single thread that writes to the session file."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ordhc_collect.people.state import RefusedError
from ordhc_collect.people.study_state import StudyState

T = TypeVar("T")
#: Maximum number of requests in a transaction.
_MOST = 256
#: Seconds after which a transaction accepts no more requests, so that its first request is not delayed.
_LONGEST = 0.04


class Writer:
    """A thread that executes requests one after the other.

    Requests that arrive during a transaction share the next transaction. A request gets its result only when
    its transaction is on the disk. If a shared transaction fails, each of its requests is tried alone, so
    that one faulty request does not affect the others.
    """

    def __init__(self, state: StudyState) -> None:
        self._state = state
        #: True if memory may differ from the file, because a transaction failed.
        self._is_stale = False
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ordhc-collect writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[StudyState], T]) -> T:
        """Execute `work` in a transaction, and return its result.

        If the file cannot be written, for example because the disk is full, `do` raises `OSError`.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, True, loop, future))
        return await future

    async def alone(self, work: Callable[[StudyState], T]) -> T:
        """Execute `work`, which makes its own transactions, and return its result."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, False, loop, future))
        return await future

    def close(self) -> None:
        """Execute all waiting requests, and stop the thread."""
        self._queue.put(None)
        self._thread.join(30)

    def _run(self) -> None:
        is_over = False
        while not is_over:
            jobs = [self._queue.get()]
            with contextlib.suppress(queue.Empty):
                while len(jobs) < _MOST:
                    jobs.append(self._queue.get_nowait())
            is_over = None in jobs
            jobs = [job for job in jobs if job is not None]
            together = [job for job in jobs if job[1]]
            while together:
                together = self._together(together)
            for job in jobs:
                if not job[1]:
                    self._report([(job, *self._result(job[0]))])

    def _result(self, work: Callable[[StudyState], Any]) -> tuple[Any, Exception | None]:
        try:
            return work(self._state), None
        except Exception as error:
            return None, error

    def _together(self, jobs: list[Any]) -> list[Any]:
        results: list[tuple[Any, Any, Exception | None]] = []
        try:
            if self._is_stale:
                self._state.load()
                self._is_stale = False
            with self._state.session.transaction():
                # Other processes may have retired items since the last transaction.
                self._state.asker.find_withdrawn()
                end = time.monotonic() + _LONGEST
                for job in jobs:
                    if results and time.monotonic() > end:
                        break
                    try:
                        results.append((job, job[0](self._state), None))
                    except RefusedError as error:
                        # `RefusedError` is raised before anything is written, so the transaction can
                        # continue.
                        results.append((job, None, error))
        except Exception as error:
            # The transaction was rolled back, but memory was not. Read the file again at once, because pages
            # are made from memory.
            self._is_stale = True
            with contextlib.suppress(Exception):
                self._state.load()
                self._is_stale = False
            if len(jobs) == 1:
                results = [(jobs[0], None, error)]
            else:
                for job in jobs:
                    self._together([job])
                return []
        self._report(results)
        return jobs[len(results) :]

    def _report(self, results: list[Any]) -> None:
        (_, _, loop, _), *_ = results[0]

        def report() -> None:
            for (_, _, _, future), result, error in results:
                if future.cancelled():
                    continue
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)

        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(report)
