"""A platform of this process as a client of the host of its home: what is said here is carried there.

It is served as it always is; its console is one that asks the host.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.codec import message_from_json, message_to_json
from hermes_core.errors import HermesError
from hermes_core.kinds import Platform
from hermes_core.types import Chat, Envelope, Principal, Started, Text
from hermes_platform_cli.commands.leaving import ENDED, Leaving
from hermes_platform_cli.console.line import Line, RemoteConsole
from hermes_platform_kit.clean import clean
from hermes_platform_kit.spoken import (
    PROTOCOL,
    event_of_json,
    heard,
    question_of_json,
    session_of_json,
    verdict_to_json,
)

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["LARGEST", "Elsewhere"]

LARGEST = 64 << 20  # bytes of a frame of the host's
_WORDS = 200  # characters of a message that the host may not have taken
_LEAVES = 2.0  # seconds for the host to say that it heard that this terminal leaves


class Elsewhere:
    """Carries one platform over a connection to a host that serves this terminal."""

    def __init__(
        self,
        who: tuple[str, Principal],
        platform: Platform,
        session: str,
        reader: asyncio.StreamReader,
        line: Line,
        *,
        require: Callable[[str, str], None],
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """``who`` are the name of this program, and whose Hermes it is; ``facts`` what is known of the session."""
        (self._program, self._owner), self._platform, self._session = who, platform, session
        self._require, self._reader, self._line, self._facts = require, reader, line, facts
        self._told: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self._opened: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._console: RemoteConsole | None = None
        self._commands: Sequence[Mapping[str, Any]] = ()
        self._own = {one.name: one for one in platform.commands()}
        self._sent: dict[str, Envelope] = {}  # what the host did not say that it is stored
        self._chats: set[str] = set()  # in which something was said
        self._working: dict[str, bool] = {}  # whether a turn runs, by chat
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._doing: set[asyncio.Task[None]] = set()
        self._status: int | None = None
        self._why = ""  # it ended that way; told once the screen is gone, which would cover it

    async def serve(self, ctx: "PluginContext | None" = None) -> int:
        """Carry it until those on it leave, or the host ends; the exit status. ``ctx`` is there where a kernel is."""
        # Lines of a pipe are answered before this ends; a screen takes none of them.
        stays = self._platform.name == "cli" and (sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty())
        own = [
            {
                "name": one.name,
                "summary": one.summary,
                "usage": one.usage,
                "aliases": list(one.aliases),
                "options": one.options is not None,
            }
            for one in self._own.values()
        ]
        self._line.say(console=PROTOCOL, platform=self._platform.name, session=self._session, stays=stays, commands=own)
        async with Leaving(ctx) as leaving:
            await self._serve(stays)
        if self._why:
            _say(self._why)
        if leaving.caught or not stays or self._line.gone:
            self._way_back()
        return ENDED if leaving.caught else self._status or 0

    async def _serve(self, stays: bool) -> None:
        reading = asyncio.create_task(self._read())
        opened = False
        try:
            # Of a new conversation there is nothing to know that a first frame would wait for.
            known = self._facts or (None if self._session else {"session": "", "title": "", "cwd": str(Path.cwd())})
            facts = await self._opened if known is None else known
            if self._status is not None:
                return
            self._console = RemoteConsole(self._owner, self._line, facts, self._require)
            self._console.know(self._commands)
            opened = True
            await self._platform.open(self._console)
            await self._carry(stays)
        finally:
            self._line.say(leave=1)
            for task in (reading, *self._asked.values(), *self._doing):
                task.cancel()
            if opened:
                await self._platform.close()
            await self._line.close()

    async def _carry(self, stays: bool) -> None:
        receiving, showing = asyncio.create_task(self._receive()), asyncio.create_task(self._show())
        try:
            await asyncio.wait({receiving, showing}, return_when=asyncio.FIRST_COMPLETED)
            if receiving.done():
                receiving.result()
                self._line.say(leave=1)
                await asyncio.wait({showing}, timeout=None if stays else _LEAVES)
            if showing.done():
                showing.result()
        finally:
            for task in (receiving, showing):
                task.cancel()
            await asyncio.wait({receiving, showing})

    async def _receive(self) -> None:
        async for envelope in self._platform.receive():
            self._sent[envelope.event_id] = envelope
            self._chats.add(envelope.chat)
            self._line.say(
                said=message_to_json(envelope.message),
                chat=envelope.chat,
                event=envelope.event_id,
                sender=envelope.sender,
            )

    async def _read(self) -> None:
        """Take in what the host says: answers and facts at once, all else in its order."""
        try:
            async for told in heard(self._reader):
                if not self._took(told):
                    break
        except (KeyError, TypeError, ValueError):  # nobody would hear the rest, and the screen would wait for it
            self._why = "The host of this home says what is not understood here: it is of another version."
            self._status = 1
        self._line.lost(died=self._status is None)
        self._status = 1 if self._status is None else self._status
        self._told.put_nowait(None)
        if not self._opened.done():
            self._opened.set_result({})

    def _took(self, told: Mapping[str, Any]) -> bool:
        """Take one frame in; False for the last. Raises KeyError, TypeError and ValueError for one of another kind."""
        if "re" in told:
            self._line.answered(told)
        elif "status" in told and self._console:
            self._console.facts[told["chat"]] = told["status"]
        elif "commands" in told:
            self._commands = told["commands"]
            if self._console:
                self._console.know(self._commands)
        elif "opened" in told:
            self._opened.set_result(told["opened"])
            if self._console:
                self._console.know_first(told["opened"])
        elif "e" in told:
            _say(str(told["e"]).rstrip("\n"))
        elif "no" in told or "x" in told:
            if "no" in told:
                self._why = f"The host does not carry this: {told['no']}."
            self._status = int(told.get("x", 1))
            return False
        else:
            self._told.put_nowait(told)
        return True

    async def _show(self) -> None:
        """Show what the host says, until it says no more."""
        while told := await self._told.get():
            if "show" in told:
                if (event := event_of_json(told["show"])) is not None:
                    name = type(event).__name__
                    if name in ("Started", "Ended"):
                        self._working[told["chat"]] = isinstance(event, Started)
                    await self._platform.show(Chat(told["chat"]), event)
            elif "send" in told:
                await self._platform.send(Chat(told["chat"]), message_from_json(told["send"]), told["key"])
            elif "ack" in told:
                if envelope := self._sent.pop(told["ack"], None):
                    await self._platform.ack(envelope)
            elif "ask" in told:
                self._asked[told["id"]] = asyncio.create_task(self._ask(told))
            elif "withdrawn" in told:
                if asked := self._asked.pop(told["withdrawn"], None):
                    asked.cancel()
            elif "run" in told or "options" in told:
                task = asyncio.create_task(self._run(told))
                self._doing.add(task)
                task.add_done_callback(self._doing.discard)

    async def _ask(self, told: Mapping[str, Any]) -> None:
        verdict = None
        with contextlib.suppress(HermesError):
            verdict = await self._platform.ask(Chat(told["chat"]), question_of_json(told["ask"]))
        self._asked.pop(told["id"], None)
        self._line.say(re=told["id"], verdict=verdict_to_json(verdict) if verdict else None)

    async def _run(self, told: Mapping[str, Any]) -> None:
        """Run a command of this screen itself, or say how it may go on."""
        command = self._own[told.get("run") or told["options"]]
        session = session_of_json(told["session"], self._owner)
        try:
            if "run" in told:
                said = await command.run(session, told["rest"])
                self._line.say(re=told["id"], text=said if isinstance(said, str) else "")
            else:
                found = await command.options(session, told["rest"]) if command.options else ()
                choices = [{"text": c.text, "summary": c.summary, "replaces": c.replaces} for c in found]
                self._line.say(re=told["id"], choices=choices)
        except HermesError as error:
            self._line.say(re=told["id"], error=error.text, hint=error.hint)

    def _way_back(self) -> None:
        """Say how to take it up again."""
        from hermes_platform_kit.one_turn import way_back

        facts = self._console.facts if self._console else {}
        sessions = [one for chat in self._chats if (one := facts.get(chat, {}).get("session", ""))]
        if self._line.gone and not sessions:  # nothing was said here, and yet it was shown
            sessions = [self._session] if self._session else []
        with contextlib.suppress(OSError):  # the terminal may be gone
            if self._line.gone:
                _say("The host ended. Nothing that was stored is lost.")
                for envelope in self._sent.values():
                    words = clean(
                        " ".join("".join(p.text for p in envelope.message.parts if isinstance(p, Text)).split())
                    )
                    _say(f"It did not say that it took this, so say it again: {words[:_WORDS]}")
            elif any(self._working.values()) and sessions:
                _say(f"What runs goes on at the host: {self._program} attach {sessions[-1]}")
            if back := way_back(self._program, sessions, cut=False):
                _say(back)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
