"""Lines keep the contract of platforms: the service is a pipe to type into and a list of what was printed."""

import os
import sys

import hermes_platform_lines
import pytest

from hermes_core.testing import FakeService, PlatformContract


class Terminal(FakeService):
    """Somebody who types into standard input and reads what is printed."""

    def __init__(self, keyboard):
        self.keyboard = keyboard
        self.screen = []

    def print(self, *texts, flush):
        self.screen.append(" ".join(texts))

    async def say(self, text, *, sender="someone"):
        print(text, file=self.keyboard, flush=True)

    async def seen(self):
        return self.screen


class TestLines(PlatformContract):
    module = "hermes_platform_lines"

    @pytest.fixture
    def service(self, monkeypatch):
        reading, writing = os.pipe()
        with os.fdopen(reading) as stdin, os.fdopen(writing, "w") as keyboard:
            terminal = Terminal(keyboard)
            monkeypatch.setattr(sys, "stdin", stdin)
            monkeypatch.setattr(hermes_platform_lines, "print", terminal.print, raising=False)
            yield terminal
