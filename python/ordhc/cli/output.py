"""The output of commands: summaries, JSON and files."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from ordhc import _progress
from ordhc._checks import on_one_line
from ordhc._json import finite
from ordhc._progress import Progress
from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.units import count_answers
from ordhc.io.files import check_outputs_apart, check_writable, write_bytes
from ordhc.io.scan import Scan
from ordhc.io.trees import check_written, tree_bytes
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.settings import as_json, in_words

if TYPE_CHECKING:
    from ordhc.evaluate.bootstrap import Bootstrap

#: The key in click's `Context.meta` for the numbers of rows that were left out, by reason.
LEFT_OUT = "ordhc.left_out"
#: The keys in click's `Context.meta` for the analysis of a session, and for its held-out answers.
SESSION, HELD_OUT = "ordhc.session", "ordhc.held_out"
#: The stream of the JSON document while `only_json` redirects all other output to standard error.
_document: ContextVar[Any] = ContextVar("document", default=None)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print neither progress nor summary.")


def emit_json(data: dict[str, Any]) -> None:
    """Print one JSON document on standard output; numbers that are not finite become null.

    If the command has read answers, the document also has the number of rows left out, by reason. If it has
    read a session, the document also describes the analysis of the session.
    """
    context = click.get_current_context(silent=True)
    if context is not None and LEFT_OUT in context.meta:
        data = {**data, "left_out": context.meta[LEFT_OUT]}
    if context is not None and SESSION in context.meta:
        data = {**data, "session": context.meta[SESSION]}
    text = json.dumps(finite(data), ensure_ascii=False, allow_nan=False)
    # JSON escapes only ASCII control characters. Escape all other control characters too, so that
    # none reaches the terminal.
    text = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
    click.echo(text, file=_document.get())


def say(text: Any, *, err: bool = False) -> None:
    """Print lines for people; control characters are escaped, so that the terminal does not interpret them.

    Line breaks are printed. Pass a name through `on_one_line` if it may contain a line break.
    """
    click.echo("\n".join(map(on_one_line, str(text).split("\n"))), err=err)


@contextmanager
def only_json() -> Iterator[None]:
    """Reserve standard output for one JSON document; all other output goes to standard error."""
    token = _document.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _document.reset(token)


def progress_bar(what: str, *, quiet: bool) -> AbstractContextManager[Progress | None]:
    """Return a progress bar, or no bar with `quiet`."""
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
    """Check that all results can be written, before any work is done."""
    from ordhc.plotting.drawing import PICTURES, need_matplotlib
    from ordhc.plotting.pages import PAGES

    for path in filter(None, (*outputs, consensus)):
        check_written(path)
        check_writable(path)
    for path in plots:
        if Path(path).suffix.lower() not in PICTURES:
            raise click.UsageError(f"{path}: a picture is one of {', '.join(PICTURES)}")
        check_writable(path)
    if plots:
        need_matplotlib()
    if html is not None:
        if Path(html).suffix.lower() not in PAGES:
            raise click.UsageError(f"{html}: a page is .html")
        check_writable(html)
    if labels is not None:
        if n_clusters is None:
            raise click.UsageError("--labels needs --n-clusters")
        check_writable(labels)
    check_outputs_apart([*outputs, *plots, labels, consensus, html, "-" if as_json else None], inputs)


def write_outputs(
    tree: Dendrogram,
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    flat: NDArray[np.int64] | None,
    html: str | None = None,
) -> None:
    """Write the files that the options name: trees, pictures, labels and the interactive page."""
    for path in outputs:
        write_bytes(path, tree_bytes([tree], check_written(path)))
    for path in filter(None, (*plots, html)):
        from ordhc.plotting.saving import save_plot

        save_plot(tree, path, n_clusters=None if flat is None else int(flat.max()) + 1)
    if labels is not None and flat is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["leaf", "name", "cluster"])
        writer.writerows(zip(range(tree.n_leaves), tree.labels, flat.tolist(), strict=True))
        write_bytes(labels, text.getvalue().encode())


def check_n_clusters(n_clusters: int | None, n_leaves: int) -> None:
    if n_clusters is not None and not 1 <= n_clusters <= n_leaves:
        raise click.UsageError(f"--n-clusters {n_clusters} is outside 1..{n_leaves}")


def summarise(
    data: Comparisons | Scan, tree: Dendrogram, revenue: float, unanswered: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the summary of a command that made a tree, as a dict for JSON."""
    people: Any = None
    if isinstance(data, Scan):
        people = data.group_names
    elif data.groups is not None:
        people = np.unique(data.groups)
    return {
        "n_leaves": data.n_leaves,
        "n_comparisons": len(data),
        # Each row of a `Scan` is one answer.
        "n_answers": len(data) if isinstance(data, Scan) else count_answers(data),
        "n_people": None if people is None else len(people),
        "kind": (data.kind if isinstance(data, Scan) else type(data)).__name__.lower(),
        "weighted": data.weighted if isinstance(data, Scan) else data.weights is not None,
        "unanswered": unanswered.tolist(),
        **as_json(tree.settings),
        "revenue": revenue,
    }


