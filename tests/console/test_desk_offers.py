"""What a desk lays out: settings, models, completion, work beside a conversation, and lines for the person."""

from collections.abc import Sequence
from typing import Any

import pytest

from hermes_core.console.carry import Carrier
from hermes_core.console.desk import RuntimeDesk
from hermes_core.errors import ConfigError, NotPermitted, UnknownName, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Completer, Jobs
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import (
    Choice,
    Ended,
    Envelope,
    Job,
    Message,
    Noticed,
    Session,
    SlashCommand,
    Text,
    Used,
)

MAY = {"permissions": {"kernel": ["turns.run", "sessions.read", "sessions.write", "settings.write"]}}


@pytest.fixture
def open_desk(hermes: Bench) -> Any:
    def made(*things: object, manifest: Any = MAY, desk: Any = RuntimeDesk) -> Any:
        platform = FakePlatform()
        hermes.tmp_plugin(platform, manifest=manifest)
        for thing in things:
            hermes.tmp_plugin(thing)
        hermes.runtime.loader.load_contributing("platforms")
        return desk(hermes.runtime, platform)

    return made


def envelope(text: str) -> Envelope:
    said = Message(role="user", parts=(Text(text=text),))
    return Envelope(platform="fake", account="", event_id=text, chat="c", sender="s", message=said)


class Kitchen(Jobs):
    """Two pots, until they are stopped."""

    name = "kitchen"

    def __init__(self) -> None:
        self.pots = ["soup", "tea"]

    async def running(self, session: Session) -> Sequence[Job]:
        return [Job(id=pot, kind="process", title=f"boil {pot}", since=float(n)) for n, pot in enumerate(self.pots)]

    async def stop(self, session: Session, job: str) -> bool:
        if job not in self.pots:
            return False
        self.pots.remove(job)
        return True

    async def output(self, session: Session, job: str) -> str:
        return f"{job} is warm"


class Broken(Jobs):
    """It cannot say what runs."""

    name = "broken"

    async def running(self, session: Session) -> Sequence[Job]:
        raise RuntimeError("no idea")

    async def stop(self, session: Session, job: str) -> bool:
        raise RuntimeError("no idea")


class Dishes(Completer):
    """Words that begin with ``@``."""

    name = "dishes"
    trigger = "@"

    async def complete(self, session: Session, word: str) -> Sequence[Choice]:
        return [Choice(dish) for dish in ("@soup", "@salad") if dish.startswith(word)]


class Crash(Completer):
    """It fails."""

    name = "crash"
    trigger = "@"

    async def complete(self, session: Session, word: str) -> Sequence[Choice]:
        raise ValueError("spilled")


async def test_settings_are_listed_changed_and_taken_back(open_desk: Any) -> None:
    desk = open_desk()
    rows = {row.key: row for row in await desk.settings.list()}
    assert rows["agent.busy"].schema["enum"] == ["queue", "steer", "interrupt"]
    assert rows["agent.busy"].value == rows["agent.busy"].default == "queue"
    assert not rows["agent.busy"].written
    changed = await desk.settings.set("agent.busy", "steer")
    assert (changed.value, changed.written) == ("steer", True)
    assert {row.key: row for row in await desk.settings.list()}["agent.busy"].value == "steer"
    assert not (await desk.settings.unset("agent.busy")).written
    with pytest.raises(ConfigError, match=r"agent\.busy"):
        await desk.settings.set("agent.busy", "sometimes")
    with pytest.raises((UnknownName, ConfigError)):
        await desk.settings.set("agent.buzy", "steer")


async def test_no_secret_is_among_the_settings(open_desk: Any, hermes: Bench) -> None:
    hermes.configure({"providers": {"custom": {"base_url": "http://x", "api_key": "sk-very-secret-000"}}})
    hermes.configure({"model": {"api_key": "sk-very-secret-000"}})
    rows = await open_desk().settings.list()
    assert "very-secret" not in repr(rows)
    assert next(row for row in rows if row.key == "model.api_key").secret


async def test_settings_need_their_permission(open_desk: Any) -> None:
    desk = open_desk(manifest={})
    with pytest.raises(NotPermitted):
        await desk.settings.list()
    with pytest.raises(NotPermitted):
        await desk.settings.set("agent.busy", "steer")


async def test_work_is_listed_shown_and_stopped_and_who_fails_costs_nobody(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted(), Kitchen(), Broken())
    jobs = await desk.jobs("c")
    assert [(job.id, job.title) for job in jobs] == [("kitchen:soup", "boil soup"), ("kitchen:tea", "boil tea")]
    assert await desk.job_output("c", "kitchen:tea") == "tea is warm"
    assert await desk.stop_job("c", "kitchen:tea")
    assert not await desk.stop_job("c", "kitchen:tea")
    assert not await desk.stop_job("c", "nobody:1")
    assert [job.id for job in await desk.jobs("c")] == ["kitchen:soup"]


