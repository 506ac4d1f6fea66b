"""Get embedding vectors of texts, from the same kind of server as a judge, and with the same cache."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc_judge.asker import Asker
from ordhc_judge.cache import key_of
from ordhc_judge.client import LARGEST_REPLY
from ordhc_judge.engine import Engine, Setup
from ordhc_judge.errors import JudgeError
from ordhc_judge.items import Items
from ordhc_judge.replies import usage_of
from ordhc_judge.spending import Budget, Tokens, whole

#: Maximum size in bytes of one vector as JSON, enough for ten thousand coordinates.
_LARGEST_VECTOR = 1 << 18


def embed(
    items: Any,
    url: str,
    model: str | None,
    *,
    key: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    batch: int = 64,
    concurrency: int = 8,
    rpm: float | str | None = "auto",
    budget: Mapping[str, float] | None = None,
    timeout: float = 60,
    retries: int = 5,
    headers: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> NDArray[np.float32]:
    """Return embedding vectors of texts, for `ordhc.cluster(X, ...)` or a prior tree.

    Parameters
    ----------
    items
        The texts, a dict of names and texts, or a file of texts.
    url, model, key, cache, concurrency, rpm, budget, timeout, retries, headers
        As in `Judge`. The server must have the path `/embeddings`.
    batch
        The number of texts in one request.
    extra
        Further fields of each request, such as ``dict(dimensions=256)``.

    Returns
    -------
    array
        (n, d) float32, one row for each item.

    Raises
    ------
    JudgeError
        The server returns no vectors. Earlier vectors are in the cache.

    Examples
    --------
    >>> import ordhc, ordhc_judge
    >>> from ordhc_judge.testing import serve
    >>> items = ["cat", "dog", "bus", "car"]
    >>> with serve("((0,1),(2,3));", items) as server:
    ...     X = ordhc_judge.embed(items, server.url, "model")
    >>> tree = ordhc.cluster(X, similarity="cosine").replace(names=items)
    >>> ordhc.metrics.robinson_foulds(tree, "((cat,dog),(bus,car));")
    0.0
    """
    texts = Items.of(items).texts
    size = whole("batch", batch, 1)
    setup = Setup.of(
        url,
        model,
        key=key,
        headers=headers,
        concurrency=concurrency,
        rpm=rpm,
        timeout=timeout,
        retries=retries,
        cache=cache,
        optional={},
        extra=extra,
    )
    engine = Engine(setup, Budget(budget))
    try:
        return engine.run(lambda asker: _vectors(asker, texts, size, setup.extra))
    finally:
        engine.close()


async def _vectors(
    asker: Asker, texts: Sequence[str], size: int, extra: Mapping[str, Any]
) -> NDArray[np.float32]:
    base, model = asker.client.endpoint.base, asker.chat.model
    keys = {text: key_of(base, "embedding", {"model": model, "input": text, **extra}) for text in texts}
    found = asker.cache.find_vectors(list(keys.values()))
    missing = [text for text, key in keys.items() if key not in found]

    async def ask(part: list[str]) -> None:
        rows = await _asked(asker, part, extra)
        kept = {keys[text]: row.tobytes() for text, row in zip(part, rows, strict=True)}
        asker.cache.keep_vectors(kept.items())
        found.update(kept)

    await asker.at_the_same_time(ask, [missing[at : at + size] for at in range(0, len(missing), size)])
    vectors = [np.frombuffer(found[keys[text]], dtype="<f4") for text in texts]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1:
        raise JudgeError(
            f"{base}: vectors of {model} have different lengths, {', '.join(map(str, sorted(lengths)))}"
        )
    return np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)


async def _asked(asker: Asker, texts: list[str], extra: Mapping[str, Any]) -> list[NDArray[np.float32]]:
    body = {"model": asker.chat.model, "input": texts, **extra}
    tokens = sum(len(text.encode()) // 3 + 1 for text in texts)

    def used(document: Any) -> Tokens | None:
        if _rows(document, len(texts)) is None:
            return None
        asked = usage_of(document)[0]
        asker.prompt_tokens += tokens if asked is None else asked
        return (tokens if asked is None else asked), 0

    received = await asker.client.send(
        "/embeddings", body, (tokens, 0), used, lambda: None, LARGEST_REPLY + _LARGEST_VECTOR * len(texts)
    )
    rows = None if received.fault else _rows(received.document, len(texts))
    if rows is None:
        why = f"({received.fault}): {received.message}"
        raise JudgeError(f"{asker.client.endpoint.base} returns no vector for {texts[0][:60]!r} {why}")
    return rows


def _rows(document: Any, n: int) -> list[NDArray[np.float32]] | None:
    try:
        data = document["data"]
        by_index = {entry.get("index", at): entry["embedding"] for at, entry in enumerate(data)}
        table = np.array([by_index[at] for at in range(n)], dtype="<f4")
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None
    fine = len(data) == n and table.ndim == 2 and table.shape[1] > 0 and bool(np.isfinite(table).all())
    return list(table) if fine else None
