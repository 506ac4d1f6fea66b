"""Linkage by an engine that a test chooses: `ordhc.linkage` lets the input choose."""

import numpy as np

from ordhc import _ordhc
from ordhc.tree.dendrogram import from_engine


def merged(values, name, dissimilarity=False, engine="naive", overwrite=False, labels=None, progress=None):
    """The tree that an engine makes of the pairs of leaves, by one of the crate's own linkages."""
    rule = _ordhc.Linkage.native(name)
    initial = None if labels is None else np.array(labels, dtype=np.int64)
    tree = _ordhc.agglomerate(values, rule, bool(dissimilarity), engine, initial, progress, overwrite)
    return from_engine(tree)
