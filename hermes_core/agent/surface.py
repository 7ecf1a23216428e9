"""Where a turn comes from and where its end goes: what a way in says about one turn."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from hermes_core.kinds.console import AskPerson
from hermes_core.types import TurnBounds
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.bounds import Meter
    from hermes_core.database import Prepared

__all__ = ["CHILD", "Deliver", "Surface"]

CHILD = "child"  # the origin of a session that works for another one

# id, state, answer and error of a turn -> what the commit that closes it writes besides; None: nothing
Deliver: TypeAlias = "Callable[[str, str, str, str], Awaitable[Prepared[object] | None]]"


@frozen(kw_only=True)
class Surface:
    """How a turn reaches its person.

    ``ask`` puts questions to them; ``deliver`` makes what its end writes besides. ``model`` (``[provider:]model``) and
    ``effort`` are the conversation's own choice, empty where it made none; ``bounds`` are what it may do at most.
    ``above`` is the meter of the turn that it works for, whose person is asked as long as that turn lets them.
    """

    ask: AskPerson | None = None
    deliver: "Deliver | None" = None
    model: str = ""
    effort: str = ""
    bounds: TurnBounds | None = None
    above: "Meter | None" = None
