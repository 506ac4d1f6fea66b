"""The gate for arguments: whatever is given, a result or an InputError, and nothing silently changed."""

import ast
import fractions
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ordhc
from ordhc import Quadruplets, Triplets, _checks
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.dendrogram import lca_size

T = Triplets([(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1)])
TREE = ordhc.cluster(T, method="adds3-al+spr")


class Broken:
    """Fails whatever is done with it."""

    def __array__(self, *_, **__):
        raise RuntimeError("no array\x1b[2J")

    def __len__(self):
        raise RuntimeError("no length")

    def __float__(self):
        raise RuntimeError("no number")


def odd_arrays():
    """Arrays of all types, orders and shapes, masked, misaligned, read-only, and what is no array."""
    kinds = st.one_of(
        hnp.integer_dtypes(endianness="?"),
        hnp.unsigned_integer_dtypes(endianness="?"),
        hnp.floating_dtypes(endianness="?", sizes=(32, 64)),
        hnp.complex_number_dtypes(),
        hnp.datetime64_dtypes(),
        hnp.unicode_string_dtypes(max_len=4),
        hnp.byte_string_dtypes(max_len=4),
        st.just(np.dtype(bool)),
        st.just(np.dtype([("a", int), ("b", float)])),
    )
    shapes = st.one_of(
        hnp.array_shapes(max_dims=3, max_side=4, min_side=0),
        st.sampled_from([(4, 3), (4, 4), (4,), (6,), (2, 3), (1, 4), ()]),
    )
    arrays = st.builds(
        lambda dtype, shape, data: data.draw(hnp.arrays(dtype, shape)), kinds, shapes, st.data()
    )
    small = st.builds(
        lambda dtype, shape, seed: np.random.default_rng(seed).integers(0, 4, shape).astype(dtype),
        st.sampled_from(["i1", "<i4", ">i4", "u8", ">f8", "f2", "f4", "g", "O", "U2", "?", "c8"]),
        shapes,
        st.integers(0, 999),
    )

    def changed(table, how):
        if how == "masked":
            return np.ma.MaskedArray(table, mask=np.arange(table.size).reshape(table.shape) % 5 == 3)
        if how == "unmasked":
            return np.ma.MaskedArray(table)
        if how == "readonly":
            table = table.copy()
            table.flags.writeable = False
        if how == "reversed" and table.ndim:
            return table[::-1].T
        if how == "misaligned" and table.dtype.hasobject is False and table.size:
            raw = np.zeros(table.nbytes + 1, dtype=np.uint8)
            odd = raw[1:].view(table.dtype).reshape(table.shape)
            odd[...] = table
            return odd
        return table.tolist() if how == "list" else table

    ways = st.sampled_from(["as it is", "masked", "unmasked", "readonly", "reversed", "misaligned", "list"])
    things = st.sampled_from(
        [None, "abc", b"abc", 3, -1, 1.5, np.nan, 2**70, 1j, object(), Broken(), [Broken()], {}, {"a": [1]},
         [[0, 1, 2], [0, 1]], [[0, 1, None]], [[0, "a", 2]], [["a", "b", "c"]], [["\x1b", "b", "c" * 500]],
         set(), [0, np.ma.masked], [[0, 1, 2**64]], range(4), (x for x in "abc"), type, [[[[]]]], True,
         np.ma.masked, fractions.Fraction(3, 2), float("inf"), np.datetime64("NaT")]
    )  # fmt: skip
    return st.one_of(st.builds(changed, st.one_of(arrays, small), ways), things)


