"""CSV, Markdown and figures of results."""

import csv
import io
import math
import statistics
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reproduce import data, given, provenance
from reproduce.framework import Cell, Experiment, Line, Result, Results, Store

REPRODUCED, DIFFERS, EXTRA = "reproduced", "differs", "no published value"
AS_PRINTED = "as printed"
CANNOT, MISSING = "can't be run", "not run yet"
#: By number of seeds, from 2 on, Student's t for 95 % as a multiple of 2, which many seeds have.
_FEW = (6.35, 2.15, 1.59, 1.39, 1.29, 1.22, 1.18, 1.15, 1.13)
#: Numbers from here on are shown with an exponent, and differences from them in percent.
LARGE = 1000
_VERDICTS = (REPRODUCED, DIFFERS, EXTRA, CANNOT, MISSING)

_INTRODUCTION = """# The papers' numbers, and ours

This page is for readers of four papers on hierarchical clustering. We measured the numbers in these papers
again with ordhc. The page shows which of our numbers agree with the published numbers.

On this page the papers have these names:

* *Dot products*: A. Gray et al., *Hierarchical clustering with dot products recovers hidden tree
  structure*, NeurIPS 2023.
* *Foundations*: D. Ghoshdastidar, M. Perrot, U. von Luxburg, *Foundations of comparison-based
  hierarchical clustering*, NeurIPS 2019. *First version* is an earlier version of this paper.
* *Revenue*: A. Mandal, M. Perrot, D. Ghoshdastidar, *A revenue function for comparison-based hierarchical
  clustering*, TMLR 2023.
* *Queries*: E. Emamjomeh-Zadeh, D. Kempe, *Adaptive hierarchical clustering using ordinal queries*, SODA
  2018.

## Results at a glance

Each row of the next table is about a part of a paper: a table, a figure or a theorem. The last five columns
count the numbers (or statements) in this part by their verdict:

* *Reproduced*: our number and the published number differ by at most 2 standard errors. A statement is
  reproduced if it is true in our measurements.
* *Differs*: our number and the published number differ by more, or the statement is not true in our
  measurements.
* *No published value*: we measured a number that the paper does not print.
* *Can't be run*: we do not have the data set.
* *Not run yet*: we have not computed the number with the current code.

An empty cell means 0. For each row, a section below has all numbers. These words occur in the table:

* *Kendall tau-b* is a rank correlation. For each leaf (item) it compares two orders of the other leaves: by
  their closeness to this leaf in the tree, and by their true closeness.
* *Affinity* is the similarity of two leaves.
* A *triplet* is the answer "A is more like B than C", and a *quadruplet* is the answer "A and B are more
  alike than C and D".
* *AARI* measures how well a tree contains the true clusters: 1 is perfect, and 0 is chance.
* *Revenue* and *Dasgupta's cost* are scores of a tree. A high revenue and a low cost are good.

[Words](explanation/words.md) explains other terms.
"""

_COMPARISON = """## How numbers are compared

The standard error of a difference is computed from two standard errors:

* **Our standard error** is that of the mean over seeds if each seed draws new data or comparisons.
  Otherwise it is that of the mean over leaves. Standard deviations of ten seeds or fewer are widened by
  Student's t.
* **The published standard error** is the printed one. If our standard deviation over seeds gives a larger
  one, we use the larger one. Some authors drew the data only once, and drew only the comparisons again.
  Then we add the variation between draws of data, estimated from our draws.

If we use the authors' own draws, the published standard error alone is used. A difference within the
rounding of the printed number counts as 0. Five in 100 numbers that agree differ by more than 2 standard
errors by chance. The verdict *reproduced, as printed* means that all printed digits are equal; only the last
one may be rounded or truncated.

In the tables, a standard error is in brackets after its number, multiplied by 1,000: 0.86 (12) means 0.86
± 0.012. Numbers with an exponent have a standard error that is not multiplied. The leaves are in a new
random order for each seed.

To repeat this, run these commands in the folder `benches`. All of it takes about three hours on two
cores:

* `python -m reproduce` computes what has no results yet, and stores the results in
  `benches/reproduce/results`;
* `python -m reproduce --page` makes this page from the stored results;
* `python -m reproduce --list` lists each table, figure and theorem.
"""


