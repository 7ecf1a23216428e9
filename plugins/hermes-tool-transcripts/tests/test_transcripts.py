"""Transcripts follow what is stored, mend themselves, and never stop a turn."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core import hookimpl
from hermes_core.errors import StoreError, UnknownName
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Blob, Message, Principal, Session, Text, ToolResult
from hermes_tool_transcripts.transcripts import Transcripts

ID = "20260101_000000_aaaaaa"
ME = Principal()


class Archive:
    """One conversation, whoever asks for which. ``asked`` are the places that were looked around."""

    def __init__(self, *messages: str) -> None:
        self.said: list[Message] = []
        self.asked: list[int] = []
        self.error: Exception | None = None
        self.say(*messages)

    def say(self, *messages: str) -> None:
        self.said += [Message(role="user", parts=(Text(text=text),)) for text in messages]

    async def read(self, owner, session_id, *, around=0, window=10):
        if self.error:
            raise self.error
        self.asked.append(around)
        return list(enumerate(self.said, 1))[max(0, around - window - 1) : around + window]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "home" / "sessions"


def made(folder):
    return Transcripts(folder, lambda text: text.replace("hush", "***"))


def lines(folder, name=ID):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def contents(folder, name=ID):
    return [line["content"] for line in lines(folder, name)]


async def follow(folder, archive, name=ID):
    await made(folder).follow(archive, Session(id=name, origin="cli", owner=ME))


@tool(effects=[], touches=lambda _: ())
async def ls() -> str:
    """List."""
    return "한글"


async def test_each_line_is_one_openai_message_of_a_real_turn(hermes, scripted, folder):
    hermes.tmp_plugin(scripted([Call("ls", {})], "bye"))
    hermes.tmp_plugin(ls)
    hermes.tmp_plugin("hermes_tool_transcripts")
    await hermes.run("hello\nworld", session=ID)
    user, call, result, answer = lines(folder)
    assert user == {"role": "user", "content": "hello\nworld", "number": 1}
    assert call["tool_calls"][0]["function"] == {"name": "ls", "arguments": "{}"}
    assert (result["role"], result["content"], result["number"]) == ("tool", "한글", 3)
    assert answer == {"role": "assistant", "content": "bye", "number": 4}
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_it_goes_with_its_session_and_those_of_others_stay(hermes, scripted, folder):
    gone = []

    @hookimpl
    async def on_session_deleted(session):
        gone.append(session.id)

    hermes.tmp_plugin(scripted("one", "two", "three"))
    hermes.tmp_plugin("hermes_tool_transcripts")
    hermes.tmp_plugin(on_session_deleted)
    for name in ("a", "b"):
        await hermes.run("hello", session=name)
    runtime = hermes.runtime
    await runtime.sessions.delete("a", runtime.owner)
    assert [path.name for path in folder.iterdir()] == ["b.jsonl"]
    assert gone == ["a"]
    with pytest.raises(UnknownName):
        await runtime.sessions.delete("a", runtime.owner)
    await hermes.run("again", session="a")
    assert contents(folder, "a") == ["again", "three"]


async def test_a_turn_that_was_stopped_is_in_it(hermes, scripted, folder):
    hermes.tmp_plugin(scripted([Call("wait", {})]))
    hermes.tmp_plugin("hermes_tool_transcripts")

    @tool(effects=[], touches=lambda _: ())
    async def wait() -> str:
        """Wait to be stopped."""
        hermes.runtime.turns.interrupt("s")
        return "stopped"

    hermes.tmp_plugin(wait)
    await hermes.run("go", session="s")
    assert [line["role"] for line in lines(folder, "s")] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("kept", [0, 1, 30, 45, 52, 53, 54, 60, 105, 106, 107, 150])
async def test_one_that_was_cut_is_completed(folder, kept):
    archive = Archive("one", "two", "three")
    await follow(folder, archive)
    path = folder / f"{ID}.jsonl"
    path.write_bytes(path.read_bytes()[:kept])
    archive.say("four")
    await follow(folder, archive)
    assert contents(folder) == ["one", "two", "three", "four"]


@given(cut=st.integers(0, 400), junk=st.binary(max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_is_at_its_end_it_says_what_was_said(tmp_path_factory, cut, junk):
    folder = tmp_path_factory.mktemp("any")
    archive = Archive("one")
    results = [ToolResult(call_id=text, name="t", parts=(Text(text=text),)) for text in "ab"]
    archive.said.append(Message(role="tool", parts=tuple(results)))
    await follow(folder, archive)
    path = folder / f"{ID}.jsonl"
    path.write_bytes(path.read_bytes()[:cut] + junk)
    archive.say("last")
    await follow(folder, archive)
    assert contents(folder) == ["one", "a", "b", "last"]


async def test_a_long_line_that_was_cut_is_removed_whole(folder):
    archive = Archive("one", "x" * 300_000)
    await follow(folder, archive)
    path = folder / f"{ID}.jsonl"
    path.write_bytes(path.read_bytes()[:-1000])
    archive.say("three")
    await follow(folder, archive)
    assert contents(folder) == ["one", "x" * 300_000, "three"]
    await follow(folder, archive)
    assert archive.asked[-1] == 3  # nothing is read twice


async def test_one_without_numbers_is_written_anew(folder):
    folder.mkdir(parents=True)
    (folder / f"{ID}.jsonl").write_text('{"role": "user", "content": "old", "row": 7}\n[1]\n' * 3_000)
    await follow(folder, Archive("one", "two"))
    assert contents(folder) == ["one", "two"]


async def test_what_another_process_wrote_is_not_written_twice(folder, monkeypatch):
    archive = Archive("one")
    await follow(folder, archive)
    other = Archive("one", "two", "three")
    read = archive.read

    async def meanwhile(*arguments, **options):
        rows = await read(*arguments, **options)
        await follow(folder, other)
        return rows

    archive.say("two", "three", "four")
    monkeypatch.setattr(archive, "read", meanwhile)
    await follow(folder, archive)
    assert contents(folder) == ["one", "two", "three", "four"]


async def test_one_that_is_deleted_meanwhile_is_written_whole(folder, monkeypatch):
    archive = Archive("one", "two")
    await follow(folder, archive)
    read = archive.read

    async def deleted(*arguments, **options):
        monkeypatch.setattr(archive, "read", read)
        (folder / f"{ID}.jsonl").unlink()
        return await read(*arguments, **options)

    archive.say("three")
    monkeypatch.setattr(archive, "read", deleted)
    await follow(folder, archive)
    assert contents(folder) == ["one", "two", "three"]


async def test_a_long_past_is_written_in_pieces(folder):
    archive = Archive(*map(str, range(120)))
    await follow(folder, archive)
    assert contents(folder) == [*map(str, range(120))]
    assert archive.asked == [1, 50, 100]


@pytest.mark.parametrize("harm", ["nothing", "deleted", "cut", "forgotten"])
async def test_one_that_is_followed_turn_by_turn_is_asked_for_what_is_new_only(folder, harm):
    """A turn costs one look at what is stored: many chats end turns at once, and are written one after another."""
    transcripts, archive = made(folder), Archive("one", "two")
    session = Session(id=ID, origin="cli", owner=ME)
    await transcripts.follow(archive, session)
    file = folder / f"{ID}.jsonl"
    if harm == "deleted":
        file.unlink()
    elif harm == "cut":
        file.write_bytes(file.read_bytes()[:-5])
    elif harm == "forgotten":
        await transcripts.forget(session)
    archive.say("three")
    await transcripts.follow(archive, session)
    assert contents(folder) == ["one", "two", "three"]
    asked = {"nothing": [1, 2], "deleted": [1, 2, 1], "cut": [1, 2, 1], "forgotten": [1, 1]}
    assert archive.asked == asked[harm]


async def test_secrets_are_not_in_it(folder):
    archive = Archive("say hush")
    picture = Blob(media_type="image/png", path="/hush.png")
    archive.said.append(Message(role="user", parts=(Text(text="hush hush"), picture)))
    await follow(folder, archive)
    shown = {"type": "image_url", "image_url": {"url": "file:///***.png"}}
    assert contents(folder) == ["say ***", [{"type": "text", "text": "*** ***"}, shown]]


async def test_one_that_cannot_be_written_is_said_once_and_fails_nothing(hermes, scripted, folder, caplog):
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    hermes.tmp_plugin(scripted("one", "two"))
    hermes.tmp_plugin("hermes_tool_transcripts")
    with caplog.at_level(logging.WARNING):
        answers = [(await hermes.run("hello", session="s")).text for _ in range(2)]
    assert answers == ["one", "two"]
    assert len([record for record in caplog.records if "Transcripts" in record.message]) == 1


async def test_one_that_cannot_be_removed_is_said(folder, caplog):
    (folder / f"{ID}.jsonl").mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        await made(folder).forget(Session(id=ID, origin="cli", owner=ME))
    assert "cannot be removed" in caplog.text


@pytest.mark.parametrize("error", [UnknownName("session", ID), StoreError("it is gone")])
async def test_a_session_that_cannot_be_read_leaves_no_file(folder, error):
    archive = Archive("one")
    archive.error = error
    await follow(folder, archive)
    assert not folder.exists()


async def test_no_file_stays_open(folder):
    for number in range(20):
        await follow(folder, Archive("one"), f"s{number}")
    links = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert [link for link in links if link.parent == folder] == []
