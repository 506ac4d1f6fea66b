"""The checks, small and named. Each takes one subject and raises AssertionError."""

import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc, registry, verbs
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, OrdhcWarning
from ordhc.linkages import engine_linkage
from ordhc.specs import LinkageSpec, MetricSpec, OracleSpec, SimilaritySpec, Spec
from ordhc.testing.comparison_linkages import COMPARISON_LINKAGE_CHECKS, ComparisonLinkage

__all__ = [
    "LINKAGE_CHECKS",
    "METRIC_CHECKS",
    "ORACLE_CHECKS",
    "SIMILARITY_CHECKS",
    "check_linkage",
    "check_metric",
    "check_oracle",
    "check_similarity",
]

Floats = NDArray[np.float64]
AnySpec = TypeVar("AnySpec", bound=Spec)
_RTOL = 1e-9


class _Subject(Generic[AnySpec]):
    """A spec with the parameters it is checked with."""

    def __init__(self, spec: AnySpec, parameters: Mapping[str, Any]) -> None:
        self.spec = spec
        unknown = set(parameters) - set(spec.parameters)
        if unknown:
            raise InputError(f"{spec.kind} {spec.name!r} has no parameter {sorted(unknown)[0]!r}")
        self.settings = {**spec.parameters, **parameters}


def _run(subject: Any, checks: Mapping[str, Callable[[Any], None]], skip: Collection[str]) -> None:
    unknown = set(skip) - set(checks)
    if unknown:
        raise InputError(f"no check is named {sorted(unknown)[0]!r}; there are {', '.join(checks)}")
    what = f"{subject.spec.kind} {subject.spec.name!r}"
    for name, check in checks.items():
        if name in skip:
            continue
        try:
            check(subject)
        except AssertionError as error:
            raise AssertionError(f"{what} fails the check {name!r}: {error}") from error
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise AssertionError(f"{what} fails the check {name!r} with {text}") from error


def _need(fine: Any, text: str) -> None:
    """An assertion that stays when Python runs with -O."""
    if not fine:
        raise AssertionError(text)


# --- linkages --------------------------------------------------------------------------------


class _Linkage(_Subject[LinkageSpec]):
    def merge(self, S: Floats, *, dissimilarity: bool = False, engine: str = "auto") -> Dendrogram:
        rule = engine_linkage(self.spec, self.settings, lambda: -S if dissimilarity else S.copy())
        return Dendrogram._of(_ordhc.agglomerate(S, rule, dissimilarity, engine, None, None), None)

    @property
    def squares(self) -> bool:
        if self.spec.coefficients is not None:
            return self.spec.coefficients.squared
        return self.spec.native in ("ward", "centroid", "median")


def _distances(n: int, seed: int) -> Floats:
    """Distances of points in space: positive, without ties."""
    points = np.random.default_rng(seed).normal(size=(n, 4))
    distances: Floats = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return distances


def _random(n: int, seed: int) -> Floats:
    """Similarities without ties, of both signs."""
    values = np.random.default_rng(seed).normal(size=(n, n))
    values = values + values.T
    np.fill_diagonal(values, 0)
    return values


def _tied(n: int, seed: int) -> Floats:
    values = np.triu(np.random.default_rng(seed).integers(0, 3, size=(n, n)), 1).astype(np.float64)
    return values + values.T


def _is_tree(tree: Dendrogram, n: int) -> None:
    _need(tree.n_leaves == n, f"the tree has {tree.n_leaves} leaves, not {n}")
    _need(len(tree.merges) == n - 1, f"{len(tree.merges)} merges for {n} leaves")
    finite = np.isfinite(tree.heights)
    _need(finite.all(), f"heights are not finite: {tree.heights[~finite][:3]}")
    merged = tree.merges.ravel()
    _need(len(set(merged.tolist())) == len(merged), "a cluster is merged twice")


