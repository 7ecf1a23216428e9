"""``hermes events``: who is told what happens here, and what became of it."""

import secrets
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Command
from hermes_tool_events.config import Config
from hermes_tool_events.hearing import rows_of
from hermes_tool_events.values import Told

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made = {"events list": _list, "events test": _test, "events log": _log, "events again": _again}
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    async def command(as_json: bool) -> None:
        """Print who is told what happens here: the settings below tools.events.targets."""
        config: Config = ctx.config or Config()
        rows = [
            {
                "name": name,
                "kind": one.kind,
                "events": " ".join(one.events) or "all",
                "origins": " ".join(one.origins) or "all",
                "to": ctx.masks.text(one.to),
            }
            for name, one in config.targets.items()
        ]
        empty = f"Nobody. {ctx.program} config set tools.events.targets.phone.to https://ntfy.sh/TOPIC"
        emit(rows, ("name", "kind", "events", "origins", "to"), as_json=as_json, empty=empty)

    return command


def _test(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("test")
    @click.argument("name")
    async def command(name: str) -> None:
        """Tell NAME now that this is a test, and say whether it was taken."""
        from hermes_tool_events.sending import send
        from hermes_tool_events.telling import event_of

        config: Config = ctx.config or Config()
        if name not in config.targets:
            raise UnknownName("target", name, list(config.targets))
        data = {"subject": "This is a test.", "session": "none"}
        event, body = event_of("test", secrets.token_hex(8), time.time(), data)
        await send(ctx, config.targets[name], config.mail, Told(event=event, target=name, name="test", body=body))
        click.echo(f"{name} took it.", err=True)

    return command


def _log(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import ago, emit, json_option

    @click.command("log")
    @click.option("--dead", is_flag=True, help="Only what was given up.")
    @click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
    @json_option
    async def command(dead: bool, limit: int, as_json: bool) -> None:
        """Print what was told, newest first, and what could not be."""

        def row(one: Told) -> Mapping[str, object]:
            when = one.created if as_json else ago(one.created)
            known = {"id": one.id, "target": one.target, "event": one.name, "state": one.state}
            return {**known, "tries": one.tries, "when": when, "note": one.note}

        rows = [row(one) for one in await rows_of(ctx).log("dead" if dead else "", limit)]
        columns = ("id", "target", "event", "state", "tries", "when", "note")
        emit(rows, columns, as_json=as_json, empty="Nothing was told.")

    return command


def _again(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("again")
    @click.argument("number", metavar="ID|all")
    async def command(number: str) -> None:
        """Tell again what was given up; `hermes events log --dead` has its ID."""
        wanted = int(number) if number.isdigit() else 0
        many = await rows_of(ctx).again(wanted) if wanted or number == "all" else 0
        if not many:
            dead = [str(one.id) for one in await rows_of(ctx).log("dead")]
            raise UnknownName("event that was given up", number, [*dead, "all"] if dead else [])
        click.echo(f"{many} to be told again by the gateway.", err=True)

    return command
