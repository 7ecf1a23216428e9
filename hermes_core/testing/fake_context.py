"""The two contexts a plugin is handed, without a kernel behind them."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import evolve

from hermes_core.brokers import (
    DocumentsBroker,
    MessagesBroker,
    SecretsBroker,
    TurnsBroker,
)
from hermes_core.context import PluginContext, PluginPaths, UrlRules
from hermes_core.control import ApprovalsBroker, ModelsBroker, PluginsBroker, SessionsBroker, SettingsBroker
from hermes_core.database import WRITE, Begin, Notifier, Prepared, StoreBroker, TablesTransaction, Transaction
from hermes_core.errors import NotPermitted, ToolError, UnknownName, UserError
from hermes_core.host import HostBroker
from hermes_core.kinds import Conversation, Resource, ToolContext, Workspace
from hermes_core.records import Record
from hermes_core.slash import SlashBroker
from hermes_core.testing.fake_approvals import FakeApprovals
from hermes_core.testing.fake_documents import FakeDocuments
from hermes_core.testing.fake_models import FakeHistories, FakeReplies, required
from hermes_core.testing.fake_sessions import FakeSessions
from hermes_core.testing.fake_settings import FakeSettings
from hermes_core.testing.fake_slash import FakeSlash
from hermes_core.testing.fake_turns import FakeTurns
from hermes_core.types import (
    JSON,
    Endpoint,
    MediaResponse,
    Message,
    Migration,
    Offer,
    PluginRow,
    Principal,
    Question,
    Response,
    RouteRow,
    Session,
    Target,
    Text,
    ToolCall,
    ToolResult,
    ToolRow,
    Verdict,
)

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest
    from hermes_core.store.tables import Tables

__all__ = ["FakeToolContext", "plugin_context"]

T = TypeVar("T")


def plugin_context(
    manifest: "Manifest",
    home: Path,
    *,
    config: object = None,
    secrets: Mapping[str, str] | None = None,
    sessions: SessionsBroker | None = None,
    replies: Sequence[Response | MediaResponse] = (),
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
    host: HostBroker | None = None,
    slash: SlashBroker | None = None,
) -> PluginContext:
    """A context as the kernel would make it, with an empty past and folders under ``home``.

    ``secrets`` holds values by name, ``replies`` what ``llm.complete`` and ``llm.media`` answer, ``histories`` the
    contexts in force by session id, with which ``history.replace`` is as strict as the kernel, ``urls`` what may be
    opened, ``store`` the address of the store's server, ``messages`` what sends them (else there is no chat), ``turns``
    what plays them (else each is answered by what was said), ``documents`` what is kept (else nothing yet),
    ``approvals`` what waits for a yes (else nothing), ``models`` who answers (else nobody), ``settings`` those there
    are (else none), ``tools`` what ``plugins.tools`` tells, ``host`` the kernel it hosts (else none), ``slash`` the
    slash commands of those it serves (else none), ``conversation`` where they are typed (else nowhere). Permissions are
    enforced as always. ``migrations`` gives what the plugin registers; its tables are in a file among its data.
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
        sessions=sessions or FakeSessions(manifest),
        approvals=approvals or FakeApprovals(manifest),
        llm=FakeReplies(manifest, replies),
        history=FakeHistories(manifest, histories or {}),
        messages=messages or _NoChats(manifest),
        turns=turns or FakeTurns(manifest),
        models=models or ModelsBroker(),
        settings=settings or FakeSettings(manifest=manifest),
        plugins=_Plugins(tools, manifest),
        host=host or cast("HostBroker", None),
        slash=slash or FakeSlash(manifest=manifest),
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
    ``tools`` is what ``offer`` gives, ``resources`` those of the plugin; what is open of them is in ``opened``, until
    ``close``. ``answers`` is what calls of other tools give, by name: a result, a text, or a ToolError; ``called``
    keeps these calls.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        session: Session | None = None,
        verdict: Verdict | None = None,
        tools: Offer | None = None,
        resources: Sequence[Resource] = (),
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
        self.resources = {one.name: one for one in resources}
        self.opened: dict[str, Any] = {}
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

    async def resource(self, name: str) -> Any:
        """Open it, or give what is open and alive. Raises UnknownName."""
        if name not in self.resources:
            return await super().resource(name)
        one = self.resources[name]
        if name in self.opened and not one.alive(self.opened[name]):
            await one.close(self.opened.pop(name))
        if name not in self.opened:
            self.opened[name] = await one.open(self.session, self.workspace)
        return self.opened[name]

    async def close(self) -> None:
        """Close what is open."""
        while self.opened:
            name, thing = self.opened.popitem()
            await self.resources[name].close(thing)

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


def _at_hand(manifest: "Manifest", conversation: Conversation | None, session: Session) -> Conversation:
    required(manifest, "conversation.change")
    if conversation is None or conversation.session.id != session.id:
        raise UserError("No slash command was typed into this session.")
    return conversation


class _Store(StoreBroker):
    def __init__(
        self, manifest: "Manifest", address: str, data: Path, migrations: Callable[[], Sequence[Migration]]
    ) -> None:
        self._manifest, self._address, self._data, self._migrations = manifest, address, data, migrations
        self._notifier = Notifier()

    def address(self) -> str:
        required(self._manifest, "store.connect")
        return self._address

    async def transact(self, work: Callable[[TablesTransaction], T], begin: Begin = WRITE) -> T:
        with self._open() as tables:
            return await tables.run(work, begin)

    async def prepare(self, work: Callable[[TablesTransaction], T]) -> Prepared[T]:
        def run(_: Transaction) -> T:
            with self._open() as tables:
                return tables.database.transact(partial(tables.unit, work))

        return run

    async def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        with self._open() as tables:
            return self._notifier.subscribe(f"{tables.prefix}{name}", call)

    @contextmanager
    def _open(self) -> "Iterator[Tables]":
        required(self._manifest, "store.tables")
        from hermes_core.store.file_database import FileDatabase
        from hermes_core.store.tables import Tables

        (migration,) = self._migrations()
        database = FileDatabase(self._data / "tables.db")
        database.notifier = self._notifier
        try:
            tables = Tables(database, self._manifest.label, migration)
            tables.prepare()
            yield tables
        finally:
            database.close()


class _Plugins(PluginsBroker):
    def __init__(self, tools: Sequence[ToolRow], manifest: "Manifest") -> None:
        self._tools, self._manifest = tools, manifest

    def records(self, table: str) -> Sequence[Record]:
        return list(self._manifest.records(table).values())

    def list(self) -> Sequence[PluginRow]:
        return ()

    async def tools(self, platform: str = "") -> Sequence[ToolRow]:
        return self._tools

    def offered(self, table: str) -> Sequence[str]:
        return ("cli",) if table == "platforms" else ()

    def routes(self) -> Sequence[RouteRow]:
        return ()


class _NoChats(MessagesBroker):
    def __init__(self, manifest: "Manifest") -> None:
        self._manifest = manifest

    async def targets(self, owner: Principal) -> Sequence[Target]:
        required(self._manifest, "messages.send")
        return ()

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        required(self._manifest, "messages.send")
        if target in ("local", "origin"):
            return ()
        raise UnknownName("target", target)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        return await self.find(owner, target, session)
