"""What the papers' tables and figures are made with, on little or made-up data."""

import gzip
import itertools
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ordhc

BENCHES = Path(__file__).parents[2] / "benches"
pytestmark = pytest.mark.usefixtures("benches")


@pytest.fixture
def benches(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    monkeypatch.delenv("ORDHC_DATA", raising=False)


def similarities(n, seed, high=None):
    """Symmetric; whole numbers below `high`, with ties, or all different."""
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) if high is None else rng.integers(0, high, (n, n))
    return np.triu(S, 1) + np.triu(S, 1).T


def all_of(S, quadruplets):
    """Every comparison of unequal similarities, one by one."""
    n = len(S)
    found = set()
    if quadruplets:
        for first, second in itertools.combinations(itertools.combinations(range(n), 2), 2):
            if S[first] != S[second]:
                found.add((*first, *second) if S[first] > S[second] else (*second, *first))
    else:
        for i, j, k in itertools.permutations(range(n), 3):
            if S[i, j] > S[i, k]:
                found.add((i, j, k))
    return found


def canonical(rows):
    if rows.shape[1] == 3:
        return [tuple(row) for row in rows.tolist()]
    return [(*sorted(row[:2]), *sorted(row[2:])) for row in rows.tolist()]


@pytest.mark.parametrize("quadruplets", [False, True])
@pytest.mark.parametrize("high", [None, 4])
@pytest.mark.parametrize("n", [3, 4, 7])
def test_drawn_comparisons(quadruplets, high, n):
    from reproduce import drawing

    S = similarities(n, 1, high)
    expected = all_of(S, quadruplets)
    rng = np.random.default_rng(0)
    every = canonical(drawing.share(S, 1.0, rng, quadruplets=quadruplets).rows)
    assert len(every) == len(expected)
    assert set(every) == expected
    number = drawing._number(n, quadruplets)
    for m in (0, 1, number // 2, number):
        drawn = canonical(drawing.amount(S, m, rng, quadruplets=quadruplets).rows)
        assert len(set(drawn)) == len(drawn) <= m
        assert set(drawn) <= expected
    assert set(drawn) == expected


def test_a_share_and_flips():
    from reproduce import drawing

    S = similarities(40, 2)
    rng = np.random.default_rng(3)
    number = drawing._number(40, True)
    assert len(drawing.share(S, 0.1, rng, quadruplets=True)) == pytest.approx(0.1 * number, rel=0.05)
    a, b, c = drawing.amount(S, 20_000, rng, flip=0.05).rows.T
    assert np.mean(S[a, b] < S[a, c]) == pytest.approx(0.05, abs=0.01)


def test_pairs_by_number():
    from reproduce import drawing

    i, j = drawing._pair(np.arange(1225))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(a, b) for b in range(50) for a in range(b)]
    # Where the square root is rounded.
    for j in (94_906_267, 2**31):
        k = np.array([j * (j - 1) // 2 - 1, j * (j - 1) // 2])
        assert [column.tolist() for column in drawing._pair(k)] == [[j - 2, 0], [j - 1, j]]


def test_planted_similarities():
    from reproduce import drawing

    S, labels = drawing.planted(2.0, seed=1, n_pure=30)
    assert (S.T == S).all()
    assert [len(np.unique(column)) for column in labels.T] == [2, 4, 8]
    apart = (labels[:, None] != labels[None]).sum(axis=2)
    for level in range(4):
        values = S[(apart == level) & ~np.eye(240, dtype=bool)]
        assert values.mean() == pytest.approx(0.8 - 0.2 * level, abs=0.01)
        assert values.std() == pytest.approx(0.1, abs=0.01)
    # In a random order.
    assert (np.diff(labels[:, 2]) != 0).mean() > 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_methods_of_all_quadruplets(seed, size):
    from reproduce import complete, drawing, foundations_planted

    S, labels = drawing.planted(1.0, seed, n_pure=3, levels=2)
    every = drawing.share(S, 1.0, np.random.default_rng(0), quadruplets=True)
    initial = foundations_planted.initial_clusters(labels, size, seed)
    clusters = 12 if initial is None else len(np.unique(initial))
    mulk4 = partial(complete.four_k, with_adds=False)
    for method, quick in (("4-al", complete.four_al), ("4k-al", complete.four_k), ("mulk4-al", mulk4)):
        tree, other = ordhc.cluster(every, method=method, initial_clusters=initial), quick(S, initial)
        for k in range(1, clusters + 1):
            cut = [(t.cut(n_clusters=k)[:, None] == t.cut(n_clusters=k)) for t in (tree, other)]
            assert (cut[0] == cut[1]).all(), (method, k)


def test_initial_clusters_are_pure():
    from reproduce import drawing, foundations_planted

    _, labels = drawing.planted(1.0, 0, n_pure=7)
    initial = foundations_planted.initial_clusters(labels, 3, seed=7)
    sizes = np.unique(initial, return_counts=True)[1]
    assert sorted(sizes.tolist()) == [3] * 8 + [4] * 8
    assert all(len(np.unique(labels[initial == name, 2])) == 1 for name in initial)
    assert len(np.unique(foundations_planted.initial_clusters(labels, 10, seed=7))) == 8
    assert foundations_planted.initial_clusters(labels, 1, seed=7) is None


def test_levels_by_depth():
    labels = np.array([(0, 0), (0, 0), (0, 1), (0, 1), (1, 2), (1, 2), (1, 3), (1, 3)])
    # 4 to 7 are joined before 2 and 3 are, so that a cut into four has 4 to 7 together.
    merges = [[0, 1], [4, 5], [6, 7], [9, 10], [2, 3], [8, 12], [11, 13]]
    tree = ordhc.Dendrogram(merges, np.arange(7.0, 0.0, -1.0))
    assert ordhc.metrics.aari(tree, labels, levels="depth") == 1.0
    assert ordhc.metrics.aari(tree, labels) < 1
    metrics = pytest.importorskip("sklearn.metrics")
    chain = ordhc.as_dendrogram("(((((((0,1),2),3),4),5),6),7);")
    cuts = [[0] * 7 + [1], [0] * 6 + [1, 2]]
    expected = [metrics.adjusted_rand_score(*pair) for pair in zip(labels.T, cuts, strict=True)]
    assert ordhc.metrics.aari(chain, labels, levels="depth") == pytest.approx(np.mean(expected))


def test_learners_find_the_linkages():
    from reproduce import drawing, foundations_planted

    S, _ = drawing.planted(1.0, 0, n_pure=4)
    for method, linkage in (("SL", "single"), ("CL", "complete")):
        tree, asked = foundations_planted.learnt(method, S, 1.0, seed=3)
        assert ordhc.metrics.robinson_foulds(tree, ordhc.linkage(S, linkage, dissimilarity=False)) == 0
        assert asked > 0
    pairs = 32 * 31 // 2
    for method in (foundations_planted.ACTIVE, foundations_planted.ALL_LANDMARKS):
        asked = foundations_planted.learnt(method, S, 0.01, seed=3)[1]
        assert 0 < asked <= 0.01 * pairs * (pairs - 1) / 2
    # All reference pairs and all landmarks are all quadruplets.
    tree, _ = foundations_planted.learnt(foundations_planted.ALL_LANDMARKS, S, 2.0, seed=3)
    every = foundations_planted.complete.four_k(S, with_adds=False)
    assert ordhc.metrics.robinson_foulds(tree, every) == 0


def test_preparation_of_data(tmp_path, monkeypatch):
    from reproduce import data

    for read in (data.glass, data.mnist_tsne, data.zoo):
        read.cache_clear()
        monkeypatch.setattr(data, read.__name__, read.__wrapped__)
    monkeypatch.setenv("ORDHC_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="data set 'Glass' is missing: no glass.csv in ORDHC_DATA"):
        data.glass()
    (tmp_path / "glass.csv").write_text("a,b,c,d,e,f,g,h,i,Type\n1,2,3,4,5,6,7,8,9,1\n9,8,7,6,5,4,3,2,1,7\n")
    X = data.glass()
    assert X.shape == (2, 9)
    assert data.scaled(X).tolist() == [[-1] * 4 + [-1] + [1] * 4, [1] * 4 + [-1] + [-1] * 4]
    (tmp_path / "zoo100.csv").write_text("name,hair,legs,class_type,class\nant,0,6,6,bug\ncat,1,4,1,mammal\n")
    assert data.zoo()[0].tolist() == [[0, 6], [1, 4]]
    assert data.zoo_with_class().tolist() == [[0, 6, 6], [1, 4, 1]]
    with gzip.open(tmp_path / "mnist_tsne.csv.gz", "wt") as file:
        file.write("x,y,label\n")
        file.writelines(f"{10 * row},{row % 7},{row % 10}\n" for row in range(2050))
    drawn = data.mnist_tsne(3)
    assert drawn.shape == (2000, 2)
    assert len(np.unique(drawn[:, 0])) == 2000
    assert ((drawn[:, 0] / 10) % 10 == np.repeat(np.arange(10), 200)).all()
    assert (data.mnist_tsne(4) != drawn).any()


def test_comparison_with_printed_means():
    from reproduce.framework import Cell, Published
    from reproduce.report import compare

    assert Published("7.336e7").rounding == pytest.approx(5e3)
    assert Published("-0.0004").rounding == pytest.approx(5e-5)
    assert Published.of_runs("1e3", 10.0, 25).error == 2.0

    def verdict(text, deviation, values, note=""):
        published = Published.of_runs(text, deviation)
        cell = Cell("k", ("a",), dict, number="x", simulated=True, published=published, note=note)
        [line] = compare({cell: {seed: {"x": value} for seed, value in enumerate(values)}})
        return line.ours, line.difference, line.verdict

    # Our standard error is 1e5 / sqrt(2), the printed one 1e5; the rounding is 5e3.
    assert verdict("7.000e7", 1e5 * math.sqrt(10), [7.0e7, 7.02e7]) == (
        "7.010e+07 (1.0e+05)",
        "+0.7",
        "reproduced",
    )
    assert verdict("7.0e6", 0.0, [7.1e6, 7.1e6], "why") == (
        "7.100e+06 (0.0e+00)",
        "+inf",
        "differs by +1.4%: why",
    )
    assert verdict("0.50", 0.0, [0.504, 0.504])[1:] == ("0.0", "reproduced")


def test_claims_need_what_can_be_run():
    from reproduce.framework import Cell
    from reproduce.report import claim

    runs, lacks = Cell("k", ("a",), dict), Cell("l", ("b",), dict, lacks="it needs X")
    there = {runs: {0: {"value": 1.0}}, lacks: {}}
    assert claim(("a",), "said", there, lambda: ("ours", True)).verdict == "reproduced"
    assert claim(("a",), "said", there, lambda: ("ours", False)).verdict == "differs"
    assert claim(("a",), "said", {lacks: {}}, pytest.fail).verdict == "can't be run: it needs X"
    assert claim(("a",), "said", {runs: {}, lacks: {}}, pytest.fail).verdict == "not run yet"


def test_printed_tables_of_the_revenue_paper():
    from reproduce import revenue_data, revenue_planted

    for which in ("table1", "table4", "table5"):
        cells = revenue_planted.table(which, quick=False)
        assert len({cell.labels for cell in cells}) == 60
        published = {cell.labels: cell.published for cell in cells}
        # Revenues halve with the number of triplets, but for misprints.
        for method in ("AddS3-AL", "tSTE-AL"):
            of_method = [published[amount, method, "revenue"].value for amount in revenue_planted.AMOUNTS]
            ratios = [a / b for a, b in itertools.pairwise(of_method)]
            misprints = [at for at, ratio in enumerate(ratios) if not 1.8 < ratio < 2.4]
            assert misprints == ([{"AddS3-AL": 7, "tSTE-AL": 8}[method]] if which == "table1" else [])
        assert published["n^2", "AddS3-AL", "aari"].error == pytest.approx(
            (0.047 if which == "table5" else 0.063) / math.sqrt(10)
        )
    assert [revenue_planted.number_of(a, 240) for a in ("16n^2", "n^2", "n^2/32")] == [921600, 57600, 1800]
    assert len(revenue_data.table2(quick=False)) == 4 * 7 + 2 * 5


def test_the_order_of_methods():
    from reproduce import revenue_planted
    from reproduce.framework import Cell

    def results(aaris):
        return {
            Cell(f"{method}", ("n^2", method, "1.0"), dict): {
                seed: {"revenue": revenue + seed, "aari": aari + 0.001 * seed**2} for seed in range(3)
            }
            for method, revenue, aari in zip("AB", (10.0, 20.0), aaris, strict=True)
        }

    [line] = revenue_planted.same_order(results((0.1, 0.2)))
    assert (line.ours, line.verdict) == ("A, B: the same at 1 of 1 ratios", "reproduced")
    contradicting = results((0.2, 0.1))
    # Differences that vary from seed to seed.
    first = next(iter(contradicting.values()))
    for seed in range(3):
        first[seed] = {"revenue": 10.0 - seed, "aari": 0.2 + 0.01 * seed}
    [line] = revenue_planted.same_order(contradicting)
    assert (line.ours, line.verdict) == (
        "A, B: the same at 0 of 1 ratios; A before B by AARI only at 1.0",
        "differs",
    )


def test_trees_from_random_triples():
    from reproduce import queries

    tree = queries.random_tree("threes", 12, seed=1)
    assert (tree.n_leaves, queries._alone(tree)) == (12, 4)
    assert queries._alone(ordhc.as_dendrogram("(((0,1),2),((3,4),(5,6)));")) == 1
    for shape, method in itertools.product(("threes", "uniform"), queries.RECONSTRUCTIONS):
        every = queries._reconstruct(shape, method, 12, 1.0, seed=2)
        assert every == {"right": 1.0, "exact": 1.0, "possible": 1.0, "possible exact": 1.0}
    some = queries._reconstruct("threes", "BUILD", 12, 0.1, seed=2)
    assert some["right"] < 1
    assert some["possible"] == pytest.approx(1 - 0.9 * 2 / 3 * 4 / 10)
    # log3(3), one question for three leaves; log3(15) for four.
    assert queries.information_bound(3) == pytest.approx(1.0)
    assert queries.information_bound(4) == pytest.approx(math.log(15, 3))


@pytest.mark.slow
def test_quick_runs(tmp_path):
    from click.testing import CliRunner

    from reproduce.__main__ import main

    names = ["revenue/table2", "revenue/figure1", "foundations/cars", "queries/theorem23"]
    done = CliRunner().invoke(main, [*names, "--quick", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    for name in ("Zoo", "Glass", "MNIST, t-SNE"):
        assert f"data set '{name}' is missing: ORDHC_DATA is not set." in done.output
    assert "Vogue: data not available" in done.output
    table = (tmp_path / "quick" / "revenue-table2.md").read_text()
    assert "| Food | MulK3-AL | 6.096e6 (0.0e+00) | 6.096e+06 (0.0e+00) | 0.0 | reproduced |" in table
    assert "| Car | AddS3-AL | 1.521e5" in table
    figure = (tmp_path / "quick" / "revenue-figure1.md").read_text()
    assert "Seeds behind each of our numbers: 2." in figure
    assert "| n^2 | the same order of methods by revenue and AARI | AddS3-AL" in figure
    assert "| threes | BUILD, n = 33 |" in (tmp_path / "quick" / "queries-theorem23.md").read_text()
