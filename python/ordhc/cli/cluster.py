"""`ordhc cluster`: make a dendrogram from a file of answers."""

from typing import TYPE_CHECKING, Any

import click

from ordhc.cli.executors import executor_of, executor_option, resume_option, say_resumed
from ordhc.cli.help import Command, Registered, Settings, section
from ordhc.cli.output import (
    check_outputs,
    emit_json,
    json_option,
    print_summary,
    progress_bar,
    quiet_option,
    summarise,
    summarise_bootstrap,
    write_outputs,
)
from ordhc.cli.reading import files_of, parameters_of, read_comparisons, reading_options, unit_option
from ordhc.comparison.comparisons import Comparisons

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("The method")
@click.option(
    "--method",
    type=Registered("method"),
    help="The name of a method, or SIMILARITY+LINKAGE; +spr after it moves subtrees. Default: "
    "posterior-al if it takes at most ten seconds. Otherwise, and with --bootstrap, adds3-al+spr or "
    "adds4-al+spr, which take milliseconds.",
)
@click.option(
    "--similarity",
    type=Registered("similarity"),
    help="How the similarity of two leaves is computed from the answers.",
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
    help="A setting of the similarity or the linkage. Repeatable. If both have a setting KEY: "
    "similarity.KEY=VALUE or linkage.KEY=VALUE.",
)
@click.option("--initial", metavar="CSV", help="Clusters to start from: columns leaf and cluster.")
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
@click.option(
    "--html", metavar="PAGE", help="Write an interactive page of the tree: one .html that needs no network."
)
@click.option("--n-clusters", type=int, metavar="K", help="Cut into K clusters.")
@click.option("--labels", metavar="CSV", help="Write each leaf's cluster (with --n-clusters).")
@section("How sure the tree is")
@click.option(
    "--bootstrap",
    type=int,
    metavar="N",
    help="Resample the answers N times, and give each cluster its share of the resamples.",
)
@unit_option
@click.option("--consensus", metavar="TREE", help="With --bootstrap: write the majority-rule tree.")
@section("More than fits", rare=True)
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
    seed: int | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Make a dendrogram from FILE, answers as csv, tsv, parquet, npz or npy (- is standard input).

    FILE has rows anchor,near,far (ids or names): the anchor is more like near than far. With --kind it has
    answers to other questions, one in each row. Repeated rows count repeatedly; a column count or weight
    multiplies a row. FILE can be a folder, a pattern in quotes, or a URL (s3://, gs://, https://) with the
    extra remote. Their answers, and those of a file or a standard input of 32 MiB or more, are read block by
    block if the method allows it. So they need not fit into memory.

    \b
    Examples:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg --n-clusters 5
      ordhc cluster answers.csv --html tree.html --config settings.toml
      ordhc cluster answers.csv --method mulk3-al --bootstrap 200 --person participant -o tree.nwk
      ordhc cluster study.csv --kind odd-one-out --items left,middle,right --chosen odd --na skip
      ordhc cluster 'answers/*.parquet' --executor processes:8 -o tree.nwk
      ordhc cluster 's3://bucket/answers/*.parquet' --resume parts -o tree.nwk
      cat answers.csv | ordhc cluster - --json
    """
    from ordhc.clustering.cluster import fit
    from ordhc.clustering.plan import Plan, biased_text, method_of_many
    from ordhc.clustering.scanned import takes_scan
    from ordhc.errors import warn
    from ordhc.io.scan import is_several
    from ordhc.metrics.score import score

    inputs = (initial, *files_of(file, reading))
    check_outputs(
        outputs, plots, labels, consensus, html=html, n_clusters=n_clusters, as_json=as_json, inputs=inputs
    )
    if bootstrap is None and (unit is not None or consensus is not None):
        raise click.UsageError("--unit and --consensus need --bootstrap")
    if bootstrap is not None and bootstrap < 1:
        raise click.UsageError(f"--bootstrap {bootstrap} is below 1")
    workers = click.get_current_context().with_resource(executor_of(executor))
    scanned = {"memory": memory, "spill": spill, "executor": workers, "resume": resume}
    asked: dict[str, Any] = {"method": method, "similarity": similarity, "linkage": linkage}
    if bootstrap is not None and not is_several(file):
        if memory or spill or resume:
            raise click.UsageError(
                "--memory, --spill and --resume with --bootstrap are for a folder or a pattern of files"
            )
        scanned = {}
    with progress_bar("reading", quiet=quiet) as progress:
        data = read_comparisons(
            file,
            takes=lambda scan: bootstrap is None and takes_scan(scan, **asked),
            progress=progress,
            scanned=scanned,
            **reading,
        )
    if (method, similarity, linkage) == (None,) * 3 and (initial or bootstrap):
        method = method_of_many(data)
    settings = parameters_of(params)
    parts = {
        "similarity": with_settings("similarity", similarity, settings),
        "linkage": with_settings("linkage", linkage, settings),
    }
    asked = {"method": method, **parts, **settings}
    plan = Plan.of(data, **asked)
    if n_clusters is not None and not 1 <= n_clusters <= data.n_leaves:
        raise click.UsageError(f"--n-clusters {n_clusters} is outside 1..{data.n_leaves}")
    start = None if initial is None else read_labels(initial, data)
    with progress_bar("clustering", quiet=quiet) as progress:
        tree, unanswered = fit(plan, data, initial_clusters=start, tie_seed=seed, progress=progress)
    resampled = None
    if bootstrap is not None:
        from ordhc.evaluate.bootstrap import bootstrap as resample

        with progress_bar("resampling", quiet=quiet) as progress:
            resampled = resample(
                data,
                n_resamples=bootstrap,
                seed=seed or 0,
                unit=unit,
                initial_clusters=start,
                tree=tree,
                executor=workers,
                progress=progress,
                **asked,
            )
        tree = resampled.tree
    if (told := biased_text(plan, data)) is not None:
        warn(told)
    flat = None if n_clusters is None else tree.cut(n_clusters)
    extra = [path for path in (consensus, html) if path]
    summary = summarise(data, tree, score(tree, data), flat, [*outputs, *extra, *plots], unanswered)
    if not quiet:
        say_resumed(data)
    if resampled is not None:
        summary["bootstrap"] = summarise_bootstrap(resampled)
    write_outputs(tree, outputs, plots, labels, flat, html)
    if consensus is not None and resampled is not None:
        from ordhc.io import write_tree

        write_tree(resampled.consensus, consensus)
    if as_json:
        emit_json({**summary, "tree": tree.to_dict(), "newick": tree.to_newick()})
    elif "-" not in outputs and not quiet:
        print_summary(summary, tree, flat)


def with_settings(part: str, name: str | None, settings: dict[str, Any]) -> Any:
    """Return a part's name, or a pair of the name and the settings with the prefix `part`.

    These settings are removed from `settings`.
    """
    prefix = f"{part}."
    own = {key.removeprefix(prefix): settings.pop(key) for key in [*settings] if key.startswith(prefix)}
    if own and name is None:
        raise click.UsageError(f"--param {prefix}{next(iter(own))} needs --{part}")
    return (name, own) if own else name


def read_labels(path: str, data: Comparisons) -> "NDArray[np.int64]":
    """Return the (n_leaves,) initial clusters from a csv file, as --labels writes it.

    A leaf that is not in the file starts as a cluster of its own.
    """
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
