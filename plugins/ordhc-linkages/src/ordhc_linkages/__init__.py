"""A plugin of ordhc with five linkages."""

from ordhc.hooks import hookimpl
from ordhc.specs import LanceWilliams, LinkageSpec
from ordhc_linkages.members import make_hausdorff, make_median_pairwise

__all__ = ["ordhc_linkages"]


def __dir__() -> list[str]:
    return sorted(__all__)


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    """Return the linkages of this package."""
    return [
        LinkageSpec(
            name="flexible-beta",
            summary="(1 - beta) / 2 times the value of each part, plus beta times the value between parts",
            coefficients=LanceWilliams(alpha="(1 - beta) / 2", beta="beta"),
            parameters={"beta": -0.25},
            source="Lance & Williams 1967",
        ),
        LinkageSpec(
            name="flexible-average",
            summary="flexible-beta, with the parts weighted by size",
            coefficients=LanceWilliams(alpha="(1 - beta) * n_i / (n_i + n_j)", beta="beta"),
            parameters={"beta": -0.1},
            source="Belbin, Faith & Milligan 1992",
        ),
        LinkageSpec(
            name="minimum-variance",
            summary="Ward's recurrence on the given values, without squaring (ward.D)",
            coefficients=LanceWilliams(
                alpha="(n_i + n_k) / (n_i + n_j + n_k)",
                beta="-n_k / (n_i + n_j + n_k)",
            ),
            # A merged cluster is never closer to a third cluster than the nearer of its two parts was. The
            # similarities depend only on the current clusters, not on the order of the earlier merges.
            reducible=True,
            source="Murtagh & Legendre 2014",
        ),
        LinkageSpec(
            name="hausdorff",
            summary="the negative Hausdorff distance between the two sets of members",
            make_update=make_hausdorff,
            source="Basalto et al. 2008",
        ),
        LinkageSpec(
            name="median-pairwise",
            summary="the median over all pairs of members",
            make_update=make_median_pairwise,
        ),
    ]
