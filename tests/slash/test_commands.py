"""The registry of slash commands: other names, help, questions before loss, and the kernel's own."""

from slash_typist import Typist, asked

from hermes_core.agent.slash.registry import Registry
from hermes_core.hooks import hookimpl
from hermes_core.testing import Bench
from hermes_core.types import Buttons, Choice, Ended, Message, Session, SlashCommand, Started, Text, Verdict

# --- the registry -----------------------------------------------------------------------------------------------------


async def test_another_name_is_the_same_command(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("hello"))
    said = await Typist().types(hermes, "hi", "/cost", "/usage", "/V", "/reset")
    assert said[1] == said[2] != ""
    assert said[3].startswith("hermes ")
    assert said[4].startswith("New session")


async def test_a_plugin_and_a_platform_take_no_name_that_is_taken(hermes, scripted) -> None:
    async def theirs(_session: Session, _rest: str) -> str:
        return "theirs"

    @hookimpl
    def register_slash_commands():
        return [
            SlashCommand(name="q", summary="takes the other name of a command", run=theirs),
            SlashCommand(name="think", summary="thinks", run=theirs, aliases=("v", "muse")),
        ]

    hermes.tmp_plugin(scripted())
    declared = {"contributes": {"slash": ["q", "think", "v", "muse"]}}
    hermes.tmp_plugin(register_slash_commands, name="thief", manifest=declared)
    skin = SlashCommand(name="skin", summary="how it looks", run=theirs)
    typist = Typist(own=(skin, SlashCommand(name="help", summary="none", run=theirs)))
    said = await typist.types(hermes, "/q", "/muse", "/v", "/skin", "/help skin")
    assert said[:2] == ["Nothing waits.", "theirs"]
    assert said[2].startswith("hermes ")
    assert said[3] == "theirs"
    assert said[4].startswith("/skin\n    how it looks\n")
    told = [(f.plugin, f.where, f.error) for f in hermes.runtime.dispatch.faults]
    assert told == [
        ("tool/thief", "/q", "/q is somebody else's; it goes without"),
        ("tool/thief", "/think", "/v is somebody else's; it goes without"),
    ]


async def test_a_command_that_falls_is_told_with_its_plugin(hermes, scripted) -> None:
    async def falls(_session: Session, rest: str) -> str:
        raise SystemExit(3) if rest else KeyError("x")

    @hookimpl
    def register_slash_commands():
        return [SlashCommand(name="fall", summary="falls", run=falls)]

    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(register_slash_commands, name="weak", manifest={"contributes": {"slash": ["fall"]}})
    said = await Typist().types(hermes, "/fall", "/fall hard")
    assert said[0] == "Plugin tool/weak: /fall failed: KeyError: 'x'"
    assert said[1] == "Plugin tool/weak: /fall failed: called sys.exit(3)"
    assert {(f.plugin, f.where) for f in hermes.runtime.dispatch.faults} == {("tool/weak", "/fall")}


