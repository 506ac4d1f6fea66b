"""Delay Ctrl-C while code runs that would swallow the exception KeyboardInterrupt."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Delay the KeyboardInterrupt of a Ctrl-C to the end of the block; a second Ctrl-C raises it at once.

    Use this for imports of other packages. Extension modules, and code that ignores all exceptions, would
    swallow a KeyboardInterrupt. Nothing is delayed outside the main thread, or if Python's own handler of
    Ctrl-C was replaced.
    """
    noted = False

    def note(*_: Any) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    if not _is_default():
        yield
        return
    try:
        signal.signal(signal.SIGINT, note)
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if noted:
            raise KeyboardInterrupt


def _is_default() -> bool:
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    try:
        # Python raises ValueError in subinterpreters, which never receive signals.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:
        return False
    return True
