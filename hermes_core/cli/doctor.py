"""``hermes doctor``: everything that can be wrong, each with its mend."""

import asyncio
import gc
import json
import platform
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

from hermes_core import __version__
from hermes_core.cli.config import config_problems, idle_rules
from hermes_core.cli.plugin_commands import PACKAGES
from hermes_core.cli.scope import Scope
from hermes_core.cli.trial import PATIENCE, Row, cheap, in_full, named, probed, row, working
from hermes_core.config.layers import THEIRS
from hermes_core.config.schema import PLUGIN_SPACES
from hermes_core.errors import HermesError, UnknownName
from hermes_core.own import MOST
from hermes_core.plugins.index import Installed
from hermes_core.plugins.loader import slash_clashes
from hermes_core.types import Session
from hermes_tables.tables import ago, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime

_COLORS = {"ok": "green", "fault": "red", "asks": "yellow", "missing": "yellow", "slow": "yellow", "idle": None}
_A_DAY = 86_400  # seconds a failed call is remembered here


class _Doctor(click.Command):
    """Has an option more for each check that a plugin declares by its name."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        index = (ctx.find_object(Scope) or Scope()).index
        whose = {name: index.contributing("checks", name) for name in sorted(index.offered("checks"))}
        more = [(name, " and ".join(one.label for one in plugins)) for name, plugins in whose.items()]
        help_of = "Only this: try all that the check {} of {} can try."
        made = [click.Option([f"--{name}"], is_flag=True, help=help_of.format(name, label)) for name, label in more]
        return [*super().get_params(ctx), *made]


@click.command(cls=_Doctor)
@click.option("--deep", is_flag=True, help="Import every enabled plugin, one by one, timed, and run its checks.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without asking.")
@click.option("--plugin", "only", default="", help="Only this plugin.")
@click.option("--probe", default="", hidden=True, help="Try one plugin here, and print what was found as JSON.")
@json_option
@click.pass_obj
def doctor(scope: Scope, /, deep: bool, fix: bool, only: str, probe: str, as_json: bool, **chosen: bool) -> int:
    """Check home, settings, secrets, store, plugins and the model. Exit 1 when there is a fault."""
    gc.enable()  # it may take long
    if probe:
        click.echo(json.dumps(working(scope, probe)))
        return 0
    full = {name.replace("_", "-") for name, wanted in chosen.items() if wanted}
    rows = asyncio.run(in_full(scope, full)) if full else []
    rows += list(_house(scope, fix=fix)) if not only and not full else []
    rows += [*asyncio.run(cheap(scope, only)), *_plugins(scope, deep=deep, only=only)] if not full else []
    if not only and not full and all(r["who"] != "settings" or r["level"] != "fault" for r in rows):
        rows += asyncio.run(_at_work(scope, deep=deep))
    rows = [{**r, "fix": _here(scope, r["fix"])} for r in rows]
    faults = [r for r in rows if r["level"] == "fault"]
    if as_json:
        click.echo(json.dumps({"version": __version__, "ok": not faults, "findings": rows}, ensure_ascii=False))
    else:
        _print(rows, len(faults))
    return 1 if faults else 0


def _print(rows: list[Row], faults: int) -> None:
    width = max(len(r["who"]) for r in rows)
    for one in rows:
        level = click.style(f"{one['level']:<8}", fg=_COLORS.get(one["level"]))
        phase = f"{one['phase']}: " if one.get("phase") else ""
        click.echo(f"  {level}{one['who']:<{width}}  {phase}{one['text']}")
        if one["fix"]:
            click.secho(f"          {' ' * width}  {one['fix']}", dim=True)
    asks = sum(r["level"] in ("asks", "missing") for r in rows)
    told = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((faults, "fault"), (asks, "question")))
    click.echo(f"{', '.join(told)}." if faults or asks else "All is well.")


def _here(scope: Scope, fix: str) -> str:
    """Return a mend as it can be done here: where the package of a command is not installed, that comes first."""
    fix = scope.distribution.told(fix)
    said = fix.split()[1:] if fix.startswith(f"{scope.name} ") else []
    words = " ".join(said[:2])
    package = PACKAGES.get(words) or PACKAGES.get("".join(said[:1]))
    if package is None or any(plugin.distribution == package for plugin in scope.index.plugins):
        return fix
    return f"pip install {said[2]}" if words == "plugins install" else f"pip install {package}, then {fix}"


def _house(scope: Scope, *, fix: bool) -> Iterable[Row]:
    yield row("ok", "hermes", f"{__version__}, Python {platform.python_version()}, {sys.platform}")
    home = scope.home
    try:
        home.create()
        yield row("ok", "home", str(home.root))
    except HermesError as error:
        yield row("fault", "home", error.text, error.hint)
        return
    problems = config_problems(scope)
    fixes = (THEIRS if one.startswith(str(home.managed)) else "hermes config edit" for one in problems)
    yield from (row("fault", "settings", problem, fix) for problem, fix in zip(problems, fixes, strict=True))
    if problems:
        return
    yield row("ok", "settings", str(home.config_file) if home.config_file.exists() else "defaults")
    for key, who in scope.settings.locked.items():
        yield row("ok", "settings", f"{key} is locked by {who}")
    yield from _secrets(home.env_file, fix=fix)
    yield from asyncio.run(_store(scope))
    yield from _fallbacks(scope)
    names = {f"{space}.{name}" for space in PLUGIN_SPACES for name in scope.index.offered(space)}
    for section in scope.settings.idle_sections(names | scope.index.config_sections):
        yield row("idle", "settings", f"section {section} belongs to no installed plugin; it is kept")
    for text in idle_rules(scope):
        yield row("asks", "policy", text, "hermes config edit")
    yield from _guards(scope)


def _secrets(path: Path, *, fix: bool) -> Iterable[Row]:
    if not path.exists():
        return
    wide = path.stat().st_mode & 0o077
    if wide and fix:
        path.chmod(0o600)
        yield row("ok", "secrets", f"{path} was open to others; closed now")
    elif wide:
        yield row("fault", "secrets", f"{path} can be read by others", f"chmod 600 {path}, or hermes doctor --fix")
    else:
        yield row("ok", "secrets", str(path))


async def _store(scope: Scope) -> list[Row]:
    try:
        async with scope.hermes() as hermes:
            store = await hermes.runtime.store()
            rows = await store.sessions.list(hermes.runtime.owner, limit=1)
            cut = len(await hermes.interrupted())
    except HermesError as error:
        return [row("fault", "store", error.text, error.hint)]
    more = [row("asks", "turns", f"{cut} cut off when Hermes was killed", "hermes resume")] if cut else []
    return [row("ok", "store", f"{store.place}{'' if rows else ', no session yet'}"), *more]


def _fallbacks(scope: Scope) -> Iterable[Row]:
    """Yield models that are set up to answer for another and cannot: a turn would only pass them over."""
    config = scope.settings.config
    known = scope.index.offered("providers") | set(config.providers)
    said = {f"fallback_providers[{i}]": entry for i, entry in enumerate(config.fallback_providers)}
    for task, one in config.auxiliary.items():
        said[f"auxiliary.{task}"] = one
        said |= {f"auxiliary.{task}.fallback[{i}]": entry for i, entry in enumerate(one.fallback)}
    several = [f"providers.{name}.keys" for name, one in config.providers.items() if one.keys]
    several += [where for where in said if "fallback" in where]
    routers = [p for p in scope.index.plugins if p.manifest and p.manifest.contributes["routers"]]
    if several and not any(scope.consent().state(plugin).usable for plugin in routers):
        text = f"no plugin asks anybody but the first choice, so this does nothing: {', '.join(several)}"
        fix = f"enable {routers[0].label}" if routers else "install hermes-provider-router"
        yield row("missing", "models", text, f"hermes plugins {fix}")
    for where, entry in said.items():
        if entry.provider in ("", "auto"):
            continue
        try:
            if entry.provider not in known:
                raise UnknownName("provider", entry.provider, known, hint="hermes config edit")
            scope.settings.endpoint(entry.provider, entry)
        except HermesError as error:
            yield row("fault", "models", f"{where}: {error.text}", error.hint)


def _guards(scope: Scope) -> Iterable[Row]:
    """Yield whether anybody says what commands do."""
    consent = scope.consent()
    there = [p for p in scope.index.plugins if p.manifest and "judge_command" in p.manifest.hooks]
    if any(consent.state(plugin).usable for plugin in there):
        return
    there.sort(key=lambda plugin: not consent.builtin(plugin))
    fix = f"hermes plugins enable {there[0].label}" if there else "hermes plugins install hermes-tool-guard"
    yield row("missing", "policy", "no plugin says what commands do: each one needs a person's yes, every time", fix)


def _plugins(scope: Scope, *, deep: bool, only: str) -> list[Row]:
    consent, index = scope.consent(), scope.index
    wanted = [index.resolve(only)] if only else index.plugins
    rows, told, clashes = [], set(), slash_clashes(index, consent)
    for fault in (*index.faults, *consent.faults(index)):
        if not only or fault.plugin == wanted[0].label:
            told.add(fault.plugin)
            level = "fault"
            if fault.where == str(scope.home.lock_file):  # the lock says other than what is there
                level = {"discover": "missing", "consent": "asks" if index.get(fault.plugin) else "fault"}[fault.phase]
            rows.append(row(level, f"{fault.plugin} {fault.version}".strip(), fault.error, fault.hint, fault.phase))
    for plugin in wanted:
        who, state = named(plugin), consent.state(plugin)
        if plugin.fault is not None or plugin.label in told:
            continue
        if not state.usable and consent.allows(plugin):
            fix = f"hermes plugins enable {plugin.label}"
            rows.append(row("idle", who, f"installed, not in use: {state.reason}", fix))
        elif state.usable:
            trial = consent.builtin(plugin) and not deep
            rows += [row("ok", who, str(state))] if trial else probed(scope, plugin)
            rows += (row("fault", who, f.error, f.hint, f.phase) for f in clashes if f.plugin == plugin.label)
            rows += _lately(scope, plugin)
    return rows


def _lately(scope: Scope, plugin: Installed) -> Iterable[Row]:
    """Yield what went wrong in calls of a plugin during the last day."""
    try:
        kept = json.loads((scope.home.cache / "faults.json").read_text(encoding="utf-8")).get(plugin.label, {})
    except (OSError, ValueError):
        return
    for where, fault in kept.items():
        if time.time() - fault["when"] < _A_DAY:
            text = f"{where} ({ago(fault['when'])}): {fault['error']}"
            yield row("fault", named(plugin), text, fault["hint"] or "hermes logs", "call")


async def _at_work(scope: Scope, *, deep: bool) -> list[Row]:
    """Tell whether anybody can answer, and whether tools have a place to work in; ``deep`` asks the model's service."""
    rows = []
    for look in (_model, _backend):
        try:
            async with scope.hermes() as hermes:
                rows.append(await look(hermes.runtime, deep=deep))
                rows += await _besides(hermes.runtime) if look is _backend else ()
        except HermesError as error:
            rows.append(row("fault", look.__name__[1:], error.text, error.hint))
    return rows


