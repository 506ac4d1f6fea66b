"""
Asking well takes fewer questions
=================================

Forty animals; somebody who answers by their features, and is right nine times in ten. The learner asks what trees
disagree about. Beside it stand questions drawn at random, whose answers go the same way to a tree.
"""

import numpy as np
import pandas as pd

import ordhc

zoo = pd.read_csv("data/zoo.csv", index_col="name").sample(40, random_state=1)
truth = ordhc.cluster(zoo.drop(columns=["class_type", "class"]), method="cosine-al")
levels = truth.cut([2, 4, 8, 16])
oracle = ordhc.oracles.noisy(truth, 0.9, seed=0)
counts = [100, 200, 300, 450, 600]

learner = ordhc.Learner(zoo.index, method="uncertain", budget=counts[-1])
asked = []
while not learner.done:
    questions = learner.ask(25)
    learner.tell(questions.ids, oracle(questions.rows))
    if learner.n_answers in counts:
        asked.append(ordhc.metrics.aari(learner.tree(), levels))

rng = np.random.default_rng(0)
rows = np.array([rng.choice(len(zoo), 3, replace=False) for _ in range(counts[-1])])
odd = oracle(rows)
