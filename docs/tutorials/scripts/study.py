"""
A study, from people to the paper
=================================

You want to know how people group things: cars, emotions, dishes. This tutorial goes all the way: planning,
asking, reading the answers, a tree, how far to trust it, a figure for the journal and the paragraph for the
methods section.

The answers are real: a survey about pictures of 60 cars, with 7,097 answers to "which of these three is the
most central?" (Kleindessner & von Luxburg 2017). They come with ordhc.
"""

# %%
# Plan
# ----
#
# Three decisions come before the first answer.
#
# **The question.** "Which of these three is the odd one out?" is the easiest for people and the one that
# learners ask. "Is A more like B or like C?" takes one item as the reference; "which is the most central?"
# is what this survey asked. A tree comes out of any of them.
#
# **How many answers.** More items need more answers, and answers that are often wrong need still more.
# :doc:`/howto/how-many-answers` has measured curves, and a calculator.
#
# **What to keep out of the tree.** Some answers are for checking only: questions that are asked twice say
# how far people agree with each other, and held-out ones say how good the tree is. ``ordhc collect`` puts
# both in by itself.
#
# Ask
# ---
#
# ``ordhc collect`` asks people on a web page. A study is a folder with the items and a file ``study.toml``;
# see :doc:`/collect`. Before anyone is paid, let bots answer it:
#
# .. code-block:: console
#
#    $ ordhc collect study.toml --check
#    $ ordhc collect study.toml --simulate 50 --accuracy 0.85
#    $ ordhc collect study.toml --port 8000 --data study.ordhc
#    $ ordhc report study.ordhc
#
# The session file knows whom the rules of the study leave out, how reliable people are and which questions a
# learner chose, so that the last line needs no options.
#
# If you ask with other software, keep its file as it is: one row for each answer, with the items that were
# shown, what was chosen, and who chose it. Here is the file of our survey:

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
# Columns are named once. Who answered (``person``) matters more than it seems: answers of one person hang
# together, and all intervals below take that into account.

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
# Look before you cluster: does anybody answer too fast to have looked?

who = np.array(cars.answers["round"])
median = {person: np.median(cars.answers["seconds"][who == person]) for person in np.unique(who)}
hasty = [person for person, seconds in median.items() if seconds < 1.5]
print(f"median of all: {np.median(list(median.values())):.1f} s; below 1.5 s: {hasty}")

# %%
# Rows of some people are left out by what they are called in the file. Decide on such rules before you look
# at trees, and report how many they leave out.

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
# Don't choose by the look of the tree. Each method makes trees from four fifths of the people, and is
# scored by the answers of the others.

found = ordhc.select(
    answers, ["adds3-al", "adds3-al+spr", "mulk3-al", "3-al"], by="satisfied", folds=5, seed=0
)
print(found)
ax = ordhc.plots.compare(found)

# %%
# Chance is a third. The noise ceiling comes from questions that several people were asked: nothing can
# predict an answer better than people agree with each other. The best method is at the ceiling already:
# what is left is noise, or taste.
#
# The tree
# --------

tree = ordhc.cluster(answers, method=found.best)
kinds = [kind.capitalize().replace("/sport utility vehicles", " and SUVs") for kind in cars.labels]
numbers = [name.removeprefix("car image ") for name in cars.names]
ax = tree.replace(names=numbers).plot(columns={"kind": kinds}, n_clusters=4, width=170, height=190)

# %%
# Nobody told the tree what an off-road car is, but the people knew: how well do four clusters agree with
# the kinds that the authors gave the pictures? The adjusted Rand index is 0 for chance and 1 for the same
# groups.

kind_numbers = np.unique(cars.labels, return_inverse=True)[1]
print(f"adjusted Rand index: {ordhc.metrics.ari(tree, kind_numbers):.2f}")

# %%
# How sure is it?
# ---------------
#
# People are drawn anew, again and again, and each time there is another tree. The support of a cluster is
# the share of these trees that have it.

sure = ordhc.bootstrap(answers, method=found.best, n_resamples=100, seed=0)
sizes = np.array([np.size(node.leaves) for node in sure.tree.nodes() if not node.is_leaf])
print(f"{(sure.support > 0.5).sum()} of {len(sure.support)} clusters are in more than half of the trees")
print("held-out accuracy:", sure.intervals["held_out"])

# %%
# That is the usual end of such a study, and worth knowing: the large groups are there, the order within
# them is not. Say so in the paper, and show what holds.
#
# A posterior says how likely clusters are, given that answers are wrong at times. What its trees have in
# common is more accurate than any one tree.

posterior = ordhc.posterior(answers, seed=0)
print("expected share of triplets that the tree has right:", posterior.expected)
print("with 20 more answers for each car:", posterior.forecast(answers, 20))

# %%
# The figure
# ----------
#
# A column of a journal is 85 mm wide. Text in SVG stays text, fonts in PDF are embedded.

figure = folder / "figure.pdf"
tree.replace(names=numbers).savefig(
    figure, width=85, height=150, n_clusters=4, columns={"kind": kinds}, font_size=5
)
print(figure.name, f"{figure.stat().st_size / 1024:.0f} kB")

# %%
# The paragraph
# -------------
#
# A report has all of this on one page, with a paragraph for the methods section. It is made from what was
# done, so no number in it is copied by hand.

import html
import re
import textwrap

report = ordhc.report(
    answers, folder / "report.html", methods=["adds3-al", "adds3-al+spr", "mulk3-al"], n_resamples=50
)
paragraph = re.search("<blockquote><p>(.*?)</p>", report.to_html(), re.DOTALL)[1]
print(textwrap.fill(html.unescape(paragraph), 96))

# %%
# The same from the command line:
#
# .. code-block:: console
#
#    $ ordhc report answers.csv --kind most-central --items left,middle,right --chosen central \
#        --person round -o report.html
#
# :doc:`/report` says what each number of the report means.
#
# Where to go next: :doc:`/howto/compare-groups` asks whether two groups of people have different trees, and
# :doc:`asking` asks fewer questions for the same tree.
