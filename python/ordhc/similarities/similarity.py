"""The verb `similarity`: from data to similarities of all pairs."""

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

__all__ = ["built", "factored", "fitting", "is_adds", "is_mulk3", "similarity", "square_of"]

_DTYPES = ("float64", "float32", "int64", "int32")


@shows_progress("similarities")
@_checks.remedied(
    "layout='condensed' and dtype='float32' take half each; 'adds3' and 'adds4' have layout='sparse'; "
    "ordhc.cluster(ordhc.Vectors(X, neighbors=20), ...) needs no matrix of vectors"
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
    """Similarities of all pairs of leaves, from comparisons or vectors.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets` (triplets serve as quadruplets where these are needed); `Vectors`, or an
        (n, p) array of vectors; or a scan of files (`ordhc.scan`), for "adds3", "adds4" and "mulk3". Sparse
        sums of a scan that need more than `memory` of the scan are an array that maps a file.
    name
        "adds3", "mulk3" for triplets; "adds4", "mulk4", "4k" for quadruplets; "dot", "cosine" for
        vectors; or what a plugin brings. A pair of a name and its settings, too:
        ``("mulk3", {"normalize": False})``.
    layout
        "square" gives (n, n), symmetric, with zeros on the diagonal for AddS and a leaf's similarity
        with itself for the others; "condensed" the n(n-1)/2 pairs as SciPy orders them, in half the
        memory; "sparse", for AddS, SciPy's CSR of the pairs that aren't zero, symmetric, which needs
        `pip install "ordhc[vectors]"`.
    dtype
        float64, float32, int64 or int32; counts are whole numbers, others need floats.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the builder: ``normalize`` of "mulk3" (by default true); ``lengths`` of "adds3" and
        "adds4": False (the default) takes all leaves for equally typical; True weighs an answer that lengths
        of leaves (`ordhc.similarities.leaf_lengths`) give the probability p 2 (1 - p) times as much; None
        does so where the standard deviation of lengths is at least .25. A scan is read once more for lengths,
        and each of its rows is one answer.

    Returns
    -------
    ndarray or csr_array
        Similarities: larger is closer, in units of comparisons for "adds3" and "adds4", of agreeing
        comparisons for the kernels ("mulk3" from -1 to 1 if normalised and no answer is repeated or
        weighted: weights of answers add up, but the pairs by which they are divided count once, as in the
        published code; deduplicate() gives the kernel of a set of answers).

    Raises
    ------
    InputError
        An unknown name (with the nearest ones), data it does not take.
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    AddS3 is s_ij = sum_k x(i;j,k) + x(j;i,k), with x the weight of "i is closer to j than to k" minus
    that of the opposite (Mandal, Perrot & Ghoshdastidar 2023, Theorem 1). MulK3, Kendall's kernel, is
    K_ij = sum_{k<l} x(i;k,l) x(j;k,l) / sqrt(c_i c_j), with c_i the number of pairs that were answered
    for anchor i (Ghoshdastidar, Perrot & von Luxburg 2019, equation 8). MulK4 is the sum of
    x(ir;kl) x(jr;kl) over pairs {k, l} and leaves r other than i and j; 4K, as published, is MulK4 +
    2 AddS4. The result does not depend on the number of threads.

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
    if isinstance(data, Scan):
        return _of_scan(data, spec, layout, type_name, progress, settings)
    found: Any = fitting(data, spec.data, f"similarity {spec.name!r}")
    if layout == "sparse":
        if not is_adds(spec):
            raise InputError(f"similarity {spec.name!r} has no sparse layout, only 'adds3' and 'adds4' have")
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
    """Return AddS or MulK3 of comparisons in files."""
    if not is_adds(spec) and not is_mulk3(spec):
        raise InputError(
            f"similarity {spec.name!r} is no sum over answers: it needs them in memory, "
            "scan.read(); of a scan go 'adds3', 'adds4' and 'mulk3'"
        )
    progress = scan.surveying(progress)
    own = "triplets" if scan.kind is Triplets else "quadruplets"
    if own not in spec.data and not (own == "triplets" and "quadruplets" in spec.data):
        raise InputError(f"similarity {spec.name!r} takes {' or '.join(spec.data)}, not {scan.kind.__name__}")
    if scan.weighted and not dtype.startswith("float"):
        raise InputError(f"dtype is {dtype}, but weighted answers need float64 or float32")
    with Spill(scan.spill) as folder:
        if is_mulk3(spec):
            if layout == "sparse":
                raise InputError(
                    f"similarity {spec.name!r} has no sparse layout, only 'adds3' and 'adds4' have"
                )
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
        pairs = dense_sums(scan, folder, progress, floats=floats).pairs
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
    """Return a similarity of data that fit it, checked."""
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
    """Return what functions of plugins take: comparisons, or the rows of vectors."""
    return data.rows if isinstance(data, Vectors) else data


def is_adds(spec: SimilaritySpec) -> bool:
    """Whether a similarity is built-in AddS, which sparse answers make sparse."""
    return spec.name in ("adds3", "adds4") and registry.is_builtin(spec)


def is_mulk3(spec: SimilaritySpec) -> bool:
    """Whether a similarity is built-in MulK3, which is a sum over blocks of pairs."""
    return spec.name == "mulk3" and registry.is_builtin(spec)


def factored(
    spec: SimilaritySpec, data: Any, progress: Progress | None, settings: Mapping[str, Any]
) -> tuple[Any, float]:
    """Return the rows and the scale whose products are a similarity, checked."""
    assert spec.factor is not None
    n = data.n_leaves
    result: Any = spec.factor(_plain(data), progress=progress, **settings)
    try:
        rows, scale = result
        rows, scale = as_vectors(rows), float(scale)
    except (TypeError, ValueError) as error:
        raise PluginError(f"similarity {spec.name!r} gave no rows and scale: {error}") from error
    if rows.shape[0] != n or not 0 < scale < math.inf:
        raise PluginError(f"similarity {spec.name!r} gave {rows.shape[0]} rows for {n} leaves, scale {scale}")
    return rows, scale


def fitting(data: Any, accepted: tuple[str, ...], what: str) -> Any:
    """Return the data in an accepted form: triplets serve as quadruplets, arrays become `Vectors`."""
    if isinstance(data, Triplets | Quadruplets):
        return fitting_comparisons(data, accepted, what)
    if "vectors" in accepted:
        vectors = data if isinstance(data, Vectors) else Vectors(data)
        if _are_distances(vectors.rows):
            warn(
                f"the vectors, {vectors.rows.shape}, look like distances (symmetric, 0 on the diagonal, none "
                f"below), and are taken for coordinates by {what}: ordhc.linkage(D, dissimilarity=True) "
                "takes them"
            )
        return vectors
    raise InputError(f"{what} takes {' or '.join(accepted)}, not {type(data).__name__}")


def _are_distances(rows: Any) -> bool:
    """Whether an (n, n) array is symmetric with 0 on the diagonal, above elsewhere."""
    if not isinstance(rows, np.ndarray) or rows.shape[0] != rows.shape[1] or len(rows) < 3:
        return False
    if np.diagonal(rows).any() or not np.array_equal(rows[0], rows[:, 0]):
        return False
    return (
        bool((rows >= 0).all())
        and np.count_nonzero(rows) == rows.size - len(rows)
        and bool((rows == rows.T).all())
    )


def _csr(parts: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], n: int, dtype: str, what: str) -> Any:
    """SciPy's CSR of row pointers, columns and values."""
    try:
        with interrupts_later():
            from scipy.sparse import csr_array
    except ImportError:
        raise MissingExtraError.of(what, "scipy", "vectors") from None
    starts, columns, values = parts
    # Not by its constructor, which copies arrays that map a file.
    made = csr_array((n, n), dtype=dtype)
    places = np.int32 if len(columns) < 2**31 else np.int64
    made.indptr, made.indices = starts.astype(places, copy=False), columns.astype(places, copy=False)
    made.data = values.astype(dtype, copy=False)
    return made
