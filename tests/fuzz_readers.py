"""Mutations of files of every format, for all readers: each must give a result or an error of ordhc.

`python tests/fuzz_readers.py 1000000 [SEED]` tries a million (`make fuzz`); pytest tries some thousands.
"""

import copy
import gzip
import io
import json
import random
import sys
import time
import warnings
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.cli.reading import read_labels
from ordhc.errors import InputError
from ordhc.io import (
    read_answers,
    read_column,
    read_matrix,
    read_names,
    read_reference,
    read_vectors,
    write_comparisons,
)
from ordhc.io.trees import tree_bytes

LONGEST = 500
NAMES = ["cat", "dog", "car, red", "été", '5" pipe', "#5"]
WORDS = [
    "", "NA", "nan", "inf", "-1", "1e999", "0.5", "0,5", "99999999999999999999", "-9223372036854775808",
    "4294967296", "true", "null", '"', '""', "'", "\0", "\x1b[2J", "\u2028", "\ufeff", "x" * 5000, "(", ")",
    ",", ";", "\t", "\n", "\r",
    "anchor", "near", "weight", "name", "id", "leaf", "#", "[", "{", "}", ":", "\\", "é" * 300, " ",
]  # fmt: skip


class Stream(io.BytesIO):
    """Bytes with a file's name."""

    def __init__(self, data, name):
        super().__init__(data)
        self.name = name


def written(data, name, folder):
    path = folder / name
    write_comparisons(data, path)
    return path.read_bytes()


