"""Groups of people and posteriors in less time, where how well they are found is not the question."""

from ordhc.clustering import sampling
from ordhc.evaluate import mixture
from ordhc.evaluate.structure import spaces, trial


def with_few_rounds(patch):
    """Make few starts, rounds, chains and sweeps: enough for groups that differ much, in less time."""
    fewer = {"_STARTS": 2, "_FIRST_ROUNDS": 2, "_ROUNDS": 2, "_AVERAGED": 2, "_SWEEPS": 10, "_CHAINS": 2}
    for name, value in fewer.items():
        patch.setattr(mixture, name, value)
    patch.setattr("ordhc.evaluate.people_groups.STARTS_OF_ALL", 2)
    patch.setattr(sampling, "_SWEEPS", (60, 60))


def with_few_sweeps(patch):
    """Make the default posteriors, and those of `structure`, of few sweeps."""
    patch.setattr(sampling, "_SWEEPS", (10, 10))
    patch.setattr(trial, "_SWEEPS", 10)


def with_few_priors(patch):
    """Make `structure` choose the prior of points among two instead of five."""
    patch.setattr(spaces, "_SPREADS", (0.6, 2.4))
