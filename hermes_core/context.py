"""What a plugin gets instead of the kernel: a small frozen context with one broker for each enforced permission.

A broker checks the manifest's ``[permissions] kernel`` list and raises NotPermitted; a plugin cannot reach the
store, other plugins' settings or undeclared secrets through it.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import Factory, field

from hermes_core import notices
from hermes_core.addresses import UrlRules
from hermes_core.errors import UserError
from hermes_core.types import (
    JSON,
    Endpoint,
    HistoryEntry,
    Hit,
    Message,
    Principal,
    Request,
    Response,
    Session,
    SessionRow,
    Target,
    UsageRow,
)
from hermes_core.values import frozen

__all__ = [
    "KERNEL_PERMISSIONS",
    "ArchiveBroker",
    "HistoryBroker",
    "LlmBroker",
    "MessagesBroker",
    "PluginContext",
    "PluginPaths",
    "SecretsBroker",
    "SessionsBroker",
    "StoreBroker",
]

KERNEL_PERMISSIONS = (
    "sessions.read",
    "sessions.write",
    "turns.run",
    "llm.call",
    "messages.send",
    "history.rewrite",
    "store.connect",
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


class ArchiveBroker(ABC):
    """The sessions of one owner as a whole. Needs ``sessions.read``; what changes them needs ``sessions.write``."""

    @abstractmethod
    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        """Sessions as lists show them, last used first: of one origin, and those of child agents if wanted."""

    @abstractmethod
    async def find(self, owner: Principal, words: str) -> Session:
        """One by its id, the start of it, its title, or ``latest``. Raises UnknownName, UserError when unclear."""

    @abstractmethod
    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        """All messages of a session, oldest first. Raises UnknownName."""

    @abstractmethod
    async def export(self, owner: Principal, session_id: str) -> Sequence[JSON]:
        """The same in OpenAI's shape, one or more for each, after the prompt it began with. Raises UnknownName."""

    @abstractmethod
    async def usage(self, owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        """What was used on each of the last days, by model and task."""

    @abstractmethod
    async def rename(self, owner: Principal, session_id: str, title: str) -> None:
        """Give one another title. Raises UnknownName, UserError when another one has it."""

    @abstractmethod
    async def delete(self, owner: Principal, session_id: str) -> None:
        """Delete one with all it holds. Raises UnknownName, Busy while a turn runs in it."""

    @abstractmethod
    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        """Delete those that were last used before an instant, and say which; ``dry_run`` only says it."""


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


class StoreBroker(ABC):
    """The database of the kernel, for an engine that keeps its own tables in it. Needs ``store.connect``."""

    @abstractmethod
    def address(self) -> str:
        """The server's address, with its password: it never goes into a text. Empty when the store is a file.

        Raises UserError when ``store.url`` refers to a secret that is not set.
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
    hooks while this kernel lives: two kernels in one process have two. ``owner`` is whose Hermes this is. ``urls`` is
    what the person allows to be opened; hand it to ``hermes_core.fetching.fetch``.
    """

    name: str
    kind: str
    config: Any
    secrets: SecretsBroker
    paths: PluginPaths
    log: logging.Logger
    sessions: SessionsBroker
    archive: ArchiveBroker
    llm: LlmBroker
    history: HistoryBroker
    messages: MessagesBroker
    store: StoreBroker
    endpoints: Mapping[str, Endpoint] = Factory(dict)
    strict: bool = field(default=False)
    state: dict[str, Any] = Factory(dict)
    urls: UrlRules = Factory(UrlRules)
    owner: Principal = Factory(Principal)

    def tell(self, text: str) -> None:
        """Say one line to the person whose turn is under way; where none is, it goes to the log."""
        if not notices.tell(text):
            self.log.info("%s", text)
