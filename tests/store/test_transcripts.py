"""Transcripts follow the rows, mend themselves, and never stop a turn."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_core.store.journal import Store, open_store
from hermes_core.types import Message, Session, Text, ToolCall, ToolResult

Reopen = Callable[..., Store]
ID = "20260101_000000_aaaaaa"


@pytest.fixture(autouse=True)
async def session(store: Store) -> None:
    await store.create_session(Session(id=ID, origin="cli"))


async def say(store: Store, text: str) -> int:
    return await store.add_message(ID, Message(role="user", parts=(Text(text=text),)))


def contents(folder: Path) -> list[str]:
    lines = (folder / f"{ID}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["content"] for line in lines]


async def test_each_line_is_one_openai_message(store: Store, folder: Path) -> None:
    call = ToolCall(id="c", name="ls", arguments={"p": 1})
    result = ToolResult(call_id="c", name="ls", parts=(Text(text="한글"),))
    row = await say(store, "hello\nworld")
    await store.add_message(ID, Message(role="assistant", parts=(call,)))
    await store.add_message(ID, Message(role="tool", parts=(result,)))
    lines = [json.loads(line) for line in (folder / f"{ID}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"role": "user", "content": "hello\nworld", "row": row}
    assert lines[1]["tool_calls"][0]["function"] == {"name": "ls", "arguments": '{"p":1}'}
    assert (lines[2]["role"], lines[2]["tool_call_id"], lines[2]["content"]) == ("tool", "c", "한글")


@pytest.mark.parametrize("kept", [0, 1, 30, 45, 46, 60, 91])
async def test_a_transcript_that_was_cut_is_completed(store: Store, folder: Path, reopen: Reopen, kept: int) -> None:
    for text in ("one", "two", "three"):
        await say(store, text)
    store.close()
    path = folder / f"{ID}.jsonl"
    path.write_bytes(path.read_bytes()[:kept])
    again = reopen(folder)
    await say(again, "four")
    assert contents(folder) == ["one", "two", "three", "four"]
    again.close()


async def test_a_long_line_that_was_cut_is_removed_whole(store: Store, folder: Path, reopen: Reopen) -> None:
    await say(store, "one")
    await say(store, "x" * 300_000)
    store.close()
    path = folder / f"{ID}.jsonl"
    path.write_bytes(path.read_bytes()[:-1000])
    again = reopen(folder)
    await say(again, "three")
    assert contents(folder) == ["one", "x" * 300_000, "three"]
    again.close()


async def test_rows_of_another_process_are_in_it(store: Store, folder: Path, reopen: Reopen) -> None:
    await say(store, "one")
    silent = reopen()
    await say(silent, "two")
    silent.close()
    loud = reopen(folder)
    await say(loud, "three")
    loud.close()
    await say(store, "four")
    assert contents(folder) == ["one", "two", "three", "four"]


async def test_more_sessions_than_open_files_all_have_their_transcript(store: Store, folder: Path) -> None:
    names = [f"20260101_0000{number:02d}_bbbbbb" for number in range(20)]
    for name in names:
        await store.create_session(Session(id=name, origin="cli"))
    for text in ("one", "two"):
        for name in names:
            await store.add_message(name, Message(role="user", parts=(Text(text=text),)))
    for name in names:
        assert len((folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()) == 2


async def test_a_transcript_that_cannot_be_written_is_said_once_and_fails_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    store = open_store(tmp_path / "other.db", transcripts=blocked)
    await store.create_session(Session(id=ID, origin="cli"))
    with caplog.at_level(logging.WARNING):
        await say(store, "one")
        await say(store, "two")
    assert len(await store.history(ID)) == 3  # one, a word about the missing answer, two
    assert len([record for record in caplog.records if "Transcripts" in record.message]) == 1
    store.close()
