"""
Which answers does the tree get right?
======================================

Answers about dishes that part near the root are easy. Those that small clusters decide are harder, for
people and for the tree.
"""

import ordhc

food = ordhc.datasets.load_food()
train, test = food.triplets.split(0.8, seed=0)
ax = ordhc.plots.agreement(ordhc.cluster(train, method="adds3-al+spr"), test)
