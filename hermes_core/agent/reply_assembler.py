"""Replies that are no answer yet: empty ones, mere thoughts, those cut by their length, and those of another shape.

What a model is asked once more is never stored; only the whole reply is, as one message.
"""

from attrs import evolve

from hermes_core.codec import dumps, plain_text
from hermes_core.errors import Refused
from hermes_core.kinds.console import Returns
from hermes_core.types import Message, Part, Reasoning, Request, Response, Text, ToolCall

__all__ = ["ReplyAssembler", "has_calls", "nudged", "shaped"]

_NUDGES = {"empty": 3, "thought": 2, "refused": 1}  # how often a model is asked again
_CUTS = 3  # how often a reply that reached its length is gone on with
_EMPTY = "Your last reply was empty. Answer, or call a tool."
_THOUGHT = "You have thought, but said nothing. Answer now, or call a tool."
_SHAPE = "Your answer, once you are done, is JSON and nothing else. It fits this schema: "
_UNFIT = "That answer does not fit. Give the whole JSON anew. What is wrong: "
_GO_ON = "Your reply reached its length limit. Go on exactly where it stops, without repeating anything."


def has_calls(message: Message) -> bool:
    """Tell whether a reply calls tools."""
    return any(isinstance(p, ToolCall) for p in message.parts)


def nudged(request: Request, text: str) -> Request:
    """Return the request with a word to the model at its end; roles still alternate."""
    *before, last = request.messages
    if last.role == "user":
        return evolve(request, messages=(*before, evolve(last, parts=(*last.parts, Text(text=f"\n\n{text}")))))
    return evolve(request, messages=(*request.messages, Message(role="user", parts=(Text(text=text),))))


def shaped(request: Request, returns: Returns) -> Request:
    """Return the request with what its answer has to be: in words, and as an option for who can hold a model to it."""
    options = {**request.options, "schema": returns.schema}
    return evolve(nudged(request, f"{_SHAPE}{dumps(returns.schema)}"), options=options)


class ReplyAssembler:
    """Takes responses until they make a reply. ``request`` is what to ask next, ``said`` what holds of it so far."""

    def __init__(self, request: Request, returns: Returns | None = None) -> None:
        self.request = self._first = request
        self.said: list[Part] = []
        self._tries: dict[str, int] = {}
        self._cuts = self._unfit = 0
        self._returns = returns
        self.response: Response | None = None

    def add(self, response: Response) -> None:
        """Take one response; ``response`` is set when the reply is whole. Raises Refused when nothing comes."""
        message = response.message
        if not plain_text(message.parts).strip() and not has_calls(message):
            if self.said:  # nothing more came to what was cut
                self._end(response)
            else:
                self._again(response)
            return
        self._take(message)
        if response.reason != "length" or has_calls(message) or self._cuts == _CUTS:
            self._end(response)
            return
        self._cuts += 1
        self._after(message, _GO_ON)

    def _after(self, message: Message, text: str) -> None:
        said = Message(role="assistant", parts=tuple(self.said), meta=message.meta)
        self.request = nudged(evolve(self._first, messages=(*self._first.messages, said)), text)

    def _take(self, message: Message) -> None:
        for part in message.parts:
            last = self.said[-1] if self.said else None
            if isinstance(part, Reasoning) and self._cuts:
                continue  # a second thought in the middle of a reply fits into no dialect
            if isinstance(part, Text) and isinstance(last, Text):
                self.said[-1] = Text(text=last.text + part.text)
            else:
                self.said.append(part)

    def _end(self, response: Response) -> None:
        judged = None if has_calls(response.message) else self._returns
        if judged and (wrong := judged.misfit(plain_text(self.said))):
            self._unfit += 1
            if self._unfit >= judged.tries:
                raise Refused(f"The model gave no answer of the shape that was asked for: {wrong}")
            self._after(response.message, f"{_UNFIT}{wrong}")
            self.said, self._cuts = [], 0
            return
        if self.said != list(response.message.parts):
            response = evolve(response, message=evolve(response.message, parts=tuple(self.said)))
        self.response = response

    def _again(self, response: Response) -> None:
        thought = any(isinstance(p, Reasoning) and p.text for p in response.message.parts)
        kind = "refused" if response.reason == "refused" else "thought" if thought else "empty"
        self._tries[kind] = self._tries.get(kind, 0) + 1
        if self._tries[kind] > _NUDGES[kind]:
            filtered = "The provider filtered the model's answer."
            text = {"refused": filtered, "thought": "The model only thought and said nothing."}.get(kind)
            hint = "Ask again in other words, or choose another model."
            raise Refused(text or "The model answered nothing.", hint=hint)
        self.request = nudged(self._first, _THOUGHT if thought else _EMPTY)
