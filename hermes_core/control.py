"""The brokers of who looks after a Hermes: what waits for a yes, who answers, settings, tools.

As those of ``hermes_core.brokers`` they are in a plugin's context, and hold it to its manifest's permissions. They are
imported when something is first asked of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.errors import UserError
from hermes_core.types import (
    Approval,
    Grant,
    Message,
    ModelRow,
    PluginRow,
    Principal,
    PromptBlock,
    ProviderRow,
    Request,
    RouteRow,
    Setting,
    ToolRow,
    Verdict,
)

__all__ = ["ApprovalsBroker", "ModelsBroker", "PluginsBroker", "SettingsBroker"]


class ApprovalsBroker(ABC):
    """What waits for a person's yes, and what they allowed. Reading needs ``sessions.read``, else ``approvals.settle``.

    ``owner`` is who reads or answers. The owner of this Hermes answers what is put to admins, too.
    """

    @abstractmethod
    async def list(self, owner: Principal, *, closed: bool = False, limit: int = 20) -> Sequence[Approval]:
        """The open questions that somebody may answer, newest first; settled ones too when ``closed``."""

    @abstractmethod
    async def find(self, owner: Principal, words: str) -> Approval:
        """One of them by its id or the start of it. Raises UnknownName, UserError when unclear."""

    @abstractmethod
    async def settle(self, owner: Principal, approval_id: str, verdict: Verdict) -> Approval:
        """Answer one for a person, once, and keep what that grants; a choice that was not offered is a single yes.

        Raises UnknownName, UserError when it was settled before: the first answer counts.
        """

    @abstractmethod
    async def grants(self, owner: Principal) -> Sequence[Grant]:
        """What somebody allowed beyond single calls, in whatever session, oldest first."""

    @abstractmethod
    async def revoke(self, owner: Principal, grant_id: int) -> bool:
        """Take a grant back, at once, for running turns too; False when there is none of that number."""


class ModelsBroker:
    """Who answers, and what they are sent. Needs ``llm.call``."""

    async def providers(self) -> Sequence[ProviderRow]:
        """The providers that are installed, in the order in which they are chosen."""
        raise _no_models()

    async def list(self, provider: str = "") -> Sequence[ModelRow]:
        """The models of a provider, asked now; of the one that answers when none is named. Raises HermesError."""
        raise _no_models()

    async def opening(self, message: Message) -> tuple[Sequence[PromptBlock], Request]:
        """What a new conversation would begin with: the blocks of its prompt, and its first request. It is not sent.

        Raises UserError where nobody can answer.
        """
        raise _no_models()

    async def body(self, request: Request) -> bytes:
        """The bytes that who answers would be sent for a request; none for a model on this machine."""
        raise _no_models()


def _no_models() -> UserError:
    return UserError("No model can be looked at from here.")


class SettingsBroker(ABC):
    """The settings of this Hermes, and of its plugins that are enabled. Needs ``settings.write``."""

    @abstractmethod
    async def list(self) -> Sequence[Setting]:
        """Every setting, in the order of their classes."""

    @abstractmethod
    async def get(self, key: str) -> Setting:
        """One of them; of an entry in a mapping it is the mapping's. Raises UnknownName."""

    @abstractmethod
    async def set(self, key: str, text: str) -> Setting:
        """Write one from what a person typed, or JSON; it holds from the next start where nothing else is said.

        Raises ConfigError when it is not allowed there, UserError when it cannot be written; nothing is changed then.
        """

    @abstractmethod
    async def unset(self, key: str) -> Setting:
        """Take one back to its default. Raises as ``set``."""


class PluginsBroker(ABC):
    """What plugins add to this Hermes. Needs no permission but where it is said."""

    @abstractmethod
    def list(self) -> Sequence[PluginRow]:
        """The plugins that are installed, and how each is in this process."""

    @abstractmethod
    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        """The tools of enabled plugins, as a new conversation in a terminal has them, or one of a platform."""

    @abstractmethod
    def routes(self) -> Sequence[RouteRow]:
        """What enabled plugins serve over HTTP, for a host that does so. Needs ``routes.serve``."""

    @abstractmethod
    def platforms(self) -> Sequence[str]:
        """Where conversations may come from, by name: platforms that are installed, and programs."""
