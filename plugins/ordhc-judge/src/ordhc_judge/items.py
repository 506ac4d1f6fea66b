"""The items that a judge compares: texts, which may have names."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordhc.errors import InputError
from ordhc_judge.prompt import one_line

_LONGEST = 20_000


class Items:
    """The texts of the leaves, and their names.

    Attributes
    ----------
    texts
        The text of each leaf, on one line.
    names
        The names of the leaves: the keys of a mapping, or otherwise the texts. None if two texts are equal.
    """

    def __init__(self, given: Any) -> None:
        self._keyed = isinstance(given, Mapping)
        if isinstance(given, str | bytes | os.PathLike) or not isinstance(given, Iterable):
            raise InputError(
                f"items is a {type(given).__name__}; it must be a list of texts, or a dict of names and texts"
            )
        texts = list(given.values()) if isinstance(given, Mapping) else list(given)
        for at, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"items[{at}] is a {type(text).__name__}, not text")
            if not one_line(text):
                raise InputError(f"items[{at}] is empty")
            if len(text) > _LONGEST:
                raise InputError(
                    f"items[{at}] has {len(text):,} characters; at most {_LONGEST:,} are allowed"
                )
        self.texts = [one_line(text) for text in texts]
        names = [str(name) for name in given] if isinstance(given, Mapping) else [str(text) for text in texts]
        self.names = tuple(names) if len(set(names)) == len(names) else None

    def __len__(self) -> int:
        return len(self.texts)

    def leaves_of(self, names: Sequence[str]) -> list[int]:
        """Return the item number (0, 1, ...) for each name.

        Items that were given without names are called by their texts. If none of `names` is such a text, the
        first name belongs to the first item, and so on. Then there must be one name for each item.

        Raises
        ------
        InputError
            No item has one of the names.
        """
        places = {} if self.names is None else {name: leaf for leaf, name in enumerate(self.names)}
        missing = [name for name in names if name not in places]
        if not missing:
            return [places[name] for name in names]
        if not self._keyed and len(missing) == len(names) == len(self):
            return list(range(len(self)))
        raise InputError(
            f"the judge has no item {missing[0][:200]!r}; each of the {len(names):,} names must be "
            f"one of the {len(self):,} items"
        )

    @classmethod
    def of(cls, given: Any) -> "Items":
        """Return the items from texts, from a dict of names and texts, or from a file."""
        if isinstance(given, cls):
            return given
        return cls.read(given) if isinstance(given, str | os.PathLike) else cls(given)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Items":
        """Return the items in a file: one text on each line, or csv with the columns `name` and `text`.

        One of the two columns is enough.

        Raises
        ------
        InputError
            The file does not exist or has another format; a name occurs twice.
        """
        from ordhc.io import read_names

        file = Path(path)
        if file.suffix.lower() not in (".csv", ".tsv"):
            return cls(read_names(file))
        try:
            content = file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{file} is not UTF-8 text ({error.reason}); save it as UTF-8") from None
        rows = csv.DictReader(io.StringIO(content), delimiter="\t" if file.suffix.lower() == ".tsv" else ",")
        columns = rows.fieldnames or []
        if "text" not in columns:
            return cls(read_names(file))
        named: dict[str, str] = {}
        for row in rows:
            text = row["text"] or ""
            name = row.get("name") or text
            if name in named:
                raise InputError(f"the name {name!r} occurs twice", path=file, line=rows.line_num)
            if not text.strip():
                raise InputError(f"{name!r} has no text", path=file, line=rows.line_num)
            named[name] = text
        return cls(named if "name" in columns else list(named))
