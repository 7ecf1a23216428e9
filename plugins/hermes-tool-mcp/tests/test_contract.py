"""The promises of every source of tools, of every tool, and of every service."""

from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract, ToolSourceContract
from hermes_core.types import Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.lists import Listed, ListedTool, Lists, mark_of

WORDS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class OfAFarServer:
    """Its list is known, as it is once somebody connected to it."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _there(cls, far):
        cls.settings = {"servers": {"far": {"url": far("http"), "timeout": 5.0}}}

    @pytest.fixture(autouse=True)
    def _known(self, context):
        names = ("echo", "look.at/this")
        tools = tuple(ListedTool(name=name, description="Say it again.", schema=WORDS, looks=True) for name in names)
        mark = mark_of(ServerSettings(**self.settings["servers"]["far"]))
        Lists(context.paths.data).put("far", Listed(mark=mark, tools=tools, resources=True, at=1.0))


class TestSource(OfAFarServer, ToolSourceContract):
    module = "hermes_tool_mcp"


class TestEcho(OfAFarServer, ToolContract):
    module = "hermes_tool_mcp"
    arguments: ClassVar = {"text": "hello"}
    greedy_arguments: ClassVar = {"text": "x" * 900_000}

    @pytest.fixture
    def tool(self, contributed):
        there = contributed["tool_sources"][0].tools(Session(id="test", origin="embed"))
        return next(one for one in there if one.name == "mcp__far__echo")
