"""`hermes web` as a process of its own, with a small program for its visitors. No tests."""

import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from hermes_platform_tui.web import build, run


def main(folder: str, words: list[str]) -> None:
    home = SimpleNamespace(base=Path(folder), profile="default", brand="hermes", cache=Path(folder) / "cache")
    argv = [sys.executable, str(Path(__file__).with_name("web_talker.py")), folder]
    with mock.patch.object(run, "child", return_value=argv):
        sys.exit(build().main(words, standalone_mode=False, obj=SimpleNamespace(flags={}, home=home)))
