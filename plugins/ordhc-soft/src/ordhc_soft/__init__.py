"""A plugin of ordhc whose linkage is written in Rust: a soft maximum between average and single linkage."""

from typing import Any

from ordhc.hooks import hookimpl
from ordhc.specs import LinkageSpec
from ordhc_soft import _native

__all__ = ["SOFT", "ordhc_linkages"]


def _update(row_i: Any, row_j: Any, _s_ij: Any, n_i: Any, n_j: Any, *_rest: Any, sharpness: float) -> Any:
    """Return the similarities between the cluster that is merged from i and j and the other clusters."""
    return _native.soft_maximum(row_i, row_j, n_i, n_j, sharpness)


SOFT = LinkageSpec(
    name="soft",
    summary="soft maximum, between average (sharpness near 0) and single linkage",
    update_row=_update,
    parameters={"sharpness": 1.0},
)


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    """Return the linkage `soft`."""
    return [SOFT]
