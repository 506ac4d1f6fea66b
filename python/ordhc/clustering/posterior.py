"""Trees by how likely they are, given noisy answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc.clustering.answering import Crowd, chances_of, simulated, unknown_text, with_own_noise
from ordhc.clustering.cluster import fit
from ordhc.clustering.cost import foretell_cost
from ordhc.clustering.expected import CORRELATED, Expected, Predicted, expected_of, heights_of_pairs
from ordhc.clustering.foretold import Foretold, foretold, tables_of_chains
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
from ordhc.comparison.units import UNITS
from ordhc.errors import InputError, warn
from ordhc.tree.consensus import consensus
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree, from_engine
from ordhc.tree.settings import made_by

__all__ = ["Mixing", "Posterior", "drawn_posterior", "posterior"]

#: Trees that are kept, of all chains together.
_KEPT = 200
#: Bytes that a posterior takes for a comparison (four chains), and for a pair of leaves; measured.
_BYTES_OF_ROW, _BYTES_OF_PAIR = 350, 32


class Posterior:
    """Trees drawn from the posterior; what `posterior` gives.

    Attributes
    ----------
    dendrogram
        One tree that stands for all, with `support` and heights, as `ordhc.cluster` gives it; `tree` is the
        same with lengths. Use it for flat clusters (``dendrogram.cut(4)``) and for SciPy. Average linkage
        clusters the AddS3 similarity of all triplets, each answered by the trees that were drawn; then moves
        of subtrees raise the expected revenue. The height of a merge is the mean correlation of the rows of
        `similarity`, over the pairs of leaves that it joins. Above 3,000 leaves it is average linkage of
        `similarity`.
    noise_by_group
        Where people (or other groups) are known: the `noise` of each, by name or number. 0.5 is a coin.
        Each noise is shrunken towards the others, more so for people with few answers: a person who flips
        coins among careful people may get .36. Empty if all people share the noise.
    heldout
        Of `Session.posterior`: how well answers are predicted that were held out, with an interval; None if
        there are none.
    notes
        What was found in the answers, and how they were counted because of it. `ordhc.posterior` warns of
        each.
    """

    dendrogram: Dendrogram
    noise_by_group: dict[str | int, float]
    heldout: Predicted | None = None
    notes: tuple[str, ...] = ()

    def __init__(
        self, samples: _ordhc.Samples, order: NDArray[np.int64], names: Any, burn_in: int, start: Dendrogram
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
        self._best = from_engine(samples.summary()) if len(samples) else start
        support = np.ones(len(self._best.sizes))
        support = samples.support(engine_tree(self._best)) if len(samples) else support
        self.dendrogram = self._best.replace(support=support).relabel(order).replace(names=names)

    @cached_property
    def tree(self) -> Dendrogram:
        """The `dendrogram` with lengths of edges: an additive tree; without lengths the `dendrogram` itself.

        The path between two leaves is as long as it is on average in the trees that were drawn. The unit is
        that of the model: a difference of 1 makes the odds of an answer e = 2.7 to 1. Answers leave open by
        how much the edges of all leaves are longer together; here the shortest one is 0.
        ``tree.contract(min_support=0.5)`` has nodes of many children where clusters are less likely than not.
        """
        if not self._lengths.size:
            return self.dendrogram
        additive = from_engine(self._samples.additive(engine_tree(self._best)))
        return additive.relabel(self._order).replace(
            names=self._names, support=self.support, settings=self.dendrogram.settings
        )

    @property
    def support(self) -> NDArray[np.float64]:
        """The share of the trees that have each cluster of `tree`, (n_nodes - n,)."""
        support = self.dendrogram.support
        return np.zeros(0) if support is None else support

    @property
    def lengths(self) -> NDArray[np.float64] | None:
        """How untypical each leaf is: its mean length, (n,); None without lengths.

        The path between two leaves is as long as both lengths together, less the height of their lowest
        common ancestor (`similarity`). A long leaf is unlike all others, a short one is typical. Answers
        depend on differences of lengths only, so that their mean is put at 0.

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
        """Between which lengths each leaf's is with a probability of 0.95, (n, 2); None without lengths."""
        if not self._how.get("lengths"):
            return None
        if not self._lengths.size:
            return np.zeros((self.dendrogram.n_leaves, 2))
        return np.quantile(self._lengths, (0.025, 0.975), axis=0).T

    @cached_property
    def similarity(self) -> NDArray[np.float64]:
        """The mean height of the lowest common ancestor, (n, n); larger is closer.

        The root has height 0; a leaf is as close to itself as to its closest other one.
        """
        S = square(self._samples, self.dendrogram.n_leaves)
        rank = np.argsort(self._order)
        return np.ascontiguousarray(S[np.ix_(rank, rank)])

    @cached_property
    def trees(self) -> tuple[Dendrogram, ...]:
        """The trees, chain after chain; their nodes may have more than two children.

        Their heights are those of the model, as similarities. With lengths, the path between two leaves is as
        long as the lengths of both, less the height at which they join.
        """
        drawn = (from_engine(self._samples.tree(at)) for at in range(len(self._samples)))
        return tuple(tree.relabel(self._order).replace(names=self._names) for tree in drawn)

    @cached_property
    def consensus(self) -> Dendrogram:
        """All clusters of more than half of the trees, with their support and their mean heights."""
        return consensus(self.trees) if len(self._samples) else self.dendrogram

    @property
    def n_trees(self) -> int:
        """The number of trees that were drawn, of all chains together: 0 with fewer than three leaves."""
        return len(self._samples)

    @property
    def noise(self) -> float:
        """Half of the share of answers that are given by chance, the mean over all trees; NaN without any."""
        return float(np.mean([chain[:, 1] for chain in self._states()])) if self.n_trees else float("nan")

    @cached_property
    def diagnostics(self) -> Mixing:
        """Split R-hat and effective sizes, and what chains went through."""
        has_clusters = unsure_clusters(self.dendrogram, self.trees)
        return mixing_of(self._states(), has_clusters, has_lengths=bool(self._lengths.size))

    def _states(self) -> list[NDArray[np.float64]]:
        """By chain the states after the burn-in."""
        return [chain[self._burn_in :] for chain in self._samples.states()]

    @cached_property
    def expected(self) -> Expected:
        """How right `tree` is expected to be: beside the trees that were drawn, each of which may be true.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=6, seed=1)
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
        """How right the tree is expected to be after more answers.

        Some of the trees are taken for the truth, one after the other; answers to questions drawn at random
        are simulated for each, and trees are drawn from the posterior of these and of `data`: the mean of
        what is `expected` then. This takes as long as `ordhc.posterior` with all answers, `repeats`
        times. If `ordhc.learners.Uncertain` chooses the questions, fewer answers reach the same accuracy.

        Parameters
        ----------
        data
            The comparisons that the trees were drawn from. Where people are known, the same ones go on, each
            with their own noise and share.
        more
            How many answers for each leaf come in addition.
        repeats
            How many trees are taken for the truth.
        seed
            Of the simulation.
        progress
            As of `ordhc.posterior`.

        Raises
        ------
        InputError
            Comparisons of other leaves; numbers below 1.
        """
        more = _checks.whole("more", more, at_least=1, at_most=1_000_000)
        repeats = _checks.whole("repeats", repeats, at_least=1, at_most=1_000)
        seed = _checks.seed(seed)
        n = self.dendrogram.n_leaves
        if not isinstance(data, Triplets | Quadruplets):
            raise InputError(f"forecast takes Triplets or Quadruplets, not {type(data).__name__}")
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
        """How likely comparisons are.

        Parameters
        ----------
        comparisons
            `Triplets`, `Quadruplets` (by their names, where both have some) or rows of leaf ids.
        of
            "answer": that a person who is asked says so, noise included. "tree": that it is so in the tree,
            if one of the pairs is closer there.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities. A comparison and its opposite have the sum 1.

        Raises
        ------
        InputError
            Leaves that the trees don't have.

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
        """How likely whole answers are.

        Parameters
        ----------
        data
            Answers. Rows with the same number in `answers` are one answer.

        Returns
        -------
        ndarray of shape (m,)
            For each row the probability of the answer that it is part of, noise included.

        Raises
        ------
        InputError
            No `Triplets` or `Quadruplets`; leaves that the trees don't have.

        Examples
        --------
        >>> import ordhc
        >>> t = ordhc.Triplets.from_odd_one_out([("car", "cat", "dog")] * 9)
        >>> bool(ordhc.posterior(t).predict_answers(t)[0] > 1 / 3)
        True
        """
        if not isinstance(data, Triplets | Quadruplets):
            raise InputError(f"predict_answers takes Triplets or Quadruplets, not {type(data).__name__}")
        if (numbers := numbers_of_answers(data)) is None:
            return self.predict(data)
        return self._samples.predict_answers(self._fitting(data), numbers)

    def foretell(self, data: Triplets | Quadruplets) -> Foretold:
        """Predict whole answers, and say how well, for each kind of answer.

        Parameters
        ----------
        data
            Answers that the trees were not drawn from. Rows of one answer have the same number in `answers`.

        Returns
        -------
        Foretold
            `accuracy` and `log_loss` over all answers, and `by_kind` beside chance. For kinds with more than
            720 possible answers, an answer counts as the likeliest if no exchange of two pairs is likelier.

        Raises
        ------
        InputError
            Leaves that the trees don't have; no answers of positive weight.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(1000, levels=2, leaves_per_cluster=4, seed=1)
        >>> train, test = t.split(0.8)
        >>> found = ordhc.posterior(train).foretell(test)
        >>> found.total.chance, found.accuracy > 0.6, found.log_loss < 0.69
        (0.5, True, True)
        """
        if not isinstance(data, Triplets | Quadruplets):
            raise InputError(f"foretell takes Triplets or Quadruplets, not {type(data).__name__}")
        return foretold(Choices.of(data), self.answer_tables(data))

    def answer_tables(self, data: Triplets | Quadruplets) -> Callable[[Kind], NDArray[np.float64]]:
        """Return a function that gives the probabilities of all possible answers to the questions in `data`.

        For a kind of answer in `ordhc.comparison.choices.Choices.of(data)` the function returns an (a, K)
        array: for each of the a questions K possible answers, the given answer first.
        """
        # The numbers of the chains for the leaves of `data`, whose names may stand in another order.
        place = np.zeros(max(data.n_leaves, self.dendrogram.n_leaves), dtype=np.int32)
        place[data.rows] = self._fitting(data)
        return tables_of_chains(self._samples, place)

    def accuracy(self, data: Triplets | Quadruplets) -> float:
        """Return the share of answers whose choice is the likeliest one; see `foretell`."""
        return self.foretell(data).accuracy

    def log_loss(self, data: Triplets | Quadruplets) -> float:
        """Return the mean of minus the logarithm of the probability of an answer; see `foretell`."""
        return self.foretell(data).log_loss

    def _fitting(self, comparisons: Any) -> NDArray[np.int32]:
        """Rows of the numbers that leaves have in the chains."""
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
            unknown = [name for name in theirs if name not in number]
            if unknown:
                raise InputError(f"the trees have no leaf {_checks.quoted(unknown[0])}")
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
    """Draw trees by how likely they are, given answers of which some are wrong.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`. Weights multiply. Rows with the same number in `answers` are one answer:
        an odd one out, a most central one, a ranking, a choice of some, best and worst, as
        `Triplets.from_odd_one_out` and the like make them.
    chains
        How many Markov chains run, on as many cores as there are. They begin at the tree of AddS and moves of
        subtrees, with triplets every second one at a tree of points that satisfies many of them.
    sweeps
        How often each chain moves every leaf: by default 80 times with 14,400 comparisons or more, up to 300
        times with fewer.
    burn_in
        How many of the sweeps are left out at the beginning; a third of them by default.
    seed
        The same seed gives the same trees, for any number of cores, however leaves are numbered and rows
        stand.
    group
        (m,) whose answer each row is, a participant's id or name, instead of the data's groups: each has a
        noise of their own.
    unit
        "answer": all answers have the same noise, though people are known. "group": of the data; the default
        where there are several.
    lengths
        Whether each leaf has a length of its own, which is learnt: an additive tree (Sattath and Tversky
        1977, "Additive similarity trees"). A leaf with a long edge is unlike all others. False: all leaves
        stand equally far from the root (an ultrametric tree). Real answers ask for lengths (of the
        held-out triplets of the data set Car .82 are predicted right, without lengths .73), and where the
        truth has none they cost nothing that can be measured.
    repeats
        "new": several answers of a person to the same question all count. "same": they count as one. By
        default "same" if answers change on repetition much less often than the noise in the other answers
        allows, which a warning and `notes` say, and "new" otherwise.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Posterior
        The `tree` with its `support`, probabilities of answers (`predict`), a `similarity`, the `trees`
        themselves, their `consensus`, and `diagnostics`.

    Warns
    -----
    OrdhcWarning
        Before the work begins: an estimate of more than 30 seconds of processor time.
    OrdhcWarning
        Leaves without answers (of positive weight), which stand anywhere in the trees; answers of several
        rows that are of no known kind; repeated answers that say nothing new; an R-hat above 1.1.

    Raises
    ------
    InputError
        No `Triplets` or `Quadruplets`; no chains or sweeps; a burn-in that leaves no sweep; groups of another
        length; another value of `unit` or `repeats`.

    Notes
    -----
    An answer "p is closer than q" has probability e + (1 - 2 e) / (1 + exp(h(q) - h(p))), where h is the
    height of a pair's lowest common ancestor and e the noise, which is learnt, of each person where they
    are known. With lengths l of leaves, h(a, b) - l(a) - l(b) takes the place of h(a, b): the length of the
    path between both, negative. By Farris's transform every additive tree with a root is such an ultrametric
    tree with a length for each leaf. Lengths are normal, and their standard deviation is learnt. Answers
    depend on paths only, which don't tell the root: it is placed where lengths differ little and heights rise
    by alike steps.

    Answers of several rows are choices among pairs of leaves, in proportion to exp(h) (Luce 1959,
    "Individual choice behavior"); a share of 2 e is given by chance. The odd one out of three is the choice
    of the other two. In a ranking each pair is chosen from those that remain. k of several, in no order:
    the sum over all orders of the k, each chosen from those that remain. If only one is left out, this one
    is chosen as the farthest instead, in proportion to exp(-h); so the most central of three has the
    smallest sum of paths to the other two. In best-and-worst questions, the worst is the farthest
    of the options that remain after the best.

    Trees have nodes of any degree; how many nodes, how balanced trees are, and how alike the
    steps of height from node to node are is learnt, too. Chains start from AddS with average linkage and
    moves of subtrees, cut off every leaf and subtree in turn, and put it back by its posterior
    probability at any place. Time is in proportion to answers times depth, for each sweep.

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=8, sigma=0.05)
    >>> p = ordhc.posterior(t)
    >>> p.tree.n_leaves, len(p.trees), ordhc.score(p.tree, labels, metric="aari") > 0.9
    (32, 200, True)
    """
    progress = _checks.callback("progress", progress)
    if isinstance(data, Triplets | Quadruplets):
        seconds = seconds_of(data, *_checked_length(len(data), chains, sweeps))
        memory = _BYTES_OF_ROW * len(data) + _BYTES_OF_PAIR * data.n_leaves**2
        remedy = "fewer sweeps= or chains= take less time, and cluster(method='adds3-al') less of both"
        foretell_cost("posterior", data, seconds, remedy, memory=memory)
    found, unanswered = drawn_posterior(
        data, chains, sweeps, burn_in, seed, progress, group, unit, lengths, repeats
    )
    for note in found.notes:
        warn(note)
    if len(unanswered):
        warn(unanswered_text(found.dendrogram, unanswered).replace("merged last", "anywhere"))
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
    """As `posterior`, without the warnings about the answers: also the leaves that have none."""
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"posterior takes Triplets or Quadruplets, not {type(data).__name__}")
    chains, sweeps = _checked_length(len(data), chains, sweeps)
    burn_in = sweeps // 3 if burn_in is None else _checks.whole("burn_in", burn_in, at_least=0)
    if burn_in >= sweeps:
        raise InputError(f"burn_in = {burn_in} leaves none of {sweeps} sweeps")
    seed = _checks.seed(seed)
    lengths = _checks.flag("lengths", lengths)
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
        are_same = False
        found, unanswered = _sampled(given, how, progress if again is None else part(progress, 0.5, 1))
    found.notes += (note,) if note else ()
    found._how = {"lengths": lengths, "repeats": "same" if are_same else "new"}
    settings = made_by(method="posterior-al", linkage="posterior-al")
    settings["linkage_parameters"] = {"chains": chains, "sweeps": sweeps, "seed": seed, "lengths": lengths}
    if are_same:
        settings["linkage_parameters"]["repeats"] = "same"
    found.dendrogram = found.dendrogram.replace(settings=settings)
    warn_unmixed(found._states())
    if progress is not None:
        progress(1.0)
    return found, unanswered


