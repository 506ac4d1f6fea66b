"""
Similarities in the order of the tree
=====================================

AddS3 computes a similarity for each pair of dishes from the answers. If rows and columns are in the order of
the tree, clusters appear as blocks.
"""

import ordhc

food = ordhc.datasets.load_food()
S = ordhc.similarity(food.triplets, "adds3")
tree = ordhc.linkage(S, "average", dissimilarity=False).replace(names=food.names)
ax = ordhc.plots.heatmap(tree, S, order="optimal", n_clusters=5, labels=False)
