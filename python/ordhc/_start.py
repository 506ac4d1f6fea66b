"""Make Ctrl-C print one line instead of a traceback while the command `ordhc` is still importing.

`ordhc` imports this module before all other modules.
"""

import os
import signal
import sys
from types import FrameType
from typing import Any

_before: Any = None


def importing_begins() -> None:
    """Let Ctrl-C end the process without a traceback, if the process is the command `ordhc`."""
    global _before
    if not _is_command() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    try:
        _before = signal.signal(signal.SIGINT, _stop)
    except ValueError:
        # Only the main thread can set signal handlers, so other threads change nothing.
        return


def importing_is_over() -> None:
    """Restore the earlier handler of SIGINT, so that Ctrl-C raises KeyboardInterrupt again."""
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
