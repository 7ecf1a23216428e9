"""``hermes plugins check``: whether manifest and code tell the same story."""

import sys
from pathlib import Path
from typing import NoReturn

from hermes_core.context import PluginContext
from hermes_core.errors import ConfigError, PluginError, UserError
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import one_line
from hermes_core.plugins.implementation import KINDS
from hermes_core.plugins.index import GROUP, Installed, private_name
from hermes_core.plugins.manifest import FILE, Manifest, read_manifest
from hermes_core.plugins.modules import inspect_plugin
from hermes_core.types import Finding, Request


def check_plugin(path: Path, *, imports: bool = False) -> list[Finding]:
    """Look at a plugin's project, package or file. With ``imports`` its code runs, in this process.

    Meant for authors: everything wrong is found in one go. Raises nothing for a plugin's faults.
    """
    found = _manifest_file(path.resolve())
    if found is None:
        return [Finding(level="fault", text=f"{path} holds no plugin", fix=f"It needs a {FILE} beside its code.")]
    try:
        manifest = read_manifest(found)
    except PluginError as error:
        return [Finding(level="fault", text=error.cause, fix=error.hint)]
    installed = _installed(found, manifest)
    findings = [Finding(level="ok", text=f"{manifest.label}: {found}")]
    for folder in manifest.contributes["skills"]:
        if not (found.parent / folder).is_dir():
            text = f"contributes.skills: there is no folder {folder}"
            findings.append(Finding(level="fault", text=text, fix="Make it."))
    if imports:
        findings += _imported(installed)
    return findings


def _manifest_file(path: Path) -> Path | None:
    if path.is_file():
        return path
    candidates = [path / FILE, *sorted(path.glob(f"src/*/{FILE}")), *sorted(path.glob(f"*/{FILE}"))]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _installed(found: Path, manifest: Manifest) -> Installed:
    alone = found.suffix == ".py"
    package = not alone and any((found.parents[up] / "pyproject.toml").is_file() for up in (1, 2))
    module = found.parent.name if package else private_name(str(found if alone else found.parent))
    return Installed(
        label=manifest.label, manifest=manifest, path=str(found if alone else found.parent), module=module,
        origin="file" if alone else "package" if package else "folder",
        distribution=_distribution(module) if package else "",
    )  # fmt: skip


def _distribution(module: str) -> str:
    from importlib.metadata import entry_points

    return next((p.dist.name for p in entry_points(group=GROUP) if p.dist and p.module == module), "")


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
            return _compared(installed, make_context(installed, settings, store=_nobody, complete=_nobody))
        except ConfigError as error:
            text = f"its settings need a value, so its code was not compared: {one_line(error)}"
            return [Finding(level="warning", text=text, fix="Give every option a default, if there is a sensible one.")]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - sys.exit at import is one of the things to report
            return [Finding(level="fault", text=one_line(error), fix=getattr(error, "hint", ""))]
        finally:
            sys.path[:] = before


def _compared(installed: Installed, context: PluginContext) -> list[Finding]:
    dispatch = Dispatch()
    dispatch.register(installed, inspect_plugin(installed), context)
    given = {table: {t.name for _, t in dispatch.contributions(hook)} for hook, (table, _) in KINDS.items() if table}
    findings = [Finding(level="fault", text=fault.error, fix=fault.hint) for fault in dispatch.faults]
    assert installed.manifest
    for table, names in given.items():
        missing = {n for n in installed.manifest.contributes[table] if not n.endswith("*")} - names
        text = f"[contributes] {table} declares {', '.join(sorted(missing))}, and no hook gives it"
        findings += (
            [Finding(level="fault", text=text, fix="Register it, or take it out of the manifest.")] if missing else []
        )
    for hook in installed.manifest.hooks:
        if not dispatch.implementations(hook):
            text = f"[hooks] use declares {hook}, and the code has no @hookimpl of that name"
            findings.append(Finding(level="fault", text=text, fix="Write it, or take it out of the manifest."))
    return findings or [Finding(level="ok", text="The code registers exactly what the manifest declares.")]


async def _nobody(*_: Request) -> NoReturn:
    raise UserError("There is no kernel behind a check.")
