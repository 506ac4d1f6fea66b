"""The option `--executor`, which distributes work to threads, processes, loky or Dask."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ordhc.cli.output import say
from ordhc.errors import InputError

executor_option = click.option(
    "--executor",
    metavar="WHO",
    help="Distribute the work: threads:4, processes:4, loky:4, or dask:ADDRESS of a scheduler.",
)
resume_option = click.option(
    "--resume",
    metavar="FOLDER",
    help="For a folder or pattern: keep finished parts of the work in FOLDER, from which the same "
    "command continues if it was stopped. Delete FOLDER afterwards.",
)


def say_resumed(data: Any) -> None:
    """Print how many parts of the work on `data` an earlier command had finished (option `--resume`)."""
    found, made = (getattr(data, "resumed", {}).get(what, 0) for what in ("found", "made"))
    if found:
        say(f"resumed: {found:,} parts of the work were finished before, {made:,} are new", err=True)


@contextmanager
def executor_of(text: str | None) -> Iterator[Any]:
    """Open the executor that --executor names, and close it after the `with` block; None without a name."""
    if text is None:
        yield None
        return
    kind, _, rest = text.partition(":")
    if kind == "dask" and rest:
        try:
            from distributed import Client
        except ImportError:
            raise InputError("--executor dask needs Dask: pip install distributed") from None
        with Client(rest, timeout=10) as client, client.get_executor() as workers:  # type: ignore[no-untyped-call]
            yield workers
        return
    if kind not in ("threads", "processes", "loky") or not (rest == "" or rest.isdigit()) or rest == "0":
        raise click.UsageError(
            f"--executor {text} must be threads, processes or loky (:N for N workers), or dask:ADDRESS"
        )
    with _made(kind, int(rest) if rest else None) as workers:
        yield workers


def _made(kind: str, count: int | None) -> Any:
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing import get_context

    if kind == "threads":
        return ThreadPoolExecutor(count)
    if kind == "processes":
        # Processes are spawned, because a fork could copy locks that other threads hold.
        return ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        from loky import ProcessPoolExecutor as Loky
    except ImportError:
        raise InputError("--executor loky needs loky: pip install loky") from None
    return Loky(count)
