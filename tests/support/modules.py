"""The modules that are documented as public, and their functions."""

import inspect
from importlib import import_module

PUBLIC = (
    "ordhc",
    "ordhc.commands",
    "ordhc.datasets",
    "ordhc.errors",
    "ordhc.executors",
    "ordhc.hooks",
    "ordhc.io",
    "ordhc.learners",
    "ordhc.metrics",
    "ordhc.oracles",
    "ordhc.plotting",
    "ordhc.plugins",
    "ordhc.progress",
    "ordhc.results",
    "ordhc.similarities",
    "ordhc.specs",
    "ordhc.testing",
)


def public_functions():
    """Return each public function and method of the package by its name, such as "Dendrogram.cut"."""
    found = {}
    for name in PUBLIC:
        module = import_module(name)
        for public in module.__all__:
            thing = getattr(module, public)
            if inspect.isclass(thing):
                for base in thing.__mro__[::-1]:
                    for key, value in vars(base).items() if base.__module__.startswith("ordhc") else ():
                        if not key.startswith("_") or key == "__init__":
                            found[f"{public}.{key}"] = getattr(value, "__func__", value)
            else:
                found[public] = thing
    return {name: thing for name, thing in found.items() if inspect.isfunction(thing)}
