"""Define the specs that plugins return: one frozen dataclass for each hook."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ordhc import _checks, _ordhc
from ordhc.errors import InputError, PluginError

DATA = ("triplets", "quadruplets", "vectors")
OBJECTIVES = ("dasgupta", "revenue", "satisfied")
#: The kinds of the argument `source` of `OracleSpec.make`.
SOURCES = ("tree", "similarity", "vectors", "triplets", "quadruplets", "names", "path", "nothing")
REFERENCES = ("triplets", "quadruplets", "tree", "labels", "similarity", "ranking")


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The fields of every spec, which describes a linkage, similarity, method, oracle, metric or command.

    Parameters
    ----------
    name
        The name of the spec, without colons, commas and blanks.
    summary
        One line of text for lists.
    parameters
        The names of the settings, which users give as keywords, and their default values.
    source
        The publication that describes the method, for lists.
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

    def _need_some(self, what: str, known: tuple[Any, ...]) -> None:
        given = getattr(self, what)
        fine = isinstance(given, tuple) and bool(given) and set(given) <= set(known)
        self._need(what, fine, f"a tuple of {', '.join(map(str, known))}")

    def _need(self, what: str, fine: bool, limit: str) -> None:
        if not fine:
            value = getattr(self, what)
            raise PluginError(f"{type(self).__name__} {self.name!r}: {what} is {value!r}; it must be {limit}")


@dataclass(frozen=True)
class LanceWilliams:
    """Lance-Williams coefficients as formulas, evaluated in Rust.

    ``d(k, i+j) = alpha_i d(k,i) + alpha_j d(k,j) + beta d(i,j) + gamma |d(k,i) - d(k,j)|``

    The formulas can use `n_i` and `n_j` (the sizes of the two merged clusters), `n_k` (the size of the third
    cluster), the spec's parameters, `+ - * / **`, parentheses, `min`, `max`, `sqrt` and `abs`. Formulas are
    for dissimilarities. For similarities the engine changes the sign of gamma.

    Parameters
    ----------
    alpha
        The formula of alpha_i. alpha_j is the same formula with `n_i` and `n_j` exchanged.
    beta, gamma
        The formulas of beta and gamma.
    squared
        True squares dissimilarities before the update, and takes square roots for heights, as in Ward's
        method.
    """

    alpha: str
    beta: str = "0"
    gamma: str = "0"
    squared: bool = False


@dataclass(frozen=True, kw_only=True)
class LinkageSpec(Spec):
    """A linkage, which defines the similarity of two clusters. Set exactly one of the first five fields.

    Parameters
    ----------
    native
        The name of one of ordhc's own linkages, such as "average".
    coefficients
        Lance-Williams coefficients.
    update_row
        A function `update(row_i, row_j, s_ij, n_i, n_j, sizes, i, j, others, **parameters)`, which is called
        once per merge of clusters i and j. The function returns the row of the merged cluster: (k,) float64
        similarities (larger is closer) to the k other clusters. `row_i` and `row_j`, (k,), are the rows of
        the two clusters, `s_ij` is their similarity, `n_i` and `n_j` are their sizes. `sizes`, (k,), are the
        sizes of the other clusters. Clusters are numbered by their smallest leaves: `i < j` are the numbers
        of the two clusters, and `others`, (k,), of the other clusters.
    make_update
        A function `make(S, **parameters)` that returns an update function without parameters. `S` is the
        (n, n) float64 matrix of similarities. Use this field if an update needs more than the two rows.
    from_comparisons
        A function `cluster(data, *, initial_clusters, progress, **parameters)` that returns a `Dendrogram`
        from comparisons, without similarities. `initial_clusters` is None, or (n,) labels of the clusters to
        start from. Each leaf of `data` has answers.
    data
        The kinds of data that `from_comparisons` accepts: "triplets", "quadruplets", or both.
    reducible
        For `coefficients` only. True promises that a merge never brings a third cluster closer, and that the
        order of merges does not change a cluster's similarities. Then reciprocal nearest pairs can be merged
        in any order, which the fastest engine needs. A false promise gives wrong trees.
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
        self._need("coefficients", isinstance(self.coefficients, LanceWilliams | None), "LanceWilliams")
        for way in ("update_row", "make_update", "from_comparisons"):
            self._need(way, getattr(self, way) is None or callable(getattr(self, way)), "a callable")
        if self.from_comparisons is not None:
            self._need_some("data", DATA[:2])
        if self.coefficients is not None:
            coefficients_of(self, dict(self.parameters))

    @property
    def squares(self) -> bool:
        """True if the linkage squares dissimilarities before the first merge."""
        if self.coefficients is not None:
            return self.coefficients.squared
        return self.native in ("ward", "centroid", "median")


