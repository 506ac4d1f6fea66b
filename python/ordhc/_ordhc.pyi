"""The crate, compiled. Arrays in, arrays out; names and files are Python's business."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

# fmt: off
__all__ = [
    "Dendrogram", "Desk", "EmbeddingLoss", "InputError", "InternalError", "Learner", "Linkage",
    "OrdhcWarning", "Samples", "Tallies", "TreeOracle", "aari", "aari_of_trees", "add_rest", "adds",
    "adds_csr", "adds_into", "adds_linkage", "agglomerate", "agglomerate_sparse", "ari", "best_revenue",
    "bootstrap_adds", "build", "canonical_keys", "canonical_order", "canonical_sums", "check_memory",
    "check_quadruplets", "check_triplets", "cluster_counts", "cophenetic", "cophenetic_of_trees",
    "dasgupta", "dendrogram_purity", "draw_times", "end_of_first_row", "estimate_p", "expected_adds3",
    "kendall_tau", "leaf_heights", "limit_threads", "mean_dot_linkage", "merge_distortion", "merged_runs",
    "mixing", "mulk3", "mulk4", "optimal_leaf_order", "pair_run", "pairs_beaten", "panic", "parse_table",
    "planted", "preference_linkage", "random_tree", "refine_satisfied", "refine_similarity", "revenue",
    "sample", "satisfied", "sparse_gram", "split_table", "square", "start_of_last_row", "support",
    "triplet_counts", "vector_distances", "vector_linkage",
]
# fmt: on

_Floats = NDArray[np.float64]
_Any = NDArray[Any]
_Vectors = _Floats | NDArray[np.float32]
_Keys = NDArray[np.uint64]
_Ints = NDArray[np.int64]
_Ints32 = NDArray[np.int32]
_Bytes = NDArray[np.int8]
_MaybeInts = _Ints | None
_MaybeFloats = _Floats | None
_Progress = Callable[[float], None] | None
# (m, 3) or (m, 4) leaf ids of one of three types.
_Rows = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]

class InputError(ValueError):
    reason: str
    row: int | None
    line: int | None
    leaves: tuple[tuple[int, ...], ...] | None
    path: str | None
    def __init__(
        self,
        reason: str = "",
        *,
        row: int | None = None,
        line: int | None = None,
        leaves: Iterable[Iterable[int]] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None: ...

class OrdhcWarning(UserWarning): ...
class InternalError(RuntimeError): ...

def panic(message: str) -> None: ...

# --- comparisons -----------------------------------------------------------------------------

def check_triplets(rows: _Any, n_leaves: int | None) -> tuple[_Ints32 | None, int]: ...
def check_quadruplets(rows: _Any, n_leaves: int | None) -> tuple[_Ints32 | None, int]: ...
def parse_table(
    data: bytes,
    chosen: list[int] | list[str] | None,
    known: list[list[str]],
    weight_columns: list[str],
    labels: list[list[str]],
    delimiter: str | None,
    comment: str | None,
    header: bool | None,
    ids: bool | None,
    missing: list[str],
    skip_bad: bool,
    progress: _Progress,
) -> dict[str, Any]: ...
def end_of_first_row(data: bytes, delimiter: str, comment: str | None) -> tuple[int, int] | None: ...
def start_of_last_row(data: bytes, delimiter: str, comment: str | None) -> tuple[int, int]: ...
def split_table(
    data: str, delimiter: str | None, comment: str | None
) -> tuple[list[list[str]], list[int]]: ...

# --- similarities ----------------------------------------------------------------------------

def adds(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, layout: str, dtype: str, progress: _Progress
) -> _Any: ...
def adds_csr(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, progress: _Progress
) -> tuple[_Ints, _Ints32, _Floats]: ...
def mulk3(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, normalize: bool, progress: _Progress
) -> tuple[_Floats, _Floats]: ...
def mulk4(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, progress: _Progress
) -> tuple[_Floats, _Floats]: ...
def adds_into(out: _Any, rows: _Rows, weights: _MaybeFloats, n_leaves: int) -> None: ...
def pair_run(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, both: bool, sum: bool
) -> tuple[_Keys, _Floats]: ...
def merged_runs(runs: list[tuple[_Keys, _Floats]]) -> tuple[_Keys, _Floats]: ...
def canonical_sums(rows: _Rows, weights: _MaybeFloats, keys: _Keys, sums: _Keys) -> None: ...
def canonical_keys(keys: _Keys, sums: _Keys) -> _Keys | None: ...
def limit_threads(limit: int | None) -> int | None: ...
def square(condensed: _Floats, diagonal: _Floats) -> _Floats: ...
def check_memory(what: str, n_bytes: int) -> None: ...

# --- linkages of comparisons -----------------------------------------------------------------

def preference_linkage(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, initial: _MaybeInts, progress: _Progress
) -> Dendrogram: ...
def pairs_beaten(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, progress: _Progress, names: tuple[str, ...] | None
) -> _Floats: ...
def build(
    rows: _Rows, weights: _MaybeFloats, n_leaves: int, progress: _Progress, names: tuple[str, ...] | None
) -> Dendrogram: ...

# --- embeddings ------------------------------------------------------------------------------

@final
class EmbeddingLoss:
    def __new__(
        cls, rows: _Rows, weights: _MaybeFloats, n_leaves: int, model: str, parameter: float | None
    ) -> EmbeddingLoss: ...
    @property
    def total_weight(self) -> float: ...
    def evaluate(self, points: _Floats) -> tuple[float, _Floats]: ...
    def evaluate_pairs(self, points: _Floats) -> tuple[float, _Floats]: ...

def expected_adds3(points: _Floats, model: str, parameter: float | None, progress: _Progress) -> _Floats: ...

# --- resampling ------------------------------------------------------------------------------

@final
class Tallies:
    def __new__(cls, n_leaves: int, times: NDArray[np.uint32]) -> Tallies: ...
    def add(
        self, rows: _Rows, weights: _MaybeFloats, groups: NDArray[np.uint32], first: Dendrogram
    ) -> None: ...
    def scores(self) -> _Floats: ...
    def trees(self, linkage: Linkage, progress: _Progress) -> list[Dendrogram]: ...

def add_rest(
    rows: _Rows,
    weights: _MaybeFloats,
    n_leaves: int,
    groups: NDArray[np.uint32],
    times: NDArray[np.uint32],
    trees: list[Dendrogram],
    sums: _Floats,
) -> None: ...
def draw_times(m: int, groups: _MaybeInts, seed: int, index: int) -> _Ints: ...
def bootstrap_adds(
    rows: _Rows,
    weights: _MaybeFloats,
    linkage: Linkage,
    tree: Dendrogram,
    groups: _MaybeInts,
    shares: _MaybeFloats,
    seed: int,
    first: int,
    n_resamples: int,
    progress: _Progress,
) -> tuple[list[Dendrogram], _Floats]: ...
def support(tree: Dendrogram, others: list[Dendrogram]) -> _Floats: ...

# --- linkages --------------------------------------------------------------------------------

@final
class Linkage:
    @staticmethod
    def native(name: str) -> Linkage: ...
    @staticmethod
    def coefficients(
        alpha: str, beta: str, gamma: str, parameters: Mapping[str, float], *, reducible: bool, squared: bool
    ) -> Linkage: ...
    @staticmethod
    def update_row(callback: Callable[..., _Floats]) -> Linkage: ...
    @staticmethod
    def native_names() -> list[str]: ...

def agglomerate(
    values: _Any,
    linkage: Linkage,
    dissimilarity: bool,
    engine: str,
    initial: _MaybeInts,
    progress: _Progress,
    overwrite: bool = False,
) -> Dendrogram: ...
def agglomerate_sparse(
    indptr: _Ints32 | _Ints,
    indices: _Ints32 | _Ints,
    values: _Floats,
    linkage: Linkage,
    dissimilarity: bool,
    missing: str,
    initial: _MaybeInts,
    progress: _Progress,
) -> tuple[Dendrogram, int]: ...
def adds_linkage(
    rows: _Rows,
    weights: _MaybeFloats,
    n_leaves: int,
    linkage: Linkage,
    initial: _MaybeInts,
    progress: _Progress,
) -> Dendrogram: ...

# --- the tree --------------------------------------------------------------------------------

@final
class Dendrogram:
    def __new__(cls, merges: _Ints, heights: _Floats, dissimilarity: bool) -> Dendrogram: ...
    @staticmethod
    def from_newick(
        text: str, preserve_underscores: bool, progress: _Progress
    ) -> tuple[
        Dendrogram,
        list[str],
        _MaybeInts,
        bool,
        NDArray[np.bool_] | None,
        list[str | None] | None,
        _MaybeFloats,
        bool,
        _MaybeFloats,
        _MaybeFloats,
        str | None,
    ]: ...
    def to_newick(
        self,
        names: list[str] | None,
        joined: NDArray[np.bool_] | None,
        node_names: list[str | None] | None,
        support: _MaybeFloats,
        shares: bool,
        standing: _MaybeInts,
        branch_lengths: _MaybeFloats,
        leaf_heights: _MaybeFloats,
        *,
        lengths: bool,
        heights: bool,
        progress: _Progress,
    ) -> str: ...
    def check_joined(self, joined: NDArray[np.bool_]) -> None: ...
    def in_order_of_children(self, joined: NDArray[np.bool_]) -> Dendrogram: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def dissimilarity(self) -> bool: ...
    def merges(self) -> _Ints: ...
    def heights(self) -> _Floats: ...
    def sizes(self) -> _Ints: ...
    def cut_clusters(self, n_clusters: int) -> _Ints: ...
    def cut_height(self, height: float) -> _Ints: ...
    def lca_sizes(self, i: _Ints, j: _Ints) -> _Ints: ...
    def leaf_order(self) -> _Ints: ...
    def relabel(self, leaves: _Ints) -> Dendrogram: ...
    def is_monotone(self) -> bool: ...

# --- vectors ---------------------------------------------------------------------------------

def mean_dot_linkage(
    rows: _Vectors, scale: float, initial: _MaybeInts, progress: _Progress
) -> Dendrogram: ...
def vector_linkage(
    rows: _Vectors, linkage: str, measure: str, scale: float, progress: _Progress
) -> Dendrogram: ...
def vector_distances(rows: _Vectors, measure: str, progress: _Progress) -> _Floats: ...
def sparse_gram(
    indptr: _Ints, indices: _Ints, values: _Vectors, n_columns: int, narrow: bool, progress: _Progress
) -> tuple[_Any, _Floats]: ...
def leaf_heights(tree: Dendrogram, own: _Floats) -> _Floats: ...

# --- scores ----------------------------------------------------------------------------------

_How = tuple[int | None, int, int, _MaybeInts]

def refine_similarity(
    tree: Dendrogram, values: _Any, dissimilarity: bool, average_heights: bool, how: _How, progress: _Progress
) -> tuple[Dendrogram, float, int, bool]: ...
def optimal_leaf_order(tree: Dendrogram, values: _Any, dissimilarity: bool, progress: _Progress) -> _Ints: ...
def canonical_order(rows: _Rows, weights: _MaybeFloats, n_leaves: int) -> _Ints: ...
def refine_satisfied(
    tree: Dendrogram, rows: _Rows, weights: _MaybeFloats, how: _How, progress: _Progress
) -> tuple[Dendrogram, float, int, bool]: ...
def revenue(
    tree: Dendrogram, rows: _Rows, weights: _MaybeFloats, progress: _Progress = None
) -> int | float: ...
def satisfied(
    tree: Dendrogram, rows: _Rows, weights: _MaybeFloats, progress: _Progress = None
) -> tuple[float, float, float]: ...
def best_revenue(rows: _Rows, weights: _MaybeFloats, n_leaves: int) -> int | float: ...
def dasgupta(tree: Dendrogram, values: _Any, revenue: bool, progress: _Progress) -> int | float: ...
def cophenetic(tree: Dendrogram, values: _Any, dissimilarity: bool, progress: _Progress) -> float: ...
def cophenetic_of_trees(a: Dendrogram, b: Dendrogram, progress: _Progress) -> float: ...
def merge_distortion(a: Dendrogram, b: Dendrogram, progress: _Progress) -> float: ...
def kendall_tau(
    truth: Dendrogram, tree: Dendrogram, include_self: bool, tie_self: bool, progress: _Progress
) -> tuple[float, float, int, _Floats]: ...
def triplet_counts(
    a: Dendrogram, b: Dendrogram, join_ties: bool, progress: _Progress
) -> tuple[int, int, int, int, int]: ...
def cluster_counts(a: Dendrogram, b: Dendrogram, join_ties: bool) -> tuple[int, int, int]: ...
def dendrogram_purity(tree: Dendrogram, labels: _Ints, join_ties: bool) -> float: ...
def ari(a: _Ints, b: _Ints) -> float: ...
def aari(tree: Dendrogram, levels: _Ints, progress: _Progress) -> tuple[float, list[float]]: ...
def aari_of_trees(
    a: Dendrogram, b: Dendrogram, n_clusters: list[int], progress: _Progress
) -> tuple[float, list[float]]: ...

# --- learners --------------------------------------------------------------------------------

@final
class Desk:
    def __new__(cls, learner: Learner, limit: int | None, budget: int | None) -> Desk: ...
    def copy(self) -> Desk: ...
    def replay(
        self,
        first: int,
        kinds: _Bytes,
        refs: _Ints,
        leaves: _Ints32,
        answers: _Bytes,
        skipped: NDArray[np.bool_],
    ) -> None: ...
    def want(self, count: int) -> None: ...
    def set_parallel(self, count: int) -> None: ...
    def waiting(self, most: int) -> _Ints32: ...
    def open(self, most: int, taken: _Ints) -> tuple[_Ints, _Ints32]: ...
    def held(self, number: int) -> list[int] | None: ...
    def is_asked(self, number: int) -> bool: ...
    def asks(self, leaves: list[int] | tuple[int, ...]) -> bool: ...
    def tree(self) -> Dendrogram: ...
    @property
    def done(self) -> bool: ...
    @property
    def left(self) -> int: ...
    @property
    def n_placed(self) -> int: ...
    @property
    def remaining_estimate(self) -> float: ...

@final
class Learner:
    def __new__(
        cls,
        method: str,
        n_leaves: int,
        parallel: int,
        seed: int,
        *,
        p: float,
        delta: float,
        assume: str,
        noise: str,
        schedule: str,
    ) -> Learner: ...
    @staticmethod
    def of_quadruplets(
        method: str,
        n_leaves: int,
        seed: int,
        *,
        n_landmarks: int | None,
        q: float | None,
        n_references: int | None,
        budget: int | None,
    ) -> Learner: ...
    def repeated(self, times: int) -> Learner: ...
    def ask(self, limit: int) -> tuple[_Ints, _Ints32]: ...
    def open(self) -> tuple[_Ints, _Ints32]: ...
    def tell(self, ids: _Ints, answers: _Bytes) -> tuple[int, str] | None: ...
    def tree(self) -> Dendrogram: ...
    @property
    def width(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def n_placed(self) -> int: ...
    @property
    def n_asked(self) -> int: ...
    @property
    def n_answered(self) -> int: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def remaining_estimate(self) -> float: ...

@final
class TreeOracle:
    def __new__(cls, tree: Dendrogram) -> TreeOracle: ...
    def answer(self, questions: _Ints32) -> _Bytes: ...

def estimate_p(answers: list[list[int]], delta: float) -> tuple[float, float]: ...
def random_tree(shape: str, n_leaves: int, seed: int) -> Dendrogram: ...

@final
class Samples:
    def __len__(self) -> int: ...
    def states(self) -> list[_Floats]: ...
    def tree(self, at: int) -> tuple[Dendrogram, NDArray[np.bool_]]: ...
    def predict(self, rows: _Rows, verdict: bool) -> _Floats: ...
    def similarity(self, progress: _Progress) -> _Floats: ...
    def support(self, tree: Dendrogram) -> _Floats: ...

def sample(
    rows: _Rows, weights: _MaybeFloats, start: Dendrogram, how: tuple[int, ...], progress: _Progress
) -> Samples: ...
def mixing(chains: list[_Floats]) -> tuple[float, float]: ...

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
    progress: _Progress,
) -> tuple[_Ints32, _Ints]: ...
