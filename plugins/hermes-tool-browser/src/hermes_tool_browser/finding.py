"""Which browser there is to start. None is ever downloaded: a person installs it."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from hermes_core.errors import ToolError

__all__ = ["INSTALL", "found", "has_playwright"]

INSTALL = (
    "Install one: apt install chromium, dnf install chromium, pacman -S chromium, or set tools.browser.executable."
)
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge-stable", "chrome")
_BESIDE = {  # scripts of distributions, and what they start in the end
    "/usr/bin/chromium": ("/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"),
    "/usr/bin/chromium-browser": ("/usr/lib64/chromium-browser/chromium-browser", "/usr/lib/chromium/chromium"),
}
_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)


def has_playwright() -> bool:
    """Whether the library that speaks to browsers is installed."""
    from importlib.util import find_spec

    return find_spec("playwright") is not None


def found(wanted: str = "") -> str:
    """The path of the browser to start. Raises ToolError where there is none."""
    if wanted:
        path = shutil.which(os.path.expanduser(wanted))  # noqa: PTH111
        if not path:
            raise ToolError(
                f"There is no program {wanted}, which tools.browser.executable names.", hint=INSTALL, retry=False
            )
        return path
    for path in _candidates():
        if os.access(path, os.X_OK) and Path(path).is_file():
            return path
    raise ToolError("There is no Chromium on this machine.", hint=INSTALL, retry=False)


def _candidates() -> Iterator[str]:
    for name in _NAMES:
        if path := shutil.which(name):
            yield from _BESIDE.get(path, ())
            yield os.path.realpath(path) if path.startswith("/usr/bin/google") else path
    if sys.platform == "darwin":
        yield from _MAC
    cache = Path("~/Library/Caches/ms-playwright" if sys.platform == "darwin" else "~/.cache/ms-playwright")
    for folder in sorted(cache.expanduser().glob("chromium-*"), reverse=True):  # what ``playwright install`` brought
        yield from map(str, (folder / "chrome-linux" / "chrome", folder / "chrome-linux64" / "chrome"))
