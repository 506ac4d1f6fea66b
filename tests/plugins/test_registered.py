"""Specs that are tried without a package, and methods that are pairs of names."""

import threading

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, PluginError
from ordhc.plugins import registered, registry
from ordhc.specs import LinkageSpec, MethodSpec, MetricSpec, SimilaritySpec

T = ordhc.datasets.comparisons_of(np.array([(0, 3, 1, 1), (3, 0, 1, 1), (1, 1, 0, 2), (1, 1, 2, 0)]))


def mean(row_i, row_j, s_ij, n_i, n_j, sizes, i, j, others):
    return (n_i * row_i + n_j * row_j) / (n_i + n_j)


def counts(data, *, layout, dtype, progress):
    return ordhc.similarity(data, "adds3", layout=layout, dtype=dtype)


MINE = LinkageSpec(name="mine", summary="average linkage, in Python", update_row=mean)
COUNTS = SimilaritySpec(name="counts", summary="AddS3", data=("triplets",), build=counts)


def linkages():
    return registry.names("linkage")


def test_specs_work_by_name_in_the_block_only():
    before = linkages()
    with registered(MINE, COUNTS):
        found = ordhc.cluster(T, similarity="counts", linkage="mine")
        pair = ordhc.cluster(T, "counts+mine")
        assert "mine" in linkages()
    assert np.array_equal(found.merges, ordhc.cluster(T, "adds3-al").merges)
    assert np.array_equal(found.merges, pair.merges)
    assert np.array_equal(found.heights, pair.heights)
    assert linkages() == before
    with pytest.raises(InputError, match="unknown linkage 'mine'"):
        ordhc.cluster(T, "adds3+mine")


def test_specs_go_after_an_error_too():
    before = linkages()
    with pytest.raises(ZeroDivisionError), registered(MINE):
        _ = 1 / 0
    assert linkages() == before


def test_blocks_of_threads_that_overlap_leave_nothing():
    """The first block ends while the second is open."""
    before, first_open, first_closed = linkages(), threading.Event(), threading.Event()

    def first():
        with registered(MINE):
            first_open.set()
            second_open.wait()
        first_closed.set()

    second_open = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    first_open.wait()
    with registered(COUNTS):
        second_open.set()
        first_closed.wait()
        assert "counts" in registry.names("similarity")
        assert "mine" not in linkages()
    thread.join()
    assert linkages() == before
    assert "counts" not in registry.names("similarity")


def test_metrics_and_methods():
    metric = MetricSpec(
        name="size", summary="leaves", score=lambda tree, _: tree.n_leaves, reference=("triplets",)
    )
    method = MethodSpec(name="ours", summary="complete linkage", similarity="adds3", linkage="complete")
    with registered(metric, method):
        tree = ordhc.cluster(T, "ours")
        assert ordhc.score(tree, T, "size") == 4
    assert np.array_equal(tree.merges, ordhc.cluster(T, "adds3+complete").merges)


@pytest.mark.parametrize(
    ("specs", "error", "said"),
    [
        ([MINE, MINE], PluginError, "registers the linkage 'mine' twice"),
        (["mine"], PluginError, "'mine' is not a spec"),
        ([None], PluginError, "None is not a spec"),
        (
            [LinkageSpec(name="ward", summary="another", update_row=mean)],
            InputError,
            "ordhc has a linkage 'ward' already",
        ),
    ],
)
def test_what_is_refused_changes_nothing(specs, error, said):
    before = linkages()
    with pytest.raises(error, match=said), registered(*specs):
        raise AssertionError("the block ran")
    assert linkages() == before


def test_the_same_name_twice_at_a_time_is_refused():
    with registered(MINE), pytest.raises(PluginError, match="twice"), registered(MINE):
        raise AssertionError("the block ran")
    with registered(MINE):
        assert "mine" in linkages()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("adds3+nope", "unknown linkage 'nope'"),
        ("nope+average", "unknown similarity 'nope'"),
        ("adds3+averag", "did you mean average"),
        ("adds3+", "unknown linkage ''"),
        ("+average", "unknown similarity ''"),
        ("adds3+average+ward", "unknown linkage 'average\\+ward'"),
        ("adds+averag", "unknown method 'adds\\+averag'"),
        ("adds3-al+spr+spr", "unknown method"),
        ("adds3+3-al", "takes comparisons, not similarities"),
    ],
)
def test_pairs_of_names_that_do_not_exist(name, said):
    with pytest.raises(InputError, match=said):
        ordhc.cluster(T, name)


def test_pairs_take_settings_and_moves():
    found = ordhc.cluster(T, ("mulk3+average", {"normalize": False}))
    assert np.array_equal(found.heights, ordhc.cluster(T, "mulk3-al", normalize=False).heights)
    moved = ordhc.cluster(T, "adds3+average+spr")
    assert np.array_equal(moved.merges, ordhc.cluster(T, "adds3-al+spr").merges)
    assert "adds3+complete" in str(ordhc.select(T, ["adds3+complete", "adds3-al"], folds=2))
