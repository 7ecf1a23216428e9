"""The doors a plugin gets instead of the kernel. Each one checks the manifest before it opens."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from hermes_core.context import LlmBroker, PluginContext, PluginPaths, SecretsBroker, SessionsBroker
from hermes_core.errors import NotPermitted
from hermes_core.plugins.index import Installed
from hermes_core.plugins.modules import config_class
from hermes_core.types import HistoryEntry, Hit, Message, Principal, Request, Response, Session

if TYPE_CHECKING:
    from hermes_core.config.secrets import Secrets
    from hermes_core.config.settings import Settings
    from hermes_core.store.journal import Store

Complete = Callable[[Request], Awaitable[Response]]


class _Secrets(SecretsBroker):
    def __init__(self, installed: Installed, secrets: "Secrets") -> None:
        self._installed, self._secrets = installed, secrets

    def get(self, name: str) -> str:
        _permit(self._installed, "secrets", name, f"asked for the secret {name}")
        return self._secrets.get(name)

    def resolve(self, value: str) -> str:
        return self.get(value[4:]) if value.startswith("env:") else str(value)


class _Sessions(SessionsBroker):
    def __init__(self, installed: Installed, store: "Callable[[], Awaitable[Store]]") -> None:
        self._installed, self._store = installed, store

    async def _open(self) -> "Store":
        _permit(self._installed, "kernel", "sessions.read", "read past conversations")
        return await self._store()

    async def search(
        self, owner: Principal, words: str, *, limit: int = 10, sort: Literal["newest", "oldest"] = "newest"
    ) -> Sequence[Hit]:
        return await (await self._open()).search(owner, words, limit=limit, sort=sort)

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        return [row.session for row in await (await self._open()).list_sessions(owner, limit=limit)]

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        return await (await self._open()).messages(owner, session_id, around=around, window=window)

    async def tool_history(self, owner: Principal, session_id: str, *, limit: int = 50) -> Sequence[HistoryEntry]:
        return await (await self._open()).tool_history(owner, session_id=session_id, limit=limit)


class _Llm(LlmBroker):
    def __init__(self, installed: Installed, complete: Complete) -> None:
        self._installed, self._complete = installed, complete

    async def complete(self, request: Request) -> Response:
        _permit(self._installed, "kernel", "llm.call", "called a model on your account")
        return await self._complete(request)


def make_context(
    installed: Installed,
    settings: "Settings",
    *,
    store: "Callable[[], Awaitable[Store]]",
    complete: Complete,
    strict: bool = False,
) -> PluginContext:
    """The context of one plugin. Raises ConfigError when its section of the settings is wrong, UserError.

    ``store`` opens the store when first needed; ``complete`` makes one model call.
    """
    manifest = installed.manifest
    if manifest is None:
        raise ValueError(f"{installed.label} has no manifest")
    home, folder = settings.home, f"{manifest.kind}-{manifest.name}"
    endpoints = {name: settings.endpoint(name) for name in manifest.contributes["providers"]}
    return PluginContext(
        name=manifest.name,
        kind=manifest.kind,
        config=settings.section(manifest.config_section, config_class(installed)) if manifest.config_class else None,
        secrets=_Secrets(installed, settings.secrets),
        paths=PluginPaths(home=home.root, data=home.root / "data" / folder, cache=home.cache / folder),
        log=logging.getLogger(f"hermes.plugin.{manifest.kind}.{manifest.name}"),
        sessions=_Sessions(installed, store),
        llm=_Llm(installed, complete),
        endpoints={name: endpoint for name, endpoint in endpoints.items() if endpoint},
        strict=strict,
    )


def _permit(installed: Installed, table: Literal["secrets", "kernel"], name: str, did: str) -> None:
    if installed.manifest is None or name not in getattr(installed.manifest, table):
        raise NotPermitted(
            installed.label, f"{did} without declaring it", version=installed.version,
            hint=f'Add "{name}" to [permissions] {table} in hermes-plugin.toml.',
        )  # fmt: skip
