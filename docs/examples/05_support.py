"""
How sure is each branch?
========================

The answers are drawn anew a hundred times, and each time there is another tree. Support is the share of
these trees that have a cluster, in percent: the thicker a line the surer.
"""

import ordhc

food = ordhc.datasets.load_food()
found = ordhc.bootstrap(food.triplets, method="adds3-al", n_resamples=100, seed=0)
ax = found.tree.plot(support="width", n_clusters=5, width=180, height=230, font_size=5.5)
