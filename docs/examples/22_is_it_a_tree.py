"""
Is it a tree? Cars
==================

People chose the most central of three cars. ``ordhc.structure`` fits each structure to part of the answers
and predicts the other answers. The tree whose leaves have lengths predicts nearly as well as the best
structure. The tree without lengths predicts worse, because answers depend on how typical the cars are. The
lines are 95% intervals over people.
"""

import matplotlib.pyplot as plt

import ordhc

found = ordhc.structure(ordhc.datasets.load_car().triplets, folds=2)
print(found.verdict.text)
scores = [score for score in found.scores if score.name != "chance"][::-1]
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for place, score in enumerate(scores):
    color = "C1" if "tree" in score.name and "points" not in score.name else "C0"
    ax.plot([score.behind.low, score.behind.high], [place, place], color=color, lw=2)
    ax.plot(score.behind.value, place, "o", color=color)
ax.set_yticks(range(len(scores)), [score.name for score in scores])
ax.axvline(0, color="grey", lw=1)
ax.set_xlabel("log loss of held-out answers, behind the best structure")
ax.spines[["top", "right"]].set_visible(False)
