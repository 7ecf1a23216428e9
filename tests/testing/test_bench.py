"""The ``hermes`` fixture: a whole kernel with only what the test put in."""

import sys
from pathlib import Path

import pytest
from attrs import frozen

from hermes_core import hookimpl, tool
from hermes_core.embed import Hermes
from hermes_core.errors import HermesError, Refused, UserError
from hermes_core.testing import Call, Fail, Say
from hermes_core.types import ToolResult

HELLO = Path(__file__).parents[2] / "docs" / "hello"


@frozen
class Pair:
    a: int
    b: int


@tool
async def add(pair: Pair) -> str:
    """Add two whole numbers."""
    return str(pair.a + pair.b)


async def test_a_scripted_model_answers_through_the_whole_kernel(hermes, scripted):
    hermes.tmp_plugin(scripted("Hello."))
    assert (await hermes.run("Hi.")).text == "Hello."


async def test_a_tool_that_was_put_in_is_run(hermes, scripted):
    provider = scripted(Call("add", {"a": 2, "b": 3}), "It is 5.")
    hermes.tmp_plugin(provider, add)
    assert (await hermes.run("What is 2 + 3?")).text == "It is 5."
    results = [p for p in provider.requests[1].messages[-1].parts if isinstance(p, ToolResult)]
    assert [p.parts[0].text for p in results] == ["5"]


async def test_a_hook_that_was_put_in_is_called(hermes, scripted):
    seen = []

    @hookimpl
    async def post_tool_call(call):
        seen.append(call.name)

    hermes.tmp_plugin(scripted(Call("add", {"a": 1, "b": 1}), "2"), add)
    hermes.tmp_plugin(post_tool_call)
    await hermes.run("1 + 1?")
    await hermes.close()
    assert seen == ["add"]


async def test_a_real_plugin_is_put_in_by_its_module(hermes, scripted, monkeypatch):
    monkeypatch.syspath_prepend(HELLO / "tool" / "src")
    for name in ("hermes_tool_clock", "hermes_tool_clock.clock"):  # whatever this imports is gone afterwards
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    assert hermes.tmp_plugin("hermes_tool_clock") == "tool/clock"
    provider = scripted(Call("now", {"hours": 9}), "It is late.")
    hermes.tmp_plugin(provider)
    await hermes.run("What time is it in Seoul?")
    assert "+09:00" in provider.requests[1].messages[-1].parts[0].parts[0].text


async def test_an_error_of_the_model_reaches_the_caller(hermes, scripted):
    hermes.tmp_plugin(scripted(Fail(Refused("No."))))
    with pytest.raises(HermesError, match="No"):
        await hermes.run("Hi.")


async def test_a_session_goes_on(hermes, scripted):
    provider = scripted("One.", Say("Two.", thinking="Hm."))
    hermes.tmp_plugin(provider)
    session = (await hermes.run("First.")).session
    await hermes.run("Second.", session=session)
    assert [m.role for m in provider.requests[1].messages][-3:] == ["user", "assistant", "user"]


async def test_settings_and_plugins_come_before_the_first_turn(hermes, scripted):
    hermes.configure({"agent.identity": "You are a parrot."})
    provider = scripted("Hello.")
    hermes.tmp_plugin(provider)
    await hermes.run("Hi.")
    assert "You are a parrot." in provider.requests[0].messages[0].parts[0].text
    with pytest.raises(UserError):
        hermes.tmp_plugin(add)
    with pytest.raises(UserError):
        hermes.configure({"agent.identity": "You are a fish."})


async def test_what_is_neither_a_kind_nor_a_hook_is_refused(hermes):
    with pytest.raises(UserError):
        hermes.tmp_plugin(object())


async def test_real_discovery_is_refused(hermes):
    with pytest.raises(RuntimeError, match="tmp_plugin"):
        Hermes().runtime  # noqa: B018
