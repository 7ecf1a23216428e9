"""Plays spoiled replies through a real provider plugin, a real socket, the real turn and the real store."""

import asyncio
import faulthandler
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, define, evolve, frozen
from hostile_clock import JumpingLoop
from hostile_dialects import check, strict
from hostile_mutants import WIRES, Case, body_of, make
from hostile_server import Server, http

from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.store.store import Store
from hermes_core.testing import Bench
from hermes_core.types import Ended, Event, Failed, Message, Request, Text

FOREVER = 100_000.0  # seconds of the jumping clock; a turn that needs more hangs
WATCHDOG = 120.0  # real seconds for one case, after which the process says where it is stuck, and dies
PATHS = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}


@frozen
class Look:
    """What the model gives."""

    command: str
    number: float = 0.0
    extra: Any = None


@define
class Tally:
    """What came of the cases: how many of each kind ended how, and what must not be."""

    ended: Counter[tuple[str, str]] = Factory(Counter)
    wrong: list[str] = Factory(list)


@define
class Stage:
    """A kernel for one protocol."""

    protocol: str
    bench: Bench
    server: Server
    ran: list[str]

    async def close(self) -> None:
        await self.bench.close()


def stage(protocol: str, home: Path, server: Server) -> Stage:
    """A kernel that speaks one protocol with the server."""
    ran: list[str] = []

    @tool(touches=lambda _: (), idempotent=True)
    async def probe(context: ToolContext, look: Look) -> str:
        """Look."""
        ran.append(look.command)
        return f"saw {look.command}"

    return Stage(protocol, bench_of(protocol, home, server, [probe]), server, ran)


def bench_of(protocol: str, home: Path, server: Server, tools: Sequence[Tool] = (), **more: Any) -> Bench:
    """A kernel with the real plugin of a protocol, a key and an address."""
    bench = Bench(home)
    bench._options["strict"] = False
    bench.tmp_plugin("hermes_provider_anthropic" if protocol == "messages" else "hermes_provider_openai")
    if tools:
        bench.tmp_plugin(*tools)
    place = {
        "base_url": server.url if protocol == "messages" else f"{server.url}/v1",
        "api_key": "sk-hostile-0123456789",
    }
    like = {"like": "anthropic"} if protocol == "messages" else {"like": "custom", "protocol": protocol}
    settings = {f"providers.evil.{name}": value for name, value in {**place, **like, "timeout": 60.0}.items()}
    bench.configure({**settings, "model.provider": "evil", "model.default": "m", **more})
    return bench


def good(protocol: str) -> Sequence[bytes]:
    """A whole reply without a flaw."""
    return [http(body_of(protocol, "echo"))]


async def play(bench: Bench, text: str, session: str) -> list[Event]:
    """The events of one turn, which ends before the jumping clock says for ever."""
    async with asyncio.timeout(FOREVER):
        return [event async for event in bench.turn(text, session=session)]


async def one(on: Stage, case: Case, converters: dict[str, Any], tally: Tally) -> None:
    """Play a case and a good turn after it, and write down what is wrong."""
    session, server = f"case-{case.number}", on.server
    server.good = good(case.protocol)
    server.script.clear()
    server.script.extend(case.answers)
    on.ran.clear()
    wrong: list[str] = []
    try:
        events = await play(on.bench, "hello", session)
        wrong += judged(events)
        ended = next((e for e in events if isinstance(e, Ended)), None)
        reason = ended.reason if ended else "nothing"
        wrong += [f"the good call {c!r} ran {on.ran.count(c)} times" for c in case.must_run if on.ran.count(c) != 1]
        server.script.clear()
        again = await play(on.bench, "go on", session)
        if not (isinstance(again[-1], Ended) and again[-1].reason == "done" and "echo" in again[-1].answer):
            wrong.append(f"the turn after it did not go on: {again[-1]} {[e for e in again if isinstance(e, Failed)]}")
        wrong += await rows(await on.bench.runtime.store(), session, converters)
    except TimeoutError:
        reason = "hang"
        wrong.append("it hangs")
    wrong += server.found
    server.found.clear()
    faults = on.bench.runtime.dispatch.faults
    wrong += [f"the plugin broke: {f.error}" for f in faults]
    faults.clear()
    tally.ended[case.kind, reason] += 1
    tally.wrong += [f"case {case.number} ({case.protocol}, {case.kind}): {what[:600]}" for what in wrong]