@dataclass(frozen=True, kw_only=True)
class SimilaritySpec(Spec):
    """A similarity builder. Set either `build` or `factor`.

    Parameters
    ----------
    build
        A function `build(data, *, layout, dtype, progress, **parameters)` that returns the similarities of
        all pairs: a symmetric (n, n) array for layout "square", n(n-1)/2 values for "condensed". `progress`
        is None, or a callable that receives the completed fraction in [0, 1].
    data
        The accepted kinds of data: "triplets", "quadruplets", "vectors". Vectors are an (n, p) array of
        float32 or float64, or SciPy's CSR matrix.
    dissimilarity
        True if the builder returns dissimilarities: smaller is closer.
    factor
        A function `factor(data, *, progress, **parameters)` that returns `rows`, an (n, r) array of floats
        or SciPy's CSR matrix, and a positive `scale`. The similarities are `scale * rows @ rows.T`. With
        `factor`, average linkage needs no matrix of pairs.
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
        self._need_some("data", DATA)


@dataclass(frozen=True, kw_only=True)
class MethodSpec(Spec):
    """A method: a similarity and a linkage under one name.

    `parameters` are the settings of the similarity and the linkage that differ from their own defaults.

    Parameters
    ----------
    linkage
        The name of a linkage.
    similarity
        The name of a similarity; None for linkages that use comparisons directly.
    refine
        The objective by which subtrees are moved after the clustering: "dasgupta", "revenue" or "satisfied".
        None does not move subtrees.
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
    """An oracle, which answers questions about leaves.

    Parameters
    ----------
    make
        A function `make(source, **parameters)` that returns the oracle, a callable. The oracle receives m
        questions and returns (m,) integers.

        For (m, 3) leaf ids the answer is the position of the odd one out, 0, 1 or 2, or -1 for none. For (m,
        4) leaf ids i, j, k, l the answer is 1 if i and j are more similar than k and l, -1 if less, 0 for
        neither.

        The callable can be asynchronous. If it has the attributes `n_leaves` and `names`, they define the
        leaves.
    takes
        The accepted kinds of `source`: "tree", "similarity", "vectors", "triplets", "quadruplets", "names",
        "path" (the name of a file, which the oracle reads itself), "nothing". The command `ordhc` reads the
        given file as the first of these kinds.
    questions
        The accepted numbers of leaves per question: 3, 4, or both.
    """

    kind: ClassVar[str] = "oracle"
    make: Callable[..., Callable[[Any], Any]]
    takes: tuple[str, ...] = ("path",)
    questions: tuple[int, ...] = (3,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("make", callable(self.make), "a callable")
        self._need_some("takes", SOURCES)
        self._need_some("questions", (3, 4))


@dataclass(frozen=True, kw_only=True)
class MetricSpec(Spec):
    """A metric, which scores a dendrogram against a reference.

    Parameters
    ----------
    score
        A function `score(tree, reference, **parameters)` that returns a number, or an object that `float()`
        accepts. The tree is a `Dendrogram` whose leaves have the same numbers as in the reference.
    reference
        The accepted kinds of references: "triplets", "quadruplets", "tree" (a `Dendrogram`), "labels" ((n, L)
        int64 cluster labels), "similarity" (an array, (n, n) or n(n-1)/2), "ranking" (an (n, n) array that
        need not be symmetric).
    larger_is_better
        True if a larger score is better, False if a smaller score is better.
    """

    kind: ClassVar[str] = "metric"
    score: Callable[..., Any]
    reference: tuple[str, ...]
    larger_is_better: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("score", callable(self.score), "a callable")
        self._need_some("reference", REFERENCES)


@dataclass(frozen=True, kw_only=True)
class CommandSpec(Spec):
    """A command of the command line: `ordhc NAME ...`.

    Parameters
    ----------
    make
        A function `make()` that returns a command or a group of click. `ordhc.commands` has the functions
        with which ordhc's own commands are made. `make` is called only to run the command or to show its
        help, so imports inside `make` do not slow down other commands. `ordhc --help` shows only name and
        summary.
    """

    kind: ClassVar[str] = "command"
    make: Callable[[], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._need("make", callable(self.make), "a callable")
        self._need("parameters", not self.parameters, "empty, because a command defines its own options")


def coefficients_of(spec: LinkageSpec, parameters: Mapping[str, Any]) -> _ordhc.Linkage:
    """Return the linkage of a spec with Lance-Williams coefficients, compiled for the Rust engine.

    Raises
    ------
    PluginError
        The spec has no coefficients.
    InputError
        A formula is invalid, or a parameter is not a number.
    """
    if spec.coefficients is None:
        raise PluginError(f"the linkage {spec.name!r} has no coefficients")
    formulas = spec.coefficients
    numbers: dict[str, float] = {}
    for name, value in parameters.items():
        try:
            numbers[name] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} = {_checks.quoted(value)} of linkage {spec.name!r} is not a number"
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
