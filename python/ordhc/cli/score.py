"""`ordhc score`: how good a tree is."""

from typing import Any

import click

from ordhc.cli.common import emit_json, read_comparisons, reading_options


@click.command(no_args_is_help=True)
@click.argument("tree")
@click.argument("file")
@click.option("--metric", help="The metric: triplet_revenue, ... (see `ordhc plugins`).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reading_options
def score(tree: str, file: str, metric: str | None, as_json: bool, **reading: Any) -> None:
    """Score TREE (Newick, JSON, SciPy's Z) by the comparisons in FILE.

    Leaves are matched by name where both have names, else by number. Comparisons that were held out
    say more than the ones the tree was made from.

    \b
    Example:
      ordhc score tree.nwk held_out.csv --metric triplet_revenue
    """
    from ordhc.errors import InputError
    from ordhc.io import read_tree
    from ordhc.verbs import score as verb

    if tree == "-" == file:
        raise InputError("only one of TREE and FILE can be standard input")
    found = read_tree(tree)
    if reading["n_leaves"] is None and reading["names"] is None:
        reading["n_leaves"] = found.n_leaves
        if found.names is not None:
            data = _by_tree(file, found.names, reading)
        else:
            data = read_comparisons(file, **reading)
    else:
        data = read_comparisons(file, **reading)
    value = verb(found, data, metric)
    name = metric or f"{type(data).__name__.lower()[:-1]}_revenue"
    if as_json:
        emit_json({"metric": name, "score": value, "n_comparisons": len(data), "tree": tree})
    else:
        click.echo(f"{name}  {value:,}" if isinstance(value, int | float) else f"{name}  {value}")


def _by_tree(file: str, names: tuple[str, ...], reading: dict[str, Any]) -> Any:
    """Comparisons over the tree's leaves: names are looked up among the tree's."""
    from ordhc.errors import InputError

    data = read_comparisons(file, **{**reading, "names": names, "n_leaves": None})
    # Ids would be taken for positions in the tree's text, which is rarely what was meant.
    bare = read_comparisons(file, **{**reading, "n_leaves": len(names)}) if file != "-" else data
    if bare.names is None:
        raise InputError(
            f"{file}: has ids, but the tree's leaves have names; give --names FILE to say which is which"
        )
    return data
