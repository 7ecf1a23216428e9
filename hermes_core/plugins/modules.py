"""Turning an installed plugin into a module. Nothing is caught here; the loader and the check hold the fence."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from hermes_core.errors import ContractError
from hermes_core.plugins.index import GROUP, Installed


def import_plugin(installed: Installed) -> ModuleType:
    """Import a plugin, the quick way: no metadata is read. Raises whatever the plugin raises."""
    if installed.origin == "package":
        return importlib.import_module(installed.module)
    return sys.modules.get(installed.module) or _import_file(installed)


def inspect_plugin(installed: Installed) -> ModuleType:
    """Import a plugin through stevedore and its real entry point: for info, check and doctor.

    Not at start, where stevedore would cost more than all plugins. It is handed exactly the one approved entry point,
    from fresh metadata: its own list comes from a cache with 128 s resolution and no owners, and selecting by name
    would import every plugin of that name, approved or not. Failures of any kind reach the caller's fence.
    """
    if not installed.distribution:
        return import_plugin(installed)
    from importlib.metadata import EntryPoint, distribution

    from stevedore.named import NamedExtensionManager

    points = [p for p in distribution(installed.distribution).entry_points.select(group=GROUP)]  # noqa: C416
    approved = [p for p in points if p.value.partition(":")[0].strip() == installed.module]
    failures: list[BaseException] = []

    class Approved(NamedExtensionManager[ModuleType]):
        def list_entry_points(self) -> list[EntryPoint]:
            return approved[:1]

    manager = Approved(
        GROUP,
        names=[p.name for p in approved[:1]],
        on_load_failure_callback=lambda _manager, _point, error: failures.append(error),
    )
    if failures:
        raise failures[0]
    if not manager.extensions:
        raise ContractError(installed.label, f"{installed.distribution} has no entry point for {installed.module}")
    return sys.modules[manager.extensions[0].entry_point.module]


def config_class(installed: Installed) -> type:
    """The settings class a manifest names. Raises ContractError when it names none or the module does not hold it."""
    module, _, name = installed.manifest.config_class.partition(":") if installed.manifest else ("", "", "")
    if installed.origin != "package":  # its real module name is private, so that two homes cannot collide
        import_plugin(installed)
        rest = module.partition(".")[2]
        module = f"{installed.module}.{rest}" if rest else installed.module
    found: Any = getattr(importlib.import_module(module or installed.module), name, None)
    if not isinstance(found, type):
        text = f"{module} has no class {name}"
        raise ContractError(installed.label, text, version=installed.version, hint="Correct [config] class.")
    return found


@contextmanager
def all_or_nothing(installed: Installed) -> Iterator[None]:
    """Forget the modules of a plugin whose import or registration failed half-way."""
    before = set(sys.modules)
    try:
        yield
    except BaseException:
        top = installed.module.partition(".")[0]
        for name in set(sys.modules) - before:
            if name == top or name.startswith(f"{top}."):
                del sys.modules[name]
        raise


def _import_file(installed: Installed) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    folder = installed.origin == "folder"
    path = Path(installed.path, "__init__.py") if folder else Path(installed.path)
    inside = [installed.path] if folder else None
    spec = spec_from_file_location(installed.module, path, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[installed.module] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[installed.module]
        raise
    return module
