"""
The top of a tree
=================

``truncate`` shows the tree only near the root. A triangle is a cluster that is not opened. The triangle is
wider if the cluster has more dishes, and its label is one of these dishes.
"""

import ordhc

food = ordhc.datasets.load_food()
tree = ordhc.cluster(food.triplets, method="adds3-al+spr")
ax = tree.plot(truncate=14, n_clusters=5, width=180)
