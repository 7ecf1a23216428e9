"""Slash commands without a kernel behind them, for hosts under test."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.slash import HostSide, Place, SlashBroker, SlashCommands, named, usable
from hermes_core.testing.fake_conversation import FakeConversation
from hermes_core.testing.fake_models import required
from hermes_core.types import Choice, Message, Session, SlashCommand

if TYPE_CHECKING:
    from hermes_core.kinds.console import AskPerson
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeSlash"]


class FakeSlash(SlashBroker):
    """Has the commands that a test puts in, and those of the platform; ``typed`` keeps what was run, with its rest.

    Nothing is asked before a loss. With a ``manifest`` it refuses what the kernel refuses.
    """

    def __init__(self, commands: Sequence[SlashCommand] = (), *, manifest: "Manifest | None" = None) -> None:
        self._commands, self._manifest = commands, manifest
        self.typed: list[tuple[str, str]] = []

    def commands(self, place: Place, more: Sequence[SlashCommand] = ()) -> SlashCommands:
        """Those that were put in."""
        if self._manifest:
            required(self._manifest, "host.serve")
        return _Commands(place, (*self._commands, *more), self.typed)


class _Commands(SlashCommands):
    def __init__(self, place: Place, commands: Sequence[SlashCommand], typed: list[tuple[str, str]]) -> None:
        self.table = {command.name: command for command in reversed(commands)}
        self._place, self._typed = place, typed

    async def run(self, side: HostSide, name: str, rest: str, ask: "AskPerson | None" = None) -> str | Message:
        command = named(usable(self.table, side.role, self._place), name)
        if command is None:
            raise UserError(f"There is no command /{name}.")
        self._typed.append((command.name, rest))
        return await command.run(await side.take_up(), rest)

    async def options(self, side: HostSide, name: str, rest: str) -> Sequence[Choice]:
        command = named(usable(self.table, side.role, self._place), name)
        return await command.options(await side.take_up(), rest) if command and command.options else ()

    async def words(self, side: HostSide, word: str) -> Sequence[Choice]:
        return ()

    def conversation(self, side: HostSide, session: Session) -> Conversation:
        return FakeConversation(session, role=side.role, envelope=side.envelope)

    def status(self, session: Session | None) -> Mapping[str, str]:
        known = {"provider": "scripted", "model": "scripted-1", "cwd": "/work", "mode": "ask", "notice": ""}
        return {"session": session.id if session else "", "title": session.title if session else "", **known}

    async def prepare(self) -> None:
        """Everything is there."""
