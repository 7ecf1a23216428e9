"""Settings as they are shown and changed: every class of options that is in use, one row for each field."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from hermes_core.agent.kernel import Kernel
from hermes_core.agent.policy.itself import only_by_a_person
from hermes_core.config.describe import plain
from hermes_core.config.edit import Edits, overlap, refuse_locked, set_text, unset_value
from hermes_core.config.schema import Config
from hermes_core.config.settings import Settings, get_value, written
from hermes_core.control import SettingsBroker, Trial
from hermes_core.errors import HermesError, NotPermitted, PluginError, UnknownName, UserError
from hermes_core.kinds import SetupStep
from hermes_core.plugins.fence import one_line
from hermes_core.plugins.index import Installed
from hermes_core.types import JSON, SecretOrigin, Setting
from hermes_shapes.describe import settings_rows

__all__ = ["HomeSettings", "keep_to_own"]

_PATIENCE = 60.0  # seconds the test of a setup step may take
# What belongs to one provider only.
_OF_MODEL = ("base_url", "api_key", "protocol", "wire", "api_mode", "context_length")


class HomeSettings(SettingsBroker):
    """The settings of one home. Who tries some is ``installed``."""

    def __init__(self, runtime: Kernel, installed: Installed | None = None) -> None:
        self._runtime, self._installed = runtime, installed

    async def list(self) -> Sequence[Setting]:
        settings = self._runtime.settings.read_again()  # somebody else may have changed the file
        raw = written(settings.home)
        rows = [*self._rows(Config, "", settings, raw, settings.config)]
        for path, cls in self._sections().items():
            with suppress(HermesError):  # what is wrong in it is told by doctor, and mended by hand
                rows += self._rows(cls, path, settings, raw, settings.section(path, cls))
        return rows

    async def set(self, key: str, text: str) -> Setting:
        refuse_locked(self._runtime.settings.locked, key)
        set_text(self._runtime.home, key, text, sections=self._sections())
        return await self.get(key)

    async def unset(self, key: str) -> Setting:
        refuse_locked(self._runtime.settings.locked, key)
        unset_value(self._runtime.home, key)
        return await self.get(key)

    async def change(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> None:
        home, known = self._runtime.home, self._runtime.settings
        refuse_locked(known.locked, *settings)
        edits = Edits(home, self._sections())
        so_far, model = known.config.model.provider, written(home).get("model")
        if settings.get("model.provider", so_far) != so_far and isinstance(model, dict):
            for key in model.keys() & _OF_MODEL:
                edits.set(f"providers.{so_far or 'custom'}.{key}", model[key])
                edits.unset(f"model.{key}")
        for key, value in settings.items():
            edits.set(key, value)
        for name, value in secrets.items():  # first: a key without a use does no harm, a use without a key does
            known.secrets.set(name, value)
        edits.write()

    async def secret_origins(self, *, ask: bool = False) -> Sequence[SecretOrigin]:
        return await asyncio.to_thread(self._runtime.settings.secrets.origins, ask=ask)

    async def has_secret(self, name: str) -> bool:
        return bool(self._runtime.settings.secrets.get(name))

    @asynccontextmanager
    async def trial(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> AsyncIterator[Trial]:
        assert self._installed, "only a plugin tries settings"
        refuse_locked(self._runtime.settings.locked, *settings)
        beside = self._runtime.beside(self._runtime.settings.laid_over(settings, secrets))
        for path, cls in self._sections().items():
            if any(key.startswith(f"{path}.") for key in settings):
                beside.settings.section(path, cls)
        try:
            context = beside.plugin_context(self._installed)
            yield Trial(context.llm, context.models)
        finally:
            await beside.close()

    async def step(self, name: str) -> SetupStep:
        return self._step(name)[1]

    async def test(self, name: str, values: Mapping[str, str]) -> str:
        owner, step = self._step(name)
        whole = {one.name: values.get(one.name) or self._now(one.key, secret=one.secret) for one in step.fields}
        try:
            async with asyncio.timeout(_PATIENCE):
                return self._runtime.dispatch.masked(await step.test(whole))
        except HermesError:
            raise
        except TimeoutError:
            raise UserError(f"{name}: nothing was found out within {_PATIENCE:g} s.") from None
        except Exception as error:
            text = f"its test of {name} failed: {one_line(error, self._runtime.dispatch.masked)}"
            raise PluginError(owner, text) from error

    def _step(self, name: str) -> tuple[str, SetupStep]:
        index, loader = self._runtime.index, self._runtime.loader
        if not (owners := index.contributing("setup", name)):
            raise UnknownName("setup step", name, index.offered("setup"))
        manifest = owners[0].manifest
        assert manifest, "who declares something has a manifest"
        record = manifest.records("setup")[name]
        only_by_a_person(self._runtime.home.brand, record.who == "person")
        loader.load(owners[0], named=True)
        found = self._runtime.dispatch.contributions("register_setup")
        step = next((one for by, one in found if (by, one.name) == (owners[0].label, name)), None)
        if step is None:
            raise PluginError(owners[0].label, f"it adds no setup step {name}")
        if record.told:
            step.summary = record.summary
        keep_to_own(owners[0], step)
        return owners[0].label, step

    def _now(self, key: str, *, secret: bool) -> str:
        settings = self._runtime.settings
        if secret:
            return settings.secrets.get(key)
        with suppress(HermesError):
            if isinstance(value := plain(get_value(settings, key)), str):
                return value
        return ""

    async def get(self, key: str) -> Setting:
        found = {row.key: row for row in await self.list()}
        near = max((name for name in found if f"{key}.".startswith(f"{name}.")), key=len, default="")
        if not near:
            raise UnknownName("setting", key, found)
        return found[near]  # of an entry in a mapping it is the mapping's

    def _sections(self) -> dict[str, type]:
        return self._runtime.config_sections()

    def _rows(
        self, cls: Any, path: str, settings: Settings, raw: Mapping[str, JSON], section: Any
    ) -> Sequence[Setting]:
        return [
            Setting(
                key=row.key,
                type=row.type,
                schema=row.schema,
                default=plain(row.default),
                value=plain(_value(section, row.key.removeprefix(f"{path}."))),
                help=row.help,
                secret=row.type == "Secret",
                written=_holds(raw, row.key),
                locked=next((who for name, who in settings.locked.items() if overlap(row.key, name)), ""),
            )
            for row in settings_rows(cls, path)
        ]


def _value(section: Any, key: str) -> Any:
    for step in key.split("."):
        section = section[step] if isinstance(section, Mapping) else getattr(section, step)
    return section


def _holds(raw: Mapping[str, JSON], key: str) -> bool:
    with suppress(KeyError, AttributeError):
        _value(raw, key)
        return True
    return False


def keep_to_own(installed: Installed, step: SetupStep) -> None:
    """Refuse a setup step that would write what is not its plugin's own: raises NotPermitted."""
    manifest = installed.manifest
    assert manifest, f"{installed.label} has no manifest"
    own = [f"{manifest.config_section}.", *(f"providers.{name}." for name in manifest.contributes["providers"])]
    for field in step.fields:
        if field.secret:
            installed.require("permissions", "secrets", field.key, f"asks for the secret {field.key}")
        elif not field.key.startswith(tuple(one for one in own if one != ".")):
            text = f"its setup step {step.name} would write {field.key}, which is no setting of its own"
            raise installed.error(NotPermitted, text)
