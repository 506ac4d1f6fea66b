"""The command that repeats the papers' tables and figures, on little data."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ordhc
from ordhc.tree.dendrogram import lca_size

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture
def command(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    monkeypatch.delenv("ORDHC_DATA", raising=False)
    from reproduce.__main__ import main

    def run(*arguments, code=0):
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_a_quick_table_names_missing_data_sets(command, tmp_path):
    said = command("dot/table1", "--quick", "--output", tmp_path)
    for name in ("20 Newsgroups", "MNIST"):
        assert f"Can't be run: data set '{name}' is missing: ORDHC_DATA is not set." in said
    assert "data set 'Zebrafish' is missing: give --data zebrafish=PATH" in said
    table = (tmp_path / "quick" / "dot-table1.md").read_text()
    assert "| Simulated | vectors | dot product | 0.86 (1) | 0.9" in table
    assert "| MNIST |  |  | 10 numbers |  |  | can't be run: it needs the data set MNIST |" in table
    assert "| Zoo | vectors | Ward |  | 0." in table
    assert (tmp_path / "quick" / "dot-table1.csv").read_text().count("\n") == table.count("\n| ") - 1
    document = (tmp_path / "quick" / "reproduction.md").read_text()
    assert table in document
    assert "| `dot/table3` |" in document


def test_a_folder_without_the_file(command, tmp_path, monkeypatch):
    monkeypatch.setenv("ORDHC_DATA", str(tmp_path))
    listed = command("table1", "--list")
    assert "data set 'MNIST' is missing: no mnist_test_pixels.npz in ORDHC_DATA." in listed
    assert "Left out: Foundations, Figure 1: it illustrates the planted model" in listed


def test_a_quick_figure(command, tmp_path, monkeypatch):
    said = command("dot/figure2", "--quick", "--output", tmp_path)
    assert (
        "| (a) | p ~ log n | PCA very slightly smaller |" in (tmp_path / "quick/dot-figure2.md").read_text()
    )
    points = (tmp_path / "quick" / "dot-figure2-points.csv").read_text().splitlines()
    # 8 lines of 2 points, 2 simulations, 2 numbers.
    assert len(points) == 1 + 8 * 2 * 2 * 2
    if importlib.util.find_spec("matplotlib"):
        assert (tmp_path / "quick" / "images" / "dot-figure2.png").stat().st_size > 10_000
    else:
        assert "no figure without matplotlib" in said
    # With the results there are.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = command("dot/figure2", "--quick", "--output", tmp_path)
    assert "dot/figure2: no figure without matplotlib" in " ".join(said.split())


def test_a_run_goes_on_where_it_was(command, tmp_path, monkeypatch):
    command("dot/table4", "--quick", "--only", "simulated, ties", "--output", tmp_path)
    from reproduce import dot_products

    (stored,) = (tmp_path / "quick" / "results").glob("*.json")
    before = stored.read_text()
    found = json.loads(before)
    assert len(found) == 4
    calls = []
    tau = dot_products.tau
    monkeypatch.setattr(dot_products, "tau", lambda *given: calls.append(given) or tau(*given))
    lost, other, changed = sorted(found)[:3]
    del found[lost]
    found[other]["settings"] = {}
    found[changed]["code"] = "other"
    stored.write_text(json.dumps(found))
    command("dot/table4", "--quick", "--only", "simulated, ties", "--output", tmp_path)
    assert len(calls) == 3
    assert stored.read_text() == before


def made_up_data(folder):
    """A file of reviews and a folder of stocks in the formats that the recipes take."""
    rng = np.random.default_rng(0)
    words = {"dogs": "bone leash collar treat kennel", "cats": "litter scratch purr whiskers mouse"}
    reviews = ["Text,Cat1,Cat2,Cat3"]
    for row in range(60):
        kind = ("dogs", "cats")[row % 2]
        text = " ".join(rng.choice(words[kind].split(), 4))
        reviews.append(f'"{text}, good",pets,{kind},{kind} {row % 3}')
    (folder / "reviews.csv").write_text("\n".join(reviews) + "\n")
    stocks = folder / "stocks"
    stocks.mkdir()
    factors = rng.normal(size=(2, 15))
    prices = ["date,open,high,low,close,volume,Name"]
    labels = ["Symbol,Security,GICS Sector,GICS Sub-Industry"]
    for stock in range(16):
        labels.append(f"S{stock},Firm,sector {stock % 2},industry {stock % 4}")
        for day in range(15):
            close = 100 + 5 * factors[stock % 2, day] + rng.normal()
            prices.append(f"2013-02-{day + 10},100,110,90,{close},5,S{stock}")
    # Without labels, and without a price on one day.
    prices += [f"2013-02-{day + 10},100,110,90,101,5,NONE" for day in range(15)]
    prices += [f"2013-02-{day + 10},{'' if day == 3 else 100},110,90,101,5,GAP" for day in range(15)]
    labels.append("GAP,Firm,sector 0,industry 0")
    (stocks / "all_stocks_5yr.csv").write_text("\n".join(prices) + "\n")
    (stocks / "labels.csv").write_text("\n".join(labels) + "\n")
    return folder / "reviews.csv", stocks


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
def test_recipes_of_given_data(command, tmp_path):
    reviews, stocks = made_up_data(tmp_path)
    from reproduce import given

    X, labels = given.sp500(stocks)
    assert X.shape == (16, 15)
    assert labels[5].tolist() == ["sector 1", "industry 1"]
    rows = [line.split(",") for line in (stocks / "all_stocks_5yr.csv").read_text().splitlines()]
    assert X[2, 4] == pytest.approx(
        float(next(r[4] for r in rows if r[::6] == ["2013-02-14", "S2"])) / 100 - 1
    )
    X, labels = given.amazon(reviews)
    assert X.shape == (60, 11)
    shared = given.amazon_ranking(np.array([("a", "b", "c"), ("a", "b", "d"), ("c", "x", "y")]))
    assert shared.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    np.testing.assert_allclose((X.toarray() ** 2).sum(axis=1), 1)
    assert labels.shape == (60, 3)
    options = ["--data", f"amazon={reviews}", "--data", f"sp500={stocks}", "--output", tmp_path / "out"]
    said = command("dot/table1", "dot/table4", "--quick", "--only", "vectors", *options)
    assert "'Amazon reviews'" not in said
    assert "data set 'MNIST' is missing" in said
    table = (tmp_path / "out" / "quick" / "dot-table1.md").read_text()
    for name, published in [("Amazon reviews", "0.14 (2.4)"), ("S&P 500", "0.34 (10)")]:
        line = next(
            row for row in table.splitlines() if row.startswith(f"| {name} | vectors | dot product |")
        )
        cells = [cell.strip() for cell in line.split("|")]
        assert cells[4] == published
        # Two clusters that are easy to tell.
        assert float(cells[5].split()[0]) > 0.3
    assert "has the rows of Amazon reviews, vectors and principal components, swapped" in " ".join(
        table.split()
    )
    # Other files, other results.
    stored = json.loads((tmp_path / "out" / "quick" / "results" / "dot-S&P-500.json").read_text())
    assert stored["dot/S&P-500/vectors/dot-product"]["settings"]["bytes"] == given.fingerprint("S&P 500")


def test_data_that_is_not_there(command, tmp_path):
    listed = command("dot/table1", "--list")
    assert "--data sp500=PATH: a folder with all_stocks_5yr.csv" in listed
    assert "data set 'S&P 500' is missing: give --data sp500=PATH" in listed
    assert "columns Text, Cat1, Cat2, Cat3" in " ".join(command("--help").split())
    for given, part in [
        ("sp500", "'sp500' is not NAME=PATH with one of the names sp500, amazon, zebrafish, vogue"),
        ("glass=x", "is not NAME=PATH"),
        (f"sp500={tmp_path}", "there is no file"),
    ]:
        assert part in " ".join(command("dot/table1", "--list", "--data", given, code=2).split())
    from reproduce import given

    (tmp_path / "x.csv").write_text("Text,Cat1\na,b\n")
    with pytest.raises(ValueError, match="there is no column 'Cat2'"):
        given.amazon(tmp_path / "x.csv")


def test_other_data_that_are_given(command, tmp_path):
    from reproduce import given

    (tmp_path / "odd.csv").write_text("2,0,1\n3,1,0\n")
    (tmp_path / "ranks.csv").write_text("0,1,2,3,4,5,6,7,8\n")
    np.savez(tmp_path / "cells.npz", X=np.eye(3, dtype=np.float32), labels=np.array([["a"], ["a"], ["b"]]))
    for name, file in (("vogue", "odd.csv"), ("imagenet", "ranks.csv"), ("zebrafish", "cells.npz")):
        given.give(f"{name}={tmp_path / file}")
    assert given.answers("Vogue").rows.tolist() == [[0, 1, 2], [1, 0, 2], [1, 0, 3], [0, 1, 3]]
    assert len(given.answers.__wrapped__("Imagenet")) == 13
    X, labels = given.load("Zebrafish")
    assert (X.dtype, X.shape, labels.shape) == (np.float64, (3, 3), (3, 1))
    given.PATHS.clear()


def test_unknown_names(command):
    assert "there are dot/table1" in command("table9", code=2)


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
def test_methods_are_those_of_scipy(command):
    from reproduce import dot_errors, dot_products

    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    Y, _ = ordhc.datasets.vectors_of(dot_errors.TREE, 50, 30, seed=1)
    for method, linkage, metric in [
        (dot_products.COSINE, "average", "cosine"),
        (dot_products.WARD, "ward", "euclidean"),
        (dot_products.COMPLETE, "complete", "euclidean"),
        (dot_products.SINGLE_COSINE, "single", "cosine"),
        (dot_products.MANHATTAN, "average", "cityblock"),
    ]:
        peer = ordhc.as_dendrogram(hierarchy.linkage(Y, linkage, metric))
        assert ordhc.metrics.robinson_foulds(dot_products.METHODS[method](Y), peer) == 0, method


def test_split_ties(command):
    scipy = pytest.importorskip("scipy.stats")
    from reproduce import dot_errors, dot_products

    Y, leaves = ordhc.datasets.vectors_of(dot_errors.TREE, 40, 60, seed=2)
    tree = ordhc.cluster(Y, method="dot-al")
    found = dot_products._tau(tree, dot_products.split_ranking(leaves, seed=3))
    merges = ordhc.Dendrogram(tree.merges, np.arange(1.0, 40))
    noise = np.random.default_rng([3, 1]).normal(scale=1e-9, size=(5, 5))
    split = dot_errors.affinities(np.arange(5)) + noise + noise.T
    ranks = np.array([[lca_size(merges, i, j) if i != j else 0 for j in range(40)] for i in range(40)])
    # A leaf is as close to itself as to those of its own vertex.
    expected = [scipy.kendalltau(ranks[i], -split[leaves[i], leaves]).correlation for i in range(40)]
    assert found["value"] == pytest.approx(np.mean(expected), abs=1e-12)
    assert found["error"] == pytest.approx(scipy.sem(expected), abs=1e-12)


def test_true_affinities(command):
    from reproduce import dot_errors

    found = dot_errors.affinities(np.array([0, 1, 3, 4]))
    assert found.tolist() == [[8, 3, 1, 1], [3, 5, 1, 1], [1, 1, 2.5, 2], [1, 1, 2, 9]]
    assert dot_errors.labels_of(np.array([0, 2, 3])).tolist() == [[0, 0], [0, 2], [1, 3]]
