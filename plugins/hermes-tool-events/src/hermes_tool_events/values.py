"""What happened, and what is to be told of it."""

from typing import Literal

from hermes_core.values import frozen

__all__ = ["MESSAGE", "Begun", "Told"]

MESSAGE = "message"  # the name of what somebody sent here, which is no event


@frozen(kw_only=True)
class Begun:
    """A turn that is told of when it is over."""

    turn: str
    session: str
    origin: str
    person: str
    over: int = 0
    since: float = 0.0


@frozen(kw_only=True)
class Told:
    """What one target is told of one event. ``event`` names it, the same for every target and every try.

    ``body`` is what happened, as JSON. ``due`` is when it is tried next.
    """

    id: int = 0
    event: str
    target: str
    name: str
    body: str
    state: Literal["waiting", "done", "dead"] = "waiting"
    note: str = ""
    tries: int = 0
    due: float = 0.0
    created: float = 0.0
