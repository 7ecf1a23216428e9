"""What becomes of a question is certain whatever the process of the model does; here one that only plays it."""

import asyncio
import sys
from contextlib import aclosing

import pytest
from played_gguf import PLAYED

from hermes_core.errors import ContextTooLong, Refused, Unavailable
from hermes_core.types import Message, Request, Text, TextDelta
from hermes_provider_llamacpp import engine as engines
from hermes_provider_llamacpp.call import stream_events
from hermes_provider_llamacpp.engine import Engine, Model

FILE = Model(path="/m.gguf", room=5)


@pytest.fixture
async def playing():
    made = []

    def make(how="well", idle=60.0):
        made.append(Engine(idle=idle, command=(sys.executable, "-c", PLAYED, how)))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def answer(engine, text, model=FILE):
    request = Request(model="m", messages=(Message(role="user", parts=(Text(text=text),)),))
    async with asyncio.timeout(20):
        deltas = [one async for one in stream_events(engine, model, request, "m", {})]
    return "".join(one.text for one in deltas if isinstance(one, TextDelta))


async def test_it_answers_and_says_what_went_wrong_and_goes_on(playing):
    engine = playing()
    assert await answer(engine, "hi") == "Hello"
    first = engine.process_id
    with pytest.raises(Refused, match="Expected 'messages'"):
        await answer(engine, "bad")
    with pytest.raises(ContextTooLong) as told:
        await answer(engine, "long")
    assert told.value.window == 5
    assert await answer(engine, "hi") == "Hello"
    assert engine.process_id == first
    for last in ("die", "garbage"):  # it is of no use any more, and another one is begun
        with pytest.raises(Unavailable, match="died"):
            await answer(engine, last)
        assert await answer(engine, "hi") == "Hello"
    assert engine.process_id != first
    before = engine.process_id
    assert await answer(engine, "hi", Model(path="/other.gguf", room=5)) == "Hello"
    assert engine.process_id != before  # one model at a time


@pytest.mark.parametrize(("how", "told"), [("broken", "no memory for it"), ("refused", "Failed to init")])
async def test_a_model_that_cannot_be_loaded_says_why(playing, how, told):
    with pytest.raises(Unavailable, match=told) as error:
        await answer(playing(how), "hi")
    assert error.value.text.isprintable()  # the library quotes what is in a file


@pytest.mark.parametrize("how", ["well", "deaf"])
async def test_what_is_taken_back_ends_also_where_nobody_listens(playing, monkeypatch, how):
    monkeypatch.setattr(engines, "_GRACE", 0.05)
    engine = playing(how)
    request = Request(model="m", messages=(Message(role="user", parts=(Text(text="wait"),)),))
    async with aclosing(stream_events(engine, FILE, request, "m", {})) as deltas:
        await anext(deltas)
    before = engine.process_id
    assert await answer(engine, "hi") == "Hello"
    assert (engine.process_id == before) is (how == "well")


async def test_after_a_while_without_a_question_its_memory_is_free(playing):
    engine = playing(idle=0.0)
    assert await answer(engine, "hi") == "Hello"
    async with asyncio.timeout(20):
        while engine.process_id:
            await asyncio.sleep(0)
    assert await answer(engine, "hi") == "Hello"
