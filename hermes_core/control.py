"""The brokers of who looks after a Hermes: past conversations, what waits for a yes, who answers, settings, tools.

As those of ``hermes_core.brokers`` they are in a plugin's context, and marked with the permissions that they need. They
are imported when something is first asked of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal, NamedTuple

from hermes_core.brokers import LlmBroker
from hermes_core.errors import UnknownName, UserError
from hermes_core.permissions import free, needs
from hermes_core.types import (
    JSON,
    Approval,
    BackendRow,
    Envelope,
    Grant,
    HistoryEntry,
    Hit,
    KeyRow,
    Message,
    MessageTrace,
    ModelRow,
    PluginRow,
    Principal,
    PromptBlock,
    ProviderRow,
    Request,
    RouteRow,
    SecretOrigin,
    Session,
    SessionRow,
    Setting,
    Spent,
    ToolRow,
    UsageRow,
    Verdict,
)

if TYPE_CHECKING:
    from hermes_core.kinds import SetupStep
    from hermes_core.records import Record

__all__ = ["ApprovalsBroker", "ModelsBroker", "PluginsBroker", "SessionsBroker", "SettingsBroker", "Trial"]


_NO_SESSIONS = "There are no past conversations here."
_NO_MODELS = "No model can be looked at from here."
_NOT_HERE = "Nothing can be set up from here."


@needs("sessions.read", "read past conversations")
class SessionsBroker:
    """Past conversations of an ``owner``. Every method but a list raises UnknownName for one that is not theirs."""

    async def people(self) -> Sequence[Principal]:
        """Return everybody who has something here, or had; groups too. For whoever looks after this Hermes."""
        raise UserError(_NO_SESSIONS)

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: Literal["best", "newest", "oldest"] = "best",
        children: bool = False,
        session_id: str = "",
    ) -> Sequence[Hit]:
        """Return messages that hold the words in any form, most of them first; also of hidden sessions, if wanted."""
        raise UserError(_NO_SESSIONS)

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        """Return sessions, last used first."""
        return [row.session for row in await self.rows(owner, limit=limit)]

    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        """Return the same as lists show them: of one origin; those of child agents, hidden, archived if wanted."""
        raise UserError(_NO_SESSIONS)

    async def get(self, owner: Principal, session_id: str) -> Session:
        """Return a session by its exact id."""
        raise UserError(_NO_SESSIONS)

    async def find(self, owner: Principal, words: str) -> Session:
        """Find one by its id, the start of it, its title, or ``latest``. Raises UnknownName, UserError when unclear."""
        raise UserError(_NO_SESSIONS)

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Return messages with their numbers: ``window`` on each side of ``around``, or the last ones when it is 0.

        Numbers count a session's messages from 1 and never change.
        """
        raise UserError(_NO_SESSIONS)

    async def asked_from(self, session_id: str, owner: Principal) -> Envelope | None:
        """Say in which chat a session's last turn was asked for, without what was said; None if in none."""
        return None

    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        """Return all messages of a session, oldest first."""
        raise UserError(_NO_SESSIONS)

    async def prompt(self, owner: Principal, session_id: str) -> str:
        """Return the prompt that it began with; empty where it has none yet."""
        raise UserError(_NO_SESSIONS)

    async def tool_history(
        self, owner: Principal, session_id: str = "", *, tool: str = "", limit: int = 50
    ) -> Sequence[HistoryEntry]:
        """Return tool calls, newest first: of one session, of one tool, or all."""
        raise UserError(_NO_SESSIONS)

    async def traces(
        self, owner: Principal, word: str = "latest", *, everybody: bool = False
    ) -> Sequence[MessageTrace]:
        """Return what became of the messages that a word names, newest first; none where it names none.

        A word is a trace, a turn, an event or message id of a platform, the number of a row of the outbox, or
        ``latest``. ``everybody`` finds those of others, too, for the owner of this Hermes.
        """
        raise UserError(_NO_SESSIONS)

    async def usage(self, owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        """Return what was used on each of the last days, by model and task."""
        raise UserError(_NO_SESSIONS)

    async def spent(self, owner: Principal, *, session_id: str = "", since: float = 0.0) -> Spent:
        """Return what turns of an owner used that began since an instant, or those of one session, as far as booked.

        The use of child agents counts for the turns that they work for. Nothing for a session that is not theirs.
        """
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def create(
        self,
        owner: Principal,
        session_id: str = "",
        *,
        title: str = "",
        system: str = "",
        history: Sequence[Message] = (),
    ) -> Session:
        """Make a new one, stored, that begins with what was said elsewhere before; ``system`` is added to its prompt.

        Raises UserError when its id or title is taken.
        """
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def fork(self, owner: Principal, session_id: str, *, upto: str = "", title: str = "") -> Session:
        """Make a new one with the same prompt and history, until the end of the turn ``upto`` when that is given."""
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def rename(self, owner: Principal, session_id: str, title: str) -> Session:
        """Give one another title. Raises UserError when another one has it."""
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def archive(self, owner: Principal, session_id: str, *, back: bool = False) -> None:
        """Take one out of lists, or ``back`` into them. It is found by search and by its name, and goes on as ever."""
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def delete(self, owner: Principal, session_id: str, *, erased: bool = False) -> None:
        """Delete one with all it holds; ``erased``: no byte stays with plugins. Raises Busy while a turn runs in it."""
        raise UserError(_NO_SESSIONS)

    @needs("sessions.write", "changed past conversations")
    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        """Delete those that were last used before an instant, and say which; ``dry_run`` only says it."""
        raise UserError(_NO_SESSIONS)


@needs("approvals.settle", "answered for a person")
class ApprovalsBroker(ABC):
    """What waits for a person's yes, what else people are asked, and what they allowed.

    ``owner`` is who reads or answers. An ``admin`` does so for what is put to admins, too: the owner of this Hermes is
    one always, others are where their host says so.
    """

    @needs("host.serve", "asked a person")
    @abstractmethod
    async def ask(self, session: Session, question: Approval) -> Approval:
        """Write a question down before anybody is asked, or find it as it stands by now. StoreError for another's."""

    @needs("sessions.read", "read what waits for a yes")
    @needs("host.serve", "read what waits for admins", given="admin")
    @abstractmethod
    async def list(
        self, owner: Principal, *, closed: bool = False, limit: int = 20, admin: bool = False
    ) -> Sequence[Approval]:
        """Return the open questions that somebody may answer, newest first; settled ones too when ``closed``."""

    @needs("sessions.read", "read what waits for a yes")
    @needs("host.serve", "read what waits for admins", given="admin")
    @abstractmethod
    async def find(self, owner: Principal, words: str, *, admin: bool = False) -> Approval:
        """Return one of them by its id or the start of it. Raises UnknownName, UserError when unclear."""

    @needs("approvals.settle", "answered for a person")
    @needs("host.serve", "answered for an admin", given="admin")
    @abstractmethod
    async def settle(
        self, owner: Principal, approval_id: str, verdict: Verdict, *, admin: bool = False, expired: bool = False
    ) -> Approval:
        """Answer one for a person, once, and keep what that grants; a choice that was not offered is a single yes.

        ``expired``: nobody answered in time. Raises UnknownName, UserError when it was settled before.
        """

    @needs("sessions.read", "read what waits for a yes")
    @abstractmethod
    async def grants(self, owner: Principal) -> Sequence[Grant]:
        """Return what somebody allowed beyond single calls, in whatever session, oldest first."""

    @abstractmethod
    async def revoke(self, owner: Principal, grant_id: int) -> bool:
        """Take a grant back, at once, for running turns too; False when there is none of that number."""


@needs("llm.call", "looked at your models")
class ModelsBroker:
    """Who answers, and what they are sent."""

    async def providers(self) -> Sequence[ProviderRow]:
        """Return the providers that are installed, in the order in which they are chosen."""
        raise UserError(_NO_MODELS)

    async def list(self, provider: str = "") -> Sequence[ModelRow]:
        """List the models of a provider, asked now; of the one that answers when none is named. Raises HermesError."""
        raise UserError(_NO_MODELS)

    async def current(self) -> ModelRow:
        """Say who answers, found now where nobody asked before. Raises HermesError where nobody can."""
        raise UserError(_NO_MODELS)

    async def keys(self, provider: str = "", *, reset: str = "") -> Sequence[KeyRow]:
        """Return the keys of providers that have several. ``reset``: use one again, by fingerprint, or ``all`` of them.

        Raises UnknownName for a provider that has not several, or a key that is none of theirs.
        """
        raise UserError(_NO_MODELS)

    async def opening(self, message: Message) -> tuple[Sequence[PromptBlock], Request]:
        """Return what a new conversation would begin with: the blocks of its prompt, its first request. It is not sent.

        Raises UserError where nobody can answer.
        """
        raise UserError(_NO_MODELS)

    async def body(self, request: Request) -> bytes:
        """Return the bytes that who answers would be sent for a request; none for a model on this machine."""
        raise UserError(_NO_MODELS)


class Trial(NamedTuple):
    """Who would answer if some settings were written."""

    llm: LlmBroker
    models: ModelsBroker


@needs("settings.write", "looked into the settings")
class SettingsBroker(ABC):
    """The settings of this Hermes, and of its plugins that are enabled."""

    @abstractmethod
    async def list(self) -> Sequence[Setting]:
        """Return every setting, in the order of their classes."""

    @abstractmethod
    async def get(self, key: str) -> Setting:
        """Return one of them; of an entry in a mapping it is the mapping's. Raises UnknownName."""

    @abstractmethod
    async def set(self, key: str, text: str) -> Setting:
        """Write one from what a person typed, or JSON; it holds from the next start where nothing else is said.

        Raises ConfigError when it is not allowed there, UserError when it cannot be written; nothing is changed then.
        """

    @abstractmethod
    async def unset(self, key: str) -> Setting:
        """Take one back to its default. Raises as ``set``."""

    async def change(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> None:
        """Write several settings, all or none, and secrets by their names. Raises as ``set``.

        Where ``model.provider`` becomes another one, address and key of the one so far stay with that.
        """
        raise UserError(_NOT_HERE)

    async def has_secret(self, name: str) -> bool:
        """Tell whether a secret is set, in the environment or in the home."""
        raise UserError(_NOT_HERE)

    @needs("secrets.list", "looked into where secrets come from")
    async def secret_origins(self, *, ask: bool = False) -> Sequence[SecretOrigin]:
        """Return who has which secret, by its name. With ``ask`` every source is asked, for all that it should have."""
        raise UserError(_NOT_HERE)

    def trial(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> AbstractAsyncContextManager[Trial]:
        """Open a kernel beside this one, as if these were written: none is. Raises ConfigError, and as ``change``."""
        raise UserError(_NOT_HERE)

    async def step(self, name: str) -> "SetupStep":
        """Return a setup step of an enabled plugin; ``ctx.plugins.records("setup")`` says which there are.

        Raises UnknownName, PluginError when the plugin that has it cannot be used, or asks for what is not its own,
        UserError where a tool of Hermes started this.
        """
        raise UserError(_NOT_HERE)

    async def test(self, name: str, values: Mapping[str, str]) -> str:
        """Find out whether what a person said to a setup step works; what is not said is as it is set.

        One sentence of what was found. Raises HermesError where it does not work.
        """
        raise UserError(_NOT_HERE)


@free
class PluginsBroker(ABC):
    """What plugins add to this Hermes."""

    @abstractmethod
    def list(self) -> Sequence[PluginRow]:
        """Return the plugins that are installed, and how each is in this process."""

    @abstractmethod
    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        """Return the tools of enabled plugins, as a new conversation in a terminal has them, or one of a platform."""

    async def backends(self) -> Sequence[BackendRow]:
        """Return the places where commands could run."""
        return ()

    @abstractmethod
    def offered(self, table: str) -> Sequence[str]:
        """Return the names that installed plugins declare in a table of their manifests, such as ``providers``."""

    def records(self, table: str) -> Sequence["Record"]:
        """Return what enabled plugins say of ``commands``, ``slash``, ``setup`` or ``config``; none is imported."""
        return ()

    def find(self, words: str) -> PluginRow:
        """Return the plugin that a person means. Raises UnknownName, UserError when unclear."""
        raise UnknownName("plugin", words)

    def wanted(self) -> Mapping[str, Mapping[str, JSON]]:
        """Return what was asked to be installed, by distribution, each as it was noted."""
        return {}

    @needs("plugins.install", "noted what was installed")
    def note(self, distribution: str, request: Mapping[str, JSON]) -> None:
        """Write down what was asked to be installed and what came; it is not enabled by that. Raises UserError."""
        raise UserError(_NOT_HERE)

    @needs("plugins.install", "took back what was allowed")
    def forget(self, distribution: str) -> None:
        """Take back a distribution's consent, and that it was wanted. Raises UserError."""
        raise UserError(_NOT_HERE)

    def rescan(self) -> int:
        """Look again at what is installed, for the next start; how many plugins there are."""
        return 0

    @needs("routes.serve", "asked for what plugins serve")
    def routes(self) -> Sequence[RouteRow]:
        """Return what enabled plugins serve over HTTP, for a host that does so."""
        return ()
