"""Draw trees from the posterior distribution given noisy answers, and summarize them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc.clustering.answer_scores import AnswerScores, answer_scores, tables_of_chains
from ordhc.clustering.answering import Crowd, chances_of, simulated, unknown_text, with_own_noise
from ordhc.clustering.cluster import of_answered
from ordhc.clustering.cost import warn_of_cost
from ordhc.clustering.expected import CORRELATED, Expected, Predicted, expected_of, heights_of_pairs
from ordhc.clustering.mixing import Mixing, mixing_of, unsure_clusters, warn_unmixed
from ordhc.clustering.plan import Plan, fast_method
from ordhc.clustering.repeats import REPEATS, Repeats, repeats_of
from ordhc.clustering.sampling import (
    CHAINS,
    numbers_of_answers,
    people_of,
    seconds_of,
    square,
    sweeps_for,
    with_groups,
)
from ordhc.clustering.unanswered import unanswered_text
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.choices import Choices, Kind
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.scale import in_units
from ordhc.comparison.units import UNITS
from ordhc.errors import InputError, warn
from ordhc.tree.consensus import consensus
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine, replaced
from ordhc.tree.settings import made_by

__all__ = ["Mixing", "Posterior", "drawn_posterior", "posterior"]

#: Number of drawn trees that a posterior stores, over all chains.
_KEPT = 200
#: Measured memory of `posterior` in bytes, for each comparison (with four chains) and each pair of leaves.
_BYTES_OF_ROW, _BYTES_OF_PAIR = 350, 32


class Posterior:
    """Trees drawn from the posterior distribution, as `ordhc.posterior` returns them.

    Attributes
    ----------
    dendrogram
        One tree that summarizes all drawn trees, with heights and with `support`. `ordhc.cluster` returns the
        same tree. `tree` is the same tree with lengths of edges. Use `dendrogram` for flat clusters
        (``dendrogram.cut(4)``) and for SciPy. To compute it, the drawn trees predict the answers to all
        triplets. Average linkage of the AddS3 similarity of these answers gives a first tree, and moves of
        subtrees raise its expected revenue. The height of a merge is the mean correlation between the rows of
        `similarity`, over the pairs of leaves that the merge joins. Above 3,000 leaves the dendrogram is
        average linkage of `similarity`.
    noise_by_group
        The `noise` of each person (or other group), by name or number. 0.5 means random answers. Estimates
        are shrunken towards the mean, more so for people with few answers: a person who answers at random
        among careful people may have .36. Empty if people are unknown or share the noise.
    heldout
        How well held-out answers are predicted, with an interval. Only set by `Session.posterior`; None if no
        answers are held out.
    notes
        Messages about unusual answers and how they were counted. `ordhc.posterior` also gives each as a
        warning.
    """

    dendrogram: Dendrogram
    noise_by_group: dict[str | int, float]
    heldout: Predicted | None = None
    notes: tuple[str, ...] = ()

    def __init__(
        self, samples: _ordhc.Samples, order: NDArray[np.int64], names: Any, burn_in: int, start: _ordhc.Tree
    ) -> None:
        self._samples = samples
        self._order = order
        self._names = names
        self._burn_in = burn_in
        self.noise_by_group = {}
        self._groups: Any = (None, None)
        self._how: dict[str, Any] = {}
        lengths = samples.lengths()
        self._lengths = lengths[:, np.argsort(order)] if lengths.size else lengths
        self._best = samples.summary() if len(samples) else start
        support = samples.support(self._best) if len(samples) else np.ones(self._best.n_nodes - len(order))
        self.dendrogram = self._tree_of(self._best, support)

    def _tree_of(
        self,
        tree: _ordhc.Tree,
        support: NDArray[np.float64] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Dendrogram:
        """Return a tree of the chains as a dendrogram, with the numbers and names of the caller's leaves."""
        return from_engine(tree.relabel(self._order), self._names, support, settings)

    @cached_property
    def tree(self) -> Dendrogram:
        """The `dendrogram` with lengths of edges (an additive tree); for `lengths=False` the `dendrogram`.

        The path between two leaves has about the mean length of this path in the drawn trees. If the paths of
        two pairs of leaves differ in length by 1, the odds that a person calls the pair with the shorter path
        closer are e = 2.7 to 1 (without noise). A constant that is added to the lengths of the edges of all
        leaves does not change the probabilities of answers. The constant is chosen so that the shortest edge
        of a leaf has length 0.
        ``tree.contract(min_support=0.5)`` removes clusters that are less likely than not.
        """
        if not self._lengths.size:
            return self.dendrogram
        additive = self._samples.additive(self._best)
        return self._tree_of(additive, self.dendrogram.support, self.dendrogram.settings)

    @property
    def support(self) -> NDArray[np.float64]:
        """The share of the drawn trees that contain each cluster of `tree`, (n_nodes - n,)."""
        support = self.dendrogram.support
        return np.zeros(0) if support is None else support

    @property
    def lengths(self) -> NDArray[np.float64] | None:
        """The mean length of each leaf, (n,), which is large for untypical leaves; None for `lengths=False`.

        The distance of two leaves is the length of one leaf, plus the length of the other leaf, minus their
        `similarity`. A leaf of large length is therefore far from all other leaves. Answers depend only on
        differences of lengths, so the lengths are shifted to have mean 0.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(500, levels=2, leaves_per_cluster=4, seed=1)
        >>> p = ordhc.posterior(t, sweeps=20)
        >>> p.lengths.shape, p.tree.scale, p.dendrogram.scale
        ((16,), 'lengths', 'heights')
        """
        if not self._how.get("lengths"):
            return None
        return self._lengths.mean(axis=0) if self._lengths.size else np.zeros(self.dendrogram.n_leaves)

    @property
    def lengths_interval(self) -> NDArray[np.float64] | None:
        """The 95% credible interval of each value of `lengths`, (n, 2); None for `lengths=False`."""
        if not self._how.get("lengths"):
            return None
        if not self._lengths.size:
            return np.zeros((self.dendrogram.n_leaves, 2))
        return np.quantile(self._lengths, (0.025, 0.975), axis=0).T

    @cached_property
    def similarity(self) -> NDArray[np.float64]:
        """The mean height of the lowest common ancestor of each pair of leaves, (n, n); larger is closer.

        The root has height 0. Each diagonal value is the largest other value of its row.
        """
        S = square(self._samples, self.dendrogram.n_leaves)
        rank = np.argsort(self._order)
        return np.ascontiguousarray(S[np.ix_(rank, rank)])

    @cached_property
    def trees(self) -> tuple[Dendrogram, ...]:
        """The drawn trees, chain after chain; nodes may have more than two children.

        The heights are similarities: larger is closer. With `lengths=False`, answers depend on these heights
        alone. If the heights at which two pairs of leaves join differ by 1, the odds that a person calls the
        more similar pair closer are e = 2.7 to 1 (without noise). With `lengths=True`, answers depend on
        distances: the length of one leaf, plus the length of the other leaf, minus the height at which the
        leaves join.
        """
        return tuple(self._tree_of(self._samples.tree(at)) for at in range(len(self._samples)))

    @cached_property
    def consensus(self) -> Dendrogram:
        """The tree of all clusters that more than half of the drawn trees contain, with mean heights."""
        return consensus(self.trees) if len(self._samples) else self.dendrogram

    @property
    def n_trees(self) -> int:
        """The number of drawn trees, over all chains; 0 with fewer than three leaves."""
        return len(self._samples)

    @property
    def noise(self) -> float:
        """Half of the share of answers that are random, averaged over sweeps; NaN without drawn trees."""
        return float(np.mean([chain[:, 1] for chain in self._states()])) if self.n_trees else float("nan")

    @cached_property
    def diagnostics(self) -> Mixing:
        """Split R-hat and effective sample sizes, and the values of each chain after each sweep."""
        has_clusters = unsure_clusters(self.dendrogram, self.trees)
        return mixing_of(self._states(), has_clusters, has_lengths=bool(self._lengths.size))

    def _states(self) -> list[NDArray[np.float64]]:
        return [chain[self._burn_in :] for chain in self._samples.states()]

    @cached_property
    def expected(self) -> Expected:
        """The expected accuracy of `tree`, where each drawn tree is equally likely to be the true tree.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(500, levels=2, leaves_per_cluster=3, seed=1)
        >>> p = ordhc.posterior(t)
        >>> 0.5 < p.expected.low <= p.expected.accuracy <= p.expected.high <= 1
        True
        """
        by_correlation = bool(len(self._samples)) and self.dendrogram.n_leaves <= CORRELATED
        truths = self.trees or (self.dendrogram,)
        return expected_of(self.dendrogram, truths, by_correlation=by_correlation)

    @shows_progress("forecasting")
    def forecast(
        self,
        data: Triplets | Quadruplets,
        more: int,
        *,
        repeats: int = 8,
        seed: int = 0,
        progress: Progress | bool | None = None,
    ) -> Expected:
        """Return the expected accuracy of the tree after more answers.

        The forecast repeats a simulation `repeats` times. Each simulation assumes that one of the drawn trees
        is true, simulates its answers to random questions, and draws trees given `data` and the simulated
        answers. The result is the mean of their `expected`. Each simulation takes as long as
        `ordhc.posterior` with all answers. If `ordhc.learners.Uncertain` chooses the questions, fewer answers
        reach the same accuracy.

        Parameters
        ----------
        data
            The comparisons that the trees were drawn from. If people are known, the same people give the new
            answers. Each person keeps their noise and their share of the answers.
        more
            The number of additional answers for each leaf.
        repeats
            The number of simulations, and of drawn trees that are assumed to be true.
        seed
            The seed of the simulations.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        Expected
            The mean of the expected accuracies.

        Raises
        ------
        InputError
            Comparisons of other leaves; `more` or `repeats` below 1.
        """
        more = _checks.whole("more", more, at_least=1, at_most=1_000_000)
        repeats = _checks.whole("repeats", repeats, at_least=1, at_most=1_000)
        seed = _checks.seed(seed)
        n = self.dendrogram.n_leaves
        _check_kind("forecast", data)
        if data.n_leaves != n:
            raise InputError(f"the trees have {n} leaves, the comparisons have {data.n_leaves}")
        if not self.trees:
            return self.expected
        progress = _checks.callback("progress", progress)
        groups, names = self._groups
        if groups is None or len(groups) == len(data):
            data = changed(data, groups=groups, group_names=names)
        crowd = Crowd.of(data, self.noise, self.noise_by_group)
        found = []
        for done, at in enumerate(np.linspace(0, len(self.trees) - 1, repeats).astype(int).tolist()):
            closeness = heights_of_pairs(self.trees[at])
            if self._lengths.size:
                closeness = closeness - self._lengths[at] - self._lengths[at][:, None]
            answers = simulated(closeness, crowd, more * n, data, seed + at)
            told = part(progress, done / repeats, (done + 1) / repeats)
            found.append(drawn_posterior(answers, seed=seed, progress=told, **self._how)[0].expected)
        return Expected.mean(found)

    def predict(
        self, comparisons: Triplets | Quadruplets | ArrayLike, *, of: str = "answer"
    ) -> NDArray[np.float64]:
        """Return the probability of each comparison.

        Parameters
        ----------
        comparisons
            `Triplets`, `Quadruplets`, or rows of leaf ids. Leaves are matched by name if the comparisons and
            the trees have names.
        of
            "answer" (the default): the probability that a person gives this answer, noise included. "tree":
            the probability that the true tree agrees with the comparison, if the true tree does not join both
            pairs at the same height.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities. The probabilities of a comparison and of its opposite have the sum 1.

        Raises
        ------
        InputError
            Leaves that the trees lack.

        Examples
        --------
        >>> import ordhc
        >>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "car"), ("cat", "dog", "car")])
        >>> p = ordhc.posterior(t)
        >>> asked = p.predict(ordhc.Triplets([("cat", "dog", "car"), ("cat", "car", "dog")]))
        >>> bool(asked[0] > 0.5), round(float(asked.sum()), 9)
        (True, 1.0)
        """
        of = _checks.choice("of", of, ("answer", "tree"))
        data = self._fitting(comparisons)
        return self._samples.predict(data, of == "tree") if len(data) else np.zeros(0)

    def predict_answers(self, data: Triplets | Quadruplets) -> NDArray[np.float64]:
        """Return the probability of each answer, where an answer can consist of several rows.

        Parameters
        ----------
        data
            Answers. Rows with the same number in `answers` are one answer.

        Returns
        -------
        ndarray of shape (m,)
            For each row, the probability of the answer that the row belongs to, noise included.

        Raises
        ------
        InputError
            `data` are neither `Triplets` nor `Quadruplets`; leaves that the trees lack.

        Examples
        --------
        >>> import ordhc
        >>> t = ordhc.Triplets.from_odd_one_out([("car", "cat", "dog")] * 9)
        >>> bool(ordhc.posterior(t).predict_answers(t)[0] > 1 / 3)
        True
        """
        _check_kind("predict_answers", data)
        if (numbers := numbers_of_answers(data)) is None:
            return self.predict(data)
        return self._samples.predict_answers(self._fitting(data), numbers)

    def score_answers(self, data: Triplets | Quadruplets) -> AnswerScores:
        """Return how well the trees predict answers, for each kind of answer (such as odd one out).

        Parameters
        ----------
        data
            Answers that the trees were not drawn from. Rows with the same number in `answers` are one answer.

        Returns
        -------
        AnswerScores
            `accuracy` and `log_loss` over all answers, and `by_kind` for each kind of answer, each compared
            with chance. If more than 720 answers are possible (long rankings), a ranking is compared only
            with rankings in which two adjacent ranks are exchanged. The ranking counts as the most likely if
            none of these is more likely.

        Raises
        ------
        InputError
            Leaves that the trees lack; no answers of positive weight.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(1000, levels=2, leaves_per_cluster=4, seed=1)
        >>> train, test = t.split(0.8)
        >>> found = ordhc.posterior(train).score_answers(test)
        >>> found.total.chance, found.accuracy > 0.6, found.log_loss < 0.69
        (0.5, True, True)
        """
        _check_kind("score_answers", data)
        return answer_scores(Choices.of(data), self.answer_tables(data))

    def answer_tables(self, data: Triplets | Quadruplets) -> Callable[[Kind], NDArray[np.float64]]:
        """Return a function that gives the probabilities of all possible answers to the questions in `data`.

        The function takes a kind of answer, one of `ordhc.comparison.choices.Choices.of(data).kinds`. It
        returns an (a, K) array: for each of the a questions of this kind, the probabilities of the K possible
        answers, with the given answer first.
        """
        # The chains number leaves in another order: `place` maps the leaves of `data` to these numbers.
        place = np.zeros(max(data.n_leaves, self.dendrogram.n_leaves), dtype=np.int32)
        place[data.rows] = self._fitting(data)
        return tables_of_chains(self._samples, place)

    def accuracy(self, data: Triplets | Quadruplets) -> float:
        """Return the share of answers that the trees predict as the most likely; see `score_answers`."""
        return self.score_answers(data).accuracy

    def log_loss(self, data: Triplets | Quadruplets) -> float:
        """Return the mean negative log of the predicted probability of an answer, in nats."""
        return self.score_answers(data).log_loss

    def _fitting(self, comparisons: Any) -> NDArray[np.int32]:
        n = self.dendrogram.n_leaves
        if not isinstance(comparisons, Triplets | Quadruplets):
            table = _checks.whole_numbers("comparisons", comparisons)
            if table.ndim != 2 or table.shape[1] not in (3, 4):
                raise InputError(f"comparisons have shape {table.shape}; (m, 3) or (m, 4) is needed")
            comparisons = (Triplets if table.shape[1] == 3 else Quadruplets)(table, n_leaves=n)
        rows = comparisons.rows.astype(np.int64)
        theirs, mine = comparisons.names, self._names
        if theirs is not None and mine is not None:
            number = {name: at for at, name in enumerate(mine)}
            for name in theirs:
                if name not in number:
                    raise InputError(f"the trees have no leaf {_checks.quoted(name)}")
            rows = np.array([number[name] for name in theirs], dtype=np.int64)[rows]
        elif comparisons.n_leaves != n:
            raise InputError(f"the trees have {n} leaves, the comparisons have {comparisons.n_leaves}")
        return np.ascontiguousarray(np.argsort(self._order).astype(np.int32)[rows])

    def __repr__(self) -> str:
        sure = int((self.support[:-1] >= 0.5).sum())
        inner = max(0, self.dendrogram.n_leaves - 2)
        return f"<Posterior: {self.n_trees} trees, {sure} of {inner} clusters in at least half of them>"


