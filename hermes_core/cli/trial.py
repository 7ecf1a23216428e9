"""Plugins tried out for doctor: in a process of their own, and their checks beside it."""

import asyncio
import json
import signal
import subprocess
import sys
from functools import partial

from hermes_core import hooks
from hermes_core.cli.scope import Scope
from hermes_core.errors import HermesError
from hermes_core.kinds import Backend
from hermes_core.plugins.crash_markers import CrashMarkers
from hermes_core.plugins.index import Installed
from hermes_core.types import Finding, Principal

__all__ = ["PATIENCE", "Row", "cheap", "in_full", "named", "probed", "row", "working"]

Row = dict[str, str]

PATIENCE = 10  # seconds a plugin may take to be imported and to register before doctor gives up on it
_SLOW = 0.5  # seconds of import from which doctor says so
# A distribution is a value: the probe is the same product in another process.
_PROGRAM = "import sys, json, hermes_core; hermes_core.Distribution(*json.loads(sys.argv[1])).cli(sys.argv[2:])"


def row(level: str, who: str, text: str, fix: str = "", phase: str = "") -> Row:
    """Make a row of what doctor finds; ``phase`` is what a plugin was at when it failed."""
    return {"level": level, "who": who, "phase": phase, "text": text, "fix": fix}


def named(one: Installed) -> str:
    """Name a plugin with its version."""
    return f"{one.label} {one.version}".strip()


def _found(label: str, finding: Finding) -> Row:
    return row("asks" if finding.level == "warning" else finding.level, label, finding.text, finding.fix)


def probed(scope: Scope, plugin: Installed) -> list[Row]:
    """Try one plugin in a process of its own: what it does there, crash or hang, happens to that process."""
    words = ["-p", scope.home.profile, "doctor", "--probe", plugin.label]
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(scope.distribution), *words]
    fault = partial(row, "fault", named(plugin), fix=f"hermes plugins disable {plugin.label}", phase="import")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return [fault(f"its trial did not end within {PATIENCE} s")]
    if done.returncode < 0:
        CrashMarkers(scope.home.cache / "crash_markers").condemn(plugin)
        return [fault(f"its import ended the whole process ({signal.Signals(-done.returncode).name})")]
    try:
        rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        said = " ".join(done.stderr.split()[-40:]) or "it said nothing"
        return [fault(f"the probe ended with status {done.returncode}: {said}")]
    return rows


def working(scope: Scope, label: str) -> list[Row]:
    """Import one plugin, time it, take what it contributes, and run its checks."""
    runtime = scope.hermes().runtime
    plugin = runtime.index.resolve(label)
    who = named(plugin)
    runtime.loader.crash_markers.forgive(plugin)
    if runtime.loader.load(plugin):
        for hook, mode in hooks.modes().items():
            if mode == "contribute":
                runtime.dispatch.contributions(hook)
    if found := [f for f in runtime.dispatch.faults if f.plugin == label]:
        return [row("fault", who, f.error, f.hint, f.phase) for f in found]
    seconds = runtime.loader.loaded[label]
    rows = [row("slow" if seconds > _SLOW else "ok", who, f"imported in {seconds * 1000:.0f} ms")]

    async def run() -> None:
        for _, one in runtime.dispatch.contributions("register_backends"):
            if not await runtime.dispatch.shielded(label, "ready", one.ready, PATIENCE):
                fix = "" if type(one).ready is not Backend.ready else "Its author has to define ready()."
                used = runtime.settings.config.terminal.backend == one.name
                rows.append(row("fault" if fix or used else "idle", who, f"the backend {one.name} is not ready", fix))
        for _, check in runtime.dispatch.contributions("register_checks"):
            if not (check.cheap and runtime.loader.is_own(label)):  # those were run beside this process
                rows.extend(_found(label, finding) for finding in await check.run())

    asyncio.run(run())
    return rows


async def cheap(scope: Scope, only: str) -> list[Row]:
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
                    found = await dispatch.shielded(label, f"the check {check.name}", check.run, PATIENCE) or ()
                    rows += [_found(check.name, finding) for finding in found]
            ours = {plugin.label for plugin in owners}  # those of others are told by their trials
            rows += [row("fault", f.plugin, f.error, f.hint, f.phase) for f in dispatch.faults if f.plugin in ours]
    except HermesError:
        return []  # why no kernel can be made is told by now
    return rows


async def in_full(scope: Scope, names: set[str]) -> list[Row]:
    """Run the named checks of plugins, with all there is to try; of backends, those that commands run on."""
    rows, guest = [], Principal(person="guest")
    places = {p.label: {*p.manifest.contributes["backends"]} for p in scope.index.plugins if p.manifest}
    async with scope.hermes() as hermes:
        dispatch, config = hermes.runtime.dispatch, hermes.runtime.settings.config
        used = {config.terminal.backend, hermes.runtime.workspaces.backend(guest)}
        hermes.runtime.loader.load_contributing("checks", sorted(names))
        for label, check in dispatch.contributions("register_checks"):
            if check.name in names and (not places.get(label) or places[label] & used):
                rows += [_found(label, finding) for finding in await (check.full or check.run)()]
        rows += [row("fault", f.plugin, f.error, f.hint, f.phase) for f in dispatch.faults]
    return rows or [row("fault", "doctor", f"no enabled plugin has the check {', '.join(sorted(names))}")]