async def test_a_line_goes_on_with_commands_options_and_words_of_plugins(
    hermes: Bench, open_desk: Any, scripted: Any
) -> None:
    async def run(session: Session, rest: str) -> str:
        return ""

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        return [Choice(size, "a size") for size in ("small", "large") if size.startswith(rest)]

    @hookimpl
    def register_slash_commands() -> list[SlashCommand]:
        return [SlashCommand(name="portion", summary="how much", run=run, options=options, aliases=("much",))]

    hermes.tmp_plugin(register_slash_commands, manifest={"contributes": {"slash": ["portion"]}})
    desk = open_desk(scripted(), Dishes(), Crash(), desk=Carrier)
    assert Choice("/portion", "how much", 3) in await desk.complete("c", "/po")
    assert [one.text for one in await desk.complete("c", "/muc")] == ["/much"]
    assert await desk.complete("c", "/portion l") == [Choice("large", "a size", 1)]
    assert await desk.complete("c", "I want @s") == [Choice("@soup", "", 2), Choice("@salad", "", 2)]
    assert await desk.complete("c", "mail me@s") == []
    assert await desk.complete("c", "nothing") == []


async def test_models_come_with_their_window_and_price(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted(), desk=Carrier)
    rows = await desk.models()
    assert [row.provider for row in rows] == ["scripted"] * len(rows)
    assert rows
    assert {row.name for row in await desk.providers()} == {"scripted"}


async def test_who_answers_is_ready_whatever_it_says_of_itself(
    open_desk: Any, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted()

    async def shy() -> bool:
        return False

    desk = open_desk(model)
    await desk.prepare()
    monkeypatch.setattr(model, "ready", shy)
    assert [row.ready for row in await desk.providers()] == [True]


async def test_a_chat_goes_on_in_an_earlier_session(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted(), desk=Carrier)
    known = await desk.sessions.create(title="soup")
    assert (await desk.open("c", known.id)).id == known.id
    assert desk.status("c")["session"] == known.id
    assert desk.status("c")["title"] == "soup"
    with pytest.raises(UnknownName):
        await desk.open("c", "nosuch")


async def test_each_model_call_says_what_it_used(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("hello"))
    events = [event async for event in desk.turn(envelope("hi"))]
    used = [event for event in events if isinstance(event, Used)]
    assert len(used) == 1
    assert used[0].usage.calls == 1
    assert isinstance(events[-1], Ended)
    assert used[0].usage == events[-1].usage
    assert used[0].context == used[0].usage.input + used[0].usage.output


async def test_a_plugin_says_one_line_to_the_person_of_the_turn(open_desk: Any, scripted: Any) -> None:
    @hookimpl
    async def transform_incoming(ctx: Any, envelope: Envelope, cwd: str, context: int) -> None:
        ctx.tell(f"too\nlong for {cwd or 'nowhere'} and {context}")

    desk = open_desk(scripted("hello"), transform_incoming)
    events = [event async for event in desk.turn(envelope("hi"))]
    assert "too long for" in next(event.text for event in events if isinstance(event, Noticed))


async def test_a_platform_that_does_not_fit_is_passed_over(hermes: Bench) -> None:
    from hermes_core.cli.chat import fitting
    from hermes_core.cli.scope import Scope

    class Wide(FakePlatform):
        def unfit(self) -> str:
            return "the terminal is too small"

    hermes.tmp_plugin(Wide(name="tui"))
    hermes.tmp_plugin(FakePlatform(name="cli"))
    scope = Scope()
    assert fitting(scope, hermes.runtime, "").name == "cli"
    with pytest.raises(UserError, match="too small"):
        fitting(scope, hermes.runtime, "tui")


async def test_a_platform_whose_settings_are_wrong_says_so(hermes: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    from hermes_core.cli.chat import fitting
    from hermes_core.cli.scope import Scope

    @hookimpl
    def register_platforms(ctx: Any) -> list[FakePlatform]:
        raise ConfigError(["mouse: must be true or false"])

    hermes.tmp_plugin(register_platforms, manifest={"contributes": {"platforms": ["tui"]}})
    hermes.tmp_plugin(FakePlatform(name="cli"))
    with pytest.raises(UserError, match="mouse: must be"):
        fitting(Scope(), hermes.runtime, "tui")
    assert fitting(Scope(), hermes.runtime, "").name == "cli"
    assert "mouse: must be" in capsys.readouterr().err


async def test_a_platform_brings_commands_of_its_own(hermes: Bench, scripted: Any) -> None:
    async def ring(session: Session, rest: str) -> str:
        return f"ring {rest}"

    class Belled(FakePlatform):
        def commands(self) -> Sequence[SlashCommand]:
            return (
                SlashCommand(name="bell", summary="ring", run=ring, where=("terminal",)),
                SlashCommand(name="help", summary="not this one", run=ring, where=("terminal",)),
            )

    hermes.tmp_plugin(scripted())
    platform = Belled()
    hermes.tmp_plugin(platform)
    found = {one.name: one for one in Carrier(hermes.runtime, platform).commands}
    assert found["bell"].summary == "ring"
    assert found["help"].summary != "not this one"
