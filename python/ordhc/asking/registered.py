"""Oracles by the names under which they are registered."""

from typing import Any

from ordhc.asking.oracle import Answering, Oracle
from ordhc.errors import InputError, PluginError
from ordhc.plugins import registry


def named(name: str, source: Any = None, **parameters: Any) -> Oracle:
    """Return the registered oracle of this name, which answers from `source`.

    Parameters
    ----------
    name
        "tree", "similarity", "vectors", "recorded", "person", or the name of a plugin's oracle, such as
        "judge"; `ordhc plugins` lists them.
    source
        The data from which the oracle answers: a tree, similarities, vectors, comparisons, names, ...
    **parameters
        The parameters of the oracle.

    Returns
    -------
    callable
        The oracle, for `ordhc.learn`.

    Raises
    ------
    InputError
        An unknown name, an unknown parameter, a missing source, or a source for an oracle that takes none.

    Examples
    --------
    >>> import ordhc
    >>> points = ordhc.oracles.named("vectors", [[0.0], [1.0], [5.0], [7.0]])
    >>> ordhc.learn(points).to_newick(branch_lengths=False)
    '((0,1),(2,3));'
    """
    spec = registry.get("oracle", name)
    parameters = registry.settings_for(f"oracle {name!r}", parameters, spec.parameters)
    if source is None and "nothing" not in spec.takes:
        raise InputError(f"oracle {name!r} answers from {' or '.join(spec.takes)}: give it as source")
    if source is not None and spec.takes == ("nothing",):
        raise InputError(f"oracle {name!r} takes no source")
    made = spec.make(source, **parameters)
    if not callable(made):
        raise PluginError(f"oracle {name!r}: make returned {made!r}, which is not callable")
    if hasattr(made, "questions"):
        return made
    answering = Answering.around(made, made)
    answering.questions = spec.questions
    return answering
