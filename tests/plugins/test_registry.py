"""Plugins as strangers write them: good ones, bad ones, and ones that get in each other's way."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, get_args, get_origin

import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.plugins import registry
from ordhc.plugins.names import Linkage, Method, Metric, Similarity
from support.plugins import S, good, rows_of, the_row


def test_a_good_plugin(install):
    install("good-one", good("half"), version="2.5")
    row = the_row("good-one")
    assert (row.status, row.kind, row.name, row.version) == ("ok", "linkage", "half", "2.5")
    assert (row.entry_point, row.summary, row.error) == ("main", "a mean", "")
    assert row.to_dict()["plugin"] == "good-one"
    expected = ordhc.linkage(S, "weighted", dissimilarity=False).heights.tolist()
    for name in ("half", "good-one:half", "Good_One:half"):
        assert ordhc.linkage(S, name, dissimilarity=False).heights.tolist() == expected


def test_the_hooks_of_data(install):
    source = """
    import numpy as np
    from ordhc.hooks import hookimpl
    from ordhc.specs import LinkageSpec, MethodSpec, MetricSpec, OracleSpec, SimilaritySpec

    @hookimpl
    def ordhc_linkages():
        update = lambda a, b, *_, w: w * a + (1 - w) * b
        yield LinkageSpec(name="blend", summary="x", update_row=update, parameters={"w": 0.5})

    def ones(data, *, layout, dtype, progress, value):
        n = data.n_leaves
        return np.full((n, n) if layout == "square" else n * (n - 1) // 2, value, dtype=dtype)

    @hookimpl
    def ordhc_similarities():
        spec = SimilaritySpec(
            name="ones", summary="x", build=ones, data=("triplets",), parameters={"value": 1.0}
        )
        return (spec,)

    @hookimpl
    def ordhc_methods():
        spec = MethodSpec(
            name="ones-blend", summary="x", similarity="ones", linkage="blend", parameters={"value": 3.0}
        )
        return [spec]

    @hookimpl
    def ordhc_oracles():
        return [OracleSpec(name="first", summary="x", make=lambda s: lambda q: np.zeros(len(q), int))]

    def leaves(tree, reference):
        return tree.n_leaves

    @hookimpl
    def ordhc_metrics():
        return [MetricSpec(name="leaves", summary="x", score=leaves, reference=("triplets",))]
    """
    install("all-five", source)
    kinds = ["linkage", "similarity", "method", "oracle", "metric"]
    assert [row.kind for row in rows_of("all-five")] == kinds
    t = ordhc.Triplets([(0, 1, 2)])
    assert (ordhc.cluster(t, method="ones-blend").heights == 3).all()
    assert (ordhc.cluster(t, method="ones-blend", value=5).heights == 5).all()
    assert (ordhc.cluster(t, similarity="ones", linkage="blend").heights == 1).all()
    with pytest.raises(InputError, match="no parameter 'values'"):
        ordhc.cluster(t, method="ones-blend", values=5)
    assert (ordhc.similarity(t, "ones", value=2) == 2).all()
    assert ordhc.score(ordhc.cluster(t), t, "leaves") == 3
    assert (
        ordhc.linkage(S, "blend", dissimilarity=False).heights.tolist()
        == ordhc.linkage(S, "weighted", dissimilarity=False).heights.tolist()
    )
    assert registry.get("oracle", "first").make(None)([[0, 1, 2]]).tolist() == [0]


def test_plugins_are_chosen(install, monkeypatch):
    install("one", good("first"), choose=False)
    install("two", good("second"), choose=False)
    install("three", good("third"), entry_point="special_point", choose=False)

    def found():
        registry.reset()
        rows = [row for row in ordhc.plugins.list_plugins() if row.plugin in ("one", "two", "three")]
        return {row.plugin: row.status for row in rows}

    monkeypatch.delenv("ORDHC_PLUGINS", raising=False)
    assert found() == {"one": "ok", "two": "ok", "three": "ok"}
    monkeypatch.setenv("ORDHC_PLUGINS", "")
    assert set(found().values()) == {"skipped"}
    assert ordhc.linkage(S, "average", dissimilarity=False).n_leaves == 4
    with pytest.raises(InputError, match="unknown linkage 'first'"):
        ordhc.linkage(S, "first", dissimilarity=False)
    monkeypatch.setenv("ORDHC_PLUGINS", "one")
    assert found() == {"one": "ok", "two": "skipped", "three": "skipped"}
    monkeypatch.setenv("ORDHC_PLUGINS", " Two , special-point,")
    assert found() == {"one": "skipped", "two": "ok", "three": "ok"}
    monkeypatch.setenv("ORDHC_PLUGINS", "nobody")
    assert set(found().values()) == {"skipped"}


def test_plugins_not_chosen_are_not_imported(install, monkeypatch):
    module = install("bad-one", "raise RuntimeError\n", choose=False)
    monkeypatch.setenv("ORDHC_PLUGINS", "")
    registry.reset()
    assert the_row("bad-one").status == "skipped"
    assert module not in sys.modules


def test_a_name_that_two_plugins_claim(install):
    install("one", good("shared", "0.5"))
    install("two", good("shared", "n_i / (n_i + n_j)"))
    install("three", good("other"))
    with pytest.raises(InputError, match="registered by several plugins") as caught:
        ordhc.linkage(S, "shared", dissimilarity=False)
    assert "one:shared" in str(caught.value)
    assert "two:shared" in str(caught.value)
    half, mean = (
        ordhc.linkage(S, "one:shared", dissimilarity=False),
        ordhc.linkage(S, "two:shared", dissimilarity=False),
    )
    assert half.heights.tolist() == ordhc.linkage(S, "weighted", dissimilarity=False).heights.tolist()
    assert mean.heights.tolist() == ordhc.linkage(S, "average", dissimilarity=False).heights.tolist()
    assert [row.status for row in rows_of("one") + rows_of("two")] == ["clash", "clash"]
    assert "two" in the_row("one").error
    assert "one:shared" in the_row("one").error
    assert the_row("three").status == "ok"
    assert "shared" not in registry.names("linkage")
    assert "other" in registry.names("linkage")


def test_a_builtin_name_is_not_taken(install):
    install("thief", good("average", "2"))
    assert ordhc.linkage(S, "average", dissimilarity=False).heights[-1] == 0.75
    assert ordhc.linkage(S, "ordhc:average", dissimilarity=False).heights[-1] == 0.75
    assert ordhc.linkage(S, "thief:average", dissimilarity=False).heights[-1] != 0.75
    row = the_row("thief")
    assert row.status == "clash"
    assert "thief:average" in row.error
    builtin = [row for row in rows_of("ordhc") if row.name == "average"]
    assert [row.status for row in builtin] == ["ok"]
    assert "average" in registry.names("linkage")


def test_the_name_of_ordhc_is_taken(install):
    install("ordhc", good("mine"), version="99", entry_point="impostor")
    with pytest.warns(OrdhcWarning, match="cannot be named"):
        assert "mine" not in registry.names("linkage")


def test_two_entry_points_of_one_distribution(install):
    install("two-doors", good("first"), entry_point="a")
    install("two-doors", good("second"), entry_point="b")
    assert [(row.entry_point, row.name) for row in rows_of("two-doors")] == [("a", "first"), ("b", "second")]
    install("two-doors", good("first"), entry_point="c")
    with pytest.warns(OrdhcWarning, match="another entry point"):
        rows = rows_of("two-doors")
    assert [(row.entry_point, row.status) for row in rows] == [("a", "ok"), ("b", "ok"), ("c", "failed")]
    assert ordhc.linkage(S, "first", dissimilarity=False).n_leaves == 4


def test_unknown_names_suggest_the_nearest(install):
    install("good-one", good("halfway"))
    with pytest.raises(InputError, match=r"unknown linkage 'halfwy' \(did you mean halfway\?"):
        ordhc.linkage(S, "halfwy", dissimilarity=False)
    with pytest.raises(InputError, match=r"did you mean average\?"):
        ordhc.linkage(S, "Averag", dissimilarity=False)
    with pytest.raises(InputError, match="did you mean adds3"):
        ordhc.similarity(ordhc.Triplets([(0, 1, 2)]), "add3")
    with pytest.raises(InputError, match="did you mean triplet_revenue"):
        registry.get("metric", "tripletrevenue")
    with pytest.raises(InputError, match="did you mean tree"):
        registry.get("oracle", "treee")
    with pytest.raises(InputError, match="unknown linkage 'nobody:average'"):
        ordhc.linkage(S, "nobody:average", dissimilarity=False)
    with pytest.raises(InputError, match=r"there are .*average"):
        ordhc.linkage(S, "zzzzzz", dissimilarity=False)
    with pytest.raises(InputError, match="must be a name or a pair"):
        ordhc.linkage(S, 3, dissimilarity=False)


def test_importing_ordhc_imports_no_plugin(install, tmp_path):
    module = install("good-one", good("half"))
    program = f"""
import sys
import ordhc
print(sorted({{"pluggy", "ordhc.hooks", "{module}", "ordhc_linkages"}} & set(sys.modules)))
ordhc.plugins.list_plugins()
print("{module}" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ORDHC_PLUGINS": "good-one"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


def test_plugins_load_on_any_thread(install):
    install("threaded", good("threaded"))
    with ThreadPoolExecutor(1) as pool:
        assert [row.status for row in pool.submit(rows_of, "threaded").result()] == ["ok"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("method", Method), ("similarity", Similarity), ("linkage", Linkage), ("metric", Metric)],
)
def test_editors_complete_the_names_of_ordhc(kind, names):
    literal = next(one for one in get_args(names) if get_origin(one) is Literal)
    rows = ordhc.plugins.list_plugins()
    assert set(get_args(literal)) == {row.name for row in rows if (row.plugin, row.kind) == ("ordhc", kind)}
