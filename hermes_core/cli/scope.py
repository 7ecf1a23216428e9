"""What the root flags mean for a command: which home, which settings, which Hermes."""

import contextlib
import sys
from functools import cached_property
from typing import Any

from hermes_core.environment import switched_on
from hermes_core.errors import ConfigError, HermesError
from hermes_core.product import OURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_core.config.paths import Home
    from hermes_core.config.settings import Settings
    from hermes_core.hermes import Hermes
    from hermes_core.masking.watched import Watched
    from hermes_core.plugins.consent import Consent
    from hermes_core.plugins.dispatch import Dispatch
    from hermes_core.plugins.index import Index, Installed
    from hermes_core.plugins.loader import Loader
    from hermes_core.product import Product
    from hermes_core.records import Record

__all__ = ["Scope"]


class Scope:
    """Carried through click as ``context.obj``; every part is made when a command needs it."""

    def __init__(self, distribution: "Product | None" = None, flags: dict[str, Any] | None = None) -> None:
        self.distribution = distribution or OURS
        self.name = self.distribution.name
        self.flags = flags or {}
        self._hermes: Hermes | None = None

    @cached_property
    def home(self) -> "Home":
        """Where its state lives. Raises UserError."""
        return self.distribution.home(self.flags.get("profile"))

    @cached_property
    def settings(self) -> "Settings":
        """The settings, read once. Raises ConfigError."""
        from hermes_core.config.settings import load_settings

        settings = load_settings(self.home, defaults=self.distribution.defaults, locked=self.distribution.locked)
        settings.masks.use(self._maskers)
        if settings.foreign:
            print(settings.foreign, file=sys.stderr)
        return settings

    @cached_property
    def _settings_at_all(self) -> "Settings":
        """The settings; those of an empty file where it cannot be read. Raises UserError when there is no home."""
        from hermes_core.config.secrets import Secrets
        from hermes_core.config.settings import Settings

        try:
            return self.settings
        except HermesError:
            settings = Settings(self.home, {}, Secrets(self.home.env_file))
            settings.masks.use(self._maskers)
            return settings

    @cached_property
    def _alone(self) -> "tuple[Loader, Dispatch]":
        """What loads maskers where no kernel is, or none can be."""
        from hermes_core.plugins.maskers import loader_alone

        def broker(name: str, installed: "Installed") -> object:
            return self.kernel.runtime.broker(name, installed)

        return loader_alone(self._settings_at_all, self.index, self.consent(), broker)

    def _maskers(self) -> "Sequence[Watched]":
        from hermes_core.plugins.maskers import find_maskers

        with contextlib.suppress(HermesError):  # it cannot be: what is to be masked may be why
            if self._hermes is not None:
                return self._hermes.runtime.maskers()
        try:
            return find_maskers(self.index, self.consent(), *self._alone)
        except HermesError:  # nobody knows what is enabled, so no plugin will say anything either
            return ()

    def masked(self, text: str) -> str:
        """Return what this command says of an error, without secrets."""
        from hermes_core.masking import masked

        try:
            masks = self._settings_at_all.masks
        except HermesError:
            return masked(text)
        shown = masks.always(text)
        if not masks.missing or shown == text:
            return shown
        blind = ", ".join(filter(None, masks.missing)) or "A plugin"
        return f"{shown}\n{blind} finds secrets and could not be loaded, so this is hidden. See: {self.name} doctor"

    @cached_property
    def index(self) -> "Index":
        """What is installed."""
        return self.distribution.installed(self.home, safe_mode=self.safe_mode)

    def consent(self) -> "Consent":
        """Say which of it may run."""
        return self.distribution.consent(self.home, safe_mode=self.safe_mode)

    @property
    def safe_mode(self) -> bool:
        """Whether only the distribution's own plugins may be used."""
        return self.flags.get("safe_mode") or switched_on("HERMES_SAFE_MODE")

    def hermes(self) -> "Hermes":
        """Return a Hermes with this command's flags."""
        from hermes_core.cli.log import start_logging
        from hermes_core.hermes import Hermes

        start_logging(self.home, self.settings)
        options: dict[str, Any] = {"safe_mode": self.safe_mode, "index": self.index, **self._options()}
        self._hermes = Hermes(self.distribution, home=self.home.base, profile=self.home.profile, **options)
        return self._hermes

    def choose(self, name: str, value: object) -> None:
        """Take note of a flag that says what a kernel is put together of, also where it is there already."""
        self.flags[name] = value
        if self._hermes is not None:
            self._hermes.runtime.choose(**self._options())

    def _options(self) -> dict[str, Any]:
        flags = self.flags
        return {
            "provider": flags.get("provider") or "",
            "model": flags.get("model") or "",
            "toolsets": [t.strip() for t in (flags.get("toolsets") or "").split(",") if t.strip()],
            "yolo": flags.get("yolo") or switched_on("HERMES_YOLO"),
        }

    @property
    def kernel(self) -> "Hermes":
        """The Hermes of this command, the same each time."""
        return self._hermes or self.hermes()

    def plugin_commands(self, wanted: "Callable[[Record], bool] | None" = None) -> "list[Record]":
        """Return what enabled plugins add, or what of it is ``wanted``: nothing is imported; a broken home has none."""
        try:
            consent, plugins = self.consent(), self.index.plugins
        except HermesError:
            return []  # help must work there too
        there = ((p, p.manifest.records("commands").values()) for p in plugins if p.manifest and not p.problem)
        told = ((p, [r for r in filter(wanted, rows) if self.distribution.offers(r.words)]) for p, rows in there)
        return [one for p, found in told if found and consent.state(p).usable for one in found]

    def default_command(self) -> str:
        """Return the command that runs where none is named, of the preferred plugin; empty where there is none."""
        found = self.plugin_commands(lambda one: bool(one.told.get("default")))
        return min((self.index.resolve(one.owner).priority, one.words) for one in found)[1] if found else ""

    def loading(self, owners: set[str]) -> "tuple[Loader, Dispatch]":
        """Return what loads the plugins of a command. A person who cleans a text needs no kernel, nor a sound home."""
        from hermes_core.plugins.maskers import owners_of_maskers

        if owners <= {one.label for one in owners_of_maskers(self.index, self.consent())}:
            return self._alone
        try:
            runtime = self.kernel.runtime
        except ConfigError:
            return self._alone  # a command that needs no kernel may be the one that mends it
        return runtime.loader, runtime.dispatch
