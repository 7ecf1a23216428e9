"""Whether a command may reach a host that its wall keeps closed: what the person named, else what they say now."""

import os
from collections.abc import Iterable

from hermes_backend_wall.hosts.forges import hosts_named, is_forge
from hermes_backend_wall.proxy.rules import Rules
from hermes_core.context import PluginContext
from hermes_core.kinds import ToolContext
from hermes_core.types import JSON, Message, Question, Session, Text

__all__ = ["may_reach"]

_KEPT = "hosts"  # the document of a session with the hosts that a person opened for it
_MOST = 500
_OUTSIDE = ", and this conversation holds text from outside, which may have asked for it"


async def may_reach(ctx: PluginContext, context: ToolContext, command: str, place: str, told: list[str]) -> str:
    """``once``, ``session``, ``always`` or ``deny`` for a host and its port; empty where nobody is there to ask.

    A host that the owner of this Hermes named in this conversation needs no question. Once it holds text from outside
    that counts for forges only: whoever wrote a page that the person named would get what an order in it sends there.
    A yes that was given before there was such text does not count then either. ``told`` gets what a person said.
    """
    session = context.session
    host, _, port = place.rpartition(":")
    host = host.strip("[]")
    owners = session.owner == ctx.owner
    if owners and (is_forge(host) or not session.untrusted):
        rules = hosts_named("\n".join(_words(await _said(ctx, session))))
        if Rules(rules).find(host, int(port)):
            return "session"
    key = f"{place} outside" if session.untrusted else place
    kept = await ctx.documents.get(_KEPT, owner=session.owner, session_id=session.id)
    if kept is not None and isinstance(kept.value, list) and key in kept.value:
        return "session"
    lasting = ("always",) if owners and not session.untrusted else ()
    question = Question(
        id=os.urandom(16).hex(),
        kind="approval",
        to="person" if owners else "admin",
        subject=f"$ {command}",
        risk=f"reaches {place}, which is closed to commands{_OUTSIDE if session.untrusted else ''}",
        choices=("once", "session", *lasting, "deny"),
        covers=f"{place} for the commands of this conversation{', or for those of all' if lasting else ''}",
    )
    verdict = await context.ask(question)
    if verdict.outcome != "allow":
        if verdict.by:
            told.append(f"[{place} stays closed: {verdict.reason or 'refused by the person'}]")
        return "deny" if verdict.by else ""
    if verdict.choice == "session":
        await ctx.documents.change(_KEPT, lambda old: _with(old, key), owner=session.owner, session_id=session.id)
    return verdict.choice if verdict.choice in question.choices else "once"


def _with(old: JSON | None, key: str) -> JSON:
    known = [one for one in old if isinstance(one, str)] if isinstance(old, list) else []
    return sorted({*known, key})[-_MOST:]


async def _said(ctx: PluginContext, session: Session) -> Iterable[Message]:
    """The messages of the conversation that a person is in: what a child agent is told was written by a model."""
    while session.origin == "child" and session.parent:
        session = await ctx.sessions.get(session.owner, session.parent)
    return await ctx.sessions.past(session.owner, session.id)


def _words(messages: Iterable[Message]) -> Iterable[str]:
    """What the person wrote: nothing that is quoted, forwarded or attached, or that a plugin said in their place."""
    for message in messages:
        ours = message.meta.get("hermes")
        if message.role != "user" or message.untrusted or (isinstance(ours, dict) and "sent_on" in ours):
            continue
        yield from (part.text for part in message.parts if isinstance(part, Text) and not part.quotes)
