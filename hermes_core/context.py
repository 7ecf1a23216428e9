"""What a plugin gets instead of the kernel: a small frozen context with one broker for each enforced permission.

A broker checks the manifest's ``[permissions] kernel`` list and raises NotPermitted; a plugin cannot reach the
store, other plugins' settings or undeclared secrets through it.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from attrs import Factory, field

from hermes_core import notices
from hermes_core.addresses import UrlRules
from hermes_core.errors import Conflict, UserError
from hermes_core.types import (
    JSON,
    Document,
    Endpoint,
    HistoryEntry,
    Hit,
    Message,
    Principal,
    Request,
    Response,
    Session,
    Target,
)
from hermes_core.values import frozen

if TYPE_CHECKING:
    from sqlalchemy import Executable

T = TypeVar("T")

__all__ = [
    "KERNEL_PERMISSIONS",
    "DocumentsBroker",
    "HistoryBroker",
    "LlmBroker",
    "MessagesBroker",
    "PluginContext",
    "PluginPaths",
    "Rows",
    "SecretsBroker",
    "SessionsBroker",
    "StoreBroker",
    "TablesTransaction",
]

KERNEL_PERMISSIONS = (
    "sessions.read",
    "sessions.write",
    "turns.run",
    "llm.call",
    "messages.send",
    "history.rewrite",
    "store.connect",
    "store.tables",
    "tools.override",
    "settings.write",
)


class SecretsBroker(ABC):
    """Secrets by name; only those the manifest declares."""

    @abstractmethod
    def get(self, name: str) -> str:
        """The secret, or an empty string when it is not set. Raises NotPermitted for an undeclared name."""

    def set(self, name: str, value: str) -> None:
        """Keep a secret of one's own, such as a key that was made. Raises NotPermitted, and UserError as it says."""
        raise UserError(f"The secret {name} cannot be kept here.")

    @abstractmethod
    def resolve(self, value: str) -> str:
        """A setting's value with ``env:NAME`` followed. Raises NotPermitted for an undeclared name."""


class SessionsBroker(ABC):
    """Past conversations of one owner. Needs ``sessions.read``."""

    @abstractmethod
    async def search(
        self, owner: Principal, words: str, *, limit: int = 10, sort: Literal["newest", "oldest"] = "newest"
    ) -> Sequence[Hit]:
        """Messages that hold all the words."""

    @abstractmethod
    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        """Sessions, last used first."""

    @abstractmethod
    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages with their numbers: ``window`` on each side of message ``around``, or the last ones when it is 0."""

    @abstractmethod
    async def tool_history(self, owner: Principal, session_id: str, *, limit: int = 50) -> Sequence[HistoryEntry]:
        """Tool calls of a session, newest first."""


class LlmBroker(ABC):
    """Model calls on the user's account. Needs ``llm.call``."""

    @abstractmethod
    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        """One whole reply; an empty ``request.model`` means the user's model. Raises ProviderError.

        ``task`` names what it is for (``compression``, ``title``): the user may set up a model for it, under
        ``auxiliary``, and sees what it cost. ``session`` is the one it is done for.
        """


class HistoryBroker(ABC):
    """What a model is told of a session's past, between its turns. Needs ``history.rewrite``."""

    @abstractmethod
    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        """The context in force: the stored messages, or what they were compacted to and those after. UnknownName."""

    @abstractmethod
    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        """Put another context in its place; the stored messages stay and can be searched.

        Raises Busy while a turn runs, UnknownName, and UserError when the new one is not valid for every provider, not
        smaller, without the last thing the person said, or with a call nobody made. Then nothing changed.
        """


class MessagesBroker(ABC):
    """Messages to the chats of one owner. Needs ``messages.send``."""

    @abstractmethod
    async def targets(self, owner: Principal) -> Sequence[Target]:
        """The chats of an owner, last used first."""

    @abstractmethod
    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        """The chats that a target means.

        ``origin`` is the one that ``session`` was last asked in; ``local`` and an origin that is no chat mean none.
        ``all`` is home on every platform, ``PLATFORM`` home on that; else ``PLATFORM:CHAT[:THREAD]`` or a name.
        Raises UnknownName for what is no chat of the owner's, UserError for one that cannot be reached.
        """

    @abstractmethod
    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        """Write a message down to be sent, and say to which chats; raises as ``find``.

        What is sent twice with one ``key`` is sent once. Where the chat is not the one that ``session`` was asked in,
        the conversation there is told of it too. A message of what comes from outside says so (``untrusted``).
        """


