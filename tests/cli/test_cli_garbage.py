"""Nothing is collected while a command starts; whatever goes on for longer is collected again."""

import asyncio
import gc
import sys

import pytest

from hermes_core import __main__ as entry
from hermes_core.cli import loop, main


@pytest.fixture
def starting(monkeypatch):
    monkeypatch.setattr(loop, "STARTED", 0.0)
    gc.disable()
    yield
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


@pytest.mark.usefixtures("starting")
def test_what_goes_on_is_collected_again():
    async def work():
        before = gc.isenabled()
        await asyncio.sleep(0.01)
        return before, gc.isenabled()

    assert loop.run_loop(work()) == (False, True)


@pytest.mark.usefixtures("starting")
@pytest.mark.parametrize("words", [["sessions", "list"], ["logs"], ["doctor"]], ids=" ".join)
def test_what_is_no_talk_is_collected_at_once(cli, words):
    cli(*words)
    assert gc.isenabled()


@pytest.mark.parametrize("words", [["-z", "hello"], ["chat", "-q", "hello"]], ids=" ".join)
def test_a_talk_starts_without_collecting(cli, monkeypatch, starting, words):
    began = []
    monkeypatch.setattr(
        "hermes_core.cli.plugin_commands.run_loop", lambda work: (began.append(gc.isenabled()), work.close())
    )
    cli(*words)
    assert began == [False]
