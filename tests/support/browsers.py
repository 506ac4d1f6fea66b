"""A browser to drive pages in."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Features of Chromium that are switched off. Chromium uses this list instead of Playwright's, so the list
#: contains Playwright's, too. The last two features load two pages for the address bar, which nobody sees,
#: and take half the time of opening a page.
_WITHOUT = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "AimEnabled"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "PreconnectToSearch", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)
HOW = "no Chromium: install one (apt-get install chromium) or name it in ORDHC_BROWSER"


def browser_path():
    """Where Chromium is, or None."""
    given = os.environ.get("ORDHC_BROWSER")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


def launched(playwright):
    """Chromium, or the test is skipped; the end of the report tells so in capitals."""
    path = browser_path()
    if path is None:
        pytest.skip(HOW)
    # Who is root has no sandbox.
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    options.append(f"--disable-features={','.join(_WITHOUT)}")
    return playwright.chromium.launch(executable_path=path, args=options)


#: Names that would break a page that doesn't escape them.
ODD = [
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "a & b",
    "日本 \u2028 @DATA@",
]


def say_what_was_missed(terminalreporter, title):
    """Tests that need a browser say loudly that they have not run."""
    missed = [report for report in terminalreporter.stats.get("skipped", []) if HOW in str(report.longrepr)]
    if missed:
        terminalreporter.section(title, red=True)
        terminalreporter.write_line(f"{len(missed)} tests did not run: {HOW}", red=True)
