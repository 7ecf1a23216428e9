"""Importing what is enabled and needed, one plugin at a time, each inside its own fence."""

import builtins
import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ConfigError, ContractError, HermesError, LoadError, PluginError, UserError
from hermes_core.modes import REGISTER_DEADLINE
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.crash_markers import CrashMarkers
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Late, finished, log, one_line
from hermes_core.plugins.implementation import declared
from hermes_core.plugins.index import Index, Installed, owners, precedence
from hermes_core.types import Fault, Phase


class Loader:
    """Loads plugins; a plugin *named* by the person raises, one found by looking is recorded and skipped.

    ``loaded`` maps labels to the seconds their import took. Failures are among the faults of ``dispatch``, unless
    the index already knows them. ``crash_markers`` knows which imports ended the process.
    """

    def __init__(
        self, index: Index, consent: Consent, dispatch: Dispatch, *,
        context: Callable[[Installed], PluginContext], markers: Path, strict: bool = False,
    ) -> None:  # fmt: skip
        self._index, self._consent, self._dispatch, self._context = index, consent, dispatch, context
        self.crash_markers, self._strict = CrashMarkers(markers), strict
        self._failed: dict[str, HermesError] = {}
        self.loaded: dict[str, float] = {}

    def load(self, installed: Installed, *, named: bool = False) -> bool:
        """Import and register one plugin; whether it is there now.

        Raises PluginError or UserError when the person ``named`` it and it cannot be used.
        """
        if installed.label in self.loaded:
            return True
        error = self._unusable(installed) or self._failed.get(installed.label) or self._import(installed)
        if error and named:
            raise error
        return error is None

    def load_contributing(self, table: str, names: Iterable[str] | None = None) -> None:
        """Load enabled plugins that declare something, or one of the names, in a table.

        One that is alive only where it serves is loaded by its names alone.
        """
        wanted = None if names is None else tuple(names)
        for installed in self._index.plugins:
            manifest = installed.manifest
            if not manifest or not manifest.contributes[table]:
                continue
            if manifest.alive == "always" if wanted is None else any(manifest.declares(table, one) for one in wanted):
                self.load(installed)

    def contributing(self, table: str) -> list[Installed]:
        """Return the enabled plugins that declare something in a table, who wins a clash first; none is imported."""
        found = (one for one in self._index.plugins if one.manifest and one.manifest.contributes[table])
        return sorted((one for one in found if not self._unusable(one)), key=precedence)

    def load_hooks(self, *hooks: str) -> None:
        """Load enabled plugins that declare one of these run-time hooks, but for those alive only where they serve."""
        for installed in self._index.plugins:
            manifest = installed.manifest
            if manifest and manifest.alive == "always" and not set(hooks).isdisjoint(manifest.hooks):
                self.load(installed)

    def is_own(self, label: str) -> bool:
        """Tell whether a plugin is one of this program's own."""
        installed = self._index.get(label)
        return installed is not None and self._consent.builtin(installed)

    def _unusable(self, installed: Installed) -> PluginError | None:
        if fault := installed.fault:
            return installed.error(PluginError, fault.error, fault.hint)
        state = self._consent.state(installed)
        if state.usable:
            return None
        hint = "" if state.reason == "safe mode" else f"hermes plugins enable {installed.label}"
        fault = installed.faulted("consent", "plugins.lock", state.reason, hint)
        if state in ("changed", "foreign") and fault not in self._dispatch.faults:
            self._dispatch.record(fault)
        return installed.error(PluginError, f"is not enabled: {state.reason}", hint)

    def _import(self, installed: Installed) -> HermesError | None:
        builtin = self._consent.builtin(installed)
        phase: Phase = "import"
        hung = None if builtin else partial(self.crash_markers.condemn, installed)
        bring = partial(own_builtins(installed)(import_plugin), installed)
        began = perf_counter()
        try:
            # Our own plugins leave no marker: it would cost them a file each at every start.
            marker = nullcontext() if builtin else self.crash_markers.laid(installed)
            aside = contextlib.redirect_stdout(sys.stderr)  # what it prints is no answer
            with marker, _all_or_nothing(installed), aside:
                module = finished(bring, REGISTER_DEADLINE) if hung else bring()
                seconds = perf_counter() - began
                phase = "register"
                self._dispatch.register(installed, module, self._context(installed), on_hang=hung)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit and assert at import too: it costs this plugin only
            if hung and isinstance(error, Late):
                hung(f"its import did not end within {REGISTER_DEADLINE:g} s")
            # First, as telling it may ask for maskers of secrets, and this may be the plugin of one.
            self._failed[installed.label] = installed.error(LoadError, type(error).__name__)
            failed = self._failed[installed.label] = self._explained(installed, phase, error)
            if self._strict:
                raise
            return failed
        self.loaded[installed.label] = seconds
        at_work = self._dispatch.implementations
        if missing := [hook for hook in declared(installed) if installed.label not in at_work(hook)]:
            text = f"declared and not registered: {', '.join(missing)}"  # the mark was forgotten, or is a foreign one
            hint = "Mark each with hermes_core's @hookimpl, or take it out of the manifest."
            self._dispatch.record(installed.faulted("register", installed.module, text, hint))
        return None

    def _explained(self, installed: Installed, phase: Phase, error: BaseException) -> HermesError:
        log.error("%s failed in phase %s", installed.label, phase, exc_info=error)
        where, text = installed.module, one_line(error, self._dispatch.masked)
        hint = getattr(error, "hint", "") or f"hermes plugins disable {installed.label}"
        if isinstance(error, ConfigError):
            where, hint = "config.yaml", "hermes config check"
        elif isinstance(error, ModuleNotFoundError) and error.name:
            hint = f"Install the package that has {error.name.partition('.')[0]!r}, or: {hint}"
        self._dispatch.record(installed.faulted(phase, where, text, hint))
        return error if isinstance(error, (PluginError, UserError)) else installed.error(LoadError, text, hint)


