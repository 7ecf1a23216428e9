"""The tool ``ask_agent``: a model asks an agent elsewhere.

A task that a death left is looked at, and not begun anew.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve, field

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import JSON, Effect, Session, ToolCall, Verdict
from hermes_core.values import frozen
from hermes_tool_a2a.known import agent, config_of, host_of, names, safe_name

if TYPE_CHECKING:
    from hermes_tool_a2a.asking import Reply

__all__ = ["Asking", "ask_tool", "judge"]

_CALLS, _KEPT = "calls", 50  # the document of the tasks that calls began, and how many of a session
_LONGEST = 100_000  # characters that are said
_LOOKS = frozenset({Effect.NETWORK})
_MOMENT = 5.0  # seconds in which a task is given up that nobody waits for
_STATES = {
    "runs": "It works on it still. Look again later: the same name and task, without text.",
    "asks": "It asks this. Answer with text and the same task.",
    "asks for a login": "It wants a login, which only the person can give there.",
}


@frozen(kw_only=True)
class Asking:
    """What the model wants."""

    name: str = field(metadata={"help": "the agent"})
    text: str = field(default="", metadata={"help": "all it must know: it sees nothing of this conversation"})
    conversation: str = field(default="", metadata={"help": "as an answer named it, to go on there"})
    task: str = field(default="", metadata={"help": "as an answer named it: with text, answers its question"})


def ask_tool(ctx: PluginContext) -> Tool:
    """The tool, for whom the settings name agents."""

    def touches(wanted: Asking) -> Iterable[str]:
        return [f"host:{host_of(ctx, wanted.name)}"]

    def needs(session: Session) -> str | None:
        if session.owner != ctx.owner:
            return "agents elsewhere are asked with the owner's keys"
        return None if names(ctx) else "tools.a2a.agents names no agent"

    seconds = config_of(ctx).seconds + 120.0

    @tool(name="ask_agent", toolset="a2a", effects=[Effect.SEND, Effect.NETWORK], touches=touches, needs=needs,
          untrusted=True, seconds=seconds)  # fmt: skip
    async def run(context: ToolContext, wanted: Asking) -> str:
        """Ask an agent elsewhere."""
        _check(ctx, context.session, wanted)
        try:
            return await _said(context, await _asked(ctx, context, wanted))
        except HermesError as error:
            raise ToolError(error.text, hint=error.hint) from error

    async def left(context: ToolContext, wanted: Asking) -> str:
        from hermes_tool_a2a.asking import look

        task = await _begun(ctx, context)
        if not task:
            raise ToolError("Nobody knows whether it was asked: this process died meanwhile.", hint="Ask it again.")
        try:
            return await _said(context, await look(ctx, wanted.name, task, seconds=config_of(ctx).seconds))
        except HermesError as error:
            raise ToolError(error.text, hint=error.hint) from error

    told = f"Ask an agent elsewhere: {', '.join(names(ctx))}." if names(ctx) else run.description
    return evolve(run, description=told, left=left)


async def _asked(ctx: PluginContext, context: ToolContext, wanted: Asking) -> "Reply":
    """Ask, with the task noted as soon as there is one, so that whoever comes after a death finds it."""
    from hermes_tool_a2a.asking import ask, give_up, look

    seconds, begun = config_of(ctx).seconds, ""
    if not wanted.text.strip():
        return await look(ctx, wanted.name, wanted.task, seconds=seconds)

    async def began(task: str) -> None:
        nonlocal begun
        begun = task
        await _note(ctx, context, task)

    key = hashlib.sha256(f"{context.session.id}\0{_call(context)}".encode()).hexdigest()[:32]
    more = {"task": wanted.task, "conversation": wanted.conversation}
    try:
        return await ask(ctx, wanted.name, wanted.text, key, **more, seconds=seconds, began=began)
    except asyncio.CancelledError:
        if begun and context.cancelled:  # a person stopped it; what only ends here is looked at again
            with suppress(HermesError, asyncio.CancelledError):
                await give_up(ctx, wanted.name, begun, seconds=_MOMENT)
        raise


def _call(context: ToolContext) -> str:
    return f"{context.session.turn} {context.call_id}"


async def _note(ctx: PluginContext, context: ToolContext, task: str) -> None:
    """Write down the task that a call began. Of a session the last ones are kept."""

    def more(before: JSON | None) -> JSON:
        known = dict(before) if isinstance(before, dict) else {}
        return {**dict(list(known.items())[1 - _KEPT :]), _call(context): task}

    await ctx.documents.change(_CALLS, more, owner=context.session.owner, session_id=context.session.id)


async def _begun(ctx: PluginContext, context: ToolContext) -> str:
    """Return the task that a call began; empty where none is known."""
    kept = await ctx.documents.get(_CALLS, owner=context.session.owner, session_id=context.session.id)
    known = kept.value if kept and isinstance(kept.value, dict) else {}
    return str(known.get(_call(context)) or "")


def judge(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Return the effects of a call, where they are less than those of sending: to an agent that may be asked.

    Where the conversation holds text from outside, nothing is less: the text may have asked for it.
    """
    name = str(call.arguments.get("name") or "")
    if session.untrusted or name not in names(ctx) or config_of(ctx).agents[name].ask:
        return None
    return Verdict(outcome="allow", by="a2a", reason=f"tools.a2a.agents.{name}.ask is off", effects=_LOOKS)


def _check(ctx: PluginContext, session: Session, wanted: Asking) -> None:
    """Refuse what cannot be asked. Raises ToolError."""
    if session.owner != ctx.owner:
        raise ToolError("Agents elsewhere are asked with the owner's keys.", retry=False)
    if not wanted.text.strip() and not wanted.task:
        raise ToolError("There is nothing to say.", hint="Give text; or the task that an answer named.")
    if max(len(wanted.text), len(wanted.task), len(wanted.conversation)) > _LONGEST:
        raise ToolError(f"{_LONGEST:,} characters are the most.")
    try:
        agent(ctx, wanted.name)
    except UserError as error:
        raise ToolError(error.text, hint=error.hint, retry=False) from error


async def _said(context: ToolContext, reply: "Reply") -> str:
    """Return what the model reads of an answer; its files are kept beside."""
    lines = [reply.text or "It said nothing."]
    for number, (name, data) in enumerate(reply.files, 1):
        path = await context.spill(f"{number}-{safe_name(name)}", data)
        lines.append(f"[{safe_name(name)}: {path}]")
    if reply.state != "completed":
        lines.insert(0, _STATES.get(reply.state, f"The task is {reply.state}."))
    known = [f"conversation {reply.conversation}"] if reply.conversation else []
    known += [f"task {reply.task}"] if reply.task and reply.state in _STATES else []
    return "\n".join([*lines, *([f"[{', '.join(known)}]"] if known else [])])
