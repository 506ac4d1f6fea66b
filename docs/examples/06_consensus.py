"""
What most trees agree on
========================

The majority rule keeps the clusters that more than half of the resampled trees have, with their support in
percent. Nodes of many children are what the answers leave open.
"""

import ordhc

food = ordhc.datasets.load_food()
found = ordhc.bootstrap(food.triplets, method="adds3-al", n_resamples=100, seed=0)
ax = found.consensus.plot(layout="circular", support="dots", width=230, font_size=6)
