"""The function `similarity`: compute similarities of all pairs of leaves, from comparisons or vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc._signals import interrupts_later
from ordhc.comparison.comparisons import Quadruplets, Triplets, fitting_comparisons
from ordhc.errors import InputError, MissingExtraError, PluginError, warn
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.plugins import registry
from ordhc.plugins.names import Similarity
from ordhc.plugins.specs import SimilaritySpec
from ordhc.similarities.blockwise import mulk3_sums
from ordhc.similarities.comparisons import float_type, shaped_by
from ordhc.similarities.lengths import less_lengths, scan_less_lengths
from ordhc.similarities.spilled import csr_of
from ordhc.similarities.streamed import dense_sums, sparse_sums
from ordhc.similarities.vectors import Vectors, as_vectors, products

_DTYPES = ("float64", "float32", "int64", "int32")


@shows_progress("similarities")
@_checks.remedied(
    "layout='condensed' and dtype='float32' each halve the memory; 'adds3' and 'adds4' have layout='sparse'; "
    "for vectors ordhc.cluster(ordhc.Vectors(X, neighbors=20), ...) needs no matrix"
)
def similarity(
    data: Triplets | Quadruplets | Scan | Vectors | ArrayLike,
    name: Similarity = "adds3",
    *,
    layout: str = "square",
    dtype: Any = "float64",
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Any:
    """Return similarities of all pairs of leaves, from comparisons or vectors.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`; triplets are converted if quadruplets are needed. For similarities of
        vectors: `Vectors`, or an (n, p) array. For "adds3", "adds4" and "mulk3" also a scan of files
        (`ordhc.scan`).
    name
        "adds3" or "mulk3" for triplets; "adds4", "mulk4" or "4k" for quadruplets; "dot" or "cosine" for
        vectors; or the name of a plugin's similarity. Or a pair of a name and its settings, such as
        ``("mulk3", {"normalize": False})``.
    layout
        One of these:

        * "square" (the default): a symmetric (n, n) array. The diagonal is 0 for AddS, else the similarity of
          each leaf with itself.
        * "condensed": the n(n-1)/2 pairs in SciPy's order, in half the memory.
        * "sparse", only for AddS: SciPy's symmetric CSR array of the pairs that are not 0. It needs
          `pip install "ordhc[vectors]"`. If the sums of a scan need more than the scan's `memory`, the
          array is mapped from a file.
    dtype
        float64 (the default), float32, int64 or int32. Integers are possible if all similarities are whole
        numbers.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the similarity:

        * ``normalize`` of "mulk3": True, the default, divides by sqrt(c_i c_j), see Notes.
        * ``lengths`` of "adds3" and "adds4": False, the default, treats all leaves as equally typical. True
          multiplies the weight of each answer by 2 (1 - p), where p is the probability of the answer by
          lengths of leaves alone (`ordhc.similarities.leaf_lengths`). None does so if the standard deviation
          of the lengths is at least 0.25. For lengths, a scan is read once more, and each of its rows is one
          answer.

    Returns
    -------
    ndarray or csr_array
        The similarities; larger means closer. The unit is comparisons for "adds3" and "adds4", and agreeing
        comparisons for the kernels "mulk3", "mulk4" and "4k". A normalised "mulk3" is from -1 to 1, unless
        answers are repeated or weighted: the weights of answers add up, but each pair counts once in c_i, as
        in the published code. `deduplicate()` removes repeated answers.

    Raises
    ------
    InputError
        The name is unknown (the message has similar names), or the similarity does not accept the data.
    MemoryError
        The similarities do not fit into memory; the message has their size in bytes.

    Notes
    -----
    AddS3 is s_ij = sum_k x(i;j,k) + x(j;i,k), where x(i;j,k) is the weight of "i is closer to j than to k"
    minus the weight of the opposite (Mandal, Perrot & Ghoshdastidar 2023, Theorem 1).

    MulK3, Kendall's kernel, is K_ij = sum_{k<l} x(i;k,l) x(j;k,l) / sqrt(c_i c_j), where c_i is the number of
    distinct pairs in answers with the anchor i (Ghoshdastidar, Perrot & von Luxburg 2019, equation 8).

    MulK4 is the sum of x(ir;kl) x(jr;kl) over pairs {k, l} and leaves r other than i and j. 4K, as published,
    is MulK4 + 2 AddS4. Results do not depend on the number of threads.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.similarity(ordhc.Triplets([(0, 1, 2), (1, 0, 2)]), "adds3")
    array([[ 0.,  2., -1.],
           [ 2.,  0., -1.],
           [-1., -1.,  0.]])
    """
    progress = _checks.callback("progress", progress)
    spec, settings = registry.chosen("similarity", name, **parameters)
    layout = _checks.choice("layout", layout, ("square", "condensed", "sparse"))
    try:
        type_name = np.dtype(dtype).name
    except Exception:
        type_name = ""
    if type_name not in _DTYPES or dtype is None:
        raise InputError(f"dtype is {_checks.quoted(dtype)}, not one of {', '.join(_DTYPES)}")
    if layout == "sparse" and not is_adds(spec):
        raise InputError(f"similarity {spec.name!r} has no sparse layout; only 'adds3' and 'adds4' have it")
    if isinstance(data, Scan):
        return _of_scan(data, spec, layout, type_name, progress, settings)
    found: Any = fitting(data, spec.data, f"similarity {spec.name!r}")
    if layout == "sparse":
        if found.weights is not None and not type_name.startswith("float"):
            raise InputError(f"dtype is {type_name}, but weighted answers need float64 or float32")
        before, after = part(progress, 0, 0.5), part(progress, 0.5, 1)
        found, has_lengths = less_lengths(found, settings["lengths"], progress=before)
        if has_lengths:
            float_type(type_name)
        progress = after if has_lengths else progress
        parts = _ordhc.adds_csr(found.rows, found.weights, found.n_leaves, progress)
        return _csr(parts, found.n_leaves, type_name, "layout='sparse'")
    result = built(spec, found, layout, type_name, progress, settings)
    if progress is not None:
        progress(1.0)
    return result


def _of_scan(
    scan: Scan,
    spec: SimilaritySpec,
    layout: str,
    dtype: str,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> Any:
    if not is_adds(spec) and not is_mulk3(spec):
        raise InputError(
            f"similarity {spec.name!r} needs all answers in memory: pass scan.read(); "
            "only 'adds3', 'adds4' and 'mulk3' are computed from a scan"
        )
    progress = scan.surveying(progress)
    own = "triplets" if scan.kind is Triplets else "quadruplets"
    if own not in spec.data and not (own == "triplets" and "quadruplets" in spec.data):
        raise InputError(f"similarity {spec.name!r} takes {' or '.join(spec.data)}, not {scan.kind.__name__}")
    if scan.weighted and not dtype.startswith("float"):
        raise InputError(f"dtype is {dtype}, but weighted answers need float64 or float32")
    with Spill(scan.spill) as folder:
        if is_mulk3(spec):
            normalize = bool(settings["normalize"])
            pairs, diagonal, _ = mulk3_sums(scan, normalize, folder, progress)
            whole = not scan.weighted and not normalize
            return shaped_by(pairs, diagonal, layout, dtype, whole=whole)
        before, after = part(progress, 0, 0.5), part(progress, 0.5, 1)
        scan, has_lengths = scan_less_lengths(scan, settings["lengths"], folder, progress=before)
        if has_lengths:
            float_type(dtype)
            progress = after
        if layout == "sparse":
            sums, _ = sparse_sums(scan, folder, both=True, progress=progress)
            return _csr(csr_of(sums, dtype), scan.n_leaves, dtype, "layout='sparse'")
        floats = layout == "condensed" and dtype == "float64"
        pairs, _ = dense_sums(scan, folder, progress, floats=floats)
    if layout == "condensed":
        return pairs.astype(dtype, copy=False)
    return square_of(pairs, scan.n_leaves, dtype)


def square_of(pairs: NDArray[Any], n: int, dtype: str) -> NDArray[Any]:
    """Return the (n, n) matrix of condensed values, with zeros on the diagonal."""
    _ordhc.check_memory("the similarity matrix", np.dtype(dtype).itemsize * n * n)
    found = np.zeros((n, n), dtype=dtype)
    at = 0
    for row in range(n - 1):
        found[row, row + 1 :] = pairs[at : at + n - 1 - row]
        found[row + 1 :, row] = found[row, row + 1 :]
        at += n - 1 - row
    return found


def built(
    spec: SimilaritySpec,
    data: Any,
    layout: str,
    dtype: str,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> NDArray[Any]:
    if spec.build is None:
        if not dtype.startswith("float"):
            raise InputError(f"dtype is {dtype}, but {spec.name} similarities are no whole numbers")
        rows, scale = factored(spec, data, part(progress, 0, 0.5), settings)
        return products(rows, scale, layout, dtype, part(progress, 0.5, 1))
    result = spec.build(_plain(data), layout=layout, dtype=dtype, progress=progress, **settings)
    n = data.n_leaves
    shape = (n, n) if layout == "square" else (n * (n - 1) // 2,)
    if not isinstance(result, np.ndarray) or result.shape != shape:
        found = getattr(result, "shape", type(result).__name__)
        raise PluginError(f"similarity {spec.name!r} gave {found}, not an array of shape {shape}")
    return result


def _plain(data: Any) -> Any:
    return data.rows if isinstance(data, Vectors) else data


def is_adds(spec: SimilaritySpec) -> bool:
    """Return True for the built-in AddS3 and AddS4: with few answers, most of their similarities are 0."""
    return spec.name in ("adds3", "adds4") and registry.is_builtin(spec)


def is_mulk3(spec: SimilaritySpec) -> bool:
    """Return True for the built-in MulK3, which can be computed block by block of pairs."""
    return spec.name == "mulk3" and registry.is_builtin(spec)


def factored(
    spec: SimilaritySpec, data: Any, progress: Progress | None, settings: Mapping[str, Any]
) -> tuple[Any, float]:
    """Return rows and a scale: a similarity is the scale times the dot products of the rows."""
    assert spec.factor is not None
    n = data.n_leaves
    result: Any = spec.factor(_plain(data), progress=progress, **settings)
    try:
        rows, scale = result
        rows, scale = as_vectors(rows), float(scale)
    except (TypeError, ValueError) as error:
        raise PluginError(f"similarity {spec.name!r} must return rows and a scale: {error}") from error
    if rows.shape[0] != n or not 0 < scale < math.inf:
        raise PluginError(
            f"similarity {spec.name!r} gave {rows.shape[0]} rows and scale {scale}; "
            f"it must give {n} rows, one for each leaf, and a positive finite scale"
        )
    return rows, scale


def fitting(data: Any, accepted: tuple[str, ...], what: str) -> Any:
    if isinstance(data, Triplets | Quadruplets):
        return fitting_comparisons(data, accepted, what)
    if "vectors" in accepted:
        vectors = data if isinstance(data, Vectors) else Vectors(data)
        if _are_distances(vectors.rows):
            warn(
                f"the vectors, {vectors.rows.shape}, look like distances (symmetric, 0 on the diagonal, "
                f"positive elsewhere), but {what} uses them as coordinates; "
                "for distances, call ordhc.linkage(D, dissimilarity=True)"
            )
        return vectors
    raise InputError(f"{what} takes {' or '.join(accepted)}, not {type(data).__name__}")


def _are_distances(rows: Any) -> bool:
    """Return True for a symmetric (n, n) array with 0 on the diagonal and positive values elsewhere."""
    if not isinstance(rows, np.ndarray) or rows.shape[0] != rows.shape[1] or len(rows) < 3:
        return False
    if np.diagonal(rows).any() or not np.array_equal(rows[0], rows[:, 0]):
        return False
    is_positive = bool((rows >= 0).all()) and np.count_nonzero(rows) == rows.size - len(rows)
    return is_positive and bool((rows == rows.T).all())


def _csr(parts: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], n: int, dtype: str, what: str) -> Any:
    try:
        with interrupts_later():
            from scipy.sparse import csr_array
    except ImportError:
        raise MissingExtraError.of(what, "scipy", "vectors") from None
    starts, columns, values = parts
    # Set the arrays one by one, because the constructor would copy arrays that are mapped from a file.
    made = csr_array((n, n), dtype=dtype)
    places = np.int32 if len(columns) < 2**31 else np.int64
    made.indptr, made.indices = starts.astype(places, copy=False), columns.astype(places, copy=False)
    made.data = values.astype(dtype, copy=False)
    return made
