"""What a manifest tells of a slash command: it is shown without an import, and what it says holds."""

import pytest
from slash_typist import Typist

from hermes_core.agent.slash.registry import Registry
from hermes_core.errors import NotPermitted
from hermes_core.hooks import hookimpl
from hermes_core.slash import usable
from hermes_core.types import Session, SlashCommand

TOLD = {
    "summary": "roll dice",
    "usage": "[SIDES]",
    "group": "Talk",
    "who": "everyone",
    "where": ["terminal"],
    "aliases": ["dice"],
    "examples": ["/roll 6"],
}


async def rolls(_session: Session, rest: str) -> str:
    return f"rolled {rest or 6}"


def put_in(hermes, *given: SlashCommand, **told) -> None:
    @hookimpl
    def register_slash_commands():
        return list(given)

    hermes.tmp_plugin(register_slash_commands, name="dice", manifest={"contributes": {}, "slash": {"roll": told}})


async def test_it_is_shown_as_the_manifest_says_and_imported_when_it_is_used(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    put_in(hermes, SlashCommand(name="roll", run=rolls), **TOLD)
    registry = Registry(hermes.runtime)
    one = registry.table["roll"]
    shown = (one.summary, one.usage, one.group, one.who, one.where, one.aliases, one.examples)
    assert shown == ("roll dice", "[SIDES]", "Talk", "everyone", ["terminal"], ("dice",), ["/roll 6"])
    assert "roll" not in usable(registry.table, "admin", "chat")
    assert "tool/dice" not in hermes.runtime.loader.loaded
    said = await Typist().types(hermes, "/help roll", "/dice 20")
    assert said[0].splitlines() == [
        "/roll [SIDES]",
        "    roll dice",
        "    also: /dice",
        "    for everyone, in a terminal",
        "    for example: /roll 6",
    ]
    assert said[1] == "rolled 20"
    assert "tool/dice" in hermes.runtime.loader.loaded


async def test_code_does_not_widen_what_the_manifest_says(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    put_in(
        hermes, SlashCommand(name="roll", run=rolls, who="everyone", aliases=("help", "gamble")), summary="roll dice"
    )
    assert (await Typist().types(hermes, "/roll", "/gamble"))[1].startswith("There is no command /gamble.")
    table = Registry(hermes.runtime, "chat").table
    assert "roll" in usable(table, "admin", "chat")
    assert "roll" not in usable(table, "user", "chat")


async def test_what_is_for_a_person_no_tool_runs(hermes, scripted, monkeypatch) -> None:
    hermes.tmp_plugin(scripted())
    put_in(hermes, SlashCommand(name="roll", run=rolls, who="everyone"), summary="roll dice", who="person")
    monkeypatch.setenv("HERMES_RUN", "1")
    said = await Typist().types(hermes, "/roll", "/reload", "/whoami")
    assert all("started by a tool of hermes" in one for one in said[:2])
    assert "started by a tool" not in said[2]
    monkeypatch.delenv("HERMES_RUN")
    assert await Typist().types(hermes, "/roll") == ["rolled 6"]
    assert "roll" not in usable(Registry(hermes.runtime, "chat").table, "user", "chat")


async def test_a_command_that_is_told_and_not_there_says_so_when_it_is_used(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    put_in(hermes, summary="roll dice")
    said = await Typist().types(hermes, "/help roll", "/roll", "/roll")
    assert said[0].startswith("/roll\n    roll dice")
    assert said[1] == said[2] == "Plugin tool/dice 0: it adds no command /roll"


async def test_a_question_that_the_record_does_not_tell_of_is_not_left_out(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    put_in(hermes, SlashCommand(name="roll", run=rolls, confirm=lambda rest: "All is lost."), summary="roll dice")
    (said,) = await Typist().types(hermes, "/roll")
    assert said.startswith("Plugin tool/dice 0: /roll asks before a loss, and its record says nothing of it")


async def test_a_question_that_it_tells_of_is_put(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    asks = SlashCommand(name="roll", run=rolls, confirm=lambda rest: "All is lost." if rest else "")
    put_in(hermes, asks, summary="roll dice", confirm=True)
    said = await Typist().types(hermes, "/roll 6", "/roll 6 --once", "/roll", "/help roll")
    assert "All is lost. Really?" in said[0]
    assert said[1:3] == ["rolled 6", "rolled 6"]
    assert "asks before it takes something away" in said[3]


async def test_a_command_without_a_record_or_a_list_is_not_there(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    put_in(hermes, SlashCommand(name="roll", run=rolls), SlashCommand(name="more", run=rolls), summary="roll dice")
    assert (await Typist().types(hermes, "/more"))[0].startswith("There is no command /more.")
    with pytest.raises(NotPermitted, match="adds 'more' without declaring it"):
        hermes.runtime.index.get("tool/dice").require("contributes", "slash", "more", "adds 'more'")


async def test_one_that_is_only_listed_is_asked_of_the_code(hermes, scripted) -> None:
    @hookimpl
    def register_slash_commands():
        return [SlashCommand(name="roll", summary="old", run=rolls, who="everyone", aliases=("dice", "help", "gamble"))]

    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(register_slash_commands, name="old", manifest={"contributes": {"slash": ["roll", "dice"]}})
    table = Registry(hermes.runtime).table
    assert (table["roll"].summary, table["roll"].aliases, table["roll"].who) == ("old", ("dice",), "everyone")
    assert (await Typist().types(hermes, "/dice 3"))[0] == "rolled 3"
