"""The two contexts a plugin is handed, without a kernel behind them."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from attrs import evolve

from hermes_core.brokers import (
    DocumentsBroker,
    HistoryBroker,
    LlmBroker,
    MessagesBroker,
    SecretsBroker,
    SessionsBroker,
    TurnsBroker,
)
from hermes_core.context import PluginContext, PluginPaths, UrlRules
from hermes_core.control import ApprovalsBroker, ModelsBroker, PluginsBroker, SettingsBroker
from hermes_core.database import StoreBroker, TablesTransaction
from hermes_core.errors import NotPermitted, ProviderError, ToolError, UnknownName, UserError
from hermes_core.kinds import Conversation, ToolContext, Workspace
from hermes_core.testing.fake_approvals import FakeApprovals
from hermes_core.testing.fake_documents import FakeDocuments
from hermes_core.testing.fake_settings import FakeSettings
from hermes_core.testing.fake_turns import FakeTurns
from hermes_core.types import (
    JSON,
    Endpoint,
    HistoryEntry,
    Hit,
    Message,
    MessageTrace,
    Migration,
    Offer,
    PluginRow,
    Principal,
    Question,
    Request,
    Response,
    Session,
    SessionRow,
    Target,
    Text,
    ToolCall,
    ToolResult,
    ToolRow,
    UsageRow,
    Verdict,
)

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeToolContext", "plugin_context"]

T = TypeVar("T")


def plugin_context(
    manifest: "Manifest",
    home: Path,
    *,
    config: object = None,
    secrets: Mapping[str, str] | None = None,
    sessions: SessionsBroker | None = None,
    replies: Sequence[Response] = (),
    endpoints: Mapping[str, Endpoint] | None = None,
    histories: Mapping[str, Sequence[Message]] | None = None,
    urls: UrlRules = UrlRules(),  # noqa: B008 - a value
    skills: Sequence[tuple[str, Path]] = (),
    store: str = "",
    messages: MessagesBroker | None = None,
    turns: TurnsBroker | None = None,
    documents: DocumentsBroker | None = None,
    migrations: Callable[[], Sequence[Migration]] = tuple,
    approvals: ApprovalsBroker | None = None,
    conversation: Conversation | None = None,
    models: ModelsBroker | None = None,
    settings: SettingsBroker | None = None,
    tools: Sequence[ToolRow] = (),
) -> PluginContext:
    """A context as the kernel would make it, with an empty past and folders under ``home``.

    ``secrets`` holds values by name, ``replies`` what ``llm.complete`` answers, ``histories`` the contexts in force by
    session id, with which ``history.replace`` is as strict as the kernel, ``urls`` what may be opened, ``store`` the
    address of the store's server, ``messages`` what sends them (else there is no chat), ``turns`` what plays them
    (else each is answered by what was said), ``documents`` what is kept (else nothing yet), ``approvals`` what waits
    for a yes (else nothing), ``models`` who answers (else nobody), ``settings`` those there are (else none),
    ``tools`` what ``plugins.tools`` tells, ``conversation`` where slash commands are typed (else nowhere). Permissions
    are enforced as always. ``migrations`` gives what the plugin registers; its tables are in a file among its data.
    """
    data, cache = home / "data" / manifest.name, home / "cache" / manifest.name
    for folder in (data, cache):
        folder.mkdir(parents=True, exist_ok=True)
    return PluginContext(
        name=manifest.name,
        kind=manifest.kind,
        config=config,
        secrets=_Secrets(manifest, secrets or {}),
        paths=PluginPaths(home=home, data=data, cache=cache, skills=skills),
        log=logging.getLogger(f"hermes.test.{manifest.name}"),
        sessions=sessions or _NoSessions(manifest),
        approvals=approvals or FakeApprovals(manifest),
        llm=_Replies(manifest, replies),
        history=_Histories(manifest, histories or {}),
        messages=messages or _NoChats(manifest),
        turns=turns or FakeTurns(manifest),
        models=models or ModelsBroker(),
        settings=settings or FakeSettings(manifest=manifest),
        plugins=_Plugins(tools),
        documents=documents or FakeDocuments(),
        store=_Store(manifest, store, data, migrations),
        endpoints=dict(endpoints or {}),
        strict=True,
        urls=urls,
        at_hand=partial(_at_hand, manifest, conversation),
    )


class FakeToolContext(ToolContext):
    """A tool's context that keeps what the tool did: ``shown``, ``questions``, ``spilled``, ``untrusted``.

    ``verdict`` is the person's answer to every question; without one nobody is there and it is deny.
    ``tools`` is what ``offer`` gives. ``answers`` is what calls of other tools give, by name: a result, a text, or a
    ToolError; ``called`` keeps these calls.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        session: Session | None = None,
        verdict: Verdict | None = None,
        tools: Offer | None = None,
        answers: Mapping[str, ToolResult | str | ToolError] | None = None,
    ) -> None:
        self.workspace = workspace
        self.answers, self.called = answers or {}, list[ToolCall]()
        self.session = session or Session(id="test", origin="embed", cwd=workspace.cwd)
        self.call_id = "call-1"
        self.shown: list[str] = []
        self.questions: list[Question] = []
        self.spilled: dict[str, bytes] = {}
        self.interrupted = self.untrusted = False
        self.tools = tools or Offer(tools=())
        self._verdict = verdict or Verdict(outcome="deny", reason="Nobody is there to ask.")

    def progress(self, text: str) -> None:
        """Keep it in ``shown``."""
        self.shown.append(text)

    async def ask(self, question: Question) -> Verdict:
        """Keep the question and give the verdict this context was made with."""
        self.questions.append(question)
        return self._verdict

    async def spill(self, name: str, data: bytes) -> str:
        """Keep the bytes in ``spilled`` under the path that is returned."""
        path = f"/spilled/{name}"
        self.spilled[path] = data
        return path

    async def call(self, name: str, arguments: Mapping[str, JSON]) -> ToolResult:
        """Keep the call in ``called`` and give what ``answers`` has for its name."""
        call = ToolCall(id=f"{self.call_id}/{len(self.called)}", name=name, arguments=arguments)
        self.called.append(call)
        answer = self.answers.get(name) or ToolError(f"There is no tool named {name!r}.")
        if isinstance(answer, ToolResult):
            return evolve(answer, call_id=call.id, name=name)
        parts = (Text(text=str(answer)),)
        return ToolResult(call_id=call.id, name=name, parts=parts, failed=isinstance(answer, ToolError))

    def offer(self) -> Offer:
        """What this context was made with."""
        return self.tools

    def from_outside(self) -> None:
        """Keep that it was said in ``untrusted``."""
        self.untrusted = True

    @property
    def cancelled(self) -> bool:
        """Whatever ``interrupted`` was set to."""
        return self.interrupted


