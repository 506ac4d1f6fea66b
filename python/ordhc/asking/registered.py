"""Oracles by the names under which they are registered."""

import inspect
from collections.abc import Mapping
from typing import Any

from ordhc import _checks
from ordhc.asking.learner import Learner
from ordhc.asking.oracle import Oracle
from ordhc.errors import InputError, PluginError
from ordhc.plugins import registry
from ordhc.plugins.specs import OracleSpec

__all__ = ["oracle_of"]


def oracle_of(
    name: str, source: Any, own: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> tuple[OracleSpec, Oracle, dict[str, Any]]:
    """The oracle of a name, made from its source; and which of the settings are the learner's.

    Raises
    ------
    InputError
        An unknown name, a source where there must be none or none where there must be one, parameters that
        the oracle does not have, or that the learner has, too.
    """
    spec = registry.get("oracle", name)
    if own is not None and not isinstance(own, Mapping):
        raise InputError(f"oracle_parameters is {_checks.quoted(own)}, not a dict")
    of_learner = set(inspect.signature(Learner).parameters)
    parameters, rest = dict(own or {}), dict(settings)
    for key in [key for key in rest if key in spec.parameters]:
        if key in of_learner:
            raise InputError(
                f"the learner and the oracle {name!r} both have {key!r}: "
                "give the oracle's in oracle_parameters"
            )
        parameters[key] = rest.pop(key)
    for key in rest:
        if key not in of_learner:
            there = ", ".join([*sorted(of_learner - {"n_leaves"}), *spec.parameters])
            raise InputError(
                f"there is no parameter {_checks.quoted(key)} of the learner or the oracle {name!r}; "
                f"there are: {there}"
            )
    parameters = _checks.settings(f"oracle {name!r}", parameters, spec.parameters)
    if source is None and "nothing" not in spec.takes:
        raise InputError(f"oracle {name!r} answers from {' or '.join(spec.takes)}: give it as source")
    if source is not None and spec.takes == ("nothing",):
        raise InputError(f"oracle {name!r} takes no source")
    made = spec.make(source, **parameters)
    if not callable(made):
        raise PluginError(f"oracle {name!r}: make gave {made!r}, no callable")
    return spec, made, rest