def _checked_length(m: int, chains: Any, sweeps: Any) -> tuple[int, int]:
    """Return the numbers of chains and of sweeps, by default those for m comparisons."""
    sweeps = sweeps_for(m) if sweeps is None else sweeps
    return (
        _checks.whole("chains", chains, at_least=1, at_most=1_000),
        _checks.whole("sweeps", sweeps, at_least=1, at_most=1_000_000),
    )


def _sampled(
    data: Triplets | Quadruplets, how: tuple[Any, ...], progress: Progress | None
) -> tuple[Posterior, NDArray[np.int64]]:
    """As `drawn_posterior`, of answers that all count as they do."""
    order = canonical_order(data)
    fitting = in_order(data, order)
    plan = Plan.of(data, method=fast_method(data))
    start, unanswered = fit(plan, fitting, progress=part(progress, 0, 0.1))
    told = part(progress, 0.1, 0.9)
    known = people_of(fitting)
    people = None if known is None else known[1]
    if known is not None:
        fitting = fitting[known[0]]
    rows, weights, answers = fitting.rows, fitting.weights, numbers_of_answers(fitting)
    samples = _ordhc.sample(rows, weights, answers, people, engine_tree(start), how, told)
    found = Posterior(samples, order, data.names, how[2], start.replace(names=None))
    if known is not None and len(samples):
        found._groups = (data.groups, data.group_names)
        found.noise_by_group = dict(zip(known[2], samples.noise_by_person().tolist(), strict=True))
    if samples.n_unknown():
        found.notes = (unknown_text(samples.n_unknown()),)
    return found, np.sort(order[unanswered])


def _note_of(found: Posterior, again: Repeats, data: Triplets | Quadruplets) -> str | None:
    """Say that repeats count once, unless the noise explains that they are alike."""
    if not found.n_trees:
        return None
    numbers = numbers_of_answers(data)
    likely = found.predict_answers(data)[again.repeats]
    chance = np.full(len(likely), 0.5) if numbers is None else chances_of(data, numbers, again.repeats)
    if data.groups is not None and found.noise_by_group:
        likely = with_own_noise(likely, chance, data, again.repeats, found.noise_by_group)
    return again.note(likely)
