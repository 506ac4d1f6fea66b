"""Make smaller copies of pictures for small screens, and check pictures for damage."""

import hashlib
import io
import threading
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError, features

from ordhc_collect.study.media import has_copies

#: The widths of copies in pixels. A browser loads the copy that fits its screen.
WIDTHS = (320, 640, 1280, 2560)
#: The number of the EXIF directory with the place where a photo was taken.
_GPS = 0x8825
_ERRORS = (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning)
#: The width of a phone's window in CSS pixels, and the number of screen pixels per CSS pixel.
_PHONE, _DENSITY = 390, 3


def _shares(picture_size: int | None) -> tuple[int, int]:
    """Return the width of a picture as a percentage of the window's width, and its maximum in CSS pixels.

    Without a given size, pictures on phones are about half as wide as the window, so that all pictures of a
    question are visible at once.
    """
    return (54, 384) if picture_size is None else (90, picture_size)


def sizes_of(picture_size: int | None) -> str:
    """Return the HTML attribute `sizes` of pictures, from which browsers choose a copy."""
    share, most = _shares(picture_size)
    return f"min({share}vw, {most}px)"


def phone_bytes(path: Path, picture_size: int | None) -> int:
    """Return the number of bytes that a phone with a sharp screen loads for a picture."""
    share, most = _shares(picture_size)
    needed = min(share / 100 * _PHONE, most) * _DENSITY
    for width in widths_of(path)[:-1]:
        if width >= needed:
            return len(copy_of(path, width))
    return path.stat().st_size


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """Open a picture; raise one of `_ERRORS` if it has too many pixels, as in a decompression bomb."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            yield image


def _is_turned(image: Image.Image) -> bool:
    return bool(image.getexif().get(0x0112, 1) >= 5)


def widths_of(path: Path) -> tuple[int, ...]:
    """Return the widths of the copies of a picture, then its own width; empty if there are no copies."""
    if not has_copies(path):
        return ()
    try:
        with _opened(path) as image:
            width = image.height if _is_turned(image) else image.width
            is_moving = getattr(image, "is_animated", False)
    except _ERRORS:
        return ()
    smaller = tuple(each for each in WIDTHS if each < width)
    return (*smaller, width) if smaller and not is_moving else ()


def copy_of(path: Path, width: int) -> bytes:
    """Return a copy of a picture with a smaller width, in the same format and without EXIF data."""
    with _opened(path) as image:
        kind, profile = image.format or "PNG", image.info.get("icc_profile")
        across, down = image.size if not _is_turned(image) else image.size[::-1]
        # JPEG files can be decoded at a half or less of their size, which is much faster.
        image.draft(image.mode, (2 * width, max(1, 2 * width * image.height // image.width)))
        turned = ImageOps.exif_transpose(image)
        if turned.mode == "P":
            turned = turned.convert("RGBA")
        small = turned.resize((width, max(1, round(down * width / across))), Image.Resampling.LANCZOS)
        found = io.BytesIO()
        options = {"quality": 85, "icc_profile": profile} if kind != "PNG" else {"icc_profile": profile}
        small.info.clear()
        small.save(found, format=kind, **options)
        return found.getvalue()


def flaw_of(path: Path) -> str | None:
    """Decode a picture, and return a description of its damage; None if it is intact."""
    if path.suffix.lower() == ".svg":
        try:
            root = ElementTree.parse(path).getroot()
        except (ElementTree.ParseError, ValueError) as error:
            return f"is a damaged picture: {error}"
        return None if root.tag.rpartition("}")[2] == "svg" else "is not an SVG picture"
    try:
        with _opened(path) as image:
            image.load()
    except UnidentifiedImageError:
        if path.suffix.lower() == ".avif" and not features.check("avif"):
            return None
        return "is not a picture that browsers can show"
    except _ERRORS as error:
        return f"is a damaged picture: {error}"
    return None


def has_location(path: Path) -> bool:
    """Return True if a photo contains the place where it was taken (GPS data in EXIF)."""
    if path.suffix.lower() == ".svg":
        return False
    try:
        with _opened(path) as image:
            return bool(image.getexif().get_ifd(_GPS))
    except _ERRORS:
        return False


class Copies:
    """The copies of a study's pictures, in a folder; a copy is made when it is first requested."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def get(self, path: Path, width: int) -> Path:
        """Return the path of the copy with this width; the path of the picture if no copy can be made."""
        name = hashlib.sha256(f"{path} {path.stat().st_mtime_ns} {width}".encode()).hexdigest()
        copy = self._folder / f"{name}{path.suffix.lower()}"
        if copy.is_file():
            return copy
        if width not in widths_of(path)[:-1]:
            return path
        # One picture at a time, so that copies use one processor core at most.
        with self._lock:
            if not copy.is_file():
                try:
                    data = copy_of(path, width)
                except _ERRORS:
                    return path
                new = copy.with_suffix(".new")
                new.write_bytes(data)
                new.replace(copy)
        return copy
