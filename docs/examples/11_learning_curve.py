"""
Would more answers help?
========================

Trees from a growing share of the answers, scored by answers that they have not seen. Where the curve is
flat more answers of this kind bring little.
"""

import ordhc

cars = ordhc.datasets.load_car()
ax = ordhc.plots.learning_curve(cars.triplets, ["adds3-al", "mulk3-al"], folds=3)
