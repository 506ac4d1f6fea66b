"""
Would more answers help?
========================

Trees are made from an increasing share of the answers, and scored on held-out answers. If the curve is flat,
more answers of this kind would improve the tree little.
"""

import ordhc

cars = ordhc.datasets.load_car()
ax = ordhc.plots.learning_curve(cars.triplets, ["adds3-al", "mulk3-al"], folds=3)
