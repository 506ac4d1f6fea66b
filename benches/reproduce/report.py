"""CSV, Markdown and figures of results."""

import csv
import io
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reproduce.framework import Cache, Cell, Experiment, Line, Result, Results

REPRODUCED, DIFFERS, EXTRA = "reproduced", "differs", "no published value"
CANNOT, MISSING = "can't be run", "not run yet"

_INTRODUCTION = """# The papers' numbers, and ours

Made by `cd benches && python -m reproduce`, which says more with `--list` and `--help`. Rows are in a random
order in every run, with a new one for each seed.

A number is *reproduced* if it is within 2 standard errors of the published one, after allowing for the
rounding of what is printed. The standard error of a difference has two parts. Ours is that of the mean over
seeds where data are simulated, else that over leaves. The published one is as printed, or our standard
deviation from seed to seed where that is larger: it comes from one draw.
"""


def mean_and_error(cell: Cell, results: Mapping[int, Result]) -> tuple[float, float, float]:
    """The mean over seeds, its standard error, and the standard deviation from seed to seed."""
    values = [result["value"] for result in results.values()]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    if cell.simulated and len(values) > 1:
        return statistics.fmean(values), spread / math.sqrt(len(values)), spread
    return statistics.fmean(values), statistics.fmean(r["error"] for r in results.values()), spread


def compare(results: Results) -> list[Line]:
    """A table's numbers beside the published ones."""
    lines = []
    for cell, found in results.items():
        published = cell.published
        printed = "" if published is None else f"{published.text} ({1e3 * published.error:.2g})"
        if not found:
            why = cell.why_not()
            lines.append(Line(cell.labels, printed, "", "", f"{CANNOT}: {why}" if why else MISSING))
            continue
        mean, error, spread = mean_and_error(cell, found)
        ours = f"{mean:.4f} ({1e3 * error:.2g})"
        if published is None:
            lines.append(Line(cell.labels, "", ours, "", EXTRA))
            continue
        difference = mean - published.value
        left = max(0.0, abs(difference) - published.rounding)
        errors = left / math.hypot(max(published.error, spread), error)
        by = f"{math.copysign(errors, difference):+.1f}" if errors >= 0.05 else "0.0"
        verdict = REPRODUCED if errors <= 2 else f"{DIFFERS} by {difference:+.3f}"
        lines.append(Line(cell.labels, printed, ours, by, verdict))
    return lines


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


def write(experiments: Sequence[Experiment], cache: Cache, folder: Path, quick: bool) -> list[str]:
    """Write CSV, Markdown and figures of what is in the cache, and reproduction.md over all of them.

    Gives messages about what was left out.
    """
    messages: list[str] = []
    index, sections = [], []
    for experiment in experiments:
        results = {cell: cache.load(cell) for cell in experiment.cells(quick)}
        lines = experiment.lines(results)
        lines += [
            Line((what, *[""] * (len(experiment.columns) - 1)), "", "", "", f"{CANNOT}: {why}")
            for what, why in experiment.cannot
        ]
        kinds = Counter(_kind(line.verdict) for line in lines)
        name = experiment.name.replace("/", "-")
        table = markdown(_header(experiment), _rows(lines))
        (folder / f"{name}.csv").write_text(_csv(experiment, lines))
        (folder / f"{name}-points.csv").write_text(_points(results))
        section = f"## {experiment.title}\n\n"
        if experiment.remarks:
            section += f"{experiment.remarks}\n\n"
        section += f"{table}"
        if experiment.draw is not None and all(results.values()):
            picture = folder / "images" / f"{name}.png"
            if _has_matplotlib():
                picture.parent.mkdir(exist_ok=True)
                experiment.draw(results, picture)
            else:
                messages.append(f'{experiment.name}: no figure without matplotlib: pip install "ordhc[plot]"')
            if picture.exists():
                section += f"\n![{experiment.title}](images/{name}.png)\n"
        (folder / f"{name}.md").write_text(section)
        sections.append(section)
        shown = (REPRODUCED, DIFFERS, EXTRA, CANNOT, MISSING)
        index.append([f"`{experiment.name}`", experiment.title, *(str(kinds[kind] or "") for kind in shown)])
    head = markdown(["name", "what", REPRODUCED, DIFFERS, EXTRA, CANNOT, MISSING], index)
    note = "\nA smoke run with `--quick`: the numbers mean nothing.\n" if quick else ""
    (folder / "reproduction.md").write_text("\n".join([_INTRODUCTION + note, head, *sections]))
    return messages


def _kind(verdict: str) -> str:
    return next(k for k in (REPRODUCED, DIFFERS, EXTRA, CANNOT, MISSING) if verdict.startswith(k))


def _has_matplotlib() -> bool:
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    return True
