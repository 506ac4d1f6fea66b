"""A similarity, a linkage or a method is a name, or a pair of a name and its settings: one rule for all."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc.cli import main
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.specs import LinkageSpec, SimilaritySpec
from support.random_data import planted

T, _ = planted(2, seed=1)
RAW = ("mulk3", {"normalize": False})


def build(data, *, layout, dtype, progress, share, power=1.0):
    return share * ordhc.similarity(data, "adds3", layout=layout, dtype=dtype) ** power


def update(row_i, row_j, s_ij, n_i, n_j, sizes, i, j, others, share):
    return share * np.maximum(row_i, row_j) + (1 - share) * np.minimum(row_i, row_j)


@pytest.fixture
def both(monkeypatch):
    """A similarity and a linkage that both have a setting `share`."""
    known = registry._load().known
    similarity = SimilaritySpec(
        name="s", summary="s", build=build, data=("triplets",), parameters={"share": 1.0, "power": 1.0}
    )
    linkage = LinkageSpec(name="l", summary="l", update_row=update, parameters={"share": 0.5})
    monkeypatch.setitem(known, ("similarity", "s"), similarity)
    monkeypatch.setitem(known, ("linkage", "l"), linkage)


def test_a_pair_is_the_name_with_settings():
    expected = ordhc.cluster(T, similarity="mulk3", normalize=False)
    assert ordhc.cluster(T, similarity=RAW) == expected
    by_method = ordhc.cluster(T, ("mulk3-al", {"normalize": False}))
    assert by_method == ordhc.cluster(T, "mulk3-al", normalize=False)
    assert by_method.merges.tolist() == expected.merges.tolist()
    S = ordhc.similarity(T, "mulk3", normalize=False)
    np.testing.assert_array_equal(ordhc.similarity(T, RAW), S)
    np.testing.assert_array_equal(ordhc.similarity(T, ["mulk3", {}]), ordhc.similarity(T, "mulk3"))
    assert ordhc.linkage(S, ("average", {}), dissimilarity=False) == ordhc.linkage(S, dissimilarity=False)


def test_settings_beside_a_name_yield_to_keywords():
    assert ordhc.cluster(T, similarity=RAW, normalize=True) == ordhc.cluster(T, similarity="mulk3")


def test_bootstrap_and_select_take_pairs():
    found = ordhc.bootstrap(T, similarity=RAW, n_resamples=3)
    assert found.tree.merges.tolist() == ordhc.cluster(T, similarity=RAW).merges.tolist()
    with ThreadPoolExecutor(2) as executor:
        assert ordhc.bootstrap(T, similarity=RAW, n_resamples=3, executor=executor).trees == found.trees
    methods = ["mulk3-al", ("mulk3-al", {"normalize": False})]
    selected = ordhc.select(T, methods, folds=2)
    assert {candidate.method for candidate in selected.candidates} == {
        "mulk3-al",
        "mulk3-al (normalize=False)",
    }
    assert "mulk3-al (normalize=False)" in str(selected)
    with pytest.raises(InputError, match="is given twice"):
        ordhc.select(T, [methods[1], methods[1]], folds=2)


def test_an_ambiguous_setting_is_an_error_that_shows_the_pairs(both):
    with pytest.raises(InputError) as error:
        ordhc.cluster(T, similarity="s", linkage="l", share=0.2)
    assert "similarity=('s', {'share': ...}) or linkage=('l', {'share': ...})" in str(error.value)
    tree = ordhc.cluster(T, similarity=("s", {"share": 2.0}), linkage=("l", {"share": 0.2}), power=2.0)
    assert dict(tree.settings["similarity_parameters"]) == {"share": 2.0, "power": 2.0}
    assert dict(tree.settings["linkage_parameters"]) == {"share": 0.2}


def test_commands_say_which_part_is_meant(both, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ordhc.write_comparisons(T, "a.csv")

    def run(*options):
        with pytest.raises(SystemExit) as stop:
            main(["cluster", "a.csv", "--json", *options])
        return stop.value.code, *capsys.readouterr()

    named = ["--similarity", "s", "--linkage", "l", "--param"]
    assert "both have 'share'" in run(*named, "share=0.2")[2]
    code, out, _ = run(*named, "similarity.share=2", "--param", "linkage.share=0.2", "--param", "power=2")
    settings = json.loads(out)["tree"]["settings"]
    assert (code, settings["similarity_parameters"]) == (0, {"share": 2, "power": 2})
    assert settings["linkage_parameters"] == {"share": 0.2}
    code, _, err = run("--method", "adds3-al", "--param", "similarity.lengths=true")
    assert (code, "--param similarity.lengths needs --similarity" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"similarity": ("mulk3", 3)}, "the settings of similarity 'mulk3' are 3, not a dict"),
        ({"similarity": ("mulk3", {"scale": 3})}, "similarity 'mulk3' has no parameter 'scale'"),
        ({"linkage": ("average", {"scale": 3})}, "linkage 'average' has no parameter 'scale'"),
        ({"method": ("mulk3-al", {"scale": 3})}, "there is no parameter 'scale' of this method"),
        ({"refine": True}, r"no parameter 'refine' of this method; .*'\+spr' after the name of a method"),
        ({"executor": None}, "no parameter 'executor' of this method; .*ordhc.scan has it"),
        ({"neighbors": 3}, "no parameter 'neighbors' of this method; .*ordhc.Vectors has it"),
        ({"method": ("mulk3-al", {}, 3)}, "the method must be a name or a pair"),
        ({"linkage": ("3-al", {}), "similarity": "adds3"}, "leave out the similarity"),
    ],
)
def test_wrong_pairs(arguments, told):
    with pytest.raises(InputError, match=told):
        ordhc.cluster(T, **arguments)


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.text()), st.tuples(st.text(), st.text())))
def test_whatever_is_given_is_a_name_or_an_error(thing):
    for call in (ordhc.similarity, lambda data, name: ordhc.cluster(data, linkage=name or 3)):
        with pytest.raises(InputError):
            call(T, thing)


def test_the_estimator_takes_pairs():
    sklearn = pytest.importorskip("sklearn")
    model_selection = pytest.importorskip("sklearn.model_selection")
    model = ordhc.OrdinalClustering(similarity=RAW)
    assert sklearn.base.clone(model).get_params() == model.get_params()
    assert model.fit(T).dendrogram_ == ordhc.cluster(T, similarity=RAW)
    model.set_params(similarity=None, method=("adds3-al", {"lengths": True}))
    assert model.fit(T).dendrogram_ == ordhc.cluster(T, ("adds3-al", {"lengths": True}))
    grid = {"similarity": ["mulk3", RAW], "n_leaves": [T.n_leaves]}
    search = model_selection.GridSearchCV(ordhc.OrdinalClustering(), grid, cv=2).fit(T.rows)
    assert search.best_params_["similarity"] in grid["similarity"]
    assert search.best_estimator_.dendrogram_ == ordhc.cluster(
        ordhc.Triplets(T.rows, T.n_leaves), similarity=search.best_params_["similarity"]
    )
