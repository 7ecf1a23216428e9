"""The doors a plugin gets instead of the kernel. Each one checks the manifest before it opens."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hermes_core import types
from hermes_core.brokers import (
    DocumentsBroker,
    HistoryBroker,
    LlmBroker,
    Mailbox,
    MasksBroker,
    MessagesBroker,
    SecretsBroker,
    TextStream,
)
from hermes_core.context import PluginContext, PluginPaths, UrlRules
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.plugins.at_hand import at_hand
from hermes_core.plugins.index import Installed
from hermes_core.plugins.loader import config_class
from hermes_core.types import JSON, Document, Message, Migration, Principal, Request, Response, Session, Target

if TYPE_CHECKING:
    from hermes_core.config.masks import Masks
    from hermes_core.config.secrets import Secrets
    from hermes_core.config.settings import Settings
    from hermes_core.control import ApprovalsBroker
    from hermes_core.database import StoreBroker
    from hermes_core.store.documents import Documents, Scope
    from hermes_core.store.store import Store

    OpenStore = Callable[[], Awaitable[Store]]
Complete = Callable[[Request, str, Session | None], Awaitable[Response]]
Media = Callable[[types.MediaVerb, types.MediaRequest, str, Session | None], Awaitable[types.MediaResponse]]
Compacting = Callable[[Session, Sequence[Message]], Awaitable[None]]
Migrations = Callable[[str], Sequence[Migration]]


class _Secrets(SecretsBroker):
    def __init__(self, installed: Installed, secrets: "Secrets") -> None:
        self._installed, self._secrets = installed, secrets

    def get(self, name: str) -> str:
        self._installed.require("permissions", "secrets", name, f"asked for the secret {name}")
        return self._secrets.get(name)

    def set(self, name: str, value: str) -> None:
        self._installed.require("permissions", "secrets", name, f"kept the secret {name}")
        self._secrets.set(name, value)

    def resolve(self, value: str) -> str:
        return self.get(value[4:]) if value.startswith("env:") else str(value)


def _approvals(installed: Installed, store: "OpenStore", host: Principal) -> "ApprovalsBroker":
    from hermes_core.plugins.approvals import Approvals

    return Approvals(installed, store, host)


def _store(
    installed: Installed, address: Callable[[], str], store: "OpenStore", migrations: Migrations
) -> "StoreBroker":
    from hermes_core.plugins.own_tables import PluginStore

    return PluginStore(installed, address, store, migrations)


class _Llm(LlmBroker):
    def __init__(self, installed: Installed, complete: Complete, media: Media | None) -> None:
        self._installed, self._complete, self._media = installed, complete, media

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        self._installed.require("permissions", "kernel", "llm.call", "called a model on your account")
        return await self._complete(request, task, session)

    async def media(
        self, verb: types.MediaVerb, request: types.MediaRequest, task: str = "", session: Session | None = None
    ) -> types.MediaResponse:
        self._installed.require("permissions", "kernel", "llm.call", "called a model on your account")
        if self._media is None:
            return await super().media(verb, request)
        return await self._media(verb, request, task, session)


class _History(HistoryBroker):
    def __init__(self, installed: Installed, store: "OpenStore", compacting: Compacting | None) -> None:
        self._installed, self._store, self._compacting = installed, store, compacting

    async def _open(self) -> "Store":
        self._installed.require("permissions", "kernel", "history.rewrite", "reached for what a model is told")
        return await self._store()

    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        store = await self._open()
        return await store.history.load((await store.sessions.get(session_id, owner)).id)

    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        store = await self._open()
        if self._compacting:
            session = await store.sessions.get(session_id, owner)
            await self._compacting(session, await store.history.load(session.id))
        await store.history.replace(owner, session_id, messages, self._installed.label)


class _Messages(MessagesBroker):
    def __init__(self, installed: Installed, messages: Callable[[], Mailbox]) -> None:
        self._installed, self._messages = installed, messages

    def _open(self) -> MessagesBroker:
        self._installed.require("permissions", "kernel", "messages.send", "sent something in your name")
        return self._messages()

    async def targets(self, owner: Principal) -> Sequence[Target]:
        return await self._open().targets(owner)

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        return await self._open().find(owner, target, session)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        key = f"{self._installed.label}:{key}" if key else ""
        return await self._open().send(owner, target, message, session, key)


class KeptDocuments(DocumentsBroker):
    """The documents of one plugin, in a store that is opened when first needed."""

    def __init__(self, plugin: str, store: "OpenStore") -> None:
        self._plugin, self._store = plugin, store

    async def _open(self, owner: Principal | None, session_id: str) -> "tuple[Documents, Scope]":
        from hermes_core.store.documents import Scope

        scope = Scope(plugin=self._plugin, owner=owner, session_id=session_id)
        return (await self._store()).documents, scope

    async def get(self, name: str, *, owner: Principal | None = None, session_id: str = "") -> Document | None:
        documents, scope = await self._open(owner, session_id)
        return await documents.get(scope, name=name)

    async def put(
        self,
        name: str,
        value: JSON,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> Document:
        documents, scope = await self._open(owner, session_id)
        return await documents.put(scope, name=name, value=value, version=version)

    async def delete(
        self, name: str, *, version: int | None = None, owner: Principal | None = None, session_id: str = ""
    ) -> bool:
        documents, scope = await self._open(owner, session_id)
        return await documents.delete(scope, name=name, version=version)

    async def list(self, *, owner: Principal | None = None, session_id: str = "") -> Sequence[Document]:
        documents, scope = await self._open(owner, session_id)
        return await documents.list(scope)

    async def export(self, owner: Principal) -> Sequence[Document]:
        return await (await self._store()).documents.export(self._plugin, owner)

    async def erase(self, owner: Principal) -> int:
        return await (await self._store()).documents.erase(self._plugin, owner)


class _Later:
    """A broker that is made, and imported, when something is first asked of it."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> object:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


