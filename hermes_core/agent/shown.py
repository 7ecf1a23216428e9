"""What is shown of an answer: the model's words as they come, or whole, as plugins let it out."""

from collections.abc import Callable, Sequence

from hermes_core.agent.runtime import Runtime
from hermes_core.codec import plain_text
from hermes_core.errors import ContractError
from hermes_core.plugins.index import Installed
from hermes_core.types import Called, Event, Message, Noticed, Part, Said, Session, Text

__all__ = ["Shown"]


class Shown:
    """The events of one turn on their way out. Where plugins replace its answer, words wait until it is clear whose."""

    def __init__(self, runtime: Runtime, emit: Callable[[Event], None]) -> None:
        self._dispatch, self._emit = runtime.dispatch, emit
        self._holds, self._held = True, list[Event]()

    async def begin(self, session: Session) -> None:
        """Ask whether the words of this turn may be shown as they come; who changes answers and says nothing holds."""
        changing, asked = (set(self._dispatch.implementations(name)) for name in ("transform_outgoing", "may_stream"))
        verdict = await self._dispatch.decide("may_stream", session=session)
        self._holds = bool(changing - asked) or verdict.outcome != "allow"

    def emit(self, event: Event) -> None:
        """Pass an event on; what may yet be the answer is kept back if a plugin will want to replace it."""
        if isinstance(event, Said) and self._holds:
            self._held.append(event)
            return
        if isinstance(event, Called):  # then those words were not the answer
            for words in self._held:
                self._emit(words)
            self._held.clear()
        self._emit(event)

    async def whole(self, session: Session, answer: str) -> tuple[str, Sequence[Part]]:
        """Say the answer as it is shown, what was kept back or added; of one that broke off nothing is. What else goes
        with its text."""
        self._held.clear()
        if not answer or not (self._holds or self._dispatch.implementations("transform_outgoing")):
            return answer, ()
        said, faults, judge = Message(role="assistant", parts=(Text(text=answer),)), self._dispatch.faults, self._judged
        known = len(faults)
        said = await self._dispatch.transform("transform_outgoing", "message", said, judge=judge, session=session)
        for fault in faults[known:]:  # each kind is told once
            if fault.where == "transform_outgoing":
                self._emit(Noticed(text=f"{fault.plugin} did not change the answer: {fault.error}"))
        text = plain_text(said.parts)
        if new := text if self._holds else text.removeprefix(answer):
            self._emit(Said(text=new))
        return text, tuple(part for part in said.parts if not isinstance(part, Text))

    def _judged(self, plugin: Installed, before: Message, after: Message) -> Message:
        if not self._holds and not plain_text(after.parts).startswith(plain_text(before.parts)):
            raise plugin.error(ContractError, "the answer was shown as it came, so it can only be added to")
        return after
