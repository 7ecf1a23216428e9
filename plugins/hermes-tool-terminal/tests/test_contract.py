"""The tool contract, kept by the terminal."""

from typing import ClassVar

from hermes_core.testing import ToolContract


class TestTerminal(ToolContract):
    module = "hermes_tool_terminal"
    arguments: ClassVar = {"command": "echo hello"}
    failing_arguments: ClassVar = {"command": "sleep 1 &"}
    greedy_arguments: ClassVar = {"command": "seq 1 3000000"}
