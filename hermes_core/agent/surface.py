"""Where a turn comes from and where its end goes: what a way in says about one turn."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from hermes_core.brokers import MessagesBroker
from hermes_core.kinds.console import AskPerson
from hermes_core.types import Principal, TurnBounds
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.bounds import Meter
    from hermes_core.store.outbox import Outgoing

__all__ = ["CHILD", "Deliver", "Mailbox", "Surface"]

CHILD = "child"  # the origin of a session that works for another one

# id, state, answer and error of a turn -> the messages that tell of it; they are stored in the commit that closes it
Deliver: TypeAlias = "Callable[[str, str, str, str], Awaitable[Sequence[Outgoing]]]"


class Mailbox(MessagesBroker):
    """Sends messages to chats, also in the commit that ends a turn."""

    @abstractmethod
    async def rows(self, owner: Principal, target: str, text: str, turn_id: str) -> "Sequence[Outgoing]":
        """What tells a target of a turn's end. Raises UnknownName, UserError."""


@frozen(kw_only=True)
class Surface:
    """How a turn reaches its person.

    ``ask`` puts questions to them; ``deliver`` makes the messages of its end. ``model`` (``[provider:]model``) and
    ``effort`` are the conversation's own choice, empty where it made none; ``bounds`` are what it may do at most.
    ``above`` is the meter of the turn that it works for, whose person is asked as long as that turn lets them.
    """

    ask: AskPerson | None = None
    deliver: "Deliver | None" = None
    model: str = ""
    effort: str = ""
    bounds: TurnBounds | None = None
    above: "Meter | None" = None
