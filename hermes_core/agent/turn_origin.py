"""Where a turn comes from and where its end goes: what a way in says about one turn."""

from hermes_core.brokers import TurnEnds
from hermes_core.kinds.console import AskPerson, Returns
from hermes_core.types import Speaker, TurnBounds
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.meter import Meter

__all__ = ["TurnOrigin"]


@frozen(kw_only=True)
class TurnOrigin:
    """How a turn reaches its person.

    ``ask`` puts questions to them; ``ends`` prepares what its end writes besides. ``model`` (``[provider:]model``) and
    ``effort`` are the conversation's own choice, empty where it made none; ``bounds`` are what it may do at most.
    ``above`` is the meter of the turn that it works for, whose person is asked as long as that turn lets them.
    A question that is ``lasting`` waits for its answer without a deadline. ``speaker`` is whose words it answers, None
    where that is the session's owner; ``returns`` what its answer has to be, where that is not just any text.
    """

    ask: AskPerson | None = None
    ends: TurnEnds | None = None
    model: str = ""
    effort: str = ""
    bounds: TurnBounds | None = None
    above: "Meter | None" = None
    lasting: bool = False
    speaker: Speaker | None = None
    returns: Returns | None = None
