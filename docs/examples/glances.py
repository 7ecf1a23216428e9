"""A guard that knows four programs: they only look, so they run; of all other commands it says nothing."""

# /// hermes
# api = 1
# name = "glances"
# kind = "tool"
# summary = "Knows a few commands that only look; each other one needs a yes."
#
# [hooks]
# use = ["judge_command"]
# ///

from hermes_core import hookimpl
from hermes_core.types import CommandPart, Effect, Verdict

LOOKS = {"date", "pwd", "uptime", "whoami"}


@hookimpl
async def judge_command(call, workspace):
    command = call.arguments.get("command")
    if command not in LOOKS:
        return None
    part = CommandPart(text=command, words=(command,), folder=workspace.cwd)
    return Verdict(outcome="allow", effects=frozenset({Effect.READ_FILES}), commands=[part], lasting=True)
