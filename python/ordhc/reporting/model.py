"""Describe the posterior for the methods section of a paper."""

from collections.abc import Mapping
from typing import Any

from ordhc.clustering.sampling import CHAINS, sweeps_for

Numbers = Mapping[str, Any]

#: How answers of several comparisons are modelled, by the form of the answer.
_CHOICES = {
    "odd one out": "To choose the odd one out of three is to choose the other two as the closest pair",
    "most central": "The most central of three has the smallest sum of distances to the other two",
    "ranking": "In a ranking, each item is chosen from those that remain",
}


def posterior_model(numbers: Numbers) -> tuple[list[str], list[str]]:
    """Return sentences about the model, priors and chains of a posterior, and the keys of their references.

    Both are empty if the report's tree was made by another method.
    """
    settings = numbers["method"]["settings"]
    if settings["linkage"] != "posterior-al":
        return [], []
    given, data = settings["linkage_parameters"] or {}, numbers["data"]
    has_lengths = given.get("lengths", True)
    cited = ["luce"]
    similarity = "s is the depth of the pair's lowest common ancestor below the root"
    if has_lengths:
        similarity += ", minus the lengths of both leaves (an additive tree; Sattath & Tversky, 1977)"
        cited.append("additive")
    said = [
        "The model: a pair p is judged closer than a pair q with the probability "
        f"e + (1 - 2e) / (1 + exp(s(q) - s(p))), where {similarity}, and e is the error rate"
        + (", which differs between people." if (data["n_people"] or 0) > 1 else ".")
    ]
    for form, sentence in _CHOICES.items():
        if form in data["forms"]:
            said.append(f"{sentence}; a choice has a probability in proportion to exp(s) (Luce, 1959).")
    said.append(
        "Priors: error rates are Beta(1, 4), up to 0.45; trees have nodes of any degree, and a node of k "
        "leaves has the weight a (k - 1)^-b, with a uniform prior for a and b on a grid; steps of depth from "
        "node to node are gamma distributed with estimated mean and shape"
        + ("; lengths of leaves are normal with an estimated variance." if has_lengths else ".")
    )
    return [*said, _chains(numbers, given), _shown(data)], [*cited, "mixing"]


def _chains(numbers: Numbers, given: Numbers) -> str:
    chains, burn_in = given.get("chains", CHAINS), given.get("burn_in")
    sweeps = given.get("sweeps") or sweeps_for(numbers["data"]["n_comparisons"])
    left = "the first third" if burn_in is None else f"the first {burn_in:,}"
    text = (
        f"{chains} Markov chains made {sweeps:,} sweeps each, and {left} of the sweeps were discarded. In a "
        "sweep every leaf and subtree is removed, and inserted at a position drawn by its posterior "
        "probability"
    )
    clusters = numbers["clusters"]
    if clusters["unit"] == "posterior" and clusters["mixing"] is not None:
        mixing = clusters["mixing"]
        text += (
            f". {clusters['n_resamples']:,} trees were kept (R-hat of the log-likelihood "
            f"{mixing['r_hat']:.2f}, effective size {mixing['effective_size']:,.0f}; Gelman et al., 2013)"
        )
    return f"{text}."


def _shown(data: Numbers) -> str:
    name = "AddS4" if "quadruplet" in data["forms"] else "AddS3"
    return (
        f"The tree that is shown summarises all drawn trees: average linkage of the {name} similarities that "
        "they predict for all questions, improved by moves of subtrees that raise the expected revenue."
    )
