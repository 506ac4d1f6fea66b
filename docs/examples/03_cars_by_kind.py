"""
Cars, and what kind they are
============================

People saw three cars and said which one is the most central. The kinds, which the authors of the study gave
the pictures, stand as a strip beside a tree that knows nothing of them.
"""

import ordhc

cars = ordhc.datasets.load_car()
tree = ordhc.cluster(cars.triplets, method="adds3-al+spr")
kinds = [kind.capitalize().replace("/sport utility vehicles", " and SUVs") for kind in cars.labels]
short = tree.replace(names=[name.replace("car image ", "") for name in cars.names])
ax = short.plot(columns={"kind": kinds}, width=170, height=190)
