"""The promises of every plugin, and of a purse."""

from hermes_core.testing import PurseContract


class TestBudgets(PurseContract):
    module = "hermes_tool_budgets"
