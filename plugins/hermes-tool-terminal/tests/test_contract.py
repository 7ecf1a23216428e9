"""The tool contract, kept by the terminal."""

from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract


class TestTerminal(ToolContract):
    module = "hermes_tool_terminal"
    arguments: ClassVar = {"command": "echo hello"}
    failing_arguments: ClassVar = {"command": "sleep 1 &"}
    greedy_arguments: ClassVar = {"command": "seq 1 3000000"}


class TestProcess(ToolContract):
    module = "hermes_tool_terminal"
    arguments: ClassVar = {"action": "list"}
    failing_arguments: ClassVar = {"action": "poll", "id": "p9"}

    @pytest.fixture
    def tool(self, contributed):
        return next(one for one in contributed["tools"] if one.name == "process")
