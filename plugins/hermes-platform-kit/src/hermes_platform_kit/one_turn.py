"""One message and its answer, as ``hermes -z`` prints them: by the command itself, or by a host for it."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Ended, Envelope, Event, Failed, Message, Started, Text, TurnOrder
from hermes_platform_kit.answers import Answers

__all__ = ["OneTurn", "Turn", "said", "way_back"]

_MENDABLE = ("user_error", "config_error", "unknown_name", "busy")  # kinds of Failed that the person can fix
_PLUGINS = {"plugin_error", "load_error", "manifest_error", "incompatible", "contract_error", "not_permitted"}
_INTERRUPTED = 130

Turn = Callable[[str], AsyncGenerator[Event, None]]


class OneTurn:
    """Prints a turn, and what was cut off in its session before; ``quiet`` prints the answer alone.

    ``ended`` is told the exit status when the turn is at its end, ``left`` says whether the turn stays unfinished when
    this is cancelled. ``session`` is where it is, once that is known.
    """

    def __init__(
        self,
        ctx: PluginContext,
        answers: Answers,
        *,
        as_json: bool = False,
        quiet: bool = True,
        ended: Callable[[int], None] = lambda _: None,
        left: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ctx, self._answers, self._as_json, self._quiet = ctx, answers, as_json, quiet
        self._ended, self._left = ended, left
        self.session = ""

    async def print(self, session: str, turn_in: Turn, resumed: Turn | None = None) -> int:
        """Print it; the exit status. What was said of an answer that does not come to its end is printed, too.

        ``resumed`` plays what was cut off in the session, which is finished first.
        """
        answers, status, self.session = self._answers, 0, session
        show = answers.json if self._as_json else answers.answer if self._quiet else answers.verbose
        try:
            if session:
                await self._finish_interrupted(session, resumed or self._ctx.turns.resume)
            async with contextlib.aclosing(turn_in(session)) as turn:
                async for event in turn:
                    show(event)
                    self.session = event.session_id if isinstance(event, Started) else self.session
                    if isinstance(event, Failed):
                        status = 2 if event.kind in _MENDABLE else 3 if event.kind in _PLUGINS else 1
                    elif isinstance(event, Ended):
                        status = _INTERRUPTED if event.reason == "interrupted" else status
                        self._ended(status)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):  # the terminal may be gone
                if self._quiet and not self._as_json:
                    answers.cut()
                sessions = [self.session] if self.session else []
                answers.tell(way_back(self._ctx.program, sessions, cut=self._left()))
            raise
        return status

    async def _finish_interrupted(self, session: str, resumed: Turn) -> None:
        """Finish first what was cut off; only what was asked for now is answered on stdout."""
        more = True
        while more:
            more = False
            async with contextlib.aclosing(resumed(session)) as turn:
                async for event in turn:
                    if isinstance(event, Ended):
                        more = bool(event.turn_id)  # what could not even begin is not tried again
                    if self._as_json:
                        self._answers.json(event)
                    elif isinstance(event, Ended) and event.answer:
                        self._answers.tell(f"The turn that was interrupted is finished now:\n{event.answer}\n")
                    elif isinstance(event, Failed):
                        self._answers.answer(event)


def said(ctx: PluginContext, text: str, session: str) -> tuple[Envelope, TurnOrder]:
    """Return a message of whoever started this program, and where it is answered."""
    message, event = Message(role="user", parts=(Text(text=text),)), os.urandom(16).hex()
    envelope = Envelope(
        platform="oneshot", account="", event_id=event, chat=session, sender=ctx.owner.person, message=message
    )
    return envelope, TurnOrder(session=session)


def way_back(program: str, sessions: Sequence[str], *, cut: bool) -> str:
    """How to go on with what is left; ``cut`` says that a turn was not finished. Empty where nothing was said."""
    if not sessions:
        return ""
    ways = [f"{program} -r {session}" for session in sessions]
    first = f"{program} -c, or {ways[0]}" if len(ways) == 1 else ", ".join(ways)
    return f"{'Not finished. Finish it' if cut else 'Go on'}: {first}"
