"""What somebody knows of a session's questions."""

from collections import Counter

__all__ = ["Key", "Met"]

Key = tuple[int, ...]


class Met:
    """The questions that somebody was given, by their leaves, and those that they have answered."""

    def __init__(self) -> None:
        self.given: dict[Key, int] = {}
        self.answered: Counter[Key] = Counter()

    def may_get(self, number: int, key: Key) -> bool:
        """Whether an open question is new to them, or was theirs before and they did not answer it."""
        return key not in self.answered and self.given.get(key, number) == number

    def knows(self, key: Key) -> bool:
        """Whether they were given these leaves, or answered about them."""
        return key in self.answered or key in self.given
