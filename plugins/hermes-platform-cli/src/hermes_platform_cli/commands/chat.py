"""``hermes chat``, which is also ``hermes`` alone and ``hermes -z``: one message and its answer, or a conversation."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Callable
from functools import partial

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Ended, Envelope, Event, Failed, Message, Started, Text, TurnOrder
from hermes_platform_cli.commands.leaving import Leaving, way_back
from hermes_platform_cli.commands.shown import Answers, stdout_for_answers

__all__ = ["make_chat"]

_MENDABLE = ("user_error", "config_error", "unknown_name", "busy")  # kinds of Failed that the person can fix
_LOOK = 0.3  # seconds between two looks at a session that is busy
_PLUGINS = {"plugin_error", "load_error", "manifest_error", "incompatible", "contract_error", "not_permitted"}


def make_chat(ctx: PluginContext) -> click.Command:
    """``chat``."""

    @click.command()
    @click.option("-q", "--query", metavar="TEXT", help="Answer TEXT and end; the tools it uses are told on stderr.")
    @click.option("-z", "--oneshot", metavar="TEXT", help="Answer TEXT, print only the answer, and end.")
    @click.option("-c", "--continue", "continue_", is_flag=True, help="Go on with the last session.")
    @click.option("-r", "--resume", metavar="ID|TITLE", default="", help="Go on with a session.")
    @click.option("--wait", is_flag=True, help="Wait while another process works on the session.")
    @click.option("-w", "--worktree", "apart", is_flag=True, help="In a worktree of git, on a branch of its own.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object per event, a line each.")
    @click.option("--interface", default="", help="The platform to talk through (display.interface).")
    async def chat(
        query: str | None,
        oneshot: str | None,
        continue_: bool,
        resume: str,
        wait: bool,
        apart: bool,
        as_json: bool,
        interface: str,
    ) -> int:
        """Talk, or answer one message with -q.

        \b
        Examples:
          hermes chat
          hermes chat -q "What changed in this folder today?"
          hermes chat -c -q "And yesterday?" --json
          hermes chat -w -q "Try the other approach."
        """
        if apart:
            click.get_current_context().with_resource(await _apart(ctx, named=bool(resume or continue_)))
        session = partial(_session, ctx, wait=wait)
        words, text = resume or ("latest" if continue_ else ""), oneshot if query is None else query
        if text is None:
            from hermes_platform_cli.commands.interfaces import fitting

            await ctx.host.converse(fitting(ctx, interface), await session(words))
            return 0
        text = sys.stdin.read() if text == "-" else text
        if not text.strip():
            raise UserError("There is nothing to answer.", hint=f'Say something: {ctx.program} -z "…"')
        # Until the kernel is closed: what plugins print then is no answer either.
        answers = click.get_current_context().with_resource(stdout_for_answers())
        turn = partial(_waiting, ctx, text) if wait else partial(_turn, ctx, text)
        return await _answer(ctx, turn, await session(words), answers, as_json, query is None)

    return chat


async def _apart(ctx: PluginContext, *, named: bool) -> contextlib.AbstractContextManager[object]:
    """A worktree for the conversation that begins. Raises UserError where it would work somewhere else."""
    from hermes_platform_cli.commands.worktree import worktree

    if named:
        raise UserError(
            "A conversation goes on in the folder that it began in.", hint="Leave -w out, or begin a new one."
        )
    if (folder := await ctx.settings.get("terminal.cwd")).value:
        raise UserError(f"Commands start in {folder.value} (terminal.cwd).", hint="Unset it to use -w.")
    return worktree()


async def _answer(
    ctx: PluginContext,
    turn_in: Callable[[str], AsyncGenerator[Event, None]],
    session: str,
    answers: Answers,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print one turn; the exit status. What was said of an answer that does not come to its end is printed, too."""
    show, status = answers.json if as_json else answers.answer if quiet else answers.verbose, 0
    async with Leaving(ctx) as leaving:
        try:
            if session:
                await _finish_interrupted(ctx, session, answers, as_json)
            async with contextlib.aclosing(turn_in(session)) as turn:
                async for event in turn:
                    show(event)
                    session = event.session_id if isinstance(event, Started) else session
                    if isinstance(event, Failed):
                        status = 2 if event.kind in _MENDABLE else 3 if event.kind in _PLUGINS else 1
                    elif isinstance(event, Ended):
                        status = 130 if event.reason == "interrupted" else status
                        ctx.host.end_soon(status, partial(_tell_notices, ctx))
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):  # the terminal may be gone
                if quiet and not as_json:
                    answers.cut()
                click.echo(way_back(ctx.program, [session] if session else [], cut=leaving.caught), err=True)
            raise
    leaving.end()
    click.get_current_context().call_on_close(partial(_tell_notices, ctx))  # plugins hear of the end, too
    return status


def _turn(ctx: PluginContext, text: str, session: str) -> AsyncGenerator[Event, None]:
    return ctx.turns.run(_said(ctx, text, session), order=TurnOrder(session=session))


async def _waiting(ctx: PluginContext, text: str, session: str) -> AsyncGenerator[Event, None]:
    """The same once nobody else works on the session, however often somebody else is faster."""
    busy = True
    while busy:
        await _free(ctx, session)
        busy = False
        async with contextlib.aclosing(_turn(ctx, text, session)) as turn:
            async for event in turn:
                busy = busy or (isinstance(event, Failed) and event.kind == "busy")
                if not busy:
                    yield event


async def _free(ctx: PluginContext, session: str) -> None:
    while True:
        if not session or not await ctx.turns.busy(session):
            return
        await asyncio.sleep(_LOOK)


def _said(ctx: PluginContext, text: str, session: str) -> Envelope:
    message, event = Message(role="user", parts=(Text(text=text),)), os.urandom(16).hex()
    return Envelope(
        platform="oneshot", account="", event_id=event, chat=session, sender=ctx.owner.person, message=message
    )


async def _finish_interrupted(ctx: PluginContext, session: str, answers: Answers, as_json: bool) -> None:
    """Finish first what was cut off; only what was asked for now is answered on stdout."""
    more = True
    while more:
        more = False
        async with contextlib.aclosing(ctx.turns.resume(session)) as turn:
            async for event in turn:
                if isinstance(event, Ended):
                    more = bool(event.turn_id)  # what could not even begin is not tried again
                if as_json:
                    answers.json(event)
                else:
                    _tell_finished(event, answers)


def _tell_finished(event: Event, answers: Answers) -> None:
    if isinstance(event, Ended) and event.answer:
        click.echo(f"The turn that was interrupted is finished now:\n{event.answer}\n", err=True)
    elif isinstance(event, Failed):
        answers.answer(event)


def _tell_notices(ctx: PluginContext) -> None:
    for line in ctx.turns.notices():
        click.echo(line, err=True)


async def _session(ctx: PluginContext, words: str, *, wait: bool) -> str:
    """The id of the session to go on with, or an empty string for a new one. Nobody else works on it, if so wanted."""
    if not words:
        return ""
    try:
        session = (await ctx.sessions.find(ctx.owner, words)).id
        if wait:
            await _free(ctx, session)
        return session
    except UnknownName:
        if words == "latest":
            raise UserError("There is no session to go on with.", hint="Start one without -c.") from None
        raise
