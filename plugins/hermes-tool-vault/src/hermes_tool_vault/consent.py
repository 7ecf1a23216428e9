"""Who may use what: the owner of this home only, where it is bound, and with a person's yes."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import JSON, Question, Session
from hermes_core.values import frozen
from hermes_tool_vault.items import Binding, Item

__all__ = ["Use", "agreed", "owned"]

_USES = "uses"  # the document with what a person agreed to in a session
_MOST = 100  # of them


@frozen(kw_only=True)
class Use:
    """One value that a call wants, the binding that lets it, and ``place``, where it would go, in words."""

    item: Item
    part: str
    binding: Binding
    place: str

    @property
    def words(self) -> str:
        """It in words that a person reads."""
        return f"`{self.item.name}`{f' ({self.part})' if self.part else ''} to {self.place}"


def owned(ctx: PluginContext, context: ToolContext) -> None:
    """Raises ToolError in a session of anybody but the owner of this home."""
    if context.session.owner != ctx.owner:
        raise ToolError("The vault is its owner's alone.", retry=False)


async def agreed(
    ctx: PluginContext,
    context: ToolContext,
    uses: Sequence[Use],
    subject: str,
    arguments: Mapping[str, JSON],
    *,
    told: bool = True,
) -> None:
    """Make sure that a person agrees to these uses. Raises ToolError.

    A yes for the session covers the same value to the same place. With text from outside in the conversation only what
    a person says to this very call counts, or said to the same one there; what is bound as unattended asks, too.
    ``told`` is False where the call does not say what the person decides: a yes to the policy's question is none then.
    """
    session = context.session
    keys = {_key(use, arguments, session.untrusted) for use in uses}
    if not session.untrusted and all(use.binding.unattended for use in uses):
        return
    kept = await ctx.documents.get(_USES, owner=session.owner, session_id=session.id)
    if kept and keys <= set(kept.value):
        return
    if told and await _asked_already(ctx, context, uses):
        return
    words = ", ".join(use.words for use in uses)
    outside = (
        ", and this conversation holds text from outside, which may have asked for it" if session.untrusted else ""
    )
    question = Question(
        id=os.urandom(16).hex(),
        kind="approval",
        subject=subject,
        risk=f"gives {words}{outside}",
        choices=("once", "session", "deny"),
        covers="exactly this call, in this conversation" if session.untrusted else f"{words}, in this conversation",
    )
    verdict = await context.ask(question)
    if verdict.outcome != "allow":
        raise ToolError(
            f"Not done: {_why(ctx, uses, session, nobody=not verdict.by, reason=verdict.reason)}", retry=False
        )
    if verdict.choice == "session":
        await ctx.documents.change(
            _USES, lambda old: sorted({*(old or ()), *keys})[-_MOST:], owner=session.owner, session_id=session.id
        )


def _why(ctx: PluginContext, uses: Sequence[Use], session: Session, *, nobody: bool, reason: str) -> str:
    words = ", ".join(use.words for use in uses)
    if not nobody:
        return f"the person does not want to give {words}. {reason}".strip()
    if session.untrusted:
        return f"giving {words} needs a person's yes in a conversation with text from outside, and nobody is here."
    binding = uses[0].binding
    allow = f"{ctx.program} vault bind {uses[0].item.name} --{binding.kind} {binding.target} --unattended"
    return f"giving {words} needs a person's yes, and nobody is here. What would allow it, said by a person: {allow}"


def _key(use: Use, arguments: Mapping[str, JSON], untrusted: bool) -> str:
    key = f"{use.item.name}.{use.part} {use.binding.kind} {use.binding.target} {use.place}"
    if not untrusted:
        return key
    whole = json.dumps(dict(arguments), sort_keys=True, default=str)
    return f"{key} {hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()}"


async def _asked_already(ctx: PluginContext, context: ToolContext, uses: Sequence[Use]) -> bool:
    """Whether the policy asked a person about this very call; they saw its handles, and said yes."""
    session = context.session
    rows = await ctx.approvals.list(session.owner, closed=True, limit=20)
    return any(
        row.call_id == context.call_id
        and row.session_id == session.id
        and row.turn_id == session.turn
        and row.state == "answered"
        and row.verdict == "allow"
        and all(f"vault:{use.item.name}" in row.subject for use in uses)
        for row in rows
        if session.turn
    )
