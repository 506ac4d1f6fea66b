"""
How sure is each branch?
========================

The answers are resampled a hundred times, and each resample gives a tree. The support of a cluster is the
share of these trees that contain it, in percent. Thick lines have high support.
"""

import ordhc

food = ordhc.datasets.load_food()
found = ordhc.bootstrap(food.triplets, method="adds3-al", n_resamples=100, seed=0)
ax = found.tree.plot(support="width", n_clusters=5, width=180, height=230, font_size=5.5)
