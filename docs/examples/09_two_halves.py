"""
Two halves of the people
========================

Each half of the 146 rounds of the survey makes its own tree. Clusters in both trees do not depend on which
people were asked.
"""

import matplotlib.pyplot as plt
import numpy as np

import ordhc

cars = ordhc.datasets.load_car()
rounds = np.asarray(cars.triplets.groups)
chosen = np.random.default_rng(0).permutation(np.unique(rounds))[:73]
first = np.isin(rounds, chosen)
short = [name.replace("car image ", "") for name in cars.names]
trees = [ordhc.cluster(cars.triplets[half]).replace(names=short) for half in (first, ~first)]
fig, ax = plt.subplots(figsize=(7.2, 8.4))
ax = ordhc.plots.tanglegram(*trees, n_clusters=4, titles=("73 rounds", "the other 73"), ax=ax)
