"""The process that dies: a turn.

The provider follows a plan that it reads off the conversation, so it knows where it is after any restart. Provider and
tools write what really happened into a file outside; that file, not the store, is the truth.
"""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from attrs import evolve, frozen

sys.path.insert(0, str(Path(__file__).parents[1]))

from mortal import serve

import hermes_core.agent.kernel
import hermes_core.store.journal
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, ToolContext, tool
from hermes_core.testing.bench import Bench
from hermes_core.types import (
    CallDelta,
    Done,
    Effect,
    Ended,
    Envelope,
    Failed,
    Message,
    Model,
    Question,
    Text,
    TextDelta,
    TurnBounds,
    TurnOrder,
    Usage,
    UsageDelta,
    Verdict,
)

# number of calls -> the batches of calls; two of them are of one tool that makes them itself
PLANS = {0: [], 1: [["add"]], 2: [["both"]], 3: [["add", "look"], ["add"]]}


@frozen
class Place:
    at: str


class Outside:
    """The truth, and who acts on it."""

    runtime: hermes_core.agent.kernel.Kernel

    def __init__(self, order: dict) -> None:
        self.order = order
        self.acked = asyncio.Event()
        self._file = os.open(order["truth"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, what: str, *details: object) -> None:
        os.write(self._file, f"{json.dumps([what, *details])}\n".encode())

    async def ack(self) -> None:
        self.note("ack", self.order["event"])
        self.acked.set()

    async def meanwhile(self) -> None:
        """The person says something while the turn runs; once, and again only when it was not acknowledged."""
        how, self.order["meanwhile"] = self.order.get("meanwhile"), None
        if how:
            text, event = self.order["adds"], f"event of {self.order['adds']}"
            message = Message(role="user", parts=(Text(text=text),))
            key = {"platform": "test", "account": "", "event_id": event, "chat": "c", "sender": "owner"}
            await self.runtime.turns.queue("s", message, envelope=Envelope(**key, message=message), mode=how)
            self.note("ack", event)

    async def person(self, question: Question) -> Verdict:
        """Whoever is asked for a yes: says it, or is there when the process dies."""
        self.note("asked", question.id, question.subject)
        if self.order["person"] == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        return Verdict(outcome="allow", choice="once", by="person")

    def plugin(self) -> list:
        outside = self

        @tool(touches=lambda _place: (), effects={Effect.EXECUTE} if self.order["person"] else ())
        async def add(place: Place) -> str:
            """Do something that must not happen twice."""
            outside.note("effect", place.at)
            await outside.meanwhile()
            return f"added {place.at}"

        @tool(touches=lambda _place: (), idempotent=True)
        async def look(place: Place) -> str:
            """Do something that may happen twice."""
            outside.note("effect", place.at)
            return f"looked {place.at}"

        @tool(idempotent=True)
        async def both(context: ToolContext, place: Place) -> str:
            """Do the one, the other, and the one again, as calls of its own."""
            found = [await context.call(name, {"at": place.at}) for name in ("add", "look", "add")]
            outside.note("found", [result.parts[0].text for result in found])
            return "did both"

        @hookimpl
        async def pre_llm_call(request):
            if self.order["appends"]:
                aside = Message(role="user", parts=(Text(text=f"(by the way {time.time_ns()})"),))
                return evolve(request, messages=(*request.messages, aside))
            *old, asked = (i for i, m in enumerate(request.messages) if m.role == "user")
            if len(old) < 2 or len(request.messages) < asked + 3:  # in the middle of a turn, while there is a past
                return None
            so_far = [Message(role=role, parts=(Text(text="so far"),)) for role in ("user", "assistant")]
            return evolve(request, messages=(request.messages[0], *so_far, *request.messages[asked:]))

        @hookimpl
        async def may_end(answer, times):
            outside.note("may end", answer, times)
            return None if times else Verdict(outcome="deny", reason="look again 0")

        hooks = {pre_llm_call: ("compacts", "appends"), may_end: ("goes_on",)}
        wanted = [hook for hook, options in hooks.items() if any(self.order[option] for option in options)]
        return [Planned(self), add, look, both, *wanted]


class Planned(Provider):
    name = "planned"

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    async def models(self):
        return [Model(name="planned-1", context=100_000)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        asked = (m.role == "user" and "added" not in m.meta.get("hermes", {}) for m in request.messages)
        said = max(i for i, asks in enumerate(asked) if asks)
        text = request.messages[said].parts[0].text
        step = sum(m.role == "assistant" for m in request.messages[said:])
        resumed = self._outside.order["resume"]
        self._outside.note("resumed request" if resumed else "request", text, step)
        self._outside.note("told", [repr(message) for message in request.messages[1:]])
        if self._outside.order["patient"] and not resumed:
            await self._outside.acked.wait()
        plan = PLANS[int(text.split()[-1])]
        if step == len(plan):
            for word in ("the ", "answer to ", text):
                yield TextDelta(text=word)
        else:
            for index, name in enumerate(plan[step]):
                yield CallDelta(index=index, id=f"{step}-{index}", name=name)
                yield CallDelta(index=index, arguments=json.dumps({"at": f"{text} {step}-{index}"}))
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1))
        yield Done(reason="stop" if step == len(plan) else "tools")


