"""Nothing is collected while a command starts; whatever goes on for longer is collected again."""

import asyncio
import gc
import sys

import pytest

from hermes_core import __main__ as entry
from hermes_core.cli import main, scope


@pytest.fixture
def starting(monkeypatch, tmp_path):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setattr(scope, "STARTED", 0.0)
    gc.disable()
    yield scope.Scope()
    gc.enable()


def test_a_command_starts_without_collecting(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "argv", ["hermes", "-z", "hello"])
    monkeypatch.setattr(main, "run", lambda: seen.append(gc.isenabled()))
    try:
        entry.main()
    finally:
        gc.enable()
    assert seen == [False]


async def test_what_goes_on_is_collected_again(starting):
    starting.hermes()
    assert not gc.isenabled()
    await asyncio.sleep(0.01)
    assert gc.isenabled()


def test_what_has_no_loop_is_collected_at_once(starting):
    starting.hermes()
    assert gc.isenabled()
