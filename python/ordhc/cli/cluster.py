"""`ordhc cluster`: from a file of answers to a dendrogram."""

from typing import TYPE_CHECKING, Any

import click

from ordhc.cli.common import (
    Comparisons,
    emit_json,
    parameters_of,
    progress_bar,
    read_comparisons,
    reading_options,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ordhc.dendrogram import Dendrogram


@click.command(no_args_is_help=True)
@click.argument("file")
@click.option("--method", help="A paper's name, as adds3-al; instead of the two parts.")
@click.option("--similarity", help="The similarity: adds3, adds4, ... (see `ordhc plugins`).")
@click.option("--linkage", help="The linkage: average, single, complete, ...")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A setting of the linkage.")
@click.option("--similarity-param", multiple=True, metavar="KEY=VALUE", help="A setting of the similarity.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="TREE",
    help="Write the tree: .nwk, .json (lossless), .csv or .npy (SciPy's Z), - (Newick). Repeatable.",
)
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="PICTURE",
    help="Draw it: .svg, .png, .pdf. Repeatable.",
)
@click.option("--n-clusters", type=int, metavar="K", help="Cut into K clusters.")
@click.option("--labels", metavar="CSV", help="Write each leaf's cluster (with --n-clusters).")
@click.option("--seed", type=int, help="Break ties in a random order of the leaves with this seed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
@reading_options
def cluster(
    file: str,
    method: str | None,
    similarity: str | None,
    linkage: str | None,
    params: tuple[str, ...],
    similarity_param: tuple[str, ...],
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    n_clusters: int | None,
    labels: str | None,
    seed: int | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Make a dendrogram from FILE, answers as csv, tsv, parquet, npz or npy (- is standard input).

    FILE has rows anchor,near,far (ids or names): the anchor is more like near than far. Repeats
    count; a column count or weight multiplies.

    \b
    Examples:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg --n-clusters 5
      cat answers.csv | ordhc cluster - --json
    """
    from ordhc.verbs import cluster as build
    from ordhc.verbs import parts, score

    check_outputs(outputs, plots, labels, n_clusters=n_clusters, as_json=as_json)
    data = read_comparisons(file, **reading)
    chosen = parts(data, method=method, similarity=similarity, linkage=linkage)
    if n_clusters is not None and not 1 <= n_clusters <= data.n_leaves:
        raise click.UsageError(f"--n-clusters {n_clusters} is outside 1..{data.n_leaves}")
    with progress_bar("clustering", quiet=quiet) as progress:
        tree = build(
            data,
            similarity=chosen[0],
            linkage=chosen[1],
            similarity_parameters=parameters_of(similarity_param),
            linkage_parameters=parameters_of(params),
            tie_seed=seed,
            progress=progress,
        )
    flat = None if n_clusters is None else tree.cut(n_clusters)
    summary = summarise(data, tree, chosen, score(tree, data), flat, [*outputs, *plots])
    write_outputs(tree, outputs, plots, labels, flat)
    if as_json:
        emit_json({**summary, "tree": tree.to_dict(), "newick": tree.to_newick()})
    elif "-" not in outputs and not quiet:
        print_summary(summary, tree, flat)


def check_outputs(
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    *,
    n_clusters: int | None,
    as_json: bool,
) -> None:
    """Everything that could keep results from being written, before any work is done."""
    from pathlib import Path

    from ordhc.io.files import check_writable
    from ordhc.io.trees import tree_format
    from ordhc.plotting import PICTURES, need_matplotlib

    for path in outputs:
        tree_format(path, "newick" if path == "-" else None)
        check_writable(path)
    for path in plots:
        if Path(path).suffix.lower() not in PICTURES:
            raise click.UsageError(f"{path}: a picture is one of {', '.join(PICTURES)}")
        check_writable(path)
    if plots:
        need_matplotlib()
    if labels is not None:
        if n_clusters is None:
            raise click.UsageError("--labels needs --n-clusters")
        check_writable(labels)
    targets = [*outputs, *plots, *([labels] if labels else []), *(["-"] if as_json else [])]
    if twice := {path for path in targets if targets.count(path) > 1}:
        raise click.UsageError(f"{min(twice)} is written to twice")


def write_outputs(
    tree: "Dendrogram",
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    flat: "NDArray[np.int64] | None",
) -> None:
    """Write the trees, the pictures and the labels."""
    from ordhc.io import write_tree

    for path in outputs:
        write_tree(tree, path)
    for path in plots:
        from ordhc.plotting import save_plot

        save_plot(tree, path, n_clusters=None if flat is None else int(flat.max()) + 1)
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
    data: Comparisons,
    tree: "Dendrogram",
    chosen: tuple[str, str],
    revenue: float,
    flat: "NDArray[np.int64] | None",
    files: list[str],
) -> dict[str, Any]:
    """What there is to say about a run."""
    return {
        "n_leaves": tree.n_leaves,
        "n_comparisons": len(data),
        "kind": type(data).__name__.lower(),
        "weighted": data.weights is not None,
        "unmentioned": data.unmentioned.tolist(),
        "similarity": chosen[0],
        "linkage": chosen[1],
        "revenue": revenue,
        "labels": None if flat is None else flat.tolist(),
        "files": [path for path in files if path != "-"],
    }


def print_summary(summary: dict[str, Any], tree: "Dendrogram", flat: "NDArray[np.int64] | None") -> None:
    """The summary for people."""
    click.echo(f"{summary['n_comparisons']:,} {summary['kind']} of {tree.n_leaves:,} leaves")
    missing = summary["unmentioned"]
    if missing:
        some = ", ".join(tree.labels[leaf] for leaf in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        click.echo(f"in no comparison, joined without evidence: {some}{more}")
    click.echo(f"method   {summary['similarity']} similarity, {summary['linkage']} linkage")
    click.echo(f"revenue  {summary['revenue']:,} (higher is better)")
    if flat is not None:
        import numpy as np

        click.echo(f"{flat.max() + 1} clusters:")
        for label in range(int(flat.max()) + 1):
            members = [tree.labels[leaf] for leaf in np.flatnonzero(flat == label)]
            shown = "; ".join(members[:3]) + ("; ..." if len(members) > 3 else "")
            click.echo(f"  {label + 1:>3} ({len(members)} leaves): {shown}")
    for path in summary["files"]:
        click.echo(f"wrote    {path}")
