"""The time of `import ordhc`, with NumPy's share: python benches/bench_import.py."""

import subprocess
import sys

from measure import median_seconds, table


def main():
    rows = []
    for code in ("pass", "import numpy", "import ordhc"):
        seconds = median_seconds(lambda c=code: subprocess.run([sys.executable, "-c", c], check=True), 15)
        rows.append((code, f"{seconds * 1000:.0f}"))
    table(("python -c", "median ms, the interpreter's start included"), rows)


if __name__ == "__main__":
    main()
