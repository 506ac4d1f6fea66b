"""The engine, compiled from Rust. Arrays in, arrays out; names and files are Python's business."""

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "check_quadruplets",
    "check_triplets",
    "InputError",
    "planted",
    "Linkage",
    "agglomerate",
    "revenue",
    "adds",
    "parse_table",
    "Dendrogram",
]

class InputError(ValueError): ...

# --- comparisons -----------------------------------------------------------------------------

def check_triplets(rows: NDArray[np.int64], n_leaves: int | None) -> tuple[NDArray[np.int32], int]: ...
def check_quadruplets(rows: NDArray[np.int64], n_leaves: int | None) -> tuple[NDArray[np.int32], int]: ...
def parse_table(
    data: bytes,
    columns: list[int] | list[str] | list[list[str]],
    weight_columns: list[str],
    delimiter: str | None,
    header: bool | None,
) -> tuple[NDArray[np.int64], list[str] | None, NDArray[np.float64] | None, NDArray[np.uint32]]: ...

# --- similarities ----------------------------------------------------------------------------

def adds(
    rows: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    n_leaves: int,
    layout: str,
    dtype: str,
    progress: Callable[[float], None] | None,
) -> NDArray[Any]: ...

# --- linkages --------------------------------------------------------------------------------

@final
class Linkage:
    @staticmethod
    def native(name: str) -> Linkage: ...
    @staticmethod
    def coefficients(
        alpha: str,
        beta: str,
        gamma: str,
        parameters: Mapping[str, float],
        *,
        reducible: bool,
        squared: bool,
    ) -> Linkage: ...
    @staticmethod
    def update_row(callback: Callable[..., NDArray[np.float64]]) -> Linkage: ...
    @staticmethod
    def native_names() -> list[str]: ...

def agglomerate(
    values: NDArray[Any],
    linkage: Linkage,
    dissimilarity: bool,
    engine: str,
    progress: Callable[[float], None] | None,
) -> Dendrogram: ...

# --- the tree --------------------------------------------------------------------------------

@final
class Dendrogram:
    def __new__(
        cls, merges: NDArray[np.int64], heights: NDArray[np.float64], dissimilarity: bool
    ) -> Dendrogram: ...
    @staticmethod
    def from_newick(text: str) -> tuple[Dendrogram, list[str]]: ...
    def to_newick(self, names: list[str] | None, branch_lengths: bool, heights: bool) -> str: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def dissimilarity(self) -> bool: ...
    def merges(self) -> NDArray[np.int64]: ...
    def heights(self) -> NDArray[np.float64]: ...
    def sizes(self) -> NDArray[np.int64]: ...
    def cut_clusters(self, n_clusters: int) -> NDArray[np.int64]: ...
    def cut_height(self, height: float) -> NDArray[np.int64]: ...
    def lca_sizes(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.int64]: ...
    def leaf_order(self) -> NDArray[np.int64]: ...
    def relabel(self, leaves: NDArray[np.int64]) -> Dendrogram: ...
    def is_monotone(self) -> bool: ...

# --- scores ----------------------------------------------------------------------------------

def revenue(
    tree: Dendrogram, rows: NDArray[np.int32], weights: NDArray[np.float64] | None
) -> int | float: ...

# --- generators ------------------------------------------------------------------------------

def planted(
    levels: int,
    leaves_per_cluster: int,
    mu: float,
    delta: float,
    sigma: float,
    n_comparisons: int,
    flip: float,
    quadruplets: bool,
    permute: bool,
    seed: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
