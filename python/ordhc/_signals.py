"""Ctrl-C at moments at which an exception would get lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interrupts_later"]


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Raise KeyboardInterrupt after the block for a Ctrl-C within; a second one is raised at once.

    For imports of the code of others: extension modules and whatever ignores all exceptions swallow one that
    is raised while they run. Only where Python's own handler is in place, on the main thread.
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
        # Refused in subinterpreters, which never see signals.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:
        return False
    return True
