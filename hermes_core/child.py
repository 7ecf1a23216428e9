"""The process of a child agent: ``python -m hermes_core.child``, started by its parent and by nobody else.

It reads its order from standard input, makes the kernel that its parent has, within the bounds it was given, and works
through one turn, or through what is left of it. Whatever it prints goes to stderr; what it says to its parent goes down
a pipe of its own. When its parent is gone it goes too, and leaves its turn open: it is taken up with its parent's.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from attrs import asdict

from hermes_core.agent.bounds import Bounds, Limits
from hermes_core.agent.policy.rules import subject_of
from hermes_core.agent.runtime import Runtime
from hermes_core.cli.log import start_logging
from hermes_core.config.settings import load_settings
from hermes_core.distribution import Distribution
from hermes_core.errors import HermesError, UserError
from hermes_core.types import (
    JSON,
    Called,
    Ended,
    Envelope,
    Event,
    Failed,
    Message,
    Principal,
    Question,
    Returned,
    Session,
    Text,
    Verdict,
)

_LINGER = 2.0  # seconds it may take to put things down once its parent is gone
_OLD = 10.0  # seconds to wait for an earlier process of the same child to be gone


class Work:
    """One order, worked through."""

    def __init__(self, order: Mapping[str, JSON], inbox: int, outbox: int, held: bytes) -> None:
        self._order, self._inbox, self._outbox, self._held = order, inbox, outbox, held
        self._answers: dict[str, asyncio.Future[Verdict]] = {}
        self._failure, self._end = "", ""
        self._id: str = order["session"]["id"]

    async def run(self) -> None:
        """Work, and end the process: nothing that lingers may keep the parent waiting."""
        self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        self._loop.add_signal_handler(signal.SIGTERM, self._abandon)
        threading.Thread(target=self._listen, daemon=True).start()
        self._runtime: Runtime | None = None
        try:
            self._runtime = _assemble(self._order)
            await self._work(self._runtime)
        except HermesError as error:
            self._failure = str(error)
        except asyncio.CancelledError:
            self._end = self._end or "interrupted"
        with contextlib.suppress(asyncio.CancelledError, Exception):
            if self._runtime is not None:
                await self._runtime.close()
        self._say({"end": self._end or "done", "error": self._failure})
        sys.stderr.flush()
        os._exit(0)

    async def _work(self, runtime: Runtime) -> None:
        runtime.load_hooks()
        if missing := set(self._order["gates"]) - runtime.gates():
            raise UserError(f"The plugin {min(missing)} guards the parent of this agent, but could not be loaded here.")
        seconds = runtime.bounds.limits.seconds if runtime.bounds else float("inf")
        try:
            async with asyncio.timeout(seconds if seconds < 1e9 else None):
                while not await self._play(runtime):  # noqa: ASYNC110 - nothing tells when another process is gone
                    await asyncio.sleep(0.1)
        except TimeoutError:
            self._end = "timeout"

    async def _play(self, runtime: Runtime) -> bool:
        """Go on with the turn there is, or begin it; whether it is over."""
        store = await runtime.store()
        last = await store.last_turn(self._id)
        if last is not None and last.state != "open":
            return True
        turn = (
            await self._begin(runtime) if last is None else runtime.resume(self._id, owner=self._owner, ask=self._ask)
        )
        played = False
        async with contextlib.aclosing(turn) as events:
            async for event in events:
                played = True
                await self._tell(event, runtime)
        if not played and time.monotonic() - _began > _OLD:
            raise UserError("An earlier process of this agent is still at work.")
        return played

    @property
    def _owner(self) -> Principal:
        return Principal(**self._order["owner"])

    async def _begin(self, runtime: Runtime) -> AsyncGenerator[Event, None]:
        place, route = self._order["session"], await runtime.routed()
        session = Session(
            **place, origin="child", owner=self._owner, provider=route.name, model=route.model, created=time.time()
        )
        with contextlib.suppress(UserError):  # an earlier process of this agent came as far as this
            await (await runtime.store()).create_session(session)
        words = (Text(text=self._order["message"]),)
        message = Message(role="user", parts=words, untrusted=self._order["untrusted"])
        envelope = Envelope(
            platform="child", account="", event_id=self._id, chat=self._id, sender=self._owner.person, message=message
        )
        return runtime.turn(
            message, session=self._id, origin="child", owner=self._owner, envelope=envelope, ask=self._ask
        )

    # --- up -------------------------------------------------------------------------------------------------------

    async def _tell(self, event: Event, runtime: Runtime) -> None:
        """Say an event in one line, where it is worth one."""
        if isinstance(event, Called):
            self._say({"step": f"{event.call.name}: {subject_of(event.call)}"[:500]})
            if last := await (await runtime.store()).last_turn(self._id):
                self._say({"used": asdict(last.usage)})
        elif isinstance(event, Returned) and event.result.failed:
            text = "".join(part.text for part in event.result.parts if isinstance(part, Text))
            self._say({"step": f"{event.call.name} failed: {text}"[:500]})
        elif isinstance(event, Failed):
            self._failure = f"{event.text} {event.hint}".strip()
        elif isinstance(event, Ended):
            self._say({"used": asdict(event.usage)})

    def _say(self, line: Mapping[str, JSON]) -> None:
        data = json.dumps(line).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._outbox, data) :]
        except OSError:
            self._abandon()

    async def _ask(self, question: Question) -> Verdict:
        waiting = self._answers[question.id] = self._loop.create_future()
        self._say({"ask": asdict(question)})
        verdict: Verdict = await waiting
        return verdict

    # --- down -----------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Read what the parent says, in a thread: that it is gone is noticed even while the loop is held up."""
        held = self._held
        while piece := os.read(self._inbox, 65536):
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                self._loop.call_soon_threadsafe(self._hear, json.loads(line))
        with contextlib.suppress(RuntimeError):  # the loop is closed: it is over anyway
            self._loop.call_soon_threadsafe(self._abandon)
        time.sleep(_LINGER)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def _hear(self, line: Mapping[str, Any]) -> None:
        if "interrupt" in line and self._main:
            self._main.cancel()
        elif (waiting := self._answers.pop(str(line.get("answer")), None)) and not waiting.done():
            waiting.set_result(Verdict(**line["verdict"]))

    def _abandon(self) -> None:
        """Put everything down: nothing more is written, and what runs is stopped at once."""
        self._end = "abandoned"
        if self._runtime is not None:
            self._runtime.shut_store()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()


