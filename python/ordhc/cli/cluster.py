"""`ordhc cluster`: make a dendrogram from a file of answers."""

import re
from typing import Any

import click

from ordhc.cli.executors import executor_of, executor_option, resume_option, say_resumed
from ordhc.cli.help import Command, Registered, Settings, section
from ordhc.cli.numbers import cluster_numbers, numbers_in, numbers_options
from ordhc.cli.output import (
    check_n_clusters,
    check_outputs,
    finish,
    json_option,
    progress_bar,
    quiet_option,
    summarise,
)
from ordhc.cli.reading import (
    files_of,
    parameters_of,
    parts_of,
    read_comparisons,
    read_labels,
    reading_options,
    unit_option,
)
from ordhc.errors import InputError, warn
from ordhc.io.scan import is_several


def _answers(
    file: str, asked: dict[str, Any] | None, scanned: dict[str, Any], progress: Any, reading: dict[str, Any]
) -> Any:
    """Return the answers in FILE as comparisons, or as a `Scan`, which reads them block by block.

    The result is a scan if the file is large, and the method that `asked` describes can use a scan.
    """
    from ordhc.clustering.scanned import takes_scan

    try:
        return read_comparisons(
            file,
            takes=lambda scan: asked is not None and takes_scan(scan, **asked),
            progress=progress,
            scanned=scanned,
            **reading,
        )
    except InputError as error:
        if re.search(r"has \d+ columns instead of", error.reason):
            error.args = (f"{error}; for a table of numbers: --distances, --similarities or --vectors",)
        raise


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("What FILE contains, if not answers")
@numbers_options
@section("The method")
@click.option(
    "--method",
    type=Registered("method"),
    help="The name of a method, or SIMILARITY+LINKAGE; +spr after it moves subtrees. Default: "
    "posterior-al if it takes at most ten seconds; otherwise adds3-al+spr or adds4-al+spr.",
)
@click.option(
    "--similarity",
    type=Registered("similarity"),
    help="The similarity of two leaves, from the data.",
)
@click.option(
    "--linkage",
    type=Registered("linkage"),
    help="How the similarity of two clusters is computed from that of their leaves.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    type=Settings("similarity", "similarity", ("linkage", "linkage")),
    help="A setting of the similarity or the linkage; if both have KEY, similarity.KEY or linkage.KEY. "
    "Repeatable.",
)
@click.option("--initial", metavar="CSV", help="Start from clusters: columns leaf, cluster.")
@section("Results")
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
    help="Draw the tree: .svg, .png, .pdf. Repeatable.",
)
@click.option("--html", metavar="PAGE", help="Write an interactive page of the tree (.html).")
@click.option("--n-clusters", type=int, metavar="K", help="Cut the tree into K clusters.")
@click.option("--labels", metavar="CSV", help="Write each leaf's cluster (with --n-clusters).")
@section("How sure the tree is")
@click.option(
    "--bootstrap",
    type=int,
    metavar="N",
    help="Report each cluster's share of N resamples.",
)
@unit_option
@click.option("--consensus", metavar="TREE", help="With --bootstrap: write the majority-rule tree.")
@section("Large data", rare=True)
@executor_option
@click.option(
    "--memory",
    metavar="SIZE",
    help="Scan FILE, and keep sums that need more memory than this, such as 2GB, in files.",
)
@click.option(
    "--spill",
    metavar="FOLDER",
    help="The folder for sums that exceed --memory; by default temporary files.",
)
@resume_option
@click.option(
    "--neighbors",
    type=int,
    metavar="K",
    help="With --vectors: merge along the graph of the K nearest neighbours. For millions of vectors.",
)
@section("Options")
@click.option(
    "--seed",
    type=int,
    help="The seed of resamples, and of a random order of the leaves that breaks ties.",
)
@json_option
@quiet_option
@reading_options
def cluster(
    file: str,
    method: str | None,
    similarity: str | None,
    linkage: str | None,
    params: tuple[str, ...],
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    html: str | None,
    n_clusters: int | None,
    labels: str | None,
    initial: str | None,
    bootstrap: int | None,
    unit: str | None,
    consensus: str | None,
    executor: str | None,
    memory: str | None,
    spill: str | None,
    resume: str | None,
    neighbors: int | None,
    seed: int | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Make a dendrogram from FILE: answers, distances, similarities or vectors.

    FILE (- is standard input) is csv, tsv, Parquet, npy, or npz for answers. Answers are rows
    anchor,near,far (ids or names): the anchor is more like near than far. With --kind, FILE has answers to
    other questions, one in each row. A repeated row counts as often as it occurs; a column count or weight
    multiplies a row. FILE can be a folder, a pattern in quotes, or a URL (s3://, https://); large files are
    read block by block.

    \b
    Examples:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg --n-clusters 5
      ordhc cluster --distances d.csv --linkage ward -o tree.nwk
      ordhc cluster answers.csv --bootstrap 200 --person participant
      ordhc cluster study.csv --kind odd-one-out --items left,middle,right --chosen odd --na skip
      ordhc cluster 's3://bucket/*.parquet' --executor processes:8 --resume parts
      ordhc cluster --vectors x.csv --similarity euclidean --linkage ward
    """
    from ordhc.clustering.cluster import fit
    from ordhc.clustering.plan import Plan, biased_text, method_of_many
    from ordhc.metrics.streamed import revenue_of

    numbers = numbers_in(reading)
    if neighbors is not None and numbers != "vectors":
        raise click.UsageError("--neighbors is for --vectors")
    inputs = (initial, *files_of(file, reading))
    check_outputs(
        outputs, plots, labels, consensus, html=html, n_clusters=n_clusters, as_json=as_json, inputs=inputs
    )
    if bootstrap is None and (unit is not None or consensus is not None):
        raise click.UsageError("--unit and --consensus need --bootstrap")
    if bootstrap is not None and bootstrap < 1:
        raise click.UsageError(f"--bootstrap {bootstrap} is below 1")
    if numbers is not None:
        cluster_numbers(numbers)
        return
    workers = None if executor is None else click.get_current_context().with_resource(executor_of(executor))
    scanned = {"memory": memory, "spill": spill, "executor": workers, "resume": resume}
    asked: dict[str, Any] = {"method": method, "similarity": similarity, "linkage": linkage}
    if bootstrap is not None and not is_several(file):
        if memory or spill or resume:
            raise click.UsageError(
                "with --bootstrap, the options --memory, --spill and --resume are for a folder or a pattern "
                "of files"
            )
        scanned = {}
    with progress_bar("reading", quiet=quiet) as progress:
        takes = None if bootstrap is not None else asked
        data = _answers(file, takes, scanned, progress, reading)
    if (method, similarity, linkage) == (None,) * 3 and (initial or bootstrap):
        method = method_of_many(data)
    settings = parameters_of(params)
    asked = {"method": method, **parts_of(similarity, linkage, settings), **settings}
    plan = Plan.of(data, **asked)
    check_n_clusters(n_clusters, data.n_leaves)
    start = None if initial is None else read_labels(initial, data.names, data.n_leaves)
    with progress_bar("clustering", quiet=quiet) as progress:
        tree, unanswered = fit(plan, data, initial_clusters=start, tie_seed=seed, progress=progress)
    resampled = None
    if bootstrap is not None:
        from ordhc.evaluate.bootstrap import bootstrap as resample

        with progress_bar("resampling", quiet=quiet) as progress:
            asked |= {"unit": unit, "initial_clusters": start, "tree": tree, "executor": workers}
            resampled = resample(data, n_resamples=bootstrap, seed=seed or 0, progress=progress, **asked)
        tree = resampled.tree
    if (text := biased_text(plan, data)) is not None:
        warn(text)
    if not quiet:
        say_resumed(data)
    finish(summarise(data, tree, revenue_of(tree, data), unanswered), tree, resampled)
