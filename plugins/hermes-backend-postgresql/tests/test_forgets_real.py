"""What was deleted on a server leaves no row, and after VACUUM FULL no byte in its tables and indexes."""

import subprocess

import pytest

from hermes_core.testing import ScriptedProvider
from hermes_core.types import Message, Text

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


def holding(cluster, word: str) -> list[str]:
    """The files of the server's tables in which a word stands; its log of changes it overwrites in its own time."""
    done = subprocess.run(
        ["grep", "-ral", word, str(cluster.data / "base")], capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@pytest.mark.parametrize("many", [10, pytest.param(1_000, marks=pytest.mark.long)])
async def test_deleted_conversations_leave_no_byte_in_tables(hermes, cluster, database_url, many):
    hermes.tmp_plugin("hermes_backend_postgresql")
    hermes.tmp_plugin(ScriptedProvider([]))
    hermes.tmp_plugin("hermes_tool_upkeep")
    hermes.configure({"model.provider": "scripted", "store.url": database_url})
    ctx, me = hermes.context("hermes_tool_upkeep"), hermes.runtime.owner
    for number in range(many):
        said = [Message(role=role, parts=(Text(text=f"canary{number:04d}x it is."),)) for role in ("user", "assistant")]
        await ctx.sessions.create(me, f"s{number}", history=said)
    database = database_url.rpartition("/")[2]
    cluster.sql("CHECKPOINT", database=database)
    assert holding(cluster, "canary"), "else nothing would be proven below"
    for number in range(many):
        await ctx.sessions.delete(me, f"s{number}", erased=True)
    assert not await ctx.sessions.search(me, "canary0001x")
    await hermes.close()
    cluster.sql("VACUUM FULL", "CHECKPOINT", database=database)
    assert holding(cluster, "canary") == []
