"""
A map of the dishes
===================

An ordinal embedding (of the package ordhc-embedding) puts dishes on a plane so that distances answer as
people did. The colours are the clusters of the tree, which is made from the same answers.
"""

import matplotlib.pyplot as plt
from ordhc_embedding import embed

import ordhc

food = ordhc.datasets.load_food()
points = embed(food.triplets, "tste", n_components=2, seed=0).points
labels = ordhc.cluster(food.triplets).cut(n_clusters=5)
fig, ax = plt.subplots(figsize=(7.2, 6.2))
colours = plt.get_cmap("Dark2")(labels)
ax.scatter(*points.T, c=colours, s=28)
for dish in (6, 23, 39, 33, 54, 87, 78, 74, 22, 52, 65, 4, 40, 26):
    ax.annotate(food.names[dish], points[dish], xytext=(4, 3), textcoords="offset points", fontsize=7)
ax.set(xticks=[], yticks=[], aspect="equal")
ax.spines[:].set_visible(False)
