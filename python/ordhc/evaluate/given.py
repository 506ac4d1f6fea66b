"""Convert a scan of files or a `Session` to comparisons, for `structure` and `people_groups`."""

from typing import TYPE_CHECKING

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan

if TYPE_CHECKING:
    from ordhc.asking.session import Session

#: The caution for answers to questions that a learner chose.
ADAPTIVE = (
    "A learner chose the questions by earlier answers. The comparison shows how well models predict "
    "answers to such questions; with answers to random questions the result may differ."
)


def comparisons_of(data: "Triplets | Quadruplets | Scan | Session", verb: str) -> Triplets | Quadruplets:
    """Return the comparisons in `data`; `verb` is the name of the calling function, for messages.

    The files of a scan are read into memory. The rules of a `Session` exclude people and weight answers.
    """
    # Sessions import SQLite, so check for them last.
    from ordhc.asking.session import Session

    if isinstance(data, Session):
        return data.analysed().comparisons
    if isinstance(data, Scan):
        return data.read()
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(
            f"{verb} takes Triplets, Quadruplets, ordhc.scan(...) or a Session, not {type(data).__name__}"
        )
    return data
