"""The tool ``peer``: a model asks the agent of another profile."""

from collections.abc import Iterable
from typing import Literal

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Session, ToolCall, Verdict
from hermes_core.values import frozen
from hermes_tool_peers.asking import ask, config_of, me, profiles
from hermes_tool_peers.taking import chain_of

__all__ = ["Asking", "judge", "peer_tool"]

_LOOKS = frozenset({Effect.RECALL})


@frozen(kw_only=True)
class Asking:
    """What the model wants."""

    action: Literal["ask", "list"] = "ask"
    name: str = field(default="", metadata={"help": "a profile of the list"})
    text: str = field(default="", metadata={"help": "all it must know: it sees nothing of this conversation"})


def peer_tool(ctx: PluginContext) -> Tool:
    """The tool, for whom the settings name agents to be asked."""

    def touches(wanted: Asking) -> Iterable[str]:
        return [f"peer:{wanted.name.strip()}"] if wanted.action == "ask" else []

    def needs(session: Session) -> str | None:
        if session.owner != ctx.owner:
            return "other profiles are the owner's"
        return None if config_of(ctx).ask else "tools.peers.ask names no other profile"

    # Running it again asks nothing twice: the call is the key.
    @tool(name="peer", toolset="peer", effects=[Effect.SEND], touches=touches, needs=needs, untrusted=True,
          idempotent=True)  # fmt: skip
    async def run(context: ToolContext, wanted: Asking) -> str:
        """Ask the agent of another profile of this person; it answers from its own memory. Or list them."""
        session = context.session
        if wanted.action == "list":
            return "\n".join(one for one in profiles(ctx) if one != me(ctx)) or "There is no other profile."
        if session.owner != ctx.owner:
            raise ToolError("Other profiles are the owner's.", retry=False)
        key = f"{session.id}:{session.turn}:{context.call_id}"
        try:
            found = await ask(ctx, wanted.name.strip(), wanted.text, key, chain=await chain_of(ctx, session))
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        return str(found.get("answer") or "It said nothing.")

    return run


def judge(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Return the effects of a call, where they are less than those of sending: a look, and one whom settings name.

    Where the conversation holds text from outside, nothing is less: the text may have asked for it.
    """
    if call.arguments.get("action", "ask") == "list":
        return Verdict(outcome="allow", by="peers", reason="it only looks", effects=_LOOKS)
    name = str(call.arguments.get("name") or "").strip()
    if not session.untrusted and name in config_of(ctx).ask:
        return Verdict(outcome="allow", by="peers", reason=f"tools.peers.ask names {name}", effects=_LOOKS)
    return None
