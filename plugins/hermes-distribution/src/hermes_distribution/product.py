"""A product made of what its file says: walls of its network as locked settings, hints that can be followed."""

import re
from typing import Any

from hermes_core.embed import Distribution
from hermes_core.records import WHO as RECORDS
from hermes_distribution.brand import Renaming
from hermes_distribution.form import Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.paths import Home
    from hermes_core.plugins.index import Index

__all__ = ["made", "must_be_settings"]

_PLUGIN = re.compile(r"plugins (?:enable|install) ([a-z0-9_/.-]+)")


class _Product(Distribution):
    """A Distribution that leaves out hints which cannot be followed in it, and says its own name in what is listed."""

    renaming: Renaming

    def installed(self, home: "Home", *, safe_mode: bool = False, rescan: bool = False) -> "Index":
        """Return what is installed; the plugins of Hermes speak of their commands by the product's name."""
        index = super().installed(home, safe_mode=safe_mode, rescan=rescan)
        for plugin in index.plugins:
            if plugin.manifest and plugin.distribution.startswith("hermes-"):
                for table in RECORDS:
                    for row in plugin.manifest.data.get(table, {}).values():
                        self._rename(row)
        return index

    def _rename(self, row: Any) -> None:
        if isinstance(row, dict):
            for key in {"summary", "examples"} & row.keys():
                texts = row[key]
                one = isinstance(texts, str)
                row[key] = self._said(texts) if one else [self._said(text) for text in texts]

    def _said(self, text: str) -> str:
        return self.renaming.text(text, alone=False)

    def told(self, hint: str) -> str:
        """Return a hint unless it names a command that is not there, a plugin that may not be used, or a locked key."""
        words = rf"(?<![\w/.-]){re.escape(self.name)} ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?"
        for first, second in re.findall(words, hint):
            if not self.offers(first) or (second and self._is_group(first) and not self.offers(f"{first} {second}")):
                return ""
        if any(not self._may(name) for name in _PLUGIN.findall(hint)):
            return ""
        if "policy.mode" in self.locked and "--yolo" in hint:
            return ""
        return "" if any(f"config set {key}" in hint for key in self.locked) else hint

    def _is_group(self, first: str) -> bool:
        """Tell whether only some commands below a word are offered, so that the second word counts."""
        return any(one.startswith(f"{first} ") for one in self.verbs) and first not in self.verbs

    def _may(self, name: str) -> bool:
        from fnmatch import fnmatchcase

        known = f"hermes-{name.replace('/', '-')}" if "/" in name else name
        return any(fnmatchcase(known, one) for one in (*self.plugins, *self.builtin)) or name.isupper()


def made(form: Form, renaming: Renaming) -> Distribution:
    """Make the product."""
    defaults = {"display.skin": form.brand.skin} if form.brand.skin else {}
    product = _Product(
        name=form.brand.name, version=form.version, plugins=form.plugins, own=form.own, builtin=form.builtin,
        defaults={**defaults, **form.defaults}, locked={**form.locked, **_walls(form)},
        user_plugins=form.user_plugins, interfaces=form.interfaces, verbs=form.verbs,
    )  # fmt: skip
    product.renaming = renaming
    return product


def must_be_settings(form: Form) -> None:
    """Raise UserError where a default or a lock is no setting of Hermes: the product would not start.

    Sections of plugins are read by these alone, so what is wrong there is said as they start.
    """
    from tempfile import TemporaryDirectory

    from hermes_core.embed import Hermes
    from hermes_core.errors import ConfigError, UserError

    product = Distribution(name=form.brand.name, own=form.own, defaults=form.defaults, locked=form.locked)
    with TemporaryDirectory() as home:
        try:
            _ = Hermes(product, home=home).runtime.settings
        except ConfigError as error:
            lines = "\n".join(f"- {one.partition(' ')[2]}" for one in error.problems)
            raise UserError(f"Of its defaults and locks, these are no settings:\n{lines}") from error


def _walls(form: Form) -> dict[str, Any]:
    """Return what holds commands to ``network`` and ``hosts``: settings of backends, kept by the wall of the system.

    Without a network they run where there is none. With ``hosts`` they run behind the wall of the local backend, which
    lets them reach these, besides the package registries and the remotes of a repository; without a wall, not at all.
    """
    if not form.network:
        return {"terminal.backend": "bubblewrap", "backends.bubblewrap.network": False}
    if form.hosts is not None:
        return {
            "terminal.backend": "local",
            "backends.local.wall": "bubblewrap",
            "backends.local.hosts": list(form.hosts),
        }
    return {}
