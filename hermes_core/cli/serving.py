"""``hermes gateway run``, ``work``, ``start``, ``stop`` and ``status``."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from hermes_core.cli.loop import run_loop
from hermes_core.cli.scope import Scope
from hermes_core.errors import ConfigError, HermesError, UserError
from hermes_core.gateway.rows.kept import rows_of, unplayed
from hermes_core.gateway.supervision.processes import here, running
from hermes_core.tables import ago, emit, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime
    from hermes_core.kinds import Platform
    from hermes_core.store.store import Store
    from hermes_core.types import Principal

__all__ = ["run", "serve", "start", "status", "stop", "work"]

log = logging.getLogger(__name__)
_FATAL = 78  # exit code for a service manager: a person has to mend this first
_PATIENCE = 20.0  # seconds that stop waits

_health = click.option(
    "--health", metavar="HOST:PORT", default="", help="Listen for probes there, whatever gateway.health says."
)


@click.command()
@click.option("--platform", "names", multiple=True, metavar="NAME", help="Only this platform; can be repeated.")
@click.option("--no-work", is_flag=True, help="Only listen and send; others play the turns.")
@_health
@click.pass_obj
def run(scope: Scope, names: Sequence[str], no_work: bool, health: str) -> int:
    """Serve the configured platforms until stopped (Ctrl+C, SIGTERM).

    A platform is served when it has a section `platforms.NAME`, or its secrets are set.
    """
    return serve(scope, names, work=not no_work, health=health)


@click.command()
@_health
@click.pass_obj
def work(scope: Scope, health: str) -> int:
    """Only play turns: a worker beside gateways that share its store (store.url, workers.engine)."""
    return serve(scope, None, work=True, health=health)


def serve(scope: Scope, names: Sequence[str] | None, *, work: bool, health: str = "") -> int:
    """Serve platforms: those named, with no name those configured, none for None. The exit code."""
    try:
        return run_loop(_serve(scope, names, work=work, health=health))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return _FATAL


async def _serve(scope: Scope, names: Sequence[str] | None, *, work: bool, health: str) -> int:
    from hermes_core.gateway.service import Gateway
    from hermes_core.gateway.supervision.supervised import probes_at, supervised

    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        platforms = [] if names is None else _platforms(runtime, names)
        if names is not None and not platforms and not runtime.index.offered("services"):
            raise UserError(
                "There is no platform to serve.",
                hint="Configure one, such as: hermes config set TELEGRAM_BOT_TOKEN …; see docs/how-to/gateway.md.",
            )
        gateway = Gateway(runtime, platforms, work=work)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop.set)
        telling = asyncio.create_task(_tell(gateway.told))
        asking = asyncio.create_task(_nobody_answers(runtime))
        try:
            store = await runtime.store()
            with here(_folder(scope)):
                config = runtime.settings.config.gateway
                probes = probes_at(health, config.health)
                async with supervised(store.answers, probes, stop, gateway.told, config.drain_seconds):
                    await gateway.run(stop)
        finally:
            telling.cancel()
            asking.cancel()
    return 0


def _folder(scope: Scope) -> Path:
    return scope.home.cache / "gateways"


async def _nobody_answers(runtime: "Runtime") -> None:
    """Say so, and log it, where no model can answer what comes."""
    try:
        await runtime.routed()
    except HermesError as error:
        log.error("nobody can answer: %s", error)
        print(f"Nobody can answer: {error}", file=sys.stderr, flush=True)


async def _tell(told: Callable[[], Sequence[str]]) -> None:
    """Say how the platforms are, whenever that changes."""
    before: Sequence[str] = ()
    while True:
        now = told()
        for line in now:
            if line not in before:
                print(line, file=sys.stderr, flush=True)
        before = now
        await asyncio.sleep(0.2)


def _platforms(runtime: "Runtime", names: Sequence[str]) -> "list[Platform]":
    """The platforms to serve. Raises UnknownName, PluginError, ConfigError."""
    from hermes_core.errors import UnknownName
    from hermes_core.types import Feature

    offered = runtime.index.offered("platforms")
    for name in names:
        if name not in offered:
            raise UnknownName("platform", name, offered, hint=f"pip install hermes-platform-{name}")
    wanted = list(names) or [name for name in offered if _is_configured(runtime, name)]
    if not wanted:
        return []
    runtime.loader.load_contributing("platforms", wanted)
    found = {p.name: p for _, p in runtime.dispatch.contributions("register_platforms")}
    if missing := [name for name in wanted if name not in found]:
        faults = "; ".join(fault.error for fault in runtime.dispatch.faults) or "it is not enabled"
        text = f"Platform {', '.join(sorted(missing))} cannot be served: {faults}"
        if names or len(missing) == len(wanted):
            raise UserError(text)
        print(text, file=sys.stderr)  # the others are served all the same
    return [found[n] for n in wanted if n in found and Feature.LIVE not in found[n].features]


def _is_configured(runtime: "Runtime", name: str) -> bool:
    here = runtime.settings.platform(name)
    if here.enabled is not None:
        return here.enabled
    plugins = runtime.index.contributing("platforms", name)
    secrets = [secret for one in plugins if one.manifest for secret in one.manifest.secrets]
    sections = runtime.settings.raw.get("platforms") or ()  # an empty section is a wish, too
    return name in sections or (bool(secrets) and all(runtime.settings.secrets.get(secret) for secret in secrets[:1]))


@click.command()
@click.option("--platform", "names", multiple=True, metavar="NAME", help="Only this platform; can be repeated.")
@click.pass_obj
def start(scope: Scope, names: Sequence[str]) -> None:
    """Start the gateway in the background. `hermes gateway install` keeps it running over restarts of the machine."""
    folder = _folder(scope)
    if pids := running(folder):
        raise UserError(f"The gateway runs already (process {pids[0]}).", hint=f"See: {scope.name} gateway status")
    words = [sys.argv[0], "-p", scope.home.profile, "gateway", "run", *(f"--platform={name}" for name in names)]
    if not Path(sys.argv[0]).exists() or sys.argv[0].endswith(".py"):
        words[:1] = [sys.executable, "-m", "hermes_core"]
    scope.home.logs.mkdir(parents=True, exist_ok=True)
    with (scope.home.logs / "gateway.out").open("ab") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    end = time.monotonic() + _PATIENCE
    while process.pid not in running(folder):
        if process.poll() is not None or time.monotonic() > end:
            told = (scope.home.logs / "gateway.out").read_text("utf-8", "replace").strip().splitlines()[-3:]
            raise UserError("The gateway did not start.", hint="\n".join(told))
        time.sleep(0.1)
    click.echo(f"The gateway runs (process {process.pid}). See: {scope.name} gateway status", err=True)


@click.command()
@click.pass_obj
def stop(scope: Scope) -> None:
    """Stop the gateway of this home, and wait until it has."""
    pids = running(_folder(scope))
    if not pids:
        raise UserError("No gateway of this home runs here.")
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + _PATIENCE
    while left := running(_folder(scope)):
        if time.monotonic() > end:
            raise UserError(f"Process {left[0]} has not stopped yet.", hint=f"kill -9 {left[0]} loses nothing.")
        time.sleep(0.1)
    click.echo("Stopped.", err=True)


@click.command()
@json_option
@click.pass_obj
def status(scope: Scope, as_json: bool) -> None:
    """What is served, and what waits to be answered or sent."""

    async def look(store: "Store", _owner: "Principal") -> dict[str, object]:
        states: Counter[str] = Counter()
        for (_, _, state), number in (await rows_of(store).outbox.outbox_counts()).items():
            states[state] += number
        rows = [one for one in await store.accounts.list() if one.served or one.state == "parked"]
        return {
            "processes": running(_folder(scope)),
            "accounts": [
                {"platform": a.platform, "account": a.account, "state": a.state, "since": a.since, "error": a.error}
                for a in rows
            ],
            "unplayed": len(await unplayed(store, limit=10_000)),
            "outbox": dict(states),
        }

    found = scope.with_store(look)
    if as_json:
        emit([found], (), as_json=True, empty="")
        return
    pids = found["processes"]
    click.echo(f"Processes here: {', '.join(map(str, pids)) or 'none'}" if isinstance(pids, list) else "")
    rows = found["accounts"]
    shown = [{**row, "since": ago(row["since"])} for row in rows] if isinstance(rows, list) else []
    emit(shown, ("platform", "account", "state", "since", "error"), as_json=False, empty="No account is served.")
    states = found["outbox"]
    waits = states if isinstance(states, dict) else {}
    click.echo(
        f"Conversations in which something waits: {found['unplayed']}. To be sent: "
        f"{waits.get('waiting', 0) + waits.get('sending', 0)}. Given up: {waits.get('failed', 0)}."
    )
