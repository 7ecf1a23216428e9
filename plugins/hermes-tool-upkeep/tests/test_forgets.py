"""Many conversations are deleted while another process has the store open: compacted, it holds no byte of them."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from hermes_core.testing import ScriptedProvider
from hermes_core.types import Message, Text

_HOLDS = (
    "import sqlite3, sys; opened = sqlite3.connect(sys.argv[1]); "
    "opened.execute('SELECT count(*) FROM sessions').fetchone(); print('open', flush=True); sys.stdin.read()"
)


def holding(home, word: str) -> list[str]:
    """The files in which a word stands; another process looks, as to close a file here would lose SQLite's locks."""
    done = subprocess.run(["grep", "-rali", word, str(home)], capture_output=True, text=True, check=False)
    return done.stdout.split()


@contextmanager
def opened_elsewhere(path):
    """Have another process hold the store open."""
    words = [sys.executable, "-c", _HOLDS, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"open\n"
        yield
        other.stdin.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("many", [5, pytest.param(1_000, marks=pytest.mark.long)])
async def test_deleted_conversations_leave_no_byte_while_another_process_has_the_store_open(hermes, many):
    hermes.tmp_plugin(ScriptedProvider([]))
    hermes.tmp_plugin("hermes_tool_upkeep")
    hermes.configure({"model.provider": "scripted"})
    ctx, me, home = hermes.context("hermes_tool_upkeep"), hermes.runtime.owner, hermes.runtime.home.root
    for number in range(many):
        said = [Message(role=role, parts=(Text(text=f"canary{number:04d}x it is."),)) for role in ("user", "assistant")]
        await ctx.sessions.create(me, f"s{number}", history=said)
    assert holding(home, "canary")
    with opened_elsewhere(home / "state.db"):
        for number in range(many):
            await ctx.sessions.delete(me, f"s{number}", erased=True)
        await hermes.command("store compact")
        assert holding(home, "canary") == []
    await hermes.close()
    assert holding(home, "canary") == []