def _assemble(order: Mapping[str, JSON]) -> Runtime:
    """The parent's kernel, within the bounds of this child. Raises HermesError."""
    recipe, given = order["recipe"], order["bounds"]
    distribution = Distribution(**recipe["distribution"])
    home = distribution.home(recipe["profile"], recipe["home"])
    over = {**recipe["config"], "terminal.cwd": order["session"]["cwd"]}
    if order["effort"]:
        over["model.effort"] = order["effort"]
    settings = load_settings(
        home,
        overrides=over,
        defaults=distribution.defaults,
        locked=distribution.locked,
        environ={**os.environ, **order["secrets"]},
    )
    start_logging(home, settings)
    return Runtime(
        settings,
        distribution.installed(home, safe_mode=recipe["safe_mode"]),
        distribution.consent(home, safe_mode=recipe["safe_mode"]),
        owner=Principal(**order["owner"]),
        host=Principal(**order["host"]),
        provider=order["provider"],
        model=order["model"],
        recipe=recipe,
        bounds=Bounds(
            mode=given["mode"],
            deny=tuple(given["deny"]),
            allow=tuple(given["allow"]),
            tools=frozenset(given["tools"]),
            levels=given["levels"],
            limits=Limits(**given["limits"]),
        ),
    )


def _die_with(parent: int) -> None:
    """Be told when the parent dies, where the system does that; not to outlive one that is dead already."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    """Do as ordered; ends the process."""
    inbox, outbox = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    held = b""
    while b"\n" not in held:
        piece = os.read(inbox, 65536)
        if not piece:
            os._exit(1)
        held += piece
    line, _, rest = held.partition(b"\n")
    order = json.loads(line)
    _die_with(order["parent"])
    asyncio.run(Work(order, inbox, outbox, rest).run())


_began = time.monotonic()

if __name__ == "__main__":
    main()
