"""Text, sizes and depths that break programs: what a person, a tool, a file name, a stored row or a clock may bring."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import frozen
from hostile_dialects import strict

from hermes_agent import Agent
from hermes_core.agent.reply import read_arguments
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import Platform, ToolContext, tool
from hermes_core.testing import Call
from hermes_core.types import Ended, Envelope, Message, Progress, Returned, Text, ToolResult

NAUGHTY = {
    "lone surrogates": "a \ud83d b \ude00 c",
    "surrogates that belong together": "\ud83d\ude00",
    "NUL": "a\x00b",
    "bidirectional controls": "\u202e\u2066evil\u2069",
    "escape sequences": "\x1b[2J\x1b]0;title\x07\x1b]8;;http://x\x07",
    "zero width": "\u200b\u200d\ufeff",
    "combining": "Z" + "\u0341" * 5000,
    "every control": "".join(map(chr, range(1, 32))),
    "noncharacters": "\ufffe\uffff\U0010ffff",
    "one long line": "x" * 500_000,
}


@frozen
class Words:
    text: str = ""


@tool(idempotent=True, touches=lambda _: ())
async def shout(words: Words) -> str:
    """Shout."""
    return words.text


def bodies(hermes, store) -> list[str]:
    """Every stored text of messages and calls."""
    connection = store.database.connection
    rows = [body for (body,) in connection.execute("SELECT body FROM messages")]
    return rows + [text for (text,) in connection.execute("SELECT arguments FROM tool_calls")]


@pytest.mark.parametrize("kind", NAUGHTY)
async def test_odd_text_goes_round_whole_and_sound(hermes, scripted, kind):
    text = NAUGHTY[kind]

    @tool(touches=lambda _: ())
    async def read() -> str:
        """Read."""
        return text

    @tool(touches=lambda _: ())
    async def fail() -> str:
        """Fail."""
        raise ToolError(text)

    model = scripted([Call("read"), Call("fail"), Call("shout", {"text": text})], text, "ok")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(read, fail, shout)
    assert (await hermes.run(text, session="s")).reason == "done"
    assert (await hermes.run("go on", session="s")).text == "ok"
    store = await hermes.runtime.store()
    for body in bodies(hermes, store):
        strict(body)
    for request in model.requests:  # what is sent now is what would be sent after a restart
        for message in request.messages:
            for part in message.parts:
                told = part.parts if isinstance(part, ToolResult) else (part,)
                for one in told:
                    if isinstance(one, Text):
                        one.text.encode()
                        assert "\x00" not in one.text
    history = await store.history.load("s")
    sent = list(model.requests[-1].messages[1:])
    assert sent[:-1] == history[: len(sent) - 1]
    assert await store.history.search(hermes.runtime.owner, "evil") is not None


async def test_what_no_model_reads_is_refused_plainly(hermes, scripted):
    hermes.tmp_plugin(scripted("ok"))
    await hermes.run("x" * 10_000_000, session="s")
    with pytest.raises(HermesError, match="10,000,001 characters; at most 10,000,000"):
        await hermes.run("x" * 10_000_001, session="s")
    assert len(await (await hermes.runtime.store()).history.load("s")) == 2


@pytest.mark.parametrize("name", ["../../x", "a/b", "..", ".", "a\x00b", "x" * 300, "a\nb", "\ud800", "a\\b"])
async def test_a_session_is_never_named_by_what_is_no_file_name(hermes, scripted, name, tmp_path):
    hermes.tmp_plugin(scripted())
    with pytest.raises(HermesError, match="cannot be the id of a session"):
        await hermes.run("hello", session=name)
    assert not list(tmp_path.rglob("*.jsonl"))


async def test_a_long_output_is_kept_whole_in_its_own_file(hermes, scripted):
    """Some services number the calls of every reply from one: their outputs must not overwrite each other."""

    @tool(touches=lambda _: ())
    async def long(words: Words) -> str:
        """Be long."""
        return words.text * 3_000_000

    hermes.tmp_plugin(
        scripted([Call("long", {"text": "é"}, id="call_0")], "a", [Call("long", {"text": "\ud800"}, id="call_0")], "b")
    )
    hermes.tmp_plugin(long)
    told = []
    for _ in range(2):
        events = [event async for event in hermes.turn("go", session="s")]
        told += [event.result.parts[0].text for event in events if isinstance(event, Returned)]
    assert all(len(text) < 60_000 for text in told)
    paths = [Path(text.split("the whole output is in ")[1].split(" …")[0]) for text in told]
    assert paths[0] != paths[1]
    assert paths[0].read_text() == "é" * 3_000_000
    assert paths[1].read_text() == "\ufffd" * 3_000_000


async def test_live_output_that_nobody_takes_does_not_pile_up(hermes, scripted):
    """A command that prints for ever, watched over a slow line, must not fill the memory."""

    @tool(touches=lambda _: ())
    async def chatty(context: ToolContext) -> str:
        """Say much."""
        for number in range(10_000):
            context.progress(f"line {number}\n")
        return "said"

    hermes.tmp_plugin(scripted([Call("chatty")], "ok"))
    hermes.tmp_plugin(chatty)
    events = []
    async for event in hermes.turn("go"):
        events.append(event)
        await asyncio.sleep(0)
    assert 0 < sum(isinstance(e, Progress) for e in events) < 200
    assert [e.result.parts[0].text for e in events if isinstance(e, Returned)] == ["said"]
    assert isinstance(events[-1], Ended)


async def test_a_row_that_cannot_be_read_does_not_lose_the_session(hermes, scripted):
    model = scripted([Call("shout", {"text": "hi"})], "one", "two")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(shout)
    await hermes.run("hello", session="s")
    store = await hermes.runtime.store()
    deep = '{"role":"assistant","parts":' + "[" * 10_000 + "]" * 10_000 + "}"
    rows = store.database.connection.execute("SELECT id FROM messages ORDER BY id").fetchall()
    broken = (deep, "{", '{"role":"tool"}', '{"parts":[]}')
    for (row,), body in zip(rows, broken, strict=True):
        store.database.connection.execute("UPDATE messages SET body = ? WHERE id = ?", (body, row))
    assert (await hermes.run("still there?", session="s")).text == "two"
    assert "cannot be read" in str(model.requests[-1].messages)
    assert await store.history.search(hermes.runtime.owner, "hello") is not None
    assert await store.sessions.list(hermes.runtime.owner)
    assert await store.history.tool_calls(hermes.runtime.owner) is not None


@pytest.mark.parametrize("broken", ["params", "touches", "result"])
async def test_a_broken_tool_does_not_take_its_siblings_along(hermes, scripted, broken):
    def touching(_):
        raise RuntimeError("touches")

    @tool(touches=touching if broken == "touches" else lambda _: ())
    async def bad(words: Words):
        """Be bad."""
        return 7 if broken == "result" else "well"

    hermes._options["strict"] = False
    hermes.tmp_plugin(
        scripted([Call("bad", {"text": 10**400} if broken == "params" else {}), Call("shout", {"text": "good"})], "ok")
    )
    hermes.tmp_plugin(bad, shout)
    events = [e async for e in hermes.turn("go")]
    assert {e.call.name: e.result.parts[0].text for e in events if isinstance(e, Returned)}["shout"] == "good"
    assert events[-1].reason == "done"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": [1e999]}',
        "[" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '{"a":' * 300 + "1" + "}" * 300,
    ],
)
def test_arguments_that_no_provider_would_take_back_are_refused(text):
    arguments, why = read_arguments(text)
    assert arguments == {}
    assert why


def test_a_file_full_of_braces_is_no_deep_nesting():
    content = json.dumps([{"a": {}}] * 20_000)
    assert read_arguments(json.dumps({"content": content})) == ({"content": content}, "")


def test_arguments_lose_what_cannot_be_stored():
    assert read_arguments('{"\\ud800a": ["b", "\\ud83d\\ude00"]}') == ({"\ufffda": ["b", "😀"]}, "")


@pytest.mark.parametrize("text", ['{"a": ["\\u0000b"]}', '{"a": {"b\\u0000": 1}}', '{"path": "a\\u0000b"}'])
def test_arguments_with_a_nul_are_refused_not_changed(text):
    arguments, why = read_arguments(text)
    assert arguments == {}
    assert "NUL character" in why


async def test_the_clock_may_go_back_an_hour(hermes, scripted, monkeypatch):
    hermes.tmp_plugin(scripted("one", [Call("shout", {"text": "x"})], "two", "three"))
    hermes.tmp_plugin(shout)
    await hermes.run("first", session="s")
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 3600)
    assert (await hermes.run("second", session="s")).text == "two"
    assert (await hermes.run("third", session="t")).text == "three"
    store = await hermes.runtime.store()
    said = [p.text for m in await store.history.load("s") for p in m.parts if isinstance(p, Text)]
    assert said == ["first", "one", "second", "two"]
    assert [row.session.id for row in await store.sessions.list(hermes.runtime.owner)] == ["t", "s"]
    assert (await store.history.tool_calls(hermes.runtime.owner))[0].seconds >= 0


async def test_file_names_with_newlines_and_broken_text(hermes, scripted, tmp_path):
    """The real shell and the real folder."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "two\nlines").write_text("x")
    (place / os.fsdecode(b"caf\xe9\xff")).write_text("y")
    hermes.tmp_plugin("hermes_backend_local")
    hermes.tmp_plugin("hermes_tool_terminal")
    hermes.tmp_plugin("hermes_tool_files")
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(place), "policy.mode": "off"})
    calls = [
        Call("terminal", {"command": "ls; printf '\\xff\\xfe\\x00 done'"}),
        Call("list_files", {"path": "."}),
        Call("search_files", {"pattern": "x", "target": "files"}),
        Call("read_file", {"path": "two\nlines"}),
    ]
    hermes.tmp_plugin(scripted(calls, "ok"))
    events = [e async for e in hermes.turn("go", session="s")]
    results = {e.call.name: e.result for e in events if isinstance(e, Returned)}
    assert "done" in results["terminal"].parts[0].text
    assert "invisible character" in results["read_file"].parts[0].text  # such a name has two readings on a screen
    assert not results["list_files"].failed
    for body in bodies(hermes, await hermes.runtime.store()):
        strict(body)


