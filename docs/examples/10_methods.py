"""
Which method?
=============

Each method makes trees from four fifths of the answers and is scored by the rest. The intervals are those
of folds; chance is a third, as answers were "which of three", and what people themselves agree on is the
ceiling.
"""

import ordhc

cars = ordhc.datasets.load_car()
found = ordhc.select(
    cars.triplets, ["adds3-al", "adds3-al+spr", "mulk3-al", "3-al"], folds=5, seed=0, by="satisfied"
)
ax = ordhc.plots.compare(found)
