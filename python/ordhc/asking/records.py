"""Find rows of tables in the bytes of a damaged SQLite file.

The format is described at https://www.sqlite.org/fileformat.html.
"""

import struct
from collections.abc import Iterator
from typing import Any

from ordhc._progress import Progress

#: The first byte of a leaf page of a table's B-tree; leaf pages contain the rows.
_LEAF = 0x0D
#: The number of bytes of an integer, by its serial type: SQLite's number for the type and size of a value.
_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

#: The rowid and the values of a row.
Record = tuple[int | None, tuple[Any, ...]]


def records(data: bytes, progress: Progress | None = None) -> Iterator[Record]:
    """Yield the rowid and the values of everything that looks like a row; the caller must check them.

    In an intact leaf page the rows are found by the page's cell pointers. In any other page each byte is
    tried as the start of a row. Overflow pages of long rows are followed by their page numbers.
    """
    size = _page_size(data)
    for start in range(0, len(data), size):
        if progress is not None:
            progress(start / len(data))
        page = data[start : start + size]
        head = 100 if start == 0 else 0
        cells = _cells(page, head)
        found = [_record(data, page, at, size) for at in cells]
        if not (cells and all(found)):
            found = [_record(data, page, at, size) for at in range(len(page) - 3)] if any(page) else []
        yield from filter(None, found)


def _page_size(data: bytes) -> int:
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    # If the header is damaged, assume 4096, SQLite's default page size.
    return size if size >= 512 and size & (size - 1) == 0 and len(data) % size == 0 else 4096


def _cells(page: bytes, head: int) -> list[int]:
    if len(page) < head + 8 or page[head] != _LEAF:
        return []
    count = int.from_bytes(page[head + 3 : head + 5], "big")
    end = head + 8 + 2 * count
    return list(struct.unpack_from(f">{count}H", page, head + 8)) if end <= len(page) else []


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for end in range(at + 1, at + 9):
        byte = page[end - 1]
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, end
    return (value << 8) | page[at + 8], at + 9


def _record(data: bytes, page: bytes, at: int, size: int) -> Record | None:
    """Return the row at position `at` of a page; None if these bytes cannot be a row of a session file."""
    try:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        if not 3 <= length <= len(data) or rowid >= 1 << 48:
            return None
        payload = _payload(data, page, at, length, size)
        end, place = _varint(payload, 0)
        if not 2 <= end <= min(length, 64):
            return None
        kinds = []
        while place < end:
            kind, place = _varint(payload, place)
            kinds.append(kind)
        if not 2 <= len(kinds) <= 13:
            return None
        values: list[Any] = []
        for kind in kinds:
            value, place = _value(payload, kind, place)
            values.append(value)
        # SQLite stores an integer primary key as NULL in the row; its value is the rowid.
        return (rowid, tuple(values)) if place == length else None
    except (IndexError, ValueError, struct.error):
        return None


def _payload(data: bytes, page: bytes, at: int, length: int, size: int) -> bytes:
    # The largest and the smallest number of bytes that SQLite keeps in a leaf page of this size.
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        if at + length > len(page):
            raise IndexError
        return page[at : at + length]
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts = [page[at : at + local]]
    following = int.from_bytes(page[at + local : at + local + 4], "big")
    left = length - local
    while left > 0:
        start = (following - 1) * size
        if following < 1 or start >= len(data):
            raise IndexError
        part = data[start + 4 : start + 4 + min(left, size - 4)]
        following = int.from_bytes(data[start : start + 4], "big")
        parts.append(part)
        if not part:
            raise IndexError
        left -= len(part)
    return b"".join(parts)


def _value(payload: bytes, kind: int, at: int) -> tuple[Any, int]:
    """Return the value that begins at byte `at` of a row, and the position after the value.

    `kind` is SQLite's serial type: the number that encodes the type and the size of a value.
    """
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind in _SIZES:
        end = at + _SIZES[kind]
        value: Any = int.from_bytes(payload[at:end], "big", signed=True)
    elif kind == 7:
        end = at + 8
        (value,) = struct.unpack(">d", payload[at:end])
    elif kind >= 13 and kind % 2:
        end = at + (kind - 13) // 2
        value = payload[at:end].decode()
    else:
        raise ValueError(kind)
    if end > len(payload):
        raise IndexError
    return value, end
