"""The models of ordinal embeddings: their names, losses, solvers and parameters."""

from collections.abc import Mapping
from dataclasses import dataclass

from ordhc.errors import InputError


@dataclass(frozen=True)
class Model:
    """A model of ordinal embeddings: the distances of points give the probability or the loss of an answer.

    `loss` is the name of the loss in the Rust crate. The first of `solvers` is the default. `parameter` is
    the name of the model's own parameter, such as "alpha"; None if the model has none. `default` is the
    default value of this parameter; None means max(n_components - 1, 1).
    """

    summary: str
    source: str
    loss: str
    solvers: tuple[str, ...] = ("lbfgs",)
    parameter: str | None = None
    default: float | None = None

    def value(self, given: float | None, n_components: int) -> float | None:
        if self.parameter is None:
            if given is not None:
                raise InputError(f"this model has no parameter, but {given!r} is given")
            return None
        if given is not None:
            return float(given)
        return self.default if self.default is not None else float(max(n_components - 1, 1))


_STE = "van der Maaten & Weinberger 2012"

MODELS: Mapping[str, Model] = {
    "tste": Model(
        "t-distributed stochastic triplet embedding", _STE, "tste", ("lbfgs", "paper"), parameter="alpha"
    ),
    "ste": Model("stochastic triplet embedding", _STE, "ste"),
    "forte": Model(
        "fast ordinal triplet embedding: logistic loss over Gram matrices of fixed rank",
        "Jain, Jamieson & Nowak 2016",
        "ste",
        ("lbfgs", "projected"),
    ),
    "ckl": Model("crowd kernel learning", "Tamuz et al. 2011", "ckl", parameter="mu", default=0.05),
    "gnmds": Model("generalised non-metric multidimensional scaling", "Agarwal et al. 2007", "gnmds"),
    "soe": Model(
        "soft ordinal embedding", "Terada & von Luxburg 2014", "soe", parameter="margin", default=1.0
    ),
}
