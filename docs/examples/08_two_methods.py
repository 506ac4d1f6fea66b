"""
Two methods face to face
========================

The same answers, two ways to a tree. Both are turned so that few lines cross; lines are coloured by the
clusters of the tree at the left.
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
