"""What a host is given: what waits, how it is played, stopped and told of, and nothing without the permission."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hermes_core.context import PluginContext
from hermes_core.database import Transaction
from hermes_core.errors import Duplicate, NotPermitted, OutOfReach, UnknownName, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ConsoleDriver, Service
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import Manifest
from hermes_core.store.leases import Busy
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import (
    Approval,
    Ended,
    Envelope,
    Event,
    Message,
    Principal,
    Session,
    Text,
    TurnOrder,
    TurnResult,
    Verdict,
)

MIA, BEN = Principal(person="pager:mia"), Principal(person="pager:ben")


def context(hermes: Bench, *permissions: str) -> PluginContext:
    made = {"api": 1, "name": "pager", "kind": "platform", "summary": "Hears.", "permissions": {"kernel": permissions}}
    return hermes.runtime.plugin_context(
        Installed(label="platform/pager", manifest=Manifest(made), module="pager", path="")
    )


@pytest.fixture
def provider(hermes: Bench, scripted: Any) -> Any:
    provider = scripted()
    hermes.tmp_plugin(provider)
    return provider


@pytest.fixture
def ctx(hermes: Bench, provider: Any) -> PluginContext:
    return context(hermes, "host.serve", "turns.run", "sessions.read")


def envelope(event: str, text: str = "Hi.", sender: str = "mia") -> Envelope:
    said = Message(role="user", parts=(Text(text=text),))
    return Envelope(platform="pager", account="p", event_id=event, chat=sender, sender=sender, message=said)


async def hear(ctx: PluginContext, event: str, owner: Principal = MIA, session: str = "s") -> str:
    await ctx.turns.take_up(session, owner=owner, origin="pager", system="Be short.")
    return await ctx.turns.queue(envelope(event), owner=owner, order=TurnOrder(session=session))


async def ended(events: Any) -> list[Ended]:
    found: list[Event] = [event async for event in events]
    return [event for event in found if isinstance(event, Ended)]


async def test_without_the_permission_there_is_no_host(hermes: Bench, provider: Any) -> None:
    with pytest.raises(NotPermitted, match=r"host\.serve"):
        context(hermes, "turns.run").host.section("agent")


async def test_what_waits_is_played_one_after_another(ctx: PluginContext, provider: Any) -> None:
    provider.add("One.", "Two.")
    assert await hear(ctx, "1") == "s"
    assert await hear(ctx, "1") == ""  # it came before
    await hear(ctx, "2")
    turns = ctx.host.turns
    assert await turns.owner("s") == MIA
    assert [one.envelope and one.envelope.event_id for one in await turns.waiting("s")] == ["1", "2"]
    assert await turns.unplayed({(MIA, "pager", "p")}) == [("s", MIA)]
    assert await turns.unplayed({(BEN, "pager", "p")}) == []
    [one] = await ended(ctx.turns.resume("s", only="waiting", owner=MIA))
    [two] = await ended(ctx.turns.resume("s", only="waiting", owner=MIA))
    assert (one.answer, two.answer, await turns.waiting("s")) == ("One.", "Two.", [])
    assert await ended(ctx.turns.resume("s", only="waiting", owner=MIA)) == []
    assert "Be short." in str(provider.requests[0].messages)
    asked = await ctx.sessions.asked_from("s", MIA)
    assert asked is not None
    assert (asked.chat, asked.message.parts) == ("mia", ())


async def test_nobody_plays_what_waits_for_another(ctx: PluginContext) -> None:
    await hear(ctx, "1")
    with pytest.raises(UnknownName):
        await ended(ctx.turns.resume("s", only="waiting", owner=BEN))
    assert len(await ctx.host.turns.waiting("s")) == 1


async def test_to_resume_plays_what_was_cut_off_and_nothing_that_waits(ctx: PluginContext) -> None:
    await hear(ctx, "1")
    assert await ctx.host.turns.cut("s") is None
    assert await ended(ctx.turns.resume("s", only="cut", owner=MIA)) == []
    assert len(await ctx.host.turns.waiting("s")) == 1


async def test_nobody_goes_on_before_a_turn_that_was_cut_off(ctx: PluginContext, hermes: Bench, provider: Any) -> None:
    provider.add("One.", "Two.")
    await hear(ctx, "1")
    await hear(ctx, "2")
    turns, store = ctx.host.turns, await hermes.runtime.store()
    first, _ = await turns.waiting("s")
    begun: dict[str, Any] = {"turn_id": "t", "holder": "elsewhere", "provider": "scripted", "model": "scripted"}
    await store.journal.open_turn("s", first.message, waited=first.id, **begun)
    assert await ended(ctx.turns.resume("s", only="waiting", owner=MIA)) == []  # who plays the first lives
    await store.journal.leave("elsewhere")
    assert await ended(ctx.turns.resume("s", only="waiting", owner=MIA)) == []  # who played it died
    [one] = await ended(ctx.turns.resume("s", only="cut", owner=MIA))
    [two] = await ended(ctx.turns.resume("s", only="waiting", owner=MIA))
    assert (one.turn_id, one.answer, two.answer) == ("t", "One.", "Two.")


async def test_who_waited_for_the_same_lease_leaves_a_turn_that_was_cut_off(ctx: PluginContext, hermes: Bench) -> None:
    await hear(ctx, "1")
    await hear(ctx, "2")
    store, said = await hermes.runtime.store(), envelope("1").message
    one, two = await ctx.host.turns.waiting("s")
    begun: dict[str, Any] = {"provider": "scripted", "model": "scripted"}
    await store.journal.open_turn("s", said, turn_id="t", holder="elsewhere", waited=one.id, **begun)
    await store.journal.leave("elsewhere")
    with pytest.raises(Busy):
        await store.journal.open_turn("s", said, turn_id="u", holder="here", waited=two.id, patient=True, **begun)
    assert (last := await store.journal.last_turn("s"))
    assert last.state == "open"
    assert [one.id for one in await ctx.host.turns.waiting("s")] == [two.id]


async def test_two_hosts_take_up_one_new_session(ctx: PluginContext, hermes: Bench, scripted: Any) -> None:
    other = Bench(hermes.runtime.home.root)
    other.tmp_plugin(scripted())
    elsewhere = context(other, "host.serve", "turns.run")
    try:
        for one in (ctx, elsewhere):  # neither has written anything
            await one.turns.take_up("s", owner=MIA, origin="pager", system="Be short.")
        for event, one in (("1", ctx), ("2", elsewhere)):
            assert await one.turns.queue(envelope(event), owner=MIA, order=TurnOrder(session="s")) == "s"
        heard = [one.envelope and one.envelope.event_id for one in await ctx.host.turns.waiting("s")]
        assert heard == ["1", "2"]
        with pytest.raises(UserError, match="cannot be used here"):
            await hear(elsewhere, "3", owner=BEN)
    finally:
        await other.close()


async def test_the_end_of_a_turn_and_what_tells_of_it_are_one_commit(ctx: PluginContext, provider: Any) -> None:
    provider.add("Done.")
    told: list[str] = []

    async def ends(result: TurnResult) -> Any:
        def work(tx: Transaction) -> None:
            told.append(result.answer)

        return work

    await hear(ctx, "1")
    await ended(ctx.turns.resume("s", only="waiting", owner=MIA, ends=ends, effort="low"))
    assert told == ["Done."]


async def test_a_command_is_carried_out_once(ctx: PluginContext) -> None:
    records = ctx.host.records
    row = await records.hear(MIA, envelope("c1", "/new"))
    with pytest.raises(Duplicate):
        await records.hear(MIA, envelope("c1", "/new"))
    assert [one.id for one in await records.commands_waiting("pager", "p")] == [row]
    await records.done(row)
    with pytest.raises(Duplicate):
        await records.done(row)
    assert await records.commands_waiting("pager", "p") == []


async def test_a_question_is_settled_once(hermes: Bench, provider: Any) -> None:
    ctx = context(hermes, "host.serve", "turns.run", "sessions.read", "approvals.settle")
    approvals, session = ctx.approvals, await ctx.turns.take_up("s", owner=MIA, origin="pager")
    await ctx.host.turns.keep(session)
    await approvals.ask(session, Approval(id="q", session_id="s", turn_id="", subject="Which?", kind="text"))
    assert [one.id for one in await approvals.list(MIA)] == ["q"]
    assert await approvals.list(BEN) == []
    assert (await approvals.settle(MIA, "q", Verdict(outcome="allow", choice="blue", by="Mia"))).choice == "blue"
    with pytest.raises(UserError, match="already answered"):
        await approvals.settle(MIA, "q", Verdict(outcome="deny"), expired=True)
    assert (await approvals.find(MIA, "q")).state == "answered"
    with pytest.raises(UnknownName):
        await approvals.find(BEN, "q")


async def test_who_is_an_admin_is_for_a_host_to_say(hermes: Bench, provider: Any) -> None:
    kernel = ("sessions.read", "approvals.settle", "turns.run")
    host, other = context(hermes, "host.serve", *kernel), context(hermes, *kernel)
    await host.host.turns.keep(await host.turns.take_up("s", owner=MIA, origin="pager"))
    asked = Approval(id="q", session_id="s", turn_id="", subject="rm x", choices=("once", "deny"), addressee="admin")
    await host.approvals.ask(await host.turns.take_up("s", owner=MIA), asked)
    yes = Verdict(outcome="allow", choice="once")
    assert await host.approvals.list(BEN) == []
    assert [one.id for one in await host.approvals.list(BEN, admin=True)] == ["q"]
    with pytest.raises(UnknownName):
        await host.approvals.settle(BEN, "q", yes)
    for ask in (
        other.approvals.list(BEN, admin=True), other.approvals.find(BEN, "q", admin=True),
        other.approvals.settle(BEN, "q", yes, admin=True), other.approvals.ask(Session(id="s", origin="x"), asked),
    ):  # fmt: skip
        with pytest.raises(NotPermitted, match=r"host\.serve|admin|person"):
            await ask
    assert (await host.approvals.settle(BEN, "q", yes, admin=True)).choice == "once"


async def test_a_file_is_handed_out_where_its_session_may_read_it(ctx: PluginContext, hermes: Bench) -> None:
    hermes.workspace.folder.joinpath("a.txt").write_text("hello")
    session, turns = await ctx.turns.take_up("s", owner=MIA, origin="pager"), ctx.host.turns
    cwd = (await turns.workspace(session)).cwd
    reach = turns.reach(session, f"{cwd}/a.txt", (cwd, "/"))
    assert reach.cwd == cwd == reach.roots[0]
    assert "/" not in reach.roots, "a folder that holds everything opens nothing"
    assert hermes.runtime.home.config_file in reach.guarded
    with pytest.raises(OutOfReach):
        turns.reach(session, str(hermes.runtime.home.config_file), (cwd,))


async def test_who_does_not_contribute_what_is_wanted_is_not_asked(hermes: Bench) -> None:
    asked: list[str] = []

    def serving(service: str) -> Any:
        class Serves(Service):
            name = service

            async def run(self) -> None:
                pass

        @hookimpl
        def register_services(ctx: PluginContext) -> list[Service]:
            asked.append(service)
            return [Serves()]

        return register_services

    for name in ("one", "other"):
        hermes.tmp_plugin(serving(name), name=name, manifest={"contributes": {"services": [name]}})
    async with hermes:
        host = context(hermes, "host.serve").host
        assert [*host.contributed("services", ["one"])[0]] == ["one"]
        assert asked == ["one"]
        assert [*host.contributed("services", ["other", "one"])[0]] == ["other", "one"]
        assert asked == ["one", "other"]


async def test_what_plugins_contribute_is_given_by_name(hermes: Bench, provider: Any) -> None:
    room = FakePlatform(features=())
    hermes.tmp_plugin(room, name="room")
    hermes.configure({f"platforms.{room.name}.enabled": True})
    host = context(hermes, "host.serve").host
    assert (host.is_set_up(room.name), host.is_set_up("nowhere")) == (True, False)
    assert host.contributed("platforms", ["nowhere", room.name]) == ({room.name: room}, [])
    assert host.section(f"platforms.{room.name}").enabled is True
    assert host.section("agent").busy == "queue"
    assert host.services() == []


async def test_a_turn_that_another_process_plays_is_left_word(scripted: Any, hermes: Bench, tmp_path: Path) -> None:
    playing, stopped = asyncio.Event(), asyncio.Event()

    @hookimpl
    async def pre_llm_call() -> None:
        playing.set()
        await stopped.wait()

    hermes.tmp_plugin(scripted("Done."), pre_llm_call)
    ctx = context(hermes, "host.serve", "turns.run")
    await hear(ctx, "1")
    turn = asyncio.ensure_future(ended(ctx.turns.resume("s", only="waiting", owner=MIA)))
    await playing.wait()
    async with Bench(tmp_path / "home") as other:
        there = context(other, "host.serve", "turns.run")
        assert not await there.turns.busy("s", owner=MIA, elsewhere=False)
        assert await there.turns.busy("s", owner=MIA)
        assert not await there.turns.interrupt("s", owner=MIA)
        with pytest.raises(UnknownName):
            await there.turns.interrupt("s", owner=BEN, elsewhere=True)
        assert not await ctx.host.turns.stop_wanted("s")
        assert await there.turns.interrupt("s", owner=MIA, elsewhere=True)
    assert [await ctx.host.turns.stop_wanted("s") for _ in range(2)] == [True, False]
    stopped.set()
    assert [end.answer for end in await turn] == ["Done."]
    assert not await ctx.turns.interrupt("s", owner=MIA, elsewhere=True)


async def test_what_was_heard_may_begin_a_session_of_its_own(ctx: PluginContext, provider: Any) -> None:
    provider.add("Hello.", "Hello again.")
    [first] = await ended(ctx.turns.run(envelope("1"), owner=MIA))
    [second] = await ended(ctx.turns.run(envelope("2"), owner=MIA))
    assert first.session_id != second.session_id
    assert (await ctx.turns.take_up(first.session_id, owner=MIA)).origin == "pager"

    async def stored(session: str) -> None:
        raise AssertionError(session)

    with pytest.raises(UserError, match="took up"):
        await ended(ctx.turns.run(envelope("3"), owner=MIA, stored=stored))  # it would not know which


async def test_who_is_talked_through_is_found_and_carried(hermes: Bench) -> None:
    told: list[str] = []

    class Carries(ConsoleDriver):
        name = "carries"

        async def serve(self, platform: Any, session: str, require: Any) -> None:
            told.append(f"{platform.name} {session}")

    hermes.tmp_plugin(FakePlatform(name="cli"))
    hermes.tmp_plugin(Carries())
    host = context(hermes, "host.serve").host
    assert host.interfaces == ("tui", "cli")
    found = host.contributed("platforms", host.interfaces)[0]["cli"]
    await host.converse(found, "s")
    assert told == ["cli s"]
