"""A gate and a transformation: commands stay off the network, and long results lose their colors."""

# /// hermes
# api = 1
# name = "quiet"
# kind = "tool"
# summary = "Keeps commands off the network, and colors out of results."
#
# [hooks]
# use = ["pre_tool_call", "transform_tool_result"]
# ///

import re

from attrs import evolve

from hermes_core import hookimpl
from hermes_core.types import Text, Verdict

NETWORK = re.compile(r"\b(curl|wget|ssh|git (push|pull|fetch|clone))\b")
COLORS = re.compile(r"\x1b\[[0-9;]*m")


@hookimpl
async def pre_tool_call(call):
    if NETWORK.search(str(call.arguments.get("command", ""))):
        return Verdict(outcome="deny", reason="this machine stays off the network")
    return None


@hookimpl
async def transform_tool_result(result):
    parts = [evolve(p, text=COLORS.sub("", p.text)) if isinstance(p, Text) else p for p in result.parts]
    return evolve(result, parts=parts)