def _same(found: Dendrogram, expected: Dendrogram, why: str) -> None:
    differ = np.flatnonzero((found.merges != expected.merges).any(axis=1))
    if differ.size:
        at = int(differ[0])
        pair = f"{found.merges[at].tolist()}, not {expected.merges[at].tolist()}"
        raise AssertionError(f"{why}: merge {at} of {expected.n_leaves} leaves is {pair}")
    scale = np.abs(expected.heights).max(initial=1.0)
    wrong = np.flatnonzero(np.abs(found.heights - expected.heights) > _RTOL * scale)
    if wrong.size:
        at = int(wrong[0])
        raise AssertionError(f"{why}: height {at} is {found.heights[at]}, not {expected.heights[at]}")


def _linkage_few_leaves(linkage: _Linkage) -> None:
    """1, 2 and 3 leaves."""
    for n in (1, 2, 3):
        _is_tree(linkage.merge(_random(n, n)), n)
        _is_tree(linkage.merge(_distances(n, n), dissimilarity=True), n)


def _linkage_valid_trees(linkage: _Linkage) -> None:
    """All leaves are merged, once, at finite heights."""
    for n in (5, 17, 40):
        _is_tree(linkage.merge(_random(n, n)), n)
        _is_tree(linkage.merge(1e6 * _distances(n, n), dissimilarity=True), n)


def _linkage_nearest_first(linkage: _Linkage) -> None:
    """The first merge is the most similar pair, at its similarity."""
    for seed in range(5):
        D = _distances(9, seed)
        i, j = np.triu_indices(9, 1)
        at = int(D[i, j].argmin())
        for S, dissimilarity in ((-D, False), (D, True)):
            tree = linkage.merge(S, dissimilarity=dissimilarity)
            pair, first = [int(i[at]), int(j[at])], tree.merges[0].tolist()
            _need(first == pair, f"the first merge is {first}, but the most similar pair is {pair}")
            height = S[i[at], j[at]]
            text = f"the first height is {tree.heights[0]}, but the most similar pair has {height}"
            _need(abs(tree.heights[0] - height) <= _RTOL * abs(height), text)


def _linkage_ties(linkage: _Linkage) -> None:
    """With ties a valid tree, the same by every engine."""
    for seed in range(8):
        S = _tied(9, seed)
        tree = linkage.merge(S)
        _is_tree(tree, 9)
        _same(tree, linkage.merge(S, engine="naive"), "with ties the engines differ")
    constant = np.ones((8, 8))
    _is_tree(linkage.merge(constant), 8)
    _is_tree(linkage.merge(constant, dissimilarity=True), 8)
    _is_tree(linkage.merge(np.zeros((8, 8))), 8)


def _linkage_duplicates(linkage: _Linkage) -> None:
    """Leaves that are the same, at dissimilarity 0."""
    twice = np.repeat(np.arange(6), 2)
    D = _distances(6, 0)[np.ix_(twice, twice)]
    tree = linkage.merge(D, dissimilarity=True)
    _is_tree(tree, 12)
    _same(tree, linkage.merge(D, dissimilarity=True, engine="naive"), "with duplicates the engines differ")


def _linkage_deterministic(linkage: _Linkage) -> None:
    """The same input gives the same tree, whatever was clustered in between."""
    S = _random(15, 0)
    before = S.copy()
    first = linkage.merge(S)
    linkage.merge(_random(7, 1))
    again = linkage.merge(S)
    _need(np.array_equal(S, before), "the input was changed")
    same = np.array_equal(first.merges, again.merges) and np.array_equal(first.heights, again.heights)
    _need(same, "the same input gives different trees")


def _linkage_numbering(linkage: _Linkage) -> None:
    """Without ties, renumbering leaves renumbers the tree and changes nothing else."""
    for seed in range(5):
        S = _random(13, seed)
        order = np.random.default_rng(seed + 100).permutation(13)
        renumbered = linkage.merge(np.ascontiguousarray(S[np.ix_(order, order)]))
        _same(renumbered.relabel(order), linkage.merge(S), "renumbering leaves changes the tree")