def judged(events: list[Event]) -> list[str]:
    """What is wrong with the events of a turn."""
    wrong = []
    if sum(isinstance(e, Ended) for e in events) != 1 or not isinstance(events[-1], Ended):
        wrong.append(f"it ended with {[type(e).__name__ for e in events[-3:]]}")
    unforeseen = [e for e in events if isinstance(e, Failed) and e.kind == "hermes_error"]
    return wrong + [f"it broke: {e.text}" for e in unforeseen]


async def rows(store: Store, session: str, converters: dict[str, Any]) -> list[str]:
    """What is wrong with what is stored of a session: its rows, and its history as each provider would get it."""
    wrong = []
    connection = store.database.connection
    for table, column in (("messages", "body"), ("tool_calls", "arguments")):
        for (text,) in connection.execute(f"SELECT {column} FROM {table} WHERE session_id = ?", (session,)):
            try:
                strict(text)
            except (ValueError, RecursionError) as error:
                wrong.append(f"a bad row in {table}: {error}")
    for call_id, name, outcome in connection.execute(
        "SELECT call_id, name, outcome FROM tool_calls WHERE session_id = ?", (session,)
    ):
        if outcome in ("pending", "started") or not call_id or "\x00" in f"{call_id}{name}":
            wrong.append(f"a bad call: {call_id!r} {name!r} {outcome}")
    history = [*await store.history.load(session), Message(role="user", parts=(Text(text="next"),))]
    for protocol, convert in converters.items():
        try:
            wrong += [f"for {protocol}: {what}" for what in check(PATHS[protocol], convert(history))]
        except Exception as error:
            wrong.append(f"for {protocol} it cannot be converted: {type(error).__name__}: {error}")
    return wrong


def converters_of(stages: dict[str, Stage]) -> dict[str, Any]:
    """For each protocol, what makes the body of a request from a history, as JSON by the letter."""
    from hermes_openai_wire.body import chat_body
    from hermes_openai_wire.responses_input import responses_arguments
    from hermes_provider_anthropic.body import messages_body

    lines = {protocol: on.bench.runtime.routes.current.provider._line() for protocol, on in stages.items()}

    def request(history: list[Message]) -> Request:
        return Request(model="m", messages=tuple(history))

    def plain(body: Any) -> Any:
        return strict(json.dumps(body))

    chat, responses, messages = (lines[w] for w in ("chat", "responses", "messages"))
    return {
        "chat": lambda h: plain(chat_body(chat.entry, chat.key, request(h), "m", {})),
        "responses": lambda h: plain(responses_arguments(responses, request(h), "m")),
        "messages": lambda h: plain(messages_body(messages, request(h), "m")),
    }


def run(numbers: Sequence[int], folder: Path) -> Tally:
    """Play these cases in a loop of their own."""
    tally = Tally()

    async def everything() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: tally.wrong.append(f"nobody caught: {context}"))
        servers = {protocol: Server() for protocol in WIRES}
        listening = [await server.start() for server in servers.values()]
        stages = {protocol: stage(protocol, folder / protocol / "home", server) for protocol, server in servers.items()}
        try:
            for on in stages.values():
                on.server.good = good(on.protocol)
                await play(on.bench, "hello", "first")
            converters = converters_of(stages)
            for number in numbers:
                faulthandler.dump_traceback_later(WATCHDOG, exit=True, file=sys.__stderr__)
                case = make(number)
                await one(stages[case.protocol], case, converters, tally)
        finally:
            faulthandler.cancel_dump_traceback_later()
            for on in stages.values():
                await on.close()
            for server in listening:
                server.close()
            for server in servers.values():
                await server.close()

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(everything())
    return tally


if __name__ == "__main__":  # hostile_play.py NUMBER…: play single cases
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        found = run([int(word) for word in sys.argv[1:]], Path(place))
    print(evolve(found))
