"""``hermes doctor``: everything that can be wrong, each with its mend."""

import asyncio
import gc
import json
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

from hermes_core import __version__, hooks
from hermes_core.cli.config import config_problems, idle_rules
from hermes_core.cli.plugin_commands import PACKAGES
from hermes_core.cli.scope import Scope
from hermes_core.config.schema import PLUGIN_SPACES
from hermes_core.contents import installed_contents
from hermes_core.errors import HermesError, UnknownName
from hermes_core.kinds import Backend
from hermes_core.own import MOST
from hermes_core.plugins.crash_markers import CrashMarkers
from hermes_core.plugins.index import Installed
from hermes_core.plugins.loader import slash_clashes
from hermes_core.tables import ago, json_option
from hermes_core.types import Finding, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime

_COLORS = {"ok": "green", "fault": "red", "asks": "yellow", "missing": "yellow", "slow": "yellow", "idle": None}
Row = dict[str, str]
_PATIENCE = 10  # seconds a plugin may take to be imported and to register before doctor gives up on it
_A_DAY = 86_400  # seconds a failed call is remembered here
_SLOW = 0.5  # seconds of import from which doctor says so
# A distribution is a value: the probe is the same product in another process.
_PROGRAM = "import sys, json, hermes_core; hermes_core.Distribution(*json.loads(sys.argv[1])).cli(sys.argv[2:])"


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
def doctor(scope: Scope, /, deep: bool, fix: bool, only: str, probe: str, as_json: bool, **named: bool) -> int:
    """Check home, settings, secrets, store, plugins and the model. Exit 1 when there is a fault."""
    gc.enable()  # it may take long
    if probe:
        click.echo(json.dumps(_working(scope, probe)))
        return 0
    full = {name.replace("_", "-") for name, wanted in named.items() if wanted}
    rows = asyncio.run(_in_full(scope, full)) if full else []
    rows += list(_house(scope, fix=fix)) if not only and not full else []
    rows += [*asyncio.run(_cheap(scope, only)), *_plugins(scope, deep=deep, only=only)] if not full else []
    if not only and not full and all(row["who"] != "settings" or row["level"] != "fault" for row in rows):
        rows += asyncio.run(_at_work(scope, deep=deep))
    rows = [{**row, "fix": _here(scope, row["fix"])} for row in rows]
    faults = [r for r in rows if r["level"] == "fault"]
    if as_json:
        click.echo(json.dumps({"version": __version__, "ok": not faults, "findings": rows}, ensure_ascii=False))
    else:
        _print(rows, len(faults))
    return 1 if faults else 0


def _print(rows: list[Row], faults: int) -> None:
    width = max(len(r["who"]) for r in rows)
    for row in rows:
        level = click.style(f"{row['level']:<8}", fg=_COLORS.get(row["level"]))
        phase = f"{row['phase']}: " if row.get("phase") else ""
        click.echo(f"  {level}{row['who']:<{width}}  {phase}{row['text']}")
        if row["fix"]:
            click.secho(f"          {' ' * width}  {row['fix']}", dim=True)
    asks = sum(r["level"] in ("asks", "missing") for r in rows)
    told = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((faults, "fault"), (asks, "question")))
    click.echo(f"{', '.join(told)}." if faults or asks else "All is well.")


def _row(level: str, who: str, text: str, fix: str = "", phase: str = "") -> Row:
    return {"level": level, "who": who, "phase": phase, "text": text, "fix": fix}


def _found(label: str, finding: Finding) -> Row:
    return _row("asks" if finding.level == "warning" else finding.level, label, finding.text, finding.fix)


def _here(scope: Scope, fix: str) -> str:
    """A mend as it can be done here: with a command of a package that is not installed, that package comes first."""
    said = fix.split()[1:] if fix.startswith("hermes ") else []
    words = " ".join(said[:2])
    package = PACKAGES.get(words) or PACKAGES.get("".join(said[:1]))
    if package is None or any(plugin.distribution == package for plugin in scope.index.plugins):
        return fix
    return f"pip install {said[2]}" if words == "plugins install" else f"pip install {package}, then {fix}"


def _who(one: Installed) -> str:
    return f"{one.label} {one.version}".strip()


