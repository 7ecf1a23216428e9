"""What a host asks of the kernel: a program that stays up, hears people elsewhere, and plays what waits for them.

The gateway for chat services is one. ``ctx.host`` is a HostBroker. A plugin that asks for it needs ``host.serve``,
which is a great deal: whoever hosts says who a person is, and the kernel believes it. What becomes of a message::

    session = await ctx.turns.take_up(owner=owner, origin="pager")
    await ctx.turns.queue(envelope, owner=owner, order=TurnOrder(session=session.id))  # it lasts from here
    async for event in ctx.turns.resume(session.id, owner=owner): ...  # what a death cut off comes first
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.kinds import Platform, Workspace
from hermes_core.permissions import needs
from hermes_core.types import Envelope, Fault, Message, Principal, Rights, Session, Speaker, Waiting

if TYPE_CHECKING:
    from hermes_core.database import Prepared

__all__ = ["CLOSE", "HostBroker", "HostRecords", "HostTurns", "HostedService", "Reach"]

CLOSE = 2.0  # seconds that a service has to put things down once it is stopped


class Reach(NamedTuple):
    """Where on this machine a file may be opened: below ``roots``, as seen from ``cwd``, and none of ``guarded``."""

    cwd: str
    roots: Sequence[str]
    guarded: Sequence[Path]


@needs("host.serve", "hosted conversations of anybody")
class HostTurns(ABC):
    """What waits in the sessions of whoever wrote to a host. ``ctx.turns`` orders, plays and stops it.

    Every method raises StoreError, and UnknownName for a session that is not the ``owner``'s.
    """

    @property
    @abstractmethod
    def playing(self) -> int:
        """How many turns run in this process."""

    @abstractmethod
    async def rest(self) -> None:
        """Wait until no turn runs in this process."""

    @abstractmethod
    async def let_go(self, session: str) -> None:
        """End what a session holds in this process, as its place for commands, and a turn that runs there."""

    @abstractmethod
    async def keep(self, session: Session) -> None:
        """Give a session that was taken up its row, though nothing was said in it."""

    @abstractmethod
    async def workspace(self, session: Session) -> Workspace:
        """Say where the commands of a session run. Raises UserError when there is none."""

    @abstractmethod
    def reach(self, session: Session, path: str, folders: Sequence[str]) -> Reach:
        """Say where a file of this machine that a session hands out may lie. ``folders`` are its own and those allowed.

        It looks at the disk, so call it in a thread. Raises OutOfReach for what its tools may not read.
        """

    @abstractmethod
    async def seen(self, session: Session, path: Path) -> str:
        """Say where a session's tools see a file among its ``outputs``: there, or a copy in their place. ToolError."""

    @abstractmethod
    async def owner(self, session_id: str) -> Principal | None:
        """Say whose a session is, for who is only given its id; None when there is none."""

    @abstractmethod
    async def unplayed(
        self, came: Container[tuple[Principal, str, str]], *, limit: int = 100
    ) -> Sequence[tuple[str, Principal]]:
        """Return the sessions, oldest first, where something waits and nobody works, of owners who wrote to the host.

        ``came`` holds owner, platform and account of each envelope: of a plugin's order its label and PROFILE/PERSON.
        """

    @abstractmethod
    async def cut(self, session_id: str) -> Waiting | None:
        """Return the message whose turn is open: it runs, or a death cut it off."""

    @abstractmethod
    async def waiting(self, session_id: str) -> Sequence[Waiting]:
        """Return what waits for its turn, in the order it came."""

    @abstractmethod
    async def stop_wanted(self, session_id: str) -> bool:
        """Tell whether another process left word to stop the turn of a session; told once."""

    @abstractmethod
    async def tell(self, session_id: str, key: str, told: Message, also: "Prepared[bool]") -> bool:
        """Let a session's model know of what was sent to its chat, in one commit with what ``also`` writes.

        False, and nothing is told, when ``also`` says so: it was there.
        """


