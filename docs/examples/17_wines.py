"""
Wines of three growers
======================

178 wines have thirteen measurements each; the data come with scikit-learn. The colours are the three
growers. Grey branches lead to wines of more than one grower.
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