class DocumentsBroker(ABC):
    """Small JSON values of the plugin in the kernel's store. Needs no permission: no plugin sees another's.

    A document belongs to an ``owner``, to an owner's session (``session_id`` too), or, with neither, to the plugin
    alone. One of a session is deleted with it, and copied when the whole session is forked.
    """

    @abstractmethod
    async def get(self, name: str, *, owner: Principal | None = None, session_id: str = "") -> Document | None:
        """The document of a name, or None."""

    @abstractmethod
    async def put(
        self,
        name: str,
        value: JSON,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> Document:
        """Write a document whole; committed when this returns.

        With a ``version`` only over that version, 0 when there must be none: else raises Conflict. Raises UnknownName
        for another's session, UserError for what is not JSON, above one mebibyte, or the 257th document of one place.
        """

    @abstractmethod
    async def delete(
        self, name: str, *, version: int | None = None, owner: Principal | None = None, session_id: str = ""
    ) -> bool:
        """Delete a document; whether there was one. Raises Conflict when the ``version`` is another."""

    @abstractmethod
    async def list(self, *, owner: Principal | None = None, session_id: str = "") -> Sequence[Document]:
        """The documents of exactly one place, by name."""

    @abstractmethod
    async def export(self, owner: Principal) -> Sequence[Document]:
        """All of an owner, those of their sessions included."""

    @abstractmethod
    async def erase(self, owner: Principal) -> int:
        """Delete all of an owner, those of their sessions included; how many there were."""

    async def change(
        self,
        name: str,
        edit: Callable[[JSON | None], JSON | None],
        *,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> JSON | None:
        """Replace a document by what ``edit`` makes of it, and return that; None is no document, before and after.

        ``edit`` is called again when somebody else was faster. Raises what it raises, as ``put``, and Conflict when
        others were faster ten times.
        """
        for left in reversed(range(10)):
            before = await self.get(name, owner=owner, session_id=session_id)
            after, version = edit(before.value if before else None), before.version if before else 0
            try:
                if after is not None:
                    await self.put(name, after, version=version, owner=owner, session_id=session_id)
                elif before:
                    await self.delete(name, version=version, owner=owner, session_id=session_id)
                return after
            except Conflict:
                if not left:
                    raise
        return None  # pragma: no cover - the loop returns or raises


class Rows(list[Mapping[str, Any]]):
    """The rows of a statement by column; ``changed`` is how many an insert, update or delete met, -1 if unknown."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), changed: int = -1) -> None:
        super().__init__(rows)
        self.changed = changed


class TablesTransaction(ABC):
    """An open transaction over the plugin's own tables. Good for its unit of work alone."""

    @abstractmethod
    def execute(self, statement: "Executable", parameters: Any = None) -> Rows:
        """Run a select, insert, update or delete of SQLAlchemy Core; its rows.

        ``parameters`` are as SQLAlchemy takes them. Raises Conflict when a row stands in the way, ContractError for a
        table of somebody else or what cannot be looked into, as raw text is, and StoreError.
        """


class StoreBroker(ABC):
    """The database of the kernel: own tables in it for ``store.tables``, its address for ``store.connect``."""

    @abstractmethod
    def address(self) -> str:
        """The server's address, with its password: it never goes into a text. Empty when the store is a file.

        Raises UserError when ``store.url`` refers to a secret that is not set.
        """

    @abstractmethod
    async def transact(self, work: Callable[[TablesTransaction], T]) -> T:
        """Run a unit of work in one transaction over the tables of ``register_migrations``; what it returns.

        ``work`` is a plain function, so that nobody waits while rows are locked, and does nothing but statements: it
        is called again when another process was in the way. Committed when this returns; when it raises, nothing
        happened. Raises NotPermitted, StoreError, what ``work`` raises, and at the first use PluginError when the
        tables cannot be migrated.
        """


@frozen(kw_only=True)
class PluginPaths:
    """Folders a plugin may use: its own data and cache, and the home for reading what the user put there.

    ``guarded`` are the files and folders that no tool may touch; ``hermes_core.places`` keeps to it.
    ``skills`` are the folders of skills that enabled plugins declare, each with the name of its plugin.
    """

    home: Path
    data: Path
    cache: Path
    guarded: Sequence[Path] = ()
    skills: Sequence[tuple[str, Path]] = ()


@frozen(kw_only=True, eq=False)
class PluginContext:
    """Handed to every hook that names ``ctx``.

    ``config`` is an instance of the manifest's config class, or None. ``endpoints`` holds what the user wrote under
    ``providers`` for the names this plugin contributes. ``state`` is the plugin's own, to share what it made among its
    hooks while this kernel lives: two kernels in one process have two. ``urls`` is what the person allows to be
    opened; hand it to ``hermes_core.fetching.fetch``.
    """

    name: str
    kind: str
    config: Any
    secrets: SecretsBroker
    paths: PluginPaths
    log: logging.Logger
    sessions: SessionsBroker
    llm: LlmBroker
    history: HistoryBroker
    messages: MessagesBroker
    documents: DocumentsBroker
    store: StoreBroker
    endpoints: Mapping[str, Endpoint] = Factory(dict)
    strict: bool = field(default=False)
    state: dict[str, Any] = Factory(dict)
    urls: UrlRules = Factory(UrlRules)

    def tell(self, text: str) -> None:
        """Say one line to the person whose turn is under way; where none is, it goes to the log."""
        if not notices.tell(text):
            self.log.info("%s", text)
