"""Clusters by their words, and by their medoids."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError

scipy_sparse = pytest.importorskip("scipy.sparse")
TREE = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0], names=["cat", "dog", "car", "bus"])


def plainly(tree, X, words, n_words):
    """Class-based tf-idf of each node against all of its siblings, by the book."""
    found = [None] * (len(tree.sizes))
    for node in tree.nodes():
        if node.is_leaf or node.parent is None:
            continue
        classes = [
            [sum(float(X[leaf][w]) for leaf in child.leaves) for w in range(len(words))]
            for child in node.parent.children
        ]
        at = [child.label for child in node.parent.children].index(node.label)
        own, rest = (
            classes[at],
            [sum(c[w] for k, c in enumerate(classes) if k != at) for w in range(len(words))],
        )
        if sum(own) == 0:
            continue
        mean = sum(map(sum, classes)) / len(classes)
        scores = []
        for w in range(len(words)):
            share = own[w] / sum(own)
            elsewhere = rest[w] / sum(rest) if sum(rest) else 0.0
            if own[w] and share > elsewhere * (1 + 1e-12):
                scores.append((-(share - elsewhere) * math.log(1 + mean / (own[w] + rest[w])), w))
        chosen = [words[w] for _, w in sorted(scores)[:n_words]]
        found[node.label - tree.n_leaves] = ", ".join(chosen) or None
    return tuple(found)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 9), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_words_are_those_of_the_plain_twin(n, seed, is_sparse, many_children):
    rng = np.random.default_rng(seed)
    # Numbers of which no two scores are the same but by their columns.
    X = rng.random((n, 6)) * rng.integers(0, 2, (n, 6))
    if many_children:
        text = "(" + ",".join(f"(l{2 * k},l{2 * k + 1})" for k in range(n // 2)) + ",last);"
        tree = ordhc.Dendrogram.from_newick(text)
        X = np.resize(X, (tree.n_leaves, 6))
    else:
        tree = ordhc.linkage(rng.random(n * (n - 1) // 2), dissimilarity=True)
    words = list("abcdef")
    given_ = scipy_sparse.csr_matrix(X) if is_sparse else X
    found = ordhc.describe(tree, given_, words, n_words=2)
    # Sums in another order may differ in the last place, and so may ties.
    names = found.node_names or (None,) * (len(tree.sizes))
    assert names == plainly(tree, X.tolist(), words, 2) or any(
        len(set(X[:, k].tolist())) < n for k in range(6)
    )
    assert found.replace(node_names=None) == tree.replace(node_names=None)


def test_what_all_say_names_nobody():
    X = [[5, 1, 0], [5, 1, 0], [5, 0, 1], [5, 0, 1]]
    found = ordhc.describe(TREE, X, ["the", "meow", "engine"])
    assert found.node_names == ("meow", "engine", None)
    assert found.node("meow").leaf_names == ("cat", "dog")
    assert ordhc.describe(TREE, [[1, 0]] * 4, ["a", "b"]).node_names is None
    assert ordhc.describe(TREE, np.zeros((4, 0)), []).node_names is None
    # As scikit-learn keeps its words.
    by_word = {"engine": 2, "the": 0, "meow": 1}
    assert ordhc.describe(TREE, X, by_word).node_names == found.node_names


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 10), st.integers(0, 10_000), st.booleans())
def test_medoids_have_the_largest_mean_cosine(n, seed, is_sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    tree = ordhc.linkage(
        rng.random(n * (n - 1) // 2), dissimilarity=True, names=[f"leaf {k}" for k in range(n)]
    )
    found = ordhc.describe(tree, scipy_sparse.csr_array(X) if is_sparse else X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for node in tree.nodes():
        if not node.is_leaf:
            leaves = sorted(node.leaves.tolist())
            means = [np.mean([unit[a] @ unit[b] for b in leaves]) for a in leaves]
            expected = leaves[int(np.argmax(np.round(means, 9)))]
            assert found.node(node.label).name == f"leaf {expected}"


@pytest.mark.parametrize(
    ("X", "vocabulary", "said"),
    [
        ([[1, 2]] * 3, ["a", "b"], "X has 3 rows for 4 leaves"),
        ([[1, 2]] * 4, ["a"], "vocabulary has 1 words for the 2 columns of X"),
        ([[1, 2]] * 4, "ab", "vocabulary is 'ab'; give a list"),
        ([[1, 2]] * 4, {"a": 0, "b": 2}, "vocabulary has 2 words for the 2 columns"),
        ([[1, -2]] * 4, ["a", "b"], "X holds -2; counts of words are not negative"),
        ([[1, float("nan")]] * 4, ["a", "b"], "nan is not finite"),
        ([[1, 2]] * 4, ["a", 3], "vocabulary is 3, not a string"),
    ],
)
def test_what_describes_nothing_says_why(X, vocabulary, said):
    with pytest.raises(InputError, match=said):
        ordhc.describe(TREE, X, vocabulary)


def test_names_are_seen_in_pictures_pages_and_reports(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    from support.pictures import saved

    X = [[5, 1, 0], [5, 1, 0], [5, 0, 1], [5, 0, 1]]
    named = ordhc.describe(TREE, X, ["the", "meow", "engine"])
    drawn = saved(named, tmp_path, n_clusters=2)
    # On its branch, and in the legend.
    assert drawn.texts().count("meow") == 2
    assert "meow" not in saved(named, tmp_path, n_clusters=2, node_names=False).texts()
    assert saved(named, tmp_path, truncate=2).texts().count("engine (2)") == 1
    for side in ("left", "top", "bottom"):
        assert "meow" in saved(named, tmp_path, orientation=side).texts()
    assert (
        "cluster 1" in saved(named.replace(node_names=["meow", None, None]), tmp_path, n_clusters=2).texts()
    )
    named.savefig(tmp_path / "tree.html")
    assert '"meow"' in (tmp_path / "tree.html").read_text()
    t = ordhc.Triplets(
        [("cat", "dog", "car"), ("bus", "car", "cat"), ("dog", "cat", "bus")] * 3, names=TREE.names
    )
    r = ordhc.report(
        t,
        X=X,
        vocabulary=["the", "<b>meow</b>", "engine"],
        methods=["adds3-al"],
        structure=False,
        n_resamples=3,
    )
    assert r.tree.node_names[:2] in [("<b>meow</b>", "engine"), ("engine", "<b>meow</b>")]
    assert "<td" in r.to_html()
    assert "&lt;b&gt;meow&lt;/b&gt;" in r.to_html()
    assert "class-based tf-idf" in r.to_html()

    from support.processes import run

    monkeypatch.chdir(tmp_path)
    ordhc.write_comparisons(t, "answers.csv")
    asked = ["report", "answers.csv", "--words", "words.csv", "--resamples", "2", "-q"]
    asked += ["--compare", "adds3-al", "--no-structure"]
    counts = "the,meow,engine\ncar,5,0,1\nbus,5,0,1\ncat,5,1,0\ndog,5,1,0\n"
    named = []
    for header in ("name", "animal", ""):
        (tmp_path / "words.csv").write_text(f"{header},{counts}")
        code, _, err = run(capsys, *asked)
        assert (code, err) == (0, "")
        assert "meow" in (tmp_path / "report.html").read_text()
        named.append(json.loads((tmp_path / "report.json").read_text())["tree"]["node_names"])
    assert named[0] == named[1] == named[2]
    (tmp_path / "words.csv").write_text("name,the\ncar,5\nbus,\ncat,5\ndog,5\n")
    code, _, err = run(capsys, *asked)
    assert code == 2
    assert "words.csv:3: row 'bus', column 'the': the number is missing" in err
    (tmp_path / "words.csv").write_text("name,the\ncar,5\nbus,5\ncat,5\n")
    code, _, err = run(capsys, *asked)
    assert code == 2
    assert "words.csv: has no row for 'dog'; 1 of 4 leaves have no row" in err
