"""What several tests of the judge use."""

from itertools import combinations

import numpy as np
from ordhc_judge import Judge

from conftest import ITEMS


def judged(server, items=ITEMS, **settings):
    """A judge of the server, without a limit to its pace."""
    return Judge(server.url, "model", items, **{"rpm": None, **settings})


def all_questions():
    """All questions about the items."""
    return np.array(list(combinations(range(len(ITEMS)), 3)))
