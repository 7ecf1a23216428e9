"""What an editor has open and did not save, and what it is shown of what was written."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_acp_wire.peer import NOT_FOUND, Gone, RpcError
from hermes_core.types import Feature, ToolCall, ToolResult
from hermes_platform_acp.buffers import Buffers
from hermes_platform_acp.cards import Card
from hermes_platform_acp.shapes import V1
from hermes_platform_acp.watching import after

from .conftest import House, calls, says

FS = {"readTextFile": True, "writeTextFile": True}


class Editor:
    """One that has files open: ``buffers`` by their paths."""

    def __init__(self, **buffers: str) -> None:
        self.buffers, self.asked, self.saves = dict(buffers), list[str](), True

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Answer what is asked of files."""
        self.asked.append(method)
        if params["path"] not in self.buffers:
            raise RpcError(NOT_FOUND, "It is not open.")
        if method == "fs/read_text_file":
            return {"content": self.buffers[params["path"]]}
        if not self.saves:
            raise Gone(method)
        self.buffers[params["path"]] = params["content"]
        Path(params["path"]).write_text(params["content"])
        return None if method == "other" else {}

    def session(self, fs: Any) -> Buffers:
        """The files of a session in it."""
        agent = SimpleNamespace(abilities={"fs": fs} if fs else {}, peer=self, editor="Ed")
        return Buffers(SimpleNamespace(agent=agent, session=SimpleNamespace(id="s")))  # type: ignore[arg-type]


async def test_what_is_not_saved_is_told_of_and_saved_before_a_call_changes_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_bytes(b"one\r\ntwo\r\n")
    editor = Editor(**{path: "one\ntwo\n"})
    buffers = editor.session(FS)
    assert await buffers.unsaved([path, str(tmp_path / "none")]) == "", "how lines end is no change"
    editor.buffers[path] = "one\n2\n"
    told = await buffers.unsaved([path])
    assert "-two\n+2" in told
    assert "in Ed, not saved" in told
    assert Path(path).read_bytes() == b"one\r\ntwo\r\n", "looking saves nothing"
    assert await buffers.begin("c", [path]) is None
    assert Path(path).read_text() == "one\n2\n", "what the person typed is on the disk before anything changes it"
    Path(path).write_text("1\n2\n")
    assert await buffers.end("c", changed=True) == ""
    assert editor.buffers[path] == "1\n2\n", "the editor shows what was written"


async def test_what_the_person_types_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_text("one\n")
    editor = Editor(**{path: "one\n"})
    buffers = editor.session(FS)
    await buffers.begin("c", [path])
    Path(path).write_text("two\n")
    editor.buffers[path] = "one and more\n"
    assert "changed in the person's editor meanwhile" in await buffers.end("c", changed=True)
    assert editor.buffers[path] == "one and more\n"
    assert await buffers.end("c", changed=True) == "", "it is said once"


@pytest.mark.parametrize("fs", [{"readTextFile": True}, FS])
async def test_a_call_does_not_begin_where_what_was_typed_cannot_be_saved(tmp_path: Path, fs: Any) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_text("one\n")
    editor = Editor(**{path: "two\n"})
    editor.saves = False
    verdict = await editor.session(fs).begin("c", [path])
    assert verdict is not None
    assert (verdict.outcome, Path(path).read_text()) == ("deny", "one\n")
    assert "ask the person to save it" in verdict.reason


async def test_of_unsaved_files_it_is_told_only_what_a_call_says_that_it_looks_at(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_text("on the disk\n")
    conversation: Any = SimpleNamespace(buffers=Editor(**{path: "typed\n"}).session(FS))
    call, result = ToolCall(id="c", name="x", arguments={"path": path}), ToolResult(call_id="c", name="x", parts=())
    here: Any = SimpleNamespace(features=frozenset({Feature.LOCAL}), cwd=str(tmp_path))

    async def told(*keys: str) -> str:
        return str(await after(conversation, call, result, here, looked=frozenset(keys)))

    assert "typed" in await told("file:a.txt")
    assert "typed" in await told(f"file:{path}")
    (tmp_path / "link").symlink_to(tmp_path)
    here.cwd = str(tmp_path / "link")
    call = ToolCall(id="c", name="x", arguments={"path": "a.txt"})
    conversation.buffers = Editor(**{f"{here.cwd}/a.txt": "typed\n"}).session(FS)
    assert "typed" in await told(f"file:{path}"), "the editor knows it by the name that the session has for its folder"
    assert await told() == await told("host:example.org") == "None", "a server's tool may have an argument path, too"


async def test_a_call_does_not_begin_where_the_editor_is_silent(tmp_path: Path) -> None:
    class Silent(Editor):
        async def request(self, method: str, params: Mapping[str, Any]) -> Any:
            raise TimeoutError

    (tmp_path / "a.txt").write_text("one\n")
    buffers = Silent().session(FS)
    verdict = await buffers.begin("c", [str(tmp_path / "a.txt")])
    assert verdict is not None
    assert "did not say in time" in verdict.reason
    assert await buffers.unsaved([str(tmp_path / "a.txt")]) == "", "what is only read waits for nobody"


def test_an_editor_without_files_is_asked_nothing() -> None:
    assert not Editor().session(None).offered
    assert not Editor().session({"writeTextFile": True}).offered


def test_a_command_shows_as_a_terminal_where_the_editor_says_that_it_can() -> None:
    card = Card(id="c", call=SimpleNamespace(arguments={}), title="$ x", kind="execute", cwd="/w", command="x")  # type: ignore[arg-type]
    [begun] = V1(terminals=True).begun(card)
    assert begun["content"] == [{"type": "terminal", "terminalId": "c"}]
    assert begun["_meta"] == {"terminal_info": {"terminal_id": "c", "cwd": "/w"}}
    [wrote] = V1(terminals=True).output(card, "new")
    assert wrote["_meta"] == {"terminal_output": {"terminal_id": "c", "data": "new"}}
    card.output = "new"
    [ended] = V1(terminals=True).ended(card)
    assert ended["_meta"]["terminal_exit"] == {"terminal_id": "c", "exit_code": 0, "signal": None}
    assert "_meta" not in V1().begun(card)[0]


@pytest.mark.long
async def test_a_turn_reads_and_writes_what_an_editor_has_open(house: House) -> None:
    place = house.work / "a.txt"
    place.write_text("red\ngreen\n")
    house.script(
        calls("read_file", path="a.txt"), calls("edit_file", path="a.txt", old="green", new="black"), says("Done.")
    )
    editor = await house.editor(1, fs=FS, _meta={"terminal_output": True})
    editor.buffers[str(place)] = "red\ngreen\nnot saved\n"
    assert await editor.say(await editor.new(), "change it") == "end_turn"
    read = next(one.body["messages"][-1]["content"] for one in house.model.asked if one.raw and b"not saved" in one.raw)
    assert "+not saved" in str(read)
    assert place.read_text() == editor.buffers[str(place)] == "red\nblack\nnot saved\n"
    methods = {method for method, _ in editor.asked}
    assert methods == {"fs/read_text_file", "fs/write_text_file"}