def _linkage_engines(linkage: _Linkage) -> None:
    """The default engine gives the tree of the naive one (a linkage said to be reducible is)."""
    for seed in range(10):
        for S, dissimilarity in ((_random(16, seed), False), (_distances(16, seed), True)):
            found = linkage.merge(S, dissimilarity=dissimilarity)
            naive = linkage.merge(S, dissimilarity=dissimilarity, engine="naive")
            _same(found, naive, "the default engine differs from the naive one")


def _linkage_signs(linkage: _Linkage) -> None:
    """Dissimilarities give the tree of their negatives (of negative squares, if it squares)."""
    for seed in range(5):
        D = _distances(12, seed)
        tree = linkage.merge(D, dissimilarity=True)
        other = linkage.merge(-(D**2) if linkage.squares else -D)
        back = np.sqrt(np.maximum(-other.heights, 0)) if linkage.squares else -other.heights
        expected = Dendrogram(other.merges, back)
        _same(tree, expected, "dissimilarities and negative similarities differ")


#: The checks of `check_linkage`, by name.
LINKAGE_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "few_leaves": _linkage_few_leaves,
    "valid_trees": _linkage_valid_trees,
    "nearest_first": _linkage_nearest_first,
    "ties": _linkage_ties,
    "duplicates": _linkage_duplicates,
    "deterministic": _linkage_deterministic,
    "numbering": _linkage_numbering,
    "engines": _linkage_engines,
    "signs": _linkage_signs,
}


def check_linkage(linkage: str | LinkageSpec, /, *, skip: Collection[str] = (), **parameters: Any) -> None:
    """Check a linkage, by its registered name or as a spec.

    Parameters
    ----------
    linkage
        The name, or the spec.
    skip
        Names of checks (see `LINKAGE_CHECKS`; for linkages of comparisons
        `COMPARISON_LINKAGE_CHECKS`) to leave out.
    **parameters
        Settings other than the defaults.

    Raises
    ------
    AssertionError
        The check that failed, and how.

    Examples
    --------
    >>> check_linkage("average")
    """
    spec = registry.get("linkage", linkage) if isinstance(linkage, str) else linkage
    subject = _Linkage(spec, parameters)
    if spec.from_comparisons is not None:
        _run(ComparisonLinkage(spec, subject.settings), COMPARISON_LINKAGE_CHECKS, skip)
    else:
        _run(subject, LINKAGE_CHECKS, skip)


# --- similarities ----------------------------------------------------------------------------


