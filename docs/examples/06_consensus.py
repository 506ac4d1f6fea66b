"""
Clusters in most trees
======================

The majority-rule consensus keeps the clusters that are in more than half of the resampled trees. Dots show
their support in percent. A node with many children means that the answers do not decide how to split it.
"""

import ordhc

food = ordhc.datasets.load_food()
found = ordhc.bootstrap(food.triplets, method="adds3-al", n_resamples=100, seed=0)
ax = found.consensus.plot(layout="circular", support="dots", width=230, font_size=6)
