"""What the root flags mean for a command: which home, which settings, which Hermes."""

import os
from typing import Any

import click

from hermes_core import __version__
from hermes_core.errors import HermesError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.policy import AskPerson
    from hermes_core.config.paths import Home
    from hermes_core.config.settings import Settings
    from hermes_core.distribution import Distribution
    from hermes_core.embed import Hermes
    from hermes_core.plugins.consent import Consent
    from hermes_core.plugins.index import Index

__all__ = ["Scope"]


class Scope:
    """Carried through click as ``context.obj``; every part is made when a command needs it."""

    def __init__(self, distribution: "Distribution | None") -> None:
        self._distribution = distribution
        self.flags: dict[str, Any] = {}
        self._settings: Settings | None = None
        self._index: Index | None = None
        self._home: Home | None = None

    @property
    def name(self) -> str:
        """The command's name."""
        return self._distribution.name if self._distribution else "hermes"

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self._distribution.version if self._distribution else __version__

    @property
    def distribution(self) -> "Distribution":
        """The product this command line belongs to."""
        if self._distribution is None:
            from hermes_core.distribution import HERMES

            self._distribution = HERMES
        return self._distribution

    @property
    def home(self) -> "Home":
        """Where its state lives. Raises UserError."""
        if self._home is None:
            self._home = self.distribution.home(self.flags.get("profile"))
        return self._home

    @property
    def settings(self) -> "Settings":
        """The settings, read once. Raises ConfigError."""
        if self._settings is None:
            from hermes_core.config.settings import load_settings

            distribution = self.distribution
            self._settings = load_settings(self.home, defaults=distribution.defaults, locked=distribution.locked)
        return self._settings

    @property
    def index(self) -> "Index":
        """What is installed."""
        if self._index is None:
            self._index = self.distribution.installed(self.home, safe_mode=self.safe_mode)
        return self._index

    def rescan(self) -> "Index":
        """Look again at what is installed."""
        self._index = self.distribution.installed(self.home, safe_mode=self.safe_mode, rescan=True)
        return self._index

    def consent(self) -> "Consent":
        """Which of it may run."""
        return self.distribution.consent(self.home, safe_mode=self.safe_mode)

    @property
    def yolo(self) -> bool:
        """Whether nothing is to be asked."""
        return bool(self.flags.get("yolo")) or os.environ.get("HERMES_YOLO", "") not in ("", "0")

    @property
    def safe_mode(self) -> bool:
        """Whether only the distribution's own plugins may be used."""
        return bool(self.flags.get("safe_mode")) or os.environ.get("HERMES_SAFE_MODE", "") not in ("", "0")

    def hermes(self, ask: "AskPerson | None" = None) -> "Hermes":
        """A Hermes with this command's flags."""
        from hermes_core.cli.log import start_logging
        from hermes_core.embed import Hermes

        flags = self.flags
        start_logging(self.home, self.settings)
        return Hermes(
            self.distribution,
            home=self.home,
            provider=flags.get("provider") or "",
            model=flags.get("model") or "",
            toolsets=[t.strip() for t in (flags.get("toolsets") or "").split(",") if t.strip()],
            yolo=self.yolo,
            safe_mode=self.safe_mode,
            ask=ask,
        )

    # --- commands of plugins --------------------------------------------------------------------------------------

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
        """The command, or group of commands, that enabled plugins add under a name; imports those plugins."""
        if not any(words.split()[0] == name for words in self.plugin_commands()):
            return None
        runtime = self.hermes().runtime
        runtime.loader.load_contributing("commands", [w for w in self.plugin_commands() if w.split()[0] == name])
        group = click.Group(name)
        for _, command in runtime.dispatch.contributions("register_cli_commands"):
            words = command.name.split()
            if words[0] != name:
                continue
            made: click.Command = command.build()
            if len(words) == 1:
                return made
            group.add_command(made, words[1])
        return group
