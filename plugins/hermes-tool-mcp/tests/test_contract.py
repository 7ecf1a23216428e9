"""The promises of every source of tools, of every tool, and of every service."""

from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract, ToolSourceContract
from hermes_core.types import Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.lists import Listed, ListedTool, Lists, mark_of

from .conftest import odd

ROW = odd()
WORDS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture(autouse=True)
def _known(context):
    tools = tuple(
        ListedTool(name=name, description="Say it again.", schema=WORDS, looks=True)
        for name in ("echo", "look.at/this")
    )
    listed = Listed(mark=mark_of(ServerSettings(**ROW)), tools=tools, resources=True, at=1.0)
    Lists(context.paths.data).put("odd", listed)


class TestSource(ToolSourceContract):
    module = "hermes_tool_mcp"
    settings: ClassVar = {"servers": {"odd": ROW}}


class TestEcho(ToolContract):
    module = "hermes_tool_mcp"
    settings: ClassVar = {"servers": {"odd": ROW}}
    arguments: ClassVar = {"text": "hello"}
    greedy_arguments: ClassVar = {"text": "x" * 900_000}

    @pytest.fixture
    def tool(self, contributed):
        there = contributed["tool_sources"][0].tools(Session(id="test", origin="embed"))
        return next(one for one in there if one.name == "mcp__odd__echo")
