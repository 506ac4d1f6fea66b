"""Digests of results, compared with those in the repository.

cd benches
python -m digests            # compare with digests.txt; 1 and a diff if a line differs
python -m digests --write    # write digests.txt; with --only these parts of it
python -m digests --only linkages --only sparse
"""

import argparse
import difflib
import importlib
import sys
import time
import warnings
from pathlib import Path

from digests.listing import Listing, prepare_process
from ordhc import _ordhc

GOLDEN = Path(__file__).parents[1] / "digests.txt"
#: What to do about lines that differ.
INSTEAD = (
    "Results have changed. If they should, commit the change without them, then write them anew with "
    "`make digests WRITE=1` in a commit of its own that says which results change and why."
)
#: No input is known that enters these mechanisms; unit tests of the crate do.
NEVER = ("vectors_chain",)
#: A module each. Its function `run` adds lines.
PARTS = [
    "linkages",
    "sparse",
    "vectors",
    "answers",
    "files",
    "posteriors",
    "learners",
    "trees",
    "studies",
    "commands",
]


def main() -> int:
    """Make the lines and compare them, or write them; 1 if anything differs from what it must be."""
    parser = argparse.ArgumentParser(
        prog="digests", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write digests.txt anew")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; repeatable")
    options = parser.parse_args()
    parts = options.only or PARTS
    prepare_process(4)
    # Results count their warnings.
    warnings.simplefilter("ignore")
    made = ""
    unequal = []
    for part in parts:
        start = time.perf_counter()
        listing = Listing()
        importlib.import_module(f"digests.{part}").run(listing)
        made += f"== {part}\n{listing.text()}"
        unequal += listing.unequal
        seconds = time.perf_counter() - start
        print(f"{part}: {len(listing.lines)} lines, {seconds:.1f} s", file=sys.stderr, flush=True)
    wrong = [f"differs from the same result in another form: {name}" for name in unequal]
    if not options.only:
        entered = _ordhc.mechanisms()
        never = [name for name in entered if not entered[name] and name not in NEVER]
        wrong += [f"no line enters this mechanism of the crate: {name}" for name in never]
    n_lines = len(made.splitlines()) - len(parts)
    done = f"{n_lines} results are those of {GOLDEN.name}"
    golden = GOLDEN.read_text(encoding="utf-8") if GOLDEN.exists() else ""
    if options.write:
        # Parts that were not made stay.
        known = {part: parts_of(golden, [part]) for part in PARTS}
        known |= {part: parts_of(made, [part]) for part in parts}
        GOLDEN.write_text("".join(known.values()), encoding="utf-8")
        done = f"wrote {n_lines} lines to {GOLDEN.name}"
    else:
        differing = changed(parts_of(golden, parts), made)
        wrong += [*differing, INSTEAD] if differing else []
    print("\n".join(wrong) or done)
    return bool(wrong)


def parts_of(text: str, parts: list[str]) -> str:
    """The lines of some parts."""
    sections = dict(each.split("\n", 1) for each in text.split("== ")[1:])
    return "".join(f"== {part}\n{sections[part]}" for part in parts if part in sections)


def changed(golden: str, made: str) -> list[str]:
    """The lines that differ, as a diff."""
    lines = difflib.unified_diff(
        golden.splitlines(), made.splitlines(), "digests.txt", "this code", lineterm="", n=0
    )
    return [line for line in lines if not line.startswith("@@")]


if __name__ == "__main__":
    sys.exit(main())
