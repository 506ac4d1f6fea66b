"""What trees say made them."""

import copy
import json
import pickle

import numpy as np
import pytest

import ordhc
from ordhc import Dendrogram, Triplets
from ordhc.errors import InputError, OrdhcWarning

NAMES = ["cat", "dog", "car", "bus", "owl"]
T = Triplets([(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1), (4, 0, 2), (0, 4, 3)], names=NAMES)
REFINING = {"heights": "average", "max_moves": None, "restarts": 3, "seed": 0}


def plain(tree):
    return tree.to_dict()["settings"]


def made(**parts):
    nothing = {"similarity": None, "linkage": None, "refine": None}
    empty = {f"{name}_parameters": {} for name in nothing}
    return {"method": None, **nothing, **empty, **parts}


def test_cluster_says_which_parts_and_by_what_it_refined():
    found = plain(ordhc.cluster(T, method="mulk3-al", normalize=False))
    mulk3 = {"similarity": "mulk3", "similarity_parameters": {"normalize": False}, "linkage": "average"}
    assert found == made(method="mulk3-al", **mulk3)
    assert plain(ordhc.cluster(T, similarity="mulk3", normalize=False)) == made(**mulk3)
    assert plain(ordhc.cluster(T, linkage="3-al")) == made(linkage="3-al")
    for method, objective in (("adds3-al+spr", "dasgupta"), ("3-al+spr", "revenue"), ("adds3-al", None)):
        found = ordhc.cluster(T, method=method).settings
        assert found["refine"] == objective
        assert dict(found["refine_parameters"]) == ({} if objective is None else REFINING)
        assert found["method"] == method
    vectors = ordhc.cluster(np.eye(4), method="dot-al").settings
    assert (vectors["similarity"], vectors["linkage"]) == ("dot", "average")
    part = ordhc.cluster(T, method="consistency").settings
    assert (part["similarity"], part["linkage"], part["refine"]) == (None, "consistency", None)


def test_leaves_without_answers_and_orders_of_ties_change_nothing_of_it():
    few = Triplets([(0, 1, 2)], 5)
    with pytest.warns(OrdhcWarning):
        assert ordhc.cluster(few, method="adds3-al", tie_seed=1).settings["similarity"] == "adds3"
    with pytest.warns(OrdhcWarning):
        assert ordhc.cluster(Triplets([], 3)).settings["similarity"] == "adds3"


def test_linkage_knows_no_similarity():
    S = ordhc.similarity(T)
    assert plain(ordhc.linkage(S, "ward", dissimilarity=False, tie_seed=3)) == made(linkage="ward")
    sparse = pytest.importorskip("scipy.sparse")
    assert plain(ordhc.linkage(sparse.csr_array(S), "single", dissimilarity=False)) == made(linkage="single")
    assert plain(
        ordhc.linkage(lambda i, others: S[i, others], "single", dissimilarity=False, n_leaves=5)
    ) == made(linkage="single")


def test_refine_keeps_what_made_the_tree_before():
    tree = ordhc.cluster(T, method="mulk3-al")
    found = plain(ordhc.refine(tree, T, "satisfied", seed=4))
    assert (found["similarity"], found["linkage"]) == ("mulk3", "average")
    assert (found["refine"], found["refine_parameters"]) == (
        "satisfied",
        {**REFINING, "heights": "sizes", "seed": 4},
    )
    unknown = Dendrogram.from_newick(tree.to_newick())
    assert unknown.settings is None
    assert plain(ordhc.refine(unknown, T)) == made(refine="revenue", refine_parameters=REFINING)


def test_the_estimator_and_the_bootstrap_say_it():
    found = ordhc.bootstrap(T, method="adds3-al+spr", n_resamples=3)
    for tree in (found.tree, *found.trees):
        assert (tree.settings["similarity"], tree.settings["refine"]) == ("adds3", "dasgupta")
    assert found.consensus.settings is None
    pytest.importorskip("sklearn")
    model = ordhc.OrdinalClustering("mulk3-al").fit(T)
    assert model.dendrogram_.settings["similarity"] == "mulk3"


def test_it_stays_with_the_tree(tmp_path):
    tree = ordhc.cluster(T, method="adds3-al+spr")
    ordhc.write_tree(tree, tmp_path / "tree.json")
    for same in (
        tree.replace(names=None),
        tree.replace(support=None),
        tree.relabel([1, 0, 2, 3, 4]),
        copy.copy(tree),
        copy.deepcopy(tree),
        pickle.loads(pickle.dumps(tree)),
        ordhc.read_tree(tmp_path / "tree.json"),
        ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))),
    ):
        assert same.settings == tree.settings
        assert plain(same) == plain(tree)
    older = tree.to_dict()
    del older["settings"]
    assert ordhc.as_dendrogram(older).settings is None


def test_trees_are_equal_whatever_made_them():
    tree = ordhc.cluster(T, method="adds3-al+spr")
    assert (
        tree
        == tree.replace(settings=None)
        == ordhc.refine(ordhc.linkage(ordhc.similarity(T), dissimilarity=False, names=NAMES), T)
    )


def test_it_cannot_be_changed():
    given = {"linkage": "by hand", "linkage_parameters": {"list": [1, 2]}}
    settings = Dendrogram([(0, 1)], [1.0], settings=given).settings
    given["linkage_parameters"]["list"].append(3)
    assert settings["linkage_parameters"]["list"] == (1, 2)
    for part in (settings, settings["linkage_parameters"]):
        with pytest.raises(TypeError):
            part["linkage"] = "average"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.float64(0.5), 0.5),
        (np.arange(3), (0, 1, 2)),
        (np.zeros((50, 3)), "ndarray of shape (50, 3)"),
        (float("nan"), "nan"),
        ({"a": [True, None]}, {"a": (True, None)}),
        (print, "<built-in function print>"),
    ],
)
def test_values_are_what_json_can_hold(value, kept):
    tree = Dendrogram([(0, 1)], [1.0], settings={"linkage_parameters": value})
    assert tree.settings["linkage_parameters"] == kept
    again = ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    assert again.settings == tree.settings


@pytest.mark.parametrize("given", [3, ["linkage"], {1: 2}])
def test_settings_are_a_mapping_of_names(given):
    with pytest.raises(InputError, match="not a mapping of names to values"):
        Dendrogram([(0, 1)], [1.0], settings=given)


def test_it_is_shown_where_it_is_short():
    tree = ordhc.cluster(T, method="adds3-al+spr")
    assert repr(tree).endswith(", adds3-al+spr: adds3 similarity, average linkage, refined by dasgupta>")
    assert "refined by" not in repr(tree.replace(settings={"similarity": "x" * 100, "refine": "revenue"}))


def test_the_command_line_says_it(tmp_path, capsys):
    from ordhc.cli import main

    ordhc.write_comparisons(T, tmp_path / "answers.csv")
    command = ["cluster", str(tmp_path / "answers.csv"), "--method", "adds3-al+spr"]
    with pytest.raises(SystemExit):
        main(command)
    assert (
        "\nmethod   adds3-al+spr: adds3 similarity, average linkage, refined by dasgupta\n"
        in capsys.readouterr().out
    )
    with pytest.raises(SystemExit):
        main([*command, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["refine"] == found["tree"]["settings"]["refine"] == "dasgupta"
    assert found["refine_parameters"] == REFINING
