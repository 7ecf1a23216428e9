"""What was ordered for a message, laid over how its turn reaches its person."""

import asyncio
import logging
from functools import partial

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.brokers import TurnEnds
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds.console import AskPerson
from hermes_core.types import Envelope, Message, Principal, Question, Text, TurnResult, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.database import Prepared

__all__ = ["ordered"]

log = logging.getLogger(__name__)
_AGAIN = 60.0  # seconds until it is tried again to put a question to a chat that could not be reached


def ordered(runtime: Runtime, turn_origin: TurnOrigin, owner: Principal, envelope: Envelope | None) -> TurnOrigin:
    """Return how a turn reaches its person, and who that is, with what was ordered for its message."""
    order = envelope.order if envelope else None
    if envelope and turn_origin.speaker is None:
        turn_origin = evolve(turn_origin, speaker=envelope.speaker)
    if order is None:
        return turn_origin
    ends = partial(_deliver, runtime, order.deliver, owner, turn_origin.ends) if order.deliver else turn_origin.ends
    model, effort = order.model or turn_origin.model, order.effort or turn_origin.effort
    ask = partial(_ask, runtime, order.ask, owner, turn_origin.ask) if order.ask else turn_origin.ask
    turn_origin = evolve(turn_origin, ask=ask, ends=ends, lasting=bool(order.ask))
    return evolve(turn_origin, model=model, effort=effort, bounds=order.bounds)


async def _ask(
    runtime: Runtime, target: str, owner: Principal, person: AskPerson | None, question: Question
) -> Verdict | None:
    """Put a question to whoever is here, else to a chat, and leave it there: its asker looks out for the answer."""
    if person and (verdict := await person(question)):
        return verdict
    if question.kind != "approval":  # it has no row that anybody could answer
        return None
    while True:
        try:
            await runtime.mailbox().ask(owner, target, question)
            await asyncio.Event().wait()
        except HermesError as problem:  # it can still be answered elsewhere
            log.error("a question could not be put to %s: %s", target, problem.text)
            await asyncio.sleep(_AGAIN)


async def _deliver(
    runtime: Runtime, target: str, owner: Principal, ends: TurnEnds | None, result: TurnResult
) -> "Prepared[object] | None":
    """Make what sends a turn's end, after what else ``ends`` it. A target that is gone is told in the log: the turn
    ends all the same."""
    other = await ends(result) if ends else None
    text = {"done": result.answer, "failed": result.error}.get(result.state, "")
    if not (text.strip() or result.parts):
        return other
    try:
        message = Message(role="assistant", parts=(Text(text=text), *result.parts))
        sends = await runtime.mailbox().ending(owner, target, message, result.turn_id)
    except UserError as problem:
        log.error("the answer of turn %s could not be sent to %s: %s", result.turn_id, target, problem.text)
        return other
    return (lambda tx: (other(tx), sends(tx))) if other else sends
