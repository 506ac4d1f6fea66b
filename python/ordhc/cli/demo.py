"""`ordhc demo`: cluster a bundled set of real answers."""

from pathlib import Path

import click

from ordhc.cli.help import Command
from ordhc.cli.output import check_outputs, print_summary, progress_bar, say, summarise, write_outputs
from ordhc.errors import MissingExtraError


@click.command(cls=Command)
@click.option(
    "--output-dir", metavar="FOLDER", default="demo", show_default=True, help="The folder for the tree."
)
@click.option("--n-clusters", type=int, default=8, show_default=True, help="The number of clusters to show.")
def demo(output_dir: str, n_clusters: int) -> None:
    """Cluster 100 dishes from 190,376 answers to "which dishes are similar?".

    The command prints a summary, and writes the tree and, if Matplotlib is installed, a picture.

    \b
    Example:
      ordhc demo --output-dir demo
    """
    from ordhc.clustering.cluster import fit
    from ordhc.clustering.plan import Plan
    from ordhc.datasets import load_food
    from ordhc.metrics.streamed import revenue_of
    from ordhc.plotting.drawing import need_matplotlib

    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    outputs = tuple(str(folder / name) for name in ("food.nwk", "food.json"))
    plots = tuple(str(folder / name) for name in ("food.svg", "food.png"))
    try:
        need_matplotlib()
    except MissingExtraError as error:
        say(f"no picture: {error}", err=True)
        plots = ()
    check_outputs(outputs, plots, None, n_clusters=n_clusters, as_json=False)
    data = load_food().triplets
    plan = Plan.of(data, method="adds3-al")
    with progress_bar("clustering", quiet=False) as progress:
        tree, unanswered = fit(plan, data, progress=progress)
    flat = tree.cut(n_clusters)
    write_outputs(tree, outputs, plots, None, flat)
    summary = summarise(data, tree, revenue_of(tree, data), unanswered)
    summary["files"] = [*outputs, *plots]
    print_summary(summary, tree, flat)
