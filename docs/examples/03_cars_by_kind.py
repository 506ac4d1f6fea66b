"""
Cars, and what kind they are
============================

People saw three cars and chose the most central one. The authors of the study assigned a kind to each
picture. The strip beside the tree shows these kinds, which were not used to make the tree.
"""

import ordhc

cars = ordhc.datasets.load_car()
tree = ordhc.cluster(cars.triplets, method="adds3-al+spr")
kinds = [kind.capitalize().replace("/sport utility vehicles", " and SUVs") for kind in cars.labels]
short = tree.replace(names=[name.replace("car image ", "") for name in cars.names])
ax = short.plot(columns={"kind": kinds}, width=170, height=190)
