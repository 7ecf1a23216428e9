"""What each slash command does, typed by a person who waits for the answer."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from attrs import evolve
from slash_typist import Typist, asked

from hermes_core.errors import UserError
from hermes_core.kinds import Jobs, Resource, ToolContext, tool
from hermes_core.testing import Bench, Call, FakeConversation
from hermes_core.types import Job, Model, Session, SlashCommand
from hermes_tool_commands.help import commands, help  # noqa: A004 - it is called so


@pytest.fixture
def hermes(hermes: Bench) -> Bench:
    """A kernel with the commands."""
    hermes.tmp_plugin("hermes_tool_commands")
    return hermes


# --- what was said ----------------------------------------------------------------------------------------------------


async def test_undo_takes_back_several_and_never_more_than_there_is(hermes, scripted) -> None:
    provider = scripted("1", "2", "3", "4")
    hermes.tmp_plugin(provider)
    hermes.configure({"display.confirm_commands": False})
    said = await Typist().types(hermes, "a", "b", "c", "/undo 2", "d", "/undo 99", "/undo", "/undo x", "/history")
    assert asked(provider) == ["a", "d"]
    assert "the last 2 exchanges" in said[3]
    assert "the last 2 exchanges" in said[5]
    assert said[5].endswith("There are no more since it began or was compacted; see /rewind.")
    assert said[6] == "There is nothing to take back since it began or was compacted; see /rewind."
    assert "is no number" in said[7]
    assert "user: b" in said[8], "nothing is deleted"
    assert "were taken back" in said[8]


async def test_undo_holds_in_the_next_process_and_in_a_copy(hermes, scripted) -> None:
    provider = scripted("1", "2", "3", "4")
    hermes.tmp_plugin(provider)
    hermes.configure({"display.confirm_commands": False})
    await Typist().types(hermes, "keep", "forget", "/undo")
    await hermes.runtime.sessions.close()
    await Typist().types(hermes, "/resume latest", "on", "/branch Copy", "there")
    assert asked(provider, 2) == ["keep", "on"]
    assert asked(provider, 3) == ["keep", "on", "there"]


async def test_rewind_goes_on_before_a_message_and_leaves_the_session_as_it_was(hermes, scripted) -> None:
    provider = scripted(*"12345678")
    hermes.tmp_plugin(provider)
    hermes.configure({"display.confirm_commands": False})
    said = await Typist().types(
        hermes,
        "/rewind",
        "a",
        "b",
        "lost",
        "also",
        "/undo",
        "/undo",
        "c",
        "d",
        "/rewind",
        "/rewind 9",
        "/rewind 2",
        "e",
    )
    assert said[0] == "There is nothing to go back to."
    assert said[9].splitlines()[1:] == ["    1  d", "    2  c", "    3  b", "    4  a"]
    assert "You have said 4 messages here" in said[10]
    assert said[11].startswith("This is before 'c' now, in a copy, ")
    assert asked(provider) == ["a", "b", "e"]
    back = said[11].partition(". ")[2].partition(" goes")[0]
    await Typist().types(hermes, back, "f")
    assert asked(provider) == ["a", "b", "c", "d", "f"]


async def test_rewind_goes_behind_what_was_compacted(hermes, scripted) -> None:
    from hermes_core.types import Message, Text

    provider = scripted("1" * 500, "2", "3", "4")
    hermes.tmp_plugin(provider)
    hermes.configure({"display.confirm_commands": False})
    await Typist().types(hermes, "a", "b", "c")
    store, owner = await hermes.runtime.store(), hermes.runtime.owner
    [row] = await store.sessions.list(owner)
    block = Message(role="user", parts=(Text(text="so far"),), meta={"hermes": {"stands": "x"}})
    kept = (await store.history.load(row.session.id))[-2:]
    known = Message(role="assistant", parts=(Text(text="I know."),))
    await store.history.replace(owner, row.session.id, [block, known, *kept], "memory/x")
    said = await Typist().types(hermes, "/resume latest", "/undo 2", "/rewind 2", "d")
    assert said[1].endswith("see /rewind.")
    assert said[2].startswith("This is before 'a'")
    assert asked(provider, 3) == ["d"]


async def test_what_has_no_price_is_said_to_have_none(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("1"))
    said = await Typist().types(hermes, "hi", "/usage", "/insights")
    assert said[1].endswith(" out, no price.")
    assert said[2].endswith(" out, no price")


async def test_a_branch_leaves_the_session_as_it_was(hermes, scripted) -> None:
    provider = scripted("1", "2", "3")
    hermes.tmp_plugin(provider)
    said = await Typist().types(hermes, "/fork", "a", "/title First", "/fork Second", "b", "/resume First", "c")
    assert said[0] == "There is nothing to branch off from yet."
    assert "/resume" in said[3]
    assert asked(provider, 1) == ["a", "b"]
    assert asked(provider, 2) == ["a", "c"]


async def test_a_session_is_saved_and_no_file_is_overwritten(hermes, scripted, tmp_path) -> None:
    hermes.tmp_plugin(scripted("**fine**"))
    out, data = tmp_path / "out.md", tmp_path / "out.json"
    said = await Typist().types(hermes, "/save", "hi", f"/save {out}", f"/save {out}", f"/save {data}", "/save /no/x")
    assert said[0] == "Nothing was said yet."
    assert out.read_text().endswith("## user\n\nhi\n\n## assistant\n\n**fine**\n")
    assert "is there already" in said[3]
    assert [m["content"] for m in json.loads(data.read_text())["messages"]] == ["hi", "**fine**"]
    assert "/no/x" in said[5]


async def test_retry_asks_what_nobody_could_answer(hermes, scripted) -> None:
    provider = scripted("one", "again", "and again")
    hermes.tmp_plugin(provider)
    await Typist().types(hermes, "hi", "/retry", "/new", "/resume latest", "/retry")
    assert asked(provider) == ["hi", "hi", "hi"]


async def test_something_is_done_in_the_background(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("fore", "back"))
    typist = Typist()
    serving = asyncio.create_task(hermes.serve(typist))
    await typist.service.say("/bg")
    await typist.service.say("hi")
    await typist.service.say("/bg look around")
    async with asyncio.timeout(20):
        while len(typist.outbox) < 4:
            await asyncio.sleep(0.001)
    name = (await typist.service.seen())[2].partition("/resume ")[2].split()[0]
    await typist.service.say(f"/resume {name}")
    await typist.service.leave()
    await serving
    said = [*await typist.service.seen()]
    assert said[0].startswith("Say what is to be done")
    assert said[3].startswith(f"Done in the background ({name}): look around\n\nback")
    assert "assistant: back" in said[4]


# --- how a turn is run ------------------------------------------------------------------------------------------------


async def test_a_model_answers_once_here_or_for_good(hermes, scripted) -> None:
    provider = scripted("1", "2", "3", models=[Model(name=name) for name in ("scripted-1", "other", "big-20260101")])
    hermes.tmp_plugin(provider)
    said = await Typist().types(
        hermes, "/model other --once", "a", "b", "/model big --provider scripted", "/model", "c",
        "/model big --global", "/model a b", "/model --nope", "/model bigg", "/model scripted:zzz --once", "/model g",
    )  # fmt: skip
    assert [r.model for r in provider.requests] == ["other", "scripted-1", "big"]
    assert said[4] == "Answering: big from scripted."
    assert "in every new conversation" in said[6]
    assert {"provider: scripted", "default: big"} <= {
        line.strip() for line in (hermes.runtime.home.root / "config.yaml").read_text().splitlines()
    }
    assert said[7] == said[8]
    assert [text.partition(".")[0] for text in said[9:]] == [
        f"There is no model named '{n}'" for n in ("bigg", "zzz", "g")
    ]


async def test_effort_busy_and_yolo(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    said = await Typist().types(
        hermes, "/effort high", "/reasoning low --global", "/reasoning huge", "/busy steer", "/busy now", "/yolo",
        "/status", "/yolo", "/whoami",
    )  # fmt: skip
    assert said[0].startswith("Effort: high")
    assert said[1] == "model.effort is low, from now on."
    assert "no effort 'huge'" in said[2]
    assert "turn: steer" in said[3]
    assert "no way 'now'" in said[4]
    assert said[5].startswith("YOLO")
    assert "Mode: off" in said[6]
    assert said[7].startswith("Asking again")
    assert "Permission mode: ask" in said[8]


async def test_a_tool_started_conversation_changes_nothing_for_good(hermes, scripted, monkeypatch) -> None:
    hermes.tmp_plugin(scripted())
    monkeypatch.setenv("HERMES_RUN", "1")
    lines = ("/yolo", "/config agent.busy steer", "/model scripted-1 --global", "/reload", "/save", "/permission off")
    said = await Typist().types(hermes, *lines)
    assert all("started by a tool of hermes" in text for text in said), said
    assert not (hermes.runtime.home.root / "config.yaml").exists()


# --- the program -----------------------------------------------------------------------------------------------------


async def test_settings_are_shown_and_set_and_secrets_are_not_shown(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    said = await Typist().types(
        hermes, "/config agent.busy steer", "/config agent.busy", "/config agent.busy maybe", "/config nothing",
        "/config model.api_key sk-abcdefghijklmnop", "/config model.api_key", "/config", "/config policy.mode smart",
        "/config model",
    )  # fmt: skip
    assert said[0] == "agent.busy is steer, from now on."
    assert said[1].startswith("agent.busy = steer\n")
    assert "must be one of" in said[2]
    assert "no setting named 'nothing'" in said[3]
    assert "sk-abc" not in "".join(said)
    assert "agent.busy = steer" in said[6]
    assert said[7] == "policy.mode is smart, from the next start."
    assert "model.effort = " in said[8]
    assert hermes.runtime.settings.config.agent.busy == "steer"


async def test_reload_takes_over_what_it_can_and_names_the_rest(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    home = hermes.runtime.home.root

    class Editor(Typist):
        async def send(self, chat, message, key):
            (home / "config.yaml").write_text("agent: {busy: steer}\npolicy: {mode: smart}\n")
            return await super().send(chat, message, key)

    said = await Editor().types(hermes, "/version", "/reload", "/config agent.busy")
    assert "need a new start: policy." in said[1]
    assert said[2].startswith("agent.busy = steer")


async def test_tools_are_switched_off_for_one_platform_and_for_new_sessions(hermes, scripted) -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "seen"

    provider = scripted("1", "2", Call("look"), "3", "4")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(look)
    said = await Typist().types(
        hermes, "a", "/tools disable look", "/tools", "b", "c", "/new", "d", "/tools enable look", "/new", "/tools",
        "/tools disable nothing", "/toolsets",
    )  # fmt: skip
    assert "in conversations that begin from now on" in said[1]
    assert "(switched off here)" in said[2]
    names = [[t.name for t in request.tools] for request in provider.requests]
    assert names == [["look"], ["look"], ["look"], ["look"], []], "a session that knows of it keeps it"
    assert said[9].startswith("    look ")
    assert "no tool named 'nothing'" in said[10].lower()
    assert "look" in said[11]


async def test_the_program_tells_of_itself_without_secrets(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    hermes.configure({"providers.acme.api_key": "sk-proj-0123456789abcdefghij"})
    said = await Typist().types(hermes, "/debug", "/plugins", "/profile", "/version", "/insights", "/insights 5")
    assert "model: scripted-1 from scripted" in said[0]
    assert "sk-proj" not in "".join(said)
    assert "at work" in said[1]
    assert str(hermes.runtime.home.root) in said[2]
    assert "Nothing was used in 5 days" in said[5]


# --- completion -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("/bg", "/bg"),
        ("/help und", "undo"),
        ("/effort hi", "high"),
        ("/permission s", "smart"),
        ("/busy ", "queue"),
        ("/q ", "clear"),
        ("/config agent.bus", "agent.busy"),
        ("/config agent.busy ", "agent.busy queue"),
        ("/config display.confirm_commands f", "display.confirm_commands false"),
        ("/tools d", "disable"),
        ("/tools disable lo", "disable look"),
        ("/tools disable a lo", "disable a look"),
        ("/model scripted-", "scripted-1"),
        ("/model scripted:", "scripted:scripted-1"),
        ("/resume Fir", "First"),
        ("/exit ", "--delete"),
    ],
)
async def test_what_may_follow_is_offered(hermes, scripted, line, first) -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "seen"

    hermes.tmp_plugin(scripted("1"))
    hermes.tmp_plugin(look)
    typist = Typist()
    await typist.types(hermes, "hi", "/title First")
    assert typist.console is not None
    found = (await typist.console.complete("x", line))[0]
    assert found.text == first
    whole = line[: len(line) - found.replaces] + found.text
    assert whole == (first if first.startswith("/") else whole_of(line, first))


def whole_of(line: str, choice: str) -> str:
    """The line with what may follow in the place of the last word, or of all that follows the command."""
    head, _, rest = line.partition(" ")
    before = rest.rpartition(" ")[0]
    return f"{head} {choice}" if choice.startswith(before) or not before else f"{head} {before} {choice}"


async def test_models_are_not_asked_for_at_every_key(hermes, scripted) -> None:
    provider, asks = scripted("1"), []
    models = provider.models

    async def counted():
        asks.append(1)
        return await models()

    provider.models = counted
    hermes.tmp_plugin(provider)
    typist = Typist()
    await typist.types(hermes, "hi")
    assert typist.console is not None
    asks.clear()
    for line in ("/model ", "/model s", "/model sc"):
        await typist.console.complete("x", line)
    assert len(asks) == 1


def test_the_efforts_that_are_offered_are_those_of_the_settings() -> None:
    from hermes_core.config.schema import EFFORTS
    from hermes_tool_commands import table

    assert table.EFFORTS == EFFORTS


async def test_a_grant_is_listed_and_taken_back(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("1"))
    typist = Typist()
    said = await typist.types(hermes, "hi", "/permission grants", "/permission forget", "/permission forget 9")
    assert said[1] == "You granted nothing beyond single calls."
    assert "Say which one" in said[2]
    assert "There is no grant 9" in said[3]


async def test_the_path_of_a_message_is_told(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("hello"))
    said = await Typist().types(hermes, "/why", "hi", "/why", "/why nothing")
    assert said[0] == "You have said nothing yet."
    assert said[2].splitlines()[0].startswith("Message ")
    assert said[2].endswith("It was answered where it was asked; nothing had to be sent.")
    assert said[3] == "No message of yours is named 'nothing'."


# --- what runs beside it ----------------------------------------------------------------------------------------------


class Kettles(Jobs):
    """One kettle."""

    name = "kettle"
    on = True

    async def running(self, session):
        return [Job(id="1", kind="process", title="boil\nwater", since=1.0)] if self.on else []

    async def stop(self, session, job):
        was, self.on = self.on, False
        return was


async def test_what_runs_is_listed_and_stopped(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(Kettles())
    assert await hermes.slash("/jobs") == "    kettle:1  running  boil water"
    assert await hermes.slash("/jobs stop kettle:1") == "kettle:1 is stopped."
    assert "does not run" in await hermes.slash("/jobs stop kettle:1")
    assert await hermes.slash("/jobs") == "Nothing runs beside this conversation."
    with pytest.raises(UserError, match="/jobs stop ID"):
        await hermes.slash("/jobs kettle:1")


class Lamps(Resource):
    """A lamp in every session."""

    name = "lamp"

    def __init__(self) -> None:
        self.lit = 0

    async def open(self, session, workspace):
        self.lit += 1
        return self.lit

    async def close(self, thing):
        self.lit -= 1


@tool(name="light")
async def light(context: ToolContext) -> str:
    """Light it."""
    return str(await context.resource("lamp"))


async def test_what_a_session_keeps_open_is_closed_when_another_begins(hermes, scripted) -> None:
    lamps = Lamps()
    hermes.tmp_plugin(scripted([Call("light")], "Lit."))
    hermes.tmp_plugin(light, lamps, name="house")
    said = await Typist().types(hermes, "light it", "/jobs", "/new", "/jobs")
    assert "resource:lamp  idle  lamp" in said[-3]
    assert said[-1] == "Nothing runs beside this conversation."
    assert lamps.lit == 0


# --- which there are --------------------------------------------------------------------------------------------------


async def test_help_lists_what_somebody_may_use_and_explains_one() -> None:
    async def nothing(_session: Session, _rest: str) -> str:
        return ""

    long = SlashCommand(name="wipe", summary="wipe all", run=nothing, usage="[a|b|c|d|e|f|g|h]", aliases=("w",))
    short = evolve(long, name="mine", summary="show what is mine", usage="[N]", aliases=(), at_once=True)
    here = FakeConversation(commands=[long, short])
    ctx = SimpleNamespace(conversation=lambda _: here)
    listed = (await help(ctx, here.session, "")).splitlines()
    assert listed[:3] == ["    /wipe …    wipe all", "    /mine [N]  show what is mine", ""]
    assert (await help(ctx, here.session, "w")).splitlines()[1:3] == ["    wipe all", "    also: /w"]
    assert (await commands(ctx, here.session, "9")).endswith("mine\n\nPage 1 of 1.")
    with pytest.raises(UserError, match="no command /none"):
        await help(ctx, here.session, "/none")
