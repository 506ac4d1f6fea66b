"""Find plugins, load them, and look up their specs by name.

A spec is an object that describes a linkage, similarity, method, oracle, metric or command.

All plugins are loaded at the first lookup. A plugin that fails is skipped with a warning, listed with its
error, and does not affect other plugins.

The environment variable `ORDHC_PLUGINS` selects plugins: unset loads all, empty loads none, and otherwise it
is a comma-separated list of distributions or entry points. `ORDHC_STRICT=1` turns failures into exceptions.
"""

import difflib
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from ordhc import _checks
from ordhc._signals import interrupts_later
from ordhc._version import __version__
from ordhc.errors import InputError, OrdhcWarning, PluginError

if TYPE_CHECKING:
    from ordhc.plugins.specs import (
        CommandSpec,
        LinkageSpec,
        MethodSpec,
        MetricSpec,
        OracleSpec,
        SimilaritySpec,
        Spec,
    )


#: The name of a similarity, a linkage or a method, or a pair of the name and the settings.
Named = str | tuple[str, Mapping[str, Any]]
#: The suffix of a method's name that requests moves of subtrees after the clustering.
MOVES = "+spr"

GROUP = "ordhc"
_HOOKS = {
    "linkage": "ordhc_linkages",
    "similarity": "ordhc_similarities",
    "method": "ordhc_methods",
    "oracle": "ordhc_oracles",
    "metric": "ordhc_metrics",
    "command": "ordhc_commands",
}
KINDS = tuple(_HOOKS)
BUILTIN = "ordhc"
#: The name of the plugin to which `registered` adds specs.
HERE = "here"


@dataclass(frozen=True)
class Registered:
    """One row of `list_plugins`: a spec, or a plugin that failed or was skipped.

    A spec is an object that describes a linkage, similarity, method, oracle, metric or command.

    Attributes
    ----------
    plugin
        The distribution that registers the spec; "ordhc" for specs of ordhc itself.
    entry_point
        The name of the entry point.
    version
        The version of the distribution.
    kind
        "linkage", "similarity", "method", "oracle", "metric" or "command"; empty if the plugin failed.
    name
        The name of the spec. `plugin:name` can be used instead, and must be used if several plugins use the
        same name.
    summary
        One line of text from the plugin that describes the spec.
    source
        The publication that describes the method, given by the plugin.
    status
        "ok"; "failed"; "clash" (several plugins use this name: use `plugin:name`); or "skipped" (not in
        `ORDHC_PLUGINS`).
    error
        The message of the error, or a hint; empty if the status is "ok" or "skipped".
    """

    plugin: str
    entry_point: str
    version: str
    kind: str
    name: str
    summary: str
    source: str
    status: str
    error: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the row as a dict."""
        return asdict(self)


class _Registry:
    """The linkages, methods and other specs of all plugins, and the rows of `list_plugins`."""

    def __init__(self) -> None:
        self.specs: dict[tuple[str, str], Spec] = {}
        self.owners: dict[tuple[str, str], list[str]] = {}
        self.known: dict[tuple[str, str], Spec] = {}
        self.rows: list[Registered] = []
        #: For each top-level package of a plugin, the name of its distribution.
        self.packages: dict[str, str] = {}

    def add(self, plugin: str, entry_point: str, version: str, module: object) -> None:
        for spec in list(_specs_of(module)):
            self.add_spec(plugin, entry_point, version, spec)

    def add_spec(self, plugin: str, entry_point: str, version: str, spec: "Spec") -> None:
        owners = self.owners.setdefault((spec.kind, spec.name), [])
        if plugin in owners:
            raise PluginError(f"the plugin registers the {spec.kind} {spec.name!r} twice")
        owners.append(plugin)
        self.specs[spec.kind, f"{plugin}:{spec.name}"] = spec
        row = Registered(plugin, entry_point, version, spec.kind, spec.name, spec.summary, spec.source, "ok")
        self.rows.append(row)

    def without(self, specs: "Iterable[Spec]") -> "_Registry":
        """Return a copy of the registry without those `specs` that `registered` added."""
        gone = {(spec.kind, spec.name) for spec in specs}
        other = _Registry()
        other.packages = dict(self.packages)
        other.specs = {
            (kind, name): spec
            for (kind, name), spec in self.specs.items()
            if (kind, name.removeprefix(f"{HERE}:")) not in gone
        }
        for key, owners in self.owners.items():
            kept = [owner for owner in owners if owner != HERE or key not in gone]
            if kept:
                other.owners[key] = kept
        other.rows = [row for row in self.rows if row.plugin != HERE or (row.kind, row.name) not in gone]
        return other

    def fail(self, plugin: str, entry_point: str, version: str, error: BaseException) -> None:
        text = f"{type(error).__name__}: {error}{_place_of(error)}"
        self.rows.append(Registered(plugin, entry_point, version, "", "", "", "", "failed", text))
        if os.environ.get("ORDHC_STRICT", "") not in ("", "0"):
            raise PluginError(f"plugin {plugin} ({entry_point}) failed: {text}") from error
        warnings.warn(f"plugin {plugin} ({entry_point}) is skipped: {text}", OrdhcWarning, stacklevel=2)

    def finish(self) -> None:
        """Mark names that several plugins use with the status "clash"."""
        for at, row in enumerate(self.rows):
            owners = self.owners.get((row.kind, row.name), [])
            if row.status == "ok" and len(owners) > 1 and not (row.plugin == BUILTIN == owners[0]):
                others = ", ".join(owner for owner in owners if owner != row.plugin)
                note = f"also in {others}: use {row.plugin}:{row.name}"
                self.rows[at] = replace(row, status="clash", error=note)


def _place_of(error: BaseException) -> str:
    """Return the file and line where a plugin failed, in parentheses; empty if ordhc raised the error."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    if not frames or frames[-1][0].f_globals.get("__name__", "").split(".")[0] in ("ordhc", "importlib"):
        return ""
    frame, line = frames[-1]
    return f" ({frame.f_code.co_filename}, line {line})"


