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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_methods_of_all_quadruplets(seed, size):
    from reproduce import complete, foundations_planted

    S, labels = ordhc.datasets.planted_similarities(levels=2, leaves_per_cluster=3, seed=seed)
    every = ordhc.datasets.comparisons_of(S, quadruplets=True)
    initial = foundations_planted.initial_clusters(labels, size, seed)
    clusters = 12 if initial is None else len(np.unique(initial))
    mulk4 = partial(complete.four_k, with_adds=False)
    for method, quick in (("4-al", complete.four_al), ("4k-al", complete.four_k), ("mulk4-al", mulk4)):
        tree, other = ordhc.cluster(every, method=method, initial_clusters=initial), quick(S, initial)
        for k in range(1, clusters + 1):
            cut = [(t.cut(n_clusters=k)[:, None] == t.cut(n_clusters=k)) for t in (tree, other)]
            assert (cut[0] == cut[1]).all(), (method, k)


def test_initial_clusters_are_pure():
    from reproduce import foundations_planted

    _, labels = ordhc.datasets.planted_similarities(leaves_per_cluster=7)
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
    from reproduce import foundations_planted

    S, _ = ordhc.datasets.planted_similarities(leaves_per_cluster=4)
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

    monkeypatch.setattr(data, "mnist_tsne", data.mnist_tsne.__wrapped__)
    monkeypatch.setenv("ORDHC_DATA", str(tmp_path))
    assert data.glass().shape == (214, 9)
    assert data.scaled(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist() == [[-1, -1], [1, -1]]
    X, classes = data.zoo()
    assert (X.shape, classes[0, 0]) == ((100, 16), "mammal")
    assert data.zoo_with_class()[0].tolist() == [*X[0], 1]
    with pytest.raises(
        FileNotFoundError, match="'MNIST, t-SNE' is missing: no mnist_tsne.csv.gz in ORDHC_DATA"
    ):
        data.mnist_tsne()
    with gzip.open(tmp_path / "mnist_tsne.csv.gz", "wt") as file:
        file.write("x,y,label\n")
        file.writelines(f"{10 * row},{row % 7},{row % 10}\n" for row in range(2050))
    drawn = data.mnist_tsne(3)
    assert drawn.shape == (2000, 2)
    assert len(np.unique(drawn[:, 0])) == 2000
    assert ((drawn[:, 0] / 10) % 10 == np.repeat(np.arange(10), 200)).all()
    assert (data.mnist_tsne(4) != drawn).any()


#: The authors' matrix of topics, in alphabetical order.
TOPICS = """02222222222222212221 20111122222222222222 21011122222222222222 32201233333333333333
32210233333333333333 21111022222222222222 11111101111111111111 33333330122333333333 33333331022333333333
33333332201333333333 33333332210333333333 22222222222011122222 22222222222101122222 22222222222110122222
22222222222111022222 12222222222222202221 22222222222222220112 22222222222222221012 22222222222222221102
12222222222222212220"""


def test_the_authors_ranking_of_newsgroups():
    from reproduce import data

    names = (Path(__file__).parents[1] / "data" / "newsgroups.txt").read_text().splitlines()
    labels = np.array([name.split(".", 1) for name in names])
    # Their code takes it transposed.
    assert [[int(digit) for digit in row] for row in TOPICS.split()] == data.newsgroups_ranking(
        labels
    ).T.tolist()
    twice = data.newsgroups_ranking(np.repeat(labels[:3], 2, axis=0))
    assert twice.shape == (6, 6)
    assert (twice[::2, ::2] == data.newsgroups_ranking(labels[:3])).all()


def test_recipes_of_files():
    pytest.importorskip("sklearn")
    from reproduce import fetch

    documents = ["From: me@here.org\nthe cat sat", "a cat", "dogs and dogs", "dogs bark"]
    counts = fetch.counted(documents, (1, 1.0))
    # bark, cat, dogs, sat.
    assert counts.sum(axis=0).tolist() == [[1, 2, 3, 1]]
    places = fetch.places_in_sample(11_314)
    assert sorted(places.tolist())[-5000:] == list(range(5000))
    # Of the authors' sample the first two, and a document outside.
    assert (places[0], places[1]) == (1111, -1)


def test_comparison_with_printed_means():
    from reproduce.framework import Cell, Published
    from reproduce.report import compare

    assert Published("7.336e7").rounding == pytest.approx(5e3)
    assert Published("-0.0004").rounding == pytest.approx(5e-5)
    assert Published("1e3", 10.0, 25).printed_error == 2.0
    # Our deviation of new draws is larger, or smaller, than the printed one.
    assert Published("1e3", 10.0, 25).error(5.0) == 2.0
    assert Published("1e3", 10.0, 25).error(20.0) == 4.0
    # All runs are of one draw: 20^2 - 10^2 is the variance between draws, which 25 runs do not make smaller.
    one = Published("1e3", 10.0, 25, one_draw=True)
    assert one.error(20.0) == pytest.approx(math.sqrt(300 + 4))
    assert one.error(5.0) == 2.0

    def verdict(text, deviation, values, note="", same_draws=False):
        published = Published(text, deviation, runs=10)
        cell = Cell("k", ("a",), dict, number="x", simulated=True, same_draws=same_draws,
                    published=published, note=note)  # fmt: skip
        [line] = compare({cell: {seed: {"x": value} for seed, value in enumerate(values)}})
        return line.ours, line.difference, line.verdict

    # Twelve seeds: our standard error is 0, the printed one 1e5, the rounding 5e3.
    assert verdict("7.000e7", 1e5 * math.sqrt(10), [7.0337e7] * 12)[1:] == ("+3.3", "differs by +0.5%")
    # Two seeds: our standard error is 1e5, and its 95 % are 12.7 of it instead of 2.
    assert verdict("7.000e7", 1e5 * math.sqrt(10), [7.0e7, 7.02e7]) == (
        "7.010e+07 (1.0e+05)",
        "+0.1",
        "reproduced",
    )
    assert verdict("7.0e6", 0.0, [7.1e6, 7.1e6], "why") == (
        "7.100e+06 (0.0e+00)",
        "+inf",
        "differs by +1.4%: why",
    )
    assert verdict("0.50", 0.0, [0.504, 0.504])[1:] == ("0.0", "reproduced")
    # With the authors' draws only the printed error counts.
    assert verdict("0.50", 0.1, [0.4, 0.61], same_draws=True)[2] == "reproduced, as printed"
    assert verdict("0.50", 0.1, [0.5, 0.6], same_draws=True)[2] == "reproduced"
    assert verdict("0.50", 0.01, [0.4, 0.8], same_draws=True)[2] == "differs by +0.100"
    assert verdict("0.50", 0.01, [0.4, 0.8])[2] == "reproduced"


def test_claims_need_what_can_be_run():
    from reproduce.framework import Cell
    from reproduce.report import claim

    runs, needs = Cell("k", ("a",), dict), Cell("l", ("b",), dict, needs=("X",))
    there = {runs: {0: {"value": 1.0}}, needs: {}}
    assert claim(("a",), "said", there, lambda: ("ours", True)).verdict == "reproduced"
    assert claim(("a",), "said", there, lambda: ("ours", False)).verdict == "differs"
    assert claim(("a",), "said", {needs: {}}, pytest.fail).verdict == "can't be run: it needs the data set X"
    assert claim(("a",), "said", {runs: {}, needs: {}}, pytest.fail).verdict == "not run yet"


def test_missing_data_sets_take_one_line():
    from reproduce.framework import Cell, Published
    from reproduce.report import compare

    cells = [
        Cell(f"{name}{at}", (name, str(at)), dict, published=Published("1"), needs=(name,))
        for name in "XY"
        for at in range(3)
    ]
    lines = compare({cell: {} for cell in cells})
    assert [(line.labels, line.published) for line in lines] == [
        (("X", ""), "3 numbers"),
        (("Y", ""), "3 numbers"),
    ]


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
        assert published["n^2", "AddS3-AL", "aari"].printed_error == pytest.approx(
            (0.047 if which == "table5" else 0.063) / math.sqrt(10)
        )
        assert published["n^2", "AddS3-AL", "aari"].one_draw == (which != "table5")
    assert [revenue_planted.number_of(a, 240) for a in ("16n^2", "n^2", "n^2/32")] == [921600, 57600, 1800]
    assert len(revenue_data.table2(quick=False)) == 4 * 7 + 5 * 5


def test_the_authors_draws_give_the_printed_table():
    from reproduce import report, revenue_planted
    from reproduce.__main__ import RESULTS
    from reproduce.framework import Store

    # A run of its own.
    (cell,) = [c for c in revenue_planted.table("table5", quick=False)
               if c.labels == ("n^2/32", "MulK3-AL", "revenue")]  # fmt: skip
    runs = {seed: cell.run(seed) for seed in range(10)}
    assert report.mean_and_error(cell, runs)[0] == pytest.approx(2.015e3, abs=1)
    # What is stored: two methods as printed, t-STE nearly so.
    store = Store(RESULTS)
    cells = {cell: store.load(cell) for cell in revenue_planted.table("table5", quick=False)}
    verdicts = {line.labels: line.verdict for line in report.compare(cells)}
    assert len(verdicts) == 60
    for (_, method, _), verdict in verdicts.items():
        assert verdict in ("reproduced", "reproduced, as printed")
        assert method == "tSTE-AL" or verdict.endswith("as printed")
    assert sum(verdict.endswith("as printed") for verdict in verdicts.values()) >= 56


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


def test_theorems_hold_for_what_they_are_about():
    from reproduce import foundations_theorems, revenue_theorems

    assert len(list(revenue_theorems.all_trees((0, 1, 2, 3)))) == 15
    assert revenue_theorems.all_pairs(4, 0) == {"trees": 15.0, "unique": 15.0, "symmetric": 1.0}
    assert revenue_theorems.identity(12, 1) == {"difference": 0.0}
    # All pairs of triplets have the best revenue.
    found = revenue_theorems.share_of_best(16, 100.0, 0.0, "adds3-al", 0)
    assert found["share"] == 1.0
    assert revenue_theorems.share_of_best(16, 1.0, 0.5, "adds3-al", 0)["share"] < 0.9
    assert foundations_theorems.active_linkage("SL", 16, 0)["wrong"] == 0
    assert foundations_theorems.recovered("CL", 30.0, 32, 0) == {"right": 1.0}
    assert foundations_theorems.recovered("SL", 0.1, 32, 0) == {"right": 0.0}


def test_digests_of_code():
    from reproduce import provenance, queries, revenue_planted

    digest = provenance.of(revenue_planted._run)
    assert digest == provenance.of(partial(revenue_planted._run, "n^2", 1.0))
    assert digest != provenance.of(queries._learn)
    used = set(provenance._used("revenue_planted", "_run"))
    assert ("methods", "fit") in used
    assert ("revenue_planted", "_simulated") in used
    # Comments, docstrings and line breaks don't count.
    plain = provenance._plain("methods", provenance._names("methods")[0]["fit"][0])
    assert "Of leaves without answers" not in plain
    assert "Return the tree" not in plain
    assert provenance._digest("f(a,\n  b,\n)") == provenance._digest("f(a, b)")
    assert provenance._digest("f(a, b)") != provenance._digest("f(b, a)")


def test_results_of_other_code_are_not_used(tmp_path, monkeypatch):
    from reproduce import provenance, queries
    from reproduce.framework import Cell, Store, undone

    cell = Cell("queries/x/y", ("a",), partial(queries._learn, "yule", queries.EXACT, 8), "ratio", 2)
    store = Store(tmp_path)
    store.add(cell, 0, {"ratio": 0.123456789123, "wrong": 0.0})
    assert Store(tmp_path).load(cell) == {0: {"ratio": 0.123456789, "wrong": 0.0}}
    assert [seed for _, seed in undone([cell], Store(tmp_path), None)] == [1]
    monkeypatch.setattr(provenance, "of", lambda run: "other")
    assert Store(tmp_path).load(cell) == {}
    assert [seed for _, seed in undone([cell], Store(tmp_path), None)] == [0, 1]


def test_the_page_is_made_by_the_code_as_it_is():
    from reproduce import provenance

    page = (BENCHES.parent / "docs" / "reproduction.md").read_text()
    assert page.startswith(f"<!-- code {provenance.everything()} -->"), (
        "benches/reproduce or a metric has changed: run `python -m reproduce --page` in benches, after "
        "`python -m reproduce` where results are of other code"
    )
    assert "most likely" not in page


@pytest.mark.slow
def test_quick_runs(tmp_path):
    from click.testing import CliRunner

    from reproduce.__main__ import main

    names = ["revenue/table2", "revenue/figure1", "foundations/cars", "queries/theorem23"]
    done = CliRunner().invoke(main, [*names, "--quick", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "data set 'MNIST, t-SNE' is missing: ORDHC_DATA is not set." in done.output
    assert "data set 'Vogue' is missing: give --data vogue=PATH" in done.output
    table = (tmp_path / "quick" / "revenue-table2.md").read_text()
    assert "| Food | MulK3-AL | 6.096e6 (0.0e+00) | 6.096e+06 (0.0e+00) | 0.0 | reproduced |" in table
    assert "| Car | AddS3-AL | 1.521e5" in table
    figure = (tmp_path / "quick" / "revenue-figure1.md").read_text()
    assert "Seeds behind each of our numbers: 2." in figure
    assert "| n^2 | the same order of methods by revenue and AARI | AddS3-AL" in figure
    assert "| threes | BUILD, n = 33 |" in (tmp_path / "quick" / "queries-theorem23.md").read_text()
