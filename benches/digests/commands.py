"""What every command prints and writes, on small files: text as it is, numbers of JSON rounded, no times."""

import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ordhc
from digests.answers import odd, quadruplets
from digests.files import DATA
from digests.listing import Listing, Rough
from ordhc.cli import main

#: Lines of the listing; words of the command line. Later ones read what earlier ones have written.
COMMANDS = """
cluster answers.csv --method adds3-al+spr -o tree.nwk -o tree.json --n-clusters 3
cluster answers.csv --json
cluster answers.csv --method posterior-al --param sweeps=40 --json
cluster answers.csv --method mulk3-al --bootstrap 20 --seed 2 --json
cluster answers.csv --method 3-al+spr -o moved.nwk
cluster named.csv --method adds3-al --person person --bootstrap 10 --json
cluster pairs.csv --kind pairs --method 4-al -o pairs.nwk
cluster parts --method adds3-al --json
cluster parts --method adds3-al --executor threads:2 -o parts.nwk
cluster study.csv --kind odd-one-out --items left,middle,right --chosen odd --na skip --json
cluster answers.csv --similarity adds3 --linkage ward -q -o ward.nwk
cluster missing.csv
cluster answers.csv --method no-such-method
compare answers.csv --method adds3-al --method mulk3-al --folds 3 --json
structure answers.csv --folds 2
people-groups named.csv --person person --max-trees 2 --folds 2
score tree.nwk answers.csv
score tree.nwk answers.csv --metric satisfied --metric answer_accuracy --json
score tree.nwk preferences.nwk --metric triplet_distance --metric robinson_foulds --metric kendall_tau_b
score tree.nwk labels.csv --metric aari --json
score tree.nwk labels.csv --metric dendrogram_purity --labels family
score tree.nwk similarities.csv --metric dasgupta_cost
report answers.csv --method adds3-al --compare mulk3-al --folds 3 --resamples 10 --no-structure -o report.json
learn --oracle tree --source tree.nwk --seed 1 -o learned.nwk
learn study.ordhc --oracle tree --source tree.nwk --accuracy 0.9 --seed 1 --budget 40 -o noisy.nwk
learn --oracle recorded --source answers.csv --param missing=none --budget 30 -o recorded.nwk
session info study.ordhc
session salvage study.ordhc -o saved.ordhc
session info saved.ordhc
convert tree.nwk tree.nex
convert tree.json z.csv
convert answers.csv answers.npz
convert answers.csv back.tsv
convert study.csv triplets.csv --kind odd-one-out --items left,middle,right --chosen odd
convert salmon.csv salmon-triplets.csv --format salmon
consensus trees.nwk
consensus trees.nwk --threshold 0.7 --extended -o consensus.nex
simulate planted.csv --levels 2 --leaves-per-cluster 4 --labels planted-labels.csv --seed 1
simulate - --levels 1 --leaves-per-cluster 3 -m 20 --quadruplets
plan --items 40 --accuracy 0.8
plan --items 100 --accuracy 0.85 --target 0.9 --json
plugins
demo --output-dir demo
completion bash
"""
#: Numbers and conclusions depend on where an optimizer stops, and so on the processor. Only the names of the
#: rows of their tables are compared.
WORDS_ONLY = ("structure", "people-groups")
#: Files that a command writes and that are digested as they are.
TEXTS = (".nwk", ".nex", ".csv", ".tsv")
#: Parts of JSON that differ from run to run or from version to version.
LEFT_OUT = ("seconds", "at", "version", "ordhc", "made", "date", "python", "numpy", "path", "versions")


def run(listing: Listing) -> None:
    """Add a line for each command."""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        prepare()
        made = Path("preferences.nwk").read_text(encoding="utf-8")
        listing.add("3-al of answers.csv, refined by satisfied > preferences.nwk", made)
        for line in COMMANDS.strip().splitlines():
            before = {file: file.stat().st_mtime_ns for file in Path().rglob("*")}
            code, printed, told = call(line.split())
            if line.startswith(WORDS_ONLY):
                rows = [row.strip() for row in printed.splitlines() if "  " in row.strip()]
                printed = "\n".join(re.split(r"  +", row)[0] for row in rows)
            listing.add(f"ordhc {line}", Rough([code, read(printed), told if code else ""]))
            for file in sorted(Path().rglob("*")):
                new = before.get(file) != file.stat().st_mtime_ns
                if new and file.suffix in TEXTS:
                    listing.add(f"ordhc {line} > {file}", file.read_text(encoding="utf-8"))
                elif new and file.suffix == ".json":
                    listing.add(f"ordhc {line} > {file}", Rough(read(file.read_text(encoding="utf-8"))))


@contextlib.contextmanager
def inside(folder: str) -> Iterator[None]:
    """Work in a folder, with a terminal of 80 columns and no colours."""
    here, environment = Path.cwd(), dict(os.environ)
    os.chdir(folder)
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(environment)


def prepare() -> None:
    """Write the files that commands read."""
    data = ordhc.Triplets.from_odd_one_out(odd(10, 240), n_leaves=10)
    ordhc.write_comparisons(data, "answers.csv")
    preferences = ordhc.refine(ordhc.cluster(data, method="3-al"), data, "satisfied")
    ordhc.write_tree(preferences, "preferences.nwk")
    names = [f"item {leaf}" for leaf in range(10)]
    people = [f"person {at % 5}" for at in range(len(data))]
    named = ordhc.Triplets(data.rows, names=names, groups=people)
    ordhc.write_comparisons(named, "named.csv")
    ordhc.write_comparisons(quadruplets(10, 200), "pairs.csv")
    Path("parts").mkdir()
    for at in range(3):
        ordhc.write_comparisons(data[at * 160 : (at + 1) * 160], f"parts/{at}.csv")
    rows = [[names[leaf] for leaf in row] for row in odd(10, 60).tolist()]
    lines = [f"{i},{min(row)},{sorted(row)[1]},{max(row)},{row[0]}" for i, row in enumerate(rows)]
    Path("study.csv").write_text(
        "\n".join(["trial,left,middle,right,odd", *lines, "60,item 1,,item 2,item 1"])
    )
    labels = [f"{leaf},{leaf // 2},{leaf // 5}" for leaf in range(10)]
    Path("labels.csv").write_text("\n".join(["leaf,family,order", *labels]))
    S = np.add.outer(np.arange(10), np.arange(10))
    np.savetxt("similarities.csv", S, fmt="%d", delimiter=",")
    Path("salmon.csv").write_bytes((DATA / "salmon.csv").read_bytes())
    Path("trees.nwk").write_text("((a,b),(c,d));\n((a,b),(c,d));\n((a,c),(b,d));\n")


def call(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code of the command, what it prints, and what it says of errors."""
    printed, told = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            main(arguments)
            code: Any = 0
        except SystemExit as error:
            code = error.code
    printed_bytes, told_bytes = (stream.buffer.getvalue() for stream in (printed, told))
    return int(code or 0), printed_bytes.decode(), told_bytes.decode()


def read(text: str) -> Any:
    """JSON without what differs from run to run; other text as it is."""
    if not text.startswith(("{", "[")):
        return text
    return without(json.loads(text))


def without(value: Any) -> Any:
    """A value of JSON without them."""
    if isinstance(value, dict):
        kept = {key: without(each) for key, each in value.items() if key not in LEFT_OUT}
        if "newick" in kept:
            # Its lengths are those of the heights beside it, and here they are text.
            kept["newick"] = re.sub(r":[-+.e\d]+", "", kept["newick"])
        return kept
    if isinstance(value, list):
        return [without(each) for each in value]
    return value