async def test_no_two_commands_share_a_name(hermes) -> None:
    table = Registry(hermes.runtime).table
    names = [name for one in table.values() for name in (one.name, *one.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and len(name) <= 32 for name in names), "menus of services take these"
    assert all(one.summary and not one.summary.endswith(".") for one in table.values())


async def test_without_its_plugin_a_command_says_where_it_comes_from(tmp_path, scripted) -> None:
    alone = Bench(tmp_path / "alone")
    alone.tmp_plugin(scripted("1"))
    said = await Typist().types(alone, "hi", "/model", "/qiut", "/stop")
    assert said[1].splitlines() == [
        "There is no command /model. There is: /quit.",
        "Most commands come with a plugin: pip install hermes-tool-commands",
    ]
    assert "Did you mean /quit?" in said[2]
    assert said[3].startswith("There is no command /stop. There is: /quit.\nMost commands")
    await alone.close()


async def test_a_foreign_plugin_takes_no_other_name_of_a_plugin_of_ours(hermes, scripted, monkeypatch) -> None:
    async def theirs(_session: Session, _rest: str) -> str:
        return "theirs"

    @hookimpl
    def register_slash_commands():
        return [SlashCommand(name="q", summary="takes the other name of a command", run=theirs)]

    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(register_slash_commands, name="aaa", manifest={"contributes": {"slash": ["q"]}})
    monkeypatch.setattr(hermes.runtime.loader, "is_own", lambda label: label == "tool/commands")
    assert await Typist().types(hermes, "/q") == ["Nothing waits."]


async def test_help_explains_one_command(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    said = await Typist().types(hermes, "/help /q", "/help nothing", "/help")
    assert said[0].splitlines()[0] == "/queue [TEXT|clear]"
    assert "also: /q" in said[0]
    assert "works while a turn runs" in said[0]
    assert "asks before" in said[0]
    assert said[1].startswith("There is no command /nothing.")
    assert max(map(len, said[2].splitlines())) <= 110
    assert "/quit" in said[2]


# --- asking first -----------------------------------------------------------------------------------------------------


def choice(word: str) -> Verdict:
    return Verdict(outcome="allow", choice=word)


async def test_who_waits_is_asked_at_once_and_shown_as_work(hermes, scripted) -> None:
    provider = scripted("one", "two", "three")
    hermes.tmp_plugin(provider)
    typist = Typist(live=True, verdicts=[choice("cancel"), choice("once")])
    said = await typist.types(hermes, "first", "second", "/undo", "/undo", "third")
    assert said[0] == "Nothing was done."
    assert "from 'second' on" in said[1]
    assert [q.choices for q in typist.questions] == [("once", "always", "cancel")] * 2
    assert asked(provider) == ["first", "third"]
    kinds = [type(e) for e in typist.events if isinstance(e, Started | Ended)]
    assert kinds == [Started, Ended] * 5, "who is asked beside a turn has no prompt open meanwhile"


async def test_always_is_kept_and_nothing_is_asked_again(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one", "two"))
    typist = Typist(live=True, verdicts=[choice("always")])
    await typist.types(hermes, "first", "/undo", "second", "/undo")
    assert len(typist.questions) == 1
    assert "confirm_commands: false" in (hermes.runtime.home.root / "config.yaml").read_text()


async def test_who_cannot_be_asked_is_told_how_to_say_yes(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))
    typist = Typist()
    said = await typist.types(hermes, "first", "/undo", "/undo --once")
    assert "`/undo --once` is the yes" in said[1]
    assert "Taken back" in said[2]
    (buttons,) = [p for m in typist.outbox.values() for p in m.parts if isinstance(p, Buttons)]
    assert [b.says for b in buttons.buttons] == ["/undo --once", "/undo --always", "/undo --cancel"]


async def test_what_takes_nothing_away_does_not_ask(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))
    typist = Typist(live=True)
    await typist.types(hermes, "first", "/queue", "/new", "/resume")
    assert not typist.questions


async def test_quit_ends_it_and_deletes_only_when_told(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))
    await Typist().types(hermes, "a", "/quit", "never")
    store = await hermes.runtime.store()
    assert len(await store.sessions.list(hermes.runtime.owner)) == 1
    typist = Typist(live=True, verdicts=[choice("once")])
    said = await typist.types(hermes, "/resume latest", "/exit now", "/exit --delete")
    assert "Write /quit" in said[1]
    assert said[2].endswith("is deleted.")
    assert not await store.sessions.list(hermes.runtime.owner)


def test_the_table_is_the_same_in_every_place(hermes) -> None:
    here, chat = Registry(hermes.runtime), Registry(hermes.runtime, "chat")
    assert list(here.table) == list(chat.table)


# --- one's own --------------------------------------------------------------------------------------------------------


async def test_quick_commands_run_and_stand_for_others(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))
    hermes.tmp_plugin("hermes_backend_local")
    hermes.configure({
        "quick_commands": {
            "greet": {"type": "exec", "command": "echo good day"},
            "fails": {"command": "echo no; exit 3"},
            "back": {"type": "alias", "command": "/undo 1"},
            "lost": {"type": "alias", "command": "/nothing"},
            "new": {"command": "echo mine"},
        }
    })  # fmt: skip
    said = await Typist().types(
        hermes, "/greet", "/fails", "hi", "/back", "/back --once", "/lost", "/new", "/help greet"
    )
    assert said[0] == "good day"
    assert said[1] == "no\n(exit status 3)"
    assert "`/back --once` is the yes" in said[3]
    assert "Taken back" in said[4]
    assert "there is no such command" in said[5]
    assert said[6].startswith("New session"), "a name that is taken stays taken"
    assert "run: echo good day" in said[7]


async def test_each_option_is_a_command_where_none_has_its_name(hermes, scripted) -> None:
    async def run(_session: Session, rest: str) -> Message:
        return Message(role="user", parts=(Text(text=f"do {rest}"),))

    async def options(_session: Session, rest: str) -> list[Choice]:
        return [Choice(name) for name in ("tidy", "help") if name.startswith(rest)]

    @hookimpl
    def register_slash_commands():
        return [SlashCommand(name="deed", summary="do it", run=run, options=options, each=True)]

    provider = scripted("done")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(register_slash_commands, name="deeds", manifest={"contributes": {"slash": ["deed"]}})
    typist = Typist()
    said = await typist.types(hermes, "/tidy the desk", "/help", "/tid")
    assert asked(provider) == ["do tidy the desk"]
    assert "list the commands" in said[1]
    assert "There is no command /tid." in said[2]
    assert typist.console is not None
    assert [c.text for c in await typist.console.complete("x", "/ti")] == ["/title", "/tidy"]
    assert [c.text for c in await typist.console.complete("x", "/hel")] == ["/help"]
