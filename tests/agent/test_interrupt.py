"""A turn is stopped in every state it can be in; its rows are whole and the session is usable at once."""

import asyncio
import contextlib

import pytest
from attrs import frozen

from hermes_core.agent import tools as calls
from hermes_core.agent import turn as turns
from hermes_core.codec import plain_text
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, tool
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import Manifest
from hermes_core.store.outside import by_person
from hermes_core.store.validity import INTERRUPTED, NO_RESULT, NOT_RUN
from hermes_core.testing import Call
from hermes_core.types import Done, Effect, Ended, Message, Model, Said, Text, TextDelta, ToolCall, ToolResult

ANEW = "Hermes was ended while this was being answered. Give the whole answer anew."
CUT_OFF = "(This answer was cut off.)"


@frozen
class Nothing:
    pass


class Slow(Provider):
    """Hangs once where it is told to; answers else."""

    name = "slow"

    def __init__(self, where: str, reached: asyncio.Event, *, stubborn: bool = False) -> None:
        self._where, self._reached, self._stubborn = where, reached, stubborn
        self.asked = 0
        self.free = asyncio.Event()

    async def models(self):
        return [Model(name="slow-1")]

    async def ready(self) -> bool:
        return True

    async def stream(self, request):
        self.asked += 1
        first = self.asked == 1
        if first and self._where == "first byte":
            await self._hang()
        yield TextDelta(text="one ")
        if first and self._where == "mid-stream":
            await self._hang()
        yield TextDelta(text="two")
        yield Done(reason="stop")

    async def _hang(self) -> None:
        self._reached.set()
        while not self.free.is_set():
            try:
                await self.free.wait()
            except asyncio.CancelledError:
                if not self._stubborn:
                    raise


async def stop_when(hermes, reached: asyncio.Event, session: str = "s") -> list:
    """Play a turn and stop it when it is where it should be."""
    events = []

    async def play() -> None:
        events.extend([event async for event in hermes.turn("go", session=session)])

    playing = asyncio.create_task(play())
    await reached.wait()
    assert hermes.interrupt(session)
    await playing
    return events


async def check(hermes, events, *, after: str = "one two") -> list[Message]:
    """The turn has its end, what is stored is whole, and the next turn plays."""
    assert isinstance(events[-1], Ended)
    assert (events[-1].reason, events[-1].answer) == ("interrupted", "")
    again = [event async for event in hermes.turn("again", session="s")]
    assert (again[-1].reason, again[-1].answer) == ("done", after)
    store = await hermes.runtime.store()
    rows = [m for _, m in await store.history.messages(hermes.runtime.owner, "s", window=100)]
    assert rows == await store.history.load("s"), "nothing had to be mended for the reader"
    made = [p.id for m in rows for p in m.parts if isinstance(p, ToolCall)]
    assert made == [p.call_id for m in rows for p in m.parts if isinstance(p, ToolResult)]
    assert not [m for m in rows if m.parts == (Text(text="one "),)], "half a reply is never taken for a whole one"
    assert await store.journal.interrupted(hermes.runtime.owner) == []
    return rows


@pytest.mark.parametrize("where", ["first byte", "mid-stream"])
@pytest.mark.parametrize("stubborn", [False, True])
async def test_while_the_model_answers(hermes, where, stubborn) -> None:
    reached = asyncio.Event()
    provider = Slow(where, reached, stubborn=stubborn)
    hermes.tmp_plugin(provider)
    rows = await check(hermes, await stop_when(hermes, reached))
    provider.free.set()
    assert [m.role for m in rows] == ["user", "assistant", "user", "assistant"]
    kept = f"one  … {CUT_OFF}" if where == "mid-stream" else INTERRUPTED
    assert rows[1].parts == (Text(text=kept),), "what was shown is kept, and it is said that it was cut off"


@pytest.mark.parametrize("where", ["first byte", "mid-stream"])
async def test_one_that_is_left_goes_on_and_keeps_what_was_shown(hermes, where) -> None:
    reached = asyncio.Event()
    provider = Slow(where, reached)
    hermes.tmp_plugin(provider)
    runtime = hermes.runtime

    async def leave() -> None:
        await reached.wait()
        await runtime.sessions.leave()
        assert runtime.turns.interrupt("s")

    leaving = asyncio.create_task(leave())
    async with contextlib.aclosing(runtime.turns.run("hello", session="s")) as events:
        assert [e.reason for e in [e async for e in events] if isinstance(e, Ended)] == ["failed"]
    await leaving
    assert await (await runtime.store()).journal.interrupted(runtime.owner) == ["s"]
    async with contextlib.aclosing(runtime.turns.resume("s")) as events:
        seen = [e async for e in events]
    assert [(e.reason, e.answer) for e in seen if isinstance(e, Ended)] == [("done", "one two")]
    assert "".join(e.text for e in seen if isinstance(e, Said)) == "one two", "what was shown is not shown again"
    rows = await (await runtime.store()).history.load("s")
    half = [("assistant", f"one  … {CUT_OFF}"), ("user", ANEW)] if where == "mid-stream" else []
    assert [(m.role, plain_text(m.parts)) for m in rows] == [("user", "hello"), *half, ("assistant", "one two")]
    assert not [m for m in rows[1:] if by_person(m)]


