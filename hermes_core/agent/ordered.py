"""What was ordered for a message, laid over how its turn reaches its person."""

import logging
from functools import partial

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.brokers import TurnEnds
from hermes_core.errors import UserError
from hermes_core.types import Envelope, Principal, TurnResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.database import Prepared

__all__ = ["ordered"]

log = logging.getLogger(__name__)


def ordered(runtime: Runtime, turn_origin: TurnOrigin, owner: Principal, envelope: Envelope | None) -> TurnOrigin:
    """How a turn reaches its person, with what was ordered for its message."""
    order = envelope.order if envelope else None
    if order is None:
        return turn_origin
    ends = partial(_deliver, runtime, order.deliver, owner, turn_origin.ends) if order.deliver else turn_origin.ends
    model, effort = order.model or turn_origin.model, order.effort or turn_origin.effort
    return evolve(turn_origin, model=model, effort=effort, bounds=order.bounds, ends=ends)


async def _deliver(
    runtime: Runtime, target: str, owner: Principal, ends: TurnEnds | None, result: TurnResult
) -> "Prepared[object] | None":
    """What sends the end of a turn, after what else ``ends`` it. A target that is gone is told in the log: the turn
    ends all the same."""
    other = await ends(result) if ends else None
    text = {"done": result.answer, "failed": result.error}.get(result.state, "")
    if not text.strip():
        return other
    try:
        sends = await runtime.mailbox().ending(owner, target, text, result.turn_id)
    except UserError as problem:
        log.error("the answer of turn %s could not be sent to %s: %s", result.turn_id, target, problem.text)
        return other
    return (lambda tx: (other(tx), sends(tx))) if other else sends
