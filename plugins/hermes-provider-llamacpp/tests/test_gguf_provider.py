"""The provider of files, with a program that only plays the model: what it promises also where llama.cpp is not."""

import asyncio
import sys

import pytest
from played_gguf import PLAYED

from hermes_core.errors import Refused, Unavailable, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Endpoint, Feature, Message, Model, Request, Text, TextDelta
from hermes_provider_llamacpp import engine, files
from hermes_provider_llamacpp.config import Config
from hermes_provider_llamacpp.provider import made


@pytest.fixture
async def provider(file, tmp_path, monkeypatch):
    """A home with two models, of which each process is only played."""
    for name in ("small-Q8", "small-big"):
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / f"{name}.gguf").write_bytes(file.read_bytes())
    monkeypatch.setattr(engine.Engine.__init__, "__kwdefaults__", {"command": (sys.executable, "-c", PLAYED, "well")})
    manifest = read_manifest(manifest_path("hermes_provider_llamacpp"))
    one = made(plugin_context(manifest, tmp_path, config=Config()))
    yield one
    await one.close()


async def said(provider, model, text="hi"):
    request = Request(model=model, messages=(Message(role="user", parts=(Text(text=text),)),))
    async with asyncio.timeout(20):
        deltas = [one async for one in provider.stream(request)]
    return "".join(one.text for one in deltas if isinstance(one, TextDelta))


async def test_a_model_is_found_by_how_its_name_begins_and_has_its_room_by_that_too(provider):
    assert await said(provider, "SMALL-q") == await said(provider, "small-Q8") == await said(provider, "") == "Hello"
    wide = provider.at(Endpoint(name="gguf", context=32_768))
    assert [wide.window(name) for name in ("small-Q8", "SMALL-q", "")] == [2048] * 3  # what it was made for
    assert wide.window("other") == 32_768
    with pytest.raises(Refused, match="There is no GGUF model small-;"):  # two begin like this
        await said(provider, "small-")
    with pytest.raises(UserError, match="takes no address"):
        provider.at(Endpoint(name="gguf", base_url="http://127.0.0.1:1/v1"))
    features = frozenset({Feature.TOOLS})
    listed = [Model(name=name, context=2048, features=features) for name in ("small-Q8", "small-big")]
    assert await provider.models() == listed
    assert b'"model":"small-Q8"' in (await provider.body(Request(model="small-q", messages=()))).replace(b" ", b"")


async def test_memory_is_looked_at_for_each_model_that_is_loaded_and_not_for_the_one_that_is(provider, monkeypatch):
    need = files.found(provider._folder)[0].memory(2048)
    monkeypatch.setattr(files, "free_memory", lambda: need)
    assert await said(provider, "small-Q8") == "Hello"
    monkeypatch.setattr(files, "free_memory", lambda: 1)
    assert await said(provider, "small-Q8") == "Hello"  # it is there already
    assert await said(provider, "small-big") == "Hello"  # it has the memory of the other, which goes
    with (provider._folder / "small-big.gguf").open("ab") as opened:
        opened.truncate(10 * need)
    with pytest.raises(Unavailable, match=r"and 0\.0 GB are free"):
        await said(provider.at(Endpoint(name="gguf")), "small-big")
    with pytest.raises(Unavailable, match="died"):
        await said(provider, "small-big", "die")
    with pytest.raises(Unavailable, match="small-Q8 needs"):  # what was held is not any more
        await said(provider, "small-Q8")


async def test_its_process_is_told_no_keys_also_where_their_names_begin_like_those_of_the_library(
    provider, monkeypatch
):
    for name in ("OPENAI_API_KEY", "LLAMA_API_KEY", "LLAMA_CLOUD_API_KEY", "GGML_FIGURE"):
        monkeypatch.setenv(name, "x-123456")
    told = (await said(provider, "small-Q8", "env")).split()
    assert "GGML_FIGURE" in told
    assert not [name for name in told if "KEY" in name]
