"""The promises of every tool, for the three of the workshop and for one that was written there."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Tool
from hermes_core.testing import FakeToolContext, ToolContract

CODE = '''
def repeat(text: str, times: int = 2) -> str:
    """Repeat a text, as often as it is asked for."""
    if times < 0:
        raise ToolError("It cannot be repeated less than never.")
    return text * times
'''
WRITE = {"name": "repeat", "code": CODE, "examples": [{"arguments": {"text": "a"}, "result": "aa"}]}


class TestToolWrite(ToolContract):
    module = "hermes_tool_workshop"
    arguments: ClassVar[Mapping[str, Any]] = WRITE
    failing_arguments: ClassVar[Mapping[str, Any]] = {**WRITE, "code": "def repeat(text): return text"}


class TestToolVersions(ToolContract):
    module = "hermes_tool_workshop"
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "nothing_here"}

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]], tool_context: FakeToolContext) -> Tool:
        return made(contributed["tools"][0], tool_context)["own_versions"]


class TestToolRollback(ToolContract):
    module = "hermes_tool_workshop"
    arguments: ClassVar[Mapping[str, Any]] = {"name": "repeat", "version": 1}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "repeat", "version": 9}

    @pytest.fixture
    async def tool(self, contributed: Mapping[str, list[Any]], tool_context: FakeToolContext) -> Tool:
        await write(contributed["tools"][0], tool_context)
        return made(contributed["tools"][0], tool_context)["own_rollback"]


class TestWritten(ToolContract):
    module = "hermes_tool_workshop"
    arguments: ClassVar[Mapping[str, Any]] = {"text": "ab"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"text": "ab", "times": -1}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"text": "x", "times": 900_000}

    @pytest.fixture
    async def tool(self, contributed: Mapping[str, list[Any]], tool_context: FakeToolContext) -> Tool:
        await write(contributed["tools"][0], tool_context)
        return made(contributed["tools"][0], tool_context)["own_repeat"]


def made(tool: Tool, context: FakeToolContext) -> Mapping[str, Tool]:
    assert tool.makes
    return {one.name: one for one in tool.makes(context.session)}


async def write(tool: Tool, context: FakeToolContext) -> None:
    from hermes_core.agent.arguments import parse_arguments

    await tool.run(context, parse_arguments(tool, WRITE))
