"""Trees from files, and to files."""

import io as bytes_io
import json
import os
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._progress import Progress, part, shows_progress
from ordhc.errors import InputError
from ordhc.io.arrays import load_array
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of, write_bytes
from ordhc.io.guard import brief, looks_like, reading
from ordhc.io.sheet import listed, located, read_sheet
from ordhc.tree.dendrogram import Dendrogram

FORMATS = {
    ".nwk": "newick",
    ".newick": "newick",
    ".tree": "newick",
    ".tre": "newick",
    ".json": "json",
    ".csv": "scipy",
    ".npy": "npy",
}
_HEADER = "cluster_a,cluster_b,height,size"


def tree_format(path: Source, default: str | None = None) -> str:
    """The format of a tree file by its ending: newick, json, scipy (csv) or npy."""
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
    """Read a tree: Newick (.nwk), JSON, SciPy's Z as csv or npy; "-" is standard input.

    Standard input and unknown endings are taken as JSON if they begin with a brace, else Newick, which is
    read as `Dendrogram.from_newick` does. `progress` is True for a bar, or called with the share that is
    done, from 0 to 1.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_tree(io.StringIO("((a,b),c);"))
    <Dendrogram: 3 leaves, dissimilarity 1 .. 2>
    """
    progress = _checks.callback("progress", progress)
    name, wanted = name_of(path), _given_format(format)
    preserve_underscores = _checks.flag("preserve_underscores", preserve_underscores)
    data = read_bytes(path)
    if not data.strip():
        raise InputError("the file is empty", path=name)
    guess = "json" if data.lstrip().startswith(b"{") else "newick"
    kind = wanted or tree_format(path, guess)
    with reading(name, "a tree", data):
        _refuse_comparisons(data, name, kind)
        told = _told(progress, 0.1)
        try:
            if kind == "newick":
                text, further = text_of(data, name), part(progress, 0.1, 1)
                return Dendrogram.from_newick(
                    text, preserve_underscores=preserve_underscores, progress=further
                )
            if kind == "json":
                tree = _from_json(text_of(data, name), name, told)
            elif kind == "npy":
                tree = Dendrogram.from_linkage_matrix(load_array(data, name))
            else:
                tree = _from_csv(data, name)
        except InputError as error:
            raise located(error, name) from None
        told(1.0)
        return tree


def _told(progress: Progress | None, done: float) -> Progress:
    """What tells progress, if anybody wants to know; so much is done."""
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
    """Write a tree as Newick (.nwk), JSON (lossless), SciPy's Z as csv or npy; "-" is Newick.

    `progress` is True for a bar, or called with the share that is done, from 0 to 1.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.write_tree(ordhc.Dendrogram([(0, 1)], [1.0]), "-")  # doctest: +SKIP
    (0:1,1:1);
    """
    if not isinstance(tree, Dendrogram):
        raise InputError(f"a tree is a Dendrogram, not {_checks.quoted(tree)}; ordhc.as_dendrogram makes one")
    path = _checks.path(path)
    kind = _given_format(format) or tree_format(path, "newick" if path == "-" else None)
    progress = _checks.callback("progress", progress)
    write_bytes(path, tree_bytes(tree, kind, part(progress, 0, 0.95)))
    _told(progress, 1.0)


def _given_format(given: Any) -> str | None:
    return None if given is None else _checks.choice("format", given, ("newick", "json", "scipy", "npy"))


def tree_bytes(tree: Dendrogram, kind: str, progress: Progress | None = None) -> bytes:
    """A tree in one of the formats."""
    if kind == "newick":
        return (tree.to_newick(progress=progress) + "\n").encode()
    if kind == "json":
        everything = tree.to_dict()
        _told(progress, 0.4)
        return (json.dumps(everything, ensure_ascii=False) + "\n").encode()
    if kind == "scipy":
        rows = [f"{int(a)},{int(b)},{h!r},{int(s)}" for a, b, h, s in tree.to_linkage_matrix().tolist()]
        return ("\n".join([_HEADER, *rows]) + "\n").encode()
    if kind == "npy":
        buffer = bytes_io.BytesIO()
        np.save(buffer, tree.to_linkage_matrix())
        return buffer.getvalue()
    raise InputError(f"the format {kind!r} is none of newick, json, scipy, npy")


def _from_json(text: str, name: str, told: Progress) -> Dendrogram:
    def no_number(word: str) -> None:
        raise InputError(f"{word} is no height or number of a tree", path=name)

    try:
        data = json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", path=name, line=error.lineno) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", path=name) from None
    told(0.6)
    # What `ordhc cluster --json` prints has the tree inside.
    return Dendrogram.from_dict(data.get("tree", data) if isinstance(data, dict) else data)


def _from_csv(data: bytes, name: str) -> Dendrogram:
    sheet = read_sheet(data, name, None)
    rows: list[list[float]] = []
    for line, cells in zip(sheet.lines, sheet.rows, strict=True):
        if line == sheet.lines[0] and cells[0][:1].isalpha():
            if len(cells) != 4:
                raise InputError(
                    f"the columns {listed(cells)} are those of no tree ({_HEADER}): labels and comparisons "
                    "are what a tree is scored by (`ordhc score TREE FILE`)",
                    path=name,
                    line=line,
                )
            continue
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            raise InputError(f"{listed(cells)} is no row of numbers", path=name, line=line) from None
        if len(row) != 4:
            hint = "; of comparisons `ordhc cluster` makes a tree" if len(row) == 3 else ""
            raise InputError(f"{len(row)} columns instead of 4 ({_HEADER}){hint}", path=name, line=line)
        rows.append(row)
    return Dendrogram.from_linkage_matrix(np.array(rows, dtype=np.float64).reshape(-1, 4))


def _refuse_comparisons(data: bytes, name: str, kind: str) -> None:
    """Raise if a file that should be a tree holds comparisons, or something else altogether."""
    found = looks_like(data)
    fine = {
        "newick": ("a Newick tree", "JSON"),
        "json": ("JSON",),
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
            "`ordhc cluster` makes one of them",
            path=name,
        )
