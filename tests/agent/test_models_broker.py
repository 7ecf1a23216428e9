"""What plugins may ask of models: what a conversation would begin with, and nothing without the permission."""

import pytest

from hermes_core import hookimpl
from hermes_core.errors import NotPermitted, UserError
from hermes_core.kinds import tool
from hermes_core.types import Message, Text

HELLO = Message(role="user", parts=(Text(text="Hello."),))


@tool(toolset="voice")
async def shout() -> str:
    """Shout."""
    return "AH"


@hookimpl
async def on_session_start(ctx, session) -> None:
    """A plugin has to do something."""


@pytest.fixture
def models(hermes, scripted):
    def make(*kernel, answered=True):
        if answered:
            hermes.tmp_plugin(scripted())
        hermes.tmp_plugin(shout)
        label = hermes.tmp_plugin(on_session_start, name="size", manifest={"permissions": {"kernel": [*kernel]}})
        return hermes.runtime.broker("models", hermes.runtime.index.get(label))

    return make


async def test_the_first_request_of_a_conversation_is_made_and_not_sent(hermes, models) -> None:
    broker = models("llm.call")
    blocks, request = await broker.opening(HELLO)
    system, said = request.messages
    assert said is HELLO
    assert "\n\n".join(block.text for block in blocks) == system.parts[0].text
    assert [spec.name for spec in request.tools] == ["shout"]
    assert request.model == "scripted-1"
    assert await broker.body(request) == b"", "a script is sent nothing"
    store = await hermes.runtime.store()
    assert await store.list_sessions(hermes.runtime.owner) == []


async def test_nobody_looks_at_models_without_the_permission(models) -> None:
    broker = models("sessions.read")
    with pytest.raises(NotPermitted, match=r"looked at your models"):
        await broker.opening(HELLO)


async def test_where_nobody_can_answer_it_says_so(hermes, models) -> None:
    hermes.configure({"model.provider": "nobody"})
    with pytest.raises(UserError):
        await models("llm.call", answered=False).opening(HELLO)