def seeds(folder):
    """Valid files: what they are, their name, their bytes, and who reads them."""
    t = Triplets(
        [(0, 1, 2), (1, 0, 3), (4, 5, 0), (2, 3, 5)], 6, NAMES, [1, 2, 0.5, 3], answers=[0, 0, 1, 2],
        groups=["ann", "bob", "ann", ""],
    )  # fmt: skip
    bare = Triplets([(0, 1, 2), (1, 0, 3), (4, 5, 0)])
    odd_names = Triplets([(0, 1, 2), (2, 1, 0)], 3, ["1", " NA\n", ""])
    four = Quadruplets([(0, 1, 2, 3), (1, 2, 0, 3)], names=NAMES[:4])
    found = []

    def add(kind, name, data, read):
        found.append((kind, name, data, read))

    for ending in ("csv", "tsv", "csv.gz", "parquet", "npz"):
        for data in (t, bare, odd_names):
            add(ending, f"t.{ending}", written(data, f"t.{ending}", folder), ordhc.read_answers)
        column = "weights" if ending == "npz" else "weight"
        whole = written(t, f"t.{ending}", folder)
        add(ending, f"t.{ending}", whole, lambda f, column=column: read_column(f, column))
        add(
            ending,
            f"q.{ending}",
            written(four, f"q.{ending}", folder),
            partial(ordhc.read_answers, kind="pairs"),
        )
    add("npy", "t.npy", written(bare, "t.npy", folder), ordhc.read_answers)
    add("txt", "t.txt", b"0 1 2\n3 4 5\n0 2 1\n", ordhc.read_answers)
    add("txt", "t.txt", b"cat;dog;bus\ndog;cat;bus\n", lambda f: ordhc.read_answers(f, skip_bad=True))
    odd = b"odd,a,b,participant\ncat,dog,bus,1\nbus,cat,dog,2\n"
    add("csv", "odd.csv", odd, lambda f: read_answers(f, "odd-one-out"))
    add("csv", "rank.csv", b"0,1,2,3\n3,2,1,0\n", lambda f: read_answers(f, "ranking"))
    three = {"kind": "odd-one-out", "items": ["a", "b", "c"], "chosen": "odd", "exclude": {"who": "y"}}
    cells = b"who,a,b,c,odd,n\nx,cat,dog,bus,dog,1\ny,cat,dog,cow,cow,2\nx,bus,cat,dog,cat,1\n"
    add("answers csv", "a.csv", cells, lambda f: read_answers(f, **three))
    add("answers csv", "a.csv", cells, lambda f: read_answers(f, **three, na=[], skip_bad=True))
    ranks = b"ref,x,y,z,rx,ry,rz\ncat,dog,bus,car,1,3,2\nbus,car,cow,dog,2,2,1\n"
    asked = {"items": ["ref", "x", "y", "z"], "ranks": ["rx", "ry", "rz"]}
    add("answers csv", "r.csv", ranks, lambda f: read_answers(f, "ranking", **asked))
    saved = Path(__file__).parent / "data" / "answers"
    for file, kind, tool in (
        ("jspsych.json", "odd-one-out", "jspsych"),
        ("jspsych.csv", "odd-one-out", "jspsych"),
        ("salmon.csv", "triplet", "salmon"),
        ("cblearn.csv", "triplet", "cblearn"),
    ):
        data = (saved / file).read_bytes()
        options = {"kind": kind, "format": tool}
        add(f"answers {tool}", file, data, lambda f, options=options: read_answers(f, **options))
    people = {"format": "prolific", "participants": saved / "prolific_export.csv", **three}
    people |= {"items": ["left", "middle", "right"], "exclude": None}
    pids = (saved / "prolific_answers.csv").read_bytes()
    add("answers prolific", "p.csv", pids, lambda f: read_answers(f, **people))
    arrays = io.BytesIO()
    np.savez(arrays, data=np.array([(0, 1, 2), (0, 2, 1), (3, 1, 2)]), response=np.array([1, -1, 1]))
    add("npz", "q.npz", arrays.getvalue(), lambda f: read_answers(f, format="cblearn"))
    tree = ordhc.Dendrogram([(0, 2), (1, 3), (4, 5)], [0.5, 1.0, 1.75], names=NAMES[:4])
    for kind, ending in (
        ("newick", "nwk"),
        ("nexus", "nex"),
        ("json", "json"),
        ("scipy", "csv"),
        ("npy", "npy"),
    ):
        data = tree_bytes([tree], kind)
        add(f"tree {ending}", f"tree.{ending}", data, ordhc.read_tree)
        add(f"tree {ending}", f"tree.{ending}", data, lambda f: read_reference(f, NAMES[:4]))
    names = "\n".join(NAMES).encode()
    add("names", "n.txt", names, read_names)
    add("names", "n.csv", b'id,name\n1,dog\n0,"cat, big"\n2,car\n', read_names)
    leaves = ["a", "b", "c"]
    labels = b"leaf,name,cluster,fine\n0,a,x,1\n1,b,x,2\n2,c,y,3\n"
    add("reference", "l.csv", labels, lambda f: read_reference(f, leaves))
    add("reference", "l.csv", labels, lambda f: read_reference(f, leaves, ["fine"]))
    add("reference", "l.csv", labels, lambda f: read_labels(f, leaves, len(leaves)))
    add("reference", "s.csv", b"0,1,2\n1,0,3.5\n2,3.5,0\n", lambda f: read_reference(f, leaves))
    named = b',a,"b, c"\na,0,1.5\n"b, c",1.5,0\n'
    for name, data in [("d.csv", named), ("r.txt", b'"a" "b"\n"a" 0 2\n"b" 2 0\n'), ("p.csv", b"1\n2\n3\n")]:
        add("matrix", name, data, lambda f: read_matrix(f, dissimilarity=True))
        add("vectors", name, data, read_vectors)
    similarities = io.BytesIO()
    np.save(similarities, np.eye(3))
    add("reference", "s.npy", similarities.getvalue(), lambda f: read_reference(f, leaves))
    return found


