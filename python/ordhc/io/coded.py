"""Text columns of Parquet as numbers: what is done with a text is done once, not once a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.units import first_rows, ranked
from ordhc.errors import InputError

__all__ = ["Texts", "is_text", "numbered_texts"]


@dataclass(frozen=True)
class Texts:
    """A column of text.

    Attributes
    ----------
    different
        The different texts; some may have no row.
    places
        (m,) int32, the place of the text of each row in `different`, -1 for rows without text.
    """

    different: list[str]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, column: Any, source: str) -> "Texts":
        """Read a ``pyarrow.ChunkedArray`` of text; each of its chunks may have a dictionary of its own.

        Raises
        ------
        InputError
            A row whose code has no text in the dictionary, as in a damaged file.
        """
        import pyarrow
        from pyarrow.compute import min_max

        number: dict[str, int] = {}
        parts = [np.empty(0, dtype=np.int32)]
        for chunk in column.chunks:
            coded = chunk if pyarrow.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            texts = coded.dictionary.to_pylist()
            codes = min_max(coded.indices).as_py()
            for code in (codes["min"], codes["max"]):
                if code is not None and not 0 <= code < len(texts):
                    told = f"its dictionary has {len(texts)} texts, and a row the code {code}"
                    raise InputError(f"the file is damaged: {told}", path=source)
            own = [-1 if text is None else number.setdefault(text, len(number)) for text in texts]
            indices = coded.indices.cast(pyarrow.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
            if own != list(range(len(own))):
                # The index -1 means the last element.
                indices = np.array([*own, -1], dtype=np.int32)[indices]
            parts.append(indices)
        return cls(list(number), np.concatenate(parts))

    @classmethod
    def of_list(cls, texts: Sequence[str]) -> "Texts":
        """Return texts as codes."""
        number: dict[str, int] = {}
        places = [number.setdefault(text, len(number)) for text in texts]
        return cls(list(number), np.array(places, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: NDArray[Any]) -> "Texts":
        return Texts(self.different, self.places[rows])

    def objects(self) -> NDArray[np.object_]:
        """Return the text of each row, None where there is none; rows of the same text share one object."""
        return np.array([*self.different, None], dtype=object)[self.places]

    def tolist(self) -> list[Any]:
        """Return `objects` as a list."""
        found: list[Any] = self.objects().tolist()
        return found

    def filled(self) -> "Texts":
        """Return the same column with empty text for rows without text."""
        gone = self.places < 0
        if not gone.any():
            return self
        texts = self.different if "" in self.different else [*self.different, ""]
        return Texts(texts, np.where(gone, np.int32(texts.index("")), self.places))


def is_text(kind: Any) -> bool:
    """Return whether a column is text, as it is or as codes and a dictionary."""
    from pyarrow import types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(inner) or types.is_large_string(inner))


def numbered_texts(columns: Sequence[Texts]) -> tuple[NDArray[np.int32], list[str]]:
    """Return columns of text as one table of numbers, and the text of each number.

    Texts are numbered in order of first appearance, row after row. Every row must have its texts.

    Returns
    -------
    rows
        (m, w) for w columns of m rows.
    names
        The texts that occur.
    """
    m, width = len(columns[0]), len(columns)
    number: dict[str, int] = {}
    places = [
        np.array([number.setdefault(text, len(number)) for text in texts.different], dtype=np.int32)
        for texts in columns
    ]
    first = np.full(len(number), m * width)
    for at, (texts, own) in enumerate(zip(columns, places, strict=True)):
        first[own] = np.minimum(first[own], first_rows(texts.places, len(own)) * width + at)
    rank, order = ranked(first, m * width)
    rows = np.empty((m, width), dtype=np.int32)
    for at, (texts, own) in enumerate(zip(columns, places, strict=True)):
        rows[:, at] = rank[own].astype(np.int32)[texts.places]
    different = list(number)
    return rows, [different[at] for at in order.tolist()]
