"""
Without a root
==============

The same cars, drawn without marking a root. Branches spread in all directions, and groups that separate near
the root are far apart.
"""

import ordhc

cars = ordhc.datasets.load_car()
tree = ordhc.cluster(cars.triplets, method="adds3-al+spr").replace(
    names=[name.replace("car image ", "") for name in cars.names]
)
kinds = [kind.capitalize().replace("/sport utility vehicles", " and SUVs") for kind in cars.labels]
ax = tree.plot(layout="unrooted", color_by=kinds, width=180)
