"""Read the descriptions of columns in the footer of a Parquet file.

If a file is damaged, pyarrow usually raises an error. But if the footer contradicts itself, pyarrow's
``metadata.row_group(i).column(j)`` ends the whole process, because it does not catch an exception of C++. So
this module itself reads the facts that are needed before columns are read. The footer is a structure
``FileMetaData`` of ``parquet.thrift`` in Thrift's compact protocol. The field numbers in this file are those
of ``parquet.thrift``.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_ENCODINGS = {
    0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 8: "RLE_DICTIONARY", 9: "BYTE_STREAM_SPLIT",
}  # fmt: skip
#: The maximum depth of nested structures. Parquet needs nine.
_DEEPEST = 32


@dataclass(frozen=True)
class ColumnChunk:
    """A column of one row group: name, encodings, unpacked size in bytes, and statistics."""

    name: str
    encodings: frozenset[str]
    size: int
    #: The number of missing values, and the bytes of the minimum and the maximum; None if not in the footer.
    n_missing: int | None
    smallest: bytes | None
    largest: bytes | None


@dataclass(frozen=True)
class RowGroup:
    """A row group: its number of rows, and its columns."""

    n_rows: int
    columns: tuple[ColumnChunk, ...]


def row_groups_of(file: Any) -> tuple[RowGroup, ...]:
    """Return the row groups of a file, a ``pyarrow.NativeFile`` that pyarrow could open.

    A footer that does not follow the format raises ``pyarrow.ArrowInvalid``.
    """
    import pyarrow

    try:
        size = file.size()
        (length,) = struct.unpack("<I", file.read_at(8, size - 8)[:4])
        return _row_groups(bytes(file.read_at(length, size - 8 - length)))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise pyarrow.ArrowInvalid("its footer is damaged") from error


# `ordhc.scan` opens a file again for each row group, and so needs the same footer again.
@lru_cache(maxsize=4)
def _row_groups(footer: bytes) -> tuple[RowGroup, ...]:
    found = _Compact(footer).structure(0)
    groups = tuple(
        RowGroup(_count(group[3]), tuple(_column(column[3]) for column in group[1])) for group in found[4]
    )
    if _count(found[3]) != sum(group.n_rows for group in groups):
        raise ValueError("the row groups do not have as many rows as the file")
    return groups


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("not a number of rows, values or bytes")
    return value


def _column(found: dict[int, Any]) -> ColumnChunk:
    statistics = found.get(12, {})
    return ColumnChunk(
        ".".join(part.decode() for part in found[3]),
        frozenset(_ENCODINGS.get(code, "unknown") for code in found[2]),
        _count(found[6]),
        _count(statistics[3]) if 3 in statistics else None,
        statistics.get(6),
        statistics.get(5),
    )


class _Compact:
    """A reader of Thrift's compact protocol: a structure becomes a dict from field numbers to values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise ValueError("the data end within a value")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def _unsigned(self) -> int:
        value = shift = 0
        while shift < 64:
            (byte,) = self._take(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number of more than 64 bits")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def structure(self, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("structures are nested too deeply")
        found: dict[int, Any] = {}
        field = 0
        while head := self._take(1)[0]:
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            # For a bool field, the type is also the value (1 is true). In lists, a byte has the value.
            found[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                return self._take(1) == b"\x01"
            case 3:
                return self._take(1)[0]
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return struct.unpack("<d", self._take(8))[0]
            case 8:
                return self._take(self._unsigned())
            case 9 | 10:
                head = self._take(1)[0]
                count = self._unsigned() if head >> 4 == 15 else head >> 4
                return [self._value(head & 15, depth + 1) for _ in range(count)]
            case 11:
                count = self._unsigned()
                kinds = self._take(1)[0] if count else 0
                return [
                    (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1))
                    for _ in range(count)
                ]
            case 12:
                return self.structure(depth + 1)
            case 13:
                return self._take(16)
        raise ValueError(f"the type {kind} is unknown")
