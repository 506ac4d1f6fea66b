"""Read and write whole files, URLs and standard streams as bytes; compressed files are unpacked."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.io.guard import reading
from ordhc.io.packed import BLOCK, HEAD, damage_of, format_of, packed_as, unpacking
from ordhc.io.paths import SPOOLED, STDIO, Source, brief, is_remote, name_of
from ordhc.io.remote import Remote

#: The default of ORDHC_MAX_UNPACKED, in bytes.
MAX_UNPACKED = 1 << 30


def state_of(path: str) -> tuple[int, Any]:
    """Return the size of a file or URL in bytes (0 if unknown), and its version."""
    if isinstance(path, Remote):
        return path.state()
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        raise FileNotFoundError(f"{name_of(path)}: there is no such file") from None
    return found.st_size, found.st_mtime_ns


def opened(path: str) -> IO[bytes]:
    return path.open() if isinstance(path, Remote) else Path(path).open("rb")


def read_bytes(source: Source) -> bytes:
    """Return all bytes of a file, a URL, standard input ("-") or a stream, unpacked if compressed."""
    name, is_url = name_of(source), is_remote(source)
    with reading(name, "a file"):
        if hasattr(source, "read"):
            content = source.read()
            data = content.encode() if isinstance(content, str) else bytes(content)
        elif os.fspath(source) == STDIO:
            if sys.stdin is None or sys.stdin.closed:
                raise InputError("standard input is closed")
            data = sys.stdin.buffer.read()
        elif is_url:
            with opened(source if isinstance(source, Remote) else Remote(str(source), {})) as stream:
                data = stream.read()
        else:
            path = Path(source)
            if path.is_dir():
                raise InputError("is a folder, not a file", path=name)
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                raise FileNotFoundError(f"{name}: there is no such file") from None
        packed = format_of(data[:HEAD])
        return data if packed is None else _unpacked(data, packed, name)


class _Input(io.BytesIO):
    name = "standard input"


def standard_input(folder: Callable[[], Path], at_once: int) -> Source:
    """Return standard input as a stream; if it has more than `at_once` bytes, return the path of a copy.

    The copy is a file in the folder that `folder` returns. JSON is always a stream.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed")
    data = sys.stdin.buffer.read(at_once + 1)
    # Copy long input to a file, which the caller reads block by block. Do not copy JSON, because JSON cannot
    # be read in blocks.
    if len(data) <= at_once or data.lstrip()[:1] in (b"[", b"{"):
        return _Input(data + sys.stdin.buffer.read())
    path = folder() / SPOOLED
    with path.open("wb") as file:
        file.write(data)
        shutil.copyfileobj(sys.stdin.buffer, file, BLOCK)
    return str(path)


def read_content(source: Source) -> bytes:
    """Return all bytes of a file as `read_bytes` does; an empty file is an error."""
    data = read_bytes(source)
    if not data or data.isspace():
        raise InputError("the file is empty", path=name_of(source))
    return data


def max_unpacked() -> int:
    """Return the maximum number of bytes that a compressed file can unpack to (ORDHC_MAX_UNPACKED)."""
    given = os.environ.get("ORDHC_MAX_UNPACKED", "").strip().upper().removesuffix("B").removesuffix("I")
    if not given:
        return MAX_UNPACKED
    power = "KMGT".find(given[-1]) + 1
    digits = given[:-1] if power else given
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise InputError(f"ORDHC_MAX_UNPACKED is {brief(given, 40)}; give a number of bytes, such as 8G")
    return int(digits) << 10 * power


def check_unpacked(size: int, name: str) -> None:
    limit = max_unpacked()
    if size > limit:
        raise InputError(
            f"unpacks to more than {limit:,} bytes; to read it, set ORDHC_MAX_UNPACKED to a limit such as 8G",
            path=name,
        )