ACTS = {
    "Triplets": Triplets,
    "Quadruplets": Quadruplets,
    "n_leaves": lambda x: Triplets([(0, 1, 2)], x),
    "names": lambda x: Triplets([(0, 1, 2)], names=x),
    "weights": lambda x: Triplets(T.rows, weights=x),
    "answers": lambda x: Triplets(T.rows, answers=x),
    "groups": lambda x: Triplets(T.rows, groups=x),
    "group_names": lambda x: Triplets(T.rows, groups=[0, 1, 2, 3], group_names=x),
    "odd": Triplets.from_odd_one_out,
    "central": Triplets.from_most_central,
    "ranking": Triplets.from_ranking,
    "n_ranked": lambda x: Triplets.from_ranking([(0, 1, 2, 3)], x),
    "responses": Triplets.from_responses,
    "y": lambda x: Triplets.from_responses(T.rows, x),
    "sample": T.sample,
    "fraction": T.split,
    "split seed": lambda x: T.split(seed=x),
    "unit": lambda x: T.split(unit=x),
    "similarity": ordhc.similarity,
    "vectors": lambda x: ordhc.similarity(x, "cosine"),
    "similarity name": lambda x: ordhc.similarity(T, x),
    "layout": lambda x: ordhc.similarity(T, layout=x),
    "dtype": lambda x: ordhc.similarity(T, dtype=x),
    "linkage": lambda x: ordhc.linkage(x, dissimilarity=False),
    "linkage name": lambda x: ordhc.linkage([1.0, 2.0, 3.0], x, dissimilarity=False),
    "linkage labels": lambda x: ordhc.linkage(np.ones(6), dissimilarity=False, initial_clusters=x),
    "tie_seed": lambda x: ordhc.linkage(np.ones(6), dissimilarity=False, tie_seed=x),
    "dissimilarity": lambda x: ordhc.linkage(np.ones(6), dissimilarity=x),
    "overwrite": lambda x: ordhc.linkage(np.ones(6), dissimilarity=False, overwrite=x),
    "S overwritten": lambda x: ordhc.linkage(x, dissimilarity=False, overwrite=True),
    "missing": lambda x: ordhc.linkage(np.ones(6), dissimilarity=False, missing=x),
    "linkage names": lambda x: ordhc.linkage(np.ones(6), dissimilarity=False, names=x),
    "cluster": ordhc.cluster,
    "vectors by method": lambda x: ordhc.cluster(x, method="cosine-al"),
    "method": lambda x: ordhc.cluster(T, method=x),
    "initial_clusters": lambda x: ordhc.cluster(T, initial_clusters=x),
    "cluster tie_seed": lambda x: ordhc.cluster(T, tie_seed=x),
    "parameters": lambda x: ordhc.cluster(T, similarity=("mulk3", x)),
    "select data": ordhc.select,
    "methods": lambda x: ordhc.select(T, x, folds=2),
    "folds": lambda x: ordhc.select(T, ["adds3-al"], folds=x),
    "by": lambda x: ordhc.select(T, ["adds3-al"], folds=2, by=x),
    "select group": lambda x: ordhc.select(T, ["adds3-al"], folds=2, group=x),
    "select seed": lambda x: ordhc.select(T, ["adds3-al"], folds=2, seed=x),
    "bootstrap": ordhc.bootstrap,
    "n_resamples": lambda x: ordhc.bootstrap(T, n_resamples=x if x is not T else 2) if not big(x) else None,
    "bootstrap group": lambda x: ordhc.bootstrap(T, n_resamples=2, group=x),
    "bootstrap seed": lambda x: ordhc.bootstrap(T, n_resamples=2, seed=x),
    "confidence": lambda x: ordhc.bootstrap(T, n_resamples=2, confidence=x),
    "merges": lambda x: ordhc.Dendrogram(x, [1.0, 2.0]),
    "heights": lambda x: ordhc.Dendrogram([(0, 1), (2, 3)], x),
    "Z": ordhc.Dendrogram.from_linkage_matrix,
    "relabel": TREE.relabel,
    "cut": TREE.cut,
    "cut height": lambda x: TREE.cut(height=x),
    "lca_size": lambda x: lca_size(TREE, x, 0),
    "objective": lambda x: ordhc.refine(TREE, T, x),
}


def big(x):
    return isinstance(x, int | float) and x > 1000


