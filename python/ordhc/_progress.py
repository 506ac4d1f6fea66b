"""Progress bars, and callbacks that receive the progress of long work."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from inspect import iscoroutinefunction, isgeneratorfunction
from typing import Any, ParamSpec, TypeVar

from ordhc import _checks
from ordhc._signals import interrupts_later

#: A callable that receives the completed fraction in [0, 1] from time to time.
Progress = Callable[[float], None]

P = ParamSpec("P")
T = TypeVar("T")


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Return a callback for the part of the work from `start` to `end`, as fractions of the whole work.

    The callback receives the completed fraction of the part in [0, 1], and calls `progress` with the
    completed fraction of the whole. The result is None if `progress` is None.
    """
    if progress is None:
        return None
    return lambda done: progress(start + (end - start) * done)


def shows_progress(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for functions with the keyword `progress`, so that `progress=True` shows a bar.

    The decorated function itself receives a callable or None. The bar ends when the function returns or
    raises an exception. The bar of a generator ends when the generator ends.

    Parameters
    ----------
    what
        The label of the bar, such as "reading".

    Raises
    ------
    InputError
        In a call of the decorated function, `progress` is neither True, False, None nor callable.

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
                with _as_callback(progress, what) as callback:
                    return await work(*args, progress=callback, **kwargs)  # type: ignore[arg-type]

            return awaited  # type: ignore[return-value]

        if isgeneratorfunction(work):

            @wraps(work)
            def yielded(*args: Any, progress: Any = None, **kwargs: Any) -> Any:
                context = _as_callback(progress, what)

                def values() -> Iterator[Any]:
                    with context as callback:
                        yield from work(*args, progress=callback, **kwargs)  # type: ignore[arg-type]

                return values()

            return yielded

        @wraps(work)
        def called(*args: Any, progress: Any = None, **kwargs: Any) -> Any:
            if progress is None:
                return work(*args, **kwargs)
            with _as_callback(progress, what) as callback:
                return work(*args, progress=callback, **kwargs)  # type: ignore[arg-type]

        return called

    return decorate


def _as_callback(progress: Any, what: str) -> AbstractContextManager[Progress | None]:
    if progress is True:
        return progress_bar(what)
    return nullcontext(_checks.callback("progress", progress))


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """Show a progress bar during the block; yield the callback that receives the fraction done in [0, 1].

    In a notebook the bar is tqdm's, or a line of text if tqdm is not installed, and remains after the block.
    On a terminal the bar is Rich's, on standard error, and disappears after the block. Elsewhere there is no
    bar, and the callback is None. `what` is the label of the bar.
    """
    # A notebook has already imported IPython. An import here would slow down all other programs.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell" or "google.colab" in type(shell).__module__:
        with _in_notebook(what) as callback:
            yield callback
    elif sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        with _on_terminal(what) as callback:
            yield callback
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
        # Rich hides the cursor in `start`. `stop` shows it again, even if Ctrl-C interrupted `start`.
        bar.stop()
        _on_screen.remove(bar)


_on_screen: list[Any] = []


@contextmanager
def without_bars() -> Iterator[None]:
    """Remove progress bars from the terminal during the block, because the block asks the user a question."""
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
            # Without ipywidgets, tqdm warns and draws the bar with characters, which is good enough.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        from IPython.display import display

        begin = {"text/plain": f"{what}   0%"}
        line = display(begin, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        percent = 0

        def write(done: float) -> None:
            nonlocal percent
            if int(100 * done) > percent:
                percent = int(100 * done)
                line.update({"text/plain": f"{what} {percent:3}%"}, raw=True)

        yield write
        return
    columns = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=what, bar_format=columns) as bar:
        yield lambda done: bar.update(done - bar.n)