def mean_and_error(cell: Cell, results: Mapping[int, Result]) -> tuple[float, float, float]:
    """The mean over seeds, its standard error, and the standard deviation from seed to seed."""
    values = [result[cell.number] for result in results.values()]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    if cell.simulated:
        return statistics.fmean(values), spread / math.sqrt(len(values)), spread
    return statistics.fmean(values), statistics.fmean(r["error"] for r in results.values()), spread


def compare(results: Results) -> list[Line]:
    """A table's numbers beside the published ones."""
    lines = []
    for cell, found in results.items():
        published = cell.published
        large = published is not None and abs(published.value) >= LARGE
        printed = "" if published is None else _shown(published.text, published.printed_error, large)
        if not found:
            lines.append(Line(cell.labels, printed, "", "", not_run(cell)))
            continue
        mean, error, spread = mean_and_error(cell, found)
        large |= published is None and abs(mean) >= LARGE
        ours = _shown(f"{mean:.3e}" if large else f"{mean:.4f}", error, large)
        if published is None:
            lines.append(Line(cell.labels, "", ours, "", EXTRA))
            continue
        difference = mean - published.value
        left = max(0.0, abs(difference) - published.rounding)
        wider = few(len(found)) if cell.simulated else 1.0
        own = published.printed_error if cell.same_draws else published.error(wider * spread)
        scale = own if cell.same_draws else math.hypot(own, wider * error)
        errors = left / scale if scale else math.copysign(math.inf, left) if left else 0.0
        by = f"{math.copysign(errors, difference):+.1f}" if errors >= 0.05 else "0.0"
        amount = f"{difference / published.value:+.1%}" if large else f"{difference:+.3f}"
        why = f": {cell.note}" if cell.note else ""
        verdict = REPRODUCED if errors <= 2 else f"{DIFFERS} by {amount}{why}"
        if cell.same_draws and errors <= 2 and abs(difference) < 2 * published.rounding:
            verdict = f"{REPRODUCED}, {AS_PRINTED}"
        lines.append(Line(cell.labels, printed, ours, by, verdict))
    return _together(lines)


def few(n_seeds: int) -> float:
    """How much larger a standard error of so few seeds must be taken."""
    return 1.0 if n_seeds < 2 or n_seeds - 2 >= len(_FEW) else _FEW[n_seeds - 2]


def not_run(cell: Cell) -> str:
    """The verdict of a cell without results, the same on every machine."""
    return f"{CANNOT}: it needs the data set {' and '.join(cell.needs)}" if cell.needs else MISSING


def _together(lines: Sequence[Line]) -> list[Line]:
    """One line for all numbers of a data set that was not run."""
    found: list[Line] = []
    for line in lines:
        same = found and line.verdict.startswith((CANNOT, MISSING)) and len(line.labels) > 1
        if same and (found[-1].labels[0], found[-1].verdict) == (line.labels[0], line.verdict):
            number = (
                int(found[-1].published.partition(" ")[0]) + 1
                if found[-1].published.endswith("numbers")
                else 2
            )
            blank = ("",) * (len(line.labels) - 1)
            found[-1] = Line((line.labels[0], *blank), f"{number} numbers", "", "", line.verdict)
        else:
            found.append(line)
    return found


def claim(labels: tuple[str, ...], said: str, cells: Results, judge: Callable[[], tuple[str, bool]]) -> Line:
    """Whether what the text says of some cells holds: `judge` gives ours in words and the answer.

    Cells that can't be run here are left out, as long as there are others.
    """
    able = [cell for cell in cells if cells[cell] or not cell.needs]
    if not able or not all(cells[cell] for cell in able):
        reasons = [not_run(cell) for cell in cells if not cells[cell]]
        return Line(labels, said, "", "", reasons[0] if reasons else MISSING)
    ours, holds = judge()
    return Line(labels, said, ours, "", REPRODUCED if holds else DIFFERS)


def _shown(text: str, error: float, large: bool) -> str:
    """A number with its standard error: times 1,000, or as it is if the number is large."""
    return f"{text} ({error:.1e})" if large else f"{text} ({1e3 * error:.2g})"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _header(experiment: Experiment) -> list[str]:
    return [*experiment.columns, "published", "ours", "difference in standard errors", "verdict"]


