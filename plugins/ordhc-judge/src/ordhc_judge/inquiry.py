"""Ask each question in several orders of its items, and combine the replies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.progress import Progress
from ordhc_judge.engine import Engine
from ordhc_judge.items import Items
from ordhc_judge.prompt import Template
from ordhc_judge.questions import FAILED, Replies, combined, orders_of
from ordhc_judge.replies import Reply

_PART = 4096


class Inquiry:
    """Questions to a language model about which of three items is the odd one out.

    Each question is asked in several orders of its items.

    Attributes
    ----------
    counts
        The number of questions by their result, such as "answered" or "disagreed".
    named
        (4,) counts of the replies. `named[0]` counts the reply that no item is odd. `named[1]` to `named[3]`
        count the replies that the first, the second and the third item shown is odd.
    """

    def __init__(self, items: Items, template: Template, times: int, agree: str, engine: Engine) -> None:
        self._texts, self._template, self._times = items.texts, template, times
        self._agree, self._engine = agree, engine
        self.counts: Counter[str] = Counter()
        self.named = np.zeros(4, dtype=np.int64)

    def ask(
        self, rows: NDArray[np.int64], progress: Progress | None
    ) -> tuple[NDArray[np.int8], NDArray[np.float64], Replies]:
        """Return the answers to (m, 3) questions, the weights, and the replies to all prompts.

        A question has one prompt for each order in which its items are shown. A question that occurs several
        times is asked once. The weight is the mean probability of the answer, or NaN if unknown.
        """
        order = np.argsort(rows, axis=1, kind="stable")
        triples, inverse = np.unique(np.take_along_axis(rows, order, axis=1), axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        parts = [self._batch(triples[:0], None)]
        for at in range(0, len(triples), _PART):
            on_tick = None if progress is None else _part_of_progress(progress, at, len(triples), self._times)
            parts.append(self._batch(triples[at : at + _PART], on_tick))
        odd, weights, said, places = (np.concatenate(each)[inverse] for each in zip(*parts, strict=True))
        return _in_order(odd, order), weights, Replies(_in_order(said, order), _columns(places, order))

    def _batch(
        self, triples: NDArray[np.int64], on_tick: Any
    ) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int8], NDArray[np.int8]]:
        """Ask (m, 3) questions whose leaves are sorted.

        Return the answers, the weights, and two arrays: the items that the replies name (`Replies.said`) and
        the positions of the items in the prompts (`Replies.places`). `on_tick` receives the number of replies
        so far.
        """
        times, texts = self._times, self._texts
        said = np.full((len(triples), times), FAILED, dtype=np.int8)
        shares = np.full((len(triples), times, 4), math.nan)
        orders = np.zeros((len(triples), times, 3), dtype=np.int8)
        for at, leaves in enumerate(triples.tolist()):
            orders[at] = orders_of([texts[leaf] for leaf in leaves], leaves, times)

        def prompts() -> Iterator[tuple[tuple[int, int], list[dict[str, str]]]]:
            for at, leaves in enumerate(triples.tolist()):
                for time in range(times):
                    shown = [texts[leaves[place]] for place in orders[at, time].tolist()]
                    yield (at, time), self._template.messages(shown)

        n_done = 0

        def done(name: tuple[int, int], reply: Reply) -> None:
            nonlocal n_done
            n_done += 1
            if reply.said is None:
                return
            self.named[reply.said] += 1
            said[name] = -1 if reply.said == 0 else orders[name][reply.said - 1]
            if reply.probabilities is not None:
                shares[name][orders[name]] = reply.probabilities[1:]

        if len(triples):
            self._engine.ask_all(prompts(), done, None if on_tick is None else lambda: on_tick(n_done))
        answers, agreed, failed = combined(said, self._agree)
        self._count(answers, agreed, failed)
        mean = shares.mean(axis=1)[np.arange(len(triples)), np.maximum(answers, 0)]
        weights = np.where(answers < 0, math.nan, mean)
        return answers, weights, said, (np.argsort(orders, axis=2) + 1).astype(np.int8)

    def _count(self, answers: NDArray[np.int8], agreed: NDArray[np.bool_], failed: NDArray[np.bool_]) -> None:
        counted = {
            "questions": len(answers),
            "answered": int((answers >= 0).sum()),
            "agreed": int(agreed.sum()),
            "none": int((agreed & (answers < 0)).sum()),
            "failed": int((failed & (answers < 0)).sum()),
            "complete": int((~failed).sum()),
            "disagreed": int((~agreed & ~failed & (answers < 0)).sum()),
        }
        self.counts.update(counted)


def _in_order(places: NDArray[np.int8], order: NDArray[np.int64]) -> NDArray[np.int8]:
    """Convert positions in questions with sorted leaves to positions in the original questions.

    Negative values, which mean "none" or a missing reply, are kept. `order` is the argsort of the leaves in
    each original question.
    """
    flat = (places if places.ndim == 2 else places[:, None]).astype(np.int64)
    found = np.take_along_axis(order, np.maximum(flat, 0), axis=1)
    return np.where(flat < 0, flat, found).astype(np.int8).reshape(places.shape)


def _columns(shown: NDArray[np.int8], order: NDArray[np.int64]) -> NDArray[np.int8]:
    found = np.empty_like(shown)
    np.put_along_axis(found, np.broadcast_to(order[:, None, :], shown.shape), shown, axis=2)
    return found


def _part_of_progress(progress: Progress, before: int, total: int, times: int) -> Any:
    return lambda done: progress(min((before + done / times) / max(total, 1), 1.0))
