"""This terminal, or this full screen, as a client of the host of its home: what is said here is carried there.

A platform is served as it always is; its console is one that asks the host. Where no host serves this terminal,
nothing was done, and whoever asked does it by itself.
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hermes_core import __version__
from hermes_core.codec import message_from_json, message_to_json
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Platform
from hermes_core.types import Chat, Envelope, Started
from hermes_front.wire import Lines, connect, frame, place_of
from hermes_platform_cli.commands.leaving import Leaving
from hermes_platform_cli.console.line import Line, RemoteConsole
from hermes_platform_kit.one_turn import way_back
from hermes_platform_kit.spoken import (
    PROTOCOL,
    event_of_json,
    heard,
    question_of_json,
    session_of_json,
    verdict_to_json,
)

__all__ = ["Elsewhere", "by_itself", "through_host"]

_PATIENCE = 1.0  # seconds for a host to say whether it serves this terminal
_LARGEST = 64 << 20  # bytes of a frame of the host's
_LEAVES = 2.0  # seconds for the host to say that it heard that this terminal leaves
_FLAGS = ("chat", "--cli", "--tui", "-c", "--continue")
_VALUES = ("-r", "--resume", "--interface", "-p", "--profile")


async def through_host(
    ctx: PluginContext, platform: Platform, session: str, require: Callable[[str, str], None]
) -> bool:
    """Have the host of this home carry a platform until those on it leave; False where none serves this terminal."""
    home = str(ctx.paths.home)
    connection = connect(place_of(home), _PATIENCE)
    if connection is None:  # it was killed
        from hermes_front.one_shot import begin_host, wants_host

        if wants_host(home):
            begin_host()
        return False
    why = by_itself(sys.argv[1:])
    why = f"{why} is not among what the host has" if why else _refused(ctx, connection, home)
    if why:
        connection.close()
        click.echo(f"The host of this home does not serve this terminal, which works by itself: {why}.", err=True)
        return False
    connection.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_LARGEST)
    await Elsewhere(ctx, platform, session, require, reader, writer).serve()
    return True


def by_itself(words: Sequence[str]) -> str:
    """Return the first word of a command line that asks for what a host may not have; empty where there is none."""
    left = iter(words)
    for word in left:
        if word in _VALUES:
            next(left, None)
        elif word not in _FLAGS and not word.startswith(("--resume=", "--interface=", "--profile=")):
            return word
    return ""


def _refused(ctx: PluginContext, connection: socket.socket, home: str) -> str:
    """Say who is here, and return why the host does not serve it; empty where it does."""
    from hermes_front.one_shot import hello

    told = hello(__version__, home, do="console")
    if not told["cwd"]:
        return "its folder is gone"
    try:
        connection.sendall(frame(**told))
        said = next(iter(Lines(connection)), {"no": "it closed the connection"})
    except (OSError, ValueError) as error:
        said = {"no": str(error)}
    if "no" not in said:
        return ""
    if said["no"] == "version":
        anew = said.get("anew") or f"Begin it anew: {ctx.program} gateway stop, then {ctx.program} gateway start"
        return f"it runs {said.get('version')}, not {__version__}. {anew}"
    return str(said["no"])


class Elsewhere:
    """Carries one platform over a connection to a host that serves this terminal."""

    def __init__(
        self,
        ctx: PluginContext,
        platform: Platform,
        session: str,
        require: Callable[[str, str], None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._ctx, self._platform, self._session, self._require = ctx, platform, session, require
        self._reader, self._writer, self._line = reader, writer, Line(writer)
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

    async def serve(self) -> None:
        """Carry it until those on it leave, or the host ends."""
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
        async with Leaving(self._ctx) as leaving:
            await self._serve(stays)
        if leaving.caught or not stays or self._line.gone:
            self._way_back()
        leaving.end()
        if self._status:
            raise click.exceptions.Exit(self._status)

    async def _serve(self, stays: bool) -> None:
        reading = asyncio.create_task(self._read())
        opened = False
        try:
            # Of a new conversation there is nothing to know that a first frame would wait for.
            facts = await self._opened if self._session else {"session": "", "title": "", "cwd": str(Path.cwd())}
            if self._status is not None:
                return
            self._console = RemoteConsole(self._ctx, self._line, facts, self._require)
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
            self._writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._writer.wait_closed()

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
        async for told in heard(self._reader):
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
                click.echo(str(told["e"]).rstrip("\n"), err=True)
            elif "no" in told or "x" in told:
                if "no" in told:
                    click.echo(f"The host does not carry this: {told['no']}.", err=True)
                self._status = int(told.get("x", 1))
                break
            else:
                self._told.put_nowait(told)
        self._line.lost(died=self._status is None)
        self._status = 1 if self._status is None else self._status
        self._told.put_nowait(None)
        if not self._opened.done():
            self._opened.set_result({})

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
        session = session_of_json(told["session"], self._ctx.owner)
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
        facts = self._console.facts if self._console else {}
        sessions = [one for chat in self._chats if (one := facts.get(chat, {}).get("session", ""))]
        with contextlib.suppress(OSError):  # the terminal may be gone
            if self._line.gone:
                click.echo("The host ended. Nothing that was stored is lost.", err=True)
            elif any(self._working.values()) and sessions:
                click.echo(f"What runs goes on at the host: {self._ctx.program} attach {sessions[-1]}", err=True)
            back = way_back(self._ctx.program, sessions, cut=False)
            click.echo(back, err=True, nl=bool(back))