def _specs_of(module: object) -> "Iterator[Spec]":
    import pluggy

    from ordhc.plugins import hooks
    from ordhc.plugins.specs import Spec

    # Each plugin has its own manager, so that an error of one plugin does not affect the others.
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hooks)
    manager.register(module)
    manager.check_pending()
    found = 0
    for kind, hook in _HOOKS.items():
        for result in getattr(manager.hook, hook)():
            found += 1
            if isinstance(result, str | bytes) or not hasattr(result, "__iter__"):
                raise PluginError(f"{hook} returned {result!r}, not a list of specs")
            for spec in result:
                if not isinstance(spec, Spec) or spec.kind != kind:
                    raise PluginError(f"{hook} returned {spec!r}, not a {kind.capitalize()}Spec")
                yield spec
    if not found and not manager.get_hookcallers(module):
        raise PluginError(f"the plugin implements none of the hooks {', '.join(_HOOKS.values())}")


_lock = threading.RLock()
_registry: _Registry | None = None


def _load() -> _Registry:
    global _registry
    with _lock:
        if _registry is None:
            registry = _Registry()
            with interrupts_later():
                for kind in ("linkages", "similarities", "methods", "oracles", "metrics"):
                    module = import_module(f"ordhc.builtin.{kind}")
                    registry.add(BUILTIN, kind, __version__, module)
            _add_plugins(registry)
            registry.finish()
            _registry = registry
        return _registry


def _add_plugins(registry: _Registry) -> None:
    with interrupts_later():
        from importlib.metadata import distributions

    chosen = os.environ.get("ORDHC_PLUGINS")
    wanted = None if chosen is None else {_normal(name) for name in chosen.split(",") if name.strip()}
    found: dict[tuple[str, str, str], tuple[str, Any]] = {}
    for distribution in distributions():
        try:
            plugin, version = distribution.metadata["Name"], distribution.version
            points = [point for point in distribution.entry_points if point.group == GROUP]
        except Exception:
            continue
        for point in points:
            # If a distribution is on the path twice, Python imports the first one.
            found.setdefault((_normal(str(plugin)), point.name, point.value), (version, point))
    for (plugin, name, _), (version, point) in sorted(found.items(), key=lambda item: item[0]):
        if wanted is not None and not {plugin, _normal(name)} & wanted:
            registry.rows.append(Registered(plugin, name, version, "", "", "", "", "skipped"))
            continue
        registry.packages.setdefault(point.module.partition(".")[0], plugin)
        trial = _Registry()
        try:
            if plugin == BUILTIN:
                raise PluginError(f"a plugin package cannot be named {BUILTIN!r}: choose another name")
            # Text that a plugin prints must not mix with the output of the command that loads the plugin.
            with interrupts_later(), redirect_stdout(sys.stderr):
                trial.add(plugin, name, version, point.load())
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            registry.fail(plugin, name, version, error)
            continue
        for key in trial.specs:
            if key in registry.specs:
                twice = PluginError(
                    f"another entry point of this plugin registers the {key[0]} {key[1]!r}: remove one"
                )
                registry.fail(plugin, name, version, twice)
                break
        else:
            registry.specs.update(trial.specs)
            registry.rows.extend(trial.rows)
            for claimed, owners in trial.owners.items():
                registry.owners.setdefault(claimed, []).extend(owners)


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


