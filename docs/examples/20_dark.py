"""
For dark pages
==============

``theme="dark"`` draws a tree for a dark background. The colours keep their contrast.
"""

import matplotlib.pyplot as plt

import ordhc

cars = ordhc.datasets.load_car()
tree = ordhc.cluster(cars.triplets, method="adds3-al+spr").replace(
    names=[name.replace("car image ", "") for name in cars.names]
)
with plt.style.context("dark_background"):
    plt.rcParams["savefig.facecolor"] = "black"
    ax = tree.plot(layout="circular", n_clusters=4, theme="dark", width=170)
