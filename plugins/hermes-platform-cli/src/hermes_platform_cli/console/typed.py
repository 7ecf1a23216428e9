"""Slash commands that are typed where somebody waits: asked about at once, shown as work, stopped by a key."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Platform
from hermes_core.slash import SlashCommands, named, usable
from hermes_core.types import (
    Chat,
    Choice,
    Ended,
    Envelope,
    Event,
    Failed,
    Feature,
    Message,
    Question,
    Session,
    SlashCommand,
    Started,
    Text,
    Usage,
    Verdict,
)  # fmt: skip
from hermes_platform_cli.console.conversation import Conversation
from hermes_platform_kit.shared import SharedTurns

__all__ = ["TypedCommands", "outcome"]

_SOON = 1.0  # seconds; a command that takes longer is shown as work that can be stopped


class TypedCommands:
    """The commands of one platform. ``chats`` are its conversations, ``tell`` says something in one.

    ``working`` are the commands that run in each, ``beside`` what was begun beside them; ``left`` is set by /quit.
    """

    def __init__(
        self,
        ctx: PluginContext,
        platform: Platform,
        chats: Mapping[str, Conversation],
        tell: Callable[[Chat, str, str], Awaitable[None]],
    ) -> None:
        self._ctx, self._platform = ctx, platform
        self._chats, self._tell = chats, tell
        self.working: dict[str, list[asyncio.Future[Any]]] = {}
        self.left, self.beside = asyncio.Event(), set[asyncio.Task[None]]()

    @cached_property
    def slash(self) -> SlashCommands:
        """The commands as the kernel has them."""
        leaving = SlashCommand(
            name="quit",
            aliases=("exit",),
            usage="[--delete]",
            summary="leave; with --delete this session is deleted",
            run=self._quit,
            who="everyone",
            where=("terminal",),
            confirm=_deleting,
            options=_leaving,
        )
        return self._ctx.slash.commands("terminal", (leaving, *self._platform.commands()))

    @cached_property
    def table(self) -> Mapping[str, SlashCommand]:
        """All commands, made when one is first wanted: plugins are imported for it."""
        return usable(self.slash.table, "admin", "terminal")

    def need_person(self) -> None:
        """Raises UserError where a tool of this program types."""
        nobody = Session(id="", origin=self._platform.name, owner=self._ctx.owner)
        self.slash.conversation(Conversation(self._ctx, nobody.origin, partial(self.begin, "")), nobody).need_person()

    def at_once(self, text: str) -> bool:
        """Whether it need not wait for the end of a turn."""
        command = named(self.table, text[1:].partition(" ")[0].casefold())
        return text.startswith("/") and command is not None and command.at_once

    async def run(self, chat: str, text: str) -> str | Message:
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
        work = asyncio.ensure_future(self.slash.run(self._chats[chat], name.casefold(), rest.strip(), asks))
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
        return "Stopped." if work.cancelled() else self._kept(chat) or work.result()

    def _kept(self, chat: str) -> str:
        """Say what is said instead where a command chose what other screens of the conversation did not."""
        at = self._chats[chat].session
        return self._ctx.turns.kept(at.id) if at and isinstance(self._ctx.turns, SharedTurns) else ""

    async def begin(self, chat: str, session: Session, rest: str) -> str:
        """Have something done beside the conversation. Nobody is asked meanwhile: what needs a yes is refused.

        It is written down when this returns: what a death cuts off, `hermes resume` ends.
        """
        said = Message(role="user", parts=(Text(text=rest),))
        person, origin = session.owner.person, session.origin
        heard = Envelope(platform=origin, account="", event_id=uuid4().hex, chat="", sender=person, message=said)
        name = await self._ctx.turns.queue(heard)

        async def work() -> None:
            answer, failure = "", ""
            async with contextlib.aclosing(self._ctx.turns.resume(name)) as events:
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
                await self._ctx.sessions.delete(session.owner, session.id)
        self.left.set()
        return f"{session.id} is deleted." if rest else ""


def _deleting(rest: str) -> str:
    return "This session would be deleted, with all that was said in it." if rest == "--delete" else ""


async def _leaving(_session: Session, rest: str) -> Sequence[Choice]:
    return [Choice("--delete", "", len(rest))] if rest in "--delete" else ()


def outcome(event: Event, answer: str, failure: str) -> tuple[str, str]:
    """What a turn came to so far: its answer, and why there is none."""
    if isinstance(event, Failed):
        return answer, f"{event.text}\n{event.hint}".strip()
    if isinstance(event, Ended):
        answer = f"{event.answer}\n\n{event.note}" if event.note else event.answer
        return answer, failure or ("Interrupted." if event.reason == "interrupted" else "")
    return answer, failure
