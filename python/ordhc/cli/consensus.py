"""`ordhc consensus`: write the consensus tree of many trees."""

import click

from ordhc.cli.help import Command
from ordhc.cli.output import progress_bar, quiet_option


@click.command(cls=Command, no_args_is_help=True)
@click.argument("source", metavar="TREES")
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
@quiet_option
def consensus(source: str, output: str, threshold: float, extended: bool, quiet: bool) -> None:
    """Write the consensus of the trees in TREES: Newick texts one after the other, NEXUS or JSON.

    The label of a node is the percentage of trees that have this cluster. Leaves are matched by name.

    \b
    Examples:
      ordhc consensus resamples.nwk -o consensus.nwk
      ordhc consensus posterior.nex --threshold 0.7 -o consensus.nex
    """
    from ordhc.io import read_trees, write_tree
    from ordhc.io.files import check_outputs_apart, check_writable
    from ordhc.io.trees import check_written
    from ordhc.tree.consensus import consensus as verb

    check_outputs_apart([output], [source])
    check_written(output)
    check_writable(output)
    with progress_bar("reading", quiet=quiet) as progress:
        trees = read_trees(source, progress=progress)
    write_tree(verb(trees, threshold=threshold, extended=extended), output)
