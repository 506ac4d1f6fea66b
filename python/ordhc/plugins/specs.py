"""What plugins hand over: small frozen records, one kind per hook."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ordhc import _checks, _ordhc
from ordhc.errors import InputError, PluginError

__all__ = [
    "CommandSpec",
    "LanceWilliams",
    "LinkageSpec",
    "MethodSpec",
    "MetricSpec",
    "OracleSpec",
    "SimilaritySpec",
    "Spec",
]

DATA = ("triplets", "quadruplets", "vectors")
OBJECTIVES = ("dasgupta", "revenue", "satisfied")
#: What an oracle is made from.
SOURCES = ("tree", "similarity", "vectors", "triplets", "quadruplets", "names", "path", "nothing")
REFERENCES = ("triplets", "quadruplets", "tree", "labels", "similarity", "ranking")


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What every spec has.

    Parameters
    ----------
    name
        The name users give, without `:` or blanks.
    summary
        One line for lists.
    parameters
        Names and default values of the settings that users may give as keywords.
    source
        The publication, for reference.
    """

    kind: ClassVar[str] = ""
    name: str
    summary: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        self._need("name", isinstance(self.name, str) and bool(self.name), "a non-empty string")
        self._need("name", not set(self.name) & set(": \t\n,"), "without colon, comma and blanks")
        self._need("summary", isinstance(self.summary, str) and bool(self.summary), "a line of text")
        self._need("parameters", isinstance(self.parameters, Mapping), "a mapping of defaults")
        self._need("source", isinstance(self.source, str), "text")

    def _need(self, what: str, fine: bool, limit: str) -> None:
        if not fine:
            raise PluginError(
                f"{type(self).__name__} {self.name!r}: {what} is {getattr(self, what, None)!r}, not {limit}"
            )


@dataclass(frozen=True)
class LanceWilliams:
    """Lance-Williams coefficients as formulas, evaluated in Rust.

    ``d(k, i+j) = alpha_i d(k,i) + alpha_j d(k,j) + beta d(i,j) + gamma |d(k,i) - d(k,j)|``

    The formulas use `n_i`, `n_j`, `n_k` (the sizes of the two clusters and of a third) and the
    spec's parameters, with `+ - * / **`, parentheses, `min`, `max`, `sqrt`, `abs`. `alpha` is that of
    cluster i; cluster j takes it with `n_i` and `n_j` exchanged. They are stated for dissimilarities;
    on similarities gamma changes its sign.

    Parameters
    ----------
    alpha, beta, gamma
        The formulas.
    squared
        On dissimilarities work with squares, heights are square roots (as Ward's method does).
    """

    alpha: str
    beta: str = "0"
    gamma: str = "0"
    squared: bool = False


