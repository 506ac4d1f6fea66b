"""Read the sections of a study file, and collect all problems with their places in the file."""

import difflib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Problems", "Section", "suggestion"]

_MISSING: Any = object()


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a hint for an unknown name: the most similar known name, or all known names."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


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

    def _value(self, key: str) -> Any:
        self._read.append(key)
        return self._values.get(key, _MISSING)

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
        value = self._value(key)
        return default if value is _MISSING else value

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text, or `default` if the key is missing.

        If the value is not a text, add an error and return `default`.
        """
        value = self._value(key)
        if value is _MISSING:
            return default
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, "should be text in quotes")
            return default
        return value

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        value = self._value(key)
        if value is _MISSING:
            return default
        if value not in choices:
            self.wrong(key, f"should be one of {', '.join(map(repr, choices))}")
            return default
        return str(value)

    def flag(self, key: str, default: Any) -> Any:
        value = self._value(key)
        if value is _MISSING:
            return default
        if not isinstance(value, bool):
            self.wrong(key, "should be true or false, without quotes")
            return default
        return value

    def whole(self, key: str, default: Any, low: int, high: int) -> Any:
        value = self._value(key)
        if value is _MISSING:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"should be a whole number from {low:,} to {high:,}")
            return default
        return value

    def number(self, key: str, default: Any, low: float, high: float = math.inf) -> Any:
        value = self._value(key)
        if value is _MISSING:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            limit = f"from {low:g} to {high:g}" if high < math.inf else f"of {low:g} or more"
            self.wrong(key, f"should be a number {limit}")
            return default
        return float(value)

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self._value(key)
        if value is _MISSING:
            return default
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(x, str) and x.strip() for x in value)
        ):
            self.wrong(key, 'should be a list of texts: ["...", "..."]')
            return default
        return tuple(value)

    def tables(self, key: str) -> list["Section"]:
        """Return the sections of a list of tables, [[section.key]]; an empty list if the key is missing."""
        value = self._value(key)
        if value is _MISSING:
            return []
        if not isinstance(value, list):
            self.wrong(key, f"should be a list of tables: [[{self.place}.{key}]]")
            return []
        return [
            Section(entry, f"{self.place}.{key}, number {number}", self._problems)
            for number, entry in enumerate(value, 1)
        ]

    def section(self, key: str) -> "Section":
        value = self._value(key)
        place = f"{self.place}.{key}" if self.place else key
        return Section({} if value is _MISSING else value, place, self._problems)

    def path(self, key: str, root: Path, *, is_folder: bool = False) -> Path | None:
        name = self.text(key)
        if name is None:
            return None
        return confined(name, root, f"[{self.place}] {key}", self._problems, is_folder=is_folder)

    def close(self) -> None:
        for key in self._values.keys() - set(self._read):
            where = f"[{self.place}]" if self.place else "at the top"
            self._problems.error(f"{where} {key}", f"is not a known key; {suggestion(key, self._read)}")


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