async def play(order: dict) -> None:
    outside = Outside(order)
    hermes = Bench(Path(order["home"]))
    may = {"permissions": {"kernel": ["history.rewrite", "turns.run"]}}
    label = hermes.tmp_plugin(*outside.plugin(), name="outside", manifest=may)
    if order["url"]:
        hermes.configure({"store.url": order["url"]})
        hermes.tmp_plugin("hermes_backend_postgresql")
    if order["calls"]:
        hermes.configure({"budget.session.calls": order["calls"]})
        hermes.tmp_plugin("hermes_tool_budgets")
    if order["person"]:
        hermes._ask = outside.person
    async with hermes:
        outside.runtime = hermes.runtime
        if order["resume"]:
            for session in await hermes.interrupted():
                await catch_up(outside, hermes, session)
            return
        if order.get("by") == "plugin":
            turns = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
            bounded = TurnOrder(session="s", event=order["event"], bounds=TurnBounds(deny=["look"]))
            await tell(outside, turns.run(order["say"], order=bounded))
            return
        message = Message(role="user", parts=(Text(text=order["say"]),))
        key = {"platform": "test", "account": "", "event_id": order["event"], "chat": "c", "sender": "owner"}
        envelope = Envelope(**key, message=message)
        options = {"envelope": envelope, "stored": outside.ack, "ask": hermes._ask}
        await tell(outside, hermes.runtime.turns.run(message, session="s", **options))
        if "adds" in order:
            await catch_up(outside, hermes, "s")


async def catch_up(outside: Outside, hermes: Bench, session: str) -> None:
    """What was cut off is finished, and then what waits is played."""
    await tell(outside, hermes.resume(session))
    while await tell(outside, hermes.follow(session)):
        pass


async def tell(outside: Outside, turn) -> bool:
    """Note what a turn brings; whether one was played."""
    event = None
    async for event in turn:
        if isinstance(event, Failed):
            outside.note("failed", event.kind, event.text)
        elif isinstance(event, Ended) and event.answer:
            outside.note("answer", event.answer)
    return isinstance(event, Ended) and bool(event.turn_id)


def rehearsal(folder: Path) -> dict:
    own = {"home": str(folder / "home"), "truth": str(folder / "truth"), "say": "hello 3", "event": "e"}
    return {
        "resume": False,
        "patient": False,
        "person": "",
        "compacts": False,
        "goes_on": False,
        "appends": False,
        "calls": 0,
        "url": "",
        "die_at": "",
        **own,
    }


if __name__ == "__main__":
    serve(play, rehearsal)
