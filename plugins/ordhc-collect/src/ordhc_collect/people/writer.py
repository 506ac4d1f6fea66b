"""The one thread that writes."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ordhc_collect.people.desk import Desk
from ordhc_collect.people.state import RefusedError

__all__ = ["Writer"]

T = TypeVar("T")
#: So many requests share a transaction at most, and none begins in it after so many seconds: who came
#: first shall not wait for all others.
_MOST, _LONGEST = 256, 0.04


class Writer:
    """Does what requests want one after the other; those that come meanwhile share the next transaction.

    An answer is on the disk when its request hears so. If the transaction of several fails, each is tried
    alone: what one of them does wrong is its own.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        #: Whether memory may be other than the file, after a transaction that failed.
        self._is_stale = False
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ordhc-collect writer", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[Desk], T]) -> T:
        """Work within a transaction; what it returns, or raises.

        Raises
        ------
        RefusedError
            The request is refused.
        OSError
            Nothing could be written: no room, for example. Nothing has happened.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, True, loop, future))
        return await future

    async def alone(self, work: Callable[[Desk], T]) -> T:
        """Work that makes its own transactions."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((work, False, loop, future))
        return await future

    def close(self) -> None:
        """Finish what was asked for, and end."""
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
                    self._tell([(job, *self._result(job[0]))])

    def _result(self, work: Callable[[Desk], Any]) -> tuple[Any, Exception | None]:
        try:
            return work(self._desk), None
        except Exception as error:
            return None, error

    def _together(self, jobs: list[Any]) -> list[Any]:
        """Do some in one transaction; those that are left for the next one."""
        results: list[tuple[Any, Any, Exception | None]] = []
        try:
            if self._is_stale:
                self._desk.load()
                self._is_stale = False
            with self._desk.session.transaction():
                end = time.monotonic() + _LONGEST
                for job in jobs:
                    if results and time.monotonic() > end:
                        break
                    try:
                        results.append((job, job[0](self._desk), None))
                    except RefusedError as error:
                        # Raised before anything is written.
                        results.append((job, None, error))
        except Exception as error:
            # Memory is what the file says again, at once, as pages are made of it.
            self._is_stale = True
            with contextlib.suppress(Exception):
                self._desk.load()
                self._is_stale = False
            if len(jobs) == 1:
                results = [(jobs[0], None, error)]
            else:
                for job in jobs:
                    self._together([job])
                return []
        self._tell(results)
        return jobs[len(results) :]

    def _tell(self, results: list[Any]) -> None:
        """Tell the event loop, once for all."""
        (_, _, loop, _), *_ = results[0]

        def tell() -> None:
            for (_, _, _, future), result, error in results:
                if future.cancelled():
                    continue
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)

        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)