@shows_progress("drawing trees")
def posterior(
    data: Triplets | Quadruplets,
    *,
    chains: int = CHAINS,
    sweeps: int | None = None,
    burn_in: int | None = None,
    seed: int = 0,
    group: ArrayLike | None = None,
    unit: str | None = None,
    lengths: bool = True,
    repeats: str | None = None,
    progress: Progress | bool | None = None,
) -> Posterior:
    """Draw trees from the posterior distribution given answers, some of which may be wrong.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`. An answer of weight w counts w times. Rows with the same number in
        `answers` are one answer: an odd one out, a most central item, a ranking, a choice of several items,
        or best and worst. `Triplets.from_odd_one_out` and similar constructors set `answers`.
    chains
        The number of Markov chains, 4 by default, which run in parallel. They start at the tree by
        AddS similarities (see `ordhc.similarity`), improved by moves of subtrees. With triplets, every second
        chain starts at another tree that satisfies many of the triplets, which is made by an ordinal
        embedding.
    sweeps
        The number of sweeps of each chain; one sweep moves every leaf once. The default is 80 for 14,400
        comparisons or more, and up to 300 for fewer comparisons.
    burn_in
        The number of sweeps to discard at the beginning of each chain; by default a third of `sweeps`.
    seed
        The seed of the random numbers. The same seed gives the same trees, for any number of cores, numbering
        of leaves and order of rows.
    group
        (m,) the id or name of the person who gave the answer of each row, instead of the groups of `data`.
        Each person has a noise level.
    unit
        "group": each group of `data` has a noise level; this is the default if `data` has several groups.
        "answer": all answers have the same noise level, even if people are known.
    lengths
        True, the default, estimates a length of each leaf, so that trees are additive (Sattath and Tversky
        1977, "Additive similarity trees"). A leaf with a long edge is dissimilar to all others. False: all
        leaves have the same distance from the root (an ultrametric tree). Real answers need lengths: for the
        data set Car, the share of held-out triplets predicted correctly is .82 with lengths and .73 without.
        If the true tree is ultrametric, estimating lengths causes no measurable loss.
    repeats
        "new": all answers of a person to the same question count. "same": they count as one answer. By
        default "same" if repeated answers change much less often than the noise in the other answers
        suggests, otherwise "new". A warning and `notes` report the choice of "same".
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Posterior
        The `tree` with its `support`, probabilities of answers (`predict`), the `similarity` of leaves, the
        drawn `trees`, their `consensus`, and `diagnostics`.

    Warns
    -----
    OrdhcWarning
        Before the work begins: an estimate of more than 30 seconds of processor time.
    OrdhcWarning
        Leaves without answers of positive weight, whose position in the trees is random; answers of several
        rows that are of no known kind; repeated answers that count as one; an R-hat above 1.1.

    Raises
    ------
    InputError
        `data` are neither `Triplets` nor `Quadruplets`; no chains or sweeps; a burn-in that leaves no sweep;
        groups of another length; an unknown `unit` or `repeats`.

    Notes
    -----
    The answer "pair p is closer than pair q" has the probability e + (1 - 2 e) / (1 + exp(h(q) - h(p))). Here
    h is the height of a pair's lowest common ancestor, and e is the noise, which is estimated (for each
    person, if people are known). With lengths l of leaves, h(a, b) is replaced by h(a, b) - l(a) - l(b), the
    negative length of the path between a and b. By Farris's transform every additive tree with a root is an
    ultrametric tree together with a length for each leaf. Lengths have a normal prior, whose standard
    deviation is estimated. Answers depend on the lengths of paths only, which do not determine the root. The
    prior prefers a root for which lengths differ little and the steps between heights are similar.

    Answers of several rows are choices among pairs of leaves, with probabilities in proportion to exp(h)
    (Luce 1959, "Individual choice behavior"). A share 2 e of answers is random. The kinds of answers are:

    * Odd one out of three: the pair of the other two is chosen.
    * Ranking: each pair is chosen from the pairs that remain.
    * k of several, without an order: the probability is the sum over all orders of the k chosen pairs. If
      only one pair is left out, that pair is chosen as the farthest, in proportion to exp(-h). The most
      central of three therefore has the smallest sum of paths to the other two.
    * Best and worst: the worst is chosen as the farthest of the pairs that remain after the best.

    Nodes can have any number of children. The prior of the number of nodes, of the balance of trees and of
    the differences of heights between nodes has parameters that are estimated, too. In each sweep, a chain
    cuts off every leaf and subtree in turn, and puts it back at a position drawn from the posterior
    probabilities of all positions. The time of a sweep is in proportion to the number of answers times the
    depth of the tree.

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.datasets.planted(800, levels=2, leaves_per_cluster=4, sigma=0.05)
    >>> p = ordhc.posterior(t)
    >>> p.tree.n_leaves, len(p.trees), ordhc.score(p.tree, labels, metric="aari") > 0.9
    (16, 200, True)
    """
    progress = _checks.callback("progress", progress)
    if isinstance(data, Triplets | Quadruplets):
        m = len(data)
        seconds = seconds_of(data, *_checked_length(chains, sweeps))
        memory = _BYTES_OF_ROW * m + _BYTES_OF_PAIR * data.n_leaves**2
        remedy = "fewer sweeps= or chains= take less time, and cluster(method='adds3-al') less of both"
        warn_of_cost("posterior", data, seconds, remedy, memory=memory)
    found, unanswered = drawn_posterior(
        data, chains, sweeps, burn_in, seed, progress, group, unit, lengths, repeats
    )
    for note in found.notes:
        warn(note)
    if len(unanswered):
        warn(unanswered_text(found.dendrogram, unanswered, "at random positions"))
    return found


