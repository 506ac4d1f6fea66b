"""Read trees from files, and write trees to files."""

from __future__ import annotations

import io as bytes_io
import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._progress import Progress, part, shows_progress
from ordhc.errors import InputError
from ordhc.io.arrays import load_array
from ordhc.io.files import read_content, text_of, write_bytes
from ordhc.io.guard import looks_like, reading
from ordhc.io.nexus import newick_texts, nexus_text
from ordhc.io.paths import Source, brief, checked_path, name_of, suffix_of
from ordhc.io.sheet import listed, located, read_sheet
from ordhc.tree import newick
from ordhc.tree.dendrogram import Dendrogram, from_dict
from ordhc.tree.tables import as_nested_json

FORMATS = {
    ".nwk": "newick",
    ".newick": "newick",
    ".tree": "newick",
    ".tre": "newick",
    ".json": "json",
    ".csv": "scipy",
    ".npy": "npy",
    ".nex": "nexus",
    ".nexus": "nexus",
    ".nxs": "nexus",
    ".nexml": "nexml",
}
_READ = ("newick", "nexus", "nexml", "json", "scipy", "npy")
_WRITTEN = ("newick", "nexus", "json", "d3", "scipy", "npy")
#: The endings of files that can only be trees.
ONLY_TREES = (".trees", *(suffix for suffix in FORMATS if suffix not in (".csv", ".npy")))
_HEADER = "cluster_a,cluster_b,height,size"


def tree_format(path: Source, default: str | None = None) -> str:
    suffix = suffix_of(path, tuple(FORMATS))
    if suffix:
        return FORMATS[suffix]
    if default is None:
        raise InputError(f"the ending is none of {', '.join(FORMATS)}", path=name_of(path))
    return default


@shows_progress("reading")
def read_tree(
    path: Source,
    format: str | None = None,
    *,
    preserve_underscores: bool = False,
    progress: Progress | bool | None = None,
) -> Dendrogram:
    """Read a tree from a file, in Newick, NEXUS, NeXML, JSON or SciPy's format.

    Parameters
    ----------
    path
        A file, an open stream, or "-" for standard input.
    format
        "newick", "nexus", "nexml", "json", "scipy" (the linkage matrix Z as csv) or "npy" (Z as npy). By
        default the file's content decides for NEXUS and NeXML, and the ending for other formats. Standard
        input and files with unknown endings are JSON if they begin with a brace, otherwise Newick. NEXUS and
        NeXML need DendroPy (the extra `trees`). Their support is read from labels of nodes, and from
        annotations such as ``[&posterior=0.98]``.
    preserve_underscores
        True keeps underscores in names of Newick, as in `Dendrogram.from_newick`. By default they become
        blanks.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Dendrogram
        The tree.

    Raises
    ------
    InputError
        The file is not a tree, or has several trees (`read_trees` reads them).
    MissingExtraError
        DendroPy is not installed.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_tree(io.StringIO("((a,b),c);"))
    <Dendrogram: 3 leaves, shape>
    """
    return _read(path, format, preserve_underscores, progress, several=False)[0]


@shows_progress("reading")
def read_trees(
    path: Source,
    format: str | None = None,
    *,
    preserve_underscores: bool = False,
    progress: Progress | bool | None = None,
) -> list[Dendrogram]:
    """Read all trees from a file, in a format of `read_tree`.

    Newick, NEXUS, NeXML and JSON can have several trees in a file.

    Parameters
    ----------
    path, format, preserve_underscores, progress
        As in `read_tree`.

    Returns
    -------
    list of Dendrogram
        The trees. If a tree has the same leaves as the first tree, its leaves have the same numbers, too.

    Raises
    ------
    InputError
        The file has no trees, or an invalid tree.
    MissingExtraError
        DendroPy is not installed.

    Examples
    --------
    >>> import io, ordhc
    >>> trees = ordhc.read_trees(io.StringIO("((a,b),c); (a,(c,b));"))
    >>> [tree.names for tree in trees], ordhc.metrics.robinson_foulds(*trees)
    ([('a', 'b', 'c'), ('a', 'b', 'c')], 1.0)
    """
    found = _read(path, format, preserve_underscores, progress, several=True)
    names = found[0].names or ()
    place = _checks.LeafNumbers(names)
    for at, tree in enumerate(found):
        numbers = [] if tree.names in (None, names) else [place.get(name, -1) for name in tree.names or ()]
        if numbers and sorted(numbers) == list(range(len(names))):
            found[at] = tree.relabel(numbers)
    return found


