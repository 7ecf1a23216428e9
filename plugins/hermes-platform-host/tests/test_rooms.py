"""A room: who looks on, and a question that nobody at a screen answers."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.brokers import MessagesBroker
from hermes_core.context import PluginContext
from hermes_core.environment import caller
from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Event, Message, Principal, Question, Said, Session, Target, Verdict
from hermes_platform_host import rooms
from hermes_platform_host.rooms import Room

MANIFEST = read_manifest(manifest_path("hermes_platform_host"))


class Chats(MessagesBroker):
    """The chats of a person; what was sent there."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Message, str]] = []

    async def targets(self, owner: Principal) -> Sequence[Target]:
        return ()

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        return ()

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        self.sent.append((target, message, key))
        raise UserError("That service cannot be reached.")


@pytest.fixture
def chats() -> Chats:
    return Chats()


@pytest.fixture
def ctx(tmp_path: Path, chats: Chats) -> PluginContext:
    return plugin_context(MANIFEST, tmp_path, messages=chats)


QUESTION = Question(id="q1", kind="approval", subject="rm -rf build")
YES = Verdict(outcome="allow", choice="once", by="owner")


async def test_where_nobody_looks_on_the_chats_are_told_once(ctx: PluginContext, chats: Chats) -> None:
    room = Room(ctx, "s")
    asking = asyncio.create_task(room.ask(QUESTION))
    while not chats.sent:
        await asyncio.sleep(0)
    (target, message, key) = chats.sent[0]
    text = "".join(part.text for part in message.parts)  # type: ignore[union-attr]
    assert (target, key, message.untrusted) == ("all", "host:q1", True)
    assert "rm -rf build" in text
    assert "/approve q1" in text
    assert room.answer("q1", YES)
    assert await asking == YES
    assert len(chats.sent) == 1


async def test_somebody_who_looks_on_has_it_for_themselves_at_first(
    ctx: PluginContext, chats: Chats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_ALONE", 2)
    room = Room(ctx, "s")
    queue = room.enter()
    asking = asyncio.create_task(room.ask(QUESTION))
    assert await queue.get() == {"ask": QUESTION}
    await asyncio.sleep(0.1)
    assert not chats.sent
    room.answer("q1", YES)
    assert not room.answer("q1", Verdict.refused("somebody slower"))
    assert await asking == YES
    assert await queue.get() == {"settled": QUESTION, "verdict": YES}


async def test_a_question_that_was_answered_elsewhere_is_over_here(ctx: PluginContext) -> None:
    room = Room(ctx, "s")
    queue = room.enter()
    asking = asyncio.create_task(room.ask(QUESTION))
    await queue.get()
    asking.cancel()
    assert await queue.get() == {"settled": QUESTION, "verdict": None}
    assert room.questions == {}


async def test_turns_are_played_one_after_another_whoever_leaves(ctx: PluginContext) -> None:
    from hermes_core.types import Said

    room, order = Room(ctx, "s"), list[Any]()

    async def turn(name: str) -> Any:
        for _ in range(3):
            await asyncio.sleep(0)
            order.append(name)
            assert (caller.get() or {}).get("NAME") == name, "each has the environment of whoever asked for it"
            yield Said(text=name)

    caller.set({"NAME": "a"})
    room.play(turn("a"))
    caller.set({"NAME": "b"})
    shown = room.shown(turn("b"))
    assert (await anext(shown)).text == "b"
    await shown.aclose()
    caller.set({"NAME": "c"})
    room.play(turn("c"))
    await room.rest()
    assert order == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert not room.playing


async def test_a_yes_on_its_way_is_for_no_question_that_came_meanwhile(
    ctx: PluginContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_APART", 3600.0)
    room, second = Room(ctx, "s"), Question(id="q2", kind="approval", subject="rm -rf /other")
    one, two = room.enter(), room.enter()
    for settled_by in ("a screen", "a chat"):
        asking = asyncio.create_task(room.ask(QUESTION))
        assert await one.get() == {"ask": QUESTION}
        if settled_by == "a screen":
            assert room.answer("q1", YES)
        else:
            room.leave(two)
            asking.cancel()
        assert "settled" in await one.get()  # type: ignore[operator]
        later = asyncio.create_task(room.ask(second))
        for _ in range(20):
            await asyncio.sleep(0)
        assert one.empty()
        assert not room.answer("q2", YES)
        later.cancel()
        await asyncio.wait({later})
        room._settled = 0.0  # as long after


async def test_whoever_plays_is_told_that_what_they_chose_holds_no_more(
    ctx: PluginContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, told, me = [True], list[Any](), object()
    monkeypatch.setattr(rooms, "tighten", lambda *_: bool(chosen) and chosen.pop())
    room, begun, over = Room(ctx, "s"), asyncio.Event(), asyncio.Event()

    async def turn() -> AsyncGenerator[Event, None]:
        begun.set()
        await over.wait()
        yield Said(text="of my own turn")

    room.listen(told.append, by=me)
    room.play(turn(), by=me)
    await begun.wait()
    room.enter()
    over.set()
    await room.rest()
    assert [one.text for one in told if one] == [
        "What needs a yes here is asked again: not only who chose otherwise is here."
    ]
