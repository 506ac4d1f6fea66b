"""Read text columns of Parquet as integer codes, and number texts in order of first appearance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.coded import Column, together
from ordhc.comparison.units import first_rows, ranked
from ordhc.errors import InputError


def of_arrow(column: Any, source: str) -> Column:
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
                reason = f"a row has the code {code}, but the dictionary has {len(texts)} texts"
                raise InputError(f"the file is damaged: {reason}", path=source)
        own = [-1 if text is None else number.setdefault(text, len(number)) for text in texts]
        indices = coded.indices.cast(pyarrow.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
        if own != list(range(len(own))):
            # A missing text has the index -1, which selects the last element, -1.
            indices = np.array([*own, -1], dtype=np.int32)[indices]
        parts.append(indices)
    return Column(list(number), np.concatenate(parts))


def is_text(kind: Any) -> bool:
    from pyarrow import types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(inner) or types.is_large_string(inner))


def numbered_texts(columns: Sequence[Column]) -> tuple[NDArray[np.int32], list[str]]:
    different, places = together(columns)
    m, width = places.shape
    first = np.full(len(different), m * width)
    for at in range(width):
        first = np.minimum(first, first_rows(places[:, at], len(different)) * width + at)
    rank, order = ranked(first, m * width)
    return rank.astype(np.int32)[places], [different[at] for at in order.tolist()]


class KnownNames:
    """The names of leaves in the batches of Parquet rows that were read so far.

    Most batches have no new names. For these, a table for each dictionary of Arrow translates codes to
    numbers, so the time per row does not depend on the length of names.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._number: dict[str, int] = {}
        #: For each column, the distinct texts of the last batch (Arrow's dictionary), and for each of these
        #: texts its index in `names`, or -1 for a text that is not in `names`.
        self._tables: dict[str, tuple[Any, NDArray[np.int32]]] = {}

    def add(self, names: Sequence[str]) -> None:
        if names is self.names or not (new := [name for name in names if name not in self._number]):
            return
        for name in new:
            self._number[name] = len(self._number)
        self.names = tuple(self._number)
        self._tables.clear()

    def rows(self, columns: dict[str, Any]) -> NDArray[np.int32] | None:
        found = []
        for name, column in columns.items():
            codes = self._codes(name, column)
            if codes is None:
                return None
            found.append(codes)
        return np.stack(found, axis=1)

    def _codes(self, name: str, column: Any) -> NDArray[np.int32] | None:
        import pyarrow

        if not self.names or column.null_count or not is_text(column.type) or column.num_chunks != 1:
            return None
        chunk = column.chunk(0)
        coded = chunk if pyarrow.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        known = self._tables.get(name)
        if known is None or not known[0].equals(coded.dictionary):
            own = [self._number.get(text, -1) for text in coded.dictionary.to_pylist()]
            known = self._tables[name] = (coded.dictionary, np.array(own, dtype=np.int32))
        # As unsigned numbers, negative codes of damaged files are too large, and raise an IndexError.
        places = coded.indices.cast(pyarrow.int32()).to_numpy().view(np.uint32)
        try:
            codes = known[1][places]
        except IndexError:
            return None
        return codes if codes.min(initial=0) >= 0 else None
