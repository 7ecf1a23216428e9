"""What a product built on the kernel is, as a value. ``hermes_core.distribution`` adds its command line."""

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from hermes_core import __version__
from hermes_core.own import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.paths import Home
    from hermes_core.plugins.consent import Consent
    from hermes_core.plugins.index import Index
    from hermes_core.types import JSON

__all__ = ["OURS", "Allow", "Product"]


def Allow(*distributions: str) -> tuple[str, ...]:  # noqa: N802 - reads as the word it is in a Distribution
    """Return the distributions whose plugins may be used, by name or pattern (``acme-*``)."""
    return distributions


class Product(NamedTuple):
    """Which plugins a product may use, its defaults, locks and brand.

    ``own`` plugins are enabled without being asked about; ``builtin`` ones cannot be disabled either. ``defaults``
    and ``locked`` map dotted settings to values; locked ones beat the user's file. ``name`` gives the command, the
    home folder (``~/.name``) and the prefix of environment variables (``NAME_HOME``). ``interfaces`` are the platforms
    that a person talks through when they say nothing: the first that is installed and fits the terminal. ``verbs``
    are its commands, by their words (``plugins list``), the first of them, or a pattern.
    """

    name: str
    plugins: Sequence[str] = ("*",)
    own: Sequence[str] = ()
    builtin: Sequence[str] = ()
    defaults: "Mapping[str, JSON]" = {}  # noqa: RUF012 - a NamedTuple's default, never written to
    locked: "Mapping[str, JSON]" = {}  # noqa: RUF012
    user_plugins: bool = True
    interfaces: Sequence[str] = ("tui", "cli")
    version: str = __version__
    verbs: Sequence[str] = ("*",)

    def offers(self, words: str) -> bool:
        """Tell whether it has a command, or something below it."""
        at, has = f"{words} ", self.verbs
        return "*" in has or any(fnmatchcase(words, v) or at.startswith(f"{v} ") or v.startswith(at) for v in has)

    def told(self, hint: str) -> str:
        """Return what to do now as it can be done in this product; empty where it cannot."""
        return hint

    def home(self, profile: str | None = None, folder: str | Path | None = None) -> "Home":
        """Say where its state lives. Raises UserError."""
        from hermes_core.config.paths import Home

        given = {} if folder is None else {f"{self.name.upper().replace('-', '_')}_HOME": str(folder)}
        return Home.find(self.name, profile, {**os.environ, **given})

    def consent(self, home: "Home", *, safe_mode: bool = False) -> "Consent":
        """Say which of the installed plugins may run."""
        from hermes_core.plugins.consent import Consent

        return Consent(
            home.lock_file, builtin=self.own, required=self.builtin, allowed=self.plugins, safe_mode=safe_mode
        )

    def installed(self, home: "Home", *, safe_mode: bool = False, rescan: bool = False) -> "Index":
        """Return what is installed."""
        from hermes_core.plugins.index import load_index

        user_plugins = home.plugins if self.user_plugins and not safe_mode else None
        first = self.consent(home, safe_mode=safe_mode).preferred()
        return load_index(home.cache / "plugins.json", user_plugins, rescan=rescan, first=first)


OURS = Product(name="hermes", own=OWN)