def _house(scope: Scope, *, fix: bool) -> Iterable[Row]:
    yield _row("ok", "hermes", f"{__version__}, Python {platform.python_version()}, {sys.platform}")
    home = scope.home
    try:
        home.create()
        yield _row("ok", "home", str(home.root))
    except HermesError as error:
        yield _row("fault", "home", error.text, error.hint)
        return
    problems = config_problems(scope)
    for problem in problems:
        yield _row("fault", "settings", problem, "hermes config edit")
    if problems:
        return
    yield _row("ok", "settings", str(home.config_file) if home.config_file.exists() else "defaults")
    yield from _secrets(home.env_file, fix=fix)
    yield from asyncio.run(_store(scope))
    yield from _fallbacks(scope)
    names = {f"{space}.{name}" for space in PLUGIN_SPACES for name in scope.index.offered(space)}
    for section in scope.settings.idle_sections(names | scope.index.config_sections):
        yield _row("idle", "settings", f"section {section} belongs to no installed plugin; it is kept")
    for text in idle_rules(scope):
        yield _row("asks", "policy", text, "hermes config edit")
    yield from _guards(scope)


def _secrets(path: Path, *, fix: bool) -> Iterable[Row]:
    if not path.exists():
        return
    wide = path.stat().st_mode & 0o077
    if wide and fix:
        path.chmod(0o600)
        yield _row("ok", "secrets", f"{path} was open to others; closed now")
    elif wide:
        yield _row("fault", "secrets", f"{path} can be read by others", f"chmod 600 {path}, or hermes doctor --fix")
    else:
        yield _row("ok", "secrets", str(path))


async def _store(scope: Scope) -> list[Row]:
    from hermes_core.database import READ
    from hermes_core.store.tables import owners_of_tables

    try:
        async with scope.hermes() as hermes:
            store = await hermes.runtime.store()
            rows = await store.sessions.list(hermes.runtime.owner, limit=1)
            cut = len(await hermes.interrupted())
            installed = {plugin.label for plugin in scope.index.plugins}
            owners = sorted(await store.database.run(owners_of_tables, READ) - installed)
    except HermesError as error:
        return [_row("fault", "store", error.text, error.hint)]
    found = [_row("ok", "store", f"{store.place}{'' if rows else ', no session yet'}")]
    if cut:
        found.append(_row("asks", "turns", f"{cut} cut off when Hermes was killed", "hermes resume"))
    found += (_row("idle", "store", f"the tables of {label}, which is not installed, are kept") for label in owners)
    return found


def _fallbacks(scope: Scope) -> Iterable[Row]:
    """Models that are set up to answer for another and cannot: a turn would only pass them over."""
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
        yield _row("missing", "models", text, f"hermes plugins {fix}")
    for where, entry in said.items():
        if entry.provider in ("", "auto"):
            continue
        try:
            if entry.provider not in known:
                raise UnknownName("provider", entry.provider, known, hint="hermes config edit")
            scope.settings.endpoint(entry.provider, entry)
        except HermesError as error:
            yield _row("fault", "models", f"{where}: {error.text}", error.hint)


def _guards(scope: Scope) -> Iterable[Row]:
    """Whether anybody says what commands do."""
    consent = scope.consent()
    there = [p for p in scope.index.plugins if p.manifest and "judge_command" in p.manifest.hooks]
    if any(consent.state(plugin).usable for plugin in there):
        return
    there.sort(key=lambda plugin: not consent.builtin(plugin))
    fix = f"hermes plugins enable {there[0].label}" if there else "hermes plugins install hermes-tool-guard"
    yield _row("missing", "policy", "no plugin says what commands do: each one needs a person's yes, every time", fix)


def _plugins(scope: Scope, *, deep: bool, only: str) -> list[Row]:
    consent, index = scope.consent(), scope.index
    wanted = [index.resolve(only)] if only else index.plugins
    rows, named, clashes = [], set(), slash_clashes(index, consent)
    for fault in (*index.faults, *consent.faults(index)):
        if not only or fault.plugin == wanted[0].label:
            named.add(fault.plugin)
            level = "fault"
            if fault.where == str(scope.home.lock_file):  # the lock says other than what is there
                level = {"discover": "missing", "consent": "asks" if index.get(fault.plugin) else "fault"}[fault.phase]
            rows.append(_row(level, f"{fault.plugin} {fault.version}".strip(), fault.error, fault.hint, fault.phase))
    for plugin in wanted:
        who, state = _who(plugin), consent.state(plugin)
        if plugin.fault is not None or plugin.label in named:
            continue
        if not state.usable:
            fix = f"hermes plugins enable {plugin.label}"
            rows.append(_row("idle", who, f"installed, not in use: {state.reason}", fix))
        else:
            trial = consent.builtin(plugin) and not deep
            rows += [_row("ok", who, str(state))] if trial else probed(scope, plugin)
            rows += (_row("fault", who, f.error, f.hint, f.phase) for f in clashes if f.plugin == plugin.label)
            rows += _changed(scope, plugin)
            rows += _lately(scope, plugin)
    return rows


