"""A model in a file answers, calls, keeps to a schema, and lets go."""

import asyncio
import json
import os
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from hermes_core.errors import ContextTooLong, Refused, Unavailable, UserError
from hermes_core.types import CallDelta, Done, Endpoint, Message, Request, Text, TextDelta, ToolSpec, UsageDelta
from hermes_provider_llamacpp import files
from hermes_provider_llamacpp.config import Config
from hermes_provider_llamacpp.engine import Engine, Model

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("engine")]

NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
ADD = ToolSpec(name="add", description="Add.", schema={"type": "object", "properties": NUMBERS, "required": ["a", "b"]})
WORD = {"type": "object", "properties": {"word": {"const": "x"}}, "required": ["word"], "additionalProperties": False}


def asked(text, **more):
    return Request(model="certain-Q8", messages=(Message(role="user", parts=(Text(text=text),)),), **more)


async def heard(provider, request):
    async with asyncio.timeout(30):
        return [one async for one in provider.stream(request)]


def text_of(deltas):
    return "".join(one.text for one in deltas if isinstance(one, TextDelta))


async def test_it_says_calls_and_keeps_to_a_schema(at):
    provider = at()
    said = await heard(provider, asked("Hi"))
    assert text_of(said) == "Hello."
    assert len([one for one in said if isinstance(one, TextDelta)]) > 1  # piece by piece
    assert said[-1] == Done(reason="stop")
    usage = [one.usage for one in said if isinstance(one, UsageDelta)][-1]
    assert (usage.input > 5, usage.output, provider.price("x").input) == (True, 3, 0.0)
    called = await heard(provider, asked("Add 2 and 3", tools=(ADD,)))
    [call] = {(one.name, one.arguments) for one in called if isinstance(one, CallDelta) and one.name}
    arguments = "".join(one.arguments for one in called if isinstance(one, CallDelta))
    assert (call[0], json.loads(arguments), called[-1].reason) == ("add", {"a": 2, "b": 3}, "tools")
    other = ToolSpec(name="add", description="Add.", schema=WORD)  # which is not what the model would write
    held = await heard(provider, asked("Add", tools=(other,), options={"max_tokens": 200, "temperature": 0.0}))
    arguments = "".join(one.arguments for one in held if isinstance(one, CallDelta))
    assert "".join(arguments.split()).startswith('{"word":"x"')  # a grammar holds it to the schema of the tool
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    held = await heard(provider, asked("Hi", options={"schema": schema, "max_tokens": 40, "temperature": 0.0}))
    assert json.loads(text_of(held)).keys() == {"ok"}  # a grammar holds it: the model itself would greet


async def test_what_is_taken_back_ends_and_the_model_stays(at):
    provider = at()
    async with aclosing(provider.stream(asked("sing"))) as song:
        async for _ in song:
            break
    holder = provider._engine.process_id
    assert text_of(await heard(provider, asked("Hi"))) == "Hello."
    assert provider._engine.process_id == holder
    cut = await heard(provider, asked("sing", options={"max_tokens": 5}))
    assert (text_of(cut), cut[-1].reason) == ("la" * 5, "length")


async def test_its_process_listens_nowhere_knows_no_secrets_and_leaves_nothing(at, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123456")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    provider = at()
    await heard(provider, asked("Hi"))
    holder = provider._engine.process_id
    assert b"sk-secret" not in Path(f"/proc/{holder}/environ").read_bytes()
    assert list(tmp_path.iterdir()) == []  # the place it would listen at is gone
    sockets = {str(one.readlink()) for one in Path(f"/proc/{holder}/fd").iterdir() if one.is_symlink()}
    numbers = {one[8:-1] for one in sockets if one.startswith("socket:")}
    for table in ("tcp", "tcp6"):
        rows = [line.split() for line in Path(f"/proc/{holder}/net/{table}").read_text().splitlines()[1:]]
        assert not [row for row in rows if row[9] in numbers]
    await provider.close()
    assert not Path(f"/proc/{holder}").exists()
    assert text_of(await heard(provider, asked("Hi"))) == "Hello."  # and may be used again


async def _rest_of(deltas):
    return [one async for one in deltas]


async def test_a_process_that_is_killed_is_an_error_once(at):
    provider = at()
    song = provider.stream(asked("sing"))
    await anext(song)
    os.kill(provider._engine.process_id, 9)
    with pytest.raises(Unavailable, match="died"):
        await _rest_of(song)
    assert text_of(await heard(provider, asked("Hi"))) == "Hello."


async def test_it_ends_when_nobody_is_there_any_more(at):
    engine = at()._engine
    events = engine.ask(Model(path=str(at()._file("").path), room=512, gpu_layers=0), {"messages": 3, "stream": True})
    with pytest.raises(Refused, match="messages"):
        await anext(events)
    running = engine._running.process
    running.stdin.close()
    async with asyncio.timeout(20):
        assert await running.wait() == 0


async def test_what_does_not_fit_is_told_with_the_room_there_is(at):
    provider = at(context=512)
    with pytest.raises(ContextTooLong) as told:
        await heard(provider, asked("word " * 900))
    assert told.value.window == 512
    assert provider.window("certain-Q8") == 512


async def test_files_that_are_no_models_are_told(at, file, tmp_path):
    (tmp_path / "cut.gguf").write_bytes(file.read_bytes()[:-70_000])
    (tmp_path / "text.gguf").write_text("hello, this is a text and no model at all")
    provider = at(folder=tmp_path)
    assert [one.name for one in await provider.models()] == ["cut"]  # its header is whole
    with pytest.raises(Unavailable, match=r"cut\.gguf cannot be loaded"):
        await heard(provider, Request(model="cut", messages=asked("x").messages))
    with pytest.raises(Refused, match="cannot be used"):
        await heard(provider, Request(model="text", messages=asked("x").messages))
    with pytest.raises(Refused, match="There is no GGUF model other"):
        await heard(provider, Request(model="other", messages=asked("x").messages))
    with pytest.raises(Refused, match="no GGUF file in"):
        await heard(at(folder=tmp_path / "none"), asked("x"))
    assert not await at(folder=tmp_path / "none").ready()


async def test_memory_is_told_before_it_is_taken(at, file, monkeypatch):
    [one] = files.found(file.parent)
    assert (one.header.context, one.room(0), one.room(900)) == (2048, 2048, 900)
    assert one.memory(1000) == one.size + 1000 * one.header.cache
    monkeypatch.setattr(files, "free_memory", lambda: 1000)
    with pytest.raises(Unavailable, match="of memory"):
        await heard(at(), asked("Hi"))
    assert text_of(await heard(at(config=Config(threads=1, gpu_layers=0, check_memory=False)), asked("Hi"))) == "Hello."


async def test_without_llama_cpp_it_says_what_to_install(file):
    child = "import sys; sys.modules['xllamacpp'] = None; from hermes_provider_llamacpp.child import main; main()"
    engine = Engine(idle=60, command=(sys.executable, "-c", child))
    with pytest.raises(Unavailable) as told:
        await anext(engine.ask(Model(path=str(file), room=512), {"messages": []}))
    assert told.value.hint == "pip install 'hermes-provider-llamacpp[engine]'"
    await engine.close()


def test_it_takes_no_address(at):
    with pytest.raises(UserError, match="takes no address"):
        at().at(Endpoint(name="gguf", base_url="http://127.0.0.1:8080/v1"))