@overload
def get(kind: Literal["linkage"], name: str) -> "LinkageSpec": ...
@overload
def get(kind: Literal["similarity"], name: str) -> "SimilaritySpec": ...
@overload
def get(kind: Literal["method"], name: str) -> "MethodSpec": ...
@overload
def get(kind: Literal["oracle"], name: str) -> "OracleSpec": ...
@overload
def get(kind: Literal["metric"], name: str) -> "MetricSpec": ...
@overload
def get(kind: Literal["command"], name: str) -> "CommandSpec": ...
def get(kind: str, name: str) -> "Spec":
    """Return the linkage, similarity, method, oracle, metric or command with this name.

    Parameters
    ----------
    kind
        "linkage", "similarity", "method", "oracle", "metric" or "command".
    name
        The name, or `plugin:name`. A method can also be a similarity and a linkage, `similarity+linkage`. The
        suffix `+spr` of a method adds moves of subtrees.

    Raises
    ------
    InputError
        If the name is unknown (the message lists similar names), or several plugins use it.
    """
    if not isinstance(name, str):
        raise InputError(f"the {kind} must be a name, not {_checks.quoted(name)}")
    registry = _registry or _load()
    known = registry.known.get((kind, name))
    if known is not None:
        return known
    if ":" in name:
        plugin, _, bare = name.partition(":")
        spec = registry.specs.get((kind, f"{_normal(plugin)}:{bare}"))
    else:
        owners = registry.owners.get((kind, name), [])
        if len(owners) > 1 and owners[0] != BUILTIN:
            both = " or ".join(f"{owner}:{name}" for owner in owners)
            raise InputError(f"the {kind} {name!r} is registered by several plugins; give {both}")
        spec = registry.specs.get((kind, f"{owners[0]}:{name}")) if owners else None
    if spec is None and kind == "method" and name.endswith(MOVES):
        plain = get("method", name.removesuffix(MOVES))
        if plain.refine is None:
            objective = "revenue" if plain.similarity is None else "dasgupta"
            spec = replace(plain, name=f"{plain.name}{MOVES}", refine=objective)
    if spec is None and kind == "method":
        spec = _pair(name)
    if spec is None:
        raise InputError(_unknown(kind, name))
    registry.known[kind, name] = spec
    return spec


def _pair(name: str) -> "MethodSpec | None":
    from ordhc.plugins.specs import MethodSpec

    similarity, plus, linkage = name.partition("+")
    if not plus or not (_is_known("similarity", similarity) or _is_known("linkage", linkage)):
        return None
    get("similarity", similarity)
    get("linkage", linkage)
    summary = f"similarity {similarity}, linkage {linkage}"
    return MethodSpec(name=name.replace(":", "."), summary=summary, similarity=similarity, linkage=linkage)


def _is_known(kind: str, name: str) -> bool:
    try:
        get(kind, name)  # type: ignore[call-overload]
    except InputError:
        return False
    return True


def named(kind: str, given: Any) -> tuple[str, Mapping[str, Any]]:
    name, settings = given if isinstance(given, tuple | list) and len(given) == 2 else (given, {})
    if not isinstance(name, str):
        told = _checks.quoted(given)
        raise InputError(f"the {kind} must be a name or a pair (NAME, {{...}}) with settings, not {told}")
    if not isinstance(settings, Mapping):
        raise InputError(f"the settings of {kind} {name!r} are {_checks.quoted(settings)}, not a dict")
    return name, settings


def title(given: Named) -> str:
    """Return the text of a name and its settings, such as "adds3-al" or "adds3-al (beta=2)"."""
    name, settings = named("method", given)
    told = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"{name} ({told})" if told else name


@overload
def chosen(kind: Literal["linkage"], given: Named, **more: Any) -> "tuple[LinkageSpec, dict[str, Any]]": ...
@overload
def chosen(
    kind: Literal["similarity"], given: Named, **more: Any
) -> "tuple[SimilaritySpec, dict[str, Any]]": ...
def chosen(kind: Any, given: Any, **more: Any) -> Any:
    """Return the spec of a similarity or a linkage, and all of its settings.

    The settings are the defaults of the spec, updated with those in `given`, then with `more`.

    Raises
    ------
    InputError
        If the name is unknown, or the spec has no setting of a given name.
    """
    name, settings = named(kind, given)
    spec: Spec = get(kind, name)
    return spec, settings_for(f"{kind} {name!r}", {**settings, **more}, spec.parameters)


