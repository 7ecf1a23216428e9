"""What the tests of screens share."""

import os
import shutil

import pytest

NEEDED = ("Xvfb", "xdotool", "xwd", "xmodmap")


@pytest.fixture(scope="session")
def x11():
    """The programs of X11; in CI they are there."""
    absent = [name for name in NEEDED if not shutil.which(name)]
    if absent:
        hint = f"{', '.join(absent)} is missing: apt install xvfb xdotool x11-apps x11-xserver-utils"
        if os.environ.get("CI"):
            pytest.fail(f"{hint}. In CI nothing real is skipped.")
        pytest.skip(hint)
