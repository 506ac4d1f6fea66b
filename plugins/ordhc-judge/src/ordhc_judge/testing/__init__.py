"""A server on this machine that answers as a language model would, from a tree that it knows.

It is for tests and tutorials: it speaks the protocol of hosted models, and has a switch for everything that
goes wrong with these.
"""

from ordhc_judge.testing.model import Model
from ordhc_judge.testing.server import FAULTS, Server, serve

__all__ = ["FAULTS", "Model", "Server", "serve"]


def __dir__() -> list[str]:
    return sorted(__all__)
