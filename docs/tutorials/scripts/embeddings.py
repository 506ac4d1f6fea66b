"""
From embeddings to a topic tree
===============================

You have texts, images or products, and a model that turns them into vectors. This tutorial makes a tree of
them to browse, with names for its branches. The texts are 150 short messages of customers to a bank.
"""

# %%
# Vectors
# -------
#
# ``ordhc_judge.embed`` asks any server that speaks the protocol of OpenAI's for embeddings and keeps them
# in a cache. So that this page costs nothing, a server on this machine stands in for a model. Its vectors
# are tidier than real ones.

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
# You need no server if you have the vectors: any (n, p) array will do, SciPy's sparse matrices and data
# frames as well, whose index names the leaves.
#
# The tree
# --------
#
# Ward's linkage of Euclidean distances is a good start for any vectors. Embeddings have hundreds of noisy
# coordinates, where average linkage of dot products and of cosines (``dot-al``, ``cosine-al``) recovers the
# hierarchy as well (Gray et al. 2024). Neither needs a matrix of all pairs, so a hundred thousand texts fit
# into memory. :doc:`/howto/which-method` has measurements.

tree = ordhc.cluster(X, method="cosine-al").replace(names=messages)
print(tree)

# %%
# Is it right?
# ------------
#
# These messages were written for 5 topics and 25 intents, so the truth is known. The adjusted Rand index of
# a cut is 1 if its clusters are the topics, and 0 by chance.

truth = ordhc.Dendrogram.from_newick(taxonomy()).replace(names=messages)
topic_of = {text: node.name for node in truth.root.children for text in node.leaf_names}
topics = np.unique([topic_of[text] for text in messages], return_inverse=True)[1]
print("five clusters and the topics:", round(ordhc.metrics.ari(tree, topics), 2))
print("triplets that differ:", round(ordhc.metrics.triplet_distance(tree, truth), 2))

# %%
# The clusters are right, and half of the triplets differ: an agglomerative tree is binary, so it says of
# any three messages which two are closer, where the truth has them side by side. A cut asks for less, and
# gets it. Where no truth is known, ask people or a language model about the places where the tree may be
# wrong (:doc:`/judge`).
#
# Names for the branches
# ----------------------
#
# A cluster is named by the words that it has more of than its siblings.

from sklearn.feature_extraction.text import CountVectorizer

counts = CountVectorizer(stop_words="english")
named = ordhc.describe(tree, counts.fit_transform(messages), counts.vocabulary_, n_words=2)
ax = named.plot(n_clusters=5, truncate=25, width=180, font_size=7)

# %%
# Triangles are branches that stay closed, named after one of their messages. The five colours are the
# topics.
#
# A page to explore
# -----------------
#
# ``savefig`` with the ending .html writes one file that needs no network. The page zooms, searches, cuts, and
# shows whole texts under the pointer.

import tempfile
from pathlib import Path

page = Path(tempfile.mkdtemp()) / "topics.html"
named.savefig(page, n_clusters=5)
print(page.name, f"{page.stat().st_size / 1024:.0f} kB")

# %%
# Flat topics for your table are a cut, one number for each text, or several at once, one inside the other:

levels = named.cut([5, 25])
print(levels.shape, levels[:3].tolist())

# %%
# Which similarity?
# -----------------
#
# Ward's linkage (``similarity="euclidean", linkage="ward"``) favours clusters of equal size. If a few
# clusters hold nearly all texts, the mean of all vectors dominates their cosines: take
# ``X - X.mean(axis=0)``. Principal components (``similarity="pca-dot"``,
# ``"pca-cosine"``) smooth vectors whose noise is large. ``ordhc.linkage`` takes any matrix, and sparse
# graphs of neighbours for a million texts. :doc:`/guide` has them all.
#
# Without a truth, what decides? Ask a few dozen comparisons, of yourself or of a language model, and score
# each tree by them: ``ordhc.score(tree, answers, metric="satisfied")``.