@dataclass(frozen=True, kw_only=True)
class LinkageSpec(Spec):
    """A linkage: what the similarity of two clusters means. Exactly one of the five ways.

    Parameters
    ----------
    native
        The name of a linkage of the crate.
    coefficients
        Lance-Williams coefficients.
    update_row
        `update(row_i, row_j, s_ij, n_i, n_j, sizes, i, j, others, **parameters)`, called once per
        merge, gives the merged cluster's row: float64 similarities (larger is closer) with the k
        `others`. `row_i` and `row_j` are those of the two clusters, `s_ij` their similarity, `sizes`
        the sizes of the others; clusters are named by their smallest leaves `i < j`, `others`.
    make_update
        `make(S, **parameters)` gives such an update (without parameters) for the (n, n) float64
        similarities `S`: for linkages that need more than the two rows.
    from_comparisons
        `cluster(data, *, initial_clusters, progress, **parameters)` gives a `Dendrogram` from
        comparisons, without similarities; `initial_clusters` is None or (n,) labels of clusters to
        start from. Every leaf has answers.
    data
        What `from_comparisons` takes: of "triplets", "quadruplets".
    reducible
        Coefficients only: reciprocal nearest pairs may be merged in any order, because merging never
        brings a third closer and the order of merges within clusters does not matter. Allows the
        fastest engine; wrong trees if it isn't true.
    """

    kind: ClassVar[str] = "linkage"
    native: str | None = None
    coefficients: LanceWilliams | None = None
    update_row: Callable[..., Any] | None = None
    make_update: Callable[..., Callable[..., Any]] | None = None
    from_comparisons: Callable[..., Any] | None = None
    data: tuple[str, ...] = ()
    reducible: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        ways = ("native", "coefficients", "update_row", "make_update", "from_comparisons")
        given = [way for way in ways if getattr(self, way) is not None]
        if len(given) != 1:
            raise PluginError(
                f"LinkageSpec {self.name!r}: give exactly one of {', '.join(ways)}, not {given or 'none'}"
            )
        self._need(
            "coefficients",
            self.coefficients is None or isinstance(self.coefficients, LanceWilliams),
            "LanceWilliams",
        )
        for way in ("update_row", "make_update", "from_comparisons"):
            self._need(way, getattr(self, way) is None or callable(getattr(self, way)), "a callable")
        if self.from_comparisons is not None:
            fine = isinstance(self.data, tuple) and bool(self.data) and set(self.data) <= set(DATA[:2])
            self._need("data", fine, f"a tuple of {DATA[:2]}")
        if self.coefficients is not None:
            coefficients_of(self, dict(self.parameters))

    @property
    def squares(self) -> bool:
        """Whether dissimilarities are squared before they are used."""
        if self.coefficients is not None:
            return self.coefficients.squared
        return self.native in ("ward", "centroid", "median")


@dataclass(frozen=True, kw_only=True)
class SimilaritySpec(Spec):
    """A similarity builder, by `build` or by `factor`.

    Parameters
    ----------
    build
        `build(data, *, layout, dtype, progress, **parameters)` gives the similarities of all pairs:
        (n, n) symmetric for layout "square", n(n-1)/2 for "condensed"; `progress` is None or to be
        called with the share that is done.
    data
        What it takes: of "triplets", "quadruplets", "vectors". Vectors come as an (n, p) array of float32
        or float64, or as SciPy's CSR.
    dissimilarity
        What it builds are dissimilarities: smaller is closer.
    factor
        `factor(data, *, progress, **parameters)` gives `rows`, an (n, r) array of floats or SciPy's CSR,
        and a positive `scale`; the similarities are `scale * rows @ rows.T`. Average linkage then needs
        no matrix of pairs.
    """

    kind: ClassVar[str] = "similarity"
    data: tuple[str, ...]
    build: Callable[..., Any] | None = None
    dissimilarity: bool = False
    factor: Callable[..., tuple[Any, float]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.build is None) == (self.factor is None):
            raise PluginError(f"SimilaritySpec {self.name!r}: give either build or factor")
        self._need("build", self.build is None or callable(self.build), "a callable")
        self._need("factor", self.factor is None or callable(self.factor), "a callable")
        self._need("dissimilarity", isinstance(self.dissimilarity, bool), "True or False")
        fine = isinstance(self.data, tuple) and bool(self.data) and set(self.data) <= set(DATA)
        self._need("data", fine, f"a tuple of {DATA}")


@dataclass(frozen=True, kw_only=True)
class MethodSpec(Spec):
    """A method: a similarity and a linkage under one name.

    `parameters` are settings of the two that differ from their own defaults.

    Parameters
    ----------
    linkage
        The name of a linkage.
    similarity
        The name of a similarity; None for linkages of comparisons.
    refine
        The objective by which subtrees are moved afterwards: "dasgupta", "revenue" or "satisfied".
    """

    kind: ClassVar[str] = "method"
    linkage: str
    similarity: str | None = None
    refine: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("linkage", isinstance(self.linkage, str), "a name")
        self._need("similarity", isinstance(self.similarity, str | None), "a name or None")
        self._need("refine", self.refine in (None, *OBJECTIVES), f"None or one of {OBJECTIVES}")


