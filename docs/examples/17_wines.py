"""
Wines of three growers
======================

Thirteen measurements of 178 wines (they come with scikit-learn). Colours are the three growers, grey are
branches above wines of more than one.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import ordhc

wine = load_wine()
tree = ordhc.cluster(scale(wine.data), similarity="euclidean", linkage="ward")
ax = tree.plot(
    layout="unrooted",
    labels=False,
    color_by=[f"grower {c + 1}" for c in wine.target],
    width=180,
    line_width=1.1,
)
