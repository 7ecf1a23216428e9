"""For authors of stores, and of plugins with tables: what the kernel's store stands on.

Where its address is not a file, a plugin contributes a ``StoreDriver`` for the scheme of the address
(``register_stores``). It opens a ``Database``, which runs units of work in transactions. The kernel brings the
statements, by name, and the tables; the driver brings connections, what its server says in other words, and what goes
wrong there in plain ones.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

import attrs

from hermes_core.errors import StoreError
from hermes_core.permissions import needs
from hermes_core.types import JSON

if TYPE_CHECKING:
    from sqlalchemy import Executable

__all__ = [
    "PATIENCE",
    "READ",
    "WRITE",
    "Begin",
    "Changed",
    "Damaged",
    "Database",
    "Locked",
    "Notifier",
    "Prepared",
    "Rows",
    "StoreBroker",
    "TablesTransaction",
    "Transaction",
    "made",
]

T = TypeVar("T")
V = TypeVar("V", bound=attrs.AttrsInstance)
Begin = Literal["read", "write"]
READ: Begin = "read"
WRITE: Begin = "write"
PATIENCE = 30.0  # seconds to wait for others, or for a server that restarts, before giving up


class Locked(StoreError):
    """Somebody else holds what is needed; the transaction did not happen and is tried again while patience lasts."""


class Damaged(StoreError):
    """What is stored cannot be read right. Who opened it may have a way to mend what is made from the rows."""


class Changed(Protocol):
    """What an insert, an update or a delete did."""

    @property
    def rowcount(self) -> int:
        """How many rows it met."""


class Transaction(ABC):
    """What a unit of work may use: statements by name. ``committed`` runs after the commit, in order.

    On a ``server`` others write at the same time; else the store is ours until the commit. There the search index is
    an ordinary table whose rows go with their messages, and its words come cut and folded, with a space around each.
    ``dialect`` is SQLAlchemy's name for how it speaks and for the driver, ``connection`` the driver's own, and
    ``sqlalchemy`` what ``create_engine`` needs to use it.
    """

    server: bool = True
    dialect: str
    sqlalchemy: ClassVar[Mapping[str, Any]] = {}
    connection: Any

    def __init__(self) -> None:
        self.committed: list[Callable[[], None]] = []
        self.notices: list[str] = []

    @abstractmethod
    def rows(self, name: str, /, **values: JSON) -> list[Any]:
        """Return every row of a query, by position and by name."""

    @abstractmethod
    def row(self, name: str, /, **values: JSON) -> Any:
        """Return the first row of a query, or None."""

    @abstractmethod
    def change(self, name: str, /, **values: JSON) -> Changed:
        """Insert, update or delete."""

    @abstractmethod
    def add(self, name: str, /, **values: JSON) -> int:
        """Insert into a table that numbers its rows by ``id``; the new one's number, 0 when it was there already."""

    @abstractmethod
    def found(self, groups: Sequence[Sequence[str]], first: int, last: int, limit: int, order: str) -> list[int]:
        """Return the ``newest`` or ``oldest`` messages in which a phrase of each group stands, by number, in order."""

    @abstractmethod
    def objects(self) -> Mapping[str, str]:
        """Return tables, indexes, views, … by name, each with what it is made of: another text after it was changed."""

    def confined(self, prefix: str, kept: str) -> AbstractContextManager[None]:
        """Refuse, where the database can, what touches names without the prefix, or the table that is ``kept``."""
        return nullcontext()

    def tell(self, name: str) -> None:
        """Call who watches a name, after the commit; on a server, in all processes."""
        self.notices.append(name)

    def alone(self, name: str) -> None:
        """Wait until no other transaction is alone with this name, and keep it until the commit."""

    def clock(self) -> float:
        """Return seconds on the server's clock; 0 where there is no server: the clock of the machine is everybody's."""
        return 0.0


class Rows(list[Mapping[str, Any]]):
    """The rows of a statement by column; ``changed`` is how many an insert, update or delete met, -1 if unknown."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), changed: int = -1) -> None:
        super().__init__(rows)
        self.changed = changed


def made(cls: type[V], row: Any, **more: object) -> V:
    """Return a value of the columns that are named like its fields, and of what is not in the row as it should be."""
    known = {field.name for field in attrs.fields(cls)}
    return cls(**{**{name: row[name] for name in row.keys() if name in known}, **more})  # noqa: SIM118 - not a mapping


class TablesTransaction(ABC):
    """An open transaction over the plugin's own tables. Good for its unit of work alone."""

    @abstractmethod
    def execute(self, statement: "Executable", parameters: Any = None) -> Rows:
        """Run a select, insert, update or delete of SQLAlchemy Core; its rows.

        ``parameters`` are as SQLAlchemy takes them. Raises Conflict when a row stands in the way, ContractError for
        raw text and for a table of somebody else, and StoreError.
        """

    @abstractmethod
    def alone(self, name: str) -> None:
        """Wait until no other transaction of the plugin is alone with this name, and keep it until the commit."""

    @abstractmethod
    def tell(self, name: str) -> None:
        """Call who subscribed to the name after the commit, in every process that shares the store."""

    @abstractmethod
    def clock(self) -> float:
        """Return seconds since 1970, on the clock that all who share the store go by."""

    @abstractmethod
    def mark(self) -> Mapping[str, JSON]:
        """Return what a row says of a holder that is this process, now: its ``place``, ``pid`` and ``beat``."""

    @abstractmethod
    def lives(self, row: Mapping[str, Any] | None) -> bool:
        """Tell whether a row has a ``holder`` who is still there: its process runs, and marked it a moment ago."""


