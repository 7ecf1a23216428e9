"""Settings without a home, for plugins under test."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.control import SettingsBroker
from hermes_core.errors import ConfigError, NotPermitted, UnknownName
from hermes_core.types import Setting

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeSettings"]


class FakeSettings(SettingsBroker):
    """Keeps what is set while it lives. ``refused`` texts are not allowed anywhere.

    With a ``manifest`` its permission is asked for.
    """

    def __init__(self, rows: Sequence[Setting] = (), manifest: "Manifest | None" = None) -> None:
        self.rows = {row.key: row for row in rows}
        self._manifest = manifest
        self.refused: set[str] = set()

    async def list(self) -> Sequence[Setting]:
        self._require()
        return tuple(self.rows.values())

    async def get(self, key: str) -> Setting:
        """One of them. Raises UnknownName."""
        self._require()
        if key not in self.rows:
            raise UnknownName("setting", key, self.rows)
        return self.rows[key]

    async def set(self, key: str, text: str) -> Setting:
        """Keep the text as the value. Raises ConfigError for a refused one, UnknownName."""
        if text in self.refused:
            raise ConfigError([f"{key}: {text!r} is not allowed"], hint="Nothing was changed.")
        return self._keep(key, text, written=True)

    async def unset(self, key: str) -> Setting:
        """Take it back to the default. Raises UnknownName."""
        return self._keep(key, self.rows[key].default if key in self.rows else None, written=False)

    def _require(self) -> None:
        if self._manifest is not None and "settings.write" not in self._manifest.kernel:
            hint = "Declare it in hermes-plugin.toml: [permissions] kernel = ['settings.write']"
            raise NotPermitted(self._manifest.label, "used settings.write without declaring it.", hint=hint)

    def _keep(self, key: str, value: object, *, written: bool) -> Setting:
        self._require()
        if key not in self.rows:
            raise UnknownName("setting", key, self.rows)
        self.rows[key] = evolve(self.rows[key], value=value, written=written)
        return self.rows[key]
