"""
Written digits
==============

1,797 images of 8 x 8 pixels (they come with scikit-learn), joined by their dot products without a matrix of
pairs. The thirty largest branches are shown; a triangle's strip has the shares of its digits.
"""

from sklearn.datasets import load_digits

import ordhc

digits = load_digits()
tree = ordhc.cluster(digits.data, similarity="euclidean", linkage="ward")
ax = tree.plot(
    truncate=30, labels=False, columns={"digit": [str(d) for d in digits.target]}, width=180, height=150
)