def mutated_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(6)
        if what == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif what == 1:
            del data[at : at + rng.choice((1, 1, 4, 50))]
        elif what == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 8))))
        elif what == 3:
            data[at:at] = rng.choice(WORDS).encode()
        elif what == 4:
            end = rng.randrange(len(data) + 1)
            data[at:at] = data[min(at, end) : min(at, end) + 100]
        elif rng.random() < 0.2:
            del data[at:]
    return bytes(data)


def mutated_lines(data, rng):
    """Cells, columns and lines moved about."""
    text = data.decode("utf-8", "replace")
    delimiter = rng.choice(",\t; |") if rng.random() < 0.1 else next((d for d in "\t;," if d in text), " ")
    rows = [line.split(delimiter) for line in text.split("\n")]
    for _ in range(rng.choice((1, 1, 2, 4))):
        row = rng.choice(rows)
        at = rng.randrange(len(row) + 1)
        what = rng.randrange(9)
        if what == 0:
            row.insert(at, rng.choice(WORDS))
        elif what == 1 and row:
            row[at % len(row)] = rng.choice(WORDS)
        elif what == 2 and row:
            del row[at % len(row)]
        elif what == 3 and row:
            row[at % len(row)] = row[rng.randrange(len(row))]
        elif what == 4:
            rows.insert(rng.randrange(len(rows)), list(rng.choice(rows)))
        elif what == 5 and len(rows) > 1:
            rows.remove(row)
        elif what == 6:
            rng.shuffle(row)
        elif what == 7:
            for each in rows:
                each.insert(min(at, len(each)), rng.choice(WORDS[:12]))
        else:
            other = rng.choice(",;\t |")
            rows = [[cell.replace(",", other) for cell in each] for each in rows]
    text = rng.choice(("\n", "\n", "\r\n", "\r")).join(delimiter.join(row) for row in rows)
    encoding = rng.choices(("utf-8", "utf-8-sig", "utf-16", "latin-1"), (20, 2, 1, 1))[0]
    return text.encode(encoding, "replace")


