"""Files of answers: every reader and writer, scans beside memory, executors, cuts of files."""

import tempfile
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import ordhc
from digests.answers import odd, quadruplets, rows
from digests.listing import Listing, outcome

DATA = Path(__file__).parents[2] / "tests" / "data" / "answers"
NAMES = [f"thing {leaf}" for leaf in range(20)]
#: Columns of a study of which of three is the odd one out.
THREE = {"kind": "odd-one-out", "items": ["left", "middle", "right"], "chosen": "odd"}
#: Formats that need no other package.
FORMATS = ["csv", "tsv", "csv.gz", "npz"]


def run(listing: Listing) -> None:
    """Add all lines about files."""
    with tempfile.TemporaryDirectory() as folder:
        of_round_trips(listing, Path(folder))
        of_readers(listing, Path(folder))
        of_scans(listing, Path(folder))
    of_tools(listing)


def with_people(width: int, m: int = 1200) -> Any:
    """Comparisons with names, persons and weights."""
    rng = np.random.default_rng(width)
    made = rows(20, m, 3, 1) if width == 3 else np.asarray(quadruplets(20, m).rows)
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    people = [["ann", "bob", "cid", "dee"][at] for at in rng.integers(0, 4, m)]
    return kind(made, names=NAMES, weights=rng.integers(1, 4, m) / 2, groups=people)


def of_round_trips(listing: Listing, folder: Path) -> None:
    """What is written comes back, in every format; text is digested as it is."""
    for width in (3, 4):
        data = with_people(width)
        read = partial(ordhc.read_answers, kind="triplet" if width == 3 else "pairs")
        found = {}
        for suffix in [*FORMATS, "parquet"] if find_spec("pyarrow") else FORMATS:
            file = folder / f"answers-{width}.{suffix}"
            ordhc.write_comparisons(data, file)
            found[suffix] = outcome(lambda f=file, r=read: r(f))
            if suffix != "npz":
                listing.expect_equal(f"read {width} {suffix}", found["csv"], found[suffix])
            if suffix in ("csv", "tsv"):
                listing.add(f"written {width} {suffix}", file.read_bytes())
        # Text has the names in the order in which they appear, arrays have all of them.
        listing.add(f"read {width}", found["csv"])
        listing.add(f"read {width} npz", found["npz"])
        plain = type(data)(data.rows, n_leaves=20)
        np.save(folder / f"plain-{width}.npy", np.asarray(plain.rows))
        listing.add(f"read {width} npy", lambda f=folder / f"plain-{width}.npy", r=read: r(f))


def of_readers(listing: Listing, folder: Path) -> None:
    """Text as people write it: delimiters, headers, comments, blanks, ids from 1, bad rows."""
    text = "# a study\nwho;left;middle;right;odd;count\n"
    text += "ann;a;b;c;a;1\nbob;b;c;d;d;2\n;a;c;d;c;1\ncid;NA;b;c;b;1\n"
    file = folder / "odd.csv"
    file.write_text(text * 3)
    columns = THREE
    for name, settings in {
        "odd one out": columns,
        "with persons": {**columns, "person": "who", "weights": "count"},
        "excluded": {**columns, "person": "who", "exclude": {"who": "bob"}},
        "bad rows passed over": {**columns, "skip_bad": True},
        "unknown columns": {**columns, "items": ["left", "center", "right"]},
    }.items():
        listing.add(f"answers {name}", lambda s=settings: ordhc.read_answers(file, comment="#", **s))
    ranks = folder / "ranks.csv"
    ranked = [",".join(["item", "a", "b", "c", "d"])]
    ranked += [",".join(NAMES[leaf] for leaf in row) for row in rows(12, 60, 5)]
    ranks.write_text("\n".join(ranked))
    for n_ranked in (1, 2, 4):
        settings = {"kind": "ranking", "items": ["item", "a", "b", "c", "d"], "n_ranked": n_ranked}
        listing.add(f"answers ranked {n_ranked}", lambda s=settings: ordhc.read_answers(ranks, **s))
    central = {"kind": "most-central", "items": ["left", "middle", "right"], "chosen": "odd"}
    listing.add("answers central", lambda: ordhc.read_answers(file, comment="#", **central))
    numbers = rows(9, 40, 3) + 1
    for name, delimiter, header in (("tabs", "\t", True), ("blanks", " ", False), ("semicolons", ";", True)):
        lines = [delimiter.join(["anchor", "near", "far"])] if header else []
        lines += [delimiter.join(map(str, row)) for row in numbers.tolist()]
        path = folder / f"{name}.txt"
        path.write_text("\n".join(lines) + "\n")
        listing.add(f"ids {name}", lambda p=path: ordhc.read_answers(p, ids_from=1))
        listing.add(f"ids as they are {name}", lambda p=path: ordhc.read_answers(p, ids_from=0, n_leaves=11))