@dataclass(frozen=True, kw_only=True)
class OracleSpec(Spec):
    """An oracle: something that answers questions.

    Parameters
    ----------
    make
        `make(source, **parameters)` gives a callable that takes (m, 3) leaf ids and gives (m,)
        integers: which of the three is the odd one out (0, 1, 2), or -1 for none; and (m, 4), are i and j
        more similar than k and l: 1, -1, or 0 for neither. It may be asynchronous. What has `n_leaves` (and
        `names`) tells how many leaves it knows.
    takes
        What `source` may be: of "tree", "similarity", "vectors", "triplets", "quadruplets", "names", "path"
        (a file's name, as it is), and "nothing". The command line reads its file as the first of these.
    questions
        How many leaves a question that it answers has: 3, 4, or both.
    """

    kind: ClassVar[str] = "oracle"
    make: Callable[..., Callable[[Any], Any]]
    takes: tuple[str, ...] = ("path",)
    questions: tuple[int, ...] = (3,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("make", callable(self.make), "a callable")
        for what, known in (("takes", SOURCES), ("questions", (3, 4))):
            given = getattr(self, what)
            fine = isinstance(given, tuple) and bool(given) and set(given) <= set(known)
            self._need(what, fine, f"a tuple of {', '.join(map(str, known))}")


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Spec):
    """A metric: a score of a dendrogram.

    Parameters
    ----------
    score
        `score(tree, reference, **parameters)` gives a number, or an object that `float()` turns into
        one. The tree is a `Dendrogram`, its leaves numbered as the reference's.
    reference
        What it takes: of "triplets", "quadruplets", "tree" (a `Dendrogram`), "labels" ((n, L) int64
        numbers of clusters), "similarity" (an array, (n, n) or n(n-1)/2), "ranking" (an array, (n, n), that
        need not be symmetric).
    larger_is_better
        Which way it goes.
    """

    kind: ClassVar[str] = "metric"
    score: Callable[..., Any]
    reference: tuple[str, ...]
    larger_is_better: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("score", callable(self.score), "a callable")
        fine = (
            isinstance(self.reference, tuple)
            and bool(self.reference)
            and set(self.reference) <= set(REFERENCES)
        )
        self._need("reference", fine, f"a tuple of {REFERENCES}")


@dataclass(frozen=True, kw_only=True)
class CommandSpec(Spec):
    """A command of the command line: `ordhc NAME ...`.

    Parameters
    ----------
    make
        `make()` gives a command of click, a group too; `ordhc.commands` has what ordhc's own are made with.
        It is called when the command is run or its help is asked for, and imports what that takes;
        `ordhc --help` shows name and summary only.
    """

    kind: ClassVar[str] = "command"
    make: Callable[[], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("make", callable(self.make), "a callable")
        self._need("parameters", not self.parameters, "empty: a command has options of its own")


def coefficients_of(spec: LinkageSpec, parameters: Mapping[str, Any]) -> _ordhc.Linkage:
    """The engine's form of a spec's coefficients; formulas that cannot be read are an error."""
    if spec.coefficients is None:
        raise PluginError(f"the linkage {spec.name!r} has no coefficients")
    formulas = spec.coefficients
    numbers: dict[str, float] = {}
    for name, value in parameters.items():
        try:
            numbers[name] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} = {_checks.quoted(value)} of linkage {spec.name!r} is no number"
            ) from None
    try:
        return _ordhc.Linkage.coefficients(
            formulas.alpha,
            formulas.beta,
            formulas.gamma,
            numbers,
            reducible=spec.reducible,
            squared=formulas.squared,
        )
    except ValueError as error:
        raise InputError(f"linkage {spec.name!r}: {error}") from None
