"""`ordhc plot`: draw a tree from a file."""

from typing import Any

import click

from ordhc.cli.help import Command
from ordhc.cli.output import check_outputs, progress_bar, quiet_option, say
from ordhc.cli.reading import parameters_of, underscores_option
from ordhc.io import read_tree


@click.command(cls=Command, no_args_is_help=True)
@click.argument("tree")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    metavar="PICTURE",
    help="The picture: .svg, .png, .pdf, or .html (an interactive page). Repeatable.",
)
@click.option(
    "--layout",
    type=click.Choice(["rectangular", "circular", "unrooted"]),
    help="The shape of the picture. Default: rectangular.",
)
@click.option("--n-clusters", type=int, metavar="K", help="Colour K clusters.")
@click.option("--title", metavar="TEXT", help="The title of the picture.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another option of Dendrogram.savefig: orientation=top, support=dots, truncate=false. Repeatable.",
)
@underscores_option
@quiet_option
def plot(
    tree: str,
    outputs: tuple[str, ...],
    layout: str | None,
    n_clusters: int | None,
    title: str | None,
    params: tuple[str, ...],
    preserve_underscores: bool,
    quiet: bool,
) -> None:
    """Draw the tree in TREE: Newick, NEXUS, JSON, or SciPy's Z as csv or npy (- is standard input).

    A tree with heights is drawn as a dendrogram, a tree with lengths of branches as a phylogram.

    \b
    Examples:
      ordhc plot tree.nwk -o tree.svg
      ordhc plot tree.nwk -o tree.pdf -o tree.html --n-clusters 5
      ordhc plot raxml.nwk -o tree.png --layout unrooted --param support=false
    """
    from ordhc.plotting.figures import PICTURES
    from ordhc.plotting.pages import PAGES
    from ordhc.plotting.saving import save_plot

    for path in outputs:
        if not path.lower().endswith((*PICTURES, *PAGES)):
            raise click.UsageError(f"{path}: a picture is one of {', '.join((*PICTURES, *PAGES))}")
    pages = [path for path in outputs if path.lower().endswith(PAGES)]
    pictures = tuple(path for path in outputs if path not in pages)
    check_outputs((), pictures, None, n_clusters=n_clusters, as_json=False, inputs=(tree, *pages))
    for page in pages:
        check_outputs((), (), None, html=page, n_clusters=n_clusters, as_json=False, inputs=(tree,))
    chosen = {"layout": layout, "n_clusters": n_clusters, "title": title}
    options: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    options |= parameters_of(params)
    with progress_bar("reading", quiet=quiet) as progress:
        found = read_tree(tree, preserve_underscores=preserve_underscores, progress=progress)
    for path in outputs:
        save_plot(found, path, **options)
        if not quiet:
            say(f"wrote    {path}")
