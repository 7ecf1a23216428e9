"""The brokers of a plugin's context that need a kernel, each made, and imported, when something is first asked of it.

None looks at permissions: ``plugins/permitted.py`` stands before all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hermes_core.agent.opening import address_of
from hermes_core.brokers import Mailbox, MessagesBroker
from hermes_core.database import WRITE, Begin, Transaction
from hermes_core.types import Message, Migration, Principal, Session, Target

if TYPE_CHECKING:
    from hermes_core.agent.kernel import Kernel
    from hermes_core.plugins.index import Installed
    from hermes_core.store.store import Store

__all__ = ["make_broker"]

T = TypeVar("T")


def make_broker(runtime: "Kernel", name: str, installed: "Installed") -> object:
    """Make a broker of a plugin's context, by its name there."""
    origin = installed.label.partition("/")[2]
    match name:
        case "llm":
            return runtime.routes
        case "documents":
            from hermes_core.store.documents import Documents

            return Documents(_Opening(runtime.store), installed.label)
        case "messages":
            return _Messages(runtime.mailbox, installed.label)
        case "history":
            from hermes_core.agent.sessions import BrokeredHistory

            return BrokeredHistory(runtime, installed.label)
        case "turns":
            from hermes_core.agent.turns import Turns

            return Turns(runtime, installed)
        case "sessions":
            from hermes_core.agent.sessions import BrokeredSessions

            return BrokeredSessions(runtime, origin)
        case "approvals":
            from hermes_core.agent.approvals import BrokeredApprovals

            return BrokeredApprovals(runtime)
        case "settings":
            from hermes_core.agent.settings import HomeSettings

            return HomeSettings(runtime, installed)
        case "store":
            from hermes_core.plugins.own_tables import PluginStore

            address = partial(address_of, runtime.settings)
            return PluginStore(installed, address, runtime.store, partial(_migrations, runtime))
        case "host":
            from hermes_core.agent.host import Host

            return Host(runtime)
        case "slash":
            from hermes_core.agent.slash.registry import Slash

            return Slash(runtime)
    from hermes_core.agent.control import Models, Plugins

    return Models(runtime, origin) if name == "models" else Plugins(runtime)


def _migrations(runtime: "Kernel", label: str) -> Sequence[Migration]:
    """Return what a plugin registered for tables of its own."""
    return [one for by, one in runtime.dispatch.contributions("register_migrations") if by == label]


class _Opening:
    """The database of a store that is opened when the first unit of work comes."""

    def __init__(self, store: "Callable[[], Awaitable[Store]]") -> None:
        self._store = store

    async def run(self, work: Callable[[Transaction], T], begin: Begin = WRITE, *, long: bool = False) -> T:
        return await (await self._store()).database.run(work, begin, long=long)


class _Messages(MessagesBroker):
    """Who sends to chats, for one plugin: what it calls by one key is nobody else's."""

    def __init__(self, mailbox: Callable[[], Mailbox], label: str) -> None:
        self._mailbox, self._label = mailbox, label

    async def targets(self, owner: Principal) -> Sequence[Target]:
        return await self._mailbox().targets(owner)

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        return await self._mailbox().find(owner, target, session)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        return await self._mailbox().send(owner, target, message, session, f"{self._label}:{key}" if key else "")