def _rows(lines: Sequence[Line]) -> list[list[str]]:
    return [[*line.labels, line.published, line.ours, line.difference, line.verdict] for line in lines]


def _csv(experiment: Experiment, lines: Sequence[Line]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_header(experiment), *_rows(lines)])
    return out.getvalue()


def _points(results: Results) -> str:
    """Every number of every seed as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["cell", "seed", "number", "value"])
    for cell, found in results.items():
        for seed, result in sorted(found.items()):
            writer.writerows([cell.key, seed, name, repr(value)] for name, value in result.items())
    return out.getvalue()


def write(
    experiments: Sequence[Experiment],
    left_out: Mapping[str, str],
    store: Store,
    folder: Path,
    *,
    quick: bool = False,
    tables: bool = True,
) -> list[str]:
    """Write figures of what is in the store and reproduction.md; with `tables` also CSV and Markdown of each.

    Gives messages about what was left out.
    """
    messages: list[str] = []
    index, sections = [], []
    for experiment in experiments:
        results = {cell: store.load(cell) for cell in experiment.cells(quick)}
        lines = experiment.lines(results)
        kinds = Counter(_kind(line.verdict) for line in lines)
        name = experiment.name.replace("/", "-")
        table = markdown(_header(experiment), _rows(lines))
        if tables:
            (folder / f"{name}.csv").write_text(_csv(experiment, lines))
            (folder / f"{name}-points.csv").write_text(_points(results))
        section = f"## {experiment.title}\n\n"
        section += "".join(
            f"{textwrap.fill(part, 110)}\n\n" for part in experiment.remarks.split("\n\n") if part
        )
        section += f"{_seeds(results)}{table}"
        shown = {cell: found for cell, found in results.items() if found}
        able = all(found or cell.needs for cell, found in results.items())
        if experiment.draw is not None and shown and able:
            picture = folder / "images" / f"{name}.png"
            if _has_matplotlib():
                picture.parent.mkdir(exist_ok=True)
                experiment.draw(shown, picture)
            else:
                messages.append(f'{experiment.name}: no figure without matplotlib: pip install "ordhc[plot]"')
            if picture.exists():
                section += f"\n![{experiment.title}](images/{name}.png)\n"
        if tables:
            (folder / f"{name}.md").write_text(section)
        sections.append(section)
        counted = (str(kinds[kind] or "") for kind in _VERDICTS)
        index.append([f"`{experiment.name}`", experiment.title, *counted])
    head = markdown(["name", "what", *_VERDICTS], index)
    note = "\nA smoke run with `--quick`: the numbers mean nothing.\n" if quick else ""
    made_by = f"<!-- code {provenance.everything()} -->\n"
    parts = [made_by, _INTRODUCTION + note, head, _COMPARISON, _left_out(left_out), _data(), *sections]
    (folder / "reproduction.md").write_text("\n".join(parts))
    return messages


def _left_out(left_out: Mapping[str, str]) -> str:
    table = markdown(["what", "why it is left out"], list(left_out.items()))
    return f"## What is left out\n\n{table}"


def _data() -> str:
    rows = [[f"`{file}`", name, what] for name, files in data.FILES.items() for file, what in files.items()]
    rows += [[f"`--data {form.name}=PATH`", name, form.what] for name, form in given.FORMATS.items()]
    return f"""## Data

`python -m reproduce.fetch FOLDER` downloads data sets from their public sources. It makes the files of
the folder that the environment variable `ORDHC_DATA` names, and `amazon_reviews.csv` for `--data
amazon=PATH`. Zoo and Glass are in `docs/data`; Car and Food come with ordhc.

{markdown(["file", "data set", "contents"], rows)}"""


def _kind(verdict: str) -> str:
    return next(k for k in _VERDICTS if verdict.startswith(k))


def _seeds(results: Results) -> str:
    counts = sorted({len(found) for found in results.values() if found})
    if not counts:
        return ""
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Seeds behind each of our numbers: {number}.\n\n"


def _has_matplotlib() -> bool:
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    return True
