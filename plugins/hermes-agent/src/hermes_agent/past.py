"""What became of a session that a program asked in before: its answer, or the turn that a death cut, finished."""

from typing import Any

from hermes_core.embed import Answer, Hermes
from hermes_core.errors import HermesError, UnknownName
from hermes_core.types import Ended, Failed, Message, Principal, Text, ToolCall

__all__ = ["answer_in", "finished", "text_in"]

_CUT = " … (This answer was cut off.)"  # how the kernel ends what was said until a turn was interrupted


async def answer_in(hermes: Hermes, session: str, owner: Principal) -> Message | None:
    """Give the answer that a session ends with; None where there is none, or only the beginning of one."""
    try:
        past = await hermes.sessions.past(owner, session)
    except UnknownName:
        return None
    if not past or past[-1].role != "assistant" or any(isinstance(part, ToolCall) for part in past[-1].parts):
        return None
    text = text_in(past[-1])
    return past[-1] if text and not text.endswith(_CUT) else None


def text_in(message: Message) -> str:
    """Give the text of a message as one."""
    return "".join(part.text for part in message.parts if isinstance(part, Text))


async def finished(hermes: Hermes, session: str, owner: Principal, **how: Any) -> Answer:
    """Finish the turn that a death cut, ``how`` as of ``Hermes.resume``. Raises HermesError when it cannot be."""
    failure, ended = None, None
    async for event in hermes.resume(session, owner=owner, **how):
        failure = event if isinstance(event, Failed) else failure
        ended = event if isinstance(event, Ended) else ended
    if failure is not None:
        raise HermesError(failure.text, hint=failure.hint)
    if ended is None:
        raise HermesError("Its turn is at work elsewhere.", hint="Run this again later.")
    return Answer(
        text=ended.answer, session=session, reason=ended.reason, turn=ended.turn_id, note=ended.note, usage=ended.usage
    )
