"""The guard of a bench into which no real one was put."""

from hermes_core.hooks import hookimpl
from hermes_core.types import CommandPart, ToolCall, Verdict

__all__ = ["judge_command"]


@hookimpl
async def judge_command(call: ToolCall) -> Verdict:
    """Block nothing, and take each text of a call as a whole: only a rule to the letter fits it."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    return Verdict(outcome="allow", commands=[CommandPart(text=text, literal=True) for text in texts], lasting=True)
