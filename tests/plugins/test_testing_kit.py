"""The conformance kit passes what is right and fails what is wrong."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.similarities.comparisons import adds
from ordhc.specs import LanceWilliams, LinkageSpec, MetricSpec, OracleSpec, SimilaritySpec
from ordhc.testing import (
    LINKAGE_CHECKS,
    METRIC_CHECKS,
    ORACLE_CHECKS,
    SIMILARITY_CHECKS,
    check_linkage,
    check_metric,
    check_oracle,
    check_similarity,
    strategies,
)
from ordhc.testing.preferences import COMPARISON_LINKAGE_CHECKS, ComparisonLinkage
from support.few_rounds import with_few_sweeps
from support.processes import printed

BUILTIN = [row for row in ordhc.plugins.list_plugins() if row.plugin == "ordhc"]
AVERAGE = LanceWilliams(alpha="n_i / (n_i + n_j)")


def of_kind(kind):
    return [row.name for row in BUILTIN if row.kind == kind]


# --- what is right ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", of_kind("linkage"))
def test_builtin_linkages(name, monkeypatch):
    with_few_sweeps(monkeypatch)
    check_linkage(name)


@pytest.mark.parametrize("name", of_kind("similarity"))
def test_builtin_similarities(name):
    check_similarity(name)


@pytest.mark.parametrize("name", of_kind("metric"))
def test_builtin_metrics(name):
    check_metric(name)


def test_builtin_oracles():
    assert of_kind("oracle") == ["tree", "similarity", "vectors", "recorded", "person"]
    points = np.random.default_rng(0).random((7, 2))
    S = -((points[:, None] - points[None]) ** 2).sum(axis=2)
    check_oracle("similarity", S)
    check_oracle("similarity", S, width=4)
    check_oracle("tree", ordhc.linkage(S, dissimilarity=False))
    check_oracle("tree", ordhc.linkage(S, dissimilarity=False), width=4)
    check_oracle("vectors", np.random.default_rng(1).normal(size=(9, 2)), similarity="cosine")
    complete = [(i, *pair) for i in range(5) for pair in itertools.permutations(set(range(5)) - {i}, 2)]
    near = [(i, j, k) for i, j, k in complete if S[i, j] > S[i, k]]
    check_oracle("recorded", ordhc.Triplets(near), width=3, missing="none")
    pairs = list(itertools.combinations(range(5), 2))
    order = [(*a, *b) for a, b in itertools.permutations(pairs, 2) if S[a] > S[b]]
    check_oracle("recorded", ordhc.Quadruplets(order), width=4)


def test_specs_without_registration():
    check_linkage(LinkageSpec(name="mine", summary="x", coefficients=AVERAGE, reducible=True))
    check_linkage(LinkageSpec(name="rows", summary="x", update_row=lambda a, b, *_: np.maximum(a, b)))
    check_linkage(
        LinkageSpec(
            name="mixed",
            summary="x",
            update_row=lambda a, b, *_, share: share * np.maximum(a, b) + (1 - share) * np.minimum(a, b),
            parameters={"share": 0.5},
        ),
        share=0.2,
    )
    check_similarity(SimilaritySpec(name="mine", summary="x", build=adds, data=("triplets", "quadruplets")))


def by_distance(data, *, layout, dtype, progress):
    S = -np.abs(data[:, None] - data[None]).sum(axis=2)
    return (S if layout == "square" else S[np.triu_indices(len(S), 1)]).astype(dtype)


def test_similarities_of_vectors():
    check_similarity(SimilaritySpec(name="vectors", summary="x", build=by_distance, data=("vectors",)))


# --- what is wrong ---------------------------------------------------------------------------


def wrong_linkage(**given):
    return LinkageSpec(name="wrong", summary="x", **given)


def make_stateful():
    calls = []

    def make(S):
        calls.append(len(S))
        return lambda a, b, *_: (a + b) / 2 - len(calls)

    return make


WRONG_LINKAGES = {
    "few_leaves": wrong_linkage(update_row=lambda a, b, *_: np.append(a, 1.0)),
    "valid_trees": wrong_linkage(update_row=lambda a, b, *_: a + (np.nan if len(a) > 1 else 0)),
    "deterministic": wrong_linkage(make_update=lambda S: make_stateful_update(S)),
    "numbering": wrong_linkage(update_row=lambda a, b, s, n, m, sizes, i, j, others: a - 0.1 * others),
    # Depends on the order of merges, so it isn't reducible.
    **dict.fromkeys(
        ["ties", "engines"],
        wrong_linkage(coefficients=LanceWilliams(alpha="0.625", beta="-0.25"), reducible=True),
    ),
    # Two leaves at dissimilarity 0 are divided by it.
    "duplicates": wrong_linkage(update_row=lambda a, b, s, *_: (a + b) / 2 + np.divide(0 * a, s)),
}
make_stateful_update = make_stateful()


@pytest.mark.parametrize("check", WRONG_LINKAGES)
def test_wrong_linkages(check):
    fails(check_linkage, WRONG_LINKAGES[check], LINKAGE_CHECKS, check)
    with pytest.raises(AssertionError, match="linkage 'wrong' fails the check"):
        check_linkage(WRONG_LINKAGES[check])


def fails(check, spec, checks, name, *arguments, **more):
    """The check `name` is the first of the checks that fails, apart from those before it."""
    with pytest.raises(AssertionError, match=f"{spec.kind} 'wrong' fails the check '{name}'"):
        check(spec, *arguments, skip=[*checks][: [*checks].index(name)], **more)


def broken(change):
    def build(data, *, layout, dtype, progress):
        return change(adds(data, layout=layout, dtype=dtype), layout)

    return SimilaritySpec(name="wrong", summary="x", build=build, data=("triplets",))


def uneven(S, layout):
    return S + np.arange(len(S)) if layout == "square" else S


def numbered(S, layout):
    n = len(S) if layout == "square" else 0
    return S + np.add.outer(np.arange(n), np.arange(n)) if n else S


def chain(order):
    """The tree that takes one leaf after the other."""
    n = len(order)
    return ordhc.Dendrogram(
        [sorted((leaf, n + at - 1 if at else int(order[0]))) for at, leaf in enumerate(order[1:].tolist())],
        np.arange(n - 1, 0, -1.0),
        kind="similarity",
    )


def wrong_merger(merge, data):
    def from_comparisons(answers, *, initial_clusters, progress):
        return merge(answers)

    return LinkageSpec(name="wrong", summary="x", from_comparisons=from_comparisons, data=(data,))


def random_chain(answers):
    return chain(np.random.default_rng().permutation(answers.n_leaves))


def chain_by_rows(answers):
    """Leaves of many near answers first, the other way round where there are many rows or weights."""
    weights = np.ones(len(answers)) if answers.weights is None else answers.weights
    times = np.bincount(answers.rows[:, 0], weights, minlength=answers.n_leaves)
    order = np.argsort(times, kind="stable")
    return chain(order[::-1] if weights.sum() > 1.5 * ROWS[type(answers)] else order)


ROWS = {
    type(data): len(data)
    for name in ("3-al", "4-al")
    for data in ComparisonLinkage(registry.get("linkage", name), {}).samples(7, seed=8)
}
WRONG_MERGERS = {
    "few_leaves": lambda answers: ordhc.cluster(answers, method="adds3-al+spr").merges,
    "recovers": lambda answers: chain(np.arange(answers.n_leaves)),
    "deterministic": random_chain,
    "numbering": lambda answers: chain(np.arange(answers.n_leaves)),
    "repeats": chain_by_rows,
}


@pytest.mark.parametrize("data", ["triplets", "quadruplets"])
@pytest.mark.parametrize("check", WRONG_MERGERS)
def test_wrong_linkages_of_comparisons(check, data):
    fails(check_linkage, wrong_merger(WRONG_MERGERS[check], data), COMPARISON_LINKAGE_CHECKS, check)


def unweighted(data, *, layout, dtype, progress):
    if data.weights is not None:
        raise ValueError("weights are not for me")
    return adds(data, layout=layout, dtype=dtype)


WRONG_SIMILARITIES = {
    "few_leaves": broken(lambda S, layout: S[:-1]),
    "symmetric": broken(uneven),
    "layouts": broken(lambda S, layout: S if layout == "square" else S[::-1]),
    "dtypes": broken(lambda S, layout: S.astype(np.float64)),
    "duplicates": SimilaritySpec(name="wrong", summary="x", build=unweighted, data=("triplets",)),
    "deterministic": broken(lambda S, layout: S + np.random.default_rng().random()),
    "numbering": broken(numbered),
    "direction": broken(lambda S, layout: -S),
}


@pytest.mark.parametrize("check", WRONG_SIMILARITIES)
def test_wrong_similarities(check):
    fails(check_similarity, WRONG_SIMILARITIES[check], SIMILARITY_CHECKS, check)
    with pytest.raises(AssertionError, match="similarity 'wrong' fails the check"):
        check_similarity(WRONG_SIMILARITIES[check])


def wrong_metric(score, **given):
    return MetricSpec(name="wrong", summary="x", score=score, reference=("triplets",), **given)


WRONG_METRICS = {
    "few_leaves": wrong_metric(lambda tree, data: "good"),
    "number": wrong_metric(lambda tree, data: float("inf") if tree.n_leaves > 3 else 0),
    "deterministic": wrong_metric(lambda tree, data: np.random.default_rng().random()),
    "numbering": wrong_metric(lambda tree, data: int(data.rows[:, 0] @ data.rows[:, 1])),
    "direction": wrong_metric(lambda tree, data: ordhc.score(tree, data), larger_is_better=False),
}


@pytest.mark.parametrize("check", WRONG_METRICS)
def test_wrong_metrics(check):
    fails(check_metric, WRONG_METRICS[check], METRIC_CHECKS, check)


def test_metrics_of_other_references():
    def same_size(tree, other):
        return int((tree.sizes == other.sizes).sum())

    spec = MetricSpec(name="sizes", summary="x", score=same_size, reference=("tree",))
    check_metric(spec)
    check_metric(spec, make_reference=lambda tree: tree.relabel(np.arange(tree.n_leaves)))

    def odd(tree, labels):
        return float(labels[0, 0])

    wrong = MetricSpec(name="odd", summary="x", score=odd, reference=("labels",))
    with pytest.raises(AssertionError, match="fails the check 'numbering'"):
        check_metric(wrong)


WRONG_ORACLES = {
    "answers": lambda source: lambda rows: np.full(len(rows), 3),
    "no_questions": lambda source: lambda rows: np.argmax(rows, axis=1) if len(rows) else None,
    "deterministic": lambda source: lambda rows: np.random.default_rng().integers(0, 3, len(rows)),
    "order": lambda source: lambda rows: np.zeros(len(rows), dtype=int),
}


WRONG_ABOUT_PAIRS = {
    "answers": lambda source: lambda rows: np.full(len(rows), 2),
    "no_questions": lambda source: lambda rows: np.sign(rows[:, 0] - rows[:, 2]) if len(rows) else None,
    "deterministic": lambda source: lambda rows: np.random.default_rng().integers(-1, 2, len(rows)),
    "order": lambda source: lambda rows: np.ones(len(rows), dtype=int),
}


@pytest.mark.parametrize("check", ORACLE_CHECKS)
@pytest.mark.parametrize(("made", "width"), [(WRONG_ORACLES, 3), (WRONG_ABOUT_PAIRS, 4)])
def test_wrong_oracles(made, width, check):
    spec = OracleSpec(name="wrong", summary="x", make=made[check], questions=(width,))
    fails(check_oracle, spec, ORACLE_CHECKS, check, None, n_leaves=6)


def test_asynchronous_oracles_are_checked():
    async def answer(rows):
        return np.argmax(rows, axis=1)

    check_oracle(OracleSpec(name="largest", summary="x", make=lambda source: answer), None, n_leaves=6)


def test_every_check_has_something_that_fails_it():
    assert [*WRONG_MERGERS] == [*COMPARISON_LINKAGE_CHECKS]
    assert [*WRONG_SIMILARITIES] == [*SIMILARITY_CHECKS]
    assert [*WRONG_METRICS] == [*METRIC_CHECKS]
    assert [*WRONG_ORACLES] == [*WRONG_ABOUT_PAIRS] == [*ORACLE_CHECKS]
    # The engine finds the first pair and turns dissimilarities round, whatever the linkage.
    assert {*LINKAGE_CHECKS} - {*WRONG_LINKAGES} == {"nearest_first", "signs"}


def test_unknown_names_are_errors():
    with pytest.raises(InputError, match="did you mean average"):
        check_linkage("averege")
    with pytest.raises(InputError, match="no parameter 'beta'"):
        check_linkage("average", beta=1)
    with pytest.raises(InputError, match="no check is named 'tie'"):
        check_linkage("average", skip=["tie"])
    with pytest.raises(InputError, match="3 or more"):
        check_oracle("tree", ordhc.linkage([[0, 1], [1, 0]], dissimilarity=False))


# --- strategies ------------------------------------------------------------------------------


@given(strategies.triplets(), strategies.triplets(weighted=True))
def test_triplets(data, weighted):
    assert isinstance(data, ordhc.Triplets)
    assert data.weights is None
    assert len(weighted.weights) == len(weighted)
    S = ordhc.similarity(data)
    assert np.array_equal(S, S.T)


@given(strategies.quadruplets(weighted=True))
def test_quadruplets(data):
    assert isinstance(data, ordhc.Quadruplets)
    assert 3 <= data.n_leaves <= 12
    assert len(ordhc.similarity(data, "adds4")) == data.n_leaves


@settings(max_examples=50)
@given(st.data())
def test_similarities(data):
    S = data.draw(strategies.similarities(max_leaves=9))
    assert np.array_equal(S, S.T)
    assert not S.diagonal().any()
    assert ordhc.linkage(S, dissimilarity=False).n_leaves == len(S)
    distinct = data.draw(strategies.similarities(min_leaves=2, ties=False))
    pairs = distinct[np.triu_indices(len(distinct), 1)]
    assert len(set(pairs.tolist())) == len(pairs)


@given(strategies.dendrograms())
def test_dendrograms(tree):
    assert tree.is_monotone
    assert tree.sizes.tolist()[-1:] in ([], [tree.n_leaves])


def test_hypothesis_is_imported_lazily():
    program = """
import sys
sys.modules["hypothesis"] = None
from ordhc.testing import check_linkage, strategies
check_linkage("average")
try:
    strategies.triplets()
except ImportError as error:
    print(error)
"""
    assert "pip install hypothesis" in printed(program)
