"""What plugins may ask of a whole kernel: about models, about what its plugins add, about settings."""

import pytest

from hermes_core import hookimpl
from hermes_core.errors import ConfigError, NotPermitted, UnknownName, UserError
from hermes_core.kinds import tool
from hermes_core.types import Effect, Message, Text

HELLO = Message(role="user", parts=(Text(text="Hello."),))


@tool(toolset="voice")
async def shout() -> str:
    """Shout."""
    return "AH"


@hookimpl
async def on_session_start(ctx, session) -> None:
    """A plugin has to do something."""


@tool(
    toolset="post", effects=[Effect.SEND], needs=lambda session: "nobody is there" if session.origin == "cli" else None
)
async def post() -> str:
    """Post it."""
    return "posted"


@pytest.fixture
def broker(hermes):
    """A broker of a plugin that asks for some permissions."""

    def make(name, *kernel):
        label = hermes.tmp_plugin(on_session_start, name="desk", manifest={"permissions": {"kernel": [*kernel]}})
        return getattr(hermes.runtime.plugin_context(hermes.runtime.index.get(label)), name)

    return make


@pytest.fixture
def models(hermes, scripted, broker):
    def make(*kernel, answered=True):
        if answered:
            hermes.tmp_plugin(scripted())
        hermes.tmp_plugin(shout)
        return broker("models", *kernel)

    return make


async def test_the_first_request_of_a_conversation_is_made_and_not_sent(hermes, models) -> None:
    made = models("llm.call")
    blocks, request = await made.opening(HELLO)
    system, said = request.messages
    assert said is HELLO
    assert "\n\n".join(block.text for block in blocks) == system.parts[0].text
    assert [spec.name for spec in request.tools] == ["shout"]
    assert request.model == "scripted-1"
    assert await made.body(request) == b"", "a script is sent nothing"
    store = await hermes.runtime.store()
    assert await store.sessions.list(hermes.runtime.owner) == []


async def test_nobody_looks_at_models_without_the_permission(models) -> None:
    made = models("sessions.read")
    with pytest.raises(NotPermitted, match=r"looked at your models"):
        await made.opening(HELLO)


async def test_who_may_answer_is_listed_with_the_permission_only(hermes, models) -> None:
    made = models("llm.call")
    assert [row.name for row in await made.providers()] == ["scripted"]
    assert [row.model.name for row in await made.list()] == ["scripted-1"]
    assert [row.provider for row in await made.list("scripted")] == ["scripted"]


async def test_nobody_lists_models_without_the_permission(models) -> None:
    made = models()
    for ask in (made.providers(), made.list()):
        with pytest.raises(NotPermitted, match=r"looked at your models"):
            await ask


async def test_plugins_are_listed_with_how_each_is(hermes, broker) -> None:
    hermes.tmp_plugin(shout, name="loud")
    plugins = broker("plugins")
    assert {row.label: row.loaded for row in plugins.list()}["tool/loud"] is False
    hermes.runtime.toolbox()
    (row,) = (row for row in plugins.list() if row.label == "tool/loud")
    assert (row.loaded, row.faults) == (True, ())


async def test_where_nobody_can_answer_it_says_so(hermes, models) -> None:
    hermes.configure({"model.provider": "nobody"})
    with pytest.raises(UserError):
        await models("llm.call", answered=False).opening(HELLO)


async def test_tools_are_told_with_whether_they_are_on_and_why_not(hermes, broker) -> None:
    hermes.configure({"agent.disabled_tools": ["shout"], "agent.disabled_on": {"telegram": ["post"]}})
    hermes.tmp_plugin(shout, post)
    plugins = broker("plugins")
    here = {row.name: row for row in await plugins.tools()}
    assert (here["shout"].off, here["shout"].hidden) == (True, "")
    assert (here["post"].off, here["post"].hidden) == (False, "nobody is there")
    assert (here["post"].toolset, here["post"].effects) == ("post", frozenset({Effect.SEND}))
    there = {row.name: row for row in await plugins.tools("telegram")}
    assert (there["post"].off, there["post"].hidden) == (True, "")
    assert not any(row.off for row in await plugins.tools("discord") if row.name == "post")


async def test_settings_are_read_and_written_with_the_permission_only(broker) -> None:
    settings = broker("settings", "settings.write")
    assert (await settings.get("agent.busy")).value == "queue"
    await settings.set("agent.disabled_tools", '["a", "b"]')
    assert (await settings.get("agent.disabled_tools")).value == ["a", "b"]
    await settings.set("agent.disabled_on.telegram", '["c"]')
    assert (await settings.get("agent.disabled_on")).value == {"telegram": ["c"]}
    assert (await settings.unset("agent.disabled_on.telegram")).value == {}
    with pytest.raises(UnknownName):
        await settings.get("agent.nonsense")


async def test_settings_are_shut_without_the_permission(broker) -> None:
    settings = broker("settings", "sessions.read")
    for ask in (settings.list(), settings.get("agent.busy"), settings.set("agent.busy", "steer"), settings.unset("x")):
        with pytest.raises(NotPermitted, match="looked into the settings"):
            await ask


async def test_settings_are_listed_changed_and_taken_back(broker) -> None:
    settings = broker("settings", "settings.write")
    row = await settings.get("agent.busy")
    assert row.schema["enum"] == ["queue", "steer", "interrupt"]
    assert row.value == row.default == "queue"
    assert not row.written
    changed = await settings.set("agent.busy", "steer")
    assert (changed.value, changed.written) == ("steer", True)
    assert (await settings.get("agent.busy")).value == "steer"
    assert not (await settings.unset("agent.busy")).written
    with pytest.raises(ConfigError, match=r"agent\.busy"):
        await settings.set("agent.busy", "sometimes")
    with pytest.raises((UnknownName, ConfigError)):
        await settings.set("agent.buzy", "steer")


async def test_no_secret_is_among_the_settings(hermes, broker) -> None:
    hermes.configure({"providers": {"custom": {"base_url": "http://x", "api_key": "sk-very-secret-000"}}})
    hermes.configure({"model": {"api_key": "sk-very-secret-000"}})
    rows = await broker("settings", "settings.write").list()
    assert "very-secret" not in repr(rows)
    assert next(row for row in rows if row.key == "model.api_key").secret


async def test_who_answers_is_ready_whatever_it_says_of_itself(hermes, scripted, broker, monkeypatch) -> None:
    model = scripted()

    async def shy() -> bool:
        return False

    hermes.tmp_plugin(model)
    models = broker("models", "llm.call")
    row = await models.current()
    assert (row.provider, row.model.name) == ("scripted", "scripted-1")
    monkeypatch.setattr(model, "ready", shy)
    assert [row.ready for row in await models.providers()] == [True]


async def test_who_answers_is_nobodys_business_without_the_permission(models) -> None:
    with pytest.raises(NotPermitted):
        await models("sessions.read").current()