def _changed(scope: Scope, plugin: Installed) -> Iterable[Row]:
    """Whether files of a plugin are other ones than when it was installed."""
    pinned = scope.consent().pinned(plugin.distribution)
    if pinned is None or not pinned.digest:
        return
    there = installed_contents(plugin.distribution)
    if there is not None and there.version == pinned.version and there.digest != pinned.digest:
        text = "its files changed since it was installed"
        yield _row("fault", _who(plugin), text, f"hermes plugins remove {plugin.label}, then install it again")


def _lately(scope: Scope, plugin: Installed) -> Iterable[Row]:
    """What went wrong in calls of a plugin during the last day."""
    try:
        kept = json.loads((scope.home.cache / "faults.json").read_text(encoding="utf-8")).get(plugin.label, {})
    except (OSError, ValueError):
        return
    for where, fault in kept.items():
        if time.time() - fault["when"] < _A_DAY:
            text = f"{where} ({ago(fault['when'])}): {fault['error']}"
            yield _row("fault", _who(plugin), text, fault["hint"] or "hermes logs", "call")


def probed(scope: Scope, plugin: Installed) -> list[Row]:
    """Try one plugin in a process of its own: what it does there, crash or hang, happens to that process."""
    words = ["-p", scope.home.profile, "doctor", "--probe", plugin.label]
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(scope.distribution), *words]

    def fault(text: str) -> list[Row]:
        who, off = _who(plugin), f"hermes plugins disable {plugin.label}"
        return [_row("fault", who, text, off, "import")]

    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return fault(f"its trial did not end within {_PATIENCE} s")
    if done.returncode < 0:
        CrashMarkers(scope.home.cache / "crash_markers").condemn(plugin)
        return fault(f"its import ended the whole process ({signal.Signals(-done.returncode).name})")
    try:
        rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        said = " ".join(done.stderr.split()[-40:]) or "it said nothing"
        return fault(f"the probe ended with status {done.returncode}: {said}")
    return rows


def _working(scope: Scope, label: str) -> list[Row]:
    """Import one plugin, time it, take what it contributes, and run its checks."""
    runtime = scope.hermes().runtime
    plugin = runtime.index.resolve(label)
    who = _who(plugin)
    runtime.loader.crash_markers.forgive(plugin)
    if runtime.loader.load(plugin):
        for hook, mode in hooks.modes().items():
            if mode == "contribute":
                runtime.dispatch.contributions(hook)
    if found := [f for f in runtime.dispatch.faults if f.plugin == label]:
        return [_row("fault", who, f.error, f.hint, f.phase) for f in found]
    seconds = runtime.loader.loaded[label]
    rows = [_row("slow" if seconds > _SLOW else "ok", who, f"imported in {seconds * 1000:.0f} ms")]

    async def run() -> None:
        for _, one in runtime.dispatch.contributions("register_backends"):
            if not await runtime.dispatch.shielded(label, "ready", one.ready, _PATIENCE):
                fix = "" if type(one).ready is not Backend.ready else "Its author has to define ready()."
                used = runtime.settings.config.terminal.backend == one.name
                rows.append(_row("fault" if fix or used else "idle", who, f"the backend {one.name} is not ready", fix))
        for _, check in runtime.dispatch.contributions("register_checks"):
            if not (check.cheap and runtime.loader.is_own(label)):  # those were run beside this process
                rows.extend(_found(label, finding) for finding in await check.run())

    asyncio.run(run())
    return rows


async def _cheap(scope: Scope, only: str) -> list[Row]:
    """Run the cheap checks of our own plugins. Those of others are run in their trials: importing them may do harm."""
    consent, wanted = scope.consent(), [scope.index.resolve(only)] if only else scope.index.plugins
    owners = [p for p in wanted if p.manifest and p.manifest.contributes["checks"] and consent.builtin(p)]
    rows = []
    try:
        async with scope.hermes() as hermes:
            dispatch = hermes.runtime.dispatch
            for plugin in owners:
                hermes.runtime.loader.load(plugin)
            for label, check in dispatch.contributions("register_checks"):
                if check.cheap:
                    found = await dispatch.shielded(label, f"the check {check.name}", check.run, _PATIENCE) or ()
                    rows += [_found(check.name, finding) for finding in found]
            rows += [_row("fault", f.plugin, f.error, f.hint, f.phase) for f in dispatch.faults]
    except HermesError:
        return []  # why no kernel can be made is told by now
    return rows