def drawn_posterior(
    data: Triplets | Quadruplets,
    chains: int = CHAINS,
    sweeps: int | None = None,
    burn_in: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    group: ArrayLike | None = None,
    unit: str | None = None,
    lengths: bool = True,
    repeats: str | None = None,
) -> tuple[Posterior, NDArray[np.int64]]:
    """Return the posterior, and the leaves without answers.

    The parameters are those of `posterior`. The only warning of this function is that chains have not mixed.
    The caller gives the other warnings of `posterior`.
    """
    _check_kind("posterior", data)
    chains, sweeps = _checked_length(chains, sweeps)
    seed = _checks.seed(seed)
    lengths = _checks.flag("lengths", lengths)
    sweeps = sweeps_for(len(data.rows)) if sweeps is None else sweeps
    burn_in = sweeps // 3 if burn_in is None else _checks.whole("burn_in", burn_in, at_least=0)
    if burn_in >= sweeps:
        raise InputError(f"burn_in = {burn_in} must be less than sweeps = {sweeps}")
    if unit is not None:
        unit = _checks.choice("unit", unit, UNITS)
    if repeats is not None:
        repeats = _checks.choice("repeats", repeats, REPEATS)
    how = (chains, sweeps, burn_in, _KEPT, seed, lengths)
    given = with_groups(data, group, unit)
    again = repeats_of(data if unit == "answer" else given) if repeats != "new" else None
    are_same = again is not None and (repeats == "same" or again.look_the_same)
    found, note = None, None
    if again is not None and are_same:
        is_tried = repeats is None
        weights = again.shares if given.weights is None else given.weights * again.shares
        once = changed(given, weights=weights)
        found, unanswered = _sampled(once, how, part(progress, 0, 0.5 if is_tried else 1))
        if is_tried:
            note = _note_of(found, again, given)
            found = found if note else None
    if found is None:
        found, unanswered = _sampled(given, how, part(progress, 0.5, 1) if are_same else progress)
        are_same = False
    found.notes += (note,) if note else ()
    found._how = {"lengths": lengths, "repeats": "same" if are_same else "new"}
    parameters: dict[str, Any] = {"chains": chains, "sweeps": sweeps, "seed": seed, "lengths": lengths}
    if are_same:
        parameters["repeats"] = "same"
    settings = made_by(method="posterior-al", linkage="posterior-al", linkage_parameters=parameters)
    found.dendrogram = replaced(found.dendrogram, settings=settings)
    warn_unmixed(found._states())
    if progress is not None:
        progress(1.0)
    return found, unanswered