@contextmanager
def own_builtins(installed: Installed) -> Iterator[None]:
    """Put back what a plugin's import replaced among Python's own functions. Raises ContractError, naming it."""
    before = dict(vars(builtins))
    try:
        yield
    finally:
        now = vars(builtins)
        if changed := sorted(name for name in before if now.get(name) is not before[name]):
            now.update(before)
            raise installed.error(ContractError, f"replaces Python's own {', '.join(changed)} when it is imported")


@contextmanager
def _all_or_nothing(installed: Installed) -> Iterator[None]:
    """Forget the modules of a plugin whose import or registration failed half-way."""
    before = set(sys.modules)
    try:
        yield
    except BaseException:
        top = installed.module.partition(".")[0]
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == top:
                del sys.modules[name]
        raise


def import_object(module: str, attribute: str) -> Any:
    """Return a module, or what it holds under a dotted name; a class is called. Raises whatever the module raises."""
    found: Any = importlib.import_module(module)
    for name in filter(None, attribute.split(".")):
        found = getattr(found, name)
    return found() if isinstance(found, type) else found


def import_plugin(installed: Installed) -> Any:
    """Return what has a plugin's hooks: its module, or the object in it that its entry point names. A class is called.

    The quick way: no metadata is read. Raises whatever the plugin raises.
    """
    top = Path(installed.path, "" if installed.origin == "file" else "__init__.py")
    package = installed.origin == "package"
    if installed.module in sys.modules or (package and ("." in installed.module or not top.is_file())):
        return import_object(installed.module, installed.attribute)
    from importlib.util import module_from_spec, spec_from_file_location

    # From where the index saw it: a package would else be looked for in all that the search path holds before.
    inside = None if installed.origin == "file" else [installed.path]
    spec = spec_from_file_location(installed.module, top, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise ImportError(f"{top} is not a Python file")
    module = sys.modules[installed.module] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(installed.module, None)
        raise
    return import_object(installed.module, installed.attribute) if package else module


def chosen(owner: Installed, name: str, given: Iterable[tuple[str, Any]], dispatch: Dispatch) -> Any:
    """Return what has a name, of what plugins contribute. Raises PluginError when its owner does not give it."""
    for _, one in given:
        if getattr(one, "name", "") == name:
            return one
    fault = next((f for f in dispatch.faults if f.plugin == owner.label), None)
    text = fault.error if fault else f"declares {name} and registers none"
    raise owner.error(PluginError, text, fault.hint if fault else "")


def slash_clashes(index: Index, consent: Consent) -> Sequence[Fault]:
    """Return the slash commands and other names that enabled plugins declare in vain; none is imported for it."""
    claims = [(p, p.manifest.contributes["slash"]) for p in index.plugins if p.manifest and consent.state(p).usable]
    return owners("slash", claims)[1]


def config_sections(index: Index, consent: Consent) -> dict[str, type]:
    """Return the settings classes of enabled plugins, by the path of their section. One that fails is doctor's."""
    found: dict[str, type] = {}
    for plugin in index.plugins:
        path = plugin.manifest.config_section if plugin.manifest else ""
        if path and consent.state(plugin).usable:
            with contextlib.suppress(Exception):
                found[path] = config_class(plugin)
    return found


def config_class(installed: Installed) -> type:
    """Return the settings class a manifest names. Raises ContractError when it names none or the module has none."""
    module, _, name = installed.manifest.config_class.partition(":") if installed.manifest else ("", "", "")
    if installed.origin != "package":  # its real module name is private, so that two homes cannot collide
        import_plugin(installed)
        rest = module.partition(".")[2]
        module = f"{installed.module}.{rest}" if rest else installed.module
    found: Any = getattr(importlib.import_module(module or installed.module), name, None)
    if not isinstance(found, type):
        raise installed.error(ContractError, f"{module} has no class {name}", "Correct [config] class.")
    return found
