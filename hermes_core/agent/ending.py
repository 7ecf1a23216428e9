"""Whether a turn may end with the answer it has: plugins may send the model on, so often, and with words of their own.

What sends it on is a row before the model is asked, so a process that takes the turn up goes on, and asks nobody twice.
"""

from collections.abc import Callable, Sequence

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.codec import clean, plain_text
from hermes_core.store.outside import by_person, by_plugin, outside
from hermes_core.types import Event, Message, Noticed, Session, Text, Usage

__all__ = ["Endings"]

_MOST = 8  # times a turn is sent on, whoever wants it
_LONGEST = 4_000  # characters of what a plugin says


class Endings:
    """The ends that one turn came to. ``note`` is what its person should know of those that were none."""

    def __init__(self, runtime: Runtime, emit: Callable[[Event], None]) -> None:
        self._runtime, self._emit = runtime, emit
        self._said: list[str] = []
        self.note = ""

    def take_up(self, messages: Sequence[Message]) -> None:
        """Know again what sent the turn on before its process died."""
        for message in messages:
            if by_person(message):
                self._said = []
            elif by_plugin(message, "sent_on"):
                self._said.append(plain_text(message.parts))

    async def more(self, session: Session, answer: str, messages: Sequence[Message], usage: Usage) -> Message | None:
        """Return what sends the model on, to be stored before it is said; None where the turn may end."""
        arguments = {"session": session, "answer": answer, "times": len(self._said), "usage": usage}
        verdict = await self._runtime.dispatch.decide("may_end", failing="allow", **arguments)
        if verdict.outcome != "deny":
            return None
        reason = self._runtime.settings.masks.for_model(clean(verdict.reason[:_LONGEST]).strip())
        reason = reason or "the work is not done yet"
        text = f"Do not end yet, says {verdict.by}: {reason}"
        if len(self._said) >= _MOST or text in self._said:
            why = f"{verdict.by} said so again" if text in self._said else f"it was sent on {_MOST} times"
            self.note = f"It ended although it should not ({reason}), as {why}."
            return None
        self._said.append(text)
        message = Message(role="user", parts=(Text(text=text),), meta={"hermes": {"sent_on": verdict.by}})
        return evolve(message, untrusted=outside(messages))

    def tell(self, message: Message) -> None:
        """Say to whoever watches why the turn goes on. It is stored now."""
        self._emit(Noticed(text=" ".join(plain_text(message.parts).split())))
        self.note = f"The turn went on after an answer: {plain_text(message.parts)}"
