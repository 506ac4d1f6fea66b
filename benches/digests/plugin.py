"""A plugin with linkages of every form. It is registered here, so that digests need no other package."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ordhc.hooks import hookimpl
from ordhc.plugins import registry
from ordhc.specs import LanceWilliams, LinkageSpec

NAME = "digests-linkages"


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    """Coefficients that keep clusters in order and those that need not, and both forms of row updates."""
    beta = LanceWilliams(alpha="(1 - beta) / 2", beta="beta")
    variance = LanceWilliams(alpha="(n_i + n_k) / (n_i + n_j + n_k)", beta="-n_k / (n_i + n_j + n_k)")
    return [
        LinkageSpec(
            name="digests-flexible", summary="coefficients", coefficients=beta, parameters={"beta": -0.25}
        ),
        LinkageSpec(
            name="digests-variance", summary="reducible coefficients", coefficients=variance, reducible=True
        ),
        LinkageSpec(name="digests-nearest", summary="a row update", update_row=nearest),
        LinkageSpec(name="digests-members", summary="an update that is made", make_update=least_of_members),
    ]


def nearest(row_i: Any, row_j: Any, *_: Any) -> Any:
    """Single linkage, as a row update."""
    return np.maximum(row_i, row_j)


def least_of_members(S: Any) -> Any:
    """Complete linkage, from the members of clusters."""
    members = [[leaf] for leaf in range(len(S))]

    def update(*merge: Any) -> Any:
        i, j, others = merge[-3:]
        members[i] = members[i] + members[j]
        rows = S[members[i]]
        return np.array([rows[:, members[k]].min() for k in others.tolist()], dtype=np.float64)

    return update


@contextmanager
def registered() -> Iterator[None]:
    """Let this plugin be the only one; programs that are started see it, too."""
    with tempfile.TemporaryDirectory() as folder:
        about = Path(folder) / "digests_linkages-0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 0\n")
        (about / "entry_points.txt").write_text("[ordhc]\ndigests = digests.plugin\n")
        sys.path.insert(0, folder)
        os.environ["ORDHC_PLUGINS"] = NAME
        registry.reset()
        try:
            yield
        finally:
            sys.path.remove(folder)
            os.environ["ORDHC_PLUGINS"] = ""
            registry.reset()
