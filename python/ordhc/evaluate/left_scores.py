"""Score trees of resamples on left-out answers in memory, in this process or in an executor."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc._workers import Shared, run_tasks
from ordhc.comparison.choices import Choices
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of, first_rows
from ordhc.evaluate.left_out import Block, LeftOut, Parts, Scores, bits_left_out, sums_of_part
from ordhc.io.spill import Spill
from ordhc.metrics.answers import right_answers
from ordhc.tree.dendrogram import Dendrogram, engine_tree

#: Maximum number of trees times comparisons for the score "answers", and minimum number of trees.
_MOST_PREDICTED, _FEWEST = 10_000_000, 10


@dataclass(frozen=True)
class LeftOutScores:
    """Scores trees of resamples on the answers that were not drawn.

    `units` (m,) has the unit (person or answer) of each row of `data`, numbered from 0. `shares` (m,) has 1 /
    (number of rows of its answer); None if all are equal. `seed` is that of the resamples.
    """

    data: Triplets | Quadruplets
    units: NDArray[np.int64]
    shares: NDArray[np.float64] | None
    seed: int

    def bits(self, count: int) -> NDArray[np.uint8]:
        return bits_left_out(count, self._times, self._parts.n_units)

    def sums(
        self,
        trees: tuple[Dendrogram, ...],
        bits: NDArray[np.uint8],
        crew: tuple[Executor, Spill, Shared] | None,
        meanwhile: Callable[[], Any],
        progress: Progress | None,
    ) -> tuple[LeftOut, LeftOut, float]:
        """Return the sums for the scores "held_out" and "answers", and the chance of "answers".

        The chance is the expected "answers" of random guesses; NaN if no answer has a positive weight. With
        `crew`, workers of an executor compute the sums, and this process calls `meanwhile`.
        """
        predicted = min(len(trees), max(_FEWEST, _MOST_PREDICTED // len(self.data)))
        # The score "answers" takes longer, so its tasks come first.
        tasks = [
            (is_whole, count, number, bits[: (count + 7) // 8, self._parts.units_of(number)])
            for is_whole, count in ((True, predicted), (False, len(trees)))
            for number in range(len(self._parts))
        ]
        if crew is None:
            found = []
            for at, task in enumerate(tasks, 1):
                found.append(self._of_part(trees, *task))
                if progress is not None:
                    progress(at / len(tasks))
        else:
            executor, folder, shared = crew
            of_trees = Shared(trees, lambda: folder.folder)
            to_do = [(shared, of_trees, *task) for task in tasks]
            found = run_tasks(executor, _of_part, to_do, meanwhile=meanwhile, progress=progress)
        half = len(found) // 2
        chances = [each for _, of_part in found[:half] for each in of_part]
        sums = [each for each, _ in found]
        answers, held_out = LeftOut.joined(sums[:half]), LeftOut.joined(sums[half:])
        return held_out, answers, _mean_chance(chances)

    @cached_property
    def _parts(self) -> Parts:
        weights = self.data.weights
        if self.shares is not None:
            weights = self.shares if weights is None else weights * self.shares
        answers = None if self.data.answers is None else answers_of(self.data)
        return Parts(self.data.rows, weights, self.units, int(self.units.max()) + 1, answers)

    @cached_property
    def _starts(self) -> NDArray[np.int64] | None:
        n_units = self._parts.n_units
        return None if n_units == len(self.units) else first_rows(self.units, n_units)

    def _times(self, at: int) -> NDArray[np.int64]:
        times = _ordhc.draw_times(len(self.data), self.units, self.seed, at)
        # All rows of a unit are drawn together, so the first row of a unit is enough.
        return times if self._starts is None else times[self._starts]

    def _of_part(
        self,
        trees: tuple[Dendrogram, ...],
        is_whole: bool,
        count: int,
        number: int,
        bits: NDArray[np.uint8],
    ) -> tuple[LeftOut, list[tuple[float, float]]]:
        chances: list[tuple[float, float]] = []

        def of_rows(block: Block) -> Scores:
            return lambda at, some: np.asarray(_ordhc.verdicts(engine_tree(trees[at]), block.rows[some]) == 1)

        def of_answers(block: Block) -> Scores:
            rows = self.data[block.at]  # type: ignore[index]
            choices, numbers = Choices.of(rows), answers_of(rows)
            if not choices.kinds:
                return lambda _, some: np.zeros(len(some))
            chances.append((choices.chance, float(sum(kind.weights.sum() for kind in choices.kinds))))
            return lambda at, some: right_answers(trees[at], rows, choices)[0][numbers[some]]

        scores_of = of_answers if is_whole else of_rows
        units, blocks = self._parts.units_of(number), self._parts.blocks(number)
        return sums_of_part(units, blocks, count, bits, scores_of), chances


def _mean_chance(chances: list[tuple[float, float]]) -> float:
    if not chances:
        return float("nan")
    values, weights = zip(*chances, strict=True)
    # Without this case, a mean of equal chances could differ from them by a rounding error.
    return float(values[0]) if len({*values}) == 1 else float(np.average(values, weights=weights))


def _of_part(shared: Shared, trees: Shared, *task: Any) -> tuple[LeftOut, list[tuple[float, float]]]:
    work, _ = shared.value()
    found: tuple[LeftOut, list[tuple[float, float]]] = work.judging._of_part(trees.value(), *task)
    return found