@needs("host.serve", "hosted conversations of anybody")
class HostRecords(ABC):
    """What a host writes down besides: commands that it heard."""

    @abstractmethod
    async def answers(self) -> None:
        """Read something: whether the store answers."""

    @abstractmethod
    async def hear(self, owner: Principal, envelope: Envelope) -> int:
        """Write down a command before it is carried out; its row. Raises Duplicate."""

    @abstractmethod
    async def refuse(self, owner: Principal, envelope: Envelope, why: str) -> None:
        """Write down that a message could not be taken, and why, for who asks what became of it. Raises Duplicate."""

    @abstractmethod
    async def done(self, row: int, also: "Prepared[object] | None" = None) -> None:
        """Write down that it was carried out, and what somebody ``also`` writes of it. Raises Duplicate."""

    @abstractmethod
    async def commands_waiting(self, platform: str, account: str) -> Sequence[Waiting]:
        """Return the commands of an account that were heard and not carried out."""

    @abstractmethod
    async def forget(self, before: float) -> None:
        """Forget what commands said that were carried out before an instant; that they came stays known."""

    @abstractmethod
    async def over(self, turns: Sequence[str], before: float) -> Sequence[str]:
        """Return those of some turns that ended before an instant."""

    @abstractmethod
    async def leave(self) -> None:
        """Leave its turns to whoever comes next, with what was shown of replies: nothing it writes counts any more."""


class HostedService(NamedTuple):
    """Work of a plugin that a host keeps up. ``run`` raises what it raises; no fault of it reaches the host otherwise.

    ``health`` says what is wrong, ``status`` what it did, without secrets; ``failed`` records what its author mends.
    """

    name: str
    alone: bool
    local: bool
    run: Callable[[], Awaitable[None]]
    health: Callable[[], str]
    status: Callable[[], Awaitable[str]]
    failed: Callable[[BaseException], None]


@needs("host.serve", "hosted conversations of anybody")
class HostBroker(ABC):
    """A kernel that is hosted. Slash commands are ``ctx.slash``'s."""

    turns: HostTurns
    records: HostRecords
    interfaces: Sequence[str]  # the platforms on which whoever started this program talks, the first choice first

    @abstractmethod
    async def start(self) -> None:
        """Make now what every turn will need, and tell plugins that a host begins. Raises HermesError."""

    @abstractmethod
    def section(self, name: str) -> Any:
        """Return the kernel's own settings of a section as they are now; of ``platforms.NAME`` what all have.

        Of ``platforms`` it is what was written, by name.
        """

    async def rights(self, owner: Principal, speaker: Speaker | None = None) -> Rights:
        """Say what somebody may do now in sessions of ``owner``, as they speak there."""
        return Rights()

    @abstractmethod
    def contributed(
        self, table: str, names: Sequence[str], *, named: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Fault]]:
        """Return what enabled plugins contribute under these names, loaded now, and what went wrong with the others.

        ``table`` is one of the manifest's, such as ``platforms``. Where a person ``named`` it, what is wrong is raised.
        """

    @abstractmethod
    def is_set_up(self, platform: str) -> bool:
        """Tell whether a platform is to be served: its section says so, or is there, or its first secret is set."""

    @abstractmethod
    async def converse(self, platform: Platform, session: str = "") -> None:
        """Let the console driver of this home carry a platform until those on it leave. UserError where none is."""

    @abstractmethod
    def end_soon(self, status: int, tell: Callable[[], None]) -> None:
        """End this process within two seconds, even if a plugin holds it up: the answer is there.

        The plugin is named and kept for doctor, and ``tell`` is called in a thread before the process ends.
        """

    @abstractmethod
    def services(self) -> Sequence[HostedService]:
        """Return the services of enabled plugins. A plugin that cannot say what it has is recorded, and has none."""

    @abstractmethod
    def outputs(self, session: str) -> Path:
        """Return the folder of this machine for files that come to a session: its tools may read there."""
