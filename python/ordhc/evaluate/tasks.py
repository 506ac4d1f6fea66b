"""Compute independent tasks on the same data, in an executor or one after the other."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from ordhc._progress import Progress, part
from ordhc._workers import Shared, run_tasks
from ordhc.io.spill import Spill


def results_of(
    function: Callable[..., Any],
    data: Any,
    tasks: Sequence[tuple[Any, ...]],
    executor: Executor | None,
    folder: Spill,
    progress: Progress | None,
    *,
    meanwhile: Callable[[], Any] | None = None,
) -> list[Any]:
    """Return ``function(data, *task, progress)`` for each task.

    Without `executor`, this process computes the tasks, and `function` reports the completed fraction of its
    task. With `executor`, workers compute the tasks without progress, and this process calls `meanwhile`.
    Large `data` are written to `folder`.
    """
    if executor is not None:
        shared = Shared(data, lambda: folder.folder)
        sent = [(function, shared, task) for task in tasks]
        return run_tasks(executor, _by_worker, sent, meanwhile=meanwhile, progress=progress)
    count = len(tasks)
    return [
        function(data, *task, part(progress, at / count, (at + 1) / count)) for at, task in enumerate(tasks)
    ]


def _by_worker(function: Callable[..., Any], shared: Shared, task: tuple[Any, ...]) -> Any:
    return function(shared.value(), *task, None)
