"""
Two methods face to face
========================

Two methods make a tree from the same answers. Both trees are drawn in an order of leaves in which few lines
cross. The colours of the lines are the clusters of the left tree.
"""

import matplotlib.pyplot as plt

import ordhc

cars = ordhc.datasets.load_car()
short = [name.replace("car image ", "") for name in cars.names]
a = ordhc.cluster(cars.triplets, method="adds3-al").replace(names=short)
b = ordhc.cluster(cars.triplets, method="mulk3-al").replace(names=short)
fig, ax = plt.subplots(figsize=(7.2, 8.4))
ax = ordhc.plots.tanglegram(
    a, b, n_clusters=4, titles=("AddS3, average linkage", "MulK3, average linkage"), ax=ax
)
