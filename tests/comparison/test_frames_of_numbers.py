"""Data frames of similarities and of vectors: their rows name the leaves."""

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

S = np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.0]])
NAMES = ["cat", "dog", "car"]
ROWS = np.array([[3, 1, 0], [3, 1.5, 0], [0, 1, 4.0]])


def named(values, columns):
    frame = pd.DataFrame(values, columns=columns)
    frame.insert(0, "who", NAMES)
    return frame


SQUARE = {
    "index and columns": (pd.DataFrame(S, index=NAMES, columns=NAMES), NAMES),
    "index": (pd.DataFrame(S, index=NAMES), NAMES),
    "columns": (pd.DataFrame(S, columns=NAMES), NAMES),
    "neither": (pd.DataFrame(S), None),
    "nullable": (pd.DataFrame(S, index=NAMES, columns=NAMES).convert_dtypes(), NAMES),
    "numbers": (pd.DataFrame(S, index=[7, 8, 9], columns=[7, 8, 9]), ["7", "8", "9"]),
    "a column": (named(S, NAMES), NAMES),
    "a column and numbers": (named(S, [0, 1, 2]), NAMES),
    "polars": (pl.DataFrame(S, schema=NAMES), NAMES),
    "polars without names": (pl.DataFrame(S), None),
    "polars with a column": (pl.from_pandas(named(S, NAMES)), NAMES),
    "pyarrow with a column": (pl.from_pandas(named(S, NAMES)).to_arrow(), NAMES),
}


@pytest.mark.parametrize("kind", SQUARE)
@pytest.mark.parametrize("options", [{}, {"tie_seed": 3}, {"name": "ward"}, {"names": ["x", "y", "z"]}])
def test_similarities(kind, options):
    frame, names = SQUARE[kind]
    found = ordhc.linkage(frame, dissimilarity=False, **options)
    wanted = options.get("names", names)
    assert found == ordhc.linkage(S, dissimilarity=False, **{**options, "names": wanted})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame(S, index=NAMES, columns=NAMES[::-1]),
            "are in another order than the rows: row 0 is 'cat', column 0 is 'car'",
        ),
        (pd.DataFrame(S, index=NAMES, columns=["a", "b", "c"]), "have other names than the rows"),
        (named(S, ["a", "b", "c"]), "have other names than the rows: row 0 is 'cat', column 0 is 'a'"),
        (pl.from_pandas(named(S, NAMES[::-1])), "in another order"),
        (pd.DataFrame(S, index=["a", "a", "b"]), "'a' occurs twice, at 0 and 1"),
        (named(S, NAMES).assign(more="x"), r"\(3, 4\)"),
        (named(S, NAMES).assign(who=["a", None, "b"]), "row 1|names"),
        (pd.DataFrame(S[:2], columns=NAMES), r"\(2, 3\)"),
    ],
)
def test_frames_that_are_no_similarities(frame, message):
    with pytest.raises(InputError, match=message):
        ordhc.linkage(frame, dissimilarity=False)


VECTORS = {
    "index": (pd.DataFrame(ROWS, index=NAMES, columns=["x", "y", "z"]), NAMES),
    "no index": (pd.DataFrame(ROWS, columns=["x", "y", "z"]), None),
    "a column": (named(ROWS, ["x", "y", "z"]), NAMES),
    "some rows": (pd.DataFrame(np.repeat(ROWS, 2, axis=0)).iloc[::2], ["0", "2", "4"]),
    "two levels": (
        pd.DataFrame(ROWS, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
        ["a 1", "a 2", "b 1"],
    ),
    "polars": (pl.DataFrame(ROWS), None),
    "polars with a column": (pl.from_pandas(named(ROWS, ["x", "y", "z"])), NAMES),
    "pyarrow with a column": (pl.from_pandas(named(ROWS, ["x", "y", "z"])).to_arrow(), NAMES),
}


@pytest.mark.parametrize("kind", VECTORS)
def test_vectors(kind):
    frame, names = VECTORS[kind]
    found = ordhc.cluster(frame, method="dot-al")
    assert found == ordhc.cluster(ROWS, method="dot-al").replace(names=names)
    assert np.array_equal(ordhc.similarity(frame, "dot"), ordhc.similarity(ROWS, "dot"))


def test_two_columns_of_text_are_no_vectors():
    for frame in (named(ROWS, ["x", "y", "z"]), pd.DataFrame(ROWS, index=NAMES)):
        with pytest.raises(InputError, match="'word'; the vectors must be numbers"):
            ordhc.cluster(frame.assign(more="word"), method="dot-al")


def test_names_of_columns_are_features():
    pytest.importorskip("sklearn")
    X = pd.DataFrame([("a", "b", "c"), ("b", "a", "d")], columns=["near", "far", "anchor"])
    model = ordhc.OrdinalClustering().fit(X)
    assert model.feature_names_in_.tolist() == ["near", "far", "anchor"]
    assert model.score(X[["anchor", "near", "far"]]) == model.score(X)
    assert not hasattr(model.fit(X.assign(weight=1.0)), "feature_names_in_")
    assert not hasattr(ordhc.OrdinalClustering().fit([(0, 1, 2)]), "feature_names_in_")
