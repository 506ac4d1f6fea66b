"""Each linkage beside its definition, written from scratch."""

from collections.abc import Callable

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.testing import check_linkage

NAMES = ["flexible-beta", "flexible-average", "minimum-variance", "hausdorff", "median-pairwise"]
SIZES = [2, 3, 5, 9, 14]

Between = Callable[[np.ndarray, list[int], list[int]], float]


def random_symmetric(n: int, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).random((n, n)) + 0.1
    values = (values + values.T) / 2
    np.fill_diagonal(values, 0)
    return values


def merge_all(n: int, look: Callable[[int, int], float], join: Callable[[int, int, int], None]):
    """Merge the pair of smallest dissimilarity until one cluster is left; labels as SciPy's."""
    active, merges, heights = list(range(n)), [], []
    for step in range(n - 1):
        pairs = [(look(a, b), a, b) for at, a in enumerate(active) for b in active[at + 1 :]]
        height, a, b = min(pairs)
        merges.append(sorted((a, b)))
        heights.append(height)
        active = [c for c in active if c not in (a, b)]
        join(a, b, n + step)
        active.append(n + step)
    return merges, heights


def by_members(D: np.ndarray, between: Between):
    members = {leaf: [leaf] for leaf in range(len(D))}

    def join(a: int, b: int, new: int) -> None:
        members[new] = members[a] + members[b]

    return merge_all(len(D), lambda a, b: between(D, members[a], members[b]), join)


def by_recurrence(D: np.ndarray, update: Callable[..., float]):
    n = len(D)
    d = {(a, b): float(D[a, b]) for a in range(n) for b in range(n)}
    size = dict.fromkeys(range(n), 1)
    alive = set(range(n))

    def join(a: int, b: int, new: int) -> None:
        alive.difference_update((a, b))
        for k in alive:
            d[new, k] = d[k, new] = update(d[k, a], d[k, b], d[a, b], size[a], size[b], size[k])
        size[new] = size[a] + size[b]
        alive.add(new)

    return merge_all(n, lambda a, b: d[a, b], join)


def hausdorff(D: np.ndarray, A: list[int], B: list[int]) -> float:
    there = max(min(D[a, b] for b in B) for a in A)
    back = max(min(D[a, b] for a in A) for b in B)
    return float(max(there, back))


def median(D: np.ndarray, A: list[int], B: list[int]) -> float:
    values = sorted(float(D[a, b]) for a in A for b in B)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def flexible_beta(beta: float) -> Callable[..., float]:
    return lambda ka, kb, ab, na, nb, nk: (1 - beta) / 2 * (ka + kb) + beta * ab


def flexible_average(beta: float) -> Callable[..., float]:
    return lambda ka, kb, ab, na, nb, nk: (1 - beta) * (na * ka + nb * kb) / (na + nb) + beta * ab


def ward_d(ka: float, kb: float, ab: float, na: int, nb: int, nk: int) -> float:
    return ((na + nk) * ka + (nb + nk) * kb - nk * ab) / (na + nb + nk)


def expected(name: str, D: np.ndarray, **parameters: float):
    if name == "hausdorff":
        return by_members(D, hausdorff)
    if name == "median-pairwise":
        return by_members(D, median)
    if name == "minimum-variance":
        return by_recurrence(D, ward_d)
    if name == "flexible-beta":
        return by_recurrence(D, flexible_beta(parameters.get("beta", -0.25)))
    return by_recurrence(D, flexible_average(parameters.get("beta", -0.1)))


def assert_is(tree: ordhc.Dendrogram, merges: list[list[int]], heights: list[float]) -> None:
    assert tree.merges.tolist() == merges
    np.testing.assert_allclose(tree.heights, heights, rtol=1e-12)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_its_definition(name: str, n: int) -> None:
    for seed in range(5):
        D = random_symmetric(n, seed)
        merges, heights = expected(name, D)
        assert_is(ordhc.linkage(D, name, dissimilarity=True), merges, heights)
        assert_is(ordhc.linkage(-D, name, dissimilarity=False), merges, [-height for height in heights])
        shifted = 5 - D  # every one of the five commutes with shifts
        np.fill_diagonal(shifted, 0)
        assert_is(
            ordhc.linkage(shifted, name, dissimilarity=False), merges, [5 - height for height in heights]
        )


@pytest.mark.parametrize("beta", [-0.9, -0.5, 0.0, 0.3])
@pytest.mark.parametrize("name", ["flexible-beta", "flexible-average"])
def test_beta(name: str, beta: float) -> None:
    D = random_symmetric(11, 3)
    assert_is(ordhc.linkage(D, name, dissimilarity=True, beta=beta), *expected(name, D, beta=beta))


@pytest.mark.parametrize(
    ("flexible", "builtin"), [("flexible-beta", "weighted"), ("flexible-average", "average")]
)
def test_beta_zero_is_a_builtin(flexible: str, builtin: str) -> None:
    S = random_symmetric(20, 1)
    found, known = (
        ordhc.linkage(S, flexible, dissimilarity=False, beta=0),
        ordhc.linkage(S, builtin, dissimilarity=False),
    )
    assert_is(found, known.merges.tolist(), known.heights.tolist())


def test_minimum_variance_of_squares_is_ward() -> None:
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    points = np.random.default_rng(0).normal(size=(40, 3))
    D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    Z = hierarchy.linkage(points, "ward")
    tree = ordhc.linkage(D**2, "minimum-variance", dissimilarity=True)
    np.testing.assert_allclose(np.sqrt(tree.heights), Z[:, 2])
    assert tree.merges.tolist() == np.sort(Z[:, :2], axis=1).astype(int).tolist()
    similar = ordhc.linkage(-(D**2), "minimum-variance", dissimilarity=False)
    np.testing.assert_allclose(similar.heights, ordhc.linkage(-(D**2), "ward", dissimilarity=False).heights)


def test_unknown_and_nonsensical_parameters() -> None:
    S = random_symmetric(4, 0)
    with pytest.raises(InputError, match="no parameter 'gamma'"):
        ordhc.linkage(S, dissimilarity=False, name="flexible-beta", gamma=1)
    with pytest.raises(InputError, match="no parameter 'beta'"):
        ordhc.linkage(S, dissimilarity=False, name="hausdorff", beta=1)
    with pytest.raises(InputError, match="beta"):
        ordhc.linkage(S, dissimilarity=False, name="flexible-average", beta="much")
    with pytest.raises(InputError, match="beta"):
        ordhc.linkage(S, dissimilarity=False, name="flexible-beta", beta=float("nan"))


def test_is_discovered() -> None:
    rows = [row for row in ordhc.plugins.list_plugins() if row.plugin == "ordhc-linkages"]
    assert [row.name for row in rows] == NAMES
    assert {(row.kind, row.status, row.entry_point) for row in rows} == {("linkage", "ok", "linkages")}
    S = random_symmetric(5, 0)
    full = ordhc.linkage(S, "ordhc-linkages:hausdorff", dissimilarity=False)
    assert full.merges.tolist() == ordhc.linkage(S, "hausdorff", dissimilarity=False).merges.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_conforms(name: str) -> None:
    check_linkage(name)


@pytest.mark.parametrize("name", ["flexible-beta", "flexible-average"])
def test_conforms_with_parameters(name: str) -> None:
    check_linkage(name, beta=-0.6)
    check_linkage(name, beta=0.4)
