"""
A map of the dishes
===================

An ordinal embedding (from the package ordhc-embedding) places the dishes in a plane, so that distances agree
with people's answers. The colours are the clusters of a tree that is made from the same answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from ordhc_embedding import embed

import ordhc

food = ordhc.datasets.load_food()
points = embed(food.triplets, "tste", n_components=2, seed=0).points
tree = ordhc.linkage(ordhc.similarity(food.triplets), "ward", dissimilarity=False)
labels = tree.cut(n_clusters=5)

fig, ax = plt.subplots(figsize=(7.2, 5.6))
for cluster in np.unique(labels):
    ax.scatter(*points[labels == cluster].T, s=26)
for dish in (6, 39, 23, 33, 40, 22, 52, 4, 26, 74):
    ax.annotate(food.names[dish], points[dish], xytext=(5, 3), textcoords="offset points", fontsize=7)
low, high = np.percentile(points, [1, 99], axis=0)
ax.set(xticks=[], yticks=[], xlim=(low[0] - 0.3, high[0] + 1.5), ylim=(low[1] - 0.3, high[1] + 0.3))
ax.spines[:].set_visible(False)
