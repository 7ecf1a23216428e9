"""What the calls of one reply share: who asks for them, where they run, what they may, what was spent."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve, field

from hermes_core.agent.asking import Asker
from hermes_core.agent.bounds import hosts_of
from hermes_core.agent.capabilities import Permitted
from hermes_core.agent.meter import Meter
from hermes_core.agent.policy.taint import Seen
from hermes_core.agent.runtime import Runtime
from hermes_core.kinds import Tool, Workspace
from hermes_core.types import Event, Question, Session, ToolCall, ToolResult, ToolSpec, Verdict
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.session_state import OpenSessions
    from hermes_core.store.leases import Turn
    from hermes_core.store.store import Store

__all__ = ["CallScene"]


@frozen(kw_only=True, eq=False)
class CallScene(ABC):
    """What the calls of one reply share. ``ran`` holds the names of tools that came to a good end in this session.

    Calls whose ids are in ``started`` had begun when their process died: nobody knows what they did.
    """

    store: "Store"
    turn: "Turn"
    session: Session
    runtime: Runtime
    room: int  # characters of one output that the model sees
    workspace: Workspace
    permits: dict[str, Permitted]  # for the workspace, by tool
    sessions: "OpenSessions"
    tools: Mapping[str, Tool]
    specs: Sequence[ToolSpec]  # of them, those the model was told of
    emit: Callable[[Event], None]
    asker: Asker
    ran: set[str]
    meter: Meter
    seen: Seen  # what the model knew when it made these calls
    beside: Callable[[Coroutine[None, None, object]], None]  # writes while the next request is under way
    started: AbstractSet[str] = frozenset()
    model: str = ""  # who answers in this turn, as ``provider:model``
    spent: dict[str, set[str]] = field(factory=dict)  # the sessions at work for each call: their use is not booked yet
    level: int = 0  # how many calls these are below
    count: Iterator[int] = field(factory=itertools.count)  # of the calls that tools make for these

    @abstractmethod
    async def below(self, above: str, call: ToolCall) -> ToolResult:
        """Run a call that the running call ``above`` makes; where that is run again, the result is the stored one."""

    def permitted(self, tool: Tool) -> Permitted:
        """Return the workspace as a tool may use it; one object for all its calls, as tools remember places by it."""
        key = " ".join([tool.name, *sorted(e.value for e in tool.effects)])  # a new version may have others
        if key not in self.permits:
            self.permits[key] = Permitted(self.workspace, tool, self.runtime.report)
        self.permits[key].hosts = hosts_of(self.session)
        return self.permits[key]

    async def ask(self, question: Question) -> Verdict | None:
        """Put a question to the person of this turn."""
        shown = self.runtime.settings.masks.text
        return await self.asker.ask(
            self.session, evolve(question, subject=shown(question.subject), risk=shown(question.risk))
        )
