"""Follow a call from file to file."""

import sys
from pathlib import Path


class Journey:
    """Counts how often a Python function of the packages is called in another file than the one before."""

    def __init__(self, *packages):
        self.folders = tuple(str(Path(package.__file__).parent) for package in packages)

    def __enter__(self):
        self.changes, self.file = -1, None
        sys.setprofile(self.note)
        return self

    def note(self, frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(self.folders) and file != self.file:
            self.changes += 1
            self.file = file

    def __exit__(self, *_):
        sys.setprofile(None)
