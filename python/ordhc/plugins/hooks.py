"""The hooks through which everything registers: built-ins and plugins alike.

A plugin is a module (or object) named by an entry point of the group `ordhc` that implements some of
these functions, marked with `ordhc.hooks.hookimpl`. They are called once, when something is first
looked up.
"""

from collections.abc import Iterable

import pluggy

from ordhc.plugins.specs import CommandSpec, LinkageSpec, MethodSpec, MetricSpec, OracleSpec, SimilaritySpec

hookspec = pluggy.HookspecMarker("ordhc")
hookimpl = pluggy.HookimplMarker("ordhc")


@hookspec
def ordhc_linkages() -> Iterable[LinkageSpec]:  # type: ignore[empty-body]
    """Linkages: what the similarity of two clusters means."""


@hookspec
def ordhc_similarities() -> Iterable[SimilaritySpec]:  # type: ignore[empty-body]
    """Similarity builders: from comparisons or vectors to similarities."""


@hookspec
def ordhc_methods() -> Iterable[MethodSpec]:  # type: ignore[empty-body]
    """Methods: a similarity and a linkage under one name."""


@hookspec
def ordhc_oracles() -> Iterable[OracleSpec]:  # type: ignore[empty-body]
    """Oracles: what answers questions."""


@hookspec
def ordhc_metrics() -> Iterable[MetricSpec]:  # type: ignore[empty-body]
    """Metrics: scores of a dendrogram."""


@hookspec
def ordhc_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Commands of the command line."""
