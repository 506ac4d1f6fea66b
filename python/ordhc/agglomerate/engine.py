"""From a linkage spec to what the engine runs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.errors import InputError, PluginError
from ordhc.plugins.specs import LinkageSpec, coefficients_of

__all__ = ["engine_linkage"]


def engine_linkage(
    spec: LinkageSpec,
    parameters: Mapping[str, Any],
    similarities: Callable[[], NDArray[np.float64]],
) -> _ordhc.Linkage:
    """Return what the engine runs for `spec`; call `similarities` for the (n, n) matrix if needed."""
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
            raise PluginError(f"linkage {spec.name!r}: make_update gave {update!r}, no callable")
    else:
        update, extra = spec.update_row, dict(parameters)

    def checked(*arguments: Any) -> NDArray[np.float64]:
        row = update(*arguments, **extra)  # type: ignore[misc]
        if row is None:
            raise PluginError(f"linkage {spec.name!r}: the row update gave None, no row")
        try:
            values = np.ascontiguousarray(row, dtype=np.float64)
        except (TypeError, ValueError):
            raise PluginError(f"linkage {spec.name!r}: the row update gave {row!r}, no row") from None
        if values.shape != arguments[0].shape:
            raise PluginError(
                f"linkage {spec.name!r}: the row update gave shape {values.shape}, not {arguments[0].shape}"
            )
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise PluginError(f"linkage {spec.name!r}: the row update gave {wrong}")
        return values

    return _ordhc.Linkage.update_row(checked)
