"""``hermes gateway dead``: the messages that were given up, why, and sending them again."""

from collections.abc import Sequence

import click

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import OutboxRow
from hermes_tables.tables import ago, emit, json_option, visible

__all__ = ["make_dead"]

_WORDS = 40  # characters of a message that a table shows
_MOST = 10_000  # rows that are looked at; those of a week are kept


def make_dead(ctx: PluginContext) -> click.Command:
    """``gateway dead`` with ``list``, which is meant where no word follows, and ``send``."""

    @click.group(invoke_without_command=True)
    @json_option
    @click.pass_context
    def dead(context: click.Context, as_json: bool) -> None:
        """The messages that were given up, and why; `send` tries them again. They are kept for a week."""
        if context.invoked_subcommand is None and isinstance(context.command, click.Group):
            context.invoke(context.command.commands["list"], as_json=as_json)

    @dead.command("list")
    @json_option
    async def list_dead(as_json: bool) -> None:
        """List the messages that were given up, and why; it is what `dead` alone does."""
        rows = [_shown(row, as_json=as_json) for row in await _given_up(ctx)]
        columns = ("number", "to", "person", "given_up", "text", "why")
        emit(rows, columns, as_json=as_json, empty="No message was given up.")

    @dead.command()
    @click.argument("numbers", type=int, nargs=-1, metavar="[NUMBER]...")
    @click.option("--all", "everything", is_flag=True, help="All that are listed.")
    @json_option
    async def send(numbers: Sequence[int], everything: bool, as_json: bool) -> None:
        """Send messages again that were given up. One that may have arrived says that it may be repeated.

        They are sent as soon as a gateway serves their account; what of them arrived is not sent twice.
        """
        there = {row.id: row for row in await _given_up(ctx)}
        if everything == bool(numbers):
            raise UserError("Say which ones, or --all.", hint=f"See: {ctx.program} gateway dead")
        for number in numbers:
            if number not in there:
                hint = f"See: {ctx.program} gateway dead"
                raise UnknownName("given up message", str(number), map(str, there), hint=hint)
        outbox = rows_of(ctx).outbox
        again = [n for n in (sorted(there) if everything else numbers) if await outbox.send_again(n)]
        if as_json:
            emit([{"number": number, "state": "waiting"} for number in again], (), as_json=True, empty="")
        else:
            click.echo(f"To be sent again: {len(again)}.")

    return dead


async def _given_up(ctx: PluginContext) -> list[OutboxRow]:
    rows = await rows_of(ctx).outbox.outbox_of(state="failed", limit=_MOST)
    return [row for row in rows if row.outgoing.owner.profile == ctx.owner.profile]


def _shown(row: OutboxRow, *, as_json: bool) -> dict[str, object]:
    out, text = row.outgoing, plain_text(row.outgoing.message.parts)
    to = ":".join(filter(None, (out.platform, out.chat.id, out.chat.thread)))
    known: dict[str, object] = {"number": row.id, "to": to, "person": out.owner.person}
    if as_json:
        more = {"account": out.account, "kind": out.kind, "trace": out.trace, "turn": out.turn_id}
        return {**known, **more, "given_up": row.sent, "text": text, "why": row.error}
    words = visible(" ".join(text.split()))
    shown = words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…"
    return {**known, "to": visible(to), "given_up": ago(row.sent), "text": shown, "why": visible(row.error)}
