"""Experiments, their cells, and the stored results that let an interrupted run go on."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reproduce import given, provenance
from reproduce.data import why_missing

Result = dict[str, float]
#: The results of a cell by seed.
Results = Mapping["Cell", Mapping[int, Result]]


@dataclass(frozen=True)
class Published:
    """A number as printed, so that its rounding is known; its standard deviation, and the runs behind it.

    `one_draw`: all runs drew comparisons of the same data, so that the printed deviation lacks the part
    between draws of data.
    """

    text: str
    deviation: float = 0.0
    runs: int = 1
    one_draw: bool = False

    @property
    def printed_error(self) -> float:
        return self.deviation / math.sqrt(self.runs)

    def error(self, spread: float) -> float:
        """Return the standard error, given our standard deviation over new draws of everything.

        A published mean over runs has at least the error that our runs would have. Over one draw of data its
        variance is s^2 / runs with the printed s, and the part between draws, spread^2 - s^2.
        """
        if self.one_draw:
            return math.sqrt(max(spread**2 - self.deviation**2, 0.0) + self.deviation**2 / self.runs)
        return max(self.deviation, spread) / math.sqrt(self.runs)

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

    `key` names it in the store: cells of two tables that have the same key are run once. A stored result
    is used again as long as `settings` stay the same. `needs` are data sets, `lacks` says why the cell
    can't be run at all. `simulated` cells draw new data or comparisons for each seed, so that seeds tell
    the standard error; the others permute rows only and bring an "error". `same_draws` cells use the
    authors' own draws, so that nothing but ties and starts differs. `note` says why the number differs, if
    it does.
    """

    key: str
    labels: tuple[str, ...]
    run: Callable[[int], Result] = field(compare=False)
    number: str = "value"
    seeds: int = 10
    simulated: bool = False
    same_draws: bool = False
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
    the figure. `remarks` say what differs and why.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    cells: Callable[[bool], list[Cell]]
    lines: Callable[[Results], list[Line]]
    draw: Callable[[Results, Path], None] | None = None
    remarks: str = ""


class Store:
    """Results in a folder: a JSON file for each beginning of a key, such as "dot/MNIST", written after every
    seed.

    Only results that were made with the same settings and by the same code are given back.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[Path, dict[str, Any]] = {}

    def load(self, cell: Cell) -> dict[int, Result]:
        """Return what there is of a cell."""
        stored = self._stored(cell).get(cell.key)
        if stored is None or any(stored[name] != value for name, value in _made_with(cell).items()):
            return {}
        return {
            int(seed): dict(zip(stored["numbers"], row, strict=True)) for seed, row in stored["seeds"].items()
        }

    def add(self, cell: Cell, seed: int, result: Result) -> None:
        """Keep the result of a seed, to 9 digits."""
        seeds = {**self.load(cell), seed: result}
        rows = {str(s): [float(f"{value:.9g}") for value in r.values()] for s, r in sorted(seeds.items())}
        entry = {**_made_with(cell), "numbers": list(result), "seeds": rows}
        stored = self._stored(cell)
        stored[cell.key] = entry
        # A line for each cell.
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(stored[key])}" for key in sorted(stored))
        path = self._path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(f"{{\n{lines}\n}}\n")
        os.replace(new, path)  # noqa: PTH105

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{'-'.join(cell.key.split('/')[:2])}.json"

    def _stored(self, cell: Cell) -> dict[str, Any]:
        path = self._path(cell)
        if path not in self._files:
            self._files[path] = json.loads(path.read_text()) if path.is_file() else {}
        return self._files[path]


def _made_with(cell: Cell) -> dict[str, Any]:
    return {"code": provenance.of(cell.run), "settings": json.loads(json.dumps(dict(cell.settings)))}


def lacking(*modules: str) -> str:
    """Which of these modules can't be imported, as a `lacks`; empty if all can."""
    lost = [module for module in modules if find_spec(module) is None]
    return f"it needs {', '.join(lost)}" if lost else ""


def undone(cells: Sequence[Cell], store: Store, seeds: int | None) -> list[tuple[Cell, int]]:
    """What is left to run, once for each key, seed by seed, so that the time left is known early.

    Cells that can't be run are left out.
    """
    left: dict[tuple[str, int], tuple[Cell, int]] = {}
    for cell in cells:
        if cell.why_not():
            continue
        there = store.load(cell)
        for seed in range(cell.seeds if seeds is None else seeds):
            if seed not in there:
                left.setdefault((cell.key, seed), (cell, seed))
    return sorted(left.values(), key=lambda task: task[1])