Prepared: TypeAlias = Callable[[Transaction], T]  # a plugin's unit of work, to be run in a transaction of the kernel


@needs("store.tables", "reached for tables of its own")
class StoreBroker(ABC):
    """The database of the kernel: own tables in it, and its address."""

    @needs("store.connect", "asked for the address of the store")
    @abstractmethod
    def address(self) -> str:
        """Return the server's address, with its password: it never goes into a text. Empty when the store is a file.

        Raises UserError when ``store.url`` refers to a secret that is not set.
        """

    @abstractmethod
    async def transact(self, work: Callable[[TablesTransaction], T], begin: Begin = WRITE) -> T:
        """Run a unit of work in one transaction over the tables of ``register_migrations``; what it returns.

        ``work`` is a plain function, so that nobody waits while rows are locked, and does nothing but statements: it
        is called again when another process was in the way. Committed when this returns; when it raises, nothing
        happened. With READ it only reads, and waits for no writer. Raises NotPermitted, StoreError, what ``work``
        raises, and at the first use PluginError when the tables cannot be migrated.
        """

    @abstractmethod
    async def prepare(self, work: Callable[[TablesTransaction], T]) -> Prepared[T]:
        """Prepare that for a commit of the kernel's, which runs it: both are stored, or nothing. Raises as above."""

    @abstractmethod
    async def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        """Call back in this event loop whenever a transaction of the plugin told a name; what ends that.

        A call may be lost with a connection: look now and then all the same. Raises NotPermitted, StoreError.
        """


class Database(ABC):
    """An open store; ``place`` says to people where it is, without a secret. Used from any thread.

    ``threads`` are its own; without, those of asyncio are used.
    """

    place: str
    threads: Executor | None = None

    def __init__(self) -> None:
        self.notifier = Notifier()

    async def run(self, work: Callable[[Transaction], T], begin: Begin = WRITE, *, long: bool = False) -> T:
        """Run a unit of work in one transaction, again if need be; what may take ``long``, never in the event loop.

        Raises StoreError; then nothing happened.
        """
        return await self.in_thread(work, begin)

    async def in_thread(self, work: Callable[[Transaction], T], begin: Begin) -> T:
        """Run a unit of work in a worker thread. Cancelled, it is written by now, or never. Raises StoreError."""
        stop, loop = threading.Event(), asyncio.get_running_loop()
        waiting = loop.run_in_executor(self.threads, self.transact, work, begin, stop)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([waiting])  # nothing happens behind the caller's back
            waiting.exception()
            raise

    @abstractmethod
    def transact(
        self, work: Callable[[Transaction], T], begin: Begin = WRITE, stop: threading.Event | None = None
    ) -> T:
        """Run a unit of work and block until it is done, or ``stop`` is set before it began. Raises StoreError."""

    def keep(self, name: str) -> None:
        """Copy it before its tables change, to go back to; a server is copied by whoever looks after it."""

    def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        """Call back in this event loop whenever a transaction told a name; what ends that."""
        return self.notifier.subscribe(name, call)

    @abstractmethod
    def close(self) -> None:
        """Let go of it; what runs is finished first. Closing twice is quiet."""


class Notifier:
    """Who is called when something was told. Each in the event loop in which it subscribed, from whichever thread."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, asyncio.AbstractEventLoop, Callable[[], None]]] = []

    def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        """Call back whenever the name is told; what ends that."""
        made = (name, asyncio.get_running_loop(), call)
        self._calls.append(made)
        return partial(self._drop, made)

    def notify(self, *names: str) -> None:
        """Tell these names; without one, all of them."""
        for name, loop, call in tuple(self._calls):
            if not names or name in names:
                with suppress(RuntimeError):  # its loop is closed
                    loop.call_soon_threadsafe(call)

    def _drop(self, made: tuple[str, asyncio.AbstractEventLoop, Callable[[], None]]) -> None:
        with suppress(ValueError):
            self._calls.remove(made)
