"""
Animals from their features
===========================

A hundred animals have sixteen features (hair, feathers, eggs, milk, ...). Ward's linkage of Euclidean
distances makes the tree. The strip shows the zoological class of each animal.
"""

import pandas as pd

import ordhc

zoo = pd.read_csv("../data/zoo.csv", index_col="name")
features = zoo.drop(columns=["class_type", "class"])
tree = ordhc.cluster(features, similarity="euclidean", linkage="ward")
ax = tree.plot(layout="circular", columns={"class": zoo["class"]}, width=210, font_size=6.5)
