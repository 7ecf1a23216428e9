"""What is kept of a person is given out, and erased with everything that was let go of before."""

import json

from hermes_core.types import Principal, Session, Source
from hermes_memory_files.memory import FilesMemory

BEN = Principal(person="ben")
SAID = Source(by="user")


def memory_of(hermes) -> FilesMemory:
    return hermes.runtime.memory.of()[1]


async def test_a_persons_memos_are_given_out_and_erased(hermes) -> None:
    hermes.tmp_plugin("hermes_memory_files")
    memory, me = memory_of(hermes), hermes.runtime.owner
    kept = await memory.add(me, "Lives in Daegu.", SAID)
    gone = await memory.add(me, "The door code is 4711.", SAID)
    await memory.forget(me, gone.id)
    await memory.add(BEN, "Sleeps late.", SAID)
    [line] = (await hermes.command("memory export")).splitlines()
    assert json.loads(line) == {"id": kept.id, "text": kept.text, "by": "user", "session_id": "", "trusted": True}
    assert "Sleeps late." in await hermes.command("memory export", "--person", "ben")
    await hermes.command("memory erase", "--yes")
    left = [path.read_text() for path in (hermes.runtime.home.root / "memories").rglob("*") if path.is_file()]
    assert not [text for text in left if "4711" in text or "Daegu" in text]
    assert await hermes.command("memory export") == ""
    assert [memo.text for memo in await memory.export(BEN)] == ["Sleeps late."]


async def test_its_tool_is_hidden_where_another_memory_is_in_use(hermes) -> None:
    hermes.tmp_plugin("hermes_memory_files")
    hermes.configure({"memory.provider": ""})
    box, session = hermes.runtime.toolbox(), Session(id="s", origin="embed")
    assert "memory" not in box.offered(session)
    [tool] = [tool for tool in box.tools if tool.name == "memory"]
    assert box.lacks(tool, session) == "memory.provider is empty"
