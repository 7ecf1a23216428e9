"""The promises of every tool, for the three of the workshop and for one that was written there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Tool, ToolSource
from hermes_core.testing import FakeToolContext, FakeWorkspace, ToolContract, ToolSourceContract
from hermes_core.types import Feature, Session

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
        return there(contributed, tool_context)["own_versions"]


class TestToolRollback(ToolContract):
    module = "hermes_tool_workshop"
    arguments: ClassVar[Mapping[str, Any]] = {"name": "repeat", "version": 1}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "repeat", "version": 9}

    @pytest.fixture
    async def tool(self, contributed: Mapping[str, list[Any]], tool_context: FakeToolContext) -> Tool:
        await write(contributed["tools"][0], tool_context)
        return there(contributed, tool_context)["own_rollback"]


class TestOwn(ToolSourceContract):
    module = "hermes_tool_workshop"

    @pytest.fixture
    async def source(self, contributed: Mapping[str, list[Any]], session: Session, tmp_path: Path) -> ToolSource:
        context = FakeToolContext(FakeWorkspace(folder=tmp_path), session=session)
        await write(contributed["tools"][0], context)
        return contributed["tool_sources"][0]


class TestWritten(ToolContract):
    module = "hermes_tool_workshop"
    arguments: ClassVar[Mapping[str, Any]] = {"text": "ab"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"text": "ab", "times": -1}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"text": "x", "times": 900_000}

    @pytest.fixture
    async def tool(self, contributed: Mapping[str, list[Any]], tool_context: FakeToolContext) -> Tool:
        # Elsewhere than here: the processes and files of a wall of its own would count as the tool's. What the tool
        # itself reaches behind one is tried in test_walls_real.py.
        tool_context.workspace.features -= {Feature.LOCAL}
        await write(contributed["tools"][0], tool_context)
        return there(contributed, tool_context)["own_repeat"]


def there(contributed: Mapping[str, list[Any]], context: FakeToolContext) -> Mapping[str, Tool]:
    return {one.name: one for one in contributed["tool_sources"][0].tools(context.session)}


async def write(tool: Tool, context: FakeToolContext) -> None:
    from hermes_core.agent.arguments import parse_arguments

    await tool.run(context, parse_arguments(tool, WRITE))
