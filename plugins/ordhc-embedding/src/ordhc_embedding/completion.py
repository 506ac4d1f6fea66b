"""Completion: fit an embedding to some triplets, and compute similarities from the triplets it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import Triplets
from ordhc._ordhc import expected_adds3
from ordhc.comparison.units import questions_of
from ordhc.errors import InputError
from ordhc.progress import Progress, part, shows_progress
from ordhc_embedding.embedding import Embedding, embed
from ordhc_embedding.models import MODELS

_DIMENSIONS = range(1, 7)
_FOLDS = 3
_MIN_DECREASE = 0.01


@shows_progress("similarities")
def expected_similarities(
    embedding: Embedding, *, progress: Progress | bool | None = None
) -> NDArray[np.float64]:
    """Return the similarities that an embedding predicts for all pairs of leaves, by the formula of AddS3.

    For each triplet, AddS3 adds 1 to the similarity of anchor and near leaf, and subtracts 1 from the
    similarity of anchor and far leaf. Here the embedding's model answers all possible triplets. The result is
    the expected sum: s_ij is the sum over k of (2 P_ijk - 1) + (2 P_jik - 1). P_ijk is the model's
    probability that i is nearer to j than to k. The computation takes O(n^3) time.

    Parameters
    ----------
    embedding
        An embedding by the model "tste", "ste", "forte" or "ckl".
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    ndarray
        n(n-1)/2 similarities, in the order of SciPy's condensed matrices.

    Raises
    ------
    InputError
        The embedding's model does not define probabilities.

    Examples
    --------
    >>> from ordhc_embedding import embed, expected_similarities
    >>> found = embed([(0, 1, 2), (1, 0, 2)], n_components=1)
    >>> expected_similarities(found).shape
    (3,)
    """
    assert not isinstance(progress, bool)
    return expected_adds3(embedding.points, MODELS[embedding.model].loss, embedding.parameter, progress)


@shows_progress("dimensions")
def choose_n_components(
    triplets: Triplets,
    model: str = "tste",
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> int:
    """Return the smallest number of dimensions (1 to 6) that predicts held-out answers well.

    The questions are split at random into three folds; answers to the same question are in the same fold. The
    score of a number of dimensions is the sum over the folds of the mean loss of the fold's answers, in an
    embedding of the other folds. Dimensions are added as long as each one lowers the score by more than 1%.

    Parameters
    ----------
    triplets
        The answers.
    model
        "tste", "ste", "forte" or "ckl".
    seed
        The seed of the folds and of the embeddings.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **settings
        Further parameters of `embed`.

    Returns
    -------
    int
        The number of dimensions; 1 if there are fewer than three questions.

    Examples
    --------
    >>> import ordhc
    >>> from ordhc_embedding import choose_n_components
    >>> triplets, _ = ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=5, seed=1)
    >>> choose_n_components(triplets) in range(1, 7)
    True
    """
    assert not isinstance(progress, bool)
    if triplets.weights is not None:
        triplets = triplets[triplets.weights > 0]
    question_of = questions_of(triplets)[0]
    count = int(question_of.max(initial=-1)) + 1
    if count < _FOLDS:
        return _DIMENSIONS[0]
    fold_of = (np.random.default_rng(seed).permutation(count) % _FOLDS)[question_of]
    best, best_score = _DIMENSIONS[0], np.inf
    for step, d in enumerate(_DIMENSIONS):
        score = 0.0
        for fold in range(_FOLDS):
            at, of = step * _FOLDS + fold, len(_DIMENSIONS) * _FOLDS
            step_progress = part(progress, at / of, (at + 1) / of)
            kept = embed(
                triplets[fold_of != fold],
                model,
                n_components=d,
                seed=seed,
                progress=step_progress,
                **settings,
            )
            score += kept.score(triplets[fold_of == fold])
        if not score < best_score * (1 - _MIN_DECREASE):
            break
        best, best_score = d, score
    if progress is not None:
        progress(1.0)
    return best


def completed(
    data: Triplets, *, n_components: int | str, seed: int, progress: Progress | None, **settings: Any
) -> NDArray[np.float64]:
    """Return similarities from all triplets that a t-STE embedding predicts, as a condensed matrix."""
    given = {name: settings[name] for name in ("max_iterations", "tolerance", "alpha")}
    start, d = 0.0, n_components
    if d == "auto":
        start = 0.9
        d = choose_n_components(data, seed=seed, progress=part(progress, 0.0, start), **given)
    elif isinstance(d, str):
        raise InputError(f"n_components is {d!r}; it must be a whole number of at least 1, or 'auto'")
    middle = start + 0.8 * (1 - start)
    embedding = embed(
        data, "tste", n_components=d, seed=seed, progress=part(progress, start, middle), **settings
    )
    return expected_similarities(embedding, progress=part(progress, middle, 1.0))
