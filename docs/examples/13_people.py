"""
How well does the tree predict each person?
===========================================

Each round of the survey has the answers of one person. The histogram shows, for each round, the share of its
comparisons that a tree satisfies which was made without this round. Each answer gives two comparisons, and a
tree can satisfy only one of them. People who click at random would have a share near a third.
"""

import matplotlib.pyplot as plt
import numpy as np

import ordhc

cars = ordhc.datasets.load_car()
t = cars.triplets
rounds = np.asarray(t.groups)
folds = np.array_split(np.random.default_rng(0).permutation(np.unique(rounds)), 8)
shares = []
for fold in folds:
    tree = ordhc.cluster(t[~np.isin(rounds, fold)], method="adds3-al")
    for person in fold:
        shares.append(ordhc.metrics.satisfied(tree, t[rounds == person]).agreed)

fig, ax = plt.subplots()
ax.hist(shares, bins=np.arange(0, 0.61, 0.04), color="#2b6f77", edgecolor="white")
ax.axvline(1 / 3, color="#b3541e", linestyle="--")
ax.annotate(
    "chance", (1 / 3, ax.get_ylim()[1] * 0.95), xytext=(-6, 0), textcoords="offset points", ha="right"
)
ax.set(xlabel="comparisons that the tree of the others satisfies", ylabel="rounds", xlim=(0, 0.6))
