"""``hermes resume``: what was begun when the process died is finished, without new input."""

import contextlib

import click

from hermes_core.context import PluginContext
from hermes_core.types import Ended, Failed
from hermes_platform_cli.commands.leaving import Leaving
from hermes_platform_kit.answers import Answers
from hermes_tables.tables import emit, json_option

__all__ = ["make_resume"]


def make_resume(ctx: PluginContext) -> click.Command:
    """``resume``."""

    @click.command()
    @click.argument("which", default="", metavar="[ID|TITLE]")
    @click.option("--drop", is_flag=True, help="Finish nothing: give the interrupted turns up.")
    @json_option
    async def resume(which: str, drop: bool, as_json: bool) -> int:
        """Finish interrupted turns and print their answers: of all sessions, or of one.

        Nothing that was finished is done again. A command that still runs is waited for; of any other call that was
        running the model is told that its outcome is unknown.
        Exit 1 when a turn could not be finished.
        """
        reasons = set()
        found = [(await ctx.sessions.find(ctx.owner, which)).id] if which else await ctx.turns.interrupted()
        async with Leaving(ctx) as leaving:
            for session in found:
                for row in await (_drop if drop else _finish)(ctx, session, as_json):
                    reasons.add(row["reason"])
                    if as_json:
                        emit([{"session_id": session, **row}], (), as_json=True, empty="")
        leaving.end()
        if not reasons:
            click.echo("No turn was interrupted.", err=True)
        return int("failed" in reasons)

    return resume


async def _finish(ctx: PluginContext, session: str, quiet: bool) -> list[dict[str, str]]:
    """Finish the turn of a session and play what waits in it; a row for each turn."""
    rows: list[dict[str, str]] = []
    error, more = "", True
    while more:
        more = False
        async with contextlib.aclosing(ctx.turns.resume(session)) as events:
            async for event in events:
                if isinstance(event, Failed):
                    error = event.text
                elif isinstance(event, Ended):
                    rows.append(
                        {"turn_id": event.turn_id, "reason": event.reason, "answer": event.answer, "error": error}
                    )
                    error, more = "", bool(event.turn_id)  # what could not even begin is not tried again
                if not quiet:
                    Answers().answer(event)
    if rows and not quiet:
        click.echo(f"session {session}", err=True)
    return rows


async def _drop(ctx: PluginContext, session: str, quiet: bool) -> list[dict[str, str]]:
    """Close the turn of a session as it is, and give up what waits."""
    turn_id, waited = await ctx.turns.drop(session)
    if not quiet and (waited or turn_id):
        given_up = [*(["the interrupted turn"] if turn_id else []), *([f"{waited} waiting"] if waited else [])]
        click.echo(f"session {session}: {' and '.join(given_up)} was given up.", err=True)
    row = {"turn_id": turn_id, "reason": "interrupted", "answer": "", "error": ""}
    return [row] if turn_id or waited else []
