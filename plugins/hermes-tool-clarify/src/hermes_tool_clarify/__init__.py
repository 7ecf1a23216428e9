"""Asks the person a question."""

from collections.abc import Sequence

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Tool


@hookimpl
def register_tools() -> Sequence[Tool]:
    """The tool ``clarify``."""
    from hermes_tool_clarify.tool import clarify_tool

    return [clarify_tool()]
