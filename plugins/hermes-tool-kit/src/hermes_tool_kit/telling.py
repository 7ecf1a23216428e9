"""What services of plugins tell one another: what happened, messages for places that are no chats, or to go on with.

A service is one of ``register_services``. One that is also ``Announces`` says what happened in its own rows, and one
that is also ``Outlets`` takes messages. A mailbox that is also ``Continues`` takes those that are gone on with. Whoever
wants them has ``host.serve``, and asks for all there are: nobody knows who that is.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import Factory

from hermes_core.types import JSON, Message, Principal, Session, Target
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.database import Prepared

__all__ = ["Announces", "Continues", "Happened", "Outlets", "announcing", "continuing", "sending"]


@frozen(kw_only=True)
class Happened:
    """Something happened: ``name`` is what, as ``job.failed``, and ``about`` names it, the same whenever it is asked.

    ``title`` says it in a few words that are no secret and nobody else's. ``data`` goes to programs, and ``text`` only
    to those who want to know what was said, without secrets. ``person`` is whose it is, ``when`` in seconds since 1970.
    """

    name: str
    about: str
    when: float
    title: str
    person: str
    data: Mapping[str, JSON] = Factory(dict)
    text: str = ""


class Announces(ABC):
    """A service that says what happened. Nothing is called when it does: its rows say it, so no death loses any."""

    @abstractmethod
    async def happened(self, since: float, most: int) -> Sequence[Happened]:
        """Return what happened since an instant, on the store's clock, oldest first, and no more than so much.

        Asked every few seconds, more than once for the same.
        """


class Outlets(ABC):
    """A service that takes messages of the owner's for places that are no chats, each under a name."""

    @abstractmethod
    def outlets(self) -> Sequence[Target]:
        """Return them, of kind ``dm`` where nobody but the owner reads them, else ``address``; the owner named them."""

    @abstractmethod
    async def post(self, name: str, message: Message, key: str) -> None:
        """Write a message down to be sent, once for its key. Raises UserError for what cannot go there."""

    @abstractmethod
    async def posting(self, name: str, message: Message, key: str) -> "Prepared[object]":
        """Return what writes it down, for the commit that ends a turn. What cannot go there is told of in words."""


class Continues(ABC):
    """A mailbox that sends to chats what is gone on with there, in the session that it came of."""

    @abstractmethod
    async def carry_on(
        self, owner: Principal, target: str, message: Message, session: Session, *, topic: str, name: str, key: str
    ) -> Sequence[Target]:
        """Write a message down to be sent, as MessagesBroker.send. What its owner answers to it is said in ``session``.

        What is of one ``topic`` has one thread, called ``name``, where the platform has threads. Where it has none, an
        answer quotes the message. Raises as MessagesBroker.send.
        """


def announcing(ctx: "PluginContext") -> Mapping[str, Announces]:
    """Return the services of enabled plugins that say what happened, by name. Needs ``host.serve``."""
    return {name: one for name, one in _services(ctx).items() if isinstance(one, Announces)}


def sending(ctx: "PluginContext") -> Mapping[str, Outlets]:
    """Return those that take messages for places that are no chats. Needs ``host.serve``."""
    return {name: one for name, one in _services(ctx).items() if isinstance(one, Outlets)}


def continuing(ctx: "PluginContext") -> Continues | None:
    """Return what sends messages that are gone on with, if anything does here. Needs ``host.serve``."""
    found, _ = ctx.host.contributed("mailboxes", ctx.plugins.offered("mailboxes"))
    return next((one for one in found.values() if isinstance(one, Continues)), None)


def _services(ctx: "PluginContext") -> Mapping[str, object]:
    found, _ = ctx.host.contributed("services", ctx.plugins.offered("services"))
    return found
