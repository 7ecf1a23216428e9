"""``hermes chat``, which is also ``hermes`` alone and ``hermes -z``: one message and its answer, or a conversation."""

import contextlib
import os
import sys
from functools import partial

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Ended, Envelope, Event, Failed, Message, Text, TurnOrder
from hermes_platform_cli.commands.shown import Answers, stdout_for_answers

__all__ = ["make_chat"]

_MENDABLE = ("user_error", "config_error", "unknown_name", "busy")  # kinds of Failed that the person can fix
_PLUGINS = {"plugin_error", "load_error", "manifest_error", "incompatible", "contract_error", "not_permitted"}


def make_chat(ctx: PluginContext) -> click.Command:
    """``chat``."""

    @click.command()
    @click.option("-q", "--query", metavar="TEXT", help="Answer TEXT and end; the tools it uses are told on stderr.")
    @click.option("-z", "--oneshot", metavar="TEXT", help="Answer TEXT, print only the answer, and end.")
    @click.option("-c", "--continue", "continue_", is_flag=True, help="Go on with the last session.")
    @click.option("-r", "--resume", metavar="ID|TITLE", default="", help="Go on with a session.")
    @click.option("-w", "--worktree", "apart", is_flag=True, help="In a worktree of git, on a branch of its own.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object per event, a line each.")
    @click.option("--interface", default="", help="The platform to talk through (display.interface).")
    async def chat(
        query: str | None,
        oneshot: str | None,
        continue_: bool,
        resume: str,
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
        words, text = resume or ("latest" if continue_ else ""), oneshot if query is None else query
        if text is None:
            from hermes_platform_cli.commands.interfaces import fitting

            await ctx.host.converse(fitting(ctx, interface), await _session(ctx, words))
            return 0
        text = sys.stdin.read() if text == "-" else text
        if not text.strip():
            raise UserError("There is nothing to answer.", hint=f'Say something: {ctx.program} -z "…"')
        # Until the kernel is closed: what plugins print then is no answer either.
        answers = click.get_current_context().with_resource(stdout_for_answers())
        return await _answer(ctx, text, await _session(ctx, words), answers, as_json, query is None)

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


async def _answer(ctx: PluginContext, text: str, session: str, answers: Answers, as_json: bool, quiet: bool) -> int:
    """Print one turn; the exit status."""
    show, status = answers.json if as_json else answers.answer if quiet else answers.verbose, 0
    if session:
        await _finish_interrupted(ctx, session, answers, as_json)
    said = _said(ctx, text, session)
    async with contextlib.aclosing(ctx.turns.run(said, order=TurnOrder(session=session))) as turn:
        async for event in turn:
            show(event)
            if isinstance(event, Failed):
                status = 2 if event.kind in _MENDABLE else 3 if event.kind in _PLUGINS else 1
            elif isinstance(event, Ended):
                status = 130 if event.reason == "interrupted" else status
                ctx.host.end_soon(status, partial(_tell_notices, ctx))
    click.get_current_context().call_on_close(partial(_tell_notices, ctx))  # plugins hear of the end, too
    return status


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


async def _session(ctx: PluginContext, words: str) -> str:
    """The id of the session to go on with, or an empty string for a new one."""
    if not words:
        return ""
    try:
        return (await ctx.sessions.find(ctx.owner, words)).id
    except UnknownName:
        if words == "latest":
            raise UserError("There is no session to go on with.", hint="Start one without -c.") from None
        raise
