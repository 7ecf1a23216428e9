"""What a call of the tool really does: a look plans nothing, and a proposal runs only when a person accepts it."""

from hermes_core.types import Effect, ToolCall, Verdict

__all__ = ["judge"]

_LOOKS = frozenset({Effect.RECALL})


def judge(call: ToolCall) -> Verdict | None:
    """Say the effects of a call that has fewer than the tool; None leaves it at what the tool says."""
    if call.arguments.get("action", "list") in ("list", "runs"):
        return Verdict(outcome="allow", by="cron", reason="it only looks", effects=_LOOKS)
    if call.arguments.get("action") == "propose":
        return Verdict(outcome="allow", by="cron", reason="a person accepts it", effects=frozenset({Effect.REMEMBER}))
    return None
