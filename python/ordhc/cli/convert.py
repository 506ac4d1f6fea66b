"""`ordhc convert`: from one format to another."""

from typing import Any

import click

from ordhc.cli.common import read_comparisons, reading_options

_ONLY_TREES = (".nwk", ".newick", ".tree", ".tre", ".json")
_COMPARISONS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt", ".parquet", ".npz", ".npy")


@click.command(no_args_is_help=True)
@click.argument("source")
@click.argument("target")
@click.option("--tree/--comparisons", "tree", default=None, help="What SOURCE holds, if unclear.")
@click.option(
    "--expand",
    type=click.Choice(["odd-one-out", "most-central", "ranking"]),
    help="Rows are answers of this kind: make triplets of them.",
)
@click.option("--n-ranked", type=int, default=2, show_default=True, help="With --expand ranking.")
@reading_options
def convert(
    source: str, target: str, tree: bool | None, expand: str | None, n_ranked: int, **reading: Any
) -> None:
    """Convert SOURCE to TARGET: trees to trees, comparisons to comparisons, by the files' endings.

    Trees are .nwk, .json, .csv or .npy (SciPy's Z); comparisons .csv, .tsv, .parquet, .npz, .npy.
    Where both could be meant, a tree is assumed if either side can only be one.

    \b
    Examples:
      ordhc convert tree.json tree.nwk
      ordhc convert answers.csv.gz answers.parquet
      ordhc convert --expand odd-one-out odd_a_b.csv triplets.csv
    """
    from ordhc.io import read_tree, write_comparisons, write_tree
    from ordhc.io.files import check_writable
    from ordhc.io.trees import tree_format

    if tree is None:
        tree = any(path.lower().endswith(_ONLY_TREES) for path in (source, target))
    if tree:
        tree_format(target, "newick" if target == "-" else None)
        check_writable(target)
        write_tree(read_tree(source), target)
        return
    if target != "-" and not target.lower().endswith(_COMPARISONS):
        raise click.UsageError(f"{target}: the ending is none of {', '.join(_COMPARISONS)}")
    check_writable(target)
    if expand is not None:
        write_comparisons(_expanded(source, expand, n_ranked, reading), target)
        return
    write_comparisons(read_comparisons(source, **reading), target)


def _expanded(source: str, expand: str, n_ranked: int, reading: dict[str, Any]) -> Any:
    """Triplets from answers of another kind: all columns of a table, ids or names."""
    import csv
    import io

    from ordhc.comparisons import Triplets
    from ordhc.errors import InputError
    from ordhc.io.files import read_bytes, text_of
    from ordhc.io.names import as_names

    text = text_of(read_bytes(source), source)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    rows = [[cell.strip() for cell in row] for row in rows if not row[0].startswith("#")]
    whole = [all(cell.isdigit() for cell in row) for row in rows]
    header = reading["header"]
    if header is None:
        header = len(rows) > 1 and not whole[0] and all(whole[1:])
    if header:
        rows, whole = rows[1:], whole[1:]
    if not rows:
        raise InputError(f"{source}: there are no rows")
    table: list[list[Any]] = [[int(cell) for cell in row] for row in rows] if all(whole) else rows
    names = as_names(reading["names"])
    if expand == "ranking":
        return Triplets.from_ranking(table, n_ranked, reading["n_leaves"], names)
    make = Triplets.from_odd_one_out if expand == "odd-one-out" else Triplets.from_most_central
    return make(table, reading["n_leaves"], names)