@pytest.mark.parametrize("stubborn", [False, True])
async def test_while_a_tool_runs(hermes, scripted, stubborn) -> None:
    reached, free = asyncio.Event(), asyncio.Event()

    @tool
    async def hang() -> str:
        """Hang."""
        reached.set()
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                if not stubborn:
                    raise
        return "late"

    hermes.tmp_plugin(scripted([Call("hang"), Call("hang")], "fine"))
    hermes.tmp_plugin(hang)
    events = await stop_when(hermes, reached)
    rows = await check(hermes, events, after="fine")
    said = [p.parts[0].text for m in rows for p in m.parts if isinstance(p, ToolResult)]
    assert said == [NO_RESULT, NOT_RUN]
    outcomes = [e.outcome for e in await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner)]
    assert outcomes == ["refused", "unknown"]
    free.set()


async def test_while_a_person_is_asked_and_the_next_question_is_put(hermes, scripted) -> None:
    reached, free, asked = asyncio.Event(), asyncio.Event(), []

    @tool(effects=[Effect.EXECUTE])
    async def danger() -> str:
        """Do something risky."""
        return "did it"

    async def ask(question):
        asked.append(question)
        if len(asked) > 1:
            return
        reached.set()
        while not free.is_set():  # an iterator that does not let go
            with contextlib.suppress(asyncio.CancelledError):
                await free.wait()
        return

    hermes._ask = ask
    hermes.tmp_plugin(scripted(Call("danger"), Call("danger"), "fine"))
    hermes.tmp_plugin(danger)
    await check(hermes, await stop_when(hermes, reached), after="fine")
    assert len(asked) == 2
    free.set()


@pytest.mark.parametrize(
    "hook", ["transform_incoming", "admit", "pre_llm_call", "pre_tool_call", "transform_tool_result"]
)
async def test_while_a_hook_thinks(hermes, scripted, hook) -> None:
    reached, times = asyncio.Event(), []

    async def slow():
        times.append(hook)
        if len(times) == 1:
            reached.set()
            await asyncio.Event().wait()

    slow.__name__ = hook

    @tool(idempotent=True)
    async def look() -> str:
        """Look."""
        return "seen"

    steps = [Call("look"), "fine"] if "tool" in hook else []
    hermes.tmp_plugin(scripted(*steps[:1], "fine"))
    hermes.tmp_plugin(look)
    hermes.tmp_plugin(hookimpl(slow), name="thinker")
    events = await stop_when(hermes, reached)
    assert events[-1].reason == "interrupted"
    again = [event async for event in hermes.turn("again", session="s")]
    assert again[-1].answer == "fine"


async def test_while_another_program_holds_the_store(hermes, monkeypatch) -> None:
    """The turn ends for the person; its last row is written when the store is free, before the next turn begins."""
    import sqlite3

    reached = asyncio.Event()
    monkeypatch.setattr(turns, "_CLOSE_GRACE", 0.05)
    hermes.tmp_plugin(Slow("mid-stream", reached))
    store = await hermes.runtime.store()
    other = sqlite3.connect(store.database.place, isolation_level=None)

    async def lock() -> None:
        await reached.wait()
        other.execute("BEGIN IMMEDIATE")

    locking = asyncio.create_task(lock())
    events = await stop_when(hermes, reached)
    await locking
    assert events[-1].reason == "interrupted"
    other.execute("ROLLBACK")
    other.close()
    await check(hermes, events)


async def test_a_turn_that_is_just_being_written_is_left_with_the_others(hermes, monkeypatch) -> None:
    """Who is told to end while the first request is under way says that the turn can be finished: so it can."""
    reached, left = asyncio.Event(), asyncio.Event()
    hermes.tmp_plugin(Slow("first byte", reached))
    manifest = {"api": 1, "name": "pager", "kind": "platform", "summary": "Hears."}
    manifest["permissions"] = {"kernel": ["host.serve"]}
    pager = Installed(label="platform/pager", manifest=Manifest(manifest), module="pager", path="")
    store = await hermes.runtime.store()
    open_turn = store.journal.open_turn

    async def late(*args, **more):
        await left.wait()
        return await open_turn(*args, **more)

    monkeypatch.setattr(store.journal, "open_turn", late)

    async def leave() -> None:
        await reached.wait()
        await hermes.runtime.plugin_context(pager).host.records.leave()
        left.set()

    leaving = asyncio.create_task(leave())
    await stop_when(hermes, left)
    await leaving
    assert await store.journal.interrupted(hermes.runtime.owner) == ["s"]


async def test_a_tool_that_outlives_its_time_is_left_to_itself(hermes, scripted, monkeypatch) -> None:
    free = asyncio.Event()
    monkeypatch.setattr(calls, "_LATE_GRACE", 0.01)

    @tool(seconds=0.01)
    async def hang() -> str:
        """Hang."""
        while not free.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await free.wait()
        return "late"

    hermes.tmp_plugin(scripted(Call("hang"), "I see"))
    hermes.tmp_plugin(hang)
    events = [event async for event in hermes.turn("go", session="s")]
    assert events[-1].answer == "I see"
    [entry] = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner)
    assert entry.outcome == "unknown"
    assert "cannot be stopped" in entry.output
    free.set()


async def test_a_stopped_turn_asks_no_model_any_more(hermes) -> None:
    """A hook that swallows its cancellation must not lead to a request that is paid for."""
    reached, going = asyncio.Event(), asyncio.Event()
    provider = Slow("nowhere", reached)

    @hookimpl
    async def pre_llm_call():
        reached.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        going.set()

    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(pre_llm_call)
    events = await stop_when(hermes, reached)
    await going.wait()
    await asyncio.sleep(0)
    assert events[-1].reason == "interrupted"
    assert provider.asked == 0
