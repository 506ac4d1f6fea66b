"""
A hundred dishes
================

190,376 answers of the kind "this dish is more like that one" make a tree of 100 dishes in a fraction of a
second. The first split of the tree separates sweet from savoury dishes, although no question was about
taste.
"""

import ordhc

food = ordhc.datasets.load_food()
tree = ordhc.cluster(food.triplets, method="adds3-al+spr")
ax = tree.plot(layout="circular", n_clusters=5, width=230, font_size=6.5)
