"""Where a turn comes from and where its end goes: what a way in says about one turn."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from hermes_core.kinds.desk import AskPerson
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.outbox import Outgoing

__all__ = ["Deliver", "Surface"]

# id, state, answer and error of a turn -> the messages that tell of it; they are stored in the commit that closes it
Deliver: TypeAlias = "Callable[[str, str, str, str], Awaitable[Sequence[Outgoing]]]"


@frozen(kw_only=True)
class Surface:
    """How a turn reaches its person.

    ``ask`` puts questions to them; ``deliver`` makes the messages of its end. ``model`` (``[provider:]model``) and
    ``effort`` are the conversation's own choice, empty where it made none.
    """

    ask: AskPerson | None = None
    deliver: "Deliver | None" = None
    model: str = ""
    effort: str = ""
