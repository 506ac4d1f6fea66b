"""Ctrl-C while a command is still importing: one line instead of a traceback.

Imported before all else.
"""

import os
import signal
import sys
from types import FrameType
from typing import Any

__all__ = ["importing_begins", "importing_is_over"]

_before: Any = None


def importing_begins() -> None:
    """In a process that is the command `ordhc`, let Ctrl-C end it quietly."""
    global _before
    if not _is_command() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    try:
        _before = signal.signal(signal.SIGINT, _stop)
    except ValueError:
        # Signals can be handled on the main thread only.
        return


def importing_is_over() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    global _before
    if _before is not None:
        signal.signal(signal.SIGINT, _before)
        _before = None


def _is_command() -> bool:
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        before = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
        return before[-2:] == ["-m", "ordhc"] or before[-1:] == ["-mordhc"]
    return os.path.basename(program) in ("ordhc", "ordhc.exe", "ordhc-script.py")  # noqa: PTH119


def _stop(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"ordhc: stopped\n")
    os._exit(130)


importing_begins()
