"""`ordhc convert`: convert files of trees or comparisons to another format."""

from typing import Any

import click

from ordhc.cli.help import Command
from ordhc.cli.output import progress_bar
from ordhc.cli.reading import files_of, read_comparisons, reading_options, underscores_option
from ordhc.io import Scan, read_trees, write_comparisons, write_trees
from ordhc.io.files import check_outputs_apart, check_writable
from ordhc.io.paths import suffix_of
from ordhc.io.trees import ONLY_TREES, check_written
from ordhc.io.writing import ending_of


@click.command(cls=Command, no_args_is_help=True)
@click.argument("source")
@click.argument("target")
@click.option(
    "--tree/--comparisons",
    "tree",
    default=None,
    help="Whether SOURCE contains trees or comparisons, if the endings do not decide.",
)
@underscores_option
@click.option(
    "--min-support",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Remove nodes with less support from trees; their children move to the node above.",
)
@reading_options
def convert(
    source: str,
    target: str,
    tree: bool | None,
    preserve_underscores: bool,
    min_support: float | None,
    **reading: Any,
) -> None:
    """Convert SOURCE to TARGET: trees to trees, comparisons to comparisons, by the files' endings.

    Trees are .nwk, .nex (NEXUS), .json, .csv or .npy (SciPy's Z); all trees in a file are converted.
    Comparisons are .csv, .tsv, .parquet, .npz or .npy. If both files are .csv or .npy, they are
    taken as comparisons. Use --tree if they are trees.

    \b
    Examples:
      ordhc convert tree.json tree.nwk
      ordhc convert posterior.nex trees.nwk
      ordhc convert tree.nwk supported.nwk --min-support 0.7
      ordhc convert answers.csv.gz answers.parquet
      ordhc convert --kind odd-one-out odd_a_b.csv triplets.csv
      ordhc convert --kind most-central answers.csv t.npz --items left,middle,right --chosen central
      ordhc convert --format salmon responses.csv triplets.csv
    """
    check_outputs_apart([target], files_of(source, reading))
    if tree is None:
        tree = (
            reading["kind"] is None
            and reading["format"] is None
            and any(suffix_of(path, ONLY_TREES) for path in (source, target))
        )
    if tree:
        check_written(target)
        check_writable(target)
        with progress_bar("reading", quiet=False) as progress:
            found = read_trees(source, preserve_underscores=preserve_underscores, progress=progress)
        if min_support is not None:
            found = [one.contract(min_support=min_support) for one in found]
        with progress_bar("writing", quiet=False) as progress:
            write_trees(found, target, progress=progress)
        return
    if min_support is not None:
        raise click.UsageError("--min-support is for trees")
    ending_of(target)
    check_writable(target)
    with progress_bar("reading", quiet=False) as progress:
        data = read_comparisons(source, progress=progress, **reading)
        data = data.read(progress=progress) if isinstance(data, Scan) else data
    with progress_bar("writing", quiet=False) as progress:
        write_comparisons(data, target, progress=progress)
