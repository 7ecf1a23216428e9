"""Settings without a home, for plugins under test."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hermes_core.control import SettingsBroker
from hermes_core.errors import ConfigError, NotPermitted, UnknownName
from hermes_core.kinds import SetupStep
from hermes_core.types import JSON, SecretOrigin, Setting

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeSettings"]


class FakeSettings(SettingsBroker):
    """Keeps what is set while it lives. ``refused`` texts are not allowed anywhere.

    With a ``manifest`` its permission is asked for.
    """

    def __init__(
        self, rows: Sequence[Setting] = (), manifest: "Manifest | None" = None, steps: Sequence[SetupStep] = ()
    ) -> None:
        self.secrets: dict[str, str] = {}
        self._steps = {step.name: step for step in steps}
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

    async def change(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> None:
        """Keep all of them, or none. Raises ConfigError for a refused one, UnknownName."""
        async with self.trial(settings, secrets):
            for key, value in settings.items():
                self._keep(key, value, written=True)
            self.secrets |= secrets

    async def has_secret(self, name: str) -> bool:
        """Whether it was kept here."""
        self._require()
        return name in self.secrets

    @asynccontextmanager
    async def trial(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> AsyncIterator[Any]:
        """Nothing beside this; what would be refused is. Raises ConfigError, UnknownName."""
        self._require()
        for key, value in settings.items():
            if value in self.refused:
                raise ConfigError([f"{key}: {value!r} is not allowed"], hint="Nothing was changed.")
            await self.get(key)
        yield None

    async def step(self, name: str) -> SetupStep:
        """One of those it was made with. Raises UnknownName."""
        self._require()
        if name not in self._steps:
            raise UnknownName("setup step", name, self._steps)
        return self._steps[name]

    async def test(self, name: str, values: Mapping[str, str]) -> str:
        """What a step finds, of what was said and what is kept."""
        step = await self.step(name)
        kept = {one.name: self.secrets.get(one.key, "") for one in step.fields}
        return await step.test({**kept, **values})

    async def secret_origins(self, *, ask: bool = False) -> Sequence[SecretOrigin]:
        """Those that were kept here."""
        self._require("secrets.list")
        return [SecretOrigin(name=name, source=".env") for name in sorted(self.secrets)]

    def _require(self, permission: str = "settings.write") -> None:
        if self._manifest is not None and permission not in self._manifest.kernel:
            hint = f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]"
            raise NotPermitted(self._manifest.label, f"used {permission} without declaring it.", hint=hint)

    def _keep(self, key: str, value: object, *, written: bool) -> Setting:
        self._require()
        if key not in self.rows:
            raise UnknownName("setting", key, self.rows)
        self.rows[key] = evolve(self.rows[key], value=value, written=written)
        return self.rows[key]
