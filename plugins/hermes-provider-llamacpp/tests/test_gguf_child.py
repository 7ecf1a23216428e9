"""The process that holds a model keeps its promises whatever the library does; here the library is played."""

import asyncio
import sys
from contextlib import aclosing

import pytest

from hermes_core.errors import Refused, Unavailable
from hermes_provider_llamacpp.engine import Engine, Model

CHILD = """
import os, sys
from types import ModuleType, SimpleNamespace
library = ModuleType("xllamacpp")
class Params(SimpleNamespace):
    def __init__(self): super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(n_threads=0))
class Server:
    def __init__(self, params):
        self.params = params
        os.write(1, b"a banner that is none of ours\\n")
        if params.model.path == "/broken": raise RuntimeError("Failed to init")
        self.place = os.getcwd()
    def handle_chat_completions(self, body, chunk):
        if body["do"] == "fail": raise TypeError("no such thing")
        if body["do"] == "sing":
            while not chunk("la"): pass
            return
        params = self.params
        chunk([params.n_ctx, params.cpuparams.n_threads, params.ctx_shift, os.path.exists(self.place), os.getcwd()])
library.CommonParams, library.Server = Params, Server
sys.modules["xllamacpp"] = library
from hermes_provider_llamacpp.child import main
main()
"""


@pytest.fixture
async def engine():
    one = Engine(idle=60.0, command=(sys.executable, "-c", CHILD))
    yield one
    await one.close()


async def told(engine, do, path="/m.gguf"):
    async with asyncio.timeout(20):
        return [event async for event in engine.ask(Model(path=path, room=512, threads=3), {"do": do})]


async def test_it_answers_fails_is_taken_back_and_goes_on(engine):
    assert await told(engine, "say") == [[512, 3, False, False, "/"]]  # and the place where it would listen is gone
    holder = engine.process_id
    with pytest.raises(Refused, match="no such thing"):
        await told(engine, "fail")
    async with aclosing(engine.ask(engine.model, {"do": "sing"})) as song:
        assert await anext(song) == "la"
    assert await told(engine, "say")
    assert engine.process_id == holder
    with pytest.raises(Unavailable, match="/broken cannot be loaded: Failed to init"):
        await told(engine, "say", "/broken")
    assert engine.model is None


async def test_it_ends_by_itself_when_nobody_can_ask_it_any_more(engine):
    assert await told(engine, "say")
    process = engine._running.process
    process.stdin.close()
    async with asyncio.timeout(20):
        await process.wait()  # with which status is not always known: whoever reaps children was first
