"""The promises of every tool, for the search and the description."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Tool
from hermes_core.testing import FakeToolContext, ToolContract
from hermes_core.types import Offer, ToolSpec

MANY = tuple(ToolSpec(name=f"open_{n}", description="Open a ticket. " * 20, schema={}) for n in range(500))


def context(workspace) -> FakeToolContext:
    return FakeToolContext(workspace, tools=Offer(tools=(), behind=MANY, toolsets={s.name: "desk" for s in MANY}))


class TestSearch(ToolContract):
    module = "hermes_tool_search"
    arguments: ClassVar[Mapping[str, Any]] = {"query": "ticket"}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"query": "ticket", "limit": 50}

    @pytest.fixture
    def tool_context(self, workspace) -> FakeToolContext:
        return context(workspace)


class TestDescribe(ToolContract):
    module = "hermes_tool_search"
    arguments: ClassVar[Mapping[str, Any]] = {"names": ["open_1", "open_x"]}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"names": [s.name for s in MANY]}

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        return contributed["tools"][1]

    @pytest.fixture
    def tool_context(self, workspace) -> FakeToolContext:
        return context(workspace)
