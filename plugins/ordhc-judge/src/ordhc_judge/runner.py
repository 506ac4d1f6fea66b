"""Run an event loop on its own thread, so that synchronous callers can run coroutines.

This also works if the caller's thread already runs an event loop, as in notebooks.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Runner:
    """Runs coroutines on its own thread, which starts with the first coroutine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    @property
    def is_in_this_process(self) -> bool:
        return self._loop is not None and self._process == os.getpid()

    def run(self, work: Coroutine[Any, Any, T], on_tick: Callable[[], None] | None = None) -> T:
        """Return the result of a coroutine, or raise its exception; Ctrl-C cancels the coroutine.

        `on_tick` is called on the caller's thread, about ten times a second.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            while True:
                try:
                    return future.result(None if on_tick is None else 0.1)
                except TimeoutError:
                    if future.done():
                        raise
                    if on_tick is not None:
                        on_tick()
        except BaseException:
            if not future.done():
                future.cancel()
                self._wait_for_rest()
            raise

    def _wait_for_rest(self) -> None:
        # Cancelled tasks need a moment to end.
        rest = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), self._started())
        rest.result(5)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or not self.is_in_this_process:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=loop.run_forever, name="ordhc-judge", daemon=True)
                thread.start()
                self._loop, self._thread, self._process = loop, thread, os.getpid()
            return self._loop

    def close(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            is_ours, self._loop = self.is_in_this_process, None
        if loop is None or thread is None or not is_ours:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        if not thread.is_alive():
            loop.close()