def _read(
    path: Source, format: str | None, preserve_underscores: bool, progress: Any, *, several: bool
) -> list[Dendrogram]:
    progress = _checks.callback("progress", progress)
    name, wanted = name_of(path), None if format is None else _checks.choice("format", format, _READ)
    preserve_underscores = _checks.flag("preserve_underscores", preserve_underscores)
    data = read_content(path)
    kind = wanted or _format_of(path, data)
    with reading(name, "a tree", data):
        _refuse_comparisons(data, name, kind)
        report = _reported(progress, 0.1)
        try:
            if kind == "npy":
                found: list[Any] = [load_array(data, name)]
            elif kind == "scipy":
                found = [_rows_of_csv(data, name)]
            elif kind == "json":
                found = _in_json(text_of(data, name), name, report)
            else:
                found = _texts(text_of(data, name), kind)
            if len(found) != 1 and not (several and found):
                many = f"has {len(found):,} trees: read them with ordhc.read_trees, "
                many += "or make one tree with `ordhc consensus`"
                raise InputError(many if found else "there are no trees in the file")
            trees = []
            for at, one in enumerate(found):
                further = part(progress, 0.1 + 0.9 * at / len(found), 0.1 + 0.9 * (at + 1) / len(found))
                if kind in ("npy", "scipy"):
                    trees.append(Dendrogram.from_linkage_matrix(one))
                elif kind == "json":
                    trees.append(from_dict(one))
                else:
                    # DendroPy has already replaced underscores by blanks in names of NEXUS.
                    keep = preserve_underscores or kind != "newick"
                    trees.append(_of_newick(one, keep, further))
        except InputError as error:
            raise located(error, name) from None
        report(1.0)
        return trees


def _texts(text: str, kind: str) -> list[tuple[int, str]]:
    if kind != "newick":
        return [(0, tree) for tree in newick_texts(text, kind)]
    found = newick.statements(text) if text.count(";") > 1 else []
    # If text follows a single tree, return all of it: `Dendrogram.from_newick` then raises an error.
    return found if len(found) > 1 and found[-1][1].endswith(";") else [(0, text)]


def _format_of(path: Source, data: bytes) -> str:
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:6].upper() == b"#NEXUS":
        return "nexus"
    if head[:1] == b"<" and b"nexml" in head:
        return "nexml"
    if b"<phyloxml" in head:
        advice = "convert it: Bio.Phylo.convert(file, 'phyloxml', 'tree.nwk', 'newick')"
        raise InputError(f"PhyloXML is not read; {advice}", path=name_of(path))
    return tree_format(path, "json" if re.match(rb"\{|\[\s*[]{]", head) else "newick")


def _of_newick(found: tuple[int, str], preserve_underscores: bool, progress: Progress | None) -> Dendrogram:
    line, text = found
    try:
        return Dendrogram.from_newick(text, preserve_underscores=preserve_underscores, progress=progress)
    except InputError as error:
        if error.line is None or not line:
            raise
        raise InputError(error.reason, line=error.line + line) from None


def _reported(progress: Progress | None, done: float) -> Progress:
    if progress is None:
        return lambda _: None
    progress(done)
    return progress


@shows_progress("writing")
def write_tree(
    tree: Dendrogram,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    progress: Progress | bool | None = None,
) -> None:
    """Write a tree to a file, or to standard output.

    Parameters
    ----------
    tree
        The tree.
    path
        The file; "-" is standard output.
    format
        By default the ending of `path` decides, and "-" is "newick". The formats are:

        * "newick" (.nwk, .newick, .tree, .tre): the text of `Dendrogram.to_newick`
        * "nexus" (.nex, .nexus, .nxs): a NEXUS file
        * "json" (.json): everything, so that `read_tree` restores the tree unchanged
        * "scipy" (.csv) and "npy" (.npy): SciPy's linkage matrix Z
        * "d3" (no ending): nested JSON for D3, ``d3.hierarchy(JSON.parse(text))``. Each node has height, size
          and label; name, support and branch_length if known; and children. `read_tree` does not read it.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Raises
    ------
    InputError
        The format is unknown or cannot store the tree, or the file cannot be written.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.Dendrogram([(0, 1)], [1.0])
    >>> ordhc.write_tree(tree, "-")                               # doctest: +SKIP
    (0:1,1:1);
    >>> ordhc.write_tree(tree, "tree.json", format="d3")          # doctest: +SKIP
    """
    write_trees([tree], path, format, progress=progress)


@shows_progress("writing")
def write_trees(
    trees: Iterable[Dendrogram],
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    progress: Progress | bool | None = None,
) -> None:
    """Write trees to one file, or to standard output.

    Parameters
    ----------
    trees
        The trees.
    path, format, progress
        As in `write_tree`. Newick has one line for each tree. SciPy's Z and "d3" store only one tree.

    Raises
    ------
    InputError
        There are no trees, or several trees in a format that stores one.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.Dendrogram([(0, 1)], [1.0])
    >>> ordhc.write_trees([tree, tree], "-")  # doctest: +SKIP
    (0:1,1:1);
    (0:1,1:1);
    """
    found = _checks.listed("trees", trees)
    for tree in found:
        if not isinstance(tree, Dendrogram):
            raise InputError(
                f"a tree must be a Dendrogram, not {_checks.quoted(tree)}; "
                "convert it with ordhc.as_dendrogram"
            )
    if not found:
        raise InputError("there are no trees to write")
    path = checked_path(path)
    kind = check_written(path) if format is None else _checks.choice("format", format, _WRITTEN)
    progress = _checks.callback("progress", progress)
    write_bytes(path, tree_bytes(found, kind, part(progress, 0, 0.95)))
    _reported(progress, 1.0)


