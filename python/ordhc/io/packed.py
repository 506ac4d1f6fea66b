"""Compress and decompress files: gzip, bzip2 and xz, and zstd with pyarrow."""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Literal

from ordhc.errors import InputError, MissingExtraError
from ordhc.io.paths import PACKED

#: The number of bytes at the beginning of a file that identify its format.
HEAD = 10
#: Bytes to compress or decompress at a time: some ten milliseconds, during which Ctrl-C has no effect.
BLOCK = 1 << 20


def format_of(head: bytes) -> str | None:
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # A table of text may begin with BZh, so compare the magic number of the first block, too.
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    return "zstd" if head.startswith(b"\x28\xb5\x2f\xfd") else None


def unpacking(stream: IO[bytes], packed: str | None) -> Any:
    return stream if packed is None else _opened(stream, packed, "r")


def _opened(stream: IO[bytes], packed: str, mode: Literal["r", "w"]) -> Any:
    if packed == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=stream, mode=mode, mtime=0)
    if packed == "bzip2":
        import bz2

        return bz2.BZ2File(stream, mode)
    if packed == "xz":
        import lzma

        return lzma.LZMAFile(stream, mode)
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError.of("a zstd file", "pyarrow", "parquet") from None
    make = pyarrow.CompressedInputStream if mode == "r" else pyarrow.CompressedOutputStream
    return make(pyarrow.PythonFile(stream, mode=mode), "zstd")


class _UnclosedBuffer(io.BytesIO):
    """A buffer that stays open when a compressing stream closes it, so that its content can be read."""

    def close(self) -> None:
        pass


def packed_as(data: bytes, name: str) -> bytes:
    packed = next((packed for ending, packed in PACKED.items() if name.lower().endswith(ending)), None)
    if packed is None:
        return data
    buffer = _UnclosedBuffer()
    with _opened(buffer, packed, "w") as stream:
        for start in range(0, len(data), BLOCK):
            stream.write(data[start : start + BLOCK])
    return buffer.getvalue()


@contextmanager
def damage_of(packed: str | None, name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        is_damage = isinstance(error, EOFError | OSError | zlib.error) or type(error).__name__ == "LZMAError"
        if packed is None or not is_damage:
            raise
        raise InputError(f"the {packed} file is cut or damaged: {error}", path=name) from None
