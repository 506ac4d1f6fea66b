"""Pictures of leaves: read, check, scale and draw them."""

import base64
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.io.paths import checked_path
from ordhc.plotting.shapes import Rectangle, Shapes
from ordhc.plotting.truncated import Truncated
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The first bytes of the picture formats that browsers can show, and their media types.
_KINDS = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"<svg": "image/svg+xml",
    b"<?xml": "image/svg+xml",
}
#: The maximum side of pictures in pages, in pixels.
_ON_PAGES = 512
#: The number of pixels per point of pictures in figures: 300 dots per inch.
_FOR_EACH_POINT = 300 / 72
#: The limits of the size of pictures in figures, and the space for a leaf in new figures with pictures, in
#: points.
_SMALLEST, _LARGEST, ROW = 6.0, 60.0, 30.0
#: The space between a picture and the leaf or the name, in points.
_GAP = 3.0


def of_leaves(tree: Dendrogram, what: str, given: Any) -> dict[int, Any]:
    if given is None:
        return {}
    if hasattr(given, "to_dict") and not isinstance(given, Mapping):
        given = given.to_dict()
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {_checks.quoted(given)}; give a mapping by the names of leaves")
    numbers = _checks.LeafNumbers(tree.labels)
    found = {}
    for name, value in given.items():
        leaf = numbers.get(str(name))
        if leaf is None:
            raise InputError(f"{what}: {_checks.unknown_name(str(name), tree.labels)}")
        found[leaf] = value
    return found


def _content(given: Any) -> tuple[bytes, str, str]:
    """Return the bytes of a picture, its media type, and its name for messages."""
    if isinstance(given, bytes | bytearray):
        content, name = bytes(given), "bytes"
    else:
        name = checked_path(given, "pictures")
        try:
            content = Path(os.fspath(given)).read_bytes()
        except OSError as error:
            raise InputError(f"the picture cannot be read: {error.strerror}", path=name) from None
    start = content.lstrip()[:5] if content[:1] in b" \r\n\t<\xef" else content[:5]
    kind = next((kind for begin, kind in _KINDS.items() if start.startswith(begin)), None)
    if kind is None or (kind == "image/webp" and content[8:12] != b"WEBP"):
        raise InputError(f"pictures: {_checks.quoted(name)} is none of png, jpeg, gif, webp and svg")
    return content, kind, name


def data_uri(given: Any) -> str:
    content, kind, name = _content(given)
    if kind in ("image/png", "image/jpeg", "image/webp"):
        content, kind = _smaller(content, kind, name)
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _smaller(content: bytes, kind: str, name: str) -> tuple[bytes, str]:
    try:
        from PIL import Image
    except ImportError:
        return content, kind
    try:
        with Image.open(io.BytesIO(content)) as image:
            if max(image.size) <= _ON_PAGES or getattr(image, "is_animated", False):
                return content, kind
    except Exception:
        # Pillow cannot read this file, but browsers may be able to show it.
        return content, kind
    made, buffer = _opened(content, name, _ON_PAGES), io.BytesIO()
    is_photo = kind == "image/jpeg"
    made.convert("RGB" if is_photo else "RGBA").save(buffer, "JPEG" if is_photo else "PNG", quality=85)
    return buffer.getvalue(), "image/jpeg" if is_photo else "image/png"


def _opened(content: bytes, name: str, most: int) -> Any:
    from PIL import Image, ImageOps

    try:
        image: Any = Image.open(io.BytesIO(content))
        # Decode large jpegs at a smaller scale, which takes a fraction of the time and memory.
        image.draft(None, (2 * most, 2 * most))
        image = ImageOps.exif_transpose(image).convert("RGBA")
        image.thumbnail((most, most), Image.Resampling.LANCZOS)
    except Exception as error:
        # Pillow raises many kinds of errors for damaged files.
        told = _checks.quoted(str(error), 80)
        raise InputError(f"pictures: {_checks.quoted(name)} cannot be decoded: {told}") from None
    return image


def pictures_of(tree: Dendrogram, given: Any) -> dict[int, tuple[bytes, str]]:
    found = {}
    for leaf, value in of_leaves(tree, "pictures", given).items():
        content, kind, name = _content(value)
        if kind == "image/svg+xml":
            raise InputError(
                f"pictures: {_checks.quoted(name)} is svg, which only pages (.html) can show; "
                "convert it to png"
            )
        found[leaf] = content, name
    return found


def size_of_pictures(drawn: Truncated, shapes: Shapes, breadth: float, tallness: float) -> float:
    """Return the side of the square for a picture, in points.

    `breadth` and `tallness` are the width and the height of the axes, in points.
    """
    if isinstance(shapes, Rectangle):
        row = (tallness if shapes.sideways else breadth) / drawn.width
    else:
        # Pictures are on a circle, which is smaller than the axes so that there is space on both sides.
        side = 0.7 * min(breadth, tallness)
        row = 3.14 * side / (drawn.width + 3.14)
    return min(max(0.86 * row, _SMALLEST), _LARGEST)


def draw_pictures(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    pictures: Mapping[int, tuple[bytes, str]],
    size: float,
    columns: int,
) -> float:
    """Draw pictures at the tips that are single leaves; return the space from the leaves to their names.

    Pictures and space are in points, so that they do not depend on the final size of the axes.
    """
    import numpy as np
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    for tip in drawn.tips:
        leaf = int(drawn.order[tip.first])
        if tip.size > 1 or leaf not in pictures:
            continue
        image = _opened(*pictures[leaf], max(int(size * _FOR_EACH_POINT), 8))
        at = shapes.label(tip, columns)
        right, up = at.direction
        # Half the width of an upright square in this direction.
        shift = size / 2 * (abs(right) + abs(up)) + _GAP
        box = AnnotationBbox(
            OffsetImage(np.asarray(image), zoom=size / max(image.size), resample=True),
            (at.x, at.y),
            xybox=(shift * right, shift * up),
            boxcoords="offset points",
            frameon=False,
            pad=0,
            annotation_clip=False,
        )
        box.set_gid(f"ordhc-picture-{leaf}")
        ax.add_artist(box)
    return size + 2 * _GAP