def check_written(path: str | os.PathLike[str]) -> str:
    kind = tree_format(path, "newick" if os.fspath(path) == "-" else None)
    if kind not in _WRITTEN:
        raise InputError(f"{kind} is read, but not written: write .nex or .nwk", path=name_of(path))
    return kind


def tree_bytes(trees: Sequence[Dendrogram], kind: str, progress: Progress | None = None) -> bytes:
    if kind in ("newick", "nexus"):
        count = len(trees)
        texts = [
            tree.to_newick(progress=part(progress, at / count, (at + 1) / count))
            for at, tree in enumerate(trees)
        ]
        return ("\n".join(texts) + "\n" if kind == "newick" else nexus_text(trees, texts)).encode()
    if kind == "json":
        everything = [tree.to_dict() for tree in trees]
        _reported(progress, 0.4)
        document: Any = everything[0] if len(trees) == 1 else everything
        return (json.dumps(document, ensure_ascii=False) + "\n").encode()
    if len(trees) > 1:
        what = "nested JSON for D3" if kind == "d3" else "SciPy's Z"
        raise InputError(f"{what} stores one tree, not {len(trees):,}: write .nwk, .nex or .json")
    if kind == "d3":
        return (as_nested_json(trees[0].root) + "\n").encode()
    Z = trees[0].to_linkage_matrix()
    if kind == "scipy":
        rows = [f"{int(a)},{int(b)},{h!r},{int(s)}" for a, b, h, s in Z.tolist()]
        return ("\n".join([_HEADER, *rows]) + "\n").encode()
    buffer = bytes_io.BytesIO()
    np.save(buffer, Z)
    return buffer.getvalue()


def _in_json(text: str, name: str, report: Progress) -> list[Any]:
    def no_number(word: str) -> None:
        raise InputError(f"{word} is not allowed in the JSON of a tree; give a finite number", path=name)

    try:
        data = json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", path=name, line=error.lineno) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=name) from None
    report(0.6)
    # The output of `ordhc cluster --json` contains the tree.
    return data if isinstance(data, list) else [data.get("tree", data) if isinstance(data, dict) else data]


def _rows_of_csv(data: bytes, name: str) -> NDArray[np.float64]:
    sheet = read_sheet(data, name, None)
    rows: list[list[float]] = []
    for line, cells in zip(sheet.lines, sheet.rows, strict=True):
        if line == sheet.lines[0] and cells[0][:1].isalpha():
            if len(cells) != 4:
                raise InputError(
                    f"the columns {listed(cells)} are not those of a tree ({_HEADER}); if they are labels or "
                    "comparisons, score a tree by them: `ordhc score TREE FILE`",
                    path=name,
                    line=line,
                )
            continue
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            raise InputError(f"{listed(cells)} is not a row of numbers", path=name, line=line) from None
        if len(row) != 4:
            hint = "; if these are comparisons, make a tree with `ordhc cluster`" if len(row) == 3 else ""
            raise InputError(f"{len(row)} columns instead of 4 ({_HEADER}){hint}", path=name, line=line)
        rows.append(row)
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _refuse_comparisons(data: bytes, name: str, kind: str) -> None:
    found = looks_like(data)
    fine = {
        "newick": ("a Newick tree", "JSON"),
        "json": ("JSON",),
        "nexus": ("a NEXUS file",),
        "nexml": ("XML",),
        "npy": ("a NumPy array",),
        "scipy": ("a tree (SciPy's Z)",),
    }
    if found is not None and found[0] not in fine.get(kind, ()):
        raise InputError(f"looks like {found[0]}, not a tree ({kind}): {found[1]}", path=name)
    if found is not None or kind not in ("newick", "scipy"):
        return
    first = data.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip().lower()
    cells = [cell.strip(b' "') for cell in first.replace(b"\t", b",").replace(b";", b",").split(b",")]
    words = {b"anchor", b"near", b"far", b"head", b"winner", b"loser", b"anchor_name"}
    ids = kind == "newick" and len(cells) in (3, 4) and all(cell.isdigit() for cell in cells)
    if len(words.intersection(cells)) > 1 or ids:
        raise InputError(
            f"looks like comparisons ({brief(first.decode(errors='replace'), 60)}), not a tree; "
            "make a tree with `ordhc cluster`",
            path=name,
        )
