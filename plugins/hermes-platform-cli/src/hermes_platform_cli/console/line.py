"""The connection to a host that carries a console: what is asked over it, and what a platform may ask."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Console
from hermes_core.types import Choice, Job, Principal, Session, SlashCommand, Wall
from hermes_platform_kit.spoken import choice_of_json, job_of_json, pieces, session_of_json, wall_of_json

__all__ = ["Line", "RemoteConsole"]


class Line:
    """The connection: what is asked over it, and what is answered."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer, self._numbers = writer, itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.gone = self._over = False

    def say(self, **told: Any) -> None:
        """Send a frame, if the host is there."""
        if not self._writer.is_closing():
            self._writer.write(pieces(told))

    async def ask(self, what: str, chat: str = "", *words: str, **more: Any) -> Any:
        """Ask the host. Raises what it raises."""
        if self._over:
            raise HermesError("The host ended.")
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self.say(id=number, do=what, chat=chat, words=words, **more)
            return await answer
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._writer.wait_closed()

    def answered(self, told: Mapping[str, Any]) -> None:
        """Pass on what the host answers."""
        answer = self._waiting.get(told["re"])
        if answer is None or answer.done():
            return
        if "error" in told:
            answer.set_exception(UserError(str(told["error"]), hint=str(told.get("hint") or "")))
        else:
            answer.set_result(told.get("value"))

    def lost(self, *, died: bool) -> None:
        """Nobody answers any more: the host said so, or it died."""
        self.gone, self._over = died, True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(HermesError("The host ended."))


class RemoteConsole(Console):
    """The console of a platform whose conversations a host carries."""

    def __init__(
        self, owner: Principal, line: Line, facts: Mapping[str, str], require: Callable[[str, str], None]
    ) -> None:
        super().__init__()
        self._owner, self._line, self._require = owner, line, require
        self.know_first(facts)
        self._known: Sequence[Mapping[str, Any]] = ()
        self.facts: dict[str, Mapping[str, str]] = {}
        self._looking: set[asyncio.Task[None]] = set()

    def know(self, commands: Sequence[Mapping[str, Any]]) -> None:
        """Take note of the slash commands, which the host runs."""
        self._known, self._commands = commands, ()

    def know_first(self, facts: Mapping[str, str]) -> None:
        """Take note of what there is to know before a chat is known."""
        self._first, self._any = facts, {**facts, "session": "", "title": ""}

    @property
    def commands(self) -> Sequence[SlashCommand]:
        if not self._commands:  # made when they are first wanted, which is after the first frame
            self._commands = tuple(SlashCommand(**one, run=_nowhere) for one in self._known)
        return self._commands

    def status(self, chat: str) -> Mapping[str, str]:
        if chat not in self.facts:
            self.facts[chat] = self._any if self.facts else self._first
            look = asyncio.ensure_future(self._look(chat))
            self._looking.add(look)
            look.add_done_callback(self._looking.discard)
        return self.facts[chat]

    async def _look(self, chat: str) -> None:
        with contextlib.suppress(HermesError):
            self.facts[chat] = await self._line.ask("status", chat)

    async def prepare(self) -> None:
        told = await self._line.ask("prepare")
        known = {name: told[name] for name in ("provider", "model", "notice", "mode") if name in told}
        self._first, self._any = {**self._first, **known}, {**self._any, **known}
        for chat, facts in self.facts.items():
            self.facts[chat] = {**known, **{name: value for name, value in facts.items() if value}}

    async def wall(self, chat: str) -> Wall | None:
        return wall_of_json(await self._line.ask("wall", chat))

    async def open(self, chat: str, session: str) -> Session:
        self._require("sessions.read", "read past conversations")
        return session_of_json(await self._line.ask("open", chat, session), self._owner)

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        return [choice_of_json(one) for one in await self._line.ask("complete", chat, line)]

    async def jobs(self, chat: str) -> Sequence[Job]:
        self._require("sessions.read", "looked at what runs")
        return [job_of_json(one) for one in await self._line.ask("jobs", chat)]

    async def job_output(self, chat: str, job: str) -> str:
        self._require("sessions.read", "looked at what runs")
        return str(await self._line.ask("job_output", chat, job))

    async def stop_job(self, chat: str, job: str) -> bool:
        self._require("turns.run", "stopped what runs")
        return bool(await self._line.ask("stop_job", chat, job))

    async def interrupt(self, chat: str) -> bool:
        return bool(await self._line.ask("interrupt", chat))


async def _nowhere(_session: Session, _rest: str) -> str:
    raise UserError("It is run by the host.")
