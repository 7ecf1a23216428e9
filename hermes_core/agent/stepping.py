"""Whether a turn goes on to its next model call: plugins may end it, or leave that to its person."""

import os
from collections.abc import Sequence
from itertools import takewhile

from hermes_core.agent.asking import Asker
from hermes_core.agent.runtime import Runtime
from hermes_core.codec import clean
from hermes_core.errors import UserError
from hermes_core.types import Message, Question, Session, ToolResult, Usage

__all__ = ["ended"]

_GO_ON, _STOP, _SAY = "go on", "stop", "say something else"
_LONGEST = 4_000  # characters of what a plugin says


async def ended(
    runtime: Runtime, asker: Asker, session: Session, *, number: int, usage: Usage, messages: Sequence[Message]
) -> tuple[str, str]:
    """Return the last words of a turn that ends here (empty: it goes on), and what its person wants to say instead.

    Raises UserError when a plugin ends it, and where nothing of who speaks in it may run.
    """
    if refused := (await runtime.guests.now(session.owner, session.speaker)).refused:
        raise UserError(refused)
    latest = takewhile(lambda message: message.role != "assistant", reversed(messages))
    results = [part for message in reversed([*latest]) for part in message.parts if isinstance(part, ToolResult)]
    verdict = await runtime.dispatch.decide("next_step", session=session, number=number, usage=usage, results=results)
    if verdict.outcome == "allow":
        return "", ""
    reason = runtime.settings.masks.for_model(clean(verdict.reason[:_LONGEST]).strip()) or f"{verdict.by} said so."
    if verdict.outcome == "deny":
        raise UserError(f"This turn was ended by {verdict.by}: {reason}")
    return await _asked(reason, asker, session)


async def _asked(reason: str, asker: Asker, session: Session) -> tuple[str, str]:
    question = Question(id=_id(), kind="choice", subject=f"{reason}\nWhat now?", choices=(_GO_ON, _STOP, _SAY))
    verdict = await asker.ask(session, question)
    picked = verdict.choice if verdict and verdict.outcome == "allow" else _STOP
    if picked == _GO_ON:
        return "", ""
    if picked == _SAY:
        asked = Question(id=_id(), kind="text", subject="What should the model do instead?", choices=())
        verdict = await asker.ask(session, asked)
        picked = verdict.choice if verdict and verdict.outcome == "allow" else _STOP
    return f"I stopped. {reason}", "" if picked == _STOP else picked


def _id() -> str:
    return os.urandom(16).hex()
