"""
Similarities in the order of the tree
=====================================

AddS3 turns answers into a similarity of each two dishes. In the order of the tree its blocks are the
clusters.
"""

import ordhc

food = ordhc.datasets.load_food()
S = ordhc.similarity(food.triplets, "adds3")
tree = ordhc.linkage(S, "average", dissimilarity=False).replace(names=food.names)
ax = ordhc.plots.heatmap(tree, S, order="optimal", n_clusters=5, labels=False)
