"""Reading files of names and persons, beside pyarrow: python benches/bench_reading.py [--rows 1_000_000].

The same table (300 items, 200 persons) is read as text, quoted text, Parquet and Parquet of dictionaries, and
once more as ids without persons. pyarrow reads and checks nothing, with both of its readers' threads; ordhc
also finds out names, checks every row and makes `Triplets`. Bars: at most 3 times pyarrow's time for names in
Parquet, 2 times for text.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

import ordhc
from measure import alternating, table

ITEMS, PERSONS = 300, 200
LEAVES = ("anchor", "near", "far")


def written(folder, n_rows):
    """Write the files; give their paths."""
    random = np.random.default_rng(0)
    # Three different items: two steps from the first that don't meet.
    anchor, step, more = (random.integers(low, high, n_rows) for low, high in ((0, 300), (1, 150), (1, 150)))
    rows = np.stack([anchor, anchor + step, anchor + step + more], axis=1) % ITEMS
    person = random.integers(0, PERSONS, n_rows)
    items = np.array([f"picture {at:03}.jpg" for at in range(ITEMS)], dtype=object)
    persons = np.array([f"person-{at:04}" for at in range(PERSONS)], dtype=object)
    columns = dict(zip((*LEAVES, "person"), (*items[rows].T, persons[person]), strict=True))
    text = pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()})
    coded = pyarrow.table({name: text[name].dictionary_encode() for name in columns})
    ids = pyarrow.table(dict(zip(LEAVES, rows.T, strict=True)))
    bare = pyarrow.csv.WriteOptions(quoting_style="none")
    pyarrow.csv.write_csv(text, folder / "names.csv", bare)
    pyarrow.csv.write_csv(text, folder / "quoted names.csv")
    pyarrow.csv.write_csv(ids, folder / "ids.csv", bare)
    pyarrow.parquet.write_table(text, folder / "names.parquet")
    pyarrow.parquet.write_table(coded, folder / "dictionaries.parquet")
    pyarrow.parquet.write_table(ids, folder / "ids.parquet")
    return sorted(folder.iterdir())


def main():
    """Print seconds of each reader and file, as medians of runs that take turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = []
        for path in written(Path(folder), options.rows):
            theirs = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
            works = {
                "pyarrow": lambda path=path, theirs=theirs: theirs(path),
                "read_answers": lambda path=path: ordhc.read_answers(path),
                "scan": lambda path=path: ordhc.scan(path).read(),
            }
            for work in works.values():
                work()
            seconds = alternating(works, options.repeats)
            ratios = [f"{seconds[name] / seconds['pyarrow']:.1f}" for name in ("read_answers", "scan")]
            lines.append((path.name, *(f"{found:.3f}" for found in seconds.values()), *ratios))
        table(("file", "pyarrow s", "read_answers s", "scan s", "read_answers ratio", "scan ratio"), lines)


if __name__ == "__main__":
    main()