async def _besides(runtime: "Runtime") -> list[Row]:
    """Say which tools lack something, and what services did last."""
    runtime.loader.load_contributing("services")
    unmet = runtime.toolbox().unmet(Session(id="", origin="doctor", owner=runtime.owner))
    rows, dispatch = [row("idle", "tools", f"{n} is hidden: {why}") for n, why in unmet.items()], runtime.dispatch
    for label, one in dispatch.contributions("register_services"):
        if text := await dispatch.shielded(label, f"register_services: {one.name}", one.status, PATIENCE):
            rows.append(row("ok", label, f"service {one.name}: {text}"))
    return rows


async def _model(runtime: "Runtime", *, deep: bool) -> Row:
    from hermes_core.agent.route.choice import asked

    if not runtime.index.offered("providers"):
        return row("fault", "model", "nothing that could answer is installed", f"pip install '{MOST}'")
    route = await runtime.routes.get()
    text, said = f"{route.model} from {route.name}", route.endpoint
    if deep:
        text += f" ({len(await asked(runtime.dispatch, route.provider, 'models'))} models)"
    elif not (said and (said.base_url or said.api_key)) and not await asked(runtime.dispatch, route.provider, "ready"):
        return row("fault", "model", f"{text} cannot answer yet", f"hermes setup {route.name}")
    return row("asks" if route.notice else "ok", "model", route.notice or text, route.notice and "hermes setup")


async def _backend(runtime: "Runtime", *, deep: bool) -> Row:
    name = runtime.settings.config.terminal.backend
    runtime.loader.load_contributing("backends", [name])
    found = {one.name: (label, one) for label, one in runtime.dispatch.contributions("register_backends")}
    if name in found and await runtime.dispatch.shielded(found[name][0], "ready", found[name][1].ready, PATIENCE):
        return row("ok", "backend", f"commands run on {name}")
    runtime.loader.load_contributing("tools")
    if not runtime.dispatch.contributions("register_tools"):
        return row("idle", "backend", f"{name} is not there, and no tool needs it")
    owners = runtime.index.contributing("backends", name)
    there, fix = "is not installed", f"hermes plugins install hermes-backend-{name}"
    if name in found:
        there, fix = "is not ready", f"hermes doctor --deep --plugin backend/{name}"
    elif owners:
        there, fix = "is not enabled", f"hermes plugins enable {owners[0].label}"
    return row("fault", "backend", f"the backend {name} {there}, so no tool can work with files or commands", fix)
