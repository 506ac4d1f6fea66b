"""
How sure is each branch?
========================

The people who answered are drawn anew a hundred times, and each time there is another tree. Support is the
share of these trees that have a cluster: large dots are sure, where there is none another sample of people
might well disagree.
"""

import ordhc

cars = ordhc.datasets.load_car()
found = ordhc.bootstrap(cars.triplets, method="adds3-al", n_resamples=100, seed=0)
tree = found.tree.with_names([name.replace("car image ", "") for name in cars.names])
ax = tree.plot(support="dots", support_threshold=0.5, n_clusters=4, width=170, height=190)