def _unpacked(data: bytes, packed: str, name: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    with damage_of(packed, name):
        stream = unpacking(io.BytesIO(data), packed)
        while part := stream.read(BLOCK):
            parts.append(part)
            size += len(part)
            check_unpacked(size, name)
    return b"".join(parts)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `InputError` if a file cannot be written, before long work begins; "-" is standard output."""
    if os.fspath(path) == STDIO:
        if sys.stdout is None or sys.stdout.closed:
            raise InputError("standard output is closed")
        return
    target, reason = Path(path), None
    folder = target.parent
    if "\0" in os.fspath(path):
        reason = "the file's name has a NUL character, which is not allowed"
    elif target.is_dir():
        reason = "is a folder, not a file"
    elif not folder.is_dir():
        reason = f"there is no folder {brief(str(folder), 100)}"
    elif not os.access(target if target.exists() else folder, os.W_OK):
        reason = "cannot be written"
    if reason is not None:
        raise InputError(reason, path=name_of(path))


def check_outputs_apart(
    outputs: Iterable[str | os.PathLike[str] | None], inputs: Iterable[str | os.PathLike[str] | None] = ()
) -> None:
    """Raise `InputError` if an output is the same file as an input or another output.

    Different paths and links to the same file are recognised. "-" as an input is standard input, which may
    come from a file.
    """
    read = [(os.fspath(path), _identity(path)) for path in inputs if path is not None]
    written: list[tuple[str, Any]] = []
    for path in outputs:
        if path is None:
            continue
        name, which = os.fspath(path), _identity(path, output=True)
        if which is None:
            continue
        for other, found in read:
            if found == which:
                also = "" if other == name else f" ({name_of(other)})"
                raise InputError(f"is an input{also}; writing there would destroy it", path=name_of(path))
        for other, found in written:
            if found == which:
                also = "" if other == name else f", also as {name_of(other)}"
                raise InputError(f"{name_of(path)} is given for two outputs{also}")
        written.append((name, which))


def _identity(path: str | os.PathLike[str], *, output: bool = False) -> Any:
    """Return a file's device and inode, or the resolved path if the file does not exist.

    Devices and pipes give None, and standard output gives "-". An input "-" means the file from which
    standard input comes.
    """
    try:
        if os.fspath(path) == STDIO:
            if output:
                return STDIO
            found = os.fstat(sys.stdin.fileno())
        else:
            found = Path(path).stat()
    except (OSError, ValueError, AttributeError):
        return None if os.fspath(path) == STDIO else str(Path(os.path.realpath(path)))
    # Writing to a device or pipe cannot destroy an input, so it needs no identity.
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file completely or not at all; "-" is standard output.

    Endings such as `.gz` compress the data. On a terminal, control characters are escaped; files and pipes
    receive them unchanged.
    """
    check_writable(path)
    if os.fspath(path) == STDIO:
        shown = _escaped(data) if sys.stdout.isatty() else data
        sys.stdout.flush()
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            # In notebooks, and as an io.StringIO, standard output accepts text but no bytes.
            sys.stdout.write(shown.decode("utf-8", "surrogateescape"))
            return
        binary.write(shown)
        binary.flush()
        return
    target = Path(path)
    data = packed_as(data, target.name)
    if target.exists() and not target.is_file():
        # A device or a pipe must not be replaced by a file.
        target.write_bytes(data)
        return
    target = target.resolve()
    if not os.access(target.parent, os.W_OK):
        target.write_bytes(data)
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _escaped(data: bytes) -> bytes:
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return data
    return "\n".join("\t".join(map(_checks.on_one_line, line.split("\t"))) for line in lines).encode()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


SAVE_AS_UTF8 = "; in Excel save it as CSV UTF-8, or: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW (Latin-1 too)"


def text_of(data: bytes, name: str) -> str:
    """Return UTF-8 data as text; raise `InputError` with the line and the offset of an invalid byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"not UTF-8 text (byte {data[error.start]:#04x} at offset {error.start}){SAVE_AS_UTF8}",
            path=name,
            line=line,
        ) from None
