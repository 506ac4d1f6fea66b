"""
Written digits
==============

1,797 images of 8 x 8 pixels come with scikit-learn. Ward's linkage of Euclidean distances makes the tree
without a matrix of all pairs. The figure shows the thirty largest branches, and the strip of each triangle
shows the shares of its digits.
"""

from sklearn.datasets import load_digits

import ordhc

digits = load_digits()
tree = ordhc.cluster(digits.data, similarity="euclidean", linkage="ward")
ax = tree.plot(
    truncate=30, labels=False, columns={"digit": [str(d) for d in digits.target]}, width=180, height=150
)
