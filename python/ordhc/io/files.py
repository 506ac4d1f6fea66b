"""Files as bytes, in and out, whatever they are."""

import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from ordhc.errors import InputError

Source = str | os.PathLike[str] | IO[Any]

STDIO = "-"


def name_of(source: Source) -> str:
    """What to call a source in messages."""
    if hasattr(source, "read"):
        return str(getattr(source, "name", "the stream"))
    return "standard input" if os.fspath(source) == STDIO else os.fspath(source)


def suffix_of(source: Source, known: tuple[str, ...]) -> str:
    """The ending of a file's name that is known, without `.gz`; empty if none is."""
    name = name_of(source).lower().removesuffix(".gz")
    return next((suffix for suffix in known if name.endswith(suffix)), "")


def read_bytes(source: Source) -> bytes:
    """Everything in a file, standard input ("-") or an open stream; gzip is unpacked."""
    name = name_of(source)
    if hasattr(source, "read"):
        content = source.read()
        data = content.encode() if isinstance(content, str) else bytes(content)
    elif os.fspath(source) == STDIO:
        data = sys.stdin.buffer.read()
    else:
        path = Path(source)
        if path.is_dir():
            raise InputError(f"{name}: is a folder, not a file")
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(f"{name}: there is no such file") from None
    if data[:2] == b"\x1f\x8b":
        import zlib

        try:
            data = _unpacked(data)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{name}: the gzip file is cut or damaged: {error}") from None
    return data


# gzip takes this much at a time: some ten milliseconds in which no signal arrives.
_BLOCK = 1 << 20


def _unpacked(data: bytes) -> bytes:
    import gzip
    import io

    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return b"".join(iter(lambda: file.read(_BLOCK), b""))


def _packed(data: bytes) -> bytes:
    import gzip
    import io

    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        for start in range(0, len(data), _BLOCK):
            file.write(data[start : start + _BLOCK])
    return buffer.getvalue()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now if a file could not be written later; "-" always can."""
    if os.fspath(path) == STDIO:
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise InputError(f"{target}: is a folder, not a file")
    if not folder.is_dir():
        raise InputError(f"{target}: there is no folder {folder}")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise InputError(f"{target}: cannot be written")


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file or nothing of it; "-" is standard output, `.gz` is packed."""
    if os.fspath(path) == STDIO:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    check_writable(path)
    target = Path(path)
    if target.name.lower().endswith(".gz"):
        data = _packed(data)
    if target.exists() and not target.is_file():
        # A device or a pipe is written to, not replaced.
        target.write_bytes(data)
        return
    target = target.resolve()
    if not os.access(target.parent, os.W_OK):
        target.write_bytes(data)
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def text_of(data: bytes, name: str) -> str:
    """UTF-8 text, or an error that names line and offset."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name}:{line}: not UTF-8 text (byte {data[error.start]:#04x} at offset {error.start})"
        ) from None
