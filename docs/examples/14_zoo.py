"""
Animals from their features
===========================

Sixteen features (hair, feathers, eggs, milk, ...) of a hundred animals, Ward's linkage of Euclidean
distances. The class that zoologists give them is the strip.
"""

import pandas as pd

import ordhc

zoo = pd.read_csv("../data/zoo.csv", index_col="name")
features = zoo.drop(columns=["class_type", "class"])
tree = ordhc.cluster(features, similarity="euclidean", linkage="ward")
ax = tree.plot(layout="circular", columns={"class": zoo["class"]}, width=210, font_size=6.5)
