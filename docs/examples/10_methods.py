"""
Which method?
=============

Each method makes trees from four fifths of the answers, and is scored on the remaining fifth. The lines are
95% intervals. Chance is a third, because people chose one item of three. The noise ceiling is the score that
no tree can exceed, because people disagree with each other.
"""

import ordhc

cars = ordhc.datasets.load_car()
found = ordhc.select(
    cars.triplets, ["adds3-al", "adds3-al+spr", "mulk3-al", "3-al"], folds=5, seed=0, by="satisfied"
)
ax = ordhc.plots.compare(found)
