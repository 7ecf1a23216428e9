"""What is shown of an answer: the model's words as they come, or whole, as plugins let it out."""

from collections.abc import Callable

from hermes_core.agent.reply_assembler import text_of
from hermes_core.agent.runtime import Runtime
from hermes_core.types import Called, Event, Message, Noticed, Said, Session, Text

__all__ = ["Shown"]


class Shown:
    """The events of one turn on their way out. Where plugins change answers, words wait until it is clear whose."""

    def __init__(self, runtime: Runtime, emit: Callable[[Event], None]) -> None:
        self._runtime, self._emit = runtime, emit
        self._held: list[Event] = []

    def emit(self, event: Event) -> None:
        """Pass an event on; what may yet be the answer is kept back if a plugin will want to change it."""
        if isinstance(event, Said) and self._runtime.dispatch.implementations("transform_outgoing"):
            self._held.append(event)
            return
        if isinstance(event, Called):  # then those words were not the answer
            for words in self._held:
                self._emit(words)
            self._held.clear()
        self._emit(event)

    async def whole(self, session: Session, answer: str) -> str:
        """Say the answer as it is shown, in place of the words kept back; of one that broke off they are not shown."""
        self._held.clear()
        dispatch = self._runtime.dispatch
        if answer and dispatch.implementations("transform_outgoing"):
            said, known = Message(role="assistant", parts=(Text(text=answer),)), len(dispatch.faults)
            answer = text_of(await dispatch.transform("transform_outgoing", "message", said, session=session))
            for fault in dispatch.faults[known:]:  # each kind is told once
                if fault.where == "transform_outgoing":
                    self._emit(Noticed(text=f"{fault.plugin} did not change the answer: {fault.error}"))
            self._emit(Said(text=answer))
        return answer