def mutated_json(data, rng):
    """A value somewhere inside replaced by another."""
    try:
        found = json.loads(data)
    except ValueError:
        return mutated_bytes(data, rng)
    odd = [None, True, -1, 1e308, 10**30, "x" * 3000, "\0", [], {}, [[0, 1]], [[0, 0]], {"a": 1}, 0.5, "1"]
    for _ in range(rng.choice((1, 2, 4))):
        holder, key = None, None
        inside = found
        while isinstance(inside, dict | list) and inside and rng.random() < 0.75:
            holder = inside
            key = rng.choice(list(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
            inside = holder[key]
        if holder is None:
            continue
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice([*odd, inside, [inside] * 3]))
    text = json.dumps(found)
    return text.replace('"x"', "NaN", 1).encode() if rng.random() < 0.05 else text.encode()


def mutated_zip(data, rng):
    """An array inside of an archive damaged, replaced or renamed, and packed again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    what = rng.randrange(4)
    if what == 0:
        members[name] = mutated_bytes(members[name], rng)
    elif what == 1:
        members[rng.choice(["rows.npy", "y.npy", "names_utf8.npy", "X", "\x1b.npy", "weights.npy"])] = (
            members.pop(name)
        )
    elif what == 2:
        del members[name]
    else:
        odd = io.BytesIO()
        values = [
            np.zeros((2, 3)), np.array(["a\0b"]), np.array(5), np.array([True]),
            np.array([1j]), np.zeros((0, 3)),
            np.array(["1", "x"]), np.array([2**63], dtype=np.uint64), np.array("2020", dtype="M8[D]"),
            np.zeros(3, dtype="i4,f8"), np.array([b"\xff"]), np.full((4, 3), np.nan), np.zeros((1, 1, 1, 3)),
        ]  # fmt: skip
        np.save(odd, rng.choice(values))
        members[name] = odd.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return packed.getvalue()


def odd_parquet(rng):
    """Tables with columns of types that nobody expects."""
    import pyarrow
    import pyarrow.parquet

    values = [
        [0, 1, 2], [2, None, 1], ["cat", "dog", None], [1.0, 2.5, float("nan")], [True, False, True],
        [[1], [2], []],
        [b"a", b"\xff", b""], [{"a": 1}, {"a": 2}, {"a": 3}], [None, None, None], ["", " ", "NA"],
        [2**40, -1, 0],
        [1, 0, 3],
    ]  # fmt: skip
    names = [
        "anchor",
        "near",
        "far",
        "weight",
        "count",
        "answer",
        "person",
        "Near",
        "anchor_name",
        "i",
        "j",
        "k",
    ]
    count = rng.choice((0, 1, 3, 3, 3, 4, 5))
    chosen = (
        ["anchor", "near", "far", *rng.sample(names[3:], count)]
        if rng.random() < 0.8
        else rng.sample(names, 3)
    )
    columns = [pyarrow.array(rng.choice(values)) for _ in chosen]
    if rng.random() < 0.3:
        columns[0] = pyarrow.array(["a", "b", "a"]).dictionary_encode()
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, chosen), buffer)
    return buffer.getvalue()


def mutate(kind, data, rng):
    """One mutation that suits the format, or one of its bytes."""
    if rng.random() < 0.03:
        return b"" if rng.random() < 0.3 else rng.choice(WORDS).encode()
    if kind.endswith("gz") and rng.random() < 0.8:
        return gzip.compress(mutate("csv", gzip.decompress(data), rng), 1, mtime=0)
    if kind == "npz" and rng.random() < 0.7:
        return mutated_zip(data, rng)
    if kind == "parquet" and rng.random() < 0.5:
        return odd_parquet(rng)
    if kind == "tree json" and rng.random() < 0.6:
        return mutated_json(data, rng)
    if kind in ("csv", "tsv", "txt", "names", "reference", "tree csv") and rng.random() < 0.7:
        return mutated_lines(data, rng)
    return mutated_bytes(data, rng)


def trouble(read, data, name):
    """What is wrong with how a reader takes some bytes, or None; and what came out of it."""
    try:
        read(Stream(data, name))
    except (InputError, MemoryError) as error:
        text = str(error)
        if isinstance(error, MemoryError) and "bytes" not in text:
            return f"MemoryError {text!r}", "error"
        if len(text) > LONGEST:
            return f"a message of {len(text)} characters: {text[:200]!r}", "error"
        if not text or not text.isprintable():
            return f"a message with control characters: {text[:200]!r}", "error"
        return None, "error"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:200]!r}", "leak"
    return None, "result"


def run(count, seed, folder):
    """Try `count` mutations; the troubles, and how many results and errors of each kind."""
    rng = random.Random(seed)
    files = seeds(folder)
    troubles = []
    tally = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, name, data, read in files:
            assert trouble(read, data, name) == (None, "result"), (kind, name, trouble(read, data, name))
        for at in range(count):
            kind, name, data, read = files[at % len(files)]
            bad = mutate(kind, data, rng)
            for _ in range(rng.choice((0, 0, 0, 1, 2))):
                bad = mutate(kind if bad else "npy", bad, rng) if kind not in ("npz", "csv.gz") else bad
            found, outcome = trouble(read, bad, name)
            tally[kind, outcome] += 1
            if found is not None:
                troubles.append((kind, name, found, bad))
    return troubles, tally


if __name__ == "__main__":
    import pathlib
    import tempfile

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 2**32
    print(f"{count:,} inputs, seed {seed}")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        troubles, tally = run(count, seed, pathlib.Path(name))
    for (kind, outcome), times in sorted(tally.items()):
        print(f"  {kind:10} {outcome:7} {times:>9,}")
    for kind, name, found, bad in troubles[:50]:
        print(f"{kind} {name}: {found}\n    {bad[:300]!r}")
    print(f"{len(troubles):,} troubles, {time.perf_counter() - start:.0f} s")
    sys.exit(bool(troubles))
