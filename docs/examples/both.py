"""A tool that calls tools: it reads two files with whatever tool of the conversation reads files, and compares them."""

# /// hermes
# api = 1
# name = "both"
# kind = "tool"
# summary = "Says in which lines two files differ."
#
# [contributes]
# tools = ["compare"]
# ///

import difflib

from hermes_core import hookimpl, option, settings, tool
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Text


@settings
class Two:
    one: str = option("A file.")
    other: str = option("Another file.")


@tool(idempotent=True)
async def compare(context: ToolContext, files: Two) -> str:
    """Say in which lines two files differ."""
    texts = []
    for path in (files.one, files.other):
        result = await context.call("read_file", {"path": path})
        text = "".join(part.text for part in result.parts if isinstance(part, Text))
        if result.failed:
            raise ToolError(f"{path} could not be read: {text}")
        texts.append(text.splitlines())
    return "\n".join(difflib.unified_diff(*texts, lineterm="", n=0)) or "They are the same."


@hookimpl
def register_tools():
    return [compare]