def _check_kind(what: str, data: Any) -> None:
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"{what} takes Triplets or Quadruplets, not {type(data).__name__}")


def _checked_length(chains: Any, sweeps: Any) -> tuple[int, int | None]:
    chains = _checks.whole("chains", chains, at_least=1, at_most=1_000)
    return chains, None if sweeps is None else _checks.whole("sweeps", sweeps, at_least=1, at_most=1_000_000)


def _sampled(
    data: Triplets | Quadruplets, how: tuple[Any, ...], progress: Progress | None
) -> tuple[Posterior, NDArray[np.int64]]:
    """Return the posterior of weighted answers, and the leaves without answers.

    `how` has the settings of the chains, in the order of `_ordhc.sample`.
    """
    order = canonical_order(data)
    fitting = in_order(data, order)
    plan = Plan.of(data, method=fast_method(data))
    beginning, told = part(progress, 0, 0.1), part(progress, 0.1, 0.9)
    start, unanswered = of_answered(plan, in_units(fitting)[0], progress=beginning)
    known = people_of(fitting)
    people = None if known is None else known[1]
    if known is not None:
        fitting = fitting[known[0]]
    rows, weights, answers = fitting.rows, fitting.weights, numbers_of_answers(fitting)
    samples = _ordhc.sample(rows, weights, answers, people, engine_tree(start), how, told)
    found = Posterior(samples, order, data.names, how[2], engine_tree(start))
    if known is not None and len(samples):
        found._groups = (data.groups, data.group_names)
        found.noise_by_group = dict(zip(known[2], samples.noise_by_person().tolist(), strict=True))
    if samples.n_unknown():
        found.notes = (unknown_text(samples.n_unknown()),)
    return found, np.sort(order[unanswered])


def _note_of(found: Posterior, again: Repeats, data: Triplets | Quadruplets) -> str | None:
    if not found.n_trees:
        return None
    numbers = numbers_of_answers(data)
    likely = found.predict_answers(data)[again.repeats]
    chance = np.full(len(likely), 0.5) if numbers is None else chances_of(data, numbers, again.repeats)
    if data.groups is not None and found.noise_by_group:
        likely = with_own_noise(likely, chance, data, again.repeats, found.noise_by_group)
    return again.note(likely)
