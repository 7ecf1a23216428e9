"""The chats of one platform, each a conversation, and what the platform may ask about them."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName
from hermes_core.kinds import Console, Platform
from hermes_core.kinds import Conversation as AtHand
from hermes_core.types import Chat, Choice, Job, Message, Session, SlashCommand, Text, Wall
from hermes_platform_cli.console.completion import completions
from hermes_platform_cli.console.conversation import Conversation
from hermes_platform_cli.console.typed import TypedCommands
from hermes_platform_kit.shared import SharedTurns

__all__ = ["Chats"]

_ALOUD = ("speaking", "listening")  # states of a job that the key ends which stops a turn


class Chats(Console):
    """A console over one kernel. ``require`` raises NotPermitted for what the platform's plugin may not ask for."""

    def __init__(
        self, ctx: PluginContext, platform: Platform, *, session: str, require: Callable[[str, str], None]
    ) -> None:
        super().__init__()
        self._ctx, self._platform, self._require = ctx, platform, require
        self._first_session = session
        self._chats: dict[str, Conversation] = {}
        self._typed = TypedCommands(ctx, platform, self._chats, self._tell)
        # Where a host carries several screens, their turns are its, and each conversation chooses its own model.
        self._shared = ctx.turns if isinstance(ctx.turns, SharedTurns) else None

    @property
    def cut(self) -> bool:
        """Whether a turn began here that has no end."""
        return any(not one.over for one in self._chats.values())

    async def sessions(self) -> Sequence[str]:
        """The ids of the sessions that the chats are in, where something was said."""
        found = []
        for one in self._chats.values():
            with contextlib.suppress(HermesError):  # nothing was
                name = one.session.id if one.session else one.wanted
                found.append((await self._ctx.sessions.get(self._ctx.owner, name)).id)
        return list(dict.fromkeys(found))

    @property
    def commands(self) -> Sequence[SlashCommand]:
        return tuple(self._typed.table.values())

    def status(self, chat: str) -> Mapping[str, str]:
        conversation = self._conversation(chat)
        session = conversation.session or conversation.seen
        if session is None and conversation.wanted:
            session = Session(id=conversation.wanted, origin=self._platform.name, owner=self._ctx.owner)
        status = self._typed.slash.status(session)
        provider, _, model = conversation.answers[0].partition(":")
        return {**status, "provider": provider, "model": model} if model else status

    async def wall(self, chat: str) -> Wall | None:
        return await self._typed.slash.wall(self._conversation(chat).session)

    async def prepare(self) -> None:
        await self._typed.slash.prepare()

    async def open(self, chat: str, session: str) -> Session:
        self._require("sessions.read", "read past conversations")
        found = await self._ctx.sessions.get(self._ctx.owner, session)
        self._conversation(chat).go_on(found)
        if self._shared:
            await self._shared.join(found.id)
        return found

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        return await completions(self._typed.slash, self.commands, self._conversation(chat), line)

    async def jobs(self, chat: str) -> Sequence[Job]:
        self._require("sessions.read", "looked at what runs")
        return await (await self._at_hand(chat)).jobs.list()

    async def job_output(self, chat: str, job: str) -> str:
        self._require("sessions.read", "looked at what runs")
        return await (await self._at_hand(chat)).jobs.output(job)

    async def stop_job(self, chat: str, job: str) -> bool:
        self._require("turns.run", "stopped what runs")
        return await (await self._at_hand(chat)).jobs.stop(job)

    async def interrupt(self, chat: str) -> bool:
        if working := self._typed.working.get(chat):
            cancelled = [work.cancel() for work in working]
            return any(cancelled)
        conversation = self._conversation(chat)
        session = conversation.session.id if conversation.session else conversation.wanted
        try:
            stopped = bool(session) and await self._ctx.turns.interrupt(session)
        except UnknownName:  # nothing was said in it yet
            return False
        return stopped or await self._silenced(conversation)

    async def _silenced(self, conversation: Conversation) -> bool:
        """End what is said aloud beside a chat, or listened to; whether there was any."""
        if conversation.session is None:
            return False
        jobs = self._typed.slash.conversation(conversation, conversation.session).jobs
        silenced = [await jobs.stop(one.id) for one in await jobs.list() if one.state in _ALOUD]
        return any(silenced)

    async def _at_hand(self, chat: str) -> AtHand:
        """A chat as slash commands have it."""
        conversation = self._conversation(chat)
        return self._typed.slash.conversation(conversation, await conversation.take_up())

    def _conversation(self, chat: str) -> Conversation:
        if chat not in self._chats:
            begin, alone = partial(self._typed.begin, chat), self._shared is not None
            self._chats[chat] = Conversation(self._ctx, self._platform.name, begin, self._first_session, alone=alone)
            self._first_session = ""
        return self._chats[chat]

    async def _tell(self, chat: Chat, text: str, key: str) -> None:
        most = self._platform.limit or len(text)
        for number, at in enumerate(range(0, len(text), max(most, 1))):
            piece = Message(role="assistant", parts=(Text(text=text[at : at + most]),))
            await self._platform.send(chat, piece, f"{key}{number}")
