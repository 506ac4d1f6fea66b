"""
A tree with lengths
===================

A tree whose edges have lengths, such as a phylogeny, is drawn as a phylogram: the distance of each leaf from
the root is the sum of its edges. Here the length of an edge is the distance between the mean features of the
clusters at its two ends. A short last edge means a typical member of its cluster, and a long one an
untypical member.
"""

import numpy as np
import pandas as pd

import ordhc

zoo = pd.read_csv("../data/zoo.csv", index_col="name")
zoo = zoo[~zoo["class"].isin(["mammal", "bird"])]
features = zoo.drop(columns=["class_type", "class"])
tree = ordhc.cluster(features, similarity="euclidean", linkage="average")
clusters = [tree.node(number).leaves for number in range(len(tree.parents))]
means = np.array([features.to_numpy()[leaves].mean(axis=0) for leaves in clusters])
# The root has the parent -1. As an index, -1 is the last node, which is the root, so its length is 0.
lengths = np.linalg.norm(means - means[tree.parents], axis=1)
phylogram = ordhc.Dendrogram.from_parents(tree.parents, lengths=lengths, names=tree.names)
ax = phylogram.plot(color_by=zoo["class"], width=180)
