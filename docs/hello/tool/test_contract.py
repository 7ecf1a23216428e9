"""The clock keeps the contract of tools."""

from hermes_core.testing import ToolContract


class TestClock(ToolContract):
    module = "hermes_tool_clock"
