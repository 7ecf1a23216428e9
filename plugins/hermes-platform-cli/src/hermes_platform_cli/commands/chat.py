"""``hermes chat``, which is also ``hermes`` alone and ``hermes -z``: one message and its answer, or a conversation."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from functools import partial

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Event, Failed
from hermes_platform_cli.commands.leaving import Leaving
from hermes_platform_kit.answers import Answers, stdout_for_answers
from hermes_platform_kit.one_turn import OneTurn, Turn, said

__all__ = ["make_chat"]

_LOOK = 0.3  # seconds between two looks at a session that is busy


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
        from hermes_platform_cli.remembers import tell_missing

        tell_missing(ctx)
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


async def _answer(ctx: PluginContext, turn_in: Turn, session: str, answers: Answers, as_json: bool, quiet: bool) -> int:
    """Print one turn; the exit status."""
    async with Leaving(ctx) as leaving:
        turn = OneTurn(
            ctx,
            answers,
            as_json=as_json,
            quiet=quiet,
            ended=lambda status: ctx.host.end_soon(status, partial(_tell_notices, ctx)),
            left=lambda: leaving.caught,
        )
        status = await turn.print(session, turn_in)
    leaving.end()
    click.get_current_context().call_on_close(partial(_tell_notices, ctx))  # plugins hear of the end, too
    return status


def _turn(ctx: PluginContext, text: str, session: str) -> AsyncGenerator[Event, None]:
    envelope, order = said(ctx, text, session)
    return ctx.turns.run(envelope, order=order)


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
