"""What commands print and write."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import click

from ordhc import _progress
from ordhc._progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ordhc.comparison.comparisons import Comparisons
    from ordhc.evaluate.bootstrap import Bootstrap
    from ordhc.io.scan import Scan
    from ordhc.tree.dendrogram import Dendrogram

__all__ = [
    "LEFT_OUT",
    "check_outputs",
    "emit_json",
    "only_json",
    "print_summary",
    "progress_bar",
    "summarise",
    "summarise_bootstrap",
    "write_outputs",
]


#: Where commands keep what was left out of the answers that they read.
LEFT_OUT = "ordhc.left_out"
#: Where JSON goes while everything else that is printed goes to standard error.
_document: ContextVar[Any] = ContextVar("document", default=None)


def emit_json(data: dict[str, Any]) -> None:
    """One JSON document on standard output; numbers that aren't finite are null.

    Where answers were read it says how many rows were left out of them, by reason.
    """
    context = click.get_current_context(silent=True)
    if context is not None and LEFT_OUT in context.meta:
        data = {**data, "left_out": context.meta[LEFT_OUT]}
    click.echo(json.dumps(_finite(data), ensure_ascii=False, allow_nan=False), file=_document.get())


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


@contextmanager
def only_json() -> Iterator[None]:
    """Keep standard output for one JSON document, whatever plugins print."""
    token = _document.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _document.reset(token)


def progress_bar(what: str, *, quiet: bool) -> AbstractContextManager[Progress | None]:
    """The bar of `progress=True`, unless nothing is wanted."""
    return nullcontext() if quiet else _progress.progress_bar(what)


def check_outputs(
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    consensus: str | None = None,
    *,
    html: str | None = None,
    n_clusters: int | None,
    as_json: bool,
    inputs: tuple[str | None, ...] = (),
) -> None:
    """Everything that could keep results from being written, before any work is done."""
    from pathlib import Path

    from ordhc.io.files import check_outputs_apart, check_writable
    from ordhc.io.trees import check_written
    from ordhc.plotting.drawing import PICTURES, need_matplotlib

    for path in [*outputs, *([consensus] if consensus else [])]:
        check_written(path)
        check_writable(path)
    for path in plots:
        if Path(path).suffix.lower() not in PICTURES:
            raise click.UsageError(f"{path}: a picture is one of {', '.join(PICTURES)}")
        check_writable(path)
    if plots:
        need_matplotlib()
    if html is not None:
        if Path(html).suffix.lower() not in (".html", ".htm"):
            raise click.UsageError(f"{html}: a page is .html")
        check_writable(html)
    if labels is not None:
        if n_clusters is None:
            raise click.UsageError("--labels needs --n-clusters")
        check_writable(labels)
    targets = [
        *outputs,
        *plots,
        *(path for path in (labels, consensus, html) if path),
        *(["-"] if as_json else []),
    ]
    check_outputs_apart(targets, inputs)


def write_outputs(
    tree: "Dendrogram",
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    flat: "NDArray[np.int64] | None",
    html: str | None = None,
) -> None:
    """Write the trees, the pictures, the labels and the page."""
    from ordhc.io import write_tree

    for path in outputs:
        write_tree(tree, path)
    for path in plots:
        from ordhc.plotting.drawing import save_plot

        save_plot(tree, path, n_clusters=None if flat is None else int(flat.max()) + 1)
    if html is not None:
        from ordhc.plotting.pages import write_page

        write_page(tree, html, n_clusters=None if flat is None else int(flat.max()) + 1)
    if labels is not None and flat is not None:
        import csv
        import io

        from ordhc.io.files import write_bytes

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["leaf", "name", "cluster"])
        writer.writerows(zip(range(tree.n_leaves), tree.labels, flat.tolist(), strict=True))
        write_bytes(labels, text.getvalue().encode())


def summarise(
    data: "Comparisons | Scan",
    tree: "Dendrogram",
    revenue: float,
    flat: "NDArray[np.int64] | None",
    files: list[str],
    unanswered: "NDArray[np.int64]",
) -> dict[str, Any]:
    """What there is to say about a run."""
    from ordhc.io.scan import Scan
    from ordhc.tree.settings import as_json

    return {
        "n_leaves": tree.n_leaves,
        "n_comparisons": len(data),
        "kind": (data.kind if isinstance(data, Scan) else type(data)).__name__.lower(),
        "weighted": data.weighted if isinstance(data, Scan) else data.weights is not None,
        "unanswered": unanswered.tolist(),
        **as_json(tree.settings),
        "revenue": revenue,
        "labels": None if flat is None else flat.tolist(),
        "files": [path for path in files if path != "-"],
    }


def summarise_bootstrap(found: "Bootstrap") -> dict[str, Any]:
    """Support and intervals."""
    support = found.support[:-1]
    return {
        "n_resamples": len(found.trees),
        "confidence": found.confidence,
        "n_clusters": len(support),
        "n_clusters_50": int((support >= 0.5).sum()),
        "n_clusters_95": int((support >= 0.95).sum()),
        "scores": {name: vars(interval) for name, interval in found.intervals.items()},
        "unit": found.unit,
        "chance": found.chance,
        "ceiling": None if found.ceiling is None else vars(found.ceiling),
        "consensus": found.consensus.to_dict(),
    }


def print_bootstrap(found: dict[str, Any]) -> None:
    """Support and intervals, for people."""
    inner = found["n_clusters"]
    click.echo(
        f"support  {found['n_clusters_50']} of {inner} clusters in at least half of "
        f"{found['n_resamples']} resamples, {found['n_clusters_95']} in 95%"
    )
    from ordhc.evaluate.bootstrap import SCORES

    for key, name in SCORES.items():
        score = found["scores"][key]
        low, high = (f"{score[end]:,.6g}" for end in ("low", "high"))
        click.echo(f"  {name}: {score['estimate']:,.6g} ({low} to {high}, {found['confidence']:.0%})")
    click.echo(f"  of held-out answers: chance {found['chance']:.4f}")
    if found["ceiling"] is not None:
        from ordhc.evaluate.select import NoiseCeiling

        click.echo(f"  of repeated questions: noise ceiling {NoiseCeiling(**found['ceiling'])}")


def print_summary(summary: dict[str, Any], tree: "Dendrogram", flat: "NDArray[np.int64] | None") -> None:
    """The summary for people."""
    from ordhc.tree.settings import in_words

    click.echo(f"{summary['n_comparisons']:,} {summary['kind']} of {tree.n_leaves:,} leaves")
    if summary["unanswered"]:
        from ordhc.clustering.unanswered import unanswered_text

        click.echo(unanswered_text(tree, summary["unanswered"]))
    click.echo(f"method   {in_words(summary)}")
    click.echo(f"revenue  {summary['revenue']:,} (higher is better)")
    if "bootstrap" in summary:
        print_bootstrap(summary["bootstrap"])
    if flat is not None:
        import numpy as np

        click.echo(f"{flat.max() + 1} clusters:")
        for label in range(int(flat.max()) + 1):
            members = [tree.labels[leaf] for leaf in np.flatnonzero(flat == label)]
            shown = "; ".join(members[:3]) + ("; ..." if len(members) > 3 else "")
            click.echo(
                f"  {label + 1:>3} ({len(members)} {'leaf' if len(members) == 1 else 'leaves'}): {shown}"
            )
    for path in summary["files"]:
        click.echo(f"wrote    {path}")
