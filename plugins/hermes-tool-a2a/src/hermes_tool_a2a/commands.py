"""``hermes a2a``: agents elsewhere, asked by a person."""

import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_a2a.config import AgentSettings
from hermes_tool_a2a.known import config_of, names, safe_name

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made: dict[str, Callable[[PluginContext], click.Command]] = {"a2a list": _list, "a2a card": _card, "a2a ask": _ask}
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    def command(as_json: bool) -> None:
        """Print the agents that tools.a2a.agents names: where they are, and whether a model asks you first."""
        rows = [_row(name, config_of(ctx).agents[name], as_json=as_json) for name in names(ctx)]
        empty = f"No agent is named. {ctx.program} config set tools.a2a.agents.NAME.url https://…"
        emit(rows, ("name", "url", "key", "asks"), as_json=as_json, empty=empty)

    return command


def _row(name: str, one: AgentSettings, *, as_json: bool) -> dict[str, object]:
    key = one.key.reference or ("set" if one.key else "")
    return {"name": name, "url": one.url, "key": key, "asks": one.ask if as_json else "yes" if one.ask else "no"}


def _card(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("card")
    @click.argument("name")
    @click.option("--json", "as_json", is_flag=True, help="Print the card as it came.")
    async def command(name: str, as_json: bool) -> None:
        """Fetch the card of the agent NAME, and print what it says of itself. They are its words."""
        import json

        import httpx
        from a2a.utils.errors import A2AError
        from google.protobuf.json_format import MessageToDict

        from hermes_tool_a2a.asking import wrong
        from hermes_tool_a2a.wire import card_of

        try:
            card = await card_of(ctx, name)
        except (A2AError, httpx.HTTPError, ValueError) as error:
            raise UserError(f"{name} could not be asked: {wrong(error)}") from None
        if as_json:
            click.echo(json.dumps(MessageToDict(card), ensure_ascii=False))
            return
        lines = [f"{card.name} {card.version}".strip(), card.description]
        lines += [f"  {one.protocol_binding} {one.protocol_version}  {one.url}" for one in card.supported_interfaces]
        lines += [f"  {one.name}: {one.description}" for one in card.skills]
        _print("\n".join(lines))

    return command


def _ask(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("ask")
    @click.argument("name")
    @click.argument("words", nargs=-1, metavar="[TEXT]")
    @click.option("--conversation", default="", help="Go on in this conversation, as an answer named it.")
    @click.option("--task", default="", help="Answer the question of this task; without TEXT, look at it.")
    @click.option("--key", default="", help="The id of the message; an agent may do what comes twice under one once.")
    @click.option(
        "--files", type=click.Path(file_okay=False, path_type=Path), help="Keep the files of the answer here."
    )
    async def command(
        name: str, words: tuple[str, ...], conversation: str, task: str, key: str, files: Path | None
    ) -> None:
        """Ask the agent NAME, and print its answer. TEXT may stand on standard input."""
        from hermes_tool_a2a.asking import ask, look

        text, seconds = " ".join(words), config_of(ctx).seconds
        if not words and not task:
            if sys.stdin.isatty():
                raise UserError("There is nothing to say.", hint="Say it behind the name, or pipe it in.")
            text = sys.stdin.read()
        if text.strip():
            reply = await ask(
                ctx, name, text, key or secrets.token_hex(16), task=task, conversation=conversation, seconds=seconds
            )
        elif task:
            reply = await look(ctx, name, task, seconds=seconds)
        else:
            raise UserError("There is nothing to say.")
        _print(reply.text)
        for number, (called, data) in enumerate(reply.files, 1):
            _kept(files, f"{number}-{safe_name(called)}", data)
        more = f", task {reply.task}" if reply.state != "completed" else ""
        _print(f"{reply.state}; conversation {reply.conversation}{more}", err=True)
        if reply.state in ("failed", "rejected", "canceled"):
            raise UserError(f"The task is {reply.state}.")

    return command


def _kept(folder: Path | None, name: str, data: bytes) -> None:
    """Keep a file where a person said; over none that is there."""
    if folder is None:
        _print(f"[{name}: {len(data):,} bytes; --files FOLDER keeps it]", err=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / name).open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise UserError(f"{folder / name} is there already.") from None
    _print(f"[{folder / name}]", err=True)


def _print(text: str, *, err: bool = False) -> None:
    """Print what an agent said; it drives no terminal."""
    import click

    from hermes_platform_kit.clean import clean

    click.echo(clean(text), err=err)
