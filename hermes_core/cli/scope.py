"""What the root flags mean for a command: which home, which settings, which Hermes."""

import gc
from functools import cached_property
from typing import Any

import click

from hermes_core.distribution import HERMES
from hermes_core.environment import switched_on
from hermes_core.errors import HermesError, PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.config.paths import Home
    from hermes_core.config.settings import Settings
    from hermes_core.distribution import Distribution
    from hermes_core.embed import Hermes
    from hermes_core.plugins.consent import Consent
    from hermes_core.plugins.index import Index
    from hermes_core.types import JSON

__all__ = ["Scope"]

STARTED = 1.0  # seconds after which garbage is collected again: what starts is imported by then


class Scope:
    """Carried through click as ``context.obj``; every part is made when a command needs it."""

    def __init__(self, distribution: "Distribution | None" = None, flags: dict[str, Any] | None = None) -> None:
        self.distribution = distribution or HERMES
        self.name = self.distribution.name
        self.flags = flags or {}

    @cached_property
    def home(self) -> "Home":
        """Where its state lives. Raises UserError."""
        return self.distribution.home(self.flags.get("profile"))

    @cached_property
    def settings(self) -> "Settings":
        """The settings, read once. Raises ConfigError."""
        from hermes_core.config.settings import load_settings

        return load_settings(self.home, defaults=self.distribution.defaults, locked=self.distribution.locked)

    @cached_property
    def index(self) -> "Index":
        """What is installed."""
        return self.distribution.installed(self.home, safe_mode=self.safe_mode)

    def consent(self) -> "Consent":
        """Which of it may run."""
        return self.distribution.consent(self.home, safe_mode=self.safe_mode)

    @property
    def safe_mode(self) -> bool:
        """Whether only the distribution's own plugins may be used."""
        return self.flags.get("safe_mode") or switched_on("HERMES_SAFE_MODE")

    def serve(self, platform: str, settings: "Mapping[str, JSON] | None" = None) -> int:
        """Run one platform until it ends; 0. ``settings`` are dotted and beat the user's file.

        Commands of platform plugins reach it through click: ``context.obj.serve("api", {…})``. Raises HermesError.
        """
        import asyncio

        from hermes_core.cli.chat import serve

        return asyncio.run(serve(self, platform, settings or {}))

    def hermes(self, settings: "Mapping[str, JSON] | None" = None) -> "Hermes":
        """A Hermes with this command's flags."""
        import asyncio

        from hermes_core.cli.log import start_logging
        from hermes_core.embed import Hermes

        flags = self.flags
        try:
            asyncio.get_running_loop().call_later(STARTED, gc.enable)
        except RuntimeError:  # no loop runs: this one only wants to look something up
            gc.enable()
        start_logging(self.home, self.settings)
        return Hermes(
            self.distribution,
            home=self.home.base,
            profile=self.home.profile,
            config=settings,
            provider=flags.get("provider") or "",
            model=flags.get("model") or "",
            toolsets=[t.strip() for t in (flags.get("toolsets") or "").split(",") if t.strip()],
            yolo=flags.get("yolo") or switched_on("HERMES_YOLO"),
            safe_mode=self.safe_mode,
            index=self.index,
        )

    def plugin_commands(self) -> dict[str, str]:
        """The words of every plugin command -> the plugin's label; from manifests, nothing is imported."""
        try:
            consent, plugins = self.consent(), self.index.plugins
        except HermesError:
            return {}  # help must work in a broken home
        return {
            words: p.label
            for p in plugins
            if p.manifest and p.manifest.contributes["commands"] and consent.state(p).usable
            for words in p.manifest.contributes["commands"]
        }

    def plugin_command(self, name: str) -> click.Command | None:
        """The command, or group of commands, that enabled plugins add under a name; imports those plugins.

        Raises PluginError when they cannot be used.
        """
        owners = {label for words, label in self.plugin_commands().items() if words.split()[0] == name}
        if not owners:
            return None
        runtime = self.hermes().runtime
        for label in owners:
            runtime.loader.load(runtime.index.resolve(label), named=True)
        group = click.Group(name)
        for owner, command in runtime.dispatch.contributions("register_cli_commands"):
            first, _, second = command.name.partition(" ")
            if owner in owners and first == name:
                made: click.Command = command.build()
                if not second:
                    return made
                group.add_command(made, second)
        if not group.commands:
            fault = next((f for f in runtime.dispatch.faults if f.plugin in owners), None)
            raise PluginError(", ".join(owners), fault.error if fault else f"it adds no command {name}")
        return group
