"""``hermes resume``: what was begun when the process died is finished, without new input."""

import asyncio
import contextlib
import sys

import click

from hermes_core.cli.chat import show_answer
from hermes_core.cli.scope import Scope
from hermes_core.embed import Hermes
from hermes_core.tables import emit, json_option
from hermes_core.types import Ended, Failed

__all__ = ["resume"]


@click.command()
@click.argument("which", default="", metavar="[ID|TITLE]")
@click.option("--drop", is_flag=True, help="Finish nothing: give the interrupted turns up.")
@json_option
@click.pass_obj
def resume(scope: Scope, which: str, drop: bool, as_json: bool) -> int:
    """Finish interrupted turns and print their answers: of all sessions, or of one.

    Nothing that was finished is done again. A call that was running is told to the model as of unknown outcome. Exit 1
    when a turn could not be finished.
    """
    return asyncio.run(_resume(scope, which, drop=drop, as_json=as_json))


async def _resume(scope: Scope, which: str, *, drop: bool, as_json: bool) -> int:
    reasons = set()
    async with scope.hermes() as hermes:
        store, owner = await hermes.runtime.store(), hermes.runtime.owner
        for session in [(await store.find_session(which, owner)).id] if which else await hermes.interrupted():
            for row in await (_drop if drop else _finish)(hermes, session, as_json):
                reasons.add(row["reason"])
                if as_json:
                    emit([{"session_id": session, **row}], (), as_json=True, empty="")
    if not reasons:
        print("No turn was interrupted.", file=sys.stderr)
    return int("failed" in reasons)


async def _finish(hermes: Hermes, session: str, quiet: bool) -> list[dict[str, str]]:
    """Finish the turn of a session and play what waits in it; a row for each turn."""
    rows, error = [], ""
    async with contextlib.aclosing(hermes.catch_up(session)) as turns:
        async for event in turns:
            if isinstance(event, Failed):
                error = event.text
            elif isinstance(event, Ended):
                rows.append({"turn_id": event.turn_id, "reason": event.reason, "answer": event.answer, "error": error})
                error = ""
            if not quiet:
                show_answer(event)
    if rows and not quiet:
        print(f"session {session}", file=sys.stderr)
    return rows


async def _drop(hermes: Hermes, session: str, quiet: bool) -> list[dict[str, str]]:
    """Close the turn of a session as it is, and give up what waits."""
    store = await hermes.runtime.store()
    waited = await store.drop_waiting(session)
    taken = await store.resume_turn(session, holder=hermes.runtime.sessions.holder)
    if taken is not None:
        await store.close_turn(taken.turn, state="interrupted")
    if not quiet and (waited or taken):
        given_up = [*(["the interrupted turn"] if taken else []), *([f"{waited} waiting"] if waited else [])]
        print(f"session {session}: {' and '.join(given_up)} was given up.", file=sys.stderr)
    turn_id = taken.turn.id if taken else ""
    return [{"turn_id": turn_id, "reason": "interrupted", "answer": "", "error": ""}] if taken or waited else []