def of_tools(listing: Listing) -> None:
    """Files of other tools, which the tests have."""
    for name, settings in {
        "salmon.csv": {"format": "salmon"},
        "jspsych.csv": {"kind": "odd-one-out", "format": "jspsych"},
        "jspsych.json": {"kind": "odd-one-out", "format": "jspsych"},
        "cblearn.csv": {"format": "cblearn"},
        "next.csv": {"format": "salmon"},
        "prolific_answers.csv": {**THREE, "format": "prolific", "participants": DATA / "prolific_export.csv"},
    }.items():
        listing.add(f"tool {name}", lambda f=DATA / name, s=settings: ordhc.read_answers(f, **s))


def of_scans(listing: Listing, folder: Path) -> None:
    """Answers that stay in files, cut in any way and added up by anybody, are those in memory."""
    for kind, data in scanned().items():
        similarity = "adds4" if isinstance(data, ordhc.Quadruplets) else "adds3"
        method = f"{similarity}-al"
        expected = {
            "tree": outcome(lambda c=data, m=method: ordhc.cluster(c, method=m)),
            "moved": outcome(lambda c=data, m=method: ordhc.cluster(c, method=f"{m}+spr")),
            "sums": outcome(lambda c=data, s=similarity: ordhc.similarity(c, s, layout="condensed")),
            "sparse": outcome(lambda c=data, s=similarity: ordhc.similarity(c, s, layout="sparse")),
        }
        if similarity == "adds3":
            expected["mulk3"] = outcome(lambda c=data: ordhc.similarity(c, "mulk3", layout="condensed"))
            expected["lengths"] = outcome(lambda c=data: ordhc.cluster(c, method="adds3-al+lengths+spr"))
        listing.add_columns(
            f"scan {kind}", {key: value for key, value in expected.items() if key != "lengths"}
        )
        forms = [("csv", [1, 700, 701]), ("csv.gz", [600]), ("tsv", [17])]
        for suffix, cuts in [*forms, ("parquet", [500])] if find_spec("pyarrow") else forms:
            place = folder / f"{kind}-{suffix}"
            place.mkdir()
            for at, (start, end) in enumerate(pairwise([0, *cuts, len(data)])):
                ordhc.write_comparisons(data[start:end], place / f"{at}.{suffix}")
            about = {"names": NAMES} if data.names else {"n_leaves": data.n_leaves}
            processes = kind == "weights" and suffix == "csv"
            with workers(processes=processes) as executor:
                for how in ({}, {"executor": executor}, {"memory": "16MB", "spill": folder}):
                    scan = ordhc.scan(place, "pairs" if similarity == "adds4" else "triplet", **about, **how)
                    found = scanned_results(scan, similarity, method, whole=not how)
                    for key, value in found.items():
                        name = f"scan {kind} {suffix} {' '.join(how)} {key}"
                        listing.expect_equal(name, bare(expected[key]), bare(value))


def workers(*, processes: bool) -> Executor:
    """Two threads or processes; processes that start anew take a second."""
    return ProcessPoolExecutor(2, mp_context=get_context("spawn")) if processes else ThreadPoolExecutor(2)


def scanned() -> dict[str, Any]:
    """Comparisons by the form of their rows."""
    data = with_people(3)
    return {
        # Scans take each row as an answer.
        "ids": ordhc.Triplets(ordhc.Triplets.from_odd_one_out(odd(20, 800)).rows, n_leaves=20),
        "names": ordhc.Triplets(data.rows, names=NAMES),
        "weights": ordhc.Triplets(data.rows, n_leaves=20, weights=np.arange(len(data)) % 7 / 3),
        "quadruplets": quadruplets(20, 900),
    }


def scanned_results(scan: Any, similarity: str, method: str, *, whole: bool) -> dict[str, Any]:
    """The same results of a scan; only some of them unless `whole`."""
    found = {
        "tree": outcome(lambda: ordhc.cluster(scan, method=method)),
        "sums": outcome(lambda: ordhc.similarity(scan, similarity, layout="condensed")),
        "sparse": outcome(lambda: ordhc.similarity(scan, similarity, layout="sparse")),
    }
    if whole:
        found["moved"] = outcome(lambda: ordhc.cluster(scan, method=f"{method}+spr"))
        if similarity == "adds3":
            found["mulk3"] = outcome(lambda: ordhc.similarity(scan, "mulk3", layout="condensed"))
            found["lengths"] = outcome(lambda: ordhc.cluster(scan, method="adds3-al+lengths+spr"))
    return found


def bare(found: Any) -> Any:
    """Merges and heights; names are those that files have."""
    return (found.merges, found.heights) if isinstance(found, ordhc.Dendrogram) else found
