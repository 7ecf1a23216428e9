"""What is subscribed to, and what came in."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import Factory

from hermes_core.values import frozen

__all__ = ["KINDS", "Delivery", "Kind", "State", "Subscription"]

Kind = Literal["github", "gitlab", "stripe", "standard", "generic"]
KINDS: tuple[Kind, ...] = ("github", "gitlab", "stripe", "standard", "generic")
State = Literal["waiting", "done", "failed"]


@frozen(kw_only=True)
class Subscription:
    """One service that is heard, and what becomes of what it tells.

    ``sealed`` is the secret that it signs with, as it is stored. ``events`` are those that are heard, none means all;
    ``where`` are places in the payload with what must stand there. ``prompt`` is what the person wants done with it:
    their own words, into which nothing of the payload is put. ``template`` says what of the payload is told. Without a
    model (``direct``) that alone is sent to ``deliver``. ``person`` is whose turn it is; empty: the owner's. ``tools``
    are the only ones offered, where that is not None. What needs a yes is put to ``deliver`` where it ``asks``, else
    refused.
    """

    name: str
    kind: Kind = "generic"
    sealed: str = ""
    prompt: str = ""
    template: str = "{__raw__}"
    events: Sequence[str] = ()
    where: Mapping[str, str] = Factory(dict)
    tools: Sequence[str] | None = None
    deliver: str = ""
    direct: bool = False
    asks: bool = False
    person: str = ""
    model: str = ""
    folder: str = ""
    created: float = 0.0


@frozen(kw_only=True)
class Delivery:
    """Something that a service told. Its row is the acceptance: what is done about it comes after.

    ``delivery`` is its service's own name for it, ``digest`` one of what was signed; each is there once for a
    subscription. ``text`` is what is told of it, empty once that was done. ``due`` is when it is tried next.
    """

    id: int = 0
    route: str
    delivery: str
    digest: str
    event: str = ""
    text: str = ""
    state: State = "waiting"
    note: str = ""
    session: str = ""
    tries: int = 0
    due: float = 0.0
    received: float = 0.0