class _Secrets(SecretsBroker):
    def __init__(self, manifest: "Manifest", values: Mapping[str, str]) -> None:
        self._manifest = manifest
        self._values = dict(values)

    def get(self, name: str) -> str:
        self._declared(name)
        return self._values.get(name, "")

    def set(self, name: str, value: str) -> None:
        self._declared(name)
        self._values[name] = value

    def _declared(self, name: str) -> None:
        if not self._manifest.declares("secrets", name, "permissions"):
            raise NotPermitted(
                self._manifest.label,
                f"asked for the secret {name}.",
                hint=f"Declare it in hermes-plugin.toml: [permissions] secrets = [{name!r}]",
            )

    def resolve(self, value: str) -> str:
        return self.get(value[4:]) if value.startswith("env:") else str(value)


def _require(manifest: "Manifest", permission: str) -> None:
    if permission not in manifest.kernel:
        raise NotPermitted(
            manifest.label,
            f"used {permission} without declaring it.",
            hint=f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]",
        )


def _at_hand(manifest: "Manifest", conversation: Conversation | None, session: Session) -> Conversation:
    _require(manifest, "conversation.change")
    if conversation is None or conversation.session.id != session.id:
        raise UserError("No slash command was typed into this session.")
    return conversation


class _Store(StoreBroker):
    def __init__(
        self, manifest: "Manifest", address: str, data: Path, migrations: Callable[[], Sequence[Migration]]
    ) -> None:
        self._manifest, self._address, self._data, self._migrations = manifest, address, data, migrations

    def address(self) -> str:
        _require(self._manifest, "store.connect")
        return self._address

    async def transact(self, work: Callable[[TablesTransaction], T]) -> T:
        _require(self._manifest, "store.tables")
        from hermes_core.store.engine import Engine
        from hermes_core.store.tables import Tables

        (migration,) = self._migrations()
        engine = Engine(self._data / "tables.db")
        try:
            tables = Tables(engine, self._manifest.label, migration)
            tables.prepare()
            return await tables.run(work)
        finally:
            engine.close()


