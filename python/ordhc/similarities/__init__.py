"""Similarities of all pairs of leaves, from comparisons or vectors: the parts of `ordhc.similarity`."""

from ordhc.similarities.lengths import leaf_lengths
from ordhc.similarities.principal import pca

__all__ = ["leaf_lengths", "pca"]
__dir__ = __all__.copy
