"""Importing what is enabled and needed, one plugin at a time, each inside its own fence."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from types import ModuleType

from hermes_core.context import PluginContext
from hermes_core.errors import ConfigError, HermesError, LoadError, PluginError, UserError
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.crumbs import Crumbs
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import log, one_line
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.modules import all_or_nothing, config_class, import_plugin
from hermes_core.types import Fault, Phase

__all__ = ["Loader", "config_class"]


class Loader:
    """Loads plugins; a plugin *named* by the person raises, one found by looking is recorded and skipped.

    ``loaded`` maps labels to the seconds their import took. What the index already knows to be unusable is among the
    index's faults and not repeated in ``faults``. ``crumbs`` knows which imports ended the process. Doctor passes
    ``modules.inspect_plugin`` as ``importer``.
    """

    def __init__(
        self,
        index: Index,
        consent: Consent,
        dispatch: Dispatch,
        *,
        context: Callable[[Installed], PluginContext],
        order: Sequence[str] = (),
        crumbs: Path,
        strict: bool = False,
        importer: Callable[[Installed], ModuleType] = import_plugin,
    ) -> None:
        self._consent, self._dispatch, self._context = consent, dispatch, context
        self.crumbs, self._strict, self._importer = Crumbs(crumbs), strict, importer
        listed = tuple(order)  # imported first, in the order in which their hooks will run
        self._line = sorted(index.plugins, key=lambda p: listed.index(p.label) if p.label in listed else len(listed))
        self._failed: dict[str, HermesError] = {}
        self.faults: list[Fault] = []
        self.loaded: dict[str, float] = {}

    def load(self, installed: Installed, *, named: bool = False) -> bool:
        """Import and register one plugin; whether it is there now.

        Raises PluginError or UserError when the person ``named`` it and it cannot be used.
        """
        label = installed.label
        if installed.fault:
            error: HermesError = PluginError(
                label, installed.fault.error, version=installed.version, hint=installed.fault.hint
            )
        elif label in self.loaded:
            return True
        else:
            state = self._consent.state(installed)
            if state.usable:
                return self._attempt(installed, named=named)
            hint = "" if state == "disabled" and state.reason == "safe mode" else f"hermes plugins enable {label}"
            error = PluginError(label, f"is not enabled: {state.reason}", version=installed.version, hint=hint)
            known = any(f.plugin == label and f.phase == "consent" for f in self.faults)
            if state in ("changed", "foreign") and not known:
                self._record(installed, "consent", "plugins.lock", state.reason, hint)
        if named:
            raise error
        return False

    def load_contributing(self, table: str, names: Iterable[str] | None = None) -> None:
        """Load enabled plugins that declare something in a table of the manifest, or one of the names in it."""
        wanted = None if names is None else tuple(names)
        for installed in self._line:
            manifest = installed.manifest
            if not manifest or not manifest.contributes[table]:
                continue
            if wanted is None or any(manifest.declares(table, name) for name in wanted):
                self.load(installed)

    def load_hooks(self, *hooks: str) -> None:
        """Load enabled plugins that declare one of these run-time hooks."""
        for installed in self._line:
            if installed.manifest and not set(hooks).isdisjoint(installed.manifest.hooks):
                self.load(installed)

    def _attempt(self, installed: Installed, *, named: bool) -> bool:
        label = installed.label
        if label not in self._failed:
            builtin = self._consent.builtin(installed)
            phase: Phase = "import"
            began = perf_counter()
            try:
                # Our own plugins leave no crumb: it would cost them a file each at every start.
                with nullcontext() if builtin else self.crumbs.laid(installed), all_or_nothing(installed):
                    module = self._importer(installed)
                    seconds = perf_counter() - began
                    phase = "register"
                    self._dispatch.register(installed, module, self._context(installed))
                self.loaded[label] = seconds
                return True
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # sys.exit and assert at import too: it costs this plugin only
                self._failed[label] = self._explained(installed, phase, error)
                if self._strict:
                    raise
        if named:
            raise self._failed[label]
        return False

    def _explained(self, installed: Installed, phase: Phase, error: BaseException) -> HermesError:
        log.error("%s failed in phase %s", installed.label, phase, exc_info=error)
        label, text = installed.label, one_line(error)
        hint = getattr(error, "hint", "") or f"hermes plugins disable {label}"
        where = installed.module
        if isinstance(error, UserError):
            where, hint = "config.yaml", "hermes config check" if isinstance(error, ConfigError) else hint
        elif isinstance(error, ModuleNotFoundError) and error.name:
            hint = f"Install the package that has {error.name.partition('.')[0]!r}, or: {hint}"
        self._record(installed, phase, where, text, hint)
        if isinstance(error, (PluginError, UserError)):
            return error
        return LoadError(label, text, version=installed.version, hint=hint)

    def _record(self, installed: Installed, phase: Phase, where: str, text: str, hint: str) -> None:
        fault = Fault(
            plugin=installed.label, phase=phase, where=where, error=text, hint=hint, version=installed.version
        )
        self.faults.append(fault)
        self._dispatch.tell(fault)
