"""A gateway in a process that may be killed, in which a plugin ordered a turn that asks a chat.

Whoever is in the chat says something first, so that it is known. If they are to answer, they do so once they see the
question; else the process may be one that dies when it was seen.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[4] / "tests"))
sys.path.insert(2, str(Path(__file__).parents[4] / "tests" / "house"))

from attrs import frozen
from far_end import FarEnd
from gateway_house import context_of, rows_of
from house import hurry, note
from mortal import serve

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, tool
from hermes_core.testing.bench import Bench
from hermes_core.types import (
    CallDelta,
    Done,
    Effect,
    Envelope,
    Message,
    Model,
    Text,
    TextDelta,
    TurnOrder,
    Usage,
    UsageDelta,
)
from hermes_platform_gateway.gateway import Gateway

JOB, ANSWER, HELLO = "the job", "The job is over.", "Hello."


@frozen
class Nothing:
    pass


class Worker(Provider):
    """Posts something for a job, and says so; greets whoever says anything else."""

    name = "worker"

    async def models(self):
        return [Model(name="worker-1", context=100_000)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        said = request.messages[-1]
        begins = said.role == "user" and JOB in said.parts[0].text
        if begins:
            yield CallDelta(index=0, id="c", name="post")
            yield CallDelta(index=0, arguments="{}")
        else:
            yield TextDelta(text=ANSWER if said.role == "tool" else HELLO)
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1))
        yield Done(reason="tools" if begins else "stop")


class Chat(FarEnd):
    """The service with one person on it. Each message comes again until it was acknowledged."""

    def __init__(self, folder: Path, *, answers: bool) -> None:
        super().__init__(
            folder / "seen", "keyed_only", limit=2000, odds=dict.fromkeys(("lost", "silent", "flood", "cut"), 0)
        )
        self._acked, self._answers, self._over = folder / "acked", answers, asyncio.Event()

    @property
    def questions(self) -> list[str]:
        """The ids of the questions that were seen."""
        texts = (text for _, text in self.seen() if "May I do this?" in text)
        return [text.partition("/approve ")[2].split()[0] for text in texts]

    async def open(self, console):
        pass

    async def receive(self):
        if not self._done("hello"):
            yield self._written("hello", "hello")
        while self._answers and not self.questions:
            await asyncio.sleep(0.01)
        if self._answers and not self._done("yes"):
            yield self._written("yes", f"/approve {self.questions[0]}")
        await self._over.wait()

    def _done(self, event: str) -> bool:
        return self._acked.exists() and event in self._acked.read_text().split()

    def _written(self, event: str, text: str) -> Envelope:
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": self.name, "account": "bot", "chat": "anna", "sender": "anna"}
        return Envelope(**known, event_id=event, message=message)

    async def ack(self, envelope):
        note(self._acked, envelope.event_id)

    async def close(self):
        self._over.set()


async def play(order: dict) -> None:
    await asyncio.wait_for(serve_all(order), 60)


async def serve_all(order: dict) -> None:
    folder = Path(order["folder"])

    @tool(effects={Effect.SEND})
    async def post(_: Nothing) -> str:
        """Post it."""
        note(folder / "posted", "posted")
        return "posted"

    @hookimpl
    async def on_session_start(ctx, session) -> None:
        """It has hooks, and so a context."""

    chat, hermes = Chat(folder, answers=order["answers"]), Bench(folder / "home")
    for one in ("hermes_platform_gateway", "hermes_tool_commands", Worker(), post):
        hermes.tmp_plugin(one)
    label = hermes.tmp_plugin(on_session_start, name="job", manifest={"permissions": {"kernel": ["turns.run"]}})
    known = {"gateway.people": {"owner": ["far:anna"]}, "workers.poll_seconds": 0.02, "policy.ask_seconds": 0.01}
    hermes.configure(known)
    async with hermes:
        gateway, stop = Gateway(context_of(hermes), [chat]), asyncio.Event()
        running = asyncio.create_task(gateway.run(stop))
        while not await rows_of(hermes).chats.list_chats(hermes.runtime.owner):
            await asyncio.sleep(0.01)
        turns = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
        await turns.queue(JOB, order=TurnOrder(session="job", event="today", ask="far:anna", deliver="far:anna"))
        while not running.done() and not any(ANSWER in text for _, text in chat.seen()):
            if order["dies"] and chat.questions:
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(0.01)
        stop.set()
        await running


def rehearsal(folder: Path) -> dict:
    return {"folder": str(folder), "die_at": "", "answers": True, "dies": False}


if __name__ == "__main__":
    hurry()
    serve(play, rehearsal)
