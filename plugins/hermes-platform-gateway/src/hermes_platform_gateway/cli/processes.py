"""``hermes gateway start``, ``stop`` and ``status``: the processes of this home, and what they have to do."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_platform_gateway.cli.systemd import profile_of
from hermes_platform_gateway.supervision.processes import running
from hermes_tables.tables import ago, emit, json_option

__all__ = ["folder_of", "make_start", "make_status", "make_stop"]

_PATIENCE = 20.0  # seconds that start and stop wait


def folder_of(ctx: PluginContext) -> Path:
    """Where the processes of a home are known."""
    return ctx.paths.cache / "processes"


def make_start(ctx: PluginContext) -> click.Command:
    """``gateway start``."""

    @click.command()
    @click.option("--platform", "names", multiple=True, metavar="NAME", help="Only this platform; can be repeated.")
    def start(names: Sequence[str]) -> None:
        """Start the gateway in the background. `hermes gateway install` keeps it running over restarts."""
        folder, said = folder_of(ctx), ctx.paths.home / "logs" / "gateway.out"
        if pids := running(folder):
            raise UserError(f"The gateway runs already (process {pids[0]}).", hint=f"See: {ctx.program} gateway status")
        profile = profile_of(ctx.paths.home)
        words = [sys.argv[0], "-p", profile, "gateway", "run", *(f"--platform={name}" for name in names)]
        if not Path(sys.argv[0]).exists() or sys.argv[0].endswith(".py"):
            words[:1] = [sys.executable, "-m", "hermes_core"]
        said.parent.mkdir(parents=True, exist_ok=True)
        with said.open("ab") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        end = time.monotonic() + _PATIENCE
        while process.pid not in running(folder):
            if process.poll() is not None or time.monotonic() > end:
                told = said.read_text("utf-8", "replace").strip().splitlines()[-3:]
                raise UserError("The gateway did not start.", hint="\n".join(told))
            time.sleep(0.1)
        click.echo(f"The gateway runs (process {process.pid}). See: {ctx.program} gateway status", err=True)

    return start


def make_stop(ctx: PluginContext) -> click.Command:
    """``gateway stop``."""

    @click.command()
    def stop() -> None:
        """Stop the gateway of this home, and wait until it has."""
        pids = running(folder_of(ctx))
        if not pids:
            raise UserError("No gateway of this home runs here.")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + _PATIENCE
        while left := running(folder_of(ctx)):
            if time.monotonic() > end:
                raise UserError(f"Process {left[0]} has not stopped yet.", hint=f"kill -9 {left[0]} loses nothing.")
            time.sleep(0.1)
        click.echo("Stopped.", err=True)

    return stop


def make_status(ctx: PluginContext) -> click.Command:
    """``gateway status``."""

    @click.command()
    @json_option
    async def status(as_json: bool) -> None:
        """What is served, and what waits to be answered or sent."""
        from hermes_platform_gateway.rows.kept import rows_of, unplayed

        states: Counter[str] = Counter()
        for (_, _, state), number in (await rows_of(ctx).outbox.outbox_counts()).items():
            states[state] += number
        served = [one for one in await rows_of(ctx).accounts.list() if one.served or one.state == "parked"]
        accounts: list[dict[str, object]] = [
            {"platform": a.platform, "account": a.account, "state": a.state, "since": a.since, "error": a.error}
            for a in served
        ]
        waiting, pids = len(await unplayed(ctx, limit=10_000)), running(folder_of(ctx))
        services = {one.name: said for one in ctx.host.services() if (said := await one.status())}
        if as_json:
            found = {
                "processes": pids, "accounts": accounts, "unplayed": waiting, "outbox": dict(states),
                "services": services,
            }  # fmt: skip
            emit([found], (), as_json=True, empty="")
            return
        click.echo(f"Processes here: {', '.join(map(str, pids)) or 'none'}")
        rows = [{**row, "since": ago(one.since)} for row, one in zip(accounts, served, strict=True)]
        emit(rows, ("platform", "account", "state", "since", "error"), as_json=False, empty="No account is served.")
        click.echo(
            f"Conversations in which something waits: {waiting}. To be sent: "
            f"{states['waiting'] + states['sending']}. Given up: {states['failed']}"
            + (f" (see: {ctx.program} gateway dead)." if states["failed"] else ".")
        )
        if states["held"]:
            click.echo(f"Held until quiet hours are over: {states['held']}.")
        for name, said in services.items():
            click.echo(f"{name}: {said}")

    return status
