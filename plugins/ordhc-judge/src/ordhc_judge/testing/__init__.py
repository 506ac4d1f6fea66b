"""A local server that simulates a language model, for tests and tutorials.

The server answers from a known tree, with the protocol of hosted models. Each fault of hosted models can be
switched on.
"""

from ordhc_judge.testing.model import Model
from ordhc_judge.testing.server import FAULTS, Server, serve

__all__ = ["FAULTS", "Model", "Server", "serve"]


def __dir__() -> list[str]:
    return sorted(__all__)