class _Similarity(_Subject[SimilaritySpec]):
    def build(self, data: Any, layout: str = "square", dtype: str = "float64") -> NDArray[Any]:
        n = len(data) if isinstance(data, np.ndarray) else data.n_leaves
        result: Any
        if self.spec.build is None:
            with warnings.catch_warnings():
                # Negative dot products are no fault of the builder.
                warnings.simplefilter("ignore", OrdhcWarning)
                result = verbs._built(self.spec, data, layout, dtype, None, self.settings)
        else:
            result = self.spec.build(data, layout=layout, dtype=dtype, progress=None, **self.settings)
        shape = (n, n) if layout == "square" else (n * (n - 1) // 2,)
        text = f"layout {layout!r} of {n} leaves gives {type(result).__name__}, not an array of {shape}"
        _need(isinstance(result, np.ndarray) and result.shape == shape, text)
        _need(result.dtype.name == dtype, f"dtype is {result.dtype.name}, not {dtype}")
        _need(np.isfinite(result).all(), "a similarity is not finite")
        return result  # type: ignore[no-any-return]

    def samples(self, n: int, m: int, seed: int) -> list[Any]:
        """One sample of every kind of data that it takes."""
        return [_sample(kind, n, m, seed) for kind in self.spec.data]


def _sample(kind: str, n: int, m: int, seed: int) -> Any:
    """Comparisons that points on a line answer, or the points."""
    random = np.random.default_rng(seed)
    points = np.concatenate([random.random(n - n // 2), 5 + random.random(n // 2)])
    if kind == "vectors":
        # Groups that are far apart in place and in direction.
        return np.column_stack([3 - points, points, 0.1 * points])
    width, make = (3, Triplets) if kind == "triplets" else (4, Quadruplets)
    rows = np.zeros((0, width), dtype=np.int64)
    if n >= 3 and m:
        drawn = [random.choice(n, 3, replace=False) for _ in range(m)]
        rows = np.array(drawn if kind == "triplets" else [(a, b, a, c) for a, b, c in drawn])
        first = np.abs(points[rows[:, 0]] - points[rows[:, 1]])
        second = np.abs(points[rows[:, -width]] - points[rows[:, -1]])
        swap = [0, 2, 1] if kind == "triplets" else [2, 3, 0, 1]
        rows = np.where((first < second)[:, None], rows, rows[:, swap])
    return make(rows, n_leaves=n)


def _renumbered(data: Any, order: NDArray[np.int64]) -> Any:
    """The same data after leaf i became leaf order[i]."""
    if isinstance(data, np.ndarray):
        moved = np.empty_like(data)
        moved[order] = data
        return moved
    rows = order[data.rows]
    return type(data)(rows, n_leaves=data.n_leaves, weights=data.weights)


def _similarity_few_leaves(similarity: _Similarity) -> None:
    """1, 2 and 3 leaves, with few comparisons or none."""
    for n in (1, 2, 3):
        for m in (0, 1):
            for data in similarity.samples(n, m, seed=n):
                similarity.build(data)
                similarity.build(data, layout="condensed")


def _similarity_symmetric(similarity: _Similarity) -> None:
    """The square matrix is symmetric and finite."""
    for data in similarity.samples(8, 80, seed=1):
        S = similarity.build(data)
        scale = np.abs(S).max(initial=1.0)
        _need(np.abs(S - S.T).max() <= _RTOL * scale, "the matrix is not symmetric")


def _similarity_layouts(similarity: _Similarity) -> None:
    """The condensed layout has the pairs of the square one, in SciPy's order."""
    for data in similarity.samples(7, 60, seed=2):
        S, pairs = similarity.build(data), similarity.build(data, layout="condensed")
        upper = S[np.triu_indices(7, 1)]
        scale = np.abs(upper).max(initial=1.0)
        _need(np.abs(pairs - upper).max() <= _RTOL * scale, "condensed and square layouts differ")


def _similarity_dtypes(similarity: _Similarity) -> None:
    """float32 gives what float64 gives, rounded."""
    for data in similarity.samples(7, 60, seed=3):
        S, narrow = similarity.build(data), similarity.build(data, dtype="float32")
        scale = np.abs(S).max(initial=1.0)
        _need(np.abs(S - narrow).max() <= 1e-3 * scale, "float32 and float64 differ")


def _similarity_duplicates(similarity: _Similarity) -> None:
    """Comparisons (or vectors) that occur more than once, and weights."""
    for data in similarity.samples(6, 30, seed=4):
        if isinstance(data, np.ndarray):
            similarity.build(np.repeat(data, 2, axis=0))
            continue
        similarity.build(type(data)(np.repeat(data.rows, 3, axis=0), n_leaves=6))
        similarity.build(type(data)(data.rows, n_leaves=6, weights=np.linspace(0.5, 2, len(data))))


def _similarity_deterministic(similarity: _Similarity) -> None:
    """The same data give the same similarities."""
    for data in similarity.samples(8, 80, seed=5):
        first = similarity.build(data)
        for other in similarity.samples(5, 20, seed=6):
            similarity.build(other)
        _need(np.array_equal(first, similarity.build(data)), "the same data give different similarities")


def _similarity_numbering(similarity: _Similarity) -> None:
    """Renumbering leaves renumbers rows and columns and changes nothing else."""
    for data in similarity.samples(8, 80, seed=7):
        order = np.random.default_rng(8).permutation(8)
        S = similarity.build(data)
        moved = similarity.build(_renumbered(data, order))[np.ix_(order, order)]
        scale = np.abs(S).max(initial=1.0)
        _need(np.abs(S - moved).max() <= 1e-6 * scale, "renumbering leaves changes similarities")


def _similarity_direction(similarity: _Similarity) -> None:
    """Larger is closer, of dissimilarities smaller: two far groups and what is within them."""
    group = np.arange(12) >= 6
    i, j = np.triu_indices(12, 1)
    within = group[i] == group[j]
    for data in similarity.samples(12, 1500, seed=9):
        S = similarity.build(data)[i, j]
        inside, between = S[within].mean(), S[~within].mean()
        fine, which = inside > between, "larger"
        if similarity.spec.dissimilarity:
            fine, which = inside < between, "smaller"
        _need(fine, f"two far groups: {inside:g} within, {between:g} between; {which} is closer")


#: The checks of `check_similarity`, by name.
SIMILARITY_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "few_leaves": _similarity_few_leaves,
    "symmetric": _similarity_symmetric,
    "layouts": _similarity_layouts,
    "dtypes": _similarity_dtypes,
    "duplicates": _similarity_duplicates,
    "deterministic": _similarity_deterministic,
    "numbering": _similarity_numbering,
    "direction": _similarity_direction,
}


def check_similarity(
    similarity: str | SimilaritySpec, /, *, skip: Collection[str] = (), **parameters: Any
) -> None:
    """Check a similarity builder, by its registered name or as a spec.

    Parameters
    ----------
    similarity
        The name, or the spec.
    skip
        Names of checks (see `SIMILARITY_CHECKS`) to leave out.
    **parameters
        Settings other than the defaults.

    Raises
    ------
    AssertionError
        The check that failed, and how.

    Examples
    --------
    >>> check_similarity("adds3")
    """
    spec = registry.get("similarity", similarity) if isinstance(similarity, str) else similarity
    _run(_Similarity(spec, parameters), SIMILARITY_CHECKS, skip)


# --- metrics ---------------------------------------------------------------------------------

_COMPARISONS = ("triplets", "quadruplets")


class _Metric(_Subject[MetricSpec]):
    make_reference: Callable[[Dendrogram], Any] | None = None

    def score(self, tree: Dendrogram, reference: Any) -> float:
        value: Any = self.spec.score(tree, reference, **self.settings)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        _need(np.isfinite(number), f"the score is {value!r}, not a finite number")
        return number

    def references(self, truth: Dendrogram, m: int, seed: int) -> list[Any]:
        """What `truth` is to be compared with: one of every kind that it takes."""
        if self.make_reference is not None:
            return [self.make_reference(truth)]
        return [_reference(kind, truth, m, seed) for kind in self.spec.reference]


def _reference(kind: str, truth: Dendrogram, m: int, seed: int) -> Any:
    if kind in _COMPARISONS:
        return _answers(kind, truth, m, seed)
    if kind == "tree":
        return truth
    n = truth.n_leaves
    if kind == "labels":
        return truth.cut(n_clusters=max(n // 3, 1)).reshape(n, 1)
    S = np.zeros((n, n))
    clusters = [[leaf] for leaf in range(n)]
    for (a, b), height in zip(truth.merges.tolist(), truth.heights.tolist(), strict=True):
        S[np.ix_(clusters[a], clusters[b])] = S[np.ix_(clusters[b], clusters[a])] = height
        clusters.append(clusters[a] + clusters[b])
    return S


def _answers(kind: str, tree: Dendrogram, m: int, seed: int) -> Any:
    """Comparisons as the tree has them."""
    rows: list[tuple[int, int, int]] = []
    random = np.random.default_rng(seed)
    while tree.n_leaves >= 3 and len(rows) < m:
        a, b, c = random.choice(tree.n_leaves, 3, replace=False).tolist()
        near, far = tree.lca_size(a, b), tree.lca_size(a, c)
        if near != far:
            rows.append((a, b, c) if near < far else (a, c, b))
    triplets = Triplets(np.array(rows, dtype=np.int64).reshape(-1, 3), n_leaves=tree.n_leaves)
    return triplets if kind == "triplets" else triplets.to_quadruplets()


def _tree(n: int, seed: int) -> Dendrogram:
    rule = _ordhc.Linkage.native("average")
    return Dendrogram._of(_ordhc.agglomerate(-_distances(n, seed), rule, False, "auto", None, None), None)


def _metric_few_leaves(metric: _Metric) -> None:
    """1, 2 and 3 leaves: a number, or an InputError that says what is missing."""
    for n in (1, 2, 3):
        tree = _tree(n, n)
        for reference in metric.references(tree, 3, seed=n):
            try:
                metric.score(tree, reference)
            except InputError:
                _need(n < 3, "InputError for 3 leaves")


def _metric_number(metric: _Metric) -> None:
    """A finite number for any tree."""
    truth = _tree(12, 0)
    for reference in metric.references(truth, 60, seed=0):
        for seed in range(4):
            metric.score(_tree(12, seed), reference)


def _metric_deterministic(metric: _Metric) -> None:
    """The same tree and reference give the same score."""
    truth = _tree(12, 1)
    for reference in metric.references(truth, 60, seed=1):
        first = metric.score(_tree(12, 2), reference)
        metric.score(truth, reference)
        _need(metric.score(_tree(12, 2), reference) == first, "the same input gives different scores")


def _metric_numbering(metric: _Metric) -> None:
    """Renumbering the leaves of both changes nothing."""
    order = np.random.default_rng(3).permutation(12)
    truth, tree = _tree(12, 3), _tree(12, 4)
    for reference in metric.references(truth, 60, seed=3):
        score = metric.score(tree, reference)
        moved = metric.score(tree.relabel(order), _moved(reference, order))
        _need(np.isclose(score, moved, rtol=_RTOL), f"renumbering leaves gives {moved}, not {score}")


def _moved(reference: Any, order: NDArray[np.int64]) -> Any:
    """What a tree is compared with, with leaf i as leaf `order[i]`."""
    if isinstance(reference, Triplets | Quadruplets):
        return _renumbered(reference, order)
    if isinstance(reference, Dendrogram):
        return reference.relabel(order)
    place = np.argsort(order)
    return reference[place] if reference.shape[1] == 1 else reference[np.ix_(place, place)]


def _metric_direction(metric: _Metric) -> None:
    """The tree that answered scores no worse than other trees."""
    for seed in range(3):
        truth = _tree(12, seed)
        for reference in metric.references(truth, 300, seed=seed):
            best = metric.score(truth, reference)
            for other in range(10, 15):
                score = metric.score(_tree(12, other), reference)
                fine = best >= score if metric.spec.larger_is_better else best <= score
                way = "larger" if metric.spec.larger_is_better else "smaller"
                _need(fine, f"the truth scores {best}, a random tree {score}, but {way} is better")


#: The checks of `check_metric`, by name.
METRIC_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "few_leaves": _metric_few_leaves,
    "number": _metric_number,
    "deterministic": _metric_deterministic,
    "numbering": _metric_numbering,
    "direction": _metric_direction,
}


def check_metric(
    metric: str | MetricSpec,
    /,
    *,
    make_reference: Callable[[Dendrogram], Any] | None = None,
    skip: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Check a metric, by its registered name or as a spec.

    Parameters
    ----------
    metric
        The name, or the spec.
    make_reference
        Gives what a tree that is the truth is to be compared with; by default one of each kind that
        the metric takes.
    skip
        Names of checks (see `METRIC_CHECKS`) to leave out.
    **parameters
        Settings other than the defaults.

    Raises
    ------
    AssertionError
        The check that failed, and how.

    Examples
    --------
    >>> check_metric("triplet_revenue")
    """
    spec = registry.get("metric", metric) if isinstance(metric, str) else metric
    subject = _Metric(spec, parameters)
    subject.make_reference = make_reference
    _run(subject, METRIC_CHECKS, skip)


# --- oracles ---------------------------------------------------------------------------------


class _Oracle(_Subject[OracleSpec]):
    source: Any
    n_leaves: int

    def ask(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        answers = np.asarray(self.spec.make(self.source, **self.settings)(rows))
        _need(answers.shape == (len(rows),), f"{len(rows)} questions give answers of {answers.shape}")
        _need(answers.dtype.kind in "iu", f"answers are {answers.dtype}, not integers")
        wrong = answers[(answers < -1) | (answers > 2)]
        _need(not wrong.size, f"an answer is {wrong[:1]}, not -1, 0, 1 or 2")
        return answers.astype(np.int64)

    def questions(self, m: int = 50) -> NDArray[np.int64]:
        random = np.random.default_rng(0)
        return np.array([random.choice(self.n_leaves, 3, replace=False) for _ in range(m)])


def _oracle_answers(oracle: _Oracle) -> None:
    """One answer per question, -1, 0, 1 or 2, and the questions stay as they are."""
    rows = oracle.questions()
    before = rows.copy()
    oracle.ask(rows)
    _need(np.array_equal(rows, before), "the questions were changed")
    oracle.ask(rows[:1])


def _oracle_no_questions(oracle: _Oracle) -> None:
    """No questions give no answers."""
    oracle.ask(np.zeros((0, 3), dtype=np.int64))


def _oracle_deterministic(oracle: _Oracle) -> None:
    """The same questions give the same answers."""
    rows = oracle.questions()
    _need(np.array_equal(oracle.ask(rows), oracle.ask(rows)), "the same questions give other answers")


def _oracle_order(oracle: _Oracle) -> None:
    """The odd one out is the same leaf in whichever order the three are shown."""
    rows = oracle.questions()
    odd = _leaf(rows, oracle.ask(rows))
    for order in ([1, 2, 0], [1, 0, 2]):
        shown = np.ascontiguousarray(rows[:, order])
        differ = np.flatnonzero(_leaf(shown, oracle.ask(shown)) != odd)
        if differ.size:
            raise AssertionError(f"the answer about {rows[differ[0]].tolist()} depends on the order shown")


def _leaf(rows: NDArray[np.int64], answers: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(answers < 0, -1, rows[np.arange(len(rows)), np.maximum(answers, 0)])


#: The checks of `check_oracle`, by name.
ORACLE_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "answers": _oracle_answers,
    "no_questions": _oracle_no_questions,
    "deterministic": _oracle_deterministic,
    "order": _oracle_order,
}


def check_oracle(
    oracle: str | OracleSpec,
    /,
    source: Any,
    *,
    n_leaves: int | None = None,
    skip: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Check an oracle, by its registered name or as a spec.

    Parameters
    ----------
    oracle
        The name, or the spec.
    source
        What it answers from, of three leaves at least.
    n_leaves
        The number of leaves, if `source` has neither `n_leaves` nor a length.
    skip
        Names of checks (see `ORACLE_CHECKS`) to leave out; noisy oracles leave out "deterministic"
        and "order".
    **parameters
        Settings other than the defaults.

    Raises
    ------
    AssertionError
        The check that failed, and how.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 3.0, 7.0])
    >>> check_oracle("similarity", -abs(points[:, None] - points))
    """
    spec = registry.get("oracle", oracle) if isinstance(oracle, str) else oracle
    subject = _Oracle(spec, parameters)
    subject.source = source
    n = n_leaves if n_leaves is not None else getattr(source, "n_leaves", None)
    subject.n_leaves = len(source) if n is None else n
    if subject.n_leaves < 3:
        raise InputError(f"n_leaves = {subject.n_leaves}; an oracle is checked with 3 or more")
    _run(subject, ORACLE_CHECKS, skip)