@pytest.mark.parametrize("what", ACTS)
@settings(deadline=None, max_examples=25)
@given(x=odd_arrays())
def test_anything_is_taken_or_explained(what, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        try:
            ACTS[what](x)
        except InputError as error:
            text = str(error)
        else:
            return
    assert text.isprintable()
    assert len(text) < 500


@settings(deadline=None)
@given(odd_arrays(), st.integers(1, 200))
def test_what_is_quoted_is_short_and_printable(x, limit):
    text = _checks.quoted(x, max(limit, 20))
    assert len(text) <= max(limit, 40)
    assert text.isprintable()


@given(st.text(max_size=300))
def test_quoted_text_is_a_literal_or_cut(text):
    shown = _checks.quoted(text)
    assert len(shown) <= 80
    assert shown.isprintable()
    if len(repr(text)) <= 80:
        assert shown == repr(text)
    else:
        # As much of it as fits.
        assert shown.endswith("...")
        part = ast.literal_eval(shown[:-3])
        assert text.startswith(part)
        assert len(repr(text[: len(part) + 1])) > 77


LOST = [
    (lambda: TREE.relabel([1.9, 0.1, 2, 3]), "leaves[0] = 1.9 is not a whole number"),
    (
        lambda: ordhc.linkage(np.ones(6), dissimilarity=False, initial_clusters=[1e300, 1e200, 1, 2]),
        "initial_clusters[0] = 1e+300",
    ),
    (lambda: Triplets(np.ma.MaskedArray(T.rows, mask=T.rows == 3)), "rows[1, 2] is masked"),
    (
        lambda: ordhc.linkage(np.ma.MaskedArray(np.ones(6), mask=[0, 0, 1, 0, 0, 0]), dissimilarity=False),
        "the matrix[2] is masked",
    ),
    (lambda: ordhc.cluster(np.ones((3, 2)) * 1j, method="dot-al"), "complex numbers"),
    (lambda: ordhc.linkage(np.ones(6) * 1j, dissimilarity=False), "complex numbers"),
    (lambda: ordhc.Dendrogram([(0, 1)], [1j]), "complex numbers"),
    (lambda: Triplets([(0, 1, 2)], weights=["1.5"]), "weights must be numbers, not text such as '1.5'"),
    (lambda: Triplets([(0, 1, 2**31 - 2)]), f"row 0: leaf {2**31 - 2} is far above the 3 different ids"),
    (lambda: Triplets.from_odd_one_out([(0, 1, 2), (0, 1, 10**6)]), "row 1: leaf 1000000 is far above the 4"),
    (lambda: Triplets([(0, 1, 2)], n_leaves=True), "True is not a whole number"),
]


@pytest.mark.parametrize(("make", "part"), LOST, ids=[part for _, part in LOST])
def test_nothing_is_lost_silently(make, part):
    with pytest.raises(InputError) as error:
        make()
    assert part in str(error.value)


def test_large_ids_can_be_meant():
    assert Triplets([(0, 1, 10**6)], n_leaves=10**6 + 1).n_leaves == 10**6 + 1
    with pytest.warns(OrdhcWarning, match="leaf 9999 is far above all others, which end at 1"):
        assert Triplets([(0, 1, 9_999)]).n_leaves == 10_000
    with pytest.warns(OrdhcWarning, match="only 5 of the ids 0..9998 occur"):
        assert Triplets([(0, 1, 9_998), (1, 2, 6000)]).n_leaves == 9_999
    rows = np.random.default_rng(0).integers(0, 20_000, (3000, 3))
    rows = rows[(np.diff(np.sort(rows, axis=1), axis=1) > 0).all(axis=1)]
    with pytest.warns(OrdhcWarning, match="only 7259 of the ids 0..19998 occur"):
        assert Triplets(rows).n_leaves == rows.max() + 1


def test_whole_numbers_do_not_wrap_around():
    t = Triplets(np.repeat([(0, 1, 2), (3, 1, 2)], 50_000, axis=0))
    raw = ordhc.similarity(t, "mulk3", normalize=False, dtype="int64")
    assert raw[0, 3] == 2_500_000_000
    with pytest.raises(
        InputError, match="the largest value is 2500000000, above the limit of int32, 2147483647"
    ):
        ordhc.similarity(t, "mulk3", normalize=False, dtype="int32")
    for name in ("mulk4", "4k"):
        with pytest.raises(InputError, match="the largest value is"):
            ordhc.similarity(t, name, dtype="int32")
        assert ordhc.similarity(t, name, dtype="int64").max() > 2**31
    few = ordhc.similarity(T, "mulk3", normalize=False, dtype="int32")
    assert few.dtype == np.int32
    assert few.tolist() == ordhc.similarity(T, "mulk3", normalize=False).tolist()


@pytest.mark.parametrize("seed", [3, np.int64(3), np.uint8(3), 3.0])
def test_seeds_of_any_whole_type(seed):
    assert T.split(0.5, seed=seed) == T.split(0.5, seed=3)
    assert ordhc.select(T, ["adds3-al"], folds=2, seed=seed).candidates[0].revenue is not None
    assert (
        ordhc.bootstrap(T, n_resamples=2, seed=seed).trees == ordhc.bootstrap(T, n_resamples=2, seed=3).trees
    )
    assert ordhc.cluster(T, tie_seed=seed) == ordhc.cluster(T, tie_seed=3)
    assert ordhc.datasets.planted(50, leaves_per_cluster=2, seed=seed)[0] is not None
    learner = ordhc.Learner(4, seed=seed)
    assert learner.ask().rows.tolist() == ordhc.Learner(4, seed=3).ask().rows.tolist()


@pytest.mark.parametrize(
    "way", [">f8", "strided", "misaligned", "read-only", "float16", "object", "longdouble"]
)
def test_arrays_of_any_layout_give_the_same(way):
    S = np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.5]])
    rows = T.rows.astype(float)

    def other(x):
        if way == "strided":
            return np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)[::2, ::2]
        if way == "misaligned":
            raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
            odd = raw[1:].view(x.dtype).reshape(x.shape)
            odd[...] = x
            return odd
        if way == "read-only":
            x = x.copy()
            x.flags.writeable = False
            return x
        return x.astype(way)

    assert ordhc.linkage(other(S), dissimilarity=False) == ordhc.linkage(S, dissimilarity=False)
    assert Triplets(other(rows)) == T
    assert ordhc.cluster(other(S), method="dot-al") == ordhc.cluster(S, method="dot-al")
    assert Triplets(T.rows, weights=other(S[:2, :2]).ravel()) == Triplets(T.rows, weights=S[:2, :2].ravel())
