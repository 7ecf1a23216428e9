"""``hermes plugins check``: whether manifest and code tell the same story."""

import sys
from pathlib import Path
from typing import Any

from hermes_core.config.schema import OPEN, PLUGIN_SPACES, Config
from hermes_core.context import PluginContext
from hermes_core.errors import ConfigError, ContractError, PluginError
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import one_line
from hermes_core.plugins.implementation import KINDS
from hermes_core.plugins.index import GROUP, Installed, private_name
from hermes_core.plugins.loader import import_plugin, own_builtins
from hermes_core.plugins.manifest import FILE, RECORDS, Manifest, read_manifest
from hermes_core.testing.registered import declared_names, record_problems
from hermes_core.types import Finding

_PLACES = (
    f"Write {', '.join(f'{space}.NAME' for space in (*PLUGIN_SPACES, 'providers'))}, where NAME is the plugin's or "
    "that of something it contributes, or a new word of its own."
)


def check_plugin(path: Path, *, imports: bool = False) -> list[Finding]:
    """Look at a plugin's project, package or file. With ``imports`` its code runs, in this process.

    Meant for authors: everything wrong is found in one go. Raises nothing for a plugin's faults.
    """
    places = [path / FILE, *sorted(path.glob(f"src/*/{FILE}")), *sorted(path.glob(f"*/{FILE}"))]
    found = next((place.resolve() for place in (path, *places) if place.is_file()), None)
    if found is None:
        return [_fault(f"{path} holds no plugin", f"It needs a {FILE} beside its code.")]
    try:
        manifest = read_manifest(found)
    except PluginError as error:
        return [_fault(error.cause, error.hint)]
    skills = manifest.contributes["skills"]
    space, dot, own = (section := manifest.config_section).partition(".")
    spaces, kernels = (*PLUGIN_SPACES, "providers"), {*Config.__annotations__, *PLUGIN_SPACES} - {*OPEN}
    names = {manifest.name.replace("-", "_"), manifest.name, *manifest.contributes.get(space, ())}
    homeless = space not in spaces or own not in names if dot else section in kernels
    return [
        Finding(level="ok", text=f"{manifest.label}: {found}"),
        *([_fault(f"[config] section {section} is no place for settings", _PLACES)] if section and homeless else ()),
        *(
            _fault(f"contributes.skills: there is no folder {folder}", "Make it.")
            for folder in skills
            if not (found.parent / folder).is_dir()
        ),
        *(
            _fault(one, "People see it before its code is imported: write the table.")
            for table in RECORDS
            for one in record_problems(manifest, table)
        ),
        *(_imported(_installed(found, manifest)) if imports else ()),
    ]


def _fault(text: str, fix: str) -> Finding:
    return Finding(level="fault", text=text, fix=fix)


def _installed(found: Path, manifest: Manifest) -> Installed:
    from importlib.metadata import entry_points

    path, origin, distribution = (found, "file", "") if found.suffix == ".py" else (found.parent, "folder", "")
    module = private_name(str(path))
    if origin == "folder" and any((found.parents[up] / "pyproject.toml").is_file() for up in (1, 2)):
        module, origin = path.name, "package"
        points = entry_points(group=GROUP)
        distribution = next((p.dist.name for p in points if p.dist and p.module == module), "")
    return Installed(
        label=manifest.label, manifest=manifest, module=module, path=str(path), origin=origin, distribution=distribution
    )


def _imported(installed: Installed) -> list[Finding]:
    """Import and register it as the kernel would, in an empty home, and compare names."""
    import tempfile

    from hermes_core.config.paths import Home
    from hermes_core.config.settings import load_settings

    before = list(sys.path)
    sys.path.insert(0, str(Path(installed.path).parent))
    with tempfile.TemporaryDirectory() as empty:
        try:
            settings = load_settings(Home.find(environ={"HERMES_HOME": empty}))
            return _compared(installed, make_context(installed, settings))
        except ConfigError as error:
            text = f"its settings need a value, so its code was not compared: {one_line(error)}"
            return [Finding(level="warning", text=text, fix="Give every option a default, if there is a sensible one.")]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - sys.exit at import is one of the things to report
            return [_fault(one_line(error), getattr(error, "hint", ""))]
        finally:
            sys.path[:] = before


def _compared(installed: Installed, context: PluginContext) -> list[Finding]:
    dispatch = Dispatch()
    with own_builtins(installed):
        module = inspect_plugin(installed)
    dispatch.register(installed, module, context)
    assert installed.manifest
    findings: list[Finding] = []
    for hook, (table, _) in KINDS.items():
        contributed = [thing for _, thing in dispatch.contributions(hook)]
        given = {getattr(one, "name", "") for one in contributed}
        missing = {n for n in declared_names(installed.manifest, table) if not n.endswith("*")} - given
        if missing:
            text = f"[contributes] {table} declares {', '.join(sorted(missing))}, and no hook gives it"
            findings.append(_fault(text, "Register it, or take it out of the manifest."))
        if table in RECORDS:
            known = set(record_problems(installed.manifest, table))  # told by now, without its code
            differ = (one for one in record_problems(installed.manifest, table, contributed) if one not in known)
            findings += [_fault(one, "Let both say the same.") for one in differ]
    for hook in installed.manifest.hooks:
        if not dispatch.implementations(hook):
            text = f"[hooks] use declares {hook}, and the code has no @hookimpl of that name"
            findings.append(_fault(text, "Write it, or take it out of the manifest."))
    findings = [*(_fault(fault.error, fault.hint) for fault in dispatch.faults), *findings]
    return findings or [Finding(level="ok", text="The code registers exactly what the manifest declares.")]


def inspect_plugin(installed: Installed) -> Any:
    """Import a plugin through stevedore and its real entry point, as installed. Raises what the plugin raises.

    Not at start, where stevedore would cost more than all plugins. It is handed exactly the one approved entry point,
    from fresh metadata: its own list comes from a cache with 128 s resolution and no owners, and selecting by name
    would import every plugin of that name, approved or not.
    """
    if not installed.distribution:
        return import_plugin(installed)
    from importlib.metadata import EntryPoint, distribution

    from stevedore.named import NamedExtensionManager

    points = distribution(installed.distribution).entry_points.select(group=GROUP)
    approved = [p for p in points if p.value.partition(":")[0].strip() == installed.module][:1]

    class Approved(NamedExtensionManager[Any]):
        def list_entry_points(self) -> list[EntryPoint]:
            return approved

    def failed(_manager: object, _point: EntryPoint, error: BaseException) -> None:
        raise error

    if not Approved(GROUP, names=[p.name for p in approved], on_load_failure_callback=failed).extensions:
        text = f"{installed.distribution} has no entry point for {installed.module}"
        raise installed.error(ContractError, text)
    return import_plugin(installed)
