"""Settings without a home, for platforms under test."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.errors import ConfigError, UnknownName
from hermes_core.kinds import SettingsDesk
from hermes_core.types import Setting

__all__ = ["FakeSettings"]


class FakeSettings(SettingsDesk):
    """Keeps what is set while it lives. ``refused`` texts are not allowed anywhere."""

    def __init__(self, rows: Sequence[Setting] = ()) -> None:
        self.rows = {row.key: row for row in rows}
        self.refused: set[str] = set()

    async def list(self) -> Sequence[Setting]:
        return tuple(self.rows.values())

    async def set(self, key: str, text: str) -> Setting:
        """Keep the text as the value. Raises ConfigError for a refused one, UnknownName."""
        if text in self.refused:
            raise ConfigError([f"{key}: {text!r} is not allowed"], hint="Nothing was changed.")
        return self._keep(key, text, written=True)

    async def unset(self, key: str) -> Setting:
        """Take it back to the default. Raises UnknownName."""
        return self._keep(key, self.rows[key].default if key in self.rows else None, written=False)

    def _keep(self, key: str, value: object, *, written: bool) -> Setting:
        if key not in self.rows:
            raise UnknownName("setting", key, self.rows)
        self.rows[key] = evolve(self.rows[key], value=value, written=written)
        return self.rows[key]
