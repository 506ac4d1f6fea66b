"""Read the descriptions of columns in the footer of a Parquet file.

pyarrow opens and reads damaged files with an error, but its ``metadata.row_group(i).column(j)`` ends the
whole process where a footer contradicts itself: no exception of C++ is caught there. Facts that are needed
before columns are read are therefore parsed from the footer's bytes. They are a structure
``FileMetaData`` of ``parquet.thrift`` in Thrift's compact protocol; numbers of fields in this file are the
numbers given there.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_ENCODINGS = {
    0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 8: "RLE_DICTIONARY", 9: "BYTE_STREAM_SPLIT",
}  # fmt: skip
#: Structures may stand in each other to this depth; those of Parquet to nine.
_DEEPEST = 32


@dataclass(frozen=True)
class ColumnChunk:
    """A column of one row group: name, encodings, size in bytes when unpacked, and what statistics say."""

    name: str
    encodings: frozenset[str]
    size: int
    #: How many values are missing, and the bytes of the smallest and the largest value; None if not said.
    n_missing: int | None
    smallest: bytes | None
    largest: bytes | None


@dataclass(frozen=True)
class RowGroup:
    """Some rows of a file."""

    n_rows: int
    columns: tuple[ColumnChunk, ...]


def row_groups_of(file: Any) -> tuple[RowGroup, ...]:
    """Return the row groups of a file that pyarrow could open.

    Parameters
    ----------
    file
        A ``pyarrow.NativeFile``.

    Raises
    ------
    pyarrow.ArrowInvalid
        The footer isn't what the format asks for.
    """
    import pyarrow

    try:
        size = file.size()
        (length,) = struct.unpack("<I", file.read_at(8, size - 8)[:4])
        return _row_groups(bytes(file.read_at(length, size - 8 - length)))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise pyarrow.ArrowInvalid("its footer is damaged") from error


# Each row group of a file that is scanned opens it again.
@lru_cache(maxsize=4)
def _row_groups(footer: bytes) -> tuple[RowGroup, ...]:
    found = _Compact(footer).structure(0)
    groups = tuple(
        RowGroup(_count(group[3]), tuple(_column(column[3]) for column in group[1])) for group in found[4]
    )
    if _count(found[3]) != sum(group.n_rows for group in groups):
        raise ValueError("the row groups have other rows than the file")
    return groups


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("not a number of rows, values or bytes")
    return value


def _column(found: dict[int, Any]) -> ColumnChunk:
    told = found.get(12, {})
    return ColumnChunk(
        ".".join(part.decode() for part in found[3]),
        frozenset(_ENCODINGS.get(code, "unknown") for code in found[2]),
        _count(found[6]),
        _count(told[3]) if 3 in told else None,
        told.get(6),
        told.get(5),
    )


class _Compact:
    """Thrift's compact protocol: a structure is a dict from the numbers of its fields to their values."""

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
        """Read fields up to the byte 0 that ends them."""
        if depth > _DEEPEST:
            raise ValueError("structures within structures without end")
        found: dict[int, Any] = {}
        field = 0
        while head := self._take(1)[0]:
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            # A field's type says whether it is true; in lists, a byte does.
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
        raise ValueError(f"no type has the number {kind}")
