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

    from ordhc.clustering import Plan
    from ordhc.dendrogram import Dendrogram
    from ordhc.resampling import Bootstrap


@click.command(no_args_is_help=True)
@click.argument("file")
@click.option("--method", help="A paper's name, as adds3-al; instead of the two parts.")
@click.option("--similarity", help="The similarity: adds3, adds4, ... (see `ordhc plugins`).")
@click.option("--linkage", help="The linkage: average, single, complete, ...")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="A setting of the linkage.")
@click.option("--similarity-param", multiple=True, metavar="KEY=VALUE", help="A setting of the similarity.")
@click.option(
    "--refine",
    type=click.Choice(["dasgupta", "revenue", "satisfied"]),
    help="Move subtrees afterwards as long as that helps.",
)
@click.option("--initial", metavar="CSV", help="Clusters to start from: columns leaf and cluster.")
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
@click.option("--bootstrap", type=int, metavar="N", help="Resample the answers N times; give support.")
@click.option(
    "--unit",
    type=click.Choice(["answer", "group"]),
    help="What is kept together; by default people if known.",
)
@click.option("--consensus", metavar="TREE", help="With --bootstrap: write the majority-rule tree.")
@click.option("--seed", type=int, help="Of resamples; and break ties in a random order of the leaves.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
@reading_options
def cluster(
    file: str,
    method: str | None,
    similarity: str | None,
    linkage: str | None,
    params: tuple[str, ...],
    refine: str | None,
    similarity_param: tuple[str, ...],
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    n_clusters: int | None,
    labels: str | None,
    initial: str | None,
    bootstrap: int | None,
    unit: str | None,
    consensus: str | None,
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
      ordhc cluster answers.csv --method 3-al --refine satisfied -o tree.nwk
      ordhc cluster answers.csv --method mulk3-al --bootstrap 200 --group participant -o tree.nwk
      cat answers.csv | ordhc cluster - --json
    """
    from ordhc.clustering import Plan
    from ordhc.verbs import score

    inputs = (file, initial, reading["names"])
    check_outputs(outputs, plots, labels, consensus, n_clusters=n_clusters, as_json=as_json, inputs=inputs)
    if bootstrap is None and (unit is not None or consensus is not None):
        raise click.UsageError("--unit and --consensus need --bootstrap")
    if bootstrap is not None and bootstrap < 1:
        raise click.UsageError(f"--bootstrap {bootstrap} is below 1")
    data = read_comparisons(file, **reading)
    asked: dict[str, Any] = {
        "method": method,
        "similarity": similarity,
        "linkage": linkage,
        "similarity_parameters": parameters_of(similarity_param),
        "linkage_parameters": parameters_of(params),
        "refine": refine,
    }
    plan = Plan.of(data, **asked)
    if n_clusters is not None and not 1 <= n_clusters <= data.n_leaves:
        raise click.UsageError(f"--n-clusters {n_clusters} is outside 1..{data.n_leaves}")
    start = None if initial is None else read_labels(initial, data)
    with progress_bar("clustering", quiet=quiet) as progress:
        tree, unanswered = plan.fit(data, initial_clusters=start, tie_seed=seed, progress=progress)
    resampled = None
    if bootstrap is not None:
        from ordhc.resampling import bootstrap as resample

        with progress_bar("resampling", quiet=quiet) as progress:
            resampled = resample(
                data,
                n_resamples=bootstrap,
                seed=seed or 0,
                unit=unit,
                initial_clusters=start,
                tree=tree,
                progress=progress,
                **asked,
            )
        tree = resampled.tree
    flat = None if n_clusters is None else tree.cut(n_clusters)
    extra = [consensus] if consensus else []
    summary = summarise(data, tree, plan, score(tree, data), flat, [*outputs, *extra, *plots], unanswered)
    if resampled is not None:
        summary["bootstrap"] = summarise_bootstrap(resampled)
    write_outputs(tree, outputs, plots, labels, flat)
    if consensus is not None and resampled is not None:
        from ordhc.io import write_tree

        write_tree(resampled.consensus, consensus)
    if as_json:
        emit_json({**summary, "tree": tree.to_dict(), "newick": tree.to_newick()})
    elif "-" not in outputs and not quiet:
        print_summary(summary, tree, flat)


def check_outputs(
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    labels: str | None,
    consensus: str | None = None,
    *,
    n_clusters: int | None,
    as_json: bool,
    inputs: tuple[str | None, ...] = (),
) -> None:
    """Everything that could keep results from being written, before any work is done."""
    from pathlib import Path

    from ordhc.io.files import check_outputs_apart, check_writable
    from ordhc.io.trees import tree_format
    from ordhc.plotting import PICTURES, need_matplotlib

    for path in [*outputs, *([consensus] if consensus else [])]:
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
    targets = [*outputs, *plots, *(path for path in (labels, consensus) if path), *(["-"] if as_json else [])]
    check_outputs_apart(targets, inputs)


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
    plan: "Plan",
    revenue: float,
    flat: "NDArray[np.int64] | None",
    files: list[str],
    unanswered: "NDArray[np.int64]",
) -> dict[str, Any]:
    """What there is to say about a run."""
    return {
        "n_leaves": tree.n_leaves,
        "n_comparisons": len(data),
        "kind": type(data).__name__.lower(),
        "weighted": data.weights is not None,
        "unanswered": unanswered.tolist(),
        "similarity": None if plan.similarity is None else plan.similarity.name,
        "linkage": plan.linkage.name,
        "refine": plan.refine,
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
    names = {
        "revenue": "revenue",
        "satisfied": "share of answers satisfied",
        "held_out": "share of held-out answers satisfied",
    }
    for key, name in names.items():
        score = found["scores"][key]
        low, high = (f"{score[end]:,.6g}" for end in ("low", "high"))
        click.echo(f"  {name}: {score['estimate']:,.6g} ({low} to {high}, {found['confidence']:.0%})")
    click.echo(f"  of held-out answers: chance {found['chance']:.4f}")
    if found["ceiling"] is not None:
        from ordhc.selection import NoiseCeiling

        click.echo(f"  of repeated questions: noise ceiling {NoiseCeiling(**found['ceiling'])}")


def read_labels(path: str, data: Comparisons) -> "NDArray[np.int64]":
    """Initial clusters from a csv file, as --labels writes them; leaves that aren't there start alone."""
    import numpy as np

    from ordhc.io.files import read_bytes
    from ordhc.io.references import label_table

    leaves = data.names or tuple(str(leaf) for leaf in range(data.n_leaves))
    number: dict[str, int] = {}
    labels = np.arange(data.n_leaves, 2 * data.n_leaves)
    for leaf, (cluster,) in enumerate(label_table(path, read_bytes(path), leaves, ["cluster"])):
        if cluster is not None:
            labels[leaf] = number.setdefault(cluster, len(number))
    return labels


def print_summary(summary: dict[str, Any], tree: "Dendrogram", flat: "NDArray[np.int64] | None") -> None:
    """The summary for people."""
    click.echo(f"{summary['n_comparisons']:,} {summary['kind']} of {tree.n_leaves:,} leaves")
    if summary["unanswered"]:
        from ordhc.clustering import unanswered_text

        click.echo(unanswered_text(tree, summary["unanswered"]))
    similarity = f"{summary['similarity']} similarity, " if summary["similarity"] else ""
    refined = f", refined by {summary['refine']}" if summary["refine"] else ""
    click.echo(f"method   {similarity}{summary['linkage']} linkage{refined}")
    click.echo(f"revenue  {summary['revenue']:,} (higher is better)")
    if "bootstrap" in summary:
        print_bootstrap(summary["bootstrap"])
    if flat is not None:
        import numpy as np

        click.echo(f"{flat.max() + 1} clusters:")
        for label in range(int(flat.max()) + 1):
            members = [tree.labels[leaf] for leaf in np.flatnonzero(flat == label)]
            shown = "; ".join(members[:3]) + ("; ..." if len(members) > 3 else "")
            click.echo(f"  {label + 1:>3} ({len(members)} leaves): {shown}")
    for path in summary["files"]:
        click.echo(f"wrote    {path}")
