"""``hermes why``: what became of a message."""

import json
import time
from collections.abc import Sequence

import click
from attrs import asdict

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import MessageTrace
from hermes_tables.tables import emit, json_option
from hermes_tool_commands.message_path import TraceStep, steps, verdict

__all__ = ["make_why"]


def make_why(ctx: PluginContext) -> click.Command:
    """``why``."""

    @click.command()
    @click.argument("message", default="latest")
    @json_option
    async def why(message: str, as_json: bool) -> int:
        """Print the path of a message: what was received, the turn, model and tool calls, what was sent, the receipt.

        MESSAGE is a trace (as logs and receipts have it), a turn, an event or message id of a platform, the number of a
        row of the outbox, or `latest`. The last line says where it stopped, and what to do. Ends with status 1 when the
        answer has not arrived.
        """
        path = _only(ctx.program, message, await ctx.sessions.traces(ctx.owner, message, everybody=True))
        arrived, words = verdict(path, ctx.program)
        if as_json:
            told = {"trace": path.trace, "arrived": arrived, "verdict": words}
            told["steps"] = [asdict(step) for step in steps(path)]
            rows = {"received": list(path.received), "turns": list(path.turns), "outgoing": list(path.outgoing)}
            click.echo(json.dumps(told | rows, default=str))
        else:
            _print(path, steps(path))
            click.echo(words)
        return 0 if arrived else 1

    return why


def _only(program: str, message: str, found: Sequence[MessageTrace]) -> MessageTrace:
    """The one that was meant. Raises UnknownName, UserError when there are several."""
    if not found and message == "latest":
        raise UserError("No message yet.", hint="Say something: `hermes -z TEXT`, or write to your bot.")
    if not found:
        hint = f"`{program} logs --json` shows traces; `{program} why` the last message."
        raise UnknownName("message", message, hint=hint)
    if len(found) > 1:
        names = "\n".join(f"  {_name(path)}  {_came(path)}" for path in found[:10])
        raise UserError(f"{message} names several messages:\n{names}", hint="Say which, by the word in front.")
    return found[0]


def _print(path: MessageTrace, taken: Sequence[TraceStep]) -> None:
    day = time.strftime("%Y-%m-%d", time.localtime(taken[0].at)) if taken else ""
    click.secho(f"Message {_name(path)}, {day}", bold=True)
    rows = [
        {
            "time": f"{time.strftime('%H:%M:%S', time.localtime(step.at))}.{int(step.at % 1 * 1000):03d}",
            "step": step.step,
            "what": step.what,
            "took": f"{step.seconds:.2f} s" if step.seconds else "",
            "outcome": step.outcome,
        }
        for step in taken
    ]
    emit(rows, ("time", "step", "what", "took", "outcome"), as_json=False, empty="")


def _name(path: MessageTrace) -> str:
    return str(path.trace or path.turns[0]["id"])


def _came(path: MessageTrace) -> str:
    row = path.received[0] if path.received else None
    when = row["received"] if row else path.turns[0]["started"] if path.turns else path.outgoing[0]["created"]
    where = row["platform"] if row else ""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(when))} {where}"
