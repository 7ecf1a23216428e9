"""``hermes send``: a message to a chat, from a shell or a script."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Message, Target, Text

if TYPE_CHECKING:
    import click

__all__ = ["send"]


def send(ctx: PluginContext) -> "click.Command":
    """``send``."""
    import click

    @click.command()
    @click.argument("words", nargs=-1, metavar="[TEXT]")
    @click.option(
        "-t", "--to", "target", default="", metavar="TARGET", help="PLATFORM, PLATFORM:CHAT[:THREAD], a name."
    )
    @click.option("-f", "--file", default="", metavar="FILE", help="What the message says; - is standard input.")
    @click.option("-s", "--subject", default="", help="A first line, in bold.")
    @click.option("-l", "--list", "listing", is_flag=True, help="The chats there are.")
    @click.option("-q", "--quiet", is_flag=True, help="Say nothing where it works.")
    @click.option("--key", default="", help="What is sent twice with one key is sent once.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
    async def command(
        words: tuple[str, ...],
        target: str,
        file: str,
        subject: str,
        listing: bool,
        quiet: bool,
        key: str,
        as_json: bool,
    ) -> None:
        """Send TEXT to a chat of yours; without TEXT, what stands on standard input.

        It is written down at once, and goes out as soon as a gateway serves the chat. PLATFORM alone is your home chat
        there, and `all` every home.

        \b
        Examples:
          hermes send -t telegram "The build is done."
          make 2>&1 | tail -5 | hermes send -t all -s Build
        """
        if listing:
            _show(await ctx.messages.targets(ctx.owner), as_json=as_json)
            return
        if not target:
            raise UserError(
                "There is no chat to send it to.", hint=f"Say one with --to; {ctx.program} send -l lists them."
            )
        text = _text(words, file)
        said = f"**{subject}**\n\n{text}" if subject else text
        message = Message(role="assistant", parts=(Text(text=said),))
        sent = await ctx.messages.send(ctx.owner, target, message, key=key)
        if as_json:
            _show(sent, as_json=True)
        elif not quiet:
            for one in sent:
                waits = "" if one.served else "; no gateway serves it now, so it waits for one"
                click.echo(f"Sent to {one.name or one.address}{waits}.", err=True)

    return command


def _text(words: tuple[str, ...], file: str) -> str:
    if words and file:
        raise UserError("Say TEXT or --file, not both.")
    if not words and file in ("", "-"):
        if file == "" and sys.stdin.isatty():
            raise UserError("There is nothing to send.", hint="Say it behind the command, or pipe it in.")
        text = sys.stdin.read()
    elif file:
        try:
            text = Path(file).expanduser().read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    else:
        text = " ".join(words)
    if not text.strip():
        raise UserError("There is nothing to send.", hint="It is empty.")
    return text.rstrip("\n")


def _show(targets: Sequence[Target], *, as_json: bool) -> None:
    from hermes_tables.tables import emit

    rows = [
        {"target": one.address, "name": one.name, "kind": one.kind, "home": one.home if as_json else "*" * one.home,
         "served": one.served if as_json else ("yes" if one.served else ""), "dead": one.dead}
        for one in targets
    ]  # fmt: skip
    emit(rows, ("target", "name", "kind", "home", "served", "dead"), as_json=as_json, empty="No chat is known yet.")
