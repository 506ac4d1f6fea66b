"""Comparisons drawn from similarities: so many of them, or a share."""

import numpy as np

import ordhc

_CHUNK = 1 << 22


def planted(snr: float, seed: int, n_pure: int = 30, levels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Similarities of the planted model (mu = 0.8, sigma = 0.1), and nested labels, in a random order."""
    rng = np.random.default_rng([seed, round(1000 * snr)])
    n = n_pure * 2**levels
    pure = rng.permutation(n) // n_pure
    labels = np.stack([pure >> (levels - level) for level in range(1, levels + 1)], axis=1)
    apart = (labels[:, None] != labels[None]).sum(axis=2)
    noise = np.triu(rng.normal(size=(n, n)), 1)
    return 0.8 + 0.1 * (noise + noise.T - snr * apart), labels


def amount(
    S: np.ndarray, m: int, rng: np.random.Generator, *, quadruplets: bool = False, flip: float = 0.0
) -> ordhc.Triplets | ordhc.Quadruplets:
    """`m` distinct comparisons drawn uniformly from all, those of equal similarities left out.

    Each of them is turned round with probability `flip`.
    """
    n = len(S)
    rows = _rows(rng.choice(_number(n, quadruplets), m, replace=False, shuffle=False), n, quadruplets)
    rows = _answered(S, rows)
    flipped = rng.random(len(rows)) < flip
    rows[flipped] = _turned(rows[flipped])
    return _kind(quadruplets)(rows, n_leaves=n)


def share(
    S: np.ndarray, p: float, rng: np.random.Generator, *, quadruplets: bool = False
) -> ordhc.Triplets | ordhc.Quadruplets:
    """Each comparison of unequal similarities with probability p."""
    n = len(S)
    number = _number(n, quadruplets)
    narrow = np.uint8 if n <= 256 else np.uint16
    parts, last = [], -1
    while last < number:
        # The gaps between those that are taken are geometric.
        at = last + np.cumsum(rng.geometric(p, min(_CHUNK, int(1.1 * p * number) + 10)))
        last = int(at[-1])
        parts.append(_answered(S, _rows(at[at < number], n, quadruplets)).astype(narrow))
    return _kind(quadruplets)(np.concatenate(parts), n_leaves=n, copy=False)


def _kind(quadruplets: bool) -> type[ordhc.Triplets] | type[ordhc.Quadruplets]:
    return ordhc.Quadruplets if quadruplets else ordhc.Triplets


def _number(n: int, quadruplets: bool) -> int:
    """How many questions there are."""
    pairs = n * (n - 1) // 2
    return pairs * (pairs - 1) // 2 if quadruplets else n * (n - 1) * (n - 2) // 2


def _pair(k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pair number k as (i, j) with i < j, in the order (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    j = ((1 + np.sqrt(1 + 8.0 * k)) // 2).astype(np.int64)
    # The root may be rounded.
    j -= j * (j - 1) // 2 > k
    j += j * (j + 1) // 2 <= k
    return k - j * (j - 1) // 2, j


def _rows(at: np.ndarray, n: int, quadruplets: bool) -> np.ndarray:
    """Questions by number: (anchor, j, k) or (i, j, k, l), without an answer."""
    if quadruplets:
        first, second = _pair(at)
        return np.stack([*_pair(first), *_pair(second)], axis=1)
    anchor, rest = np.divmod(at, (n - 1) * (n - 2) // 2)
    j, k = _pair(rest)
    return np.stack([anchor, j + (j >= anchor), k + (k >= anchor)], axis=1)


def _turned(rows: np.ndarray) -> np.ndarray:
    """The opposite answers."""
    return rows[:, [0, 2, 1] if rows.shape[1] == 3 else [2, 3, 0, 1]]


def _answered(S: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Comparisons as the similarities have them, without ties."""
    if rows.shape[1] == 3:
        near, far = S[rows[:, 0], rows[:, 1]], S[rows[:, 0], rows[:, 2]]
    else:
        near, far = S[rows[:, 0], rows[:, 1]], S[rows[:, 2], rows[:, 3]]
    rows[near < far] = _turned(rows[near < far])
    return rows[near != far]
