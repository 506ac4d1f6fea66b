"""The conformance kit of methods passes what is right and fails what is wrong."""

import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.specs import MethodSpec
from ordhc.testing import METHOD_CHECKS, check_method
from support.few_rounds import with_few_sweeps

BUILTIN = [row.name for row in ordhc.plugins.list_plugins() if (row.kind, row.plugin) == ("method", "ordhc")]

#: Linkages, each of which breaks the promise of its name.
WRONG = '''
import numpy as np
import ordhc
from ordhc.hooks import hookimpl
from ordhc.specs import LinkageSpec


def chain(order):
    n = len(order)
    leaves = enumerate(order[1:].tolist())
    pairs = [sorted((leaf, n + at - 1 if at else int(order[0]))) for at, leaf in leaves]
    return ordhc.Dendrogram(pairs, np.arange(n - 1, 0, -1.0), kind="similarity")


def few_leaves(data):
    if data.n_leaves == 3:
        raise ValueError("three are too few")
    return ordhc.cluster(data, method="3-al")


def deterministic(data):
    return chain(np.random.default_rng().permutation(data.n_leaves))


def numbering(data):
    return chain(np.arange(data.n_leaves))


def knows(data):
    """Those first that are said to be far from others."""
    return chain(np.argsort(-np.bincount(data.rows[:, 2], minlength=data.n_leaves), kind="stable"))


def from_comparisons(make):
    return lambda data, *, initial_clusters, progress: make(data)


@hookimpl
def ordhc_linkages():
    return [
        LinkageSpec(
            name=f"wrong-{make.__name__}",
            summary="x",
            from_comparisons=from_comparisons(make),
            data=("triplets",),
        )
        for make in (few_leaves, deterministic, numbering, knows)
    ]
'''


@pytest.mark.parametrize("name", BUILTIN)
def test_builtin_methods(name, monkeypatch):
    with_few_sweeps(monkeypatch)
    check_method(name)


def test_methods_without_registration():
    spec = MethodSpec(name="mine", summary="x", similarity="mulk3", linkage="complete", refine="dasgupta")
    check_method(spec)
    check_method(spec, normalize=False)
    with pytest.raises(InputError, match="there is no parameter 'colour'"):
        check_method(spec, colour=1)
    with pytest.raises(InputError, match="no check is named 'colour'"):
        check_method(spec, skip=["colour"])
    with pytest.raises(InputError, match="unknown linkage"):
        check_method(MethodSpec(name="mine", summary="x", linkage="nothing"))


@pytest.mark.parametrize("check", METHOD_CHECKS)
def test_wrong_methods(check, install):
    install("wrong-linkages", WRONG)
    spec = MethodSpec(name="wrong", summary="x", linkage=f"wrong-{check}")
    names = list(METHOD_CHECKS)
    with pytest.raises(AssertionError, match=f"method 'wrong' fails the check '{check}'"):
        check_method(spec, skip=names[: names.index(check)])
