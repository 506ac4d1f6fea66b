"""Media files of pages: their types, a check of pictures, and the addresses of pictures in texts."""

import re
from pathlib import Path
from urllib.parse import unquote

from ordhc_collect.study.markup import Picture, is_elsewhere
from ordhc_collect.study.sections import Problems, confined

#: The MIME type of each file ending, for each kind of file.
MEDIA = {
    "picture": {
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
        ".avif": "image/avif",
    },
    "sound": {
        ".mp3": "audio/mpeg",
        ".wav": "audio/wav",
        ".ogg": "audio/ogg",
        ".oga": "audio/ogg",
        ".opus": "audio/ogg",
        ".m4a": "audio/mp4",
        ".flac": "audio/flac",
    },
    "video": {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg"},
}
#: The first bytes of bitmap pictures. The file ending is ignored: browsers also show a PNG called .jpg.
_BITMAP = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|....ftyp",
    re.DOTALL,
)
_SVG = re.compile(rb"(\xef\xbb\xbf)?\s*<.*svg", re.DOTALL)


def is_shown(path: Path) -> bool:
    """Return True if the first bytes of a file are those of a picture that browsers can show."""
    begins = _SVG if path.suffix.lower() == ".svg" else _BITMAP
    with path.open("rb") as file:
        return begins.match(file.read(4096)) is not None


def has_copies(path: Path) -> bool:
    """Return True if smaller copies can be made of pictures with this file ending (not of SVG or GIF)."""
    return path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp")


class Pictures:
    """The pictures in the Markdown of a study; their order determines their addresses."""

    def __init__(self, root: Path, problems: Problems) -> None:
        self._root, self._problems = root, problems
        self.files: list[Path] = []

    def beside(self, folder: Path, place: str) -> Picture:
        """Return a function that maps a picture's source in a text to the picture's URL; see `Picture`.

        Sources are relative to `folder`, the folder of the text. `place` is the name of the text in messages.
        """

        def address(source: str) -> str | None:
            if is_elsewhere(source):
                message = f"the picture {source[:80]!r} is omitted: it must be a file in the study's folder"
                self._problems.warn(place, message)
                return None
            inside = folder.absolute().relative_to(self._root.absolute()) / unquote(source)
            path = confined(str(inside), self._root, place, self._problems)
            if path is None:
                return None
            if path.suffix.lower() not in MEDIA["picture"] or not is_shown(path):
                known = ", ".join(MEDIA["picture"])
                self._problems.error(place, f"{path.name} is not a picture of a known kind: {known}")
                return None
            if path not in self.files:
                self.files.append(path)
            return f"media/page/{self.files.index(path)}"

        return address
