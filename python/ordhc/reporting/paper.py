"""Print an HTML page into a PDF, with an installed Chromium or Chrome."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ordhc.errors import MissingExtraError

#: The names of Chromium's commands on different systems.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
#: The maximum time for printing, in seconds.
PATIENCE = 180


def browser_path() -> str:
    """Return the path of a browser that can print.

    If the environment variable ORDHC_BROWSER is set, only its value is tried: the name or path of a browser.
    Otherwise the function searches PATH, then usual folders, then Playwright.
    """
    for found in _candidates():
        if found and os.access(found, os.X_OK):
            return found
    raise MissingExtraError(
        "a PDF is printed by Chromium or Chrome, and none is found: install one (or set ORDHC_BROWSER to its "
        'path; or pip install "ordhc[pdf]" and playwright install chromium), or write report.html and '
        "print it from a browser",
        name="playwright",
    )


def _candidates() -> Iterator[str | None]:
    given = os.environ.get("ORDHC_BROWSER")
    yield None if given is None else shutil.which(given)
    if given is None:
        yield from map(shutil.which, NAMES)
        yield from _ELSEWHERE
        yield _of_playwright()


def _of_playwright() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        return str(playwright.chromium.executable_path)


def printed(page: str) -> bytes:
    browser = browser_path()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8", errors="surrogatepass")
        options = [
            "--headless",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={Path(folder, 'profile')}",
            f"--print-to-pdf={target}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Chromium refuses to run its sandbox as root. The page has no scripts, so this is safe.
            options.append("--no-sandbox")
        try:
            done = subprocess.run(
                [browser, *options, source.as_uri()], capture_output=True, timeout=PATIENCE, check=False
            )
            errors = done.stderr.decode(errors="replace").strip().splitlines()
        except (OSError, subprocess.TimeoutExpired) as error:
            errors = [str(error)]
        if not target.exists() or not target.stat().st_size:
            last = errors[-1] if errors else "without a message"
            raise MissingExtraError(
                f"{browser} has printed no PDF ({last[:200]}); write report.html and print it from a browser",
                name="playwright",
            )
        return target.read_bytes()
