"""Test whether a person who answers unlike the others follows another tree, alone or with other people."""

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import MOVES_UP_TO, Plan
from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.rows import changed
from ordhc.comparison.units import answers_of, count_answers
from ordhc.evaluate.ceiling import satisfied_share
from ordhc.evaluate.intervals import wilson
from ordhc.tree.dendrogram import engine_tree

#: Number of sets of random answers with which a person's answers are compared.
SIMULATED = 39
#: Minimum number of answers per item: for answers of several comparisons, and for answers of one comparison.
#: With this number of answers, of which 83% agree with the person's own tree, `has_own_tree` returns True in
#: two of three cases.
ENOUGH, ENOUGH_SINGLE = 3, 8
#: Maximum number of groups of people for cross-validation: trees of the other groups predict each group.
GROUPS = 10

Numbers = NDArray[np.int64]


def answers_needed(data: Comparisons) -> int:
    """Return how many answers of one person suffice to find that person's own tree of the items of `data`."""
    n_items = len(np.unique(data.rows))
    has_several = len(data) > count_answers(data)
    return n_items * (ENOUGH if has_several else ENOUGH_SINGLE)


def has_own_tree(data: Comparisons, seed: int) -> bool:
    """Return True if the answers of one person agree with each other more than random answers do.

    This is a Monte Carlo test at 5%. A tree is made from the answers; the statistic is the share of the
    answers that the tree satisfies. Random answers to the same questions give the distribution of
    the statistic.
    """
    rng = np.random.default_rng(seed)
    items, rows = np.unique(data.rows, return_inverse=True)
    own = changed(data, rows=rows.reshape(data.rows.shape), n_leaves=len(items), names=None)
    said = _own_share(own)
    more = sum(_own_share(_at_random(own, rng)) >= said for _ in range(SIMULATED))
    return 1 + more <= 0.05 * (SIMULATED + 1)


def _plan(data: Comparisons) -> Plan:
    moves = "+spr" if data.n_leaves <= MOVES_UP_TO else ""
    return Plan.of(data, method=f"adds{data.rows.shape[1]}-al{moves}")


def _own_share(data: Comparisons) -> float:
    tree, _ = fit(_plan(data), data)
    return satisfied_share(tree, data)


def _at_random(data: Comparisons, rng: np.random.Generator) -> Comparisons:
    """Return the same questions with random answers.

    In a single comparison, a random pair becomes the closer one. In an answer of several rows, the leaves are
    permuted at random, except a leaf that is first in all rows, because it is the reference of the question.
    """
    rows = data.rows.astype(np.int64).copy()
    answers = answers_of(data)
    sizes = np.bincount(answers)
    alone = sizes[answers] == 1
    width = rows.shape[1]
    order = [0, 2, 1] if width == 3 else [2, 3, 0, 1]
    turned = (rng.random(len(sizes)) < 0.5)[answers]
    if width == 3:
        for answer in np.flatnonzero(sizes > 1).tolist():
            mine = np.flatnonzero(answers == answer)
            leaves = np.unique(rows[mine])
            if len(np.unique(rows[mine, 0])) == 1:
                leaves = leaves[leaves != rows[mine[0], 0]]
            drawn = dict(zip(leaves.tolist(), rng.permutation(leaves).tolist(), strict=True))
            rows[mine] = [[drawn.get(leaf, leaf) for leaf in row] for row in rows[mine].tolist()]
        turned &= alone
    rows[turned] = rows[turned][:, order]
    return changed(data, rows=rows)


def shares_tree(
    data: Comparisons, person: Numbers, people: list[int], chance: NDArray[np.float64]
) -> dict[int, bool]:
    """Return, for each of `people`, True if a tree of other members of `people` predicts better than chance.

    The people are split into groups. The answers of a group are predicted by a tree of all other groups.

    `person` is (m,), the person of each row. `people` are those who answer unlike most others. `chance` has,
    for each of them, the share satisfied that is expected for random answers.
    """
    found = dict.fromkeys(people, False)
    n_groups = min(len(people), GROUPS)
    if n_groups < 2:
        return found
    numbers = answers_of(data)
    for group in range(n_groups):
        apart = people[group::n_groups]
        seen = np.isin(person, [each for each in people if each not in apart])
        tree, _ = fit(_plan(data), data[seen])
        for each in apart:
            mine = np.flatnonzero(person == each)
            agreed = _ordhc.verdicts(engine_tree(tree), data.rows[mine]) == 1
            codes = np.unique(numbers[mine], return_inverse=True)[1].ravel()
            hits = np.bincount(codes, agreed) / np.bincount(codes)
            low = wilson(float(hits.mean()), len(hits))[0]
            found[each] = bool(low > chance[people.index(each)])
    return found
