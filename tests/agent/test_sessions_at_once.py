"""Many turns in one process: those of different sessions side by side, those of one session one after another."""

import asyncio

import pytest
from attrs import frozen

from hermes_core.errors import UserError
from hermes_core.kinds import Provider, tool
from hermes_core.types import CallDelta, Done, Ended, Model, Returned, TextDelta, ToolResult, Usage, UsageDelta


@frozen
class Words:
    text: str = ""


class Echo(Provider):
    """Calls ``note`` with what was said last, then says it; remembers how many were asked at once."""

    name = "echo"

    def __init__(self) -> None:
        self.now = self.most = 0
        self.everyone, self.asked = asyncio.Event(), asyncio.Event()
        self.wanted = 0

    async def models(self):
        return [Model(name="echo-1")]

    async def ready(self) -> bool:
        return True

    async def stream(self, request):
        self.now += 1
        self.asked.set()
        self.most = max(self.most, self.now)
        if self.most >= self.wanted:
            self.everyone.set()
        await self.everyone.wait()
        said = [m for m in request.messages if m.role == "user"][-1].parts[0].text
        if isinstance(request.messages[-1].parts[0], ToolResult):
            yield TextDelta(text=f"said {said}")
        else:
            yield CallDelta(index=0, id=f"c-{said}", name="note", arguments=f'{{"text": "{said}"}}')
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1))
        self.now -= 1
        yield Done(reason="stop")


def kit(hermes, wanted: int) -> Echo:
    @tool(touches=lambda _words: ())
    async def note(words: Words) -> str:
        """Note."""
        await asyncio.sleep(0)
        return words.text

    provider = Echo()
    provider.wanted = wanted
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(note)
    return provider


async def test_fifty_sessions_at_once(hermes) -> None:
    provider = kit(hermes, 50)

    async def one(number: int) -> None:
        for text in (f"a{number}", f"b{number}"):
            events = [event async for event in hermes.turn(text, session=f"s{number}")]
            assert events[-1].answer == f"said {text}"
            assert [e.result.parts[0].text for e in events if isinstance(e, Returned)] == [text]
            assert events[-1].usage.calls == 2

    await asyncio.gather(*(one(number) for number in range(50)))
    assert provider.most == 50
    store = await hermes.runtime.store()
    for number in range(50):
        rows = await store.history.load(f"s{number}")
        texts = [p.text for m in rows if m.role in ("user", "assistant") for p in m.parts if hasattr(p, "text")]
        assert texts == [f"a{number}", f"said a{number}", f"b{number}", f"said b{number}"]
    assert hermes.runtime.turns._playing == {}
    assert len(hermes.runtime.turns._alone) == 0


async def test_turns_of_one_session_never_interleave(hermes) -> None:
    provider = kit(hermes, 1)

    async def one(number: int) -> str:
        events = [event async for event in hermes.turn(f"m{number}", session="s")]
        assert isinstance(events[-1], Ended)
        return events[-1].answer

    answers = await asyncio.gather(*(one(number) for number in range(8)))
    assert answers == [f"said m{number}" for number in range(8)]
    assert provider.most == 1
    roles = [m.role for m in await (await hermes.runtime.store()).history.load("s")]
    assert roles == ["user", "assistant", "tool", "assistant"] * 8


async def test_an_interrupt_stops_the_running_turn_and_not_the_waiting_one(hermes) -> None:
    provider = kit(hermes, 2)  # nobody is answered until two ask

    async def one(text: str) -> Ended:
        return [event async for event in hermes.turn(text, session="s")][-1]

    first, second = asyncio.create_task(one("first")), asyncio.create_task(one("second"))
    await provider.asked.wait()
    assert hermes.interrupt("s")
    assert (await first).reason == "interrupted"
    provider.everyone.set()
    assert (await second).answer == "said second"


async def test_what_is_queued_is_played_in_order(hermes) -> None:
    kit(hermes, 1)
    await hermes.run("first", session="s")
    for text in ("second", "third"):
        await hermes.queue("s", text)
    played = []
    while events := [event async for event in hermes.follow("s")]:
        played.append(events[-1].answer)
    assert played == ["said second", "said third"]


async def test_what_is_not_let_in_does_not_wait_either(hermes) -> None:
    from hermes_core.hooks import hookimpl
    from hermes_core.types import Verdict

    kit(hermes, 1)

    @hookimpl
    async def admit() -> Verdict:
        return Verdict(outcome="deny", reason="closed")

    hermes.tmp_plugin(admit)
    with pytest.raises(UserError, match="closed"):
        await hermes.steer("s", "psst")
    assert [event async for event in hermes.turn("x", session="t")][-1].reason == "failed"


async def test_many_that_come_at_once_let_go_of_each_that_rests_once(hermes, scripted, monkeypatch):
    """Letting go takes its time, and meanwhile others let go too."""
    monkeypatch.setattr("hermes_core.agent.session_state._KEPT", 1)
    hermes.tmp_plugin(scripted())
    sessions, ended = hermes.runtime.sessions, []
    observe = hermes.runtime.dispatch.observe

    async def slow(hook, **arguments):
        await asyncio.sleep(0)
        if hook == "on_session_end":
            ended.append(arguments["session"].id)
            await asyncio.sleep(0.01)
        await observe(hook, **arguments)

    monkeypatch.setattr(hermes.runtime.dispatch, "observe", slow)
    names = [f"s{number}" for number in range(12)]
    await asyncio.gather(*(sessions.take(name, "cli", hermes.runtime.owner) for name in names))
    assert sorted(ended) == sorted({*ended}), "one that rests ends once"
    assert sum(map(sessions.holds, names)) == 1
