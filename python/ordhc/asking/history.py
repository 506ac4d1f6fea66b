"""The questions of a session that one person was given or has answered."""

from collections import Counter

__all__ = ["Key", "History"]

Key = tuple[int, ...]


class History:
    """The questions that one person was given or has answered.

    Attributes
    ----------
    given
        A dict from the key (`events.key_of`) of each question that the person was given to its number.
    answered
        A dict from the key of each question to the number of answers that the person gave.
    """

    def __init__(self) -> None:
        self.given: dict[Key, int] = {}
        self.answered: Counter[Key] = Counter()

    def may_get(self, number: int, key: Key) -> bool:
        """Return True if the person may get an open question.

        Either the question is new to the person, or the person was given exactly this question and did not
        answer.
        """
        return key not in self.answered and self.given.get(key, number) == number

    def knows(self, key: Key) -> bool:
        return key in self.answered or key in self.given