async def _in_full(scope: Scope, names: set[str]) -> list[Row]:
    """Run the named checks of plugins, with all there is to try; of backends, those that commands run on."""
    rows, config = [], scope.settings.config
    used = {config.terminal.backend, config.gateway.backend}
    places = {p.label: {*p.manifest.contributes["backends"]} for p in scope.index.plugins if p.manifest}
    async with scope.hermes() as hermes:
        dispatch = hermes.runtime.dispatch
        hermes.runtime.loader.load_contributing("checks", sorted(names))
        for label, check in dispatch.contributions("register_checks"):
            if check.name in names and (not places.get(label) or places[label] & used):
                rows += [_found(label, finding) for finding in await (check.full or check.run)()]
        rows += [_row("fault", f.plugin, f.error, f.hint, f.phase) for f in dispatch.faults]
    return rows or [_row("fault", "doctor", f"no enabled plugin has the check {', '.join(sorted(names))}")]


async def _at_work(scope: Scope, *, deep: bool) -> list[Row]:
    """Whether anybody can answer, and whether tools have a place to work in; ``deep`` asks the model's service."""
    rows = []
    for look in (_model, _backend):
        try:
            async with scope.hermes() as hermes:
                rows.append(await look(hermes.runtime, deep=deep))
                rows += await _besides(hermes.runtime) if look is _backend else ()
        except HermesError as error:
            rows.append(_row("fault", look.__name__[1:], error.text, error.hint))
    return rows


async def _besides(runtime: "Runtime") -> list[Row]:
    """Which tools lack something, and what services did last."""
    runtime.loader.load_contributing("services")
    unmet = runtime.toolbox().unmet(Session(id="", origin="doctor", owner=runtime.owner))
    rows, dispatch = [_row("idle", "tools", f"{n} is hidden: {why}") for n, why in unmet.items()], runtime.dispatch
    for label, one in dispatch.contributions("register_services"):
        if text := await dispatch.shielded(label, f"register_services: {one.name}", one.status, _PATIENCE):
            rows.append(_row("ok", label, f"service {one.name}: {text}"))
    return rows


async def _model(runtime: "Runtime", *, deep: bool) -> Row:
    from hermes_core.agent.route.choice import asked

    if not runtime.index.offered("providers"):
        return _row("fault", "model", "nothing that could answer is installed", f"pip install '{MOST}'")
    route = await runtime.routes.get()
    text, said = f"{route.model} from {route.name}", route.endpoint
    if deep:
        text += f" ({len(await asked(runtime.dispatch, route.provider, 'models'))} models)"
    elif not (said and (said.base_url or said.api_key)) and not await asked(runtime.dispatch, route.provider, "ready"):
        return _row("fault", "model", f"{text} cannot answer yet", f"hermes setup {route.name}")
    return _row("asks" if route.notice else "ok", "model", route.notice or text, route.notice and "hermes setup")


async def _backend(runtime: "Runtime", *, deep: bool) -> Row:
    name = runtime.settings.config.terminal.backend
    runtime.loader.load_contributing("backends", [name])
    found = {one.name: (label, one) for label, one in runtime.dispatch.contributions("register_backends")}
    if name in found and await runtime.dispatch.shielded(found[name][0], "ready", found[name][1].ready, _PATIENCE):
        return _row("ok", "backend", f"commands run on {name}")
    runtime.loader.load_contributing("tools")
    if not runtime.dispatch.contributions("register_tools"):
        return _row("idle", "backend", f"{name} is not there, and no tool needs it")
    owners = runtime.index.contributing("backends", name)
    there, fix = "is not ready", f"hermes doctor --deep --plugin backend/{name}"
    if name not in found:
        there, fix = (
            ("is not enabled", f"hermes plugins enable {owners[0].label}")
            if owners
            else ("is not installed", f"hermes plugins install hermes-backend-{name}")
        )
    return _row("fault", "backend", f"the backend {name} {there}, so no tool can work with files or commands", fix)
