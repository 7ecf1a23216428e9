"""What the memory of a kernel is asked and told: before a turn, before a compaction, after a turn."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve

from hermes_core.agent.bounds import CHILD
from hermes_core.codec import clean
from hermes_core.config.settings import Settings
from hermes_core.kinds import Memory, Tool
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Late
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader
from hermes_core.store.outside import outside
from hermes_core.types import Message, Session, Text

__all__ = ["Remembering"]

_SECONDS, _LAST = 60.0, 1.5  # that a memory may look at one turn, and after the end: a person waits for their prompt
_ABOVE = "<memory>\nWhat you remember that may matter here:"


class Remembering:
    """The configured memory, and its looks at turns that are under way."""

    def __init__(self, settings: Settings, index: Index, loader: Loader, dispatch: Dispatch) -> None:
        self._settings, self._index, self._loader, self._dispatch = settings, index, loader, dispatch
        self._looks: dict[asyncio.Task[None], tuple[str, str]] = {}  # whose they are, and at which session

    def of(self, session: Session | None = None) -> tuple[str, Memory] | None:
        """Return the memory and its plugin's label; None where it is not there, or the session works for another."""
        name = self._settings.config.memory.provider
        if not name or (session and session.origin == CHILD):
            return None
        self._loader.load_contributing("memories", [name])
        found: list[tuple[str, Memory]] = self._dispatch.contributions("register_memories")
        return next((pair for pair in found if pair[1].name == name), None)

    def tools(self, given: Iterable[tuple[str, Tool]]) -> Iterator[tuple[str, Tool]]:
        """Yield the tools of plugins; those of a memory that is not the configured one are hidden, and say why."""
        name = self._settings.config.memory.provider
        for label, tool in given:
            one = self._index.get(label)
            others = one.manifest.contributes["memories"] if one and one.manifest else ()
            off = others and name not in others
            yield label, evolve(tool, needs=lambda _: f"memory.provider is {name or 'empty'}") if off else tool

    async def prefetched(self, session: Session, message: Message) -> Message:
        """Add to a message what the memory knows to it; it is stored too. One that fails or is late knows nothing."""
        found = self.of(session)
        if found is None or type(found[1]).prefetch is Memory.prefetch:
            return message
        label, memory = found

        async def known() -> list[tuple[bool, str]]:
            return [(one.source.trusted, one.text) for one in await memory.prefetch(session, message) or ()]

        if not (memos := await self._dispatch.shielded(label, "prefetch", known)):
            return message
        lines = (f"- {'' if trusted else '[came from outside, unverified] '}{text}" for trusted, text in memos)
        text = self._settings.masks.for_model(clean("\n".join([_ABOVE, *lines, "</memory>"])))
        told, untrusted = Text(text=text, quotes=memory.name), not all(trusted for trusted, _ in memos)
        return evolve(message, parts=(*message.parts, told), untrusted=message.untrusted or untrusted)

    async def brief(self, session: Session) -> str:
        """Say what a new session is told from the start. A memory that fails or is late says nothing."""
        if (found := self.of(session)) is None:
            return ""
        label, memory = found

        async def told() -> str:
            return "".join([await memory.brief(session)])

        return await self._dispatch.shielded(label, "brief", told) or ""

    async def compacting(self, session: Session, messages: Sequence[Message]) -> None:
        """Tell the memory what is about to be put in fewer words. What a page says is not told."""
        found = self.of(session)
        if found and type(found[1]).compacting is not Memory.compacting and not outside(messages):
            label, memory = found
            await self._dispatch.shielded(label, "compacting", lambda: memory.compacting(session, messages))

    def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Let the memory look at a turn, beside whatever comes next. What a page says is not learned."""
        found = self.of(session)
        if found is None or type(found[1]).learn is Memory.learn or outside(messages):
            return
        label, memory = found
        looking = self._dispatch.shielded(label, "learn", lambda: memory.learn(session, messages), _SECONDS)
        task = asyncio.create_task(looking)
        self._looks[task] = label, session.id
        task.add_done_callback(self._looks.pop)

    async def end(self) -> None:
        """Wait a moment for looks that are under way; say of the others where they can be had again."""
        if self._looks:
            await asyncio.wait(self._looks, timeout=_LAST)
        for task, (label, session) in self._looks.items():
            task.cancel()
            text = f"was not done {_LAST:g} s after the end: it looks at session {session} again when that goes on"
            self._dispatch.failed(label, "learn", Late(text))
