"""Convert the specification of a linkage to a linkage of the engine, the compiled part of ordhc."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError, PluginError
from ordhc.plugins.specs import LinkageSpec, coefficients_of


def similarities_of(values: NDArray[Any], dissimilarity: bool) -> NDArray[np.float64]:
    """Return the (n, n) similarities of a matrix; dissimilarities are negated."""
    square = _checks.square(values).astype(np.float64)
    return -square if dissimilarity else square


def engine_linkage(
    spec: LinkageSpec,
    parameters: Mapping[str, Any],
    similarities: Callable[[], NDArray[np.float64]],
) -> _ordhc.Linkage:
    """Return the compiled linkage that `spec` specifies.

    `similarities` returns the (n, n) matrix. It is called only if the linkage needs the matrix.
    """
    if spec.from_comparisons is not None:
        raise InputError(
            f"linkage {spec.name!r} takes comparisons, not similarities: "
            f"ordhc.cluster(data, linkage={spec.name!r})"
        )
    if spec.native is not None:
        return _ordhc.Linkage.native(spec.native)
    if spec.coefficients is not None:
        return coefficients_of(spec, parameters)
    if spec.make_update is not None:
        update: Callable[..., Any] | None = spec.make_update(similarities(), **parameters)
        extra: dict[str, Any] = {}
        if not callable(update):
            raise PluginError(f"linkage {spec.name!r}: make_update returned {update!r}, not a callable")
    else:
        update, extra = spec.update_row, dict(parameters)

    def checked(*arguments: Any) -> NDArray[np.float64]:
        row = update(*arguments, **extra)  # type: ignore[misc]
        if row is None:
            raise PluginError(f"linkage {spec.name!r}: the row update returned None, not a row")
        try:
            values = np.ascontiguousarray(row, dtype=np.float64)
        except (TypeError, ValueError):
            raise PluginError(f"linkage {spec.name!r}: the row update returned {row!r}, not a row") from None
        if values.shape != arguments[0].shape:
            raise PluginError(
                f"linkage {spec.name!r}: the row update returned shape {values.shape}, "
                f"not {arguments[0].shape}"
            )
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise PluginError(
                f"linkage {spec.name!r}: the row update returned {wrong}; values must be finite"
            )
        return values

    return _ordhc.Linkage.update_row(checked)
