"""Packed files: gzip, bzip2 and xz, and zstd with pyarrow."""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ordhc.errors import InputError, MissingExtraError

__all__ = ["BLOCK", "ENDINGS", "HEAD", "damage_of", "format_of", "packed_as", "unpacking", "without_ending"]

#: The endings of names of packed files.
ENDINGS = (".gz", ".bz2", ".xz", ".zst")
#: The number of bytes that tell a format.
HEAD = 10
#: Bytes that are packed or unpacked at a time: some ten milliseconds in which no signal arrives.
BLOCK = 1 << 20


def format_of(head: bytes) -> str | None:
    """Return the format of a packed file that begins with these bytes, or None for other files."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # A table may begin with BZh; the next bytes are those of the first block.
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    return "zstd" if head.startswith(b"\x28\xb5\x2f\xfd") else None


def unpacking(stream: IO[bytes], packed: str | None) -> Any:
    """Return a stream of the unpacked bytes of a stream; the stream itself if it is not packed."""
    if packed == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=stream)
    if packed == "bzip2":
        import bz2

        return bz2.BZ2File(stream)
    if packed == "xz":
        import lzma

        return lzma.LZMAFile(stream)
    if packed == "zstd":
        pyarrow = _pyarrow()
        return pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")
    return stream


class _Kept(io.BytesIO):
    """A buffer that a packing stream does not close."""

    def close(self) -> None:
        pass


def packed_as(data: bytes, name: str) -> bytes:
    """Return data packed by the ending of a file's name, or as they are if it has no such ending."""
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    if ending is None:
        return data
    buffer = _Kept()
    with _packing(buffer, ending) as stream:
        for start in range(0, len(data), BLOCK):
            stream.write(data[start : start + BLOCK])
    return buffer.getvalue()


def _packing(buffer: IO[bytes], ending: str) -> Any:
    if ending == ".gz":
        import gzip

        return gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2File(buffer, "wb")
    if ending == ".xz":
        import lzma

        return lzma.LZMAFile(buffer, "wb")
    pyarrow = _pyarrow()
    return pyarrow.CompressedOutputStream(pyarrow.PythonFile(buffer, mode="w"), "zstd")


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError.of("a zstd file", "pyarrow", "parquet") from None
    return pyarrow


@contextmanager
def damage_of(packed: str | None, name: str) -> Iterator[None]:
    """Say that a packed file is cut or damaged, if reading it in the block fails."""
    try:
        yield
    except Exception as error:
        is_damage = isinstance(error, EOFError | OSError | zlib.error) or type(error).__name__ == "LZMAError"
        if packed is None or not is_damage:
            raise
        raise InputError(f"the {packed} file is cut or damaged: {error}", path=name) from None


def without_ending(name: str) -> str:
    """Return a name in lower case without the ending of a packed file."""
    name = name.lower()
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)
