"""
The top of a tree
=================

``truncate`` opens a tree from the root down. What stays closed is a triangle, wider the more dishes it
holds, named after one of them.
"""

import ordhc

food = ordhc.datasets.load_food()
tree = ordhc.cluster(food.triplets, method="adds3-al+spr")
ax = tree.plot(truncate=14, n_clusters=5, width=180)
