"""A plugin of ordhc with ordinal embeddings, and with similarities that are computed from embeddings."""

from ordhc.hooks import hookimpl
from ordhc.specs import MethodSpec, SimilaritySpec
from ordhc_embedding.completion import choose_n_components, expected_similarities
from ordhc_embedding.embedding import Embedding, embed
from ordhc_embedding.similarities import specs

__all__ = [
    "Embedding",
    "choose_n_components",
    "embed",
    "expected_similarities",
    "ordhc_methods",
    "ordhc_similarities",
]


def __dir__() -> list[str]:
    return sorted(__all__)


@hookimpl
def ordhc_similarities() -> list[SimilaritySpec]:
    """Return a `SimilaritySpec` for each embedding model, and one for the similarity `completion`."""
    return specs()


@hookimpl
def ordhc_methods() -> list[MethodSpec]:
    """Return methods with average linkage of similarities that are computed from embeddings."""
    return [
        MethodSpec(
            name="tste-al",
            summary="average linkage of cosines of a t-STE embedding",
            similarity="tste",
            linkage="average",
            source="Mandal, Perrot & Ghoshdastidar 2023, section 5",
        ),
        MethodSpec(
            name="forte-al",
            summary="average linkage of cosines of a FORTE embedding",
            similarity="forte",
            linkage="average",
            source="Jain, Jamieson & Nowak 2016",
        ),
        MethodSpec(
            name="completion-al",
            summary="average linkage of AddS3 similarities that a t-STE embedding predicts",
            similarity="completion",
            linkage="average",
        ),
        MethodSpec(
            name="completion",
            summary="completion-al, then moves of subtrees (ordhc.refine)",
            similarity="completion",
            linkage="average",
            refine="dasgupta",
        ),
    ]
