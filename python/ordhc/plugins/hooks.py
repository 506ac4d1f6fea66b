"""Define the hooks by which plugins, and ordhc itself, register linkages, methods and so on.

A plugin is a module or an object. An entry point of the group `ordhc` names the plugin. The plugin
implements one or more of these functions, each marked with `ordhc.hooks.hookimpl`. ordhc calls the functions
once, at the first lookup of a name.
"""

from collections.abc import Iterable

import pluggy

from ordhc.plugins.specs import CommandSpec, LinkageSpec, MethodSpec, MetricSpec, OracleSpec, SimilaritySpec

hookspec = pluggy.HookspecMarker("ordhc")
hookimpl = pluggy.HookimplMarker("ordhc")


@hookspec
def ordhc_linkages() -> Iterable[LinkageSpec]:  # type: ignore[empty-body]
    """Return linkages, which define the similarity of two clusters."""


@hookspec
def ordhc_similarities() -> Iterable[SimilaritySpec]:  # type: ignore[empty-body]
    """Return similarity builders, which compute similarities from comparisons or vectors."""


@hookspec
def ordhc_methods() -> Iterable[MethodSpec]:  # type: ignore[empty-body]
    """Return methods, each a similarity and a linkage under one name."""


@hookspec
def ordhc_oracles() -> Iterable[OracleSpec]:  # type: ignore[empty-body]
    """Return oracles, which answer questions about leaves."""


@hookspec
def ordhc_metrics() -> Iterable[MetricSpec]:  # type: ignore[empty-body]
    """Return metrics, which score dendrograms."""


@hookspec
def ordhc_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Return commands of the command line."""
