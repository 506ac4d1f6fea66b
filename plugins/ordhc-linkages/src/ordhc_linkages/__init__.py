"""More linkages for ordhc, registered through the entry point `linkages` of the group `ordhc`."""

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
            summary="(1 - beta) / 2 of each part and beta of their own similarity",
            coefficients=LanceWilliams(alpha="(1 - beta) / 2", beta="beta"),
            parameters={"beta": -0.25},
            source="Lance & Williams 1967",
        ),
        LinkageSpec(
            name="flexible-average",
            summary="flexible-beta with the parts weighted by their sizes",
            coefficients=LanceWilliams(alpha="(1 - beta) * n_i / (n_i + n_j)", beta="beta"),
            parameters={"beta": -0.1},
            source="Belbin, Faith & Milligan 1992",
        ),
        LinkageSpec(
            name="minimum-variance",
            summary="Ward's recurrence on the values as they are, nothing is squared (ward.D)",
            coefficients=LanceWilliams(
                alpha="(n_i + n_k) / (n_i + n_j + n_k)",
                beta="-n_k / (n_i + n_j + n_k)",
            ),
            # The recurrence depends only on the partition, not on the order of earlier merges, and a merge
            # never brings a third cluster closer.
            reducible=True,
            source="Murtagh & Legendre 2014",
        ),
        LinkageSpec(
            name="hausdorff",
            summary="the Hausdorff distance of the two sets of members, negated",
            make_update=make_hausdorff,
            source="Basalto et al. 2008",
        ),
        LinkageSpec(
            name="median-pairwise",
            summary="the median over all pairs of members",
            make_update=make_median_pairwise,
        ),
    ]
