"""Read the sections of a study file, and collect all problems with their places in the file."""

import difflib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_MISSING: Any = object()


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a hint for an unknown name: the most similar known name, or all known names."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


class Problems:
    """The errors and warnings of a study."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, place: str, message: str) -> None:
        self.errors.append(f"{place}: {message}")

    def warn(self, place: str, message: str) -> None:
        self.warnings.append(f"{place}: {message}")


class Section:
    """A table of a TOML file. Methods read its keys; finally `close` reports the keys that were not read."""

    def __init__(self, values: Any, place: str, problems: Problems) -> None:
        self.place, self._problems = place, problems
        if not isinstance(values, dict):
            problems.error(place, f"is {values!r}, and should be a table: [{place}]")
            values = {}
        self._values: dict[str, Any] = values
        self._read: list[str] = []

    def wrong(self, key: str, message: str) -> None:
        value = self._values.get(key)
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
        self._problems.error(f"[{self.place}] {key} = {shown}", message)

    def secret(self, key: str, message: str) -> None:
        """Add an error about the value of a key, without showing the value."""
        self._problems.error(f"[{self.place}] {key}", message)

    def missing(self, key: str, message: str) -> None:
        self._problems.error(f"[{self.place}]", f"{key} is missing: {message}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def any(self, key: str, default: Any = None) -> Any:
        self._read.append(key)
        return self._values.get(key, default)

    def _checked(self, key: str, default: Any, is_fine: Callable[[Any], bool], rule: str) -> Any:
        """Return the value of a key, or `default` if the key is missing or, which is an error, invalid."""
        value = self.any(key, _MISSING)
        if value is _MISSING:
            return default
        if not is_fine(value):
            self.wrong(key, f"should be {rule}")
            return default
        return value

    def text(self, key: str, default: str | None = None) -> str | None:
        found: str | None = self._checked(key, default, _is_text, "text in quotes")
        return found

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        known = ", ".join(map(repr, choices))
        return str(self._checked(key, default, lambda value: value in choices, f"one of {known}"))

    def flag(self, key: str, default: Any) -> Any:
        rule = "true or false, without quotes"
        return self._checked(key, default, lambda value: isinstance(value, bool), rule)

    def whole(self, key: str, default: Any, low: int, high: int) -> Any:
        rule = f"a whole number from {low:,} to {high:,}"
        return self._checked(key, default, lambda value: is_whole(value) and low <= value <= high, rule)

    def number(self, key: str, default: Any, low: float, high: float = math.inf) -> Any:
        def is_fine(value: Any) -> bool:
            return (is_whole(value) or isinstance(value, float)) and low <= value <= high

        limit = f"from {low:g} to {high:g}" if high < math.inf else f"of {low:g} or more"
        value = self._checked(key, default, is_fine, f"a number {limit}")
        return None if value is None else float(value)

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        def is_fine(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and all(map(_is_text, value))

        return tuple(self._checked(key, default, is_fine, 'a list of texts: ["...", "..."]'))

    def tables(self, key: str) -> list["Section"]:
        """Return the sections of a list of tables, [[section.key]]; an empty list if the key is missing."""
        rule = f"a list of tables: [[{self.place}.{key}]]"
        entries = self._checked(key, [], lambda value: isinstance(value, list), rule)
        return [
            Section(entry, f"{self.place}.{key}, number {number}", self._problems)
            for number, entry in enumerate(entries, 1)
        ]

    def section(self, key: str) -> "Section":
        place = f"{self.place}.{key}" if self.place else key
        return Section(self.any(key, {}), place, self._problems)

    def path(self, key: str, root: Path, *, is_folder: bool = False) -> Path | None:
        name = self.text(key)
        if name is None:
            return None
        return confined(name, root, f"[{self.place}] {key}", self._problems, is_folder=is_folder)

    def close(self) -> None:
        for key in self._values.keys() - set(self._read):
            where = f"[{self.place}]" if self.place else "at the top"
            self._problems.error(f"{where} {key}", f"is not a known key; {suggestion(key, self._read)}")


def text_of(path: Path, place: str, problems: Problems, longest: int) -> str | None:
    """Return a file's text; None, and an error, if it is not UTF-8 or longer than `longest` characters.

    An empty file is an error, too.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.error(place, f"{path.name} is not UTF-8 text; save it as UTF-8")
        return None
    n = len(text.strip())
    if not n:
        problems.error(place, f"{path.name} is empty")
    if n > longest:
        problems.error(place, f"{path.name} has {n:,} characters, {longest:,} at most")
        return None
    return text


def confined(
    name: str, root: Path, place: str, problems: Problems, *, is_folder: bool = False
) -> Path | None:
    """Return the path `name` in the folder `root`. If it is outside or missing, add an error and return None.

    Symbolic links are followed before the check.
    """
    try:
        found = (root / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        problems.error(place, f"{name!r} is not a path ({error})")
        return None
    if not found.is_relative_to(root.resolve()):
        problems.error(place, f"{name!r} is outside of the study's folder, {root}")
        return None
    if not (found.is_dir() if is_folder else found.is_file()):
        what = "folder" if is_folder else "file"
        problems.error(place, f"there is no {what} {name!r} in {root}")
        return None
    return found
