"""A console that is known only once the screen is drawn; what is asked of it before waits for it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_core.kinds import Console
    from hermes_core.types import Choice, Job, Session, SlashCommand, Wall

__all__ = ["LateConsole"]


class LateConsole:
    """As ``hermes_core.kinds.Console``, which is not imported before the first frame. ``facts`` are known already."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        self._facts = facts
        self._console: Console | None = None
        self._known = asyncio.Event()

    def become(self, console: "Console") -> None:
        """Ask this one from now on."""
        self._console = console
        self._known.set()

    async def _asked(self) -> "Console":
        await self._known.wait()
        assert self._console
        return self._console

    @property
    def commands(self) -> "Sequence[SlashCommand]":
        return self._console.commands if self._console else ()

    def status(self, chat: str) -> Mapping[str, str]:
        return self._console.status(chat) if self._console else self._facts

    async def wall(self, chat: str) -> "Wall | None":
        return await (await self._asked()).wall(chat)

    async def prepare(self) -> None:
        await (await self._asked()).prepare()

    async def open(self, chat: str, session: str) -> "Session":
        return await (await self._asked()).open(chat, session)

    async def complete(self, chat: str, line: str) -> "Sequence[Choice]":
        return await (await self._asked()).complete(chat, line)

    async def jobs(self, chat: str) -> "Sequence[Job]":
        return await (await self._asked()).jobs(chat)

    async def job_output(self, chat: str, job: str) -> str:
        return await (await self._asked()).job_output(chat, job)

    async def stop_job(self, chat: str, job: str) -> bool:
        return await (await self._asked()).stop_job(chat, job)

    async def interrupt(self, chat: str) -> bool:
        return await self._console.interrupt(chat) if self._console else False
