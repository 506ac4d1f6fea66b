"""`ordhc score`: score a tree against a reference."""

from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import click

from ordhc._progress import part
from ordhc.cli.help import Command, Registered, Settings, section
from ordhc.cli.output import emit_json, json_option, progress_bar, quiet_option, say
from ordhc.cli.reading import parameters_of, read_comparisons, reading_options, underscores_option
from ordhc.comparison.comparisons import Triplets
from ordhc.errors import InputError
from ordhc.io import Scan, read_reference, read_tree
from ordhc.io.scan import kind_of
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.plugins.specs import MetricSpec

_COMPARISONS = {"triplets", "quadruplets"}


@click.command(cls=Command, no_args_is_help=True)
@click.argument("tree")
@click.argument("reference", metavar="FILE")
@section("The metric")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=Registered("metric"),
    help="The metric that computes the score; by default the revenue. Repeatable.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    type=Settings("metric", "metrics"),
    help="A setting of the metric. Repeatable.",
)
@click.option("--labels", metavar="A,B,...", help="The columns of labels in FILE, from coarse to fine.")
@section("Options")
@underscores_option
@json_option
@quiet_option
@reading_options
def score(
    tree: str,
    reference: str,
    metrics: tuple[str, ...],
    params: tuple[str, ...],
    labels: str | None,
    preserve_underscores: bool,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Score TREE (Newick, JSON, SciPy's Z) by the comparisons, tree, labels or similarities in FILE.

    The metric determines how FILE is read: as comparisons; as another tree; as labels, csv with a column
    named leaf or name and columns of labels; or as a matrix, npy, csv or Parquet, with or without names.
    Leaves are matched by name if both files have names, otherwise by number. Use comparisons that the tree
    was not made from.

    \b
    Examples:
      ordhc score tree.nwk held_out.csv --metric satisfied
      ordhc score tree.nwk truth.nwk --metric kendall_tau_b --metric triplet_distance
      ordhc score tree.nwk taxonomy.csv --metric aari --labels family,genus
      ordhc score tree.nwk similarities.npy --metric dasgupta_cost
    """
    from ordhc.metrics.score import score as compute
    from ordhc.metrics.score import takes_scan
    from ordhc.plugins import registry

    if tree == "-" == reference:
        raise InputError("only one of TREE and FILE can be standard input")
    specs = [registry.get("metric", name) for name in metrics]
    of_comparisons = [bool(set(spec.reference) & _COMPARISONS) for spec in specs]
    if any(of_comparisons) and not all(of_comparisons):
        raise click.UsageError(
            "metrics of comparisons and other metrics don't take the same FILE: score them separately"
        )
    with progress_bar("reading the tree", quiet=quiet) as progress:
        found = read_tree(tree, preserve_underscores=preserve_underscores, progress=progress)
    if all(of_comparisons):
        if labels is not None:
            raise click.UsageError(
                "--labels needs a metric that compares a tree with labels, such as --metric aari"
            )
        # With "satisfied", `_limits` computes the noise ceiling, which needs all answers in memory.
        streams = all(takes_scan(name) for name in metrics) and "satisfied" not in metrics
        try:
            with progress_bar("reading", quiet=quiet) as progress:
                reading |= {"progress": progress, "takes": lambda _: streams}
                data = _comparisons(reference, found, reading)
        except InputError as error:
            way = f"with --metric {metrics[0]}" if metrics else "without --metric"
            hint = f"{way} FILE is read as comparisons; labels take --metric aari, trees"
            error.args = (f"{error} ({hint} --metric triplet_distance, similarities dasgupta_cost)",)
            raise
        metrics = metrics or (f"{(kind_of(data) or Triplets).__name__.lower()[:-1]}_revenue",)
        specs = specs or [registry.get("metric", metrics[0])]
    else:
        columns = None if labels is None else [column.strip() for column in labels.split(",")]
        data = read_reference(reference, found.labels, columns)
    settings = [_settings(spec, params, specs) for spec in specs]
    scores = {}
    with progress_bar("scoring", quiet=quiet) as progress:
        for at, (name, parameters) in enumerate(zip(metrics, settings, strict=True)):
            share = part(progress, at / len(metrics), (at + 1) / len(metrics))
            scores[name] = compute(found, data, name, progress=share, **parameters)
    limits = _limits(found, data) if "satisfied" in scores else {}
    if as_json:
        plain = {name: _plain(value) for name, value in scores.items()}
        document: dict[str, Any] = {"tree": tree, "reference": reference, "scores": plain}
        if all(of_comparisons):
            document["n_comparisons"] = len(data)
            document |= {name: None if value is None else _plain(value) for name, value in limits.items()}
        if len(plain) == 1:
            document["metric"], document["score"] = next(iter(plain.items()))
        emit_json(document)
    else:
        for name, value in scores.items():
            say(f"{name}  {value:,}" if isinstance(value, int | float) else f"{name}  {value}")
        # Print chance and the noise ceiling to standard error, because scripts read standard output.
        if limits and not quiet:
            say(f"  of satisfied: chance {limits['chance']:.4f}", err=True)
            if limits["ceiling"] is not None:
                say(f"  of repeated questions: noise ceiling {limits['ceiling']}", err=True)


def _limits(tree: Dendrogram, data: Any) -> dict[str, Any]:
    """Return the share of comparisons that chance satisfies, and the noise ceiling.

    The noise ceiling is the share that the best tree could satisfy. It is None if no question is repeated, or
    if `data` is a scan (comparisons in files).
    """
    from ordhc.evaluate.ceiling import chance_of, noise_ceiling
    from ordhc.evaluate.scanned import chance_of_scan
    from ordhc.metrics.streamed import matched as numbered
    from ordhc.tree.matching import prepared

    if isinstance(data, Scan):
        chance = chance_of_scan(numbered(tree, data, ("triplets", "quadruplets"), "satisfied"), data)
        return {"chance": chance, "ceiling": None}
    found, matched = prepared(tree, data, ("triplets", "quadruplets"), "satisfied")
    return {"chance": chance_of(found, matched), "ceiling": noise_ceiling(matched)}


def _settings(spec: "MetricSpec", params: tuple[str, ...], specs: "list[MetricSpec]") -> dict[str, Any]:
    given = parameters_of(params)
    known = {name for each in specs for name in each.parameters if name != "progress"}
    for name in given:
        if name not in known:
            raise click.UsageError(f"there is no parameter {name!r}; there are: {', '.join(sorted(known))}")
    return {name: value for name, value in given.items() if name in spec.parameters}


def _plain(value: Any) -> Any:
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return {name: part for name, part in asdict(value).items() if isinstance(part, int | float)}


def _comparisons(path: str, tree: Dendrogram, reading: dict[str, Any]) -> Any:
    if reading["n_leaves"] is None and reading["names"] is None:
        # Ids would be positions of leaves in the tree's text, which users rarely mean, so names are required.
        by_name = {"names": tree.names, "by_name": True}
        reading |= {"n_leaves": tree.n_leaves} if tree.names is None else by_name
    return read_comparisons(path, **reading)
