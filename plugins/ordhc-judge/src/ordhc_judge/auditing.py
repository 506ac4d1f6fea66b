"""Measure how often a judge finds the odd one out of three items, and how consistent the judge is."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.io.paths import suffix_of
from ordhc.io.trees import ONLY_TREES
from ordhc.progress import Progress, shows_progress
from ordhc_judge.report import Share

if TYPE_CHECKING:
    from ordhc.tree.node import Node

_FROM_TREE = 300
_DISTANCE_GROUPS = (("1", 1, 1), ("2 to 3", 2, 3), ("4 to 7", 4, 7), ("8 or more", 8, 2**31))


@dataclass(frozen=True)
class Audit:
    """The result of `audit`: how often a judge is right. All shares have 95% intervals.

    Attributes
    ----------
    accuracy
        The share of questions with the right answer. The answer -1 (none) counts as wrong, because each gold
        question has an odd one out.
    decided
        The share of questions with an answer other than -1.
    when_decided
        The share of right answers among the decided questions.
    consistency
        The share of questions whose prompts, one for each order of the items, all get the same reply.
        Questions with a missing reply are left out.
    by_distance
        The accuracy for each distance of the odd one out. The distance is the number of edges from the node
        where the other two items merge up to the node where the odd one joins them. The tree is the gold
        tree, or the tree that `ordhc.cluster` makes from gold answers.
    by_place
        The share of right replies by the position (1 to 3) at which the odd one was shown.
    named
        The share of all replies that name each position; each is 1/3 if the model prefers no position.
    p
        The probability of a right answer for learners: the lower bound of the accuracy, but at least 0.501,
        because learners need more than 1/2.
    """

    accuracy: Share
    decided: Share
    when_decided: Share
    consistency: Share
    by_distance: dict[str, Share]
    by_place: dict[int, Share]
    named: dict[int, Share]

    @property
    def p(self) -> float:
        """The probability of a right answer, for `ordhc.learn`; at least 0.501."""
        return max(0.501, round(self.accuracy.interval[0], 3))

    def to_dict(self) -> dict[str, Any]:
        """Return all shares and `p` as a dict for JSON."""
        single = ("accuracy", "decided", "when_decided", "consistency")
        found: dict[str, Any] = {name: getattr(self, name).to_dict() for name in single}
        for name in ("by_distance", "by_place", "named"):
            found[name] = {str(key): share.to_dict() for key, share in getattr(self, name).items()}
        return {**found, "p": self.p}

    def __str__(self) -> str:
        rows = [
            ("accuracy", self.accuracy),
            ("decided", self.decided),
            ("right when decided", self.when_decided),
            ("consistent over orders", self.consistency),
            *((f"accuracy at distance {name}", share) for name, share in self.by_distance.items()),
            *((f"right if the odd one is at place {at}", share) for at, share in self.by_place.items()),
            *((f"named place {at}", share) for at, share in self.named.items()),
        ]
        width = max(len(title) for title, _ in rows) + 2
        lines = [f"{title:<{width}}{share}" for title, share in rows]
        return "\n".join([*lines, f'{"give a learner":<{width}}p={self.p:g}, noise="persistent"'])


@shows_progress("auditing")
def audit(
    judge: Any,
    gold: Any,
    n_questions: int | None = None,
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Audit:
    """Ask a judge questions with known answers, and return how often it is right.

    Parameters
    ----------
    judge
        The judge. Its attribute `p` is set to `Audit.p`, the probability of a right answer that
        `ordhc.learn` then uses.
    gold
        The right answers: `Triplets`, a file of triplets, or (m, 3) leaf ids. Or a tree, in any form that
        `ordhc.as_dendrogram` takes, from which questions are drawn. Leaves with names are matched by name.
        In a tree with branch lengths, such as `Posterior.tree`, the two leaves that merge first need not have
        the shortest path between them. Only questions in which they have the shortest path are drawn.
    n_questions
        The number of questions; by default all questions for answers, and 300 for a tree. From a tree, about
        the same number of questions is drawn for each distance of the odd one out (`Audit.by_distance`), so
        that easy questions, with a large distance, do not dominate.
    seed
        The seed of the random draw of questions.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Audit
        The shares; `print` shows them as a table.

    Raises
    ------
    InputError
        `gold` has no question with a clear odd one out, or has items that the judge does not have.

    Examples
    --------
    >>> import ordhc_judge
    >>> from ordhc_judge.testing import serve
    >>> items = ["cat", "dog", "bus", "car"]
    >>> with serve("((0,1),(2,3));", items) as server:
    ...     with ordhc_judge.Judge(server.url, "model", items, rpm=None) as judge:
    ...         print(judge.audit("((cat,dog),(bus,car));").accuracy)
    100.0 % [51.0, 100.0] of 4
    """
    callback = progress if callable(progress) else None
    random = np.random.default_rng(seed)
    rows, tree = _gold(gold)
    leaves = _leaves(judge, tree)
    if rows is None:
        rows = _draw(tree, _FROM_TREE if n_questions is None else n_questions, random)
    elif n_questions is not None and n_questions < len(rows):
        rows = rows[np.sort(random.choice(len(rows), n_questions, replace=False))]
    if not len(rows):
        raise InputError(
            "gold has no question with a clear odd one out: give triplets without ties, or a tree with a"
            " cluster of two or more leaves besides the root"
        )
    steps = _distances(tree, rows)
    answers, single = judge.replies(leaves[rows], callback)
    right, decided = answers == 2, answers >= 0
    full = (single.said > -2).all(axis=1)
    agreed = full & (single.said == single.said[:, :1]).all(axis=1)
    by_distance = {
        name: _share(right, inside)
        for name, low, high in _DISTANCE_GROUPS
        if (inside := (steps >= low) & (steps <= high)).any()
    }
    replied = single.said > -2
    odd_at = single.places[:, :, 2]
    by_place = {
        place: _share(single.said == 2, shown)
        for place in (1, 2, 3)
        if (shown := replied & (odd_at == place)).any()
    }
    named_at = np.where(
        single.said >= 0,
        np.take_along_axis(single.places, np.maximum(single.said, 0)[..., None], 2)[..., 0],
        0,
    )
    every = np.ones(len(rows), dtype=bool)
    found = Audit(
        _share(right, every),
        _share(decided, every),
        _share(right, decided),
        _share(agreed, full),
        by_distance,
        by_place,
        {place: _share(named_at == place, replied) for place in (1, 2, 3)},
    )
    judge.p = found.p
    return found


def _share(holds: Any, among: Any) -> Share:
    return Share(int((holds & among).sum()), int(among.sum()))


def read_gold(path: str | os.PathLike[str]) -> ordhc.Dendrogram | ordhc.Triplets | ordhc.Quadruplets:
    return ordhc.read_tree(path) if suffix_of(path, ONLY_TREES) else ordhc.read_answers(path)


def _gold(gold: Any) -> tuple[NDArray[np.int64] | None, ordhc.Dendrogram]:
    """Return the questions in `gold` as (m, 3) leaves with the odd one out last, and a tree.

    If `gold` is a tree, the questions are None. If `gold` has answers, the tree is made from these answers.
    """
    if isinstance(gold, str | os.PathLike) and not str(gold).lstrip().startswith("("):
        gold = read_gold(gold)
    if isinstance(gold, np.ndarray | list | tuple) and np.ndim(gold) == 2 and np.shape(gold)[1] == 3:
        gold = ordhc.Triplets(gold)
    if not isinstance(gold, ordhc.Triplets):
        return None, ordhc.as_dendrogram(gold)
    if not len(gold):
        raise InputError("gold has no answers: give at least one triplet")
    with warnings.catch_warnings():
        # Ignore the warning about few answers: this tree only serves to group questions by their distance.
        warnings.simplefilter("ignore", OrdhcWarning)
        tree = ordhc.cluster(gold)
    return _majorities(gold), tree


def _majorities(gold: ordhc.Triplets) -> NDArray[np.int64]:
    """Return each question once, with its most frequent odd one out last; drop questions with ties."""
    weights = np.ones(len(gold)) if gold.weights is None else gold.weights
    votes: dict[tuple[int, ...], dict[int, float]] = {}
    for (a, b, c), weight in zip(gold.rows.tolist(), weights.tolist(), strict=True):
        said = votes.setdefault(tuple(sorted((a, b, c))), {})
        said[c] = said.get(c, 0.0) + weight
    rows = []
    for three, said in votes.items():
        best = max(said.values())
        odd = [leaf for leaf, weight in said.items() if weight == best]
        if len(odd) == 1 and best > 0:
            rows.append([*(leaf for leaf in three if leaf != odd[0]), odd[0]])
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _leaves(judge: Any, tree: ordhc.Dendrogram) -> NDArray[np.int64]:
    if tree.names is not None:
        return np.array(judge.leaves_of(tree.names), dtype=np.int64)
    if tree.n_leaves > judge.n_leaves:
        raise InputError(
            f"the gold tree has {tree.n_leaves:,} leaves without names, but the judge has only "
            f"{judge.n_leaves:,} items: leaf 0 must be item 0, and so on"
        )
    return np.arange(tree.n_leaves)


def _draw(tree: ordhc.Dendrogram, n: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return at most `n` random questions whose answer the tree decides, with the odd one out last."""
    if tree.n_leaves < 3:
        return np.zeros((0, 3), dtype=np.int64)
    rows = random.integers(0, tree.n_leaves, (max(20 * n, 1000), 3))
    rows = np.unique(np.sort(rows, axis=1), axis=0)
    rows = random.permutation(rows[(np.diff(rows, axis=1) > 0).all(axis=1)])
    odd = ordhc.oracles.from_tree(tree)(rows)
    keep = odd >= 0
    if tree.scale == "lengths" and not np.isnan(tree.lengths[:-1]).any():
        keep &= odd == ordhc.oracles.from_similarity(-tree.patristic(square=True))(rows)
    rows, odd = rows[keep], odd[keep].astype(np.int64)
    at = np.arange(len(rows))
    rows = np.stack([rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]], axis=1)
    steps = _distances(tree, rows)
    groups = [np.flatnonzero((steps >= low) & (steps <= high)) for _, low, high in _DISTANCE_GROUPS]
    # Take one question of each group of distances in turn, so that each group has about the same number.
    turns = np.concatenate([np.arange(len(group)) for group in groups]) if len(rows) else np.zeros(0)
    order = (
        np.concatenate(groups)[np.argsort(turns, kind="stable")] if len(rows) else np.zeros(0, dtype=np.int64)
    )
    return rows[np.sort(order[:n])]


def _distances(tree: ordhc.Dendrogram, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each question the distance of the third leaf from the other two, in edges of the tree.

    The distance is the number of edges from the node where the first two leaves merge up to the node where
    the third leaf joins them. The distance is 0 if the first two leaves are not the closest pair.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    above = {leaf: _ancestors(tree, leaf) for leaf in np.unique(rows).tolist()}
    found = np.zeros(len(rows), dtype=np.int64)
    for at, (a, b, c) in enumerate(rows.tolist()):
        near, far = (next(step for step, label in enumerate(above[a]) if label in above[x]) for x in (b, c))
        found[at] = max(0, far - near)
    return found


def _ancestors(tree: ordhc.Dendrogram, leaf: int) -> dict[int, None]:
    node: Node | None = tree.node(leaf)
    labels: dict[int, None] = {}
    while node is not None:
        labels[node.label] = None
        node = node.parent
    return labels
