"""A setup step follows its record: who may run it, what it is called, and when its plugin is imported."""

import pytest

from hermes_core.agent.settings import HomeSettings
from hermes_core.errors import PluginError, UnknownName, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import SetupStep


class Box(SetupStep):
    name = "box"
    summary = "What code says."


def put_in(hermes, *steps: SetupStep, **told) -> HomeSettings:
    @hookimpl
    def register_setup():
        return list(steps)

    hermes.tmp_plugin(register_setup, name="dice", manifest={"contributes": {}, "setup": {"box": told}})
    return HomeSettings(hermes.runtime)


async def test_its_plugin_is_imported_for_it_alone_and_the_record_says_what_it_is(hermes) -> None:
    settings = put_in(hermes, Box(), summary="How many dice.")
    with pytest.raises(UnknownName, match="box"):
        await settings.step("bx")
    assert "tool/dice" not in hermes.runtime.loader.loaded
    assert (await settings.step("box")).summary == "How many dice."


@pytest.mark.parametrize(("told", "refused"), [({}, True), ({"who": "person"}, True), ({"who": "everyone"}, False)])
async def test_no_tool_runs_what_is_for_a_person(hermes, monkeypatch, told, refused) -> None:
    settings = put_in(hermes, Box(), summary="How many dice.", **told)
    monkeypatch.setenv("HERMES_RUN", "1")
    if refused:
        for call in (settings.step("box"), settings.test("box", {})):
            with pytest.raises(UserError, match="started by a tool of hermes"):
                await call
        assert "tool/dice" not in hermes.runtime.loader.loaded
    else:
        assert await settings.test("box", {}) == ""


async def test_a_step_that_is_told_and_not_there_says_so(hermes) -> None:
    with pytest.raises(PluginError, match="it adds no setup step box"):
        await put_in(hermes, summary="How many dice.").step("box")
