"""The messages that come with the package: what customers write to a bank, by topic and intent."""

import csv
from importlib.resources import files

__all__ = ["messages", "taxonomy"]


def messages() -> tuple[list[str], list[tuple[str, str]]]:
    """The 150 texts, and of each its intent (25 of 6 texts) and its topic (5 of 5 intents)."""
    table = files("ordhc_judge").joinpath("data/messages.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    return [row["text"] for row in rows], [(row["intent"], row["topic"]) for row in rows]


def taxonomy() -> str:
    """The tree of topics and intents as Newick, its leaves by number.

    Examples
    --------
    >>> taxonomy()[:50]
    "(((0,1,2,3,4,5)'Lost card',(6,7,8,9,10,11)'Card bl"
    """
    topics: dict[str, dict[str, list[str]]] = {}
    for leaf, (intent, topic) in enumerate(messages()[1]):
        topics.setdefault(topic, {}).setdefault(intent, []).append(str(leaf))
    parts = []
    for topic, intents in topics.items():
        inner = ",".join(f"({','.join(leaves)})'{intent.capitalize()}'" for intent, leaves in intents.items())
        parts.append(f"({inner})'{topic.capitalize()}'")
    return f"({','.join(parts)})'Messages to a bank';"
