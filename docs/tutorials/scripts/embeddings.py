"""
From embeddings to a topic tree
===============================

This tutorial is for readers who have texts, images or products, and a model that turns them into vectors. At
its end you have a tree of the items that you can browse, with names for its branches.

The texts are 150 short messages of customers to a bank.
"""

# %%
# Vectors
# -------
#
# ``ordhc_judge.embed`` gets embeddings from any server with OpenAI's protocol, and stores them in a cache.
# This page uses a server on the same machine instead of a real model, so it costs nothing. The vectors of
# this server have less noise than real embeddings.

import numpy as np
import ordhc_judge
from ordhc_judge.examples import taxonomy
from ordhc_judge.testing import serve

import ordhc

messages = ordhc_judge.example_items()
with serve(taxonomy(), messages) as server:
    X = ordhc_judge.embed(messages, server.url, "model", rpm=None)
print(X.shape)
print(*messages[:3], sep="\n")

# %%
# If you already have the vectors, you need no server. ``ordhc.cluster`` takes any (n, p) array, a SciPy
# sparse matrix, or a data frame, whose index has the names of the leaves.
#
# The tree
# --------
#
# Ward's linkage of Euclidean distances is a good start for any vectors. Embeddings have hundreds of noisy
# coordinates. For such vectors, average linkage of dot products or cosines (``dot-al``, ``cosine-al``) also
# recovers the hierarchy (Gray et al. 2024). These methods need no matrix of all pairs, so a hundred thousand
# texts fit into memory. :doc:`/howto/which-method` has measurements.

tree = ordhc.cluster(X, method="cosine-al").replace(names=messages)
print(tree)

# %%
# Is it right?
# ------------
#
# These messages were written for 5 topics and 25 intents, so the true tree is known. The adjusted Rand index
# of a cut is 1 if its clusters are the topics, and 0 on average for random clusters.

truth = ordhc.Dendrogram.from_newick(taxonomy()).replace(names=messages)
topic_of = {text: node.name for node in truth.root.children for text in node.leaf_names}
topics = np.unique([topic_of[text] for text in messages], return_inverse=True)[1]
print("five clusters and the topics:", round(ordhc.metrics.ari(tree, topics), 2))
print("triplets that differ:", round(ordhc.metrics.triplet_distance(tree, truth), 2))

# %%
# The five clusters are right, but half of the triplets differ. The reason is that an agglomerative tree is
# binary: for any three messages it says which two are closer. The true tree leaves many of these triplets
# open, because messages of the same intent are equally close. A cut does not depend on such triplets.
#
# If you do not know the true tree, ask people or a language model about the parts of the tree that may be
# wrong (:doc:`/judge`).
#
# Names for the branches
# ----------------------
#
# The name of a cluster consists of the words that are more frequent in it than in its siblings.

from sklearn.feature_extraction.text import CountVectorizer

counts = CountVectorizer(stop_words="english")
named = ordhc.describe(tree, counts.fit_transform(messages), counts.vocabulary_, n_words=2)
ax = named.plot(n_clusters=5, truncate=25, width=180, font_size=7)

# %%
# A triangle is a branch that is not opened. Its label is one of its messages. The five colours are the five
# clusters of the cut.
#
# A page to explore
# -----------------
#
# If the file name ends in .html, ``savefig`` writes a page in one file that needs no network. On this page
# you can zoom, search and cut the tree, and see the whole text under the pointer.

import tempfile
from pathlib import Path

page = Path(tempfile.mkdtemp()) / "topics.html"
named.savefig(page, n_clusters=5)
print(page.name, f"{page.stat().st_size / 1024:.0f} kB")

# %%
# ``cut`` gives each text the number of its cluster, for example for a column of your table. Several numbers
# of clusters give nested clusters, one column each:

levels = named.cut([5, 25])
print(levels.shape, levels[:3].tolist())

# %%
# Which similarity?
# -----------------
#
# * Ward's linkage (``similarity="euclidean", linkage="ward"``) prefers clusters of equal size.
# * If a few clusters contain nearly all texts, the mean of all vectors dominates the cosines. Then use
#   ``X - X.mean(axis=0)``.
# * Principal components (``similarity="pca-dot"``, ``"pca-cosine"``) reduce the noise of vectors.
# * ``ordhc.linkage`` takes any matrix, and sparse graphs of neighbours for a million texts.
#
# :doc:`/guide` describes all similarities.
#
# If the true tree is not known, answer a few dozen comparisons yourself, or ask a language model. Then score
# each tree on these answers, and choose the best tree: ``ordhc.score(tree, answers, metric="satisfied")``.
