"""The chats of one platform, each a conversation, and what the platform may ask about them."""

from collections.abc import Mapping, Sequence

from hermes_core.agent.live import here
from hermes_core.agent.runtime import Runtime
from hermes_core.console import work
from hermes_core.console.completion import completions
from hermes_core.console.conversation import Conversation
from hermes_core.console.typed import TypedCommands
from hermes_core.errors import NotPermitted
from hermes_core.kinds import Console, Platform
from hermes_core.plugins.at_hand import typed_into
from hermes_core.types import Chat, Choice, Job, Message, Session, SlashCommand, Text

__all__ = ["Chats"]


class Chats(Console):
    """A console over one kernel, within what the manifest of the platform's plugin asks for."""

    def __init__(self, runtime: Runtime, platform: Platform, *, session: str = "", origin: str = "") -> None:
        super().__init__()
        self._runtime, self._platform = runtime, platform
        self._origin, self._first_session = origin or platform.name, session
        self._chats: dict[str, Conversation] = {}
        self._typed = TypedCommands(runtime, platform, self._origin, self._chats, self._tell)

    @property
    def commands(self) -> Sequence[SlashCommand]:
        return tuple(self._typed.table.values())

    def status(self, chat: str) -> Mapping[str, str]:
        conversation, route = self._conversation(chat), self._runtime.route
        session = conversation.session or conversation.seen
        name = session.id if session else conversation.wanted
        return {
            "session": name,
            "title": session.title if session else "",
            "provider": route.name if route else "",
            "model": route.model if route else "",
            "notice": route.notice if route else "",
            "cwd": session.cwd if session else self._runtime.settings.config.terminal.cwd or here(),
            "mode": self._runtime.mode(name),
        }

    async def prepare(self) -> None:
        await self._runtime.routed()
        await self._runtime.store()

    async def open(self, chat: str, session: str) -> Session:
        self._require("sessions.read", "read past conversations")
        found = await (await self._runtime.store()).sessions.get(session, self._runtime.owner)
        self._conversation(chat).go_on(found)
        return found

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        conversation = self._conversation(chat)
        with typed_into(self._typed.here(chat)):
            return await completions(self._runtime, self.commands, conversation.take_up, line)

    async def jobs(self, chat: str) -> Sequence[Job]:
        self._require("sessions.read", "looked at what runs")
        return await work.jobs(self._runtime, await self._conversation(chat).take_up())

    async def job_output(self, chat: str, job: str) -> str:
        self._require("sessions.read", "looked at what runs")
        return await work.job_output(self._runtime, await self._conversation(chat).take_up(), job)

    async def stop_job(self, chat: str, job: str) -> bool:
        self._require("turns.run", "stopped what runs")
        return await work.stop_job(self._runtime, await self._conversation(chat).take_up(), job)

    async def interrupt(self, chat: str) -> bool:
        if working := self._typed.working.get(chat):
            stopped = [work.cancel() for work in working]
            return any(stopped)
        conversation = self._conversation(chat)
        session = conversation.session.id if conversation.session else conversation.wanted
        return bool(session) and self._runtime.interrupt(session)

    def _require(self, permission: str, did: str) -> None:
        """Raises NotPermitted."""
        found = self._runtime.dispatch.contributions("register_platforms")
        label = next((label for label, platform in found if platform is self._platform), "")
        plugin = self._runtime.index.get(label)
        if plugin is None:
            raise NotPermitted(self._platform.name, "belongs to no plugin, so nothing was granted to it")
        plugin.require("permissions", "kernel", permission, did)

    def _conversation(self, chat: str) -> Conversation:
        if chat not in self._chats:
            self._chats[chat] = Conversation(self._runtime, self._origin, self._first_session)
            self._first_session = ""
        return self._chats[chat]

    async def _tell(self, chat: Chat, text: str, key: str) -> None:
        most = self._platform.limit or len(text)
        for number, at in enumerate(range(0, len(text), max(most, 1))):
            piece = Message(role="assistant", parts=(Text(text=text[at : at + most]),))
            await self._platform.send(chat, piece, f"{key}{number}")
