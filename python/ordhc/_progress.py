"""Reports of how far long work has come, and bars that show them."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, ParamSpec, TypeVar

from ordhc import _checks
from ordhc._signals import interrupts_later

__all__ = ["Progress", "part", "progress_bar", "shows_progress", "without_bars"]

#: Called now and then with the share that is done, from 0 to 1.
Progress = Callable[[float], None]

P = ParamSpec("P")
T = TypeVar("T")


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """The callback for a part of the work: its 0 to 1 is `start` to `end` of the whole."""
    if progress is None:
        return None
    return lambda done: progress(start + (end - start) * done)


def shows_progress(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function's keyword `progress` be true, for a bar that says `what` is going on.

    The function itself gets a callable or None. The bar is gone when the function has returned or raised.

    Raises
    ------
    InputError
        By the function, if `progress` is neither True, False, None nor what can be called.

    Examples
    --------
    >>> @shows_progress("counting")
    ... def count(n, *, progress=None):
    ...     for i in range(n):
    ...         if progress is not None:
    ...             progress((i + 1) / n)
    >>> count(3, progress=True)
    >>> count(2, progress=print)
    0.5
    1.0
    """

    def decorate(work: Callable[P, T]) -> Callable[P, T]:
        if iscoroutinefunction(work):

            @wraps(work)
            async def awaited(*args: Any, progress: Any = None, **kwargs: Any) -> Any:
                with _shown(progress, what) as told:
                    return await work(*args, progress=told, **kwargs)  # type: ignore[arg-type]

            return awaited  # type: ignore[return-value]

        @wraps(work)
        def called(*args: Any, progress: Any = None, **kwargs: Any) -> Any:
            if progress is None:
                return work(*args, **kwargs)
            with _shown(progress, what) as told:
                return work(*args, progress=told, **kwargs)  # type: ignore[arg-type]

        return called

    return decorate


def _shown(progress: Any, what: str) -> AbstractContextManager[Progress | None]:
    if progress is True:
        return progress_bar(what)
    return nullcontext(_checks.callback("progress", progress))


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A bar for the block, to be called with the share that is done.

    In a notebook it is tqdm's if that is installed, else a line of text, and stays when the work is over.
    On a terminal it is Rich's, on standard error, and is gone when the work is over. Elsewhere there is none.
    """
    # A notebook has imported IPython; nobody else has to.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell" or "google.colab" in type(shell).__module__:
        with _in_notebook(what) as told:
            yield told
    elif sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        with _on_terminal(what) as told:
            yield told
    else:
        yield None


@contextmanager
def _on_terminal(what: str) -> Iterator[Progress]:
    with interrupts_later():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True, force_jupyter=False), transient=True)
    task = bar.add_task(what, total=1.0)
    _on_screen.append(bar)
    try:
        bar.start()
        yield lambda done: bar.update(task, completed=done)
    finally:
        # Also brings the cursor back, if Ctrl-C came while the bar began.
        bar.stop()
        _on_screen.remove(bar)


#: Bars on the terminal.
_on_screen: list[Any] = []


@contextmanager
def without_bars() -> Iterator[None]:
    """Take bars off the terminal for the block, in which somebody is asked something there."""
    bars = list(_on_screen)
    for bar in bars:
        bar.stop()
    try:
        yield
    finally:
        for bar in bars:
            bar.start()


@contextmanager
def _in_notebook(what: str) -> Iterator[Progress]:
    try:
        with warnings.catch_warnings(), interrupts_later():
            # Without ipywidgets it says so, and draws with characters.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        from IPython.display import display

        begin = {"text/plain": f"{what}   0%"}
        line = display(begin, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        told = 0

        def write(done: float) -> None:
            nonlocal told
            if int(100 * done) > told:
                told = int(100 * done)
                line.update({"text/plain": f"{what} {told:3}%"}, raw=True)

        yield write
        return
    columns = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=what, bar_format=columns) as bar:
        yield lambda done: bar.update(done - bar.n)
