"""Experiments, their cells, and the cache that lets an interrupted run go on."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ordhc
from reproduce import given
from reproduce.data import why_missing

Result = dict[str, float]
#: The results of a cell by seed.
Results = Mapping["Cell", Mapping[int, Result]]


@dataclass(frozen=True)
class Published:
    """A number as printed, so that its rounding is known, its standard error, and the runs behind it."""

    text: str
    error: float = 0.0
    runs: int = 1

    @classmethod
    def of_runs(cls, text: str, deviation: float, runs: int = 10) -> "Published":
        """A mean over runs of which the standard deviation is printed."""
        return cls(text, deviation / math.sqrt(runs), runs)

    @property
    def value(self) -> float:
        return float(self.text)

    @property
    def rounding(self) -> float:
        """Half a unit of the last digit."""
        digits, _, exponent = self.text.partition("e")
        return 0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


@dataclass(frozen=True)
class Cell:
    """One number of a table or one point of a figure: `run(seed)` gives it, as `number` of its result.

    `key` names it in the cache: cells of two tables that have the same key are run once. A cached result
    is used again as long as `settings` stay the same. `needs` are data sets, `lacks` says why the cell
    can't be run at all. `simulated` cells draw new data or comparisons for each seed, so that seeds tell
    the standard error; the others permute rows only and bring an "error". `note` is why it differs, if it
    does.
    """

    key: str
    labels: tuple[str, ...]
    run: Callable[[int], Result] = field(compare=False)
    number: str = "value"
    seeds: int = 10
    simulated: bool = False
    published: Published | None = None
    needs: tuple[str, ...] = ()
    lacks: str = ""
    note: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def why_not(self) -> str:
        """Why it can't be run here; empty if it can."""
        reasons = (given.why_missing(x) if x in given.FORMATS else why_missing(x) for x in self.needs)
        return self.lacks or " ".join(filter(None, reasons))


@dataclass(frozen=True)
class Line:
    """A row of a report."""

    labels: tuple[str, ...]
    published: str
    ours: str
    difference: str
    verdict: str


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper.

    `cells(quick)` are its numbers. `lines` makes the report of them (`report.compare` for tables), `draw`
    the figure. `cannot` lists what is left out altogether and why, `remarks` what differs and why.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    cells: Callable[[bool], list[Cell]]
    lines: Callable[[Results], list[Line]]
    draw: Callable[[Results, Path], None] | None = None
    cannot: Sequence[tuple[str, str]] = ()
    remarks: str = ""


class Cache:
    """Results in a folder, one JSON file per cell, written after every seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"

    def load(self, cell: Cell) -> dict[int, Result]:
        """What is there of a cell, unless it was made with other settings."""
        try:
            stored = json.loads(self._path(cell).read_text())
        except (OSError, ValueError):
            return {}
        if stored.get("settings") != json.loads(json.dumps(dict(cell.settings))):
            return {}
        return {int(seed): result for seed, result in stored["results"].items()}

    def add(self, cell: Cell, seed: int, result: Result) -> None:
        """Keep the result of a seed."""
        results = {**self.load(cell), seed: result}
        path = self._path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        stored = {"settings": dict(cell.settings), "ordhc": ordhc.__version__, "results": results}
        new = path.with_suffix(".new")
        new.write_text(json.dumps(stored, indent=1))
        os.replace(new, path)  # noqa: PTH105


def lacking(*modules: str) -> str:
    """Which of these modules can't be imported, as a `lacks`; empty if all can."""
    lost = [module for module in modules if find_spec(module) is None]
    return f"it needs {', '.join(lost)}" if lost else ""


def undone(cells: Sequence[Cell], cache: Cache, seeds: int | None) -> list[tuple[Cell, int]]:
    """What is left to run, once for each key, seed by seed, so that the time left is known early.

    Cells that can't be run are left out.
    """
    left: dict[tuple[str, int], tuple[Cell, int]] = {}
    for cell in cells:
        if cell.why_not():
            continue
        there = cache.load(cell)
        for seed in range(cell.seeds if seeds is None else seeds):
            if seed not in there:
                left.setdefault((cell.key, seed), (cell, seed))
    return sorted(left.values(), key=lambda task: task[1])
