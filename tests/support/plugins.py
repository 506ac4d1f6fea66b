"""Plugin packages that are installed for one test."""

import numpy as np

import ordhc

S = np.array([[0.0, 3, 1, 0], [3, 0, 2, 0], [1, 2, 0, 5], [0, 0, 5, 0]])


GOOD = """
from ordhc.hooks import hookimpl
from ordhc.specs import LanceWilliams, LinkageSpec

@hookimpl
def ordhc_linkages():
    return [LinkageSpec(name="{name}", summary="a mean", coefficients=LanceWilliams(alpha="{alpha}"))]
"""


def good(name, alpha="0.5"):
    """The source of a plugin that brings one linkage."""
    return GOOD.format(name=name, alpha=alpha)


def rows_of(plugin):
    """What `list_plugins` says of a distribution."""
    return [row for row in ordhc.plugins.list_plugins() if row.plugin == plugin]


def the_row(plugin):
    """The only row of a distribution."""
    (row,) = rows_of(plugin)
    return row


IMPORTS = "from ordhc.hooks import hookimpl\nfrom ordhc.specs import *\n"
