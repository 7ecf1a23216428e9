"""What a plugin gets instead of the kernel: a small frozen context with one broker for each enforced permission.

A plugin cannot reach the store, other plugins' settings or undeclared secrets through it.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attrs import Factory, field

from hermes_core import notices
from hermes_core.brokers import (
    DocumentsBroker,
    HistoryBroker,
    LlmBroker,
    MasksBroker,
    MessagesBroker,
    SecretsBroker,
    TurnsBroker,
)
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.own import KERNEL
from hermes_core.types import Endpoint, Principal, Session
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.control import ApprovalsBroker, ModelsBroker, PluginsBroker, SessionsBroker, SettingsBroker
    from hermes_core.database import StoreBroker
    from hermes_core.host import HostBroker
    from hermes_core.slash import SlashBroker

__all__ = ["KERNEL_PERMISSIONS", "PluginContext", "PluginPaths", "UrlRules"]

KERNEL_PERMISSIONS = KERNEL  # what [permissions] kernel of a manifest may name


@frozen(kw_only=True)
class PluginPaths:
    """Folders a plugin may use: its own data and cache, and the home for reading what the user put there.

    ``guarded`` are the files and folders that no tool may touch; ``hermes_paths.places`` keeps to it.
    ``skills`` are the folders of skills that enabled plugins declare, each with the name of its plugin.
    """

    home: Path
    data: Path
    cache: Path
    guarded: Sequence[Path] = ()
    skills: Sequence[tuple[str, Path]] = ()


class UrlRules(NamedTuple):
    """What a person allows of the web. A plugin gets its own from ``PluginContext.urls``.

    ``blocked`` are globs on the host, or on host and path where they hold a slash; a name without a glob means the
    names below it too. ``is_secret`` says whether a text holds a secret of the person's. ``lookup`` resolves a name.
    """

    allow_private: bool = False
    blocked: Sequence[str] = ()
    is_secret: Callable[[str], bool] | None = None
    lookup: Callable[[str, int], Awaitable[Sequence[str]]] | None = None


@frozen(kw_only=True, eq=False)
class PluginContext:
    """Handed to every hook that names ``ctx``.

    ``config`` is an instance of the manifest's config class, or None. ``endpoints`` holds what the user wrote under
    ``providers`` for the names this plugin contributes. ``state`` is the plugin's own, to share what it made among its
    hooks while this kernel lives: two kernels in one process have two. ``owner`` is whose Hermes this is. ``urls`` is
    what the person allows to be opened, for ``hermes_tool_kit.fetching.fetch``. ``masks`` takes secrets out of texts.
    ``program`` is the name of the command line.
    """

    name: str
    kind: str
    config: Any
    secrets: SecretsBroker
    paths: PluginPaths
    log: logging.Logger
    sessions: "SessionsBroker"
    approvals: "ApprovalsBroker"
    llm: LlmBroker
    history: HistoryBroker
    messages: MessagesBroker
    turns: TurnsBroker
    models: "ModelsBroker"
    settings: "SettingsBroker"
    plugins: "PluginsBroker"
    host: "HostBroker"
    slash: "SlashBroker"
    documents: DocumentsBroker
    store: "StoreBroker"
    endpoints: Mapping[str, Endpoint] = Factory(dict)
    strict: bool = field(default=False)
    state: dict[str, Any] = Factory(dict)
    urls: UrlRules = Factory(UrlRules)
    owner: Principal = Factory(Principal)
    masks: MasksBroker = Factory(MasksBroker)
    program: str = "hermes"
    at_hand: Callable[[Session], Conversation] | None = None

    def tell(self, text: str) -> None:
        """Say one line to the person whose turn is under way; where none is, it goes to the log."""
        if not notices.tell(text):
            self.log.info("%s", text)

    def conversation(self, session: Session) -> Conversation:
        """Return the conversation that a slash command was typed into. Needs ``conversation.change``.

        Also while it is asked what may follow the command. Raises UserError where none was typed into this session,
        and NotPermitted.
        """
        if self.at_hand is None:
            raise UserError("No slash command runs here.")
        return self.at_hand(session)