class _NoSessions(SessionsBroker):
    def __init__(self, manifest: "Manifest") -> None:
        self._manifest = manifest

    async def search(
        self, owner: Principal, words: str, *, limit: int = 10, sort: Literal["newest", "oldest"] = "newest"
    ) -> Sequence[Hit]:
        _require(self._manifest, "sessions.read")
        return ()

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        _require(self._manifest, "sessions.read")
        return ()

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        _require(self._manifest, "sessions.read")
        return ()

    async def tool_history(
        self, owner: Principal, session_id: str = "", *, tool: str = "", limit: int = 50
    ) -> Sequence[HistoryEntry]:
        _require(self._manifest, "sessions.read")
        return ()

    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        _require(self._manifest, "sessions.read")
        return ()

    async def find(self, owner: Principal, words: str) -> Session:
        _require(self._manifest, "sessions.read")
        raise UnknownName("session", words)

    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        await self.find(owner, session_id)
        return ()

    async def export(self, owner: Principal, session_id: str) -> Sequence[JSON]:
        await self.find(owner, session_id)
        return ()

    async def export_after(
        self, owner: Principal, session_id: str, number: int, *, limit: int = 100
    ) -> Sequence[tuple[int, JSON]]:
        raise UnknownName("session", session_id)

    async def traces(
        self, owner: Principal, word: str = "latest", *, everybody: bool = False
    ) -> Sequence[MessageTrace]:
        _require(self._manifest, "sessions.read")
        return ()

    async def usage(self, owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        _require(self._manifest, "sessions.read")
        return ()

    async def rename(self, owner: Principal, session_id: str, title: str) -> None:
        await self.delete(owner, session_id)

    async def delete(self, owner: Principal, session_id: str) -> None:
        _require(self._manifest, "sessions.write")
        raise UnknownName("session", session_id)

    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        _require(self._manifest, "sessions.write")
        return ()


class _Plugins(PluginsBroker):
    def __init__(self, tools: Sequence[ToolRow]) -> None:
        self._tools = tools

    def list(self) -> Sequence[PluginRow]:
        return ()

    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        return self._tools

    def platforms(self) -> Sequence[str]:
        return ("cli", "embed", "oneshot")


class _NoChats(MessagesBroker):
    def __init__(self, manifest: "Manifest") -> None:
        self._manifest = manifest

    async def targets(self, owner: Principal) -> Sequence[Target]:
        _require(self._manifest, "messages.send")
        return ()

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        _require(self._manifest, "messages.send")
        if target in ("local", "origin"):
            return ()
        raise UnknownName("target", target)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        return await self.find(owner, target, session)


class _Histories(HistoryBroker):
    def __init__(self, manifest: "Manifest", histories: Mapping[str, Sequence[Message]]) -> None:
        self._manifest = manifest
        self._histories = {name: list(messages) for name, messages in histories.items()}

    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        _require(self._manifest, "history.rewrite")
        if session_id not in self._histories:
            raise UnknownName("session", session_id)
        return list(self._histories[session_id])

    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        from hermes_core.store.validity import misfit

        if why := misfit(await self.read(owner, session_id), messages):
            raise UserError(f"The context of {session_id} was not replaced: {why}.")
        self._histories[session_id] = list(messages)


class _Replies(LlmBroker):
    def __init__(self, manifest: "Manifest", replies: Sequence[Response]) -> None:
        self._manifest = manifest
        self._replies: list[Any] = list(replies)

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        _require(self._manifest, "llm.call")
        if not self._replies:
            raise ProviderError("No reply is scripted for this model call.", hint="plugin_context(replies=[…])")
        reply: Response = self._replies.pop(0)
        return reply
