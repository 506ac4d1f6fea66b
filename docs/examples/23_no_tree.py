"""
Where a tree fails: a map
=========================

Which of two cities is nearer to a third one? These simulated answers come from a map, with errors where
distances are nearly equal. A tree predicts part of the answers, and points in two dimensions predict more.
Dots mark the cities, and rings mark the clusters, whose answers points predict better than the tree.
"""

import numpy as np

import ordhc

places = {
    "Lisbon": (38.7, -9.1), "Madrid": (40.4, -3.7), "Barcelona": (41.4, 2.2), "Bordeaux": (44.8, -0.6),
    "Paris": (48.9, 2.4), "Lyon": (45.8, 4.8), "London": (51.5, -0.1), "Dublin": (53.3, -6.3),
    "Edinburgh": (55.9, -3.2), "Brussels": (50.8, 4.4), "Hamburg": (53.6, 10.0), "Berlin": (52.5, 13.4),
    "Munich": (48.1, 11.6), "Zürich": (47.4, 8.5), "Milan": (45.5, 9.2), "Rome": (41.9, 12.5),
    "Naples": (40.9, 14.3), "Vienna": (48.2, 16.4), "Prague": (50.1, 14.4), "Warsaw": (52.2, 21.0),
    "Budapest": (47.5, 19.0), "Belgrade": (44.8, 20.5), "Bucharest": (44.4, 26.1), "Sofia": (42.7, 23.3),
    "Athens": (38.0, 23.7), "Istanbul": (41.0, 29.0), "Copenhagen": (55.7, 12.6), "Oslo": (59.9, 10.8),
    "Stockholm": (59.3, 18.1), "Helsinki": (60.2, 24.9), "Riga": (56.9, 24.1), "Kyiv": (50.5, 30.5),
}  # fmt: skip
latitude, longitude = np.radians(list(places.values())).T
north, east = 6371 * latitude, 6371 * longitude * np.cos(latitude.mean())
km = np.hypot(north[:, None] - north, east[:, None] - east)

rng = np.random.default_rng(1)
rows = np.array([rng.choice(len(places), 3, replace=False) for _ in range(3000)])
# A difference of 200 km gives a right answer in 73 of 100 cases: the logistic function of 1 is 0.73.
is_wrong = rng.random(3000) > 1 / (
    1 + np.exp((km[rows[:, 0], rows[:, 1]] - km[rows[:, 0], rows[:, 2]]) / 200)
)
rows[is_wrong] = rows[is_wrong][:, [0, 2, 1]]

found = ordhc.structure(ordhc.Triplets(rows, n_leaves=len(places), names=list(places)), folds=3)
print(found)
ax = found.plot(width=150, support=False)
