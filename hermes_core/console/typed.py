"""Slash commands that are typed where somebody waits: asked about at once, shown as work, stopped by a key."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from typing import Any

from attrs import evolve

from hermes_core.agent.live import new_session_id
from hermes_core.agent.runtime import Runtime
from hermes_core.console.allowed import named, usable
from hermes_core.console.at_hand import TypedHere
from hermes_core.console.conversation import Conversation
from hermes_core.console.registry import Registry
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Platform
from hermes_core.types import (
    Chat,
    Ended,
    Event,
    Failed,
    Feature,
    Message,
    Question,
    Session,
    SlashCommand,
    Started,
    Usage,
    Verdict,
)  # fmt: skip

__all__ = ["TypedCommands", "outcome"]

_SOON = 1.0  # seconds; a command that takes longer is shown as work that can be stopped


class TypedCommands:
    """The commands of one platform. ``chats`` are its conversations, ``tell`` says something in one.

    ``working`` are the commands that run in each, ``beside`` what was begun beside them; ``left`` is set by /quit.
    """

    def __init__(
        self,
        runtime: Runtime,
        platform: Platform,
        origin: str,
        chats: Mapping[str, Conversation],
        tell: Callable[[Chat, str, str], Awaitable[None]],
    ) -> None:
        self._runtime, self._platform, self._origin = runtime, platform, origin
        self._chats, self._tell = chats, tell
        self.working: dict[str, list[asyncio.Future[Any]]] = {}
        self.left, self.beside = asyncio.Event(), set[asyncio.Task[None]]()

    @cached_property
    def _registry(self) -> Registry:
        registry = Registry(self._runtime, more=self._platform.commands())
        registry.table["quit"] = evolve(registry.table["quit"], run=self._quit)
        return registry

    @cached_property
    def table(self) -> Mapping[str, SlashCommand]:
        """All commands, made when one is first wanted: plugins are imported for it."""
        return usable(self._registry.table, "admin", "terminal")

    def here(self, chat: str, session: Session | None = None) -> TypedHere:
        """A chat as a command that is typed into it has it."""
        return TypedHere(self._runtime, self._chats[chat], session, partial(self._begin, chat))

    def at_once(self, text: str) -> bool:
        """Whether it need not wait for the end of a turn."""
        command = named(self.table, text[1:].partition(" ")[0].casefold())
        return text.startswith("/") and command is not None and command.at_once

    async def run(self, chat: str, session: Session, text: str) -> str | Message:
        """Carry a command out; what is to be shown, or what the model is to hear. Raises HermesError.

        One that takes its time, or asks, is shown as work, and can be stopped.
        """
        name, _, rest = text[1:].partition(" ")
        live, shown = Feature.LIVE in self._platform.features and self._chats[chat].over, False

        async def show() -> None:
            nonlocal shown
            if live and not shown:
                shown = True
                await self._platform.show(Chat(chat), Started(session_id="", turn_id="", provider="", model=""))

        async def ask(question: Question) -> Verdict | None:
            await show()
            return await self._platform.ask(Chat(chat), question)

        asks = ask if Feature.LIVE in self._platform.features else None
        here = self.here(chat, session)
        work = asyncio.ensure_future(self._registry.run(here, name.casefold(), rest.strip(), asks))
        (working := self.working.setdefault(chat, [])).append(work)
        try:
            await asyncio.wait({work}, timeout=_SOON)
            if not work.done():
                await show()
            await asyncio.wait({work})
        finally:
            work.cancel()
            working.remove(work)
            if not working:  # one that need not wait may have begun beside it
                del self.working[chat]
            if shown:
                ended = Ended(session_id="", turn_id="", answer="", reason="failed", usage=Usage())
                await self._platform.show(Chat(chat), ended)
        return "Stopped." if work.cancelled() else work.result()

    async def _begin(self, chat: str, session: Session, rest: str) -> str:
        """Have something done beside the conversation. Nobody is asked meanwhile: what needs a yes is refused."""
        name = new_session_id()

        async def work() -> None:
            answer, failure = "", ""
            turn = self._runtime.turn(rest, session=name, origin=self._origin, owner=session.owner)
            async with contextlib.aclosing(turn) as events:
                async for event in events:
                    answer, failure = outcome(event, answer, failure)
            text = f"Done in the background ({name}): {rest[:80]}\n\n{answer or failure or '(no answer)'}"
            await self._tell(Chat(chat), text, f"beside:{name}:")

        task = asyncio.create_task(work(), name=f"beside:{name}")
        self.beside.add(task)
        task.add_done_callback(self.beside.discard)
        return name

    async def _quit(self, session: Session, rest: str) -> str:
        """Leave; what is under way ends first."""
        if rest not in ("", "--delete"):
            raise UserError("Write /quit, or /quit --delete to delete this session.")
        if rest:
            with contextlib.suppress(UnknownName):  # nothing was said in it
                await self._runtime.delete_session(session.id, session.owner)
            await self._runtime.sessions.forget(session.id)
        self.left.set()
        return f"{session.id} is deleted." if rest else ""


def outcome(event: Event, answer: str, failure: str) -> tuple[str, str]:
    """What a turn came to so far: its answer, and why there is none."""
    if isinstance(event, Failed):
        return answer, f"{event.text}\n{event.hint}".strip()
    if isinstance(event, Ended):
        answer = f"{event.answer}\n\n{event.note}" if event.note else event.answer
        return answer, failure or ("Interrupted." if event.reason == "interrupted" else "")
    return answer, failure