class _Masks(MasksBroker):
    def __init__(self, masks: "Masks") -> None:
        self._masks = masks

    def text(self, text: str) -> str:
        return self._masks.always(text)

    def stream(self, *, people: bool = False) -> TextStream:
        return self._masks.always_stream(people=people)


def none(name: str, _installed: Installed) -> object:
    """No broker at all. Raises UserError."""
    raise UserError(f"There is no kernel behind this context, so it has no {name}.")


def _no_chats() -> Mailbox:
    raise UserError("There is no kernel behind this context, so no chat can be reached.")


def make_context(
    installed: Installed,
    settings: "Settings",
    *,
    store: "OpenStore",
    complete: Complete,
    media: Media | None = None,
    compacting: Compacting | None = None,
    more: Callable[[str, Installed], object] = none,
    messages: Callable[[], Mailbox] = _no_chats,
    address: Callable[[], str] = str,
    migrations: Migrations = lambda _: (),
    skills: Sequence[tuple[str, Path]] = (),
    guarded: Sequence[Path] = (),
    owner: Principal | None = None,
) -> PluginContext:
    """The context of one plugin. Raises ConfigError when its section of the settings is wrong, UserError.

    ``store`` opens the store when first needed, ``address`` says where its server is; ``complete`` makes one model
    call, ``media`` one that is no conversation; ``compacting`` is told before a context is replaced; ``more`` makes the
    brokers that need a whole kernel, by their names;
    ``messages`` sends them; ``skills`` and ``guarded`` are as in PluginPaths, ``owner`` as in PluginContext, and
    ``migrations`` those that a plugin registered.
    """
    manifest = installed.manifest
    assert manifest, f"{installed.label} has no manifest"
    home, folder = settings.home, f"{manifest.kind}-{manifest.name}"
    owner = owner or Principal()

    def later(name: str) -> Any:
        return _Later(partial(more, name, installed))

    endpoints = {name: settings.endpoint(name) for name in manifest.contributes["providers"]}
    return PluginContext(
        name=manifest.name,
        kind=manifest.kind,
        config=settings.section(manifest.config_section, config_class(installed)) if manifest.config_class else None,
        secrets=_Secrets(installed, settings.secrets),
        paths=PluginPaths(
            home=home.root,
            data=home.root / "data" / folder,
            cache=home.cache / folder,
            skills=tuple(skills),
            guarded=tuple(guarded),
        ),
        log=logging.getLogger(f"hermes.plugin.{manifest.kind}.{manifest.name}"),
        sessions=later("sessions"),
        approvals=cast("ApprovalsBroker", _Later(partial(_approvals, installed, store, owner))),
        llm=_Llm(installed, complete, media),
        history=_History(installed, store, compacting),
        messages=_Messages(installed, messages),
        turns=later("turns"),
        models=later("models"),
        settings=later("settings"),
        plugins=later("plugins"),
        host=later("host"),
        slash=later("slash"),
        documents=KeptDocuments(installed.label, store),
        store=cast("StoreBroker", _Later(partial(_store, installed, address, store, migrations))),
        owner=owner,
        endpoints={name: endpoint for name, endpoint in endpoints.items() if endpoint},
        urls=UrlRules(
            allow_private=settings.config.security.allow_private_urls,
            blocked=tuple(settings.config.security.blocked_sites),
            is_secret=settings.secrets.held_in,
        ),
        masks=_Masks(settings.masks),
        program=home.brand,
        at_hand=partial(_at_hand, installed),
    )


def _at_hand(installed: Installed, session: Session) -> Conversation:
    installed.require("permissions", "kernel", "conversation.change", "reached for the conversation of a command")
    return at_hand(session)
