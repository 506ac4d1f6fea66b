"""Run checks of plugins; define the functions and sample data that the checks share."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.errors import InputError
from ordhc.plugins.specs import Spec
from ordhc.tree.dendrogram import Dendrogram, from_engine

Floats = NDArray[np.float64]
AnySpec = TypeVar("AnySpec", bound=Spec)
RTOL = 1e-9


class Subject(Generic[AnySpec]):
    """A spec (a description of a linkage, method, metric, ...), and the settings with which it is checked."""

    def __init__(self, spec: AnySpec, parameters: Mapping[str, Any]) -> None:
        self.spec = spec
        unknown = set(parameters) - set(spec.parameters)
        if unknown:
            raise InputError(f"{spec.kind} {spec.name!r} has no parameter {sorted(unknown)[0]!r}")
        self.settings = {**spec.parameters, **parameters}


def by_name(*checks: Callable[[Any], None]) -> Mapping[str, Callable[[Any], None]]:
    """Return a mapping from the name of each check, without its first underscore, to the check."""
    return {check.__name__[1:]: check for check in checks}


def run(subject: Any, checks: Mapping[str, Callable[[Any], None]], skip: Collection[str]) -> None:
    """Run all checks except `skip`; the first failure raises AssertionError with the name of the check."""
    unknown = set(skip) - set(checks)
    if unknown:
        raise InputError(f"no check is named {sorted(unknown)[0]!r}; the checks are {', '.join(checks)}")
    what = f"{subject.spec.kind} {subject.spec.name!r}"
    for name, check in checks.items():
        if name in skip:
            continue
        try:
            check(subject)
        except AssertionError as error:
            raise AssertionError(f"{what} fails the check {name!r}: {error}") from error
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise AssertionError(f"{what} fails the check {name!r} with {text}") from error


def need(fine: Any, text: str) -> None:
    """Raise AssertionError with `text` unless `fine`; unlike `assert`, this works with Python's option -O."""
    if not fine:
        raise AssertionError(text)


def distances(n: int, seed: int) -> Floats:
    """Return (n, n) distances between random points, positive and without ties."""
    points = np.random.default_rng(seed).normal(size=(n, 4))
    found: Floats = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return found


def random_similarities(n: int, seed: int) -> Floats:
    values = np.random.default_rng(seed).normal(size=(n, n))
    values = values + values.T
    np.fill_diagonal(values, 0)
    return values


def need_tree(tree: Dendrogram, n: int) -> None:
    need(tree.n_leaves == n, f"the tree has {tree.n_leaves} leaves, not {n}")
    need(len(tree.merges) == n - 1, f"{len(tree.merges)} merges for {n} leaves")
    finite = np.isfinite(tree.heights)
    need(finite.all(), f"heights are not finite: {tree.heights[~finite][:3]}")
    merged = tree.merges.ravel()
    need(len(set(merged.tolist())) == len(merged), "a cluster is merged twice")


def need_same(found: Dendrogram, expected: Dendrogram, why: str) -> None:
    """Raise AssertionError unless both trees have the same merges, and equal heights up to rounding."""
    differ = np.flatnonzero((found.merges != expected.merges).any(axis=1))
    if differ.size:
        at = int(differ[0])
        pairs = f"is {found.merges[at].tolist()}, but must be {expected.merges[at].tolist()}"
        raise AssertionError(f"{why}: with {expected.n_leaves} leaves, merge {at} {pairs}")
    scale = np.abs(expected.heights).max(initial=1.0)
    wrong = np.flatnonzero(np.abs(found.heights - expected.heights) > RTOL * scale)
    if wrong.size:
        at = int(wrong[0])
        raise AssertionError(f"{why}: height {at} is {found.heights[at]}, not {expected.heights[at]}")


def renumbered(data: Any, order: NDArray[np.int64]) -> Any:
    """Return the data with leaf i renumbered as leaf `order[i]`."""
    if isinstance(data, np.ndarray):
        moved = np.empty_like(data)
        moved[order] = data
        return moved
    rows = order[data.rows]
    return type(data)(rows, n_leaves=data.n_leaves, weights=data.weights)


def random_tree(n: int, seed: int) -> Dendrogram:
    rule = _ordhc.Linkage.native("average")
    return from_engine(_ordhc.agglomerate(-distances(n, seed), rule, False, "auto", None, None))
