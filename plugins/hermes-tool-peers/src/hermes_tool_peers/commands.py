"""``hermes peer``: the agents of other profiles, asked by a person."""

import json
import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_peers.asking import ask, config_of, me, profiles

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made: dict[str, Callable[[PluginContext], click.Command]] = {
        "peer list": _list, "peer ask": partial(_tell, later=False), "peer send": partial(_tell, later=True),
        "peer take": _take,
    }  # fmt: skip
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    def command(as_json: bool) -> None:
        """Print the profiles of this machine: whom a model here asks without your yes, and whom it answers."""
        config, here = config_of(ctx), me(ctx)
        rows = [
            {"name": one, "here": _said(one == here, as_json), "asked": _said(one in config.ask, as_json),
             "answered": _said(one != here and ("*" in config.take or one in config.take), as_json)}
            for one in profiles(ctx)
        ]  # fmt: skip
        emit(rows, ("name", "here", "asked", "answered"), as_json=as_json, empty="")

    return command


def _said(holds: bool, as_json: bool) -> object:
    return holds if as_json else "yes" if holds else ""


def _tell(ctx: PluginContext, *, later: bool) -> "click.Command":
    import click

    @click.command("send" if later else "ask")
    @click.argument("name")
    @click.argument("words", nargs=-1, metavar="[TEXT]")
    @click.option("--key", default="", help="What is said twice with one key is said once.")
    @click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
    async def command(name: str, words: tuple[str, ...], key: str, as_json: bool) -> None:
        text = " ".join(words)
        if not words:
            if sys.stdin.isatty():
                raise UserError("There is nothing to say.", hint="Say it behind the name, or pipe it in.")
            text = sys.stdin.read()
        found = await ask(ctx, name, text, key or secrets.token_hex(8), later=later)
        if as_json:
            click.echo(json.dumps(dict(found), ensure_ascii=False))
        elif later:
            click.echo(f"{name} has it. Its gateway plays it.", err=True)
        else:
            click.echo(str(found.get("answer", "")))

    command.help = (
        "Leave TEXT for the agent of the profile NAME, or what stands on standard input. Its gateway plays it; its "
        "answer goes where tools.peers.deliver of that profile says."
        if later
        else "Ask the agent of the profile NAME, and print its answer. It takes TEXT, or what stands on standard "
        "input, for words of another agent: it writes, runs and sends nothing for it."
    )
    return command


def _take(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("take")
    async def command() -> None:
        """Take what the agent of another profile says, as JSON on standard input, and print its answer."""
        from hermes_tool_peers.taking import take

        click.echo(json.dumps(dict(await take(ctx, sys.stdin.read())), ensure_ascii=False))

    return command
