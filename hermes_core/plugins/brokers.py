"""What a plugin gets instead of the kernel: its context, with each broker behind the guard of its manifest."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.brokers import MasksBroker, SecretsBroker, TextStream
from hermes_core.context import PluginContext, PluginPaths, UrlRules
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.plugins.at_hand import at_hand
from hermes_core.plugins.index import Installed
from hermes_core.plugins.loader import config_class
from hermes_core.plugins.permitted import Permitted
from hermes_core.types import Principal, Session

if TYPE_CHECKING:
    from hermes_core.config.masks import Masks
    from hermes_core.config.secrets import Secrets
    from hermes_core.config.settings import Settings

__all__ = ["make_context"]

MakeBroker = Callable[[str, Installed], object]
_OF_A_KERNEL = (
    "approvals", "documents", "history", "host", "llm", "messages", "models", "plugins", "sessions", "settings",
    "slash", "store", "turns",
)  # fmt: skip


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


class _Masks(MasksBroker):
    def __init__(self, masks: "Masks") -> None:
        self._masks = masks

    def text(self, text: str) -> str:
        return self._masks.always(text)

    def stream(self, *, people: bool = False) -> TextStream:
        return self._masks.always_stream(people=people)


def none(name: str, _installed: Installed) -> object:
    """Give no broker at all. Raises UserError."""
    raise UserError(f"There is no kernel behind this context, so it has no {name}.")


def make_context(
    installed: Installed,
    settings: "Settings",
    *,
    brokers: MakeBroker = none,
    skills: Sequence[tuple[str, Path]] = (),
    guarded: Sequence[Path] = (),
    owner: Principal | None = None,
) -> PluginContext:
    """Return the context of one plugin. Raises ConfigError when its section of the settings is wrong, UserError.

    ``brokers`` makes those that need a kernel, by their names, when something is first asked of them; ``skills`` and
    ``guarded`` are as in PluginPaths, ``owner`` as in PluginContext.
    """
    manifest = installed.manifest
    assert manifest, f"{installed.label} has no manifest"
    home, folder = settings.home, f"{manifest.kind}-{manifest.name}"
    endpoints = {name: settings.endpoint(name) for name in manifest.contributes["providers"]}
    held: dict[str, Any] = {name: Permitted(installed, partial(brokers, name, installed)) for name in _OF_A_KERNEL}
    return PluginContext(
        **held,
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
        owner=owner or Principal(),
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
