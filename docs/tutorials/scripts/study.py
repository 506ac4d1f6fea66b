"""
A study, from people to the paper
=================================

This tutorial is for researchers who want to know how people group things, such as cars, emotions or dishes.
At its end you have a tree, know how far to trust it, and have a figure and a methods paragraph for the
paper.

The answers are real. In a survey about pictures of 60 cars, people gave 7,097 answers to the question "which
of these three is the most central?" (Kleindessner & von Luxburg 2017). The data come with ordhc.
"""

# %%
# Plan
# ----
#
# Make three decisions before you collect the first answer.
#
# **The question.** "Which of these three is the odd one out?" is the easiest question for people, and the
# question that learners ask. "Is A more like B or like C?" has one item as the reference. This survey asked
# "which is the most central?". Each of these questions gives a tree.
#
# **The number of answers.** You need more answers if there are more items, or if answers are often wrong.
# :doc:`/howto/how-many-answers` has measured curves and a calculator.
#
# **The answers for checks.** Some answers are not used to make the tree. Repeated questions measure how far
# people agree with each other. Held-out questions measure how good the tree is. ``ordhc collect`` adds both
# kinds automatically.
#
# Ask
# ---
#
# ``ordhc collect`` asks people on a web page. A study is a folder with the items and a file ``study.toml``
# (:doc:`/collect`). Before you pay people, test the study with simulated answers:
#
# .. code-block:: console
#
#    $ ordhc collect study.toml --check
#    $ ordhc collect study.toml --simulate 50 --accuracy 0.85
#    $ ordhc collect study.toml --port 8000 --data study.ordhc
#    $ ordhc report study.ordhc
#
# The last command needs no options, because the session file stores which people the rules of the study
# exclude, how reliable people are, and which questions a learner chose.
#
# If you use other software, keep its file as it is. The file needs one row for each answer, with the items
# that were shown, the chosen item, and the person. This is the file of our survey:

import csv
import tempfile
from pathlib import Path

import numpy as np

import ordhc

cars = ordhc.datasets.load_car()
folder = Path(tempfile.mkdtemp())
columns = {
    name: [cars.names[i] for i in values] if name in ("central", "left", "middle", "right") else values
    for name, values in cars.answers.items()
}
with (folder / "answers.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
print("\n".join((folder / "answers.csv").read_text().splitlines()[:4]))

# %%
# Read
# ----
#
# Name the columns when you read the file. The column of people (``person``) is important: answers of one
# person are correlated, and all intervals below take this correlation into account.

answers = ordhc.read_answers(
    folder / "answers.csv",
    "most-central",
    items=["left", "middle", "right"],
    chosen="central",
    person="round",
    names=cars.names,
)
print(answers)

# %%
# Check the data before you cluster: did some people answer too fast to have seen the pictures?

who = np.array(cars.answers["round"])
median = {person: np.median(cars.answers["seconds"][who == person]) for person in np.unique(who)}
hasty = [person for person, seconds in median.items() if seconds < 1.5]
print(f"median of all: {np.median(list(median.values())):.1f} s; below 1.5 s: {hasty}")

# %%
# ``exclude`` leaves out the rows of people by their names in the file. Decide on such rules before you see a
# tree, and report the number of excluded people.

answers = ordhc.read_answers(
    folder / "answers.csv",
    "most-central",
    items=["left", "middle", "right"],
    chosen="central",
    person="round",
    names=cars.names,
    exclude={"round": [str(person) for person in hasty]},
)
print(answers)

# %%
# Which method?
# -------------
#
# Don't choose a method by how its tree looks. ``ordhc.select`` makes trees from the answers of four fifths
# of the people, and scores each method on the answers of the other people.

found = ordhc.select(
    answers, ["adds3-al", "adds3-al+spr", "mulk3-al", "3-al"], by="satisfied", folds=5, seed=0
)
print(found)
ax = ordhc.plots.compare(found)

# %%
# Chance is a third. The noise ceiling is estimated from questions that several people answered: no tree can
# predict answers better than people agree with each other. The best method has already reached the ceiling.
# The remaining errors are noise or differences between people.
#
# The tree
# --------

tree = ordhc.cluster(answers, method=found.best)
kinds = [kind.capitalize().replace("/sport utility vehicles", " and SUVs") for kind in cars.labels]
numbers = [name.removeprefix("car image ") for name in cars.names]
ax = tree.replace(names=numbers).plot(columns={"kind": kinds}, n_clusters=4, width=170, height=190)

# %%
# The kinds of cars were not used to make the tree. How well do four clusters agree with the kinds that the
# authors assigned to the pictures? The adjusted Rand index is 1 for identical groups, and 0 on average for
# random groups.

kind_numbers = np.unique(cars.labels, return_inverse=True)[1]
print(f"adjusted Rand index: {ordhc.metrics.ari(tree, kind_numbers):.2f}")

# %%
# How sure is it?
# ---------------
#
# The bootstrap draws a sample of people (with replacement) many times, and makes a tree from each sample.
# The support of a cluster is the share of these trees that contain the cluster.

sure = ordhc.bootstrap(answers, method=found.best, n_resamples=100, seed=0)
sizes = np.array([np.size(node.leaves) for node in sure.tree.nodes() if not node.is_leaf])
print(f"{(sure.support > 0.5).sum()} of {len(sure.support)} clusters are in more than half of the trees")
print("held-out accuracy:", sure.intervals["held_out"])

# %%
# This result is typical of such a study: the answers support the large groups, but not the order within the
# groups. Say so in the paper, and show the supported clusters.
#
# A posterior gives the probability of each cluster, and takes into account that some answers are wrong. The
# summary of its trees is more accurate than any single tree.

posterior = ordhc.posterior(answers, seed=0)
print("expected share of triplets that the tree has right:", posterior.expected)
print("with 20 more answers for each car:", posterior.forecast(answers, 20))

# %%
# The figure
# ----------
#
# A column of a journal is 85 mm wide. Text in SVG files remains text, and PDF files contain their fonts.

figure = folder / "figure.pdf"
tree.replace(names=numbers).savefig(
    figure, width=85, height=150, n_clusters=4, columns={"kind": kinds}, font_size=5
)
print(figure.name, f"{figure.stat().st_size / 1024:.0f} kB")

# %%
# The paragraph
# -------------
#
# A report has all of these results on one page, with a paragraph for the methods section. The paragraph is
# written from the settings and results of the analysis, so you copy no number by hand.

import html
import re
import textwrap

report = ordhc.report(
    answers, folder / "report.html", methods=["adds3-al", "adds3-al+spr", "mulk3-al"], n_resamples=50
)
paragraph = re.search("<blockquote><p>(.*?)</p>", report.to_html(), re.DOTALL)[1]
print(textwrap.fill(html.unescape(paragraph), 96))

# %%
# The same report from the command line:
#
# .. code-block:: console
#
#    $ ordhc report answers.csv --kind most-central --items left,middle,right --chosen central \
#        --person round -o report.html
#
# :doc:`/report` explains each number of the report.
#
# Next steps: :doc:`/howto/compare-groups` tests whether two groups of people have different trees, and
# :doc:`asking` shows how to get the same tree from fewer questions.