def settings_for(what: str, given: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"the parameters of {what} are {_checks.quoted(given)}, not a dict")
    for name in given:
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise InputError(f"{what} has no parameter {_checks.quoted(name)}; its parameters: {known}")
    return {**defaults, **given}


def plugin_of(module: str) -> str | None:
    return _load().packages.get(module.partition(".")[0])


def is_builtin(spec: "Spec") -> bool:
    return _load().specs.get((spec.kind, f"{BUILTIN}:{spec.name}")) is spec


def names(kind: str) -> list[str]:
    """Return the sorted names of all specs of `kind`, such as all linkages for "linkage".

    Names that several plugins use are left out, unless ordhc itself uses the name: they work only as
    `plugin:name`.
    """
    registry = _load()
    return sorted(
        name
        for (of_kind, name), owners in registry.owners.items()
        if of_kind == kind and (len(owners) == 1 or owners[0] == BUILTIN)
    )


#: Names of linkages in other packages, with the names in ordhc; used for hints in messages.
_ALIASES = {
    "upgma": "average",
    "mean": "average",
    "wpgma": "weighted",
    "mcquitty": "weighted",
    "upgmc": "centroid",
    "wpgmc": "median",
    "min": "single",
    "nearest": "single",
    "max": "complete",
    "farthest": "complete",
    "ward.d2": "ward",
    "ward.d": "ward",
}


def _unknown(kind: str, name: str) -> str:
    known = names(kind)
    near = difflib.get_close_matches(name[:200].rpartition(":")[2].lower(), known, n=3)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    others = [other for other in ("method", "similarity", "linkage", "metric") if name in names(other)]
    if kind == "linkage" and (alias := _ALIASES.get(name.lower())):
        hint = f" (did you mean {alias}?)"
    elif others:
        hint = f"{hint} (there is a {others[0]} of that name)"
    failed = sorted({row.plugin for row in _load().rows if row.status == "failed"})
    broken = f" (plugins that could not be loaded: {', '.join(failed)})" if failed else ""
    return f"unknown {kind} {_checks.quoted(name)}{hint}; there are {', '.join(known)}{broken}"


def list_plugins() -> list[Registered]:
    """Return one row for each linkage, method and so on, and for each plugin that failed or was skipped.

    Examples
    --------
    >>> import ordhc
    >>> [row.name for row in ordhc.plugins.list_plugins() if row.plugin == "ordhc" and row.kind == "oracle"]
    ['tree', 'similarity', 'vectors', 'recorded', 'person']
    """
    return list(_load().rows)


@contextmanager
def registered(*specs: "Spec") -> Iterator[None]:
    """Register specs without a package, as long as a `with` block runs.

    Use this function to try a linkage, similarity, method, oracle or metric. Inside the block the names are
    known in all threads of this process. Workers in other processes know only the names of installed packages
    (see the page "Writing a plugin").

    Parameters
    ----------
    *specs
        Objects of the classes in `ordhc.specs`, such as `LinkageSpec`. The plugin of these specs is called
        "here": write `here:name` if another plugin uses the same name.

    Raises
    ------
    PluginError
        If an argument is not a spec, or two specs have the same name.
    InputError
        If a name belongs to ordhc itself.

    Examples
    --------
    >>> import ordhc
    >>> from ordhc.specs import LanceWilliams, LinkageSpec
    >>> flexible = LinkageSpec(
    ...     name="flexible",
    ...     summary="Lance & Williams 1967",
    ...     coefficients=LanceWilliams(alpha="(1 - beta) / 2", beta="beta"),
    ...     parameters={"beta": -0.25},
    ... )
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2), (2, 3, 0), (3, 2, 1)])
    >>> with ordhc.plugins.registered(flexible):
    ...     ordhc.cluster(t, "adds3+flexible").cut(2).tolist()
    [0, 0, 1, 1]
    """
    global _registry
    from ordhc.plugins.specs import Spec

    with _lock:
        registry = _load().without(())
        for spec in specs:
            if not isinstance(spec, Spec) or not spec.kind:
                raise PluginError(
                    f"{_checks.quoted(spec)} is not a spec; ordhc.specs has the classes of specs"
                )
            if BUILTIN in registry.owners.get((spec.kind, spec.name), []):
                raise InputError(f"ordhc has a {spec.kind} {spec.name!r} already: choose another name")
            registry.add_spec(HERE, "registered", "", spec)
        registry.finish()
        _registry = registry
    try:
        yield
    finally:
        with _lock:
            _registry = _load().without(specs)


def reset() -> None:
    """Forget all plugins; the next lookup searches and loads them again."""
    global _registry
    with _lock:
        _registry = None
