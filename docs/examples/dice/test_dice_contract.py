"""The dice keep the contract of tools."""

from hermes_core.testing import ToolContract


class TestDice(ToolContract):
    module = "hermes_tool_dice"
    arguments = {"sides": 20, "count": 3}
    greedy_arguments = {"count": 100}
