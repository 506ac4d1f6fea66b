"""The example messages of bank customers in the package, with their topics and intents."""

import csv
from importlib.resources import files


def messages() -> tuple[list[str], list[tuple[str, str]]]:
    """Return the 150 texts, and for each text its intent and its topic.

    There are 5 topics of 5 intents each, and 6 texts for each intent.
    """
    table = files("ordhc_judge").joinpath("data/messages.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    return [row["text"] for row in rows], [(row["intent"], row["topic"]) for row in rows]


def taxonomy() -> str:
    """Return the tree of topics and intents as Newick text; leaves are numbers.

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
