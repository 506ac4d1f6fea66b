"""
What most trees agree on
========================

The majority rule keeps the clusters that more than half of the resampled trees have. Nodes of many children
are what the answers leave open.
"""

import ordhc

cars = ordhc.datasets.load_car()
found = ordhc.bootstrap(cars.triplets, method="adds3-al", n_resamples=100, seed=0)
tree = found.consensus.with_names([name.replace("car image ", "") for name in found.consensus.names])
ax = tree.plot(layout="circular", support="numbers", width=190)