class OneLetter(Platform):
    """Brings messages and keeps what is sent."""

    name = "letters"
    limit = 4000

    def __init__(self, *texts: str) -> None:
        self._texts, self.sent = texts, []

    async def receive(self):
        for number, text in enumerate(self._texts):
            message = Message(role="user", parts=(Text(text=text),))
            yield Envelope(platform="letters", account="", event_id=str(number), chat="c", sender="x", message=message)

    async def send(self, chat, message, key):
        self.sent.append(message.parts[0].text)


async def test_a_platform_brings_and_gets_anything(hermes, scripted):
    texts = [text for kind, text in NAUGHTY.items() if text.strip() and not text.startswith("/")]
    hermes.tmp_plugin(scripted(*(text for text in texts)))
    platform = OneLetter(*texts)
    hermes.tmp_plugin(platform)
    await hermes.serve(platform)
    assert len(platform.sent) >= len(texts)
    for text in platform.sent:
        text.encode()
        assert len(text) <= platform.limit
    for body in bodies(hermes, await hermes.runtime.store()):
        strict(body)


@pytest.mark.long
@pytest.mark.parametrize("given", [b"caf\xe9 \xff\xed\xa0\x80", b"\x1b[2J \xe2\x80\xae"])
def test_the_command_line_takes_any_bytes(tmp_path, given):
    env = {**os.environ, "HERMES_HOME": str(tmp_path / "home"), "LC_ALL": "C"}
    command = [sys.executable, "-m", "hermes_core", "--provider", "offline", "-z"]
    for done in (
        subprocess.run([*command, given], env=env, capture_output=True, cwd=tmp_path, check=False),
        subprocess.run([*command, "-"], env=env, input=given + b"\x00", capture_output=True, cwd=tmp_path, check=False),
    ):
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


def test_the_agent_of_a_script_says_it_too(tmp_path):
    with Agent(home=tmp_path / "home", provider="offline") as agent, pytest.raises(HermesError):
        agent.run("x" * 10_000_001)
