"""Mistakes that people make with files, and what they are told."""
# ruff: noqa: E501

import gzip
import io
import re
import subprocess
import sys

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning, SkippedRowsWarning
from ordhc.io import read_answers, read_names, read_reference
from support.mistakes.files import npz, parquet, tar, zipped
from support.reply_twins import named

pytestmark = pytest.mark.filterwarnings("error")

GOOD = "anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\n"
IDS = "0,1,2\n1,0,3\n2,3,0\n"


WIDE = ",".join(f"column{at}" for at in range(1260))
MISTAKES = {
    # what: (name, content, options, what the message says)
    "an empty file": ("a.csv", "", {}, "the file is empty"),
    "only blank lines": ("a.csv", "\n  \n", {}, "the file is empty"),
    "only a header": ("a.csv", "anchor,near,far\n", {}, ":1: there is a header but no rows"),
    "an empty gz": ("a.csv.gz", gzip.compress(b"", mtime=0), {}, "the file is empty"),
    "a gz that is none": ("a.csv.gz", "a,b\n", {}, "2 columns instead of 3"),
    "a gz cut short": ("a.csv.gz", gzip.compress(GOOD.encode(), mtime=0)[:-9], {}, "gzip file is cut or damaged"),
    "packed twice": ("a.csv.gz", gzip.compress(gzip.compress(b"0,1,2", mtime=0)), {}, "packed twice by gzip"),
    "a tar in gz": ("a.csv.gz", tar("w:gz"), {}, "a tar archive, not comparisons: unpack it first"),
    "bzip2": ("a.csv", b"BZh91AY&SY", {}, "the bzip2 file is cut or damaged"),
    "xz": ("a.csv", b"\xfd7zXZ\0\0", {}, "the xz file is cut or damaged"),
    "a zip": ("a.csv", zipped("a.csv"), {}, "a zip archive"),
    "Excel": ("a.xlsx", zipped("xl/workbook.xml"), {}, "an Excel workbook (.xlsx), not comparisons: save the sheet as csv"),
    "Excel named csv": ("a.csv", zipped("xl/workbook.xml"), {}, "an Excel workbook"),
    "old Excel": ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), {}, "an old Excel workbook (.xls)"),
    "OpenDocument": ("a.ods", zipped("mimetype", "content.xml"), {}, "an OpenDocument file"),
    "Word": ("a.docx", zipped("word/document.xml"), {}, "a Word document"),
    "NEXUS": ("a.nex", "#NEXUS\nbegin trees;\n", {}, "a NEXUS file, not comparisons: `ordhc.read_tree`"),
    "a tree": ("a.nwk", "((a,b),c);", {}, "a Newick tree, not comparisons: to compare two trees, use"),
    "a tree in JSON": ("a.json", '{"merges": []}', {}, "the columns are 'merges'"),
    "SciPy's Z": ("z.csv", "cluster_a,cluster_b,height,size\n0,1,1,2\n", {}, "a tree (SciPy's Z)"),
    "Parquet named csv": ("a.csv", parquet(anchor=[0], near=[1], far=[2]), {}, "a Parquet file, not comparisons: name it .parquet"),
    "csv named Parquet": ("a.parquet", GOOD, {}, "the Parquet file cannot be read"),
    "npz named csv": ("a.csv", npz(rows=[(0, 1, 2)]), {}, "arrays of NumPy, not comparisons: name it .npz"),
    "csv named npz": ("a.npz", GOOD, {}, "is not a .npz file"),
    "csv named npy": ("a.npy", GOOD, {}, "is not a .npy file"),
    "Excel named npz": ("a.npz", zipped("xl/workbook.xml"), {}, "looks like an Excel workbook"),
    "a web page": ("a.csv", "<!DOCTYPE html><html>", {}, "a web page, not comparisons: the download may need a login"),
    "a PDF": ("a.csv", "%PDF-1.4\n", {}, "looks like a PDF"),
    "a picture": ("a.csv", b"\x89PNG\r\n\x1a\n", {}, "looks like a picture"),
    "a session": ("a.csv", b"SQLite format 3\0", {}, "ordhc learn FILE --export"),
    "UTF-16": ("a.csv", GOOD.encode("utf-16"), {}, "UTF-16 text, not comparisons: save it as UTF-8"),
    "UTF-16 without mark": ("a.csv", GOOD.encode("utf-16-le"), {}, "UTF-16 text"),
    "Latin-1": ("a.csv", "anchor,near,far\nété,a,b\n".encode("latin-1"), {}, "a.csv:2: not UTF-8 text (byte 0xe9"),
    "a short row": ("a.csv", "0,1,2\n3,4\n", {}, "a.csv:2: 2 columns instead of 3"),
    "a long row": ("a.csv", "0,1,2\n3,4,5,6\n", {}, "a.csv:2: 4 columns instead of 3"),
    "merged cells": ("a.csv", "anchor,near,far\ncat,dog,car\n,cat,bus\n,bus,cat\n", {}, "2 of 3 rows have a missing leaf (2 blank): lines 3, 4"),
    "a title above": ("a.csv", "My survey\nanchor,near,far\n0,1,2\n", {}, "a.csv:1: the first row (My survey) has 1 columns"),
    "a comment": ("a.csv", "# mine\n0,1,2\n", {}, "lines with `#` are comments"),
    "the wrong delimiter": ("a.csv", "0;1;2\n", {"delimiter": ","}, "is the delimiter right?"),
    "a delimiter of two": ("a.csv", IDS, {"delimiter": ", "}, "delimiter ', ' is not one ASCII character"),
    "decimal commas": ("a.csv", "anchor;near;far;weight\n0;1;2;0,5\n", {}, "decimals need a point"),
    "ids that are none": ("a.csv", "0,1,2\n0,1.5,2\n", {}, "a.csv:2: `1.5` is not a leaf id: ids are whole"),
    "a word after blank lines": ("a.csv", "\n0,1,2\n\n0,x,2\n", {}, "a.csv:4: `x` is not a leaf id"),
    "a name among ids": ("a.csv", "0,1,2\n0,1,cat\n", {}, "a.csv:2: `cat` is not a leaf id"),
    "an id among names": ("a.csv", "cat,1,2\n0,1,2\n3,4,5\n", {}, "a.csv:1: `cat` is not a leaf id, but most cells are"),
    "ids from 1": ("a.csv", "1,2,3\n2,3,4\n", {"n_leaves": 4}, "a.csv:2: leaf 4 is outside 0..=3 (n_leaves = 4)"),
    "a negative id": ("a.csv", "0,1,2\n0,-1,2\n", {}, "a.csv:2: leaf -1 is below 0"),
    "a slip in an id": ("a.csv", "0,1,2\n0,1,20000000\n", {}, "a.csv:2: leaf 20000000 is far above"),
    "an id beyond all": ("a.csv", "0,1,2\n0,1,99999999999999999999\n", {}, "a.csv:2:"),
    "a leaf twice": ("a.csv", "0,1,2\n0,2,2\n", {}, "a.csv:2: leaf 2 occurs twice"),
    "leaves twice": ("a.csv", "0,1,1\n0,2,2\n0,1,2\n", {}, "2 of 3 rows are bad: lines 1, 2; skip_bad"),
    "a header in ids": ("a.csv", "ref,close,away\n0,1,2\n", {}, "may be a header or leaves"),
    "another header": ("a.csv", "anchor,closer,further\n0,1,2\n", {}, "looks like a header of other columns"),
    "odd one out": ("a.csv", "odd,near,far\n0,1,2\n", {}, "looks like a header of other columns"),
    "a misspelt column": ("a.csv", GOOD, {"items": ["anchor", "nera", "far"]}, "no column `nera`; the header has anchor, near, far"),
    "positions in another order": ("a.csv", "far,near,anchor\n2,1,0\n", {"items": [0, 1, 2]}, "column 0 is named `far`, but used as `anchor`"),
    "a position too far": ("a.csv", IDS, {"items": [1, 2, 3]}, "there is no column 3; the row has 3, counted from 0"),
    "a position twice": ("a.csv", IDS, {"items": [1, 1, 2]}, "each column can occur only once"),
    "two columns": ("a.csv", GOOD, {"items": ["anchor", "near"]}, "3 are needed: anchor, near, far"),
    "a column twice": ("a.csv", "anchor,near,far,near\n0,1,2,3\n", {}, "two columns `near`, the 2nd and the 4th"),
    "two weights": ("a.csv", "anchor,near,far,weight,count\n0,1,2,1,2\n", {}, "both `weight` and `count` may be the weights"),
    "no such weights": ("a.csv", GOOD, {"weights": "w"}, "no column 'w'; there are anchor, near, far"),
    "no such people": ("a.csv", GOOD, {"person": "participant"}, "no column 'participant'; there are"),
    "no such answers": ("a.csv", GOOD, {"answer": "trial"}, "no column 'trial'; there are"),
    "a negative weight": ("a.csv", "anchor,near,far,n\n0,1,2,-1\n", {}, "a.csv:2: `-1` in column `n` is not a weight"),
    "a weight that is none": ("a.csv", "anchor,near,far,count\n0,1,2,1\n0,1,2,nan\n", {}, "a.csv:3: `nan` in column `count`"),
    "a missing weight": ("a.csv", "anchor,near,far,n\n0,1,2,\n", {}, "a.csv:2: `` in column `n` is not a weight"),
    "quadruplets": ("a.csv", "0,1,2,3\n", {}, "rows i,j,k,l are quadruplets"),
    "quadruplets by name": ("a.csv", "i_name,j_name,k_name,l_name\na,b,c,d\n", {}, "look like quadruplets"),
    "a wide table": ("a.csv", f"{WIDE}\n", {}, "(1260 in all)) has 1260 columns instead of 3"),
    "a wide table by name": ("a.csv", f"{WIDE}\n", {"items": ["a", "b", "c"]}, "(1260 in all)"),
    "an open quote": ("a.csv", 'anchor,near,far\n"cat,dog,car\n', {}, "a.csv:2: a quote is opened and never closed"),
    "a quote that closes early": ("a.csv", 'anchor,near,far\n"cat"x,dog,car\n', {}, "a.csv:2: a quote closes before its cell ends"),
    "a name over two lines": ("a.csv", 'anchor,near,far\n"c\nat",dog,car\n', {}, "a.csv:2: a quoted name runs over"),
    "an unknown name": ("a.csv", GOOD.replace("dog", "dgo"), {"names": ["cat", "dog", "car", "bus"]}, "a.csv:2: the name 'dgo' is unknown; nearest: 'dog'"),
    "too few names": ("a.csv", IDS, {"names": ["cat", "dog"]}, "a.csv:1: leaf 2 is outside"),
    "a long name": ("a.csv", GOOD.replace("bus", "b" * 90_000), {"names": ["cat", "dog", "car"]}, "the name 'bbb"),
    "terminal codes": ("a.csv", "0,1,2\n0,\x1b[2J,2\n", {}, "is not a leaf id"),
    "shapes in npz": ("a.npz", npz(rows=np.zeros((2, 2), int)), {}, "a.npz: rows have shape (2, 2); 3 columns are needed"),
    "no rows in npz": ("a.npz", npz(a=[1], b=[2]), {}, "the arrays are a, b; one of them must have the name rows"),
    "columns of npz by name": ("a.npz", npz(rows=[(0, 1, 2)]), {"person": "who"}, "has no named columns"),
    "objects in npy": ("a.npy", b"\x93NUMPY\x01\0v\0{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(128), {}, "has Python objects"),
    "a folder": (".", None, {}, "is a folder, not a file"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_with_comparisons(tmp_path, monkeypatch, what):
    name, content, options, part = MISTAKES[what]
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as error:
        ordhc.read_answers(name, **options)
    message = str(error.value)
    assert part in message
    assert message.isprintable()
    assert len(message) <= 500


FINE = [
    GOOD, "\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r"), GOOD.replace(",", ";"),
    GOOD.replace(",", "\t"), GOOD.replace(",", "|"), GOOD.replace(",", " , "), GOOD.rstrip("\n"), GOOD + "\n\n",
    GOOD.upper().replace("CAT", "cat").replace("DOG", "dog").replace("CAR", "car").replace("BUS", "bus"),
    '"' + GOOD.rstrip("\n").replace(",", '","').replace("\n", '"\n"') + '"\n',
    GOOD.replace("anchor,near,far\n", ""), GOOD.replace("anchor,near,far\n", "").replace(",", "  "),
    "rt,far,near,anchor\n1,car,dog,cat\n2,bus,cat,dog\n3,cat,bus,car\n", gzip.compress(GOOD.encode(), mtime=0),
]  # fmt: skip


@pytest.mark.parametrize("content", FINE)
def test_what_is_no_mistake(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    found = ordhc.read_answers(tmp_path / "a.csv")
    assert named(found) == [("cat", "dog", "car"), ("dog", "cat", "bus"), ("car", "bus", "cat")]


def test_missing_leaves_are_counted(tmp_path):
    text = (
        "anchor,near,far\ncat,dog,car\nNA,dog,car\ncat,,car\ncat,-99,car\nbus,cat,NA\n" + "dog,cat,bus\n" * 5
    )
    with pytest.warns(SkippedRowsWarning) as told:
        found = ordhc.read_answers(io.StringIO(text), na=["NA", "-99"])
    assert len(found) == 6
    assert found.names == ("cat", "dog", "car", "bus")
    message = str(told[0].message)
    assert "4 of 10 rows have a missing leaf (2 `NA`, 1 blank, 1 `-99`) and are skipped" in message
    assert "lines 3, 4, 5, 6" in message
    assert told[0].message.rows == [(3, "NA"), (4, ""), (5, "-99"), (6, "NA")]
    with pytest.warns(OrdhcWarning, match="1 of 10 rows have a missing leaf"):
        assert "NA" in ordhc.read_answers(io.StringIO(text), na=()).names
    names = ["NA", "cat", "dog", "car", "bus", "-99"]
    with pytest.warns(OrdhcWarning, match="1 blank"):
        assert len(ordhc.read_answers(io.StringIO(text), names=names)) == 9


def test_bad_rows_are_passed_over_and_listed(tmp_path):
    rows = ["0,1,2", "3,3,1", "0,1", "0,x,2", "2,1,0", "-1,0,1", "4,1,1", "1,3,4"]
    with pytest.warns(SkippedRowsWarning) as told:
        found = ordhc.read_answers(io.StringIO("\n".join(rows)), skip_bad=True)
    assert list(found) == [(0, 1, 2), (2, 1, 0), (1, 3, 4)]
    assert [line for line, _ in told[0].message.rows] == [3, 4, 2, 6, 7]
    assert "5 of 8 rows are bad and are skipped: line 2: leaf 3 occurs twice" in str(told[0].message)
    np.save(tmp_path / "a.npy", [(0, 1, 2), (1, 1, 2), (0, 2, 1)])
    with pytest.warns(SkippedRowsWarning, match="row 1: leaf 1 occurs twice"):
        assert len(ordhc.read_answers(tmp_path / "a.npy", skip_bad=True)) == 2
    with pytest.raises(InputError, match="all 2 rows are bad"):
        ordhc.read_answers(io.StringIO("0,0,1\n1,1,2\n"), skip_bad=True)
    with pytest.warns(SkippedRowsWarning, match="the pairs are the same"):
        ordhc.read_answers(io.StringIO("0,1,1,0\n0,1,2,3\n"), "pairs", skip_bad=True)


def test_answers_of_other_kinds_are_read_by_name():
    by_name = io.StringIO("A,weight,b,Odd,subject\ncat,2,dog,car,ann\ndog,3,bus,cat,bob\n")
    found = read_answers(by_name, "odd-one-out")
    assert named(found)[:2] == [("cat", "dog", "car"), ("dog", "cat", "car")]
    assert found.weights.tolist() == [2, 2, 3, 3]
    assert found.answers.tolist() == [0, 0, 1, 1]
    assert found.group_names == ("ann", "bob")
    central = read_answers(io.StringIO("x1,x2,x3\n0,1,2\n"), "most-central", ["x1", "x3"], "x2")
    assert list(central) == [(0, 1, 2), (2, 1, 0)]
    assert len(read_answers(io.StringIO("reference,n,a,b,c\n0,5,1,2,3\n"), "ranking", n_ranked=1)) == 2
    for text, part in [
        ("p,q,r\ncat,dog,car\nbus,cow,pig\n", "may be a header"),
        ("near,odd,far\ncat,dog,car\n", "header of other columns"),
        ("0,1,1\n", "leaf 1 occurs twice"),
        ("0,1,20000000\n", ":1: leaf 20000000 is far above"),
        ("0,1,2,3\n", "4 columns instead of 3"),
    ]:
        with pytest.raises(InputError, match=re.escape(part)):
            read_answers(io.StringIO(text), "odd-one-out")
    with pytest.raises(InputError, match="kind is 'best', not one of"):
        read_answers(io.StringIO("0,1,2"), "best")


class Named(io.BytesIO):
    name = "x.csv"


@pytest.mark.parametrize(
    ("read", "content", "part"),
    [
        (read_names, b"name,name\na,b\n", "two columns 'name'"),
        (read_names, zipped("xl/x"), "an Excel workbook (.xlsx), not names"),
        (ordhc.read_tree, GOOD.encode(), "looks like comparisons (anchor,near,far), not a tree"),
        (ordhc.read_tree, b"0,1,2\n", "make a tree with `ordhc cluster`"),
        (lambda f: ordhc.read_tree(f, "json"), b"[" * 100_000, "nested too deeply"),
        (lambda f: ordhc.read_tree(f, "json"), b'{"heights": [NaN]}', "NaN is not allowed"),
        (lambda f: read_reference(f, ["a"]), GOOD.encode(), "these look like comparisons"),
        (lambda f: read_reference(f, ["a"]), b"leaf;x\na;1\nb;2\n", "x.csv:3: there is no leaf 'b'"),
        (lambda f: read_reference(f, ["a"]), b"0,1\n1,x\n", "x.csv:2: 'x' is not a number"),
    ],
)
def test_mistakes_with_other_files(read, content, part):
    with pytest.raises(InputError) as error:
        read(Named(content))
    assert part in str(error.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory")
@pytest.mark.parametrize("row", ["b'0,1,2\\n'", "b'%d,a,b\\n'"])
def test_memory_that_ends_is_an_error(row):
    # Rows need four times the text, different names more.
    code = (
        "import io, resource, ordhc\n"
        "ordhc.read_answers(io.BytesIO(b'0,1,2'), header=False)\n"
        f"row = {row}\n"
        "data = row * 5_000_000 if b'%' not in row else b''.join(row % at for at in range(3_000_000))\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + 2 * len(data) + (60 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "try:\n"
        "    ordhc.read_answers(io.BytesIO(data), header=False)\n"
        "except MemoryError as error:\n"
        "    print('refused', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout[:7], done.stderr) == (0, "refused", "")


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"0,1,2\n" * 100_000, mtime=0))
    monkeypatch.setenv("ORDHC_MAX_UNPACKED", "500K")
    with pytest.raises(InputError, match=r"unpacks to more than 512,000 bytes.*set ORDHC_MAX_UNPACKED"):
        ordhc.read_answers(path)
    np.savez_compressed(tmp_path / "a.npz", rows=np.zeros((10**5, 3), dtype=np.int64))
    with pytest.raises(InputError, match="unpacks to more than"):
        ordhc.read_answers(tmp_path / "a.npz")
    monkeypatch.setenv("ORDHC_MAX_UNPACKED", "1M")
    assert len(ordhc.read_answers(path)) == 100_000
    monkeypatch.setenv("ORDHC_MAX_UNPACKED", "much")
    with pytest.raises(InputError, match="ORDHC_MAX_UNPACKED is MUCH"):
        ordhc.read_answers(path)
    # A file of several parts is read to its end.
    path.write_bytes(gzip.compress(b"0,1,2\n", mtime=0) + gzip.compress(b"1,0,2\n"))
    monkeypatch.delenv("ORDHC_MAX_UNPACKED")
    assert len(ordhc.read_answers(path)) == 2
