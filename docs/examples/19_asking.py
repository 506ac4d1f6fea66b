"""
Asking well takes few questions
===============================

The oracle knows the tree of the animals and answers every question correctly. The learner chooses each
question by the answers so far. It finds the tree with a few questions for each animal. The number of
possible questions is much larger.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ordhc

zoo = pd.read_csv("../data/zoo.csv", index_col="name").sample(frac=1, random_state=0)
features = zoo.drop(columns=["class_type", "class"])
sizes = np.array([5, 10, 20, 35, 50, 75, 100])
asked = []
for n in sizes:
    truth = ordhc.cluster(features[:n], method="cosine-al")
    oracle = ordhc.oracles.Counting(ordhc.oracles.from_tree(truth))
    found = ordhc.learn(oracle, list(truth.names))
    assert ordhc.metrics.robinson_foulds(found, truth) == 0
    asked.append(oracle.n_questions)

fig, ax = plt.subplots()
ax.loglog(
    sizes, sizes * (sizes - 1) * (sizes - 2) / 6, color="#8a949b", linestyle="--", label="all questions"
)
ax.loglog(sizes, sizes * np.log2(sizes), color="#b3541e", linestyle=":", label="$n$ log$_2$ $n$")
ax.loglog(sizes, asked, color="#2b6f77", marker="o", label="asked by the learner")
ax.set(xlabel="animals", ylabel="questions", xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.legend()
