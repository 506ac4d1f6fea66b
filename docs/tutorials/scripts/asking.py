"""
Asking adaptively
=================

This tutorial is for readers who want a tree from few questions. At its end you have used learners with right
and wrong answers, with a known tree to begin with, and with people.

There are 161,700 questions "which of these three is the odd one out?" about a hundred animals. After some
answers, most of these questions add no information. A learner chooses each question by the answers so far,
and needs a few hundred questions.
"""

# %%
# A learner asks, you answer
# --------------------------
#
# A learner does no input and output. ``ask`` returns questions, and ``tell`` takes answers. An answer is the
# position (0, 1 or 2) of the odd one out.

import numpy as np
import pandas as pd

import ordhc

learner = ordhc.Learner(["cat", "dog", "car", "bus"])
while not learner.done:
    questions = learner.ask()
    for id_, row in zip(questions.ids, questions.rows, strict=True):
        shown = [learner.names[leaf] for leaf in row]
        wheels = [name in ("car", "bus") for name in shown]
        odd = wheels.index(True) if sum(wheels) == 1 else wheels.index(False)
        learner.tell([id_], [odd])
        print(shown, "->", shown[odd])
print(learner.tree().to_newick(branch_lengths=False))

# %%
# An oracle answers for you
# -------------------------
#
# An oracle is a function that answers a batch of questions: it takes an array of (m, 3) leaves and returns
# (m,) positions. ``ordhc.oracles`` has several oracles, and wrappers that count, repeat or record questions.
# This oracle knows the tree of a hundred animals.

zoo = pd.read_csv("../../data/zoo.csv", index_col="name")
features = zoo.drop(columns=["class_type", "class"])
truth = ordhc.cluster(features, method="cosine-al")

oracle = ordhc.oracles.Counting(ordhc.oracles.from_tree(truth))
tree = ordhc.learn(oracle, list(zoo.index))
print(oracle.n_questions, "questions;", ordhc.metrics.robinson_foulds(tree, truth), "of the clusters differ")

# %%
# Answers that may be wrong
# -------------------------
#
# This oracle is right with probability 0.8, and reports this probability to ``ordhc.learn``. Therefore the
# learner is ``ordhc.learners.Robust`` with this ``p``. The learner keeps a probability for each place of a
# leaf, and verifies the most probable place with new questions.
#
# The tree is wrong with probability 0.05 at most (``delta``), for any wrong answers. This guarantee needs two
# conditions: each answer is right with probability ``p``, and a repeated question gets a new answer.

noisy = ordhc.oracles.Counting(ordhc.oracles.noisy(truth, 0.8, seed=1))
tree = ordhc.learn(noisy, list(zoo.index), seed=0)
print(noisy.n_questions, "questions;", ordhc.metrics.robinson_foulds(tree, truth), "of the clusters differ")

# %%
# A guaranteed tree needs many questions. If most of the tree is enough, give a budget.
# ``method="uncertain"`` draws trees from their posterior distribution, given the answers so far, and asks
# the questions about which these trees disagree. This method has no guarantee.

cheap = ordhc.oracles.Counting(ordhc.oracles.noisy(truth, 0.8, seed=2))
tree = ordhc.learn(cheap, list(zoo.index), method="uncertain", budget=1000, seed=0)
wrong = ordhc.metrics.triplet_distance(tree, truth)
print(cheap.n_questions, f"questions; {wrong:.3f} of the triplets differ")

# %%
# A tree to begin with
# --------------------
#
# Often you already have a tree, for example from embeddings or from an earlier study. Then the learner asks
# only about the parts of the tree that may be wrong.

rng = np.random.default_rng(0)
blurred = ordhc.cluster(features + rng.normal(0, 0.35, features.shape), method="cosine-al")
blurred = blurred.replace(names=list(zoo.index))
helper = ordhc.oracles.Counting(ordhc.oracles.noisy(truth, 0.9, seed=3))
better = ordhc.learn(helper, method=ordhc.learners.Revise(blurred), budget=600)
for name, found in [("before", blurred), ("after", better)]:
    print(f"{name:7}", f"{ordhc.metrics.triplet_distance(found, truth):.3f} of the triplets differ")
print(helper.n_questions, "questions")

# %%
# People, one after the other
# ---------------------------
#
# A ``Session`` is a learner whose answers are stored in a file. When ``tell`` returns, the answer is in the
# file. You can stop at any time, and continue with the same call. Several people may answer at the same
# time.

import tempfile
from pathlib import Path

path = Path(tempfile.mkdtemp()) / "animals.ordhc"
with ordhc.Session(path, names=list(zoo.index)[:12]) as session:
    questions = session.ask(3, who="ann")
    print(session.tell(questions.ids, [0, 1, 2], who="ann"))
with ordhc.Session(path) as session:
    print(session.status.n_answered, "answers are kept")

# %%
# On the command line, ``ordhc learn`` asks you in the terminal, and ``ordhc collect`` asks people on a web
# page (:doc:`/collect`):
#
# .. code-block:: console
#
#    $ ordhc learn animals.ordhc --items animals.txt
#    $ ordhc collect study.toml --data study.ordhc --port 8000
#
# :doc:`/explanation/guarantees` says which methods have a guarantee, and under which conditions.
