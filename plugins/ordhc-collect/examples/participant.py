"""A participant of a study in Python, as a model for PsychoPy and oTree. Needs only the standard library.

$ ordhc collect study.toml --port 8000          # with a section [api] in study.toml
$ python participant.py http://127.0.0.1:8000 person-17
"""

import json
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class Study:
    """The questions of a study for one person."""

    def __init__(self, server, person=None, **more):
        self.server, self.headers = server.rstrip("/"), {"Content-Type": "application/json"}
        self.state = self.call("/api/people", {"id": person, **more})
        self.headers["Authorization"] = f"Bearer {self.state['token']}"

    def call(self, path, body=None):
        """Send a request, and return the reply. A call can be repeated: an answer counts only once."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(self.server + path, data, self.headers), timeout=30) as found:
                return json.load(found)
        except HTTPError as error:
            reply = json.load(error)
            raise SystemExit(f"{path}: {reply['error']}: {reply['remedy']}") from None

    def answer(self, choice, ms=None):
        """Send the choice (its number, or an item's name) and its time in ms; get the next question."""
        number = self.state["question"]["number"]
        self.state = self.call("/api/answers", {"number": number, "choice": choice, "ms": ms})


def ask(question):
    """Show a question, and return the number of the choice. PsychoPy shows pictures here instead."""
    print(f"\n{question['prompt']}" + (f" {question['head']['name']}" if question["head"] else ""))
    for at, names in enumerate(question["choices"], 1):
        print(f"  {at}: {' and '.join(names)}")
    return int(input("> "))


def main(server, person=None):
    """Ask all questions of a person."""
    study = Study(server, person)
    while study.state["stage"] != "end":
        if study.state["stage"] != "question":
            # The study is paused or full.
            time.sleep(5)
            study.state = study.call("/api/next")
            continue
        shown = time.perf_counter()
        choice = ask(study.state["question"])
        study.answer(choice, 1000 * (time.perf_counter() - shown))
    print(f"Done: {study.state['done']} answers. Code: {study.state['code']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
