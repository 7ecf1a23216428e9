"""Settings as they are shown and changed: every class of options that is in use, one row for each field."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import asdict

from hermes_core.agent.parts import Parts
from hermes_core.config.describe import plain, settings_rows
from hermes_core.config.edit import overlap, refuse_locked, set_text, unset_value
from hermes_core.config.schema import Config
from hermes_core.config.settings import Settings, written
from hermes_core.control import SettingsBroker
from hermes_core.errors import HermesError, UnknownName
from hermes_core.types import JSON, Setting

__all__ = ["HomeSettings"]


class HomeSettings(SettingsBroker):
    """The settings of one home. ``allowed`` raises NotPermitted."""

    def __init__(self, parts: Parts, allowed: Callable[[], None]) -> None:
        self._parts, self._allowed = parts, allowed

    async def list(self) -> Sequence[Setting]:
        self._allowed()
        settings = self._parts.settings.read_again()  # somebody else may have changed the file
        raw = written(settings.home)
        rows = [*self._rows(Config, "", settings, raw, _fields(settings.config))]
        for path, cls in self._sections().items():
            try:
                section: Any = settings.section(path, cls)
            except HermesError:  # what is wrong in it is told by doctor, and mended by hand
                continue
            rows += self._rows(cls, path, settings, raw, {path: section})
        return rows

    async def set(self, key: str, text: str) -> Setting:
        self._allowed()
        refuse_locked(self._parts.home.brand, key, self._parts.settings.locked)
        set_text(self._parts.home, key, text, sections=self._sections())
        return await self.get(key)

    async def unset(self, key: str) -> Setting:
        self._allowed()
        refuse_locked(self._parts.home.brand, key, self._parts.settings.locked)
        unset_value(self._parts.home, key)
        return await self.get(key)

    async def get(self, key: str) -> Setting:
        found = {row.key: row for row in await self.list()}
        near = max((name for name in found if f"{key}.".startswith(f"{name}.")), key=len, default="")
        if not near:
            raise UnknownName("setting", key, found)
        return found[near]  # of an entry in a mapping it is the mapping's

    def _sections(self) -> dict[str, type]:
        return self._parts.config_sections()

    def _rows(
        self, cls: Any, path: str, settings: Settings, raw: Mapping[str, JSON], values: Mapping[str, Any]
    ) -> Sequence[Setting]:
        return [
            Setting(
                key=row.key,
                type=row.type,
                schema=row.schema,
                default=plain(row.default),
                value=plain(_value(values, path, row.key)),
                help=row.help,
                secret=row.type == "Secret",
                written=_holds(raw, row.key),
                locked=any(overlap(row.key, name) for name in settings.locked),
            )
            for row in settings_rows(cls, path)
        ]


def _fields(config: Any) -> dict[str, Any]:
    return asdict(config, recurse=False)


def _value(values: Mapping[str, Any], path: str, key: str) -> Any:
    value: Any = values
    if path:
        value, key = values[path], key[len(path) + 1 :]
    for step in key.split("."):
        value = value[step] if isinstance(value, Mapping) else getattr(value, step)
    return value


def _holds(raw: Mapping[str, JSON], key: str) -> bool:
    value: Any = raw
    for step in key.split("."):
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True