def finish(summary: dict[str, Any], tree: Dendrogram, resampled: Bootstrap | None) -> None:
    """Cut the tree and write the files as the options of `ordhc cluster` say; print the summary or JSON."""
    given = click.get_current_context().params
    flat = None if given["n_clusters"] is None else tree.cut(given["n_clusters"])
    summary["labels"] = None if flat is None else flat.tolist()
    outputs, plots, consensus, html = (given[name] for name in ("outputs", "plots", "consensus", "html"))
    summary["files"] = [path for path in (*outputs, consensus, html, *plots) if path and path != "-"]
    if resampled is not None:
        summary["bootstrap"] = _summarise_bootstrap(resampled)
    write_outputs(tree, outputs, plots, given["labels"], flat, html)
    if resampled is not None and consensus is not None:
        write_outputs(resampled.consensus, (consensus,), (), None, None)
    if given["as_json"]:
        emit_json({**summary, "tree": tree.to_dict(), "newick": tree.to_newick()})
    elif "-" not in outputs and not given["quiet"]:
        print_summary(summary, tree, flat)


def _summarise_bootstrap(found: Bootstrap) -> dict[str, Any]:
    support = found.support[:-1]
    return {
        "n_resamples": len(found.trees),
        "confidence": found.confidence,
        "n_clusters": len(support),
        "n_clusters_50": int((support >= 0.5).sum()),
        "n_clusters_95": int((support >= 0.95).sum()),
        "scores": {
            name: {end: None if np.isnan(value) else value for end, value in vars(interval).items()}
            for name, interval in found.intervals.items()
        },
        "unit": found.unit,
        "chance": found.chance,
        "answers_chance": None if np.isnan(found.answers_chance) else found.answers_chance,
        "ceiling": None if found.ceiling is None else vars(found.ceiling),
        "consensus": found.consensus.to_dict(),
        **({} if found.unbiased is None else {"unbiased": found.unbiased.tolist()}),
    }


def _print_bootstrap(found: dict[str, Any]) -> None:
    inner = found["n_clusters"]
    say(
        f"support  {found['n_clusters_50']} of {inner} clusters in at least half of "
        f"{found['n_resamples']} resamples of {_UNITS.get(found['unit'], found['unit'])}, "
        f"{found['n_clusters_95']} in 95%"
    )
    from ordhc.evaluate.bootstrap import LABELS

    for name, score in found["scores"].items():
        ends = ""
        if score["low"] is not None:
            ends = f" ({score['low']:,.4g} to {score['high']:,.4g}, {found['confidence']:.0%})"
        chance = found["chance" if name == "held_out" else f"{name}_chance"]
        if score["estimate"] is not None:
            say(f"  {LABELS[name]}: {score['estimate']:,.4g}{ends}, chance {chance:.4f}")
    if found["ceiling"] is not None:
        from ordhc.evaluate.ceiling import NoiseCeiling

        say(f"  of repeated questions: noise ceiling {NoiseCeiling(**found['ceiling'])}")


def counted_people(count: int) -> str:
    """Return a number of people with the right noun: "1 person" or "2 people"."""
    return f"{count:,} {'person' if count == 1 else 'people'}"


def print_session() -> None:
    """Print how the session's answers are selected and weighted, if the command has read a session."""
    about = click.get_current_context().meta.get(SESSION)
    if about is None:
        return
    none = f", {about['n_none']:,} of which name none" if about["n_none"] else ""
    held = f"; {about['n_scored']:,} of {about['n_held_out']:,} held-out answers are for scores"
    apart = held if about["n_held_out"] else ""
    say(f"session  {about['n_answers']:,} answers of {counted_people(about['n_people'])}{none}{apart}")
    if about["excluded"]:
        say(
            f"left out {counted_people(len(about['excluded']))} with {about['n_excluded_answers']:,} answers "
            "(--exclude nobody keeps people whom the rules leave out)"
        )
    if about["weights"] != "equal":
        say("weights  reliability (--weights equal gives all answers the same weight)")


_UNITS = {"answer": "answers", "group": "people", "file": "files", "coordinate": "coordinates"}


def print_summary(summary: dict[str, Any], tree: Dendrogram, flat: NDArray[np.int64] | None) -> None:
    if "n_comparisons" not in summary:
        say(f"{tree.n_leaves:,} leaves, from {summary['kind']}")
    else:
        say(f"{summary['n_comparisons']:,} {summary['kind']} of {tree.n_leaves:,} leaves")
        if SESSION in click.get_current_context().meta:
            print_session()
        else:
            n_answers, n_people = summary["n_answers"], summary["n_people"]
            of = "; no column names the person (--person COLUMN)"
            of = of if n_people is None else f" of {counted_people(n_people)}"
            say(f"{n_answers:,} answer{'' if n_answers == 1 else 's'}{of}")
    if summary.get("unanswered"):
        from ordhc.clustering.unanswered import unanswered_text

        say(unanswered_text(tree, summary["unanswered"]))
    say(f"method   {in_words(summary)}")
    if "revenue" in summary:
        say(f"revenue  {summary['revenue']:,} (higher is better)")
    if "bootstrap" in summary:
        _print_bootstrap(summary["bootstrap"])
    if flat is not None:
        say(f"{flat.max() + 1} clusters:")
        for label in range(int(flat.max()) + 1):
            members = [on_one_line(tree.labels[leaf]) for leaf in np.flatnonzero(flat == label)]
            shown = "; ".join(members[:3]) + ("; ..." if len(members) > 3 else "")
            say(f"  {label + 1:>3} ({len(members)} {'leaf' if len(members) == 1 else 'leaves'}): {shown}")
    for path in summary["files"]:
        say(f"wrote    {path}")
