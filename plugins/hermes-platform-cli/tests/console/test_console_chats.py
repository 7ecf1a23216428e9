"""What a console lays out for its platform: completion, work beside a conversation, and how each chat stands."""

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from hermes_core.errors import NotPermitted, UnknownName
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Completer, Console, Jobs
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import (
    Choice,
    Job,
    Session,
    SlashCommand,
)

MAY = {"permissions": {"kernel": ["turns.run", "sessions.read"]}}


async def opened(hermes: Bench, platform: FakePlatform) -> Console:
    """What the platform may ask; its people leave at once, and it can still be asked."""
    await platform.service.leave()
    await hermes.serve(platform)
    assert platform.console
    return platform.console


@pytest.fixture
def open_chats(hermes: Bench) -> Any:
    async def made(*things: object, manifest: Any = MAY) -> Console:
        platform = FakePlatform()
        hermes.tmp_plugin(platform, manifest=manifest)
        for thing in things:
            hermes.tmp_plugin(thing)
        hermes.runtime.loader.load_contributing("platforms")
        return await opened(hermes, platform)

    return made


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


async def test_work_is_listed_shown_and_stopped_and_who_fails_costs_nobody(open_chats: Any, scripted: Any) -> None:
    chats = await open_chats(scripted(), Kitchen(), Broken())
    jobs = await chats.jobs("c")
    assert [(job.id, job.title) for job in jobs] == [("kitchen:soup", "boil soup"), ("kitchen:tea", "boil tea")]
    assert await chats.job_output("c", "kitchen:tea") == "tea is warm"
    assert await chats.stop_job("c", "kitchen:tea")
    assert not await chats.stop_job("c", "kitchen:tea")
    assert not await chats.stop_job("c", "nobody:1")
    assert [job.id for job in await chats.jobs("c")] == ["kitchen:soup"]


class Radio(Kitchen):
    """It speaks, and something boils that nobody hears."""

    async def running(self, session: Session) -> Sequence[Job]:
        return [
            evolve(job, state="speaking" if job.id == "tea" else "running") for job in await super().running(session)
        ]


async def test_the_key_that_stops_a_turn_silences_what_is_said_aloud(open_chats: Any, scripted: Any) -> None:
    chats = await open_chats(scripted(), Radio())
    assert not await chats.interrupt("c"), "nothing was said here yet"
    assert len(await chats.jobs("c")) == 2
    assert await chats.interrupt("c")
    assert [job.id for job in await chats.jobs("c")] == ["kitchen:soup"]
    assert not await chats.interrupt("c")


async def test_nothing_is_looked_at_or_stopped_without_the_permission(open_chats: Any, scripted: Any) -> None:
    chats = await open_chats(scripted(), Kitchen(), manifest={})
    for ask in (chats.jobs("c"), chats.job_output("c", "kitchen:tea"), chats.stop_job("c", "x"), chats.open("c", "s")):
        with pytest.raises(NotPermitted):
            await ask


async def test_a_line_goes_on_with_commands_options_and_words_of_plugins(
    hermes: Bench, open_chats: Any, scripted: Any
) -> None:
    async def run(session: Session, rest: str) -> str:
        return ""

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        return [Choice(size, "a size") for size in ("small", "large") if size.startswith(rest)]

    @hookimpl
    def register_slash_commands() -> list[SlashCommand]:
        return [SlashCommand(name="portion", summary="how much", run=run, options=options, aliases=("much",))]

    hermes.tmp_plugin(register_slash_commands, manifest={"contributes": {"slash": ["portion", "much"]}})
    chats = await open_chats(scripted(), Dishes(), Crash())
    assert Choice("/portion", "how much", 3) in await chats.complete("c", "/po")
    assert [one.text for one in await chats.complete("c", "/muc")] == ["/much"]
    assert await chats.complete("c", "/portion l") == [Choice("large", "a size", 1)]
    assert await chats.complete("c", "I want @s") == [Choice("@soup", "", 2), Choice("@salad", "", 2)]
    assert await chats.complete("c", "mail me@s") == []
    assert await chats.complete("c", "nothing") == []


async def test_a_chat_goes_on_in_an_earlier_session(hermes: Bench, open_chats: Any, scripted: Any) -> None:
    chats = await open_chats(scripted())
    known = Session(id="known", origin="cli", owner=hermes.runtime.owner, title="soup")
    await (await hermes.runtime.store()).sessions.create(known)
    assert (await chats.open("c", known.id)).id == known.id
    assert chats.status("c")["session"] == known.id
    assert chats.status("c")["title"] == "soup"
    with pytest.raises(UnknownName):
        await chats.open("c", "nosuch")


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
    found = {one.name: one for one in (await opened(hermes, platform)).commands}
    assert found["bell"].summary == "ring"
    assert found["help"].summary != "not this one"
