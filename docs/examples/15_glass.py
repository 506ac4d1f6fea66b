"""
Kinds of glass
==============

214 pieces of glass have nine measurements each, scaled to the same variance. Ward's linkage of Euclidean
distances makes the tree. The strip shows the use of each piece.
"""

import numpy as np

import ordhc

glass = np.loadtxt("../data/glass.csv", delimiter=",", skiprows=1)
X, kind = glass[:, :-1], glass[:, -1].astype(int)
X = (X - X.mean(axis=0)) / X.std(axis=0)
names = {1: "building, float", 2: "building", 3: "vehicle", 5: "container", 6: "tableware", 7: "headlamp"}
tree = ordhc.cluster(X, similarity="euclidean", linkage="ward")
ax = tree.plot(
    orientation="top", labels=False, columns={"made for": [names[k] for k in kind]}, width=190, height=110
)
