"""The slash commands by which a person begins anew, stops, and leaves. All others are plugins'."""

from collections.abc import Iterator, Sequence
from functools import partial

from hermes_core.errors import UserError
from hermes_core.plugins.at_hand import at_hand
from hermes_core.types import Choice, Session, SlashCommand

__all__ = ["own_commands"]


def own_commands() -> Iterator[SlashCommand]:
    """Those that are there whatever plugin is."""
    all_may = partial(SlashCommand, who="everyone", where=("terminal", "chat", "api"))
    yield all_may(name="new", aliases=("reset",), summary="start a new session; this one stays", run=_new)
    yield all_may(name="stop", summary="stop the running turn", run=_stop, at_once=True)
    yield SlashCommand(
        name="quit",
        aliases=("exit",),
        usage="[--delete]",
        summary="leave; with --delete this session is deleted",
        run=_elsewhere,
        who="everyone",
        where=("terminal",),
        confirm=_deleting,
        options=_leaving,
    )


async def _new(session: Session, _rest: str) -> str:
    return f"New session {(await at_hand(session).switch()).id}."


async def _stop(session: Session, _rest: str) -> str:
    here = at_hand(session)
    if not await here.turn.interrupt():
        return "Nothing runs."
    return "Stopped." if here.place == "chat" else ""  # in a terminal the turn itself says so


async def _elsewhere(_session: Session, _rest: str) -> str:
    raise UserError("This does not work here.")


def _deleting(rest: str) -> str:
    return "This session would be deleted, with all that was said in it." if rest == "--delete" else ""


async def _leaving(_session: Session, rest: str) -> Sequence[Choice]:
    return [Choice("--delete", "", len(rest))] if rest in "--delete" else ()
