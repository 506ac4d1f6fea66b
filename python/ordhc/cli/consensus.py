"""`ordhc consensus`: what many trees have in common."""

import click

from ordhc.cli.help import Command
from ordhc.cli.output import progress_bar, quiet_option


@click.command(cls=Command, no_args_is_help=True)
@click.argument("source", metavar="TREES")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the tree goes; - is Newick.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1),
    default=0.5,
    show_default=True,
    help="Clusters that at least this share of the trees have, and more than half; 1 is strict.",
)
@click.option("--extended", is_flag=True, help="Further clusters that contradict none of these.")
@quiet_option
def consensus(source: str, output: str, threshold: float, extended: bool, quiet: bool) -> None:
    """Write the consensus of the trees in TREES: Newick texts one after the other, NEXUS or JSON.

    Labels of nodes are the shares of the trees that have them, in percent. Leaves are matched by name.

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
