"""Recognise the kind of a file, and turn every failure to read a file into an `InputError` that names it."""

import io as bytes_io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from ordhc.errors import InputError, MissingExtraError, OrdhcWarning, PluginError
from ordhc.io.paths import brief

#: The maximum number of columns of a table.
CELLS = 1_000_000
QUOTED = 80

_TABLE = "write the table as csv"
_FROM_R = "write the table with write.csv(..., row.names = FALSE)"
_FROM_PYTHON = "write the data as csv, npz or Parquet"
_LOGIN = "the download may need a login"
_PAGE = (b"<!doctype", b"<html", b"<head", b"<body", b"<table", b"<meta", b"<div", b"<script", b"<!--")
_SHEET = "save the sheet as csv (UTF-8)"
_UTF_8 = "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
#: The beginning of a file in upper case, or several; the kind of the file; and what to do.
_BEGINNINGS: tuple[tuple[bytes | tuple[bytes, ...], str, str], ...] = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls) or another OLE file", _SHEET),
    (b"#NEXUS", "a NEXUS file", "`ordhc.read_tree` and `ordhc convert` read its trees"),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"\x93NUMPY", "a NumPy array", "name it .npy"),
    (
        b"SQLITE FORMAT 3",
        "a database or a session",
        "`ordhc learn FILE --export answers.csv` writes its answers",
    ),
    (b"\x89HDF", "an HDF5 file", "write the table as csv or Parquet"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it first"),
    (b"\xfd7ZXZ", "packed by xz", "unpack it first"),
    (b"BZH", "packed by bzip2", "unpack it first"),
    (b"\x1f\x8b", "packed twice by gzip", "unpack it first"),
    (b"7Z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"%PDF", "a PDF", "give the data that it shows"),
    ((b"\x89PNG", b"\xff\xd8\xff"), "a picture", "give the data that it shows"),
    (b"{\\RTF", "an RTF document", "save it as plain text"),
    ((b"RDX2\n", b"RDX3\n"), "an R workspace", _FROM_R),
    (b"$FL2", "an SPSS file (.sav)", _TABLE),
    (b"$FL3", "an SPSS file (.zsav)", _TABLE),
    (tuple(b"\x80" + bytes([number]) for number in range(2, 6)), "a Python pickle", _FROM_PYTHON),
    ((b"(DP0\n", b"(LP0\n", b"CCOPY_REG\n"), "a Python pickle", _FROM_PYTHON),
    (b"MATLAB 5.0", "a MATLAB file", _TABLE),
    ((b"\xff\xfe", b"\xfe\xff"), "UTF-16 text", _UTF_8),
    (b"<STATA_DTA", "a Stata file (.dta)", _TABLE),
    (b"ARROW1\0", "an Arrow or Feather file", "write the table as Parquet or csv"),
    (b"OBJ\x01", "an Avro file", "write the table as Parquet or csv"),
    (b"X\n\x00", "an R object (.rds)", _FROM_R),
    (b"RAR!", "a rar archive", "unpack it first"),
    (b"<?XML", "XML", _TABLE),
)
_TWO_TREES = "to compare two trees, use `ordhc score ONE OTHER --metric triplet_distance`"
_IN_ZIP = (
    ("xl/", "an Excel workbook (.xlsx)", _SHEET),
    ("word/", "a Word document", "save it as plain text"),
    ("content.xml", "an OpenDocument file", _SHEET),
)


def looks_like(data: bytes) -> tuple[str, str] | None:
    """Return the kind of a file and what to do, if its bytes are not a plain table; otherwise None."""
    head = data[:4096].lstrip(b" \t\r\n\xef\xbb\xbf")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = data[:4096]
    start = head[:16].upper()
    for beginnings, what, advice in _BEGINNINGS:
        if start.startswith(beginnings):
            return what, advice
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zipped(data)
    if head[:9].lower().startswith(_PAGE):
        return (
            ("a table of a web page", _SHEET) if b"<table" in head[:1024].lower() else ("a web page", _LOGIN)
        )
    if head[:1] == b"{" or (head[:1] == b"[" and head[1:].lstrip()[:1] in (b"{", b"[", b'"')):
        return "JSON", f"if it has answers, name it .json for ordhc.read_answers; {_TWO_TREES}"
    if head[:1] == b"(" and b"," in head and (data.rstrip()[-1:] == b";" or head.startswith(b"((")):
        return "a Newick tree", _TWO_TREES
    if head[:20].lower().startswith(b"cluster_a,cluster_b"):
        return "a tree (SciPy's Z)", _TWO_TREES
    if data[257:262] == b"ustar":
        return "a tar archive", "unpack it first"
    if b"\0" in head[:1024]:
        if data[:1] in b"\x6c\x6e\x6f\x71\x72\x73" and data[1:2] in b"\x01\x02" and data[2:4] == b"\x01\0":
            return "an old Stata file (.dta)", _TABLE
        if (head[1:64:2].count(0) > 16) != (head[0:64:2].count(0) > 16):
            return "UTF-16 text", _UTF_8
        if head.count(0) > len(head) // 8:
            return "binary data, not text", "check that the file is complete and that its ending is right"
    return None


def _zipped(data: bytes) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(bytes_io.BytesIO(data)) as archive:
            names = archive.namelist()
    except Exception:
        names = []
    for part, what, advice in _IN_ZIP:
        if any(name.startswith(part) for name in names):
            return what, advice
    if names and all(name.endswith(".npy") for name in names):
        return "arrays of NumPy", "name it .npz"
    return "a zip archive", "unpack it first"


def refuse_others(data: bytes, source: str, wanted: str) -> None:
    found = looks_like(data)
    if found is not None:
        raise InputError(f"looks like {found[0]}, not {wanted}: {found[1]}", path=source)
    line = data[: data.find(b"\n")] if b"\n" in data else data
    cells = max(line.count(mark) for mark in (b",", b";", b"\t", b" ")) + 1
    if cells > CELLS:
        reason = f"the first line has {cells:,} cells, more than {CELLS:,}: are rows and columns swapped?"
        raise InputError(reason, path=source, line=1)


@contextmanager
def reading(source: str, what: str, data: bytes | None = None) -> Iterator[None]:
    """Turn an exception in the block into an `InputError` with the file's name and what the file looks like.

    `data` is the content of the file, from which its kind is recognised. Errors of ordhc, missing files,
    denied access and MemoryError are not changed, except that long messages of `InputError` are cut.
    """
    try:
        yield
    except InputError as error:
        if error.path is None:
            error.path = source
        error.args = (brief(str(error)),)
        raise
    except (MissingExtraError, PluginError, OrdhcWarning, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError | PermissionError) or getattr(error, "filename", None):
            raise
        found = None if data is None else looks_like(data)
        like = f"; it looks like {found[0]}" if found is not None else ""
        reason = brief(str(error), QUOTED) or type(error).__name__
        raise InputError(f"cannot be read as {what}: {reason}{like}", path=source) from error
