"""
Which answers does the tree get right?
======================================

Answers about dishes that separate near the root are easy. Answers about dishes within one small cluster are
harder, both for people and for the tree.
"""

import ordhc

food = ordhc.datasets.load_food()
train, test = food.triplets.split(0.8, seed=0)
ax = ordhc.plots.agreement(ordhc.cluster(train, method="adds3-al+spr"), test)
