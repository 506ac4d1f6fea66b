"""`ordhc simulate`: write comparisons whose true tree is known."""

from typing import Any

import click

from ordhc.cli.help import Command, section
from ordhc.cli.output import emit_json, json_option, progress_bar, say
from ordhc.io import write_comparisons
from ordhc.io.files import check_outputs_apart, check_writable, write_bytes
from ordhc.io.writing import ending_of


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("The model")
@click.option(
    "-m",
    "--n-comparisons",
    type=int,
    metavar="M",
    help="The number of comparisons; by default the square of the number of leaves.",
)
@click.option(
    "--levels", type=int, default=3, show_default=True, help="The number of levels of the true tree."
)
@click.option(
    "--leaves-per-cluster",
    type=int,
    default=30,
    show_default=True,
    help="The number of leaves in each of the 2^levels pure clusters.",
)
@click.option(
    "--mu", type=float, default=0.8, show_default=True, help="The mean similarity in a pure cluster."
)
@click.option(
    "--delta", type=float, default=0.1, show_default=True, help="The decrease of the mean for each level."
)
@click.option(
    "--sigma", type=float, default=0.1, show_default=True, help="The standard deviation of similarities."
)
@click.option(
    "--flip", type=float, default=0.0, show_default=True, help="Probability that an answer is flipped."
)
@click.option("--quadruplets", is_flag=True, help="Write quadruplets instead of triplets.")
@click.option(
    "--permute/--no-permute", default=True, help="Number the leaves in random order, or by cluster."
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="The seed of the random numbers; the same seed gives the same data.",
)
@section("Results")
@click.option("--labels", metavar="CSV", help="Write each leaf's planted cluster at every level.")
@section("Options")
@json_option
def simulate(file: str, n_comparisons: int | None, labels: str | None, as_json: bool, **model: Any) -> None:
    """Write comparisons from the planted hierarchical model to FILE (- is standard output).

    The model is a complete binary tree over clusters of equal size. The similarity of two leaves is normally
    distributed. Its mean is lower for leaves that separate nearer to the root.

    \b
    Example:
      ordhc simulate planted.csv --levels 3 --leaves-per-cluster 10 --labels truth.csv --seed 1
    """
    from ordhc.asking.simulated import planted

    ending_of(file)
    check_outputs_apart([file, labels, "-" if as_json else None])
    for path in (file, labels):
        if path is not None:
            check_writable(path)
    with progress_bar("simulating", quiet=False) as progress:
        data, truth = planted(n_comparisons, **model, progress=progress)
    with progress_bar("writing", quiet=False) as progress:
        write_comparisons(data, file, progress=progress)
    if labels is not None:
        header = ",".join(["leaf", *(f"level_{level}" for level in range(1, truth.shape[1] + 1))])
        rows = [",".join(map(str, [leaf, *row])) for leaf, row in enumerate(truth.tolist())]
        write_bytes(labels, ("\n".join([header, *rows]) + "\n").encode())
    if as_json:
        emit_json({"n_leaves": data.n_leaves, "n_comparisons": len(data), "file": file})
    elif file != "-":
        say(f"wrote {len(data):,} comparisons of {data.n_leaves:,} leaves to {file}")
