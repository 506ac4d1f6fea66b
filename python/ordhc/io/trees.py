"""Trees from files, and to files."""

import io as bytes_io
import json
import os

import numpy as np

from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of, write_bytes

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
        raise InputError(f"{name_of(path)}: the ending is none of {', '.join(FORMATS)}")
    return default


def read_tree(path: Source, format: str | None = None) -> Dendrogram:
    """Read a tree: Newick (.nwk), JSON, SciPy's Z as csv or npy; "-" is standard input.

    Standard input and unknown endings are taken as JSON if they begin with a brace, else Newick.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_tree(io.StringIO("((a,b),c);"))
    <Dendrogram: 3 leaves, dissimilarity 1 .. 2>
    """
    name = name_of(path)
    data = read_bytes(path)
    if not data.strip():
        raise InputError(f"{name}: the file is empty")
    guess = "json" if data.lstrip().startswith(b"{") else "newick"
    kind = format or tree_format(path, guess)
    try:
        if kind == "newick":
            return Dendrogram.from_newick(text_of(data, name))
        if kind == "json":
            return _from_json(text_of(data, name), name)
        if kind == "npy":
            if not data.startswith(b"\x93NUMPY"):
                raise InputError(f"{name}: is no .npy file")
            return Dendrogram.from_scipy(np.load(bytes_io.BytesIO(data), allow_pickle=False))
        if kind == "scipy":
            return _from_csv(text_of(data, name), name)
    except (ValueError, EOFError) as error:
        text = str(error)
        if text.startswith("line "):
            line, _, rest = text[5:].partition(": ")
            text = f"{name}:{line}: {rest}"
        elif not text.startswith(name):
            text = f"{name}: {text}"
        raise InputError(text) from None
    raise InputError(f"the format {kind!r} is none of newick, json, scipy, npy")


def write_tree(tree: Dendrogram, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a tree as Newick (.nwk), JSON (lossless), SciPy's Z as csv or npy; "-" is Newick.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.write_tree(ordhc.Dendrogram([(0, 1)], [1.0]), "-")  # doctest: +SKIP
    (0:1,1:1);
    """
    kind = format or tree_format(path, "newick" if os.fspath(path) == "-" else None)
    write_bytes(path, tree_bytes(tree, kind))


def tree_bytes(tree: Dendrogram, kind: str) -> bytes:
    """A tree in one of the formats."""
    if kind == "newick":
        return (tree.to_newick() + "\n").encode()
    if kind == "json":
        return (json.dumps(tree.to_dict(), ensure_ascii=False) + "\n").encode()
    if kind == "scipy":
        rows = [f"{int(a)},{int(b)},{h!r},{int(s)}" for a, b, h, s in tree.to_scipy().tolist()]
        return ("\n".join([_HEADER, *rows]) + "\n").encode()
    if kind == "npy":
        buffer = bytes_io.BytesIO()
        np.save(buffer, tree.to_scipy())
        return buffer.getvalue()
    raise InputError(f"the format {kind!r} is none of newick, json, scipy, npy")


def _from_json(text: str, name: str) -> Dendrogram:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}: no JSON: {error.msg}") from None
    # What `ordhc cluster --json` prints has the tree inside.
    return Dendrogram.from_dict(data.get("tree", data) if isinstance(data, dict) else data)


def _from_csv(text: str, name: str) -> Dendrogram:
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split(",")
        if not line.strip() or line.startswith("#") or (not rows and cells[0].strip()[:1].isalpha()):
            continue
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            raise InputError(f"{name}:{number}: {line!r} is no row of numbers") from None
        if len(row) != 4:
            raise InputError(f"{name}:{number}: {len(row)} columns instead of 4 ({_HEADER})")
        rows.append(row)
    return Dendrogram.from_scipy(np.array(rows, dtype=np.float64).reshape(-1, 4))
