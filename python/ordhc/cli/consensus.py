"""`ordhc consensus`: write the consensus tree of many trees."""

import click

from ordhc._progress import part
from ordhc.cli.help import Command
from ordhc.cli.output import progress_bar, quiet_option
from ordhc.cli.reading import underscores_option
from ordhc.io import read_trees, write_tree
from ordhc.io.files import check_outputs_apart, check_writable
from ordhc.io.trees import check_written


@click.command(cls=Command, no_args_is_help=True)
@click.argument("sources", metavar="TREES...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="The file of the tree; - prints Newick to standard output.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1),
    default=0.5,
    show_default=True,
    help="Keep clusters that more than half and at least this share of the trees have; 1 is strict.",
)
@click.option(
    "--extended", is_flag=True, help="Also keep less frequent clusters that contradict none of these."
)
@click.option(
    "--burn-in",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Leave out the first N trees of each file, as samples before a chain has converged. Default: 0.",
)
@underscores_option
@quiet_option
def consensus(
    sources: tuple[str, ...],
    output: str,
    threshold: float,
    extended: bool,
    burn_in: int,
    preserve_underscores: bool,
    quiet: bool,
) -> None:
    """Write the consensus of all trees in some files: Newick texts one after the other, NEXUS or JSON.

    The label of a node is the percentage of trees that contain the node's cluster. Leaves are matched
    by name. If the trees have different leaves, the result is a supertree of all leaves.

    \b
    Examples:
      ordhc consensus resamples.nwk -o consensus.nwk
      ordhc consensus posterior.nex --threshold 0.7 -o consensus.nex
      ordhc consensus run1.nex run2.nex --burn-in 1000 -o consensus.nwk
      ordhc consensus genes/*.nwk -o supertree.nwk
    """
    from ordhc.tree.consensus import consensus as compute

    check_outputs_apart([output], sources)
    check_written(output)
    check_writable(output)
    trees = []
    with progress_bar("reading", quiet=quiet) as progress:
        for at, source in enumerate(sources):
            share = part(progress, at / len(sources), (at + 1) / len(sources))
            found = read_trees(source, preserve_underscores=preserve_underscores, progress=share)
            if burn_in >= len(found):
                raise click.UsageError(f"--burn-in {burn_in}: {source} has only {len(found):,} trees")
            trees += found[burn_in:]
    write_tree(compute(trees, threshold=threshold, extended=extended), output)
